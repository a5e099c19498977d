//! Takes out of the ledger what can't be read, and keeps the rest: what a person asks for with `recover --forget`.

use super::shard::{OUTCOME, RECEIPT, RECENT};
use super::{Ledger, LedgerError, Shard};
use crate::git::GitError;

impl Ledger<'_> {
    /// Drops each shard that can't be read, and each line of the others; how many shards were changed. What is only newer than
    /// this version stays.
    ///
    /// # Errors
    /// Not even the trees can be read, or the ledger can't be written. Nothing was changed.
    pub fn drop_damaged(&mut self) -> Result<usize, LedgerError> {
        let mended = std::cell::Cell::new(0);
        self.edit("mend the ledger", |tree| {
            mended.set(0);
            for folder in [OUTCOME, RECEIPT, RECENT] {
                for path in tree.shards(folder)? {
                    let sound = match tree.shard(&path) {
                        Ok(shard) => shard.without_damage(folder),
                        Err(GitError::Object { .. }) => Some(Shard::default()),
                        Err(error) => return Err(error),
                    };
                    if let Some(sound) = sound {
                        tree.put(&path, sound);
                        mended.set(mended.get() + 1);
                    }
                }
            }
            Ok(mended.get() > 0)
        })?;
        Ok(mended.get())
    }
}
