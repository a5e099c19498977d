//! The text of the hook, and the hook's text within somebody else's.
//!
//! Pure: texts in, texts out. Our lines stand between two marks, by which they are found again.

/// The first of our lines where the file is ours.
const BEGIN_OWN: &str = "# >>> git discern: only proven commits leave; this file is git discern's own >>>";
/// The first of our lines where they stand in a script that was there before.
const BEGIN_FRONT: &str = "# >>> git discern: only proven commits leave; what follows these lines was here before >>>";
/// The last of our lines.
const END: &str = "# <<< git discern: `git discern hook uninstall` restores what was here before <<<";

/// The file, below the common git directory, that names the program where a hook file serves more than one checkout.
pub const PROGRAM_FILE: &str = "discern/hook-program";

/// How the hook finds the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// This very file, else on `PATH`.
    At(String),
    /// The one that the repository's [`PROGRAM_FILE`] names, else on `PATH`: the hook file may be committed.
    Noted,
    /// As `Noted`; a repository without that file is none of our business: the hook file serves all repositories of a user.
    NotedOrElseNothing,
}

/// What there is besides our lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Besides {
    /// Nothing.
    Nothing,
    /// A hook that was moved into the folder [`ASIDE`] and runs after ours.
    Moved,
}

/// What is added to the hooks folder's name for the folder of hooks that were moved.
pub const ASIDE: &str = ".before-discern";

/// A whole hook file of our own.
pub fn own(program: &Program, besides: Besides) -> String {
    let (body, then) = match besides {
        Besides::Nothing => ("exec \"$discern_program\" hook pre-push -- \"$@\"\n".to_owned(), ""),
        // As `$0` has it, so that a repository that moves keeps its hooks.
        Besides::Moved => (ask_and_put_back(), "exec \"${0%/*}.before-discern/${0##*/}\" \"$@\"\n"),
    };
    format!("#!/bin/sh\n{BEGIN_OWN}\n{}{END}\n{then}", guarded(program, &body))
}

/// `script`, a shell script that is somebody else's, with our lines in front; nothing if there is no place for them.
pub fn in_front_of(script: &[u8], program: &Program) -> Option<Vec<u8>> {
    let at = if script.starts_with(b"#!") { script.iter().position(|&byte| byte == b'\n')? + 1 } else { 0 };
    let ours = format!("{BEGIN_FRONT}\n{}{END}\n", guarded(program, &ask_and_put_back()));
    Some([&script[..at], ours.as_bytes(), &script[at..]].concat())
}

/// What a hook file is to us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// None of our lines are in it.
    Foreign,
    /// It is ours.
    Own(Besides),
    /// Our lines stand in it; this is what it is without them.
    InFrontOf(Vec<u8>),
    /// Some of our lines are in it.
    Mangled,
}

/// Looks for our lines in a hook file.
pub fn find(text: &[u8]) -> Found {
    let line_start = |mark: &str| {
        let found = text.windows(mark.len()).position(|window| window == mark.as_bytes())?;
        (found == 0 || text[found - 1] == b'\n').then_some(found)
    };
    let begin = line_start(BEGIN_OWN).map(|at| (at, true)).or(line_start(BEGIN_FRONT).map(|at| (at, false)));
    let end = line_start(END).map(|at| (at + END.len() + 1).min(text.len()));
    match (begin, end) {
        (None, None) => Found::Foreign,
        (Some((begin, true)), Some(end)) if begin < end => {
            Found::Own(if text[end..].is_empty() { Besides::Nothing } else { Besides::Moved })
        }
        (Some((begin, false)), Some(end)) if begin < end => Found::InFrontOf([&text[..begin], &text[end..]].concat()),
        _ => Found::Mangled,
    }
}

/// Whether a script or a setting runs our command by itself, outside a comment.
pub fn mentions(text: &[u8]) -> bool {
    let lines = text.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii_start().starts_with(b"#"));
    let words = [&b"git discern hook pre-push"[..], b"git-discern hook pre-push"];
    lines.into_iter().any(|line| words.iter().any(|word| line.windows(word.len()).any(|window| window == *word)))
}

/// The program that a hook file names; nothing if it looks it up.
pub fn program_in(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    let quoted = text.lines().find_map(|line| line.trim_start().strip_prefix("discern_program='"))?;
    Some(quoted.strip_suffix('\'')?.replace(r"'\''", "'"))
}

/// Whether the system would run the file with a shell: by its first line, or because it has none.
pub fn is_shell(text: &[u8]) -> bool {
    const SHELLS: [&str; 7] = ["sh", "ash", "bash", "dash", "ksh", "mksh", "zsh"];
    let Some(first) = text.strip_prefix(b"#!") else {
        // Something without a first line that is text: git hands it to `sh`.
        return !text.contains(&0);
    };
    let first = first.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let first = String::from_utf8_lossy(first);
    let mut words = first.split(' ').filter(|word| !word.is_empty());
    let name = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
    match words.next().map(name) {
        Some(env) if env == "env" => words.find(|word| !word.starts_with('-')).map(name),
        other => other,
    }
    .is_some_and(|name| SHELLS.contains(&name.as_str()))
}

/// Asks, and puts the lines of standard input back for what follows. A terminal is left alone: nobody pushes.
fn ask_and_put_back() -> String {
    "if [ -t 0 ]; then\n\
     \x20 \"$discern_program\" hook pre-push -- \"$@\" </dev/null || exit 1\n\
     else\n\
     \x20 discern_lines=$(cat)\n\
     \x20 printf '%s\\n' \"$discern_lines\" | \"$discern_program\" hook pre-push -- \"$@\" || exit 1\n\
     \x20 if [ -n \"$discern_lines\" ]; then\n\
     \x20   exec <<DISCERN_LINES\n\
     $discern_lines\n\
     DISCERN_LINES\n\
     \x20 else\n\
     \x20   exec </dev/null\n\
     \x20 fi\n\
     fi\n"
        .to_owned()
}

/// Finds the program, then does `body`; where it is not found, the push is stopped.
fn guarded(program: &Program, body: &str) -> String {
    let noted = format!("\"$(git rev-parse --git-common-dir)/{PROGRAM_FILE}\"");
    let (set, named) = match program {
        Program::At(path) => (format!("discern_program={}", quoted(path)), for_echo(path)),
        Program::Noted | Program::NotedOrElseNothing => {
            (format!("discern_program=$(cat {noted} 2>/dev/null) || :"), format!("what {PROGRAM_FILE} names"))
        }
    };
    let text = format!(
        "{set}\n\
         [ -x \"$discern_program\" ] || discern_program=$(command -v git-discern) || {{\n\
         \x20 echo \"git discern: this push is stopped: neither {named} nor git-discern on PATH is there\" >&2\n\
         \x20 echo \"  PATH is $PATH\" >&2\n\
         \x20 echo \"  install git-discern again and run: git discern hook install\" >&2\n\
         \x20 exit 1\n\
         }}\n{body}"
    );
    match program {
        Program::NotedOrElseNothing => format!("if [ -e {noted} ]; then\n{text}fi\n"),
        Program::At(_) | Program::Noted => text,
    }
}

/// `text` as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// `text` within double quotes of a shell.
fn for_echo(text: &str) -> String {
    text.chars().fold(String::new(), |mut escaped, sign| {
        escaped.extend("\\\"$`".contains(sign).then_some('\\'));
        escaped.push(sign);
        escaped
    })
}
