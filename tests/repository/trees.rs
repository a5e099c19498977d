//! What pathspecs select, compared with git.
