//! The binary: hands the arguments over and exits with what comes back.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Before anything else: a job waits for it.
    if std::env::args_os().nth(1).is_some_and(|first| first == git_discern::os::process::SUPERVISE) {
        return ExitCode::from(git_discern::engine::supervisor::main());
    }
    let arguments = std::env::args_os().collect();
    ExitCode::from(git_discern::command::main(arguments).code())
}
