//! What a journal proves, and what it must not.

use super::*;
use crate::event::What;

struct Folder {
    _kept: tempfile::TempDir,
    journals: Journals,
}

fn folder() -> Folder {
    shared_as(Sharing::Private)
}

fn shared_as(sharing: Sharing) -> Folder {
    let kept = tempfile::tempdir().expect("a folder");
    let journals = Journals::new(kept.path(), sharing);
    Folder { _kept: kept, journals }
}

fn header(number: u64) -> Header {
    let (handle, token) = (OperationHandle::from_random(number), Token(uuid::Uuid::from_u128(number.into())));
    Header::new(handle, token, "done", "boot".into(), Timestamp::from_millis(1_764_496_500_000 + number as i64))
}

fn note(text: &str) -> Event {
    Event { at: Timestamp::from_millis(0), what: What::Note { text: text.into() } }
}

#[test]
fn a_journal_is_running_while_it_is_held_and_gone_once_it_is_not() {
    let folder = folder();
    let journal = folder.journals.create(&header(1)).expect("created");
    let named = journal.reference().clone();
    assert_eq!(folder.journals.liveness(&named, "boot", "boot"), Liveness::Running);
    drop(journal);
    assert_eq!(folder.journals.liveness(&named, "boot", "boot"), Liveness::Gone);
}

#[test]
fn observers_do_not_take_each_other_for_the_executor() {
    let folder = folder();
    let named = folder.journals.create(&header(1)).expect("created").reference().clone();
    let other = File::open(folder.journals.run_folder(&named.handle).join("journal")).expect("readable");
    other.try_lock_shared().expect("free");
    assert_eq!(folder.journals.liveness(&named, "boot", "boot"), Liveness::Gone);
}

#[test]
fn a_file_that_is_not_the_very_one_proves_nothing() {
    let folder = folder();
    let named = folder.journals.create(&header(1)).expect("created").reference().clone();
    let unknown = |named: &JournalRef, record: &str, own: &str| {
        assert_eq!(folder.journals.liveness(named, record, own), Liveness::Unknown, "{named:?} {record} {own}");
    };
    unknown(&JournalRef { inode: named.inode + 1, ..named.clone() }, "boot", "boot");
    unknown(&JournalRef { token: Token(uuid::Uuid::nil()), ..named.clone() }, "boot", "boot");
    unknown(&named, "boot", "another");
    unknown(&named, "another", "another");
    unknown(&JournalRef { handle: header(2).handle, ..named.clone() }, "boot", "boot");

    let path = folder.journals.run_folder(&named.handle).join("journal");
    let copy = std::fs::read(&path).expect("readable");
    std::fs::rename(&path, path.with_extension("moved")).expect("moved away");
    unknown(&named, "boot", "boot");
    std::fs::write(&path, copy).expect("re-created with the same bytes");
    unknown(&named, "boot", "boot");
    std::fs::remove_file(&path).expect("removed");
    std::os::unix::fs::symlink(path.with_extension("moved"), &path).expect("a link to the very file");
    unknown(&named, "boot", "boot");
}

#[test]
fn a_follower_sees_what_was_written_and_what_comes() {
    let folder = folder();
    let mut journal = folder.journals.create(&header(1)).expect("created");
    journal.append(&note("one"));
    let mut follower = folder.journals.follow(journal.handle()).expect("there");
    assert_eq!(follower.header(), &header(1));
    assert_eq!(follower.next_events().expect("readable"), [note("one")]);
    assert_eq!(follower.next_events().expect("readable"), []);
    journal.file.write_all(br#"{"at":"1970-01-01T00:00:00.000Z","event":"no"#).expect("written");
    assert_eq!(follower.next_events().expect("readable"), []);
    journal.file.write_all(b"te\",\"text\":\"two\"}\n{\"event\":\"of the future\"}\n").expect("written");
    journal.append(&note("three"));
    assert_eq!(follower.next_events().expect("readable"), [note("two"), note("three")]);
}

#[test]
fn a_journal_of_a_newer_version_is_refused() {
    let folder = folder();
    let newer = Header { version: VERSION + 1, ..header(1) };
    let journal = folder.journals.create(&newer).expect("created");
    let refused = folder.journals.follow(journal.handle()).expect_err("it is newer");
    assert!(refused.to_string().contains("version 2"), "{refused}");
}

#[test]
fn a_handle_is_used_once() {
    let folder = folder();
    drop(folder.journals.create(&header(1)).expect("created"));
    assert_eq!(folder.journals.create(&header(1)).expect_err("taken").kind(), io::ErrorKind::AlreadyExists);
}

#[test]
fn runs_are_listed_newest_first_and_foreign_files_passed_over() {
    let folder = folder();
    assert_eq!(folder.journals.list().expect("nothing yet"), []);
    let kept: Vec<Journal> =
        [2, 3, 1].map(|number| folder.journals.create(&header(number)).expect("created")).into_iter().collect();
    std::fs::write(folder.journals.folder.join("R1-not-a-run"), "").expect("a foreign file");
    std::fs::create_dir(folder.journals.run_folder(&header(9).handle)).expect("a run that was killed early");
    assert_eq!(folder.journals.list().expect("readable"), [header(3), header(2), header(1)]);
    drop(kept);
}

#[test]
fn a_request_to_stop_reaches_the_run() {
    let folder = folder();
    let journal = folder.journals.create(&header(1)).expect("created");
    assert!(!journal.stop_requested());
    folder.journals.request_stop(journal.handle()).expect("asked");
    folder.journals.request_stop(journal.handle()).expect("asked again");
    assert!(journal.stop_requested());
    assert!(folder.journals.request_stop(&header(2).handle).is_err(), "there is no such run");
}

/// The modes of a run's folder and of its journal.
fn modes(journal: &Journal) -> (u32, u32) {
    let mode = |path: &Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o7777;
    (mode(journal.folder()), mode(&journal.folder().join("journal")))
}

#[test]
fn in_a_shared_repository_a_journal_is_shared_whatever_the_umask() {
    let folder = shared_as(Sharing::Group);
    let journal = folder.journals.create(&header(1)).expect("created");
    assert_eq!(modes(&journal), (0o2770, 0o660));
}

#[test]
fn a_journal_is_private_and_its_descriptor_is_not_inherited() {
    let folder = folder();
    let journal = folder.journals.create(&header(1)).expect("created");
    assert_eq!(modes(&journal), (0o700, 0o600));
    let flags = rustix::io::fcntl_getfd(&journal.file).expect("open");
    assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
}
