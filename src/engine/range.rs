//! Which commits of a range are proven, in which order.
//!
//! Pure: it is asked for the next commit and told how each ended. Oldest first, every one; or, to find the first that fails, the
//! last one and then by halves, taking it that a failure stays once it is there.

use crate::exit::Exit;

/// How a range is gone through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Each commit, oldest first.
    OldestFirst,
    /// As few as find the first that fails.
    Bisect,
}

/// A way through the commits of a range, which are known by their places: 0 is the oldest.
#[derive(Debug, Clone)]
pub struct Walk {
    order: Order,
    /// How each ended, if it did.
    ended: Vec<Option<Exit>>,
    /// The next one that was not handed out; oldest first.
    next: usize,
    /// By halves: one is out and has not ended.
    is_out: bool,
    /// Nothing new is started.
    over: bool,
}

impl Walk {
    /// A way through `count` commits.
    pub fn new(count: usize, order: Order) -> Self {
        Self { order, ended: vec![None; count], next: 0, is_out: false, over: false }
    }

    /// The next commit to prove; nothing while there is none to start.
    pub fn next_commit(&mut self) -> Option<usize> {
        if self.over {
            return None;
        }
        let at = match self.order {
            Order::OldestFirst => Some(self.next).filter(|&at| at < self.ended.len()),
            Order::Bisect if self.is_out => None,
            Order::Bisect => self.half(),
        }?;
        self.next += 1;
        self.is_out = true;
        Some(at)
    }

    /// The commit that will be handed out next, whatever comes of those that are out; nothing where that decides.
    pub fn foreseen(&self) -> Option<usize> {
        (self.order == Order::OldestFirst && self.next < self.ended.len()).then_some(self.next)
    }

    /// The commit `at` ended so. What was interrupted, or met a fault, lets nothing new start; nor does, by halves, whatever
    /// is neither proven nor failed.
    pub fn end(&mut self, at: usize, exit: Exit) {
        self.ended[at] = Some(exit);
        self.is_out = false;
        self.over |= match exit {
            Exit::Success | Exit::Failed => false,
            Exit::Refused | Exit::Pending | Exit::Retired => self.order == Order::Bisect,
            Exit::Store | Exit::Internal | Exit::Hangup | Exit::Interrupted | Exit::Terminated => true,
        };
    }

    /// Nothing new is started.
    pub fn stop(&mut self) {
        self.over = true;
    }

    /// The first commit that fails, where that is known: none before it is left unproven.
    pub fn first_failed(&self) -> Option<usize> {
        let failed = self.ended.iter().position(|exit| *exit == Some(Exit::Failed))?;
        match self.order {
            Order::OldestFirst => Some(failed),
            Order::Bisect => (failed == 0 || self.ended[failed - 1] == Some(Exit::Success)).then_some(failed),
        }
    }

    /// The worst of what ended; success where nothing had to be proven.
    pub fn worst(&self) -> Exit {
        self.ended.iter().flatten().copied().max_by_key(|exit| exit.severity()).unwrap_or(Exit::Success)
    }

    /// The middle between the last that is proven and the first that failed; at first the last one.
    fn half(&self) -> Option<usize> {
        let Some(failed) = self.ended.iter().position(|exit| *exit == Some(Exit::Failed)) else {
            return self.ended.len().checked_sub(1).filter(|&last| self.ended[last].is_none());
        };
        let proven = self.ended[..failed].iter().rposition(|exit| *exit == Some(Exit::Success));
        let from = proven.map_or(0, |proven| proven + 1);
        (from < failed).then_some(from + (failed - from) / 2)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn oldest_first_proves_every_commit_and_goes_on_after_a_failure() {
        let mut walk = Walk::new(3, Order::OldestFirst);
        assert_eq!([walk.next_commit(), walk.foreseen(), walk.next_commit()], [Some(0), Some(1), Some(1)]);
        walk.end(1, Exit::Failed);
        walk.end(0, Exit::Refused);
        assert_eq!((walk.next_commit(), walk.next_commit()), (Some(2), None));
        assert_eq!((walk.first_failed(), walk.worst()), (Some(1), Exit::Refused));
    }

    #[test]
    fn an_interrupt_lets_nothing_new_start() {
        let mut walk = Walk::new(3, Order::OldestFirst);
        walk.next_commit();
        walk.end(0, Exit::Interrupted);
        assert_eq!((walk.next_commit(), walk.worst()), (None, Exit::Interrupted));
    }

    #[test]
    fn nothing_to_prove_is_a_success() {
        for order in [Order::OldestFirst, Order::Bisect] {
            let mut walk = Walk::new(0, order);
            assert_eq!((walk.next_commit(), walk.worst(), walk.first_failed()), (None, Exit::Success, None));
        }
    }

    proptest! {
        #[test]
        fn halves_find_the_first_that_fails_with_few_looks(count in 1_usize..300, first in 0_usize..400) {
            let mut walk = Walk::new(count, Order::Bisect);
            let mut looks = 0;
            while let Some(at) = walk.next_commit() {
                prop_assert_eq!(walk.ended[at], None, "each is looked at once");
                walk.end(at, if at < first { Exit::Success } else { Exit::Failed });
                looks += 1;
            }
            prop_assert_eq!(walk.first_failed(), Some(first).filter(|&first| first < count));
            prop_assert!(looks <= 1 + usize::BITS as usize - count.leading_zeros() as usize);
        }
    }
}
