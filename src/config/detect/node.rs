//! JavaScript: a `package.json` at the top. Only scripts that are in it are run, by the package manager whose lock file is
//! there.

use serde_json::Value;

use super::{Findings, Project, Suggestion};

/// Scripts that check something, with the job's name.
const CHECKS: [(&str, &str); 9] = [
    ("format:check", "format"),
    ("check-format", "format"),
    ("lint", "lint"),
    ("typecheck", "types"),
    ("type-check", "types"),
    ("check-types", "types"),
    ("check", "check"),
    ("test:ci", "test"),
    ("test", "test"),
];

/// Scripts that a package manager runs by itself while it installs.
const LIFECYCLE: [&str; 7] =
    ["preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare"];

/// Variables that change what is installed and how programs run.
const VARIABLES: [&str; 2] = ["NODE_ENV", "NODE_OPTIONS"];

struct Manager {
    program: &'static str,
    lock: Option<&'static str>,
    install: &'static str,
}

pub(super) fn look(project: &Project<'_>, findings: &mut Findings) {
    if !project.has("package.json") {
        return;
    }
    let Ok(manifest) = serde_json::from_str::<Value>(project.content("package.json")) else {
        findings.advice.push("`package.json` is no JSON; nothing was taken from it".into());
        return;
    };
    let manager = manager(project, &manifest);
    let install = manager.lock.map(|lock| install(project, &manifest, &manager, lock));
    let needs: Vec<String> = install.iter().map(|install| install.name.to_owned()).collect();
    findings.suggestions.extend(install);
    let before = findings.suggestions.len();
    for (script, name) in CHECKS {
        let Some(text) = manifest["scripts"][script].as_str() else { continue };
        let taken = findings.suggestions[before..].iter().any(|other| other.name == name && other.doubt.is_none());
        findings.suggestions.push(
            check(&manager, &needs, script, name, text)
                .doubtful_if(taken, format!("the job `{name}` runs another script already")),
        );
    }
    if findings.suggestions.len() == before {
        findings.advice.push("`package.json` has no script named `test`, `lint` or the like".into());
    }
    if manager.lock.is_none() {
        findings
            .advice
            .push("no lock file is committed, so what is installed in `node_modules` decides verdicts unseen".into());
    }
    project.advise_to_ignore("node_modules/x", findings);
}

fn check(manager: &Manager, needs: &[String], script: &str, name: &'static str, text: &str) -> Suggestion {
    let program = manager.program;
    let mut job =
        Suggestion::new("node", name, format!("{program} run {script}"), format!("`{script}` in `package.json`"))
            .with_programs(&[program, "node"])
            .with_toolchain(&["node --version"])
            .doubtful_if(text.contains("no test specified"), "the script is npm's placeholder")
            .doubtful_if(text.contains("--watch"), "the script watches files and never ends");
    job.needs = needs.to_vec();
    job.env = VARIABLES.to_vec();
    job
}

/// The package manager that `packageManager` names, else that of the lock file, else npm.
fn manager(project: &Project<'_>, manifest: &Value) -> Manager {
    let named = manifest["packageManager"].as_str().unwrap_or_default();
    let has = |path: &'static str| project.has(path).then_some(path);
    let npm_lock = has("package-lock.json").or(has("npm-shrinkwrap.json"));
    let (pnpm_lock, yarn_lock) = (has("pnpm-lock.yaml"), has("yarn.lock"));
    let modern_yarn = project.has(".yarnrc.yml") || (named.starts_with("yarn@") && !named.starts_with("yarn@1."));
    let yarn_install = if modern_yarn { "yarn install --immutable" } else { "yarn install --frozen-lockfile" };
    let npm = Manager { program: "npm", lock: npm_lock, install: "npm ci" };
    let pnpm = Manager { program: "pnpm", lock: pnpm_lock, install: "pnpm install --frozen-lockfile" };
    let yarn = Manager { program: "yarn", lock: yarn_lock, install: yarn_install };
    match named.split('@').next() {
        Some("pnpm") => pnpm,
        Some("yarn") => yarn,
        Some("npm") => npm,
        _ if pnpm_lock.is_some() => pnpm,
        _ if yarn_lock.is_some() => yarn,
        _ => npm,
    }
}

/// Installs what the lock file says. Jobs need it, so that it runs in each checkout before them, and again whenever what it
/// depends on changed.
fn install(project: &Project<'_>, manifest: &Value, manager: &Manager, lock: &'static str) -> Suggestion {
    let mut job = Suggestion::new("node", "install", manager.install, format!("`{lock}`"))
        .with_programs(&[manager.program, "node"])
        .with_toolchain(&["node --version"]);
    job.toolchain.push(format!("{} --version", manager.program));
    job.env = VARIABLES.to_vec();
    if depends_on_manifest_and_lock_only(project, manifest) {
        let config = [".npmrc", ".yarnrc", ".yarnrc.yml"].into_iter().filter(|path| project.has(path));
        job.inputs = ["package.json", lock].into_iter().chain(config).map(str::to_owned).collect();
    }
    job
}

/// Whether installing reads nothing of the project but its manifest, its lock file and the manager's own settings: no
/// script of its own, no packages inside the repository, no patches, no plug-ins.
fn depends_on_manifest_and_lock_only(project: &Project<'_>, manifest: &Value) -> bool {
    let text = project.content("package.json");
    let own_packages = ["\"file:", "\"link:", "\"portal:", "\"workspace:", "\"patch:", "\"./", "\"../"];
    let no_scripts = LIFECYCLE.iter().all(|&script| manifest["scripts"][script].is_null());
    let more = [".yarn/", ".pnpmfile.cjs", "pnpm-workspace.yaml", "patches/", "binding.gyp"];
    let only_plain_files = !project.files.iter().any(|path| more.iter().any(|start| path.starts_with(start)));
    no_scripts
        && only_plain_files
        && manifest["workspaces"].is_null()
        && manifest["pnpm"].is_null()
        && !own_packages.iter().any(|own| text.contains(own))
}
