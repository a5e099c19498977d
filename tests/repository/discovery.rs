//! Finding the repository that a git command would use.
