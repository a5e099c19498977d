//! Progress files of runs, their handles, and the proof that an executor is gone.
