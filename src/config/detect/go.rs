//! Go: a `go.mod` at the top.

use super::{Findings, Project, Suggestion};

/// Variables that change what go builds.
const VARIABLES: [&str; 3] = ["GOFLAGS", "CGO_ENABLED", "GOTOOLCHAIN"];

pub(super) fn look(project: &Project<'_>, findings: &mut Findings) {
    if !project.has("go.mod") {
        if project.has("go.work") {
            findings.advice.push("`go.work` without `go.mod` at the top: add a job for each module".into());
        }
        return;
    }
    let job = |name, run: &str, because: &str, programs: &[&str], toolchain: &[&str]| {
        let mut job = Suggestion::new("go", name, run, because).with_programs(programs).with_toolchain(toolchain);
        job.env = VARIABLES.to_vec();
        job
    };
    let format = job("format", r#"test -z "$(gofmt -l .)""#, "`go.mod`", &["gofmt"], &["go version"])
        .doubtful_if(project.says("gofmt").is_none(), "nothing here says that all of the tree is formatted with gofmt");
    findings.suggestions.push(format);
    if let Some(file) = project.first(&[".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"]) {
        let toolchain = ["go version", "golangci-lint --version"];
        findings.suggestions.push(job(
            "lint",
            "golangci-lint run",
            &format!("`{file}`"),
            &["golangci-lint", "go"],
            &toolchain,
        ));
    }
    findings.suggestions.push(job("vet", "go vet ./...", "`go.mod`", &["go"], &["go version"]));
    findings.suggestions.push(job("test", "go test ./...", "`go.mod`", &["go"], &["go version"]));
}
