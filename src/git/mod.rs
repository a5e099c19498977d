//! The user's repository: discovery, candidate, cleanliness, objects, pathspecs, and the one door to the git command line.
