//! The binary: hands the arguments over and exits with what comes back.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = std::env::args_os().collect();
    ExitCode::from(git_discern::command::main(arguments).code())
}
