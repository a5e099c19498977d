//! Make and just: recipes whose names say that they check something.

use super::{Findings, Project, Suggestion};

const MAKEFILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];
const JUSTFILES: [&str; 3] = ["justfile", "Justfile", ".justfile"];
/// In this order; `check` often runs the tests, so it comes in only where there is no `test`.
const NAMES: [&str; 3] = ["lint", "test", "check"];

/// Whether the file at `path` holds recipes.
pub(super) fn is_recipe_file(path: &str) -> bool {
    MAKEFILES.contains(&path) || JUSTFILES.contains(&path)
}

/// `by_language`: whether a language's own tools have suggested jobs already; recipes mostly call the same.
pub(super) fn look(project: &Project<'_>, by_language: bool, findings: &mut Findings) {
    let files = [("just", "just", project.first(&JUSTFILES)), ("make", "make", project.first(&MAKEFILES))];
    for (kind, program, file) in files {
        let Some(file) = file else { continue };
        let text = project.content(file);
        let recipes = if kind == "just" { just_recipes(text) } else { make_targets(text) };
        let there = |name: &str| recipes.iter().any(|recipe| recipe == name);
        for name in NAMES.into_iter().filter(|name| there(name)) {
            let known = findings.suggestions.iter().any(|other| other.name == name && other.doubt.is_none());
            let job = Suggestion::new(kind, name, format!("{program} {name}"), format!("`{name}` in `{file}`"))
                .with_programs(&[program])
                .with_toolchain(if kind == "just" { &["just --version"] } else { &[] })
                .doubtful_if(name == "check" && there("test"), "`check` often runs `test`, which is there as well")
                .doubtful_if(known || by_language, "it may do what the other jobs do");
            findings.suggestions.push(job);
        }
        if !NAMES.into_iter().any(there) {
            findings.advice.push(format!("`{file}` has no `test`, `check` or `lint`"));
        }
    }
}

/// The targets of explicit rules. Variables, patterns and special targets are none.
fn make_targets(text: &str) -> Vec<String> {
    let rule = |line: &str| {
        let (targets, rest) = line.split_once(':')?;
        let plain = !line.starts_with(['\t', ' ', '#', '.']) && !targets.contains(['=', '%', '$', '(']);
        let assignment =
            rest.starts_with('=') || rest.starts_with(":=") || rest.trim_start_matches(':').trim_start().contains(":=");
        (plain && !assignment).then(|| targets.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    };
    text.lines().filter_map(rule).flatten().collect()
}

/// Recipes that need no argument.
fn just_recipes(text: &str) -> Vec<String> {
    let recipe = |line: &str| {
        let (head, rest) = line.split_once(':')?;
        let plain = !line.starts_with([' ', '\t', '#', '[']) && !rest.starts_with('=');
        let mut words = head.trim_start_matches('@').split_whitespace();
        let name = words.next()?;
        let callable = words.all(|parameter| parameter.contains('=') || parameter.starts_with('*'));
        (plain && callable).then(|| name.to_owned())
    };
    text.lines().filter_map(recipe).collect()
}
