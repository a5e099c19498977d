//! The project's own commands: `cargo xtask …`. One file each; a check can test itself on a small string.

mod bench;
mod ci;
mod demo;
mod dist;
mod r#gen;
mod model;
mod process;
mod sim;
mod stall;
mod tidy;
mod torture;
mod truth;

use std::path::PathBuf;

use clap::Parser;

/// The project's own commands.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Command {
    /// Everything that must hold before a change lands, in fail-fast order
    Ci(ci::Ci),
    /// Sizes, layers, module documentation, leftovers
    Tidy,
    /// Write what is generated from the code; with --check, fail where it differs
    Gen(r#gen::Gen),
    /// Make a sample repository and show a cold run, a reuse, a failure and a Proof
    Demo(demo::Demo),
    /// Measure against git's own commands, and write docs/performance.md
    Bench(bench::Bench),
    /// Search the claim protocol exhaustively
    Model,
    /// Search the protocol by seeded simulation
    Sim(sim::Sim),
    /// Kill and stop real runs at random instants
    Torture(torture::Torture),
    /// Change files under running jobs, a thousand times: no verdict may be wrong
    Truth,
    /// A run whose reader reads nothing for four minutes, in real time
    Stall(stall::Stall),
    /// A stripped binary, man pages, completions and checksums
    Dist,
}

fn main() -> anyhow::Result<()> {
    let command = Command::parse();
    std::env::set_current_dir(root())?;
    match command {
        Command::Ci(args) => ci::run(&args),
        Command::Tidy => tidy::run(),
        Command::Gen(args) => r#gen::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Model => model::run(),
        Command::Sim(args) => sim::run(&args),
        Command::Torture(args) => torture::run(&args),
        Command::Truth => truth::run(),
        Command::Stall(args) => stall::run(&args),
        Command::Dist => dist::run(),
    }
}

/// The workspace's top folder.
fn root() -> PathBuf {
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    package.parent().map_or(package.clone(), PathBuf::from)
}
