//! Rust: a `Cargo.toml` at the top.

use super::{Findings, Project, Suggestion};

const TOOLCHAIN: [&str; 2] = ["rustc --version --verbose", "cargo --version"];
/// Variables that change what cargo builds.
const VARIABLES: [&str; 2] = ["RUSTFLAGS", "CARGO_BUILD_TARGET"];

pub(super) fn look(project: &Project<'_>, findings: &mut Findings) {
    if !project.has("Cargo.toml") {
        return;
    }
    let locked = if project.has("Cargo.lock") { " --locked" } else { "" };
    let workspace = project.toml("Cargo.toml").is_some_and(|manifest| manifest.contains_key("workspace"));
    let members = if workspace { " --workspace" } else { "" };

    let format = project.first(&["rustfmt.toml", ".rustfmt.toml"]).or_else(|| project.says("cargo fmt"));
    let job = Suggestion::new("cargo", "format", "cargo fmt --all --check", because(format));
    let format = job
        .with_programs(&["cargo", "cargo-fmt"])
        .with_toolchain(&["cargo fmt --version"])
        .doubtful_if(format.is_none(), "nothing here says that the project is formatted with rustfmt");

    let lint = project.first(&["clippy.toml", ".clippy.toml"]).or_else(|| project.says("cargo clippy"));
    let strict = if project.says("-D warnings").is_some() { " -- -D warnings" } else { "" };
    let run = format!("cargo clippy{members} --all-targets{locked}{strict}");
    let mut clippy = Suggestion::new("cargo", "lint", run, because(lint))
        .with_programs(&["cargo", "cargo-clippy"])
        .with_toolchain(&["rustc --version --verbose", "cargo clippy --version"])
        .doubtful_if(lint.is_none(), "nothing here says that the project uses clippy");
    clippy.env = VARIABLES.to_vec();

    let mut test = Suggestion::new("cargo", "test", format!("cargo test{members}{locked}"), "`Cargo.toml`")
        .with_programs(&["cargo", "rustc"])
        .with_toolchain(&TOOLCHAIN);
    test.env = VARIABLES.to_vec();
    findings.suggestions.extend([format, clippy, test]);

    if !project.has("Cargo.lock") && !(project.is_ignored)("Cargo.lock") {
        findings.advice.push("there is no `Cargo.lock`; cargo writes one: commit it, or ignore it".into());
    }
    project.advise_to_ignore("target/x", findings);
}

fn because(file: Option<&str>) -> String {
    format!("`{}`", file.unwrap_or("Cargo.toml"))
}
