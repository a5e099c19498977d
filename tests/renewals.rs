//! A renewal leaves no trace (C19): days of them, on real repositories and on a clock that is moved by hand.

use std::cell::Cell;
use std::rc::Rc;

use git_discern::claim::lease::Fence;
use git_discern::claim::owner::{Input, Owner, Said};
use git_discern::engine::driver::drive;
use git_discern::engine::session::Session;
use git_discern::os::clock::{Clock, Reading};
use git_discern::store::superseded::KEPT_MS;
use test_case::test_case;

use crate::claim::sample;
use crate::store::open;
use crate::support::{Bench, Hash, Place, Refs};

/// One renewal each 20 seconds (C9).
const INTERVAL_MS: u64 = 20_000;
const A_DAY: u64 = 24 * 60 * 60 * 1000 / INTERVAL_MS;
/// More than it takes until objects are removed, for the format in which each read starts a git.
const THREE_HOURS: u64 = A_DAY / 8;

/// So many loose objects may lie there for a live claim, whatever its age.
const LOOSE_MAX: usize = 400;

/// A clock that stands where it is put.
#[derive(Clone, Default)]
struct ByHand(Rc<Cell<u64>>);

impl Clock for ByHand {
    fn now(&self) -> Reading {
        sample::at(self.0.get())
    }
}

/// A claim that is held, planned and bound.
struct Held<'r> {
    owner: Owner,
    session: Session<'r>,
    clock: ByHand,
}

impl<'r> Held<'r> {
    fn take(place: &Place, repository: &'r git_discern::git::Repository) -> Self {
        let candidate = place.head().parse().expect("a commit");
        let (clock, fence) = (ByHand::default(), Fence { candidate, ..sample::fence(1) });
        let attempt = git_discern::claim::record::Attempt { commit: candidate, ..sample::attempt(1) };
        let mut session = Session::new(repository).with_clock(clock.clone());
        session.prepare_to_write();
        let mut held = Self { owner: Owner::new(fence, attempt), session, clock };
        assert_eq!(held.take_in(Input::Reserve), [Said::Reserved { generation: 1 }]);
        assert_eq!(held.take_in(Input::Bind(sample::plan())), [Said::Bound]);
        held
    }

    fn take_in(&mut self, input: Input) -> Vec<Said> {
        drive(&mut self.owner, input, &mut self.session)
    }

    /// The next interval passes.
    fn renew(&mut self) -> Vec<Said> {
        self.clock.0.set(self.clock.0.get() + INTERVAL_MS);
        self.take_in(Input::Tick)
    }
}

fn record(place: &Place) -> String {
    format!("refs/discern/attempt/{}", place.head())
}

fn loose(place: &Place) -> usize {
    let counted = place.git(&["count-objects"]);
    counted.split(' ').next().and_then(|count| count.parse().ok()).expect("a count")
}

/// fsck finds nothing, and each ref leads to an object.
fn is_sound(place: &Place) {
    assert_eq!(place.git(&["fsck", "--strict", "--no-dangling", "--no-progress"]), "");
    assert!(place.git(&["for-each-ref", "--format=%(objecttype)"]).lines().all(|kind| !kind.is_empty()));
}

fn bench(refs: Refs) -> Bench {
    let bench = Bench::with(refs, Hash::Sha1);
    bench.git(&["config", "core.logAllRefUpdates", "always"]);
    bench.save("candidate");
    bench
}

#[test_case(Refs::Files, A_DAY)]
#[test_case(Refs::Reftable, THREE_HOURS)]
fn a_day_of_renewals_leaves_no_line_no_growth_and_few_objects(refs: Refs, renewals: u64) {
    let bench = bench(refs);
    let repository = open(&bench);
    let mut held = Held::take(&bench, &repository);
    let first = bench.git(&["cat-file", "-s", &record(&bench)]).parse::<usize>().expect("a size");
    let mut most = 0;
    for number in 1..=renewals {
        assert_eq!(held.renew(), [Said::Renewed { after_ms: INTERVAL_MS }], "renewal {number}");
        if number % 90 == 0 {
            most = most.max(loose(&bench));
        }
        if number % (renewals / 3) == 0 {
            is_sound(&bench);
        }
    }
    assert!((360..=LOOSE_MAX).contains(&most), "{most} loose objects");
    let size = bench.git(&["cat-file", "-s", &record(&bench)]).parse::<usize>().expect("a size");
    // A sequence number and a clock of more digits; nothing else.
    assert!(size <= first + 16, "{first} bytes became {size}");
    assert_eq!(bench.try_git(&["reflog", "exists", &record(&bench)]).status, 1);
    assert!(!bench.has(".git/logs/refs/discern"));
}

#[test]
fn what_a_ref_names_or_a_gc_packed_is_never_missing_after_a_renewal() {
    let bench = bench(Refs::Files);
    let repository = open(&bench);
    let mut held = Held::take(&bench, &repository);
    let mut kept = Vec::new();
    for number in 1..=2 * KEPT_MS / INTERVAL_MS {
        drop(held.renew());
        match number {
            // Somebody keeps a copy of our ref, as a backup does.
            20 => kept.push(bench.git(&["rev-parse", &record(&bench)])),
            40 => drop(bench.git(&["gc", "-q"])),
            60 => kept.push(bench.git(&["rev-parse", &record(&bench)])),
            _ => continue,
        }
        let name = format!("refs/backup/{number}");
        bench.git(&["update-ref", &name, &record(&bench)]);
    }
    is_sound(&bench);
    for id in kept {
        assert!(bench.git(&["cat-file", "-p", &id]).contains("discern/attempt"), "{id}");
    }
}

#[test]
fn writes_that_a_busy_lock_refused_leave_few_objects_too() {
    let bench = bench(Refs::Files);
    let repository = open(&bench);
    let mut held = Held::take(&bench, &repository);
    let lock = format!(".git/{}.lock", record(&bench));
    bench.write(&lock, "");
    let refused = held.renew();
    assert!(matches!(refused.as_slice(), [Said::Trouble { .. }]), "{refused:?}");
    let orphan = loose(&bench);
    std::fs::remove_file(bench.path().join(lock)).expect("ours");
    for _ in 0..KEPT_MS / INTERVAL_MS + 20 {
        drop(held.renew());
    }
    assert!(orphan < LOOSE_MAX && loose(&bench) <= LOOSE_MAX - 20, "{}", loose(&bench));
    is_sound(&bench);
}
