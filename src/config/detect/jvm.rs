//! Java and Kotlin: Maven and Gradle, by the project's wrapper where there is one.

use super::{Findings, Project, Suggestion};

pub(super) fn look(project: &Project<'_>, findings: &mut Findings) {
    if project.has("pom.xml") {
        let program = if project.has("mvnw") { "./mvnw" } else { "mvn" };
        let run = format!("{program} --batch-mode --no-transfer-progress verify");
        findings.suggestions.push(job(project, "maven", run, "`pom.xml`", program));
        project.advise_to_ignore("target/x", findings);
    }
    let gradle = ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"];
    if let Some(file) = project.first(&gradle) {
        let program = if project.has("gradlew") { "./gradlew" } else { "gradle" };
        // A daemon would be ended with the job and is of no use to it.
        let run = format!("{program} --no-daemon --console=plain check");
        findings.suggestions.push(job(project, "gradle", run, &format!("`{file}`"), program));
        project.advise_to_ignore("build/x", findings);
        project.advise_to_ignore(".gradle/x", findings);
    }
}

fn job(project: &Project<'_>, kind: &'static str, run: String, because: &str, program: &str) -> Suggestion {
    let mut job = Suggestion::new(kind, "test", run, because)
        .with_programs(&[program, "java"])
        .with_toolchain(&["java --version"]);
    if !program.starts_with("./") && (project.has_program)(program) {
        job.toolchain.push(format!("{program} --version"));
    }
    job.env = vec!["JAVA_HOME", "JAVA_TOOL_OPTIONS"];
    job
}
