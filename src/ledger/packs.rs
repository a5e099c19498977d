//! The packs that absorptions write, kept few: every eighth absorption takes the small ones before it into its own.
//!
//! git looks through every pack for an object, and a user's `git gc --auto` begins at fifty of them. The list of ours is a file
//! in the private folder; losing it leaves the packs to `git gc`, which takes them in like any other. A pack is removed only
//! when everything in it, reachable or not, is in a newer one on disk: whoever has listed its objects still finds them.

use std::path::{Path, PathBuf};

use crate::git::pack::NewObject;
use crate::git::{GitError, Repository};
use crate::os::files::{self, Durability};

/// From this many small packs on, they are taken together.
const SMALL_PACKS_MAX: usize = 8;

/// A larger pack than this is left to `git gc`, in bytes.
const SMALL_BYTES_MAX: u64 = 512 * 1024;

/// The largest list that is taken for ours, in bytes.
const LIST_BYTES_MAX: u64 = 64 * 1024;

/// Our small packs, and what becomes of them.
pub(super) struct Packs<'r> {
    repository: &'r Repository,
    /// Those that stand.
    small: Vec<PathBuf>,
    /// Those of which everything was taken over.
    taken: Vec<PathBuf>,
}

impl<'r> Packs<'r> {
    /// Those on the list that are still there.
    pub(super) fn of(repository: &'r Repository) -> Self {
        let folder = folder(repository);
        let list = files::read_bounded(&list(repository), LIST_BYTES_MAX).ok().flatten().unwrap_or_default();
        let names = String::from_utf8_lossy(&list);
        let is_ours = |name: &&str| name.starts_with("pack-") && name.ends_with(".pack") && !name.contains('/');
        let paths = names.lines().filter(is_ours).map(|name| folder.join(name));
        let is_small = |path: &PathBuf| {
            std::fs::metadata(path).is_ok_and(|meta| meta.len() <= SMALL_BYTES_MAX)
                && !path.with_extension("keep").exists()
        };
        Self { repository, small: paths.filter(is_small).collect(), taken: Vec::new() }
    }

    /// The objects to write along: all of the small packs, when there are too many of them.
    ///
    /// # Errors
    /// One of them can't be read; all of them stay.
    pub(super) fn take(&mut self) -> Result<Vec<NewObject>, GitError> {
        // A multi-pack index would name packs that are gone.
        if self.small.len() < SMALL_PACKS_MAX || folder(self.repository).join("multi-pack-index").exists() {
            return Ok(Vec::new());
        }
        let objects = self.repository.objects()?;
        let mut all = Vec::new();
        for pack in &self.small {
            all.extend(objects.objects_of_pack(pack)?);
        }
        self.taken = std::mem::take(&mut self.small);
        Ok(all)
    }

    /// Notes `written`, which is on disk, and removes the packs that it took over. Nothing here can fail the write.
    pub(super) fn settle(&mut self, written: &Path) {
        if written.exists() {
            for pack in self.taken.drain(..).filter(|pack| pack != written) {
                // Without its index a pack is nothing to git.
                if std::fs::remove_file(pack.with_extension("idx")).is_ok() {
                    let _ = std::fs::remove_file(pack);
                }
            }
            self.small.push(written.to_owned());
        }
        let names = self.small.iter().filter_map(|pack| pack.file_name()?.to_str());
        let text: String = names.flat_map(|name| [name, "\n"]).collect();
        let mode = self.repository.sharing().file_mode();
        let _ = files::replace(&list(self.repository), text.as_bytes(), mode, Durability::Advisory);
    }
}

fn folder(repository: &Repository) -> PathBuf {
    repository.common_dir().join("objects").join("pack")
}

fn list(repository: &Repository) -> PathBuf {
    repository.private_dir().join("packs")
}
