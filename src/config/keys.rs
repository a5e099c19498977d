//! Every key of `discern.toml`, once: the parser, its suggestions, the reference and the JSON Schema come from this table.

/// A table of `discern.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    Gate,
    Job,
    Standard,
    Push,
    /// The value of `per`.
    Per,
}

impl Table {
    /// Those of the top level.
    pub(crate) const ALL: [Self; 4] = [Self::Gate, Self::Job, Self::Standard, Self::Push];

    /// The key of the top level that holds it.
    pub(crate) fn top(self) -> &'static str {
        match self {
            Self::Gate => "gate",
            Self::Job => "jobs",
            Self::Standard => "standards",
            Self::Push => "push",
            Self::Per => "per",
        }
    }

    /// How it is written.
    pub(super) fn heading(self) -> &'static str {
        match self {
            Self::Gate => "[gate]",
            Self::Job => "[jobs.NAME]",
            Self::Standard => "[standards.NAME]",
            Self::Push => "[push]",
            Self::Per => "per = { … }",
        }
    }

    pub(super) fn is_named(self) -> bool {
        matches!(self, Self::Job | Self::Standard)
    }

    pub(super) fn meaning(self) -> &'static str {
        match self {
            Self::Gate => "How runs behave.",
            Self::Job => "One check: a command that exits with 0 when the commit is good.",
            Self::Standard => "One number that may only improve.",
            Self::Push => {
                "What the pre-push hook lets through. It counts as trunk's tip has it, so that a branch can't excuse itself."
            }
            Self::Per => "What a standard's number is divided by; exactly one of these.",
        }
    }
}

/// What a key's value must be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// One string.
    Text,
    /// A string for `sh -c`, or a list of strings that is run as it is.
    Command,
    /// Names of jobs.
    Jobs,
    /// The name of a job.
    Job,
    /// The name of a metric.
    Metric,
    /// git pathspecs.
    Pathspecs,
    /// A path below the top directory.
    Path,
    /// Paths below the top directory.
    Paths,
    /// Names of environment variables.
    Variables,
    /// Shell commands.
    Commands,
    /// Patterns of full ref names.
    Refs,
    /// A whole number within limits.
    Whole { min: i64, max: i64, unit: &'static str },
    /// An exact decimal number.
    Decimal,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// `{ lines = […] }`, `{ files = […] }`, `{ bytes = […] }` or `{ metric = "…" }`.
    Per,
}

impl Kind {
    /// The kind in words, for "expected …".
    pub(crate) fn words(self) -> String {
        match self {
            Self::Text => "a string".into(),
            Self::Command => "a string (run by `sh -c`) or a list of strings (run as it is)".into(),
            Self::Jobs => "a list of job names".into(),
            Self::Job => "the name of a job".into(),
            Self::Metric => "the name of a metric".into(),
            Self::Pathspecs => "a list of git pathspecs".into(),
            Self::Path => "a path below the top directory".into(),
            Self::Paths => "a list of paths below the top directory".into(),
            Self::Variables => "a list of names of environment variables".into(),
            Self::Commands => "a list of shell commands".into(),
            Self::Refs => "a list of ref patterns".into(),
            Self::Whole { min, max, unit } => format!("a whole number{unit} from {min} to {max}"),
            Self::Decimal => "a decimal number".into(),
            Self::Choice(words) => words.iter().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(" or "),
            Self::Per => "a table with one of `lines`, `files`, `bytes` or `metric`".into(),
        }
    }
}

/// One key.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) table: Table,
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// In words or as it would be written; "required" when there is none.
    pub(crate) default: &'static str,
    pub(crate) meaning: &'static str,
}

/// A week: more is a slip of the keyboard.
const SECONDS: Kind = Kind::Whole { min: 0, max: 604_800, unit: " of seconds" };
const RETRIES: Kind = Kind::Whole { min: 0, max: 10, unit: "" };

const fn key(table: Table, name: &'static str, kind: Kind, default: &'static str, meaning: &'static str) -> Key {
    Key { table, name, kind, default, meaning }
}

/// All keys, in the order of the reference.
pub(crate) const KEYS: &[Key] = &[
    key(
        Table::Gate,
        "trunk",
        Kind::Text,
        "the branch that `origin/HEAD` names, else `main`, else `master`",
        "The branch that limits and jobs are compared with: its remote-tracking branch if there is one, else the branch; never a tag.",
    ),
    key(
        Table::Gate,
        "timeout",
        SECONDS,
        "`1800`",
        "Seconds for each job and standard, in time that the machine is awake; `0` = none. It never touches the lease.",
    ),
    key(
        Table::Gate,
        "parallel",
        Kind::Whole { min: 1, max: 1024, unit: "" },
        "the machine's cores",
        "Jobs of one run at a time.",
    ),
    key(
        Table::Gate,
        "slots",
        Kind::Whole { min: 0, max: 1024, unit: "" },
        "`0`",
        "Jobs of all runs on this machine at a time; `0` = no cap.",
    ),
    key(
        Table::Gate,
        "environment",
        Kind::Choice(&["inherit", "strict"]),
        "`\"inherit\"`",
        "`strict`: jobs get a short fixed list of variables and those that they declare in `env`. Either way only declared ones decide whether a verdict is reused.",
    ),
    key(
        Table::Gate,
        "untracked",
        Kind::Choice(&["refuse", "ignore"]),
        "`\"refuse\"`",
        "What to do about untracked files that are not ignored.",
    ),
    key(
        Table::Gate,
        "jobs",
        Kind::Choice(&["own", "trunk"]),
        "`\"own\"`",
        "`trunk`: refuse a commit that drops or redefines a job of trunk, or whose `[gate]` lets more through; on trunk's own branch that is said and allowed. It counts as trunk's tip has it.",
    ),
    key(
        Table::Gate,
        "retries",
        RETRIES,
        "`0`",
        "How often a failed job is tried again in the same run. Passed on a later try is flaky.",
    ),
    key(
        Table::Gate,
        "workspace",
        Kind::Choice(&["in-place", "isolated"]),
        "`\"in-place\"`",
        "`isolated`: jobs run in a kept checkout that holds exactly the commit, not in the working checkout.",
    ),
    key(
        Table::Gate,
        "pool",
        Kind::Whole { min: 1, max: 64, unit: "" },
        "`4`",
        "How many checkouts are kept for isolated runs.",
    ),
    key(
        Table::Gate,
        "checkouts",
        Kind::Text,
        "a directory in the user's cache",
        "The directory that holds the kept checkouts; outside the git directory, because many tools skip what lies in `.git`.",
    ),
    key(
        Table::Gate,
        "prepare",
        Kind::Command,
        "nothing",
        "Makes a kept checkout ready, for example `npm ci`. Its failure is a failed requirement.",
    ),
    key(
        Table::Gate,
        "prepare_inputs",
        Kind::Pathspecs,
        "the whole tree",
        "`prepare` runs again when these files differ from what the checkout was last prepared for.",
    ),
    key(
        Table::Gate,
        "keep",
        Kind::Paths,
        "nothing",
        "Ignored paths that a kept checkout keeps from commit to commit, for example `target`.",
    ),
    key(
        Table::Job,
        "run",
        Kind::Command,
        "required",
        "The command, in the top directory, without input. Exit status 0 is a pass.",
    ),
    key(
        Table::Job,
        "needs",
        Kind::Jobs,
        "none",
        "Jobs whose products this one uses: they run first, in the same checkout, and are part of what its verdict depends on.",
    ),
    key(Table::Job, "after", Kind::Jobs, "none", "Jobs that come first, for the order only."),
    key(
        Table::Job,
        "inputs",
        Kind::Pathspecs,
        "the whole tree",
        "The tracked files that decide the verdict. It is reused while they stay the same, so name all of them or leave the key out.",
    ),
    key(Table::Job, "env", Kind::Variables, "none", "Variables that decide the verdict, too."),
    key(
        Table::Job,
        "toolchain",
        Kind::Commands,
        "none",
        "Commands whose output decides the verdict, too, for example `rustc --version`.",
    ),
    key(Table::Job, "touches", Kind::Pathspecs, "none", "Tracked files that the job may rewrite with equal content."),
    key(Table::Job, "timeout", SECONDS, "`timeout` of `[gate]`", "Seconds for this job; `0` = none."),
    key(Table::Job, "retries", RETRIES, "`retries` of `[gate]`", "How often this job is tried again."),
    key(
        Table::Job,
        "artifacts",
        Kind::Paths,
        "none",
        "Files that the job makes and that are kept with its log, for standards to measure.",
    ),
    key(
        Table::Standard,
        "direction",
        Kind::Choice(&["up", "down"]),
        "required",
        "`up`: the limit is a floor; `down`: a ceiling. A value equal to the limit passes.",
    ),
    key(
        Table::Standard,
        "limit",
        Kind::Decimal,
        "required",
        "The limit, kept and compared as the exact decimal that is written.",
    ),
    key(
        Table::Standard,
        "run",
        Kind::Command,
        "this or `from` is required",
        "The measuring command. It prints a line `DISCERN_METRIC <metric> <number>`.",
    ),
    key(
        Table::Standard,
        "from",
        Kind::Job,
        "this or `run` is required",
        "A job whose captured output is measured instead of running a command.",
    ),
    key(
        Table::Standard,
        "extract",
        Kind::Command,
        "the job's own `DISCERN_METRIC` lines",
        "With `from`: reads that job's output (or the `artifact`) as its input and prints the `DISCERN_METRIC` line.",
    ),
    key(
        Table::Standard,
        "artifact",
        Kind::Path,
        "the job's output",
        "With `from` and `extract`: the one of the job's `artifacts` to read instead of its output.",
    ),
    key(
        Table::Standard,
        "metric",
        Kind::Metric,
        "the standard's name",
        "The name in the `DISCERN_METRIC` line. Several standards with one command are measured in one execution.",
    ),
    key(
        Table::Standard,
        "margin",
        Kind::Decimal,
        "`0`",
        "Head-room that `git discern standards --pin` leaves between value and limit.",
    ),
    key(
        Table::Standard,
        "measure",
        Kind::Choice(&["gate", "on-demand"]),
        "`\"gate\"`",
        "`on-demand`: only `git discern standards` measures it.",
    ),
    key(
        Table::Standard,
        "per",
        Kind::Per,
        "nothing",
        "Makes the number a rate: per line, file or byte of the tracked files that pathspecs select, or per another metric of the same command.",
    ),
    key(
        Table::Standard,
        "scale",
        Kind::Decimal,
        "`1`",
        "With `per`: what the rate is multiplied by, for example `1000` for \"per 1000 lines\".",
    ),
    key(Table::Standard, "inputs", Kind::Pathspecs, "the whole tree", "As for a job."),
    key(Table::Standard, "needs", Kind::Jobs, "none", "As for a job; the names of jobs."),
    key(Table::Standard, "env", Kind::Variables, "none", "As for a job."),
    key(Table::Standard, "toolchain", Kind::Commands, "none", "As for a job."),
    key(Table::Standard, "timeout", SECONDS, "`timeout` of `[gate]`", "As for a job."),
    key(Table::Per, "lines", Kind::Pathspecs, "nothing", "The lines of the tracked files that these select."),
    key(Table::Per, "files", Kind::Pathspecs, "nothing", "The number of tracked files that these select."),
    key(Table::Per, "bytes", Kind::Pathspecs, "nothing", "The size of the tracked files that these select."),
    key(Table::Per, "metric", Kind::Metric, "nothing", "Another metric that the same command prints."),
    key(
        Table::Push,
        "require",
        Kind::Refs,
        "`[\"refs/heads/**\"]`",
        "Refs of the remote whose new commits must be proven. `*` stays within a path component, `**` does not.",
    ),
    key(
        Table::Push,
        "commits",
        Kind::Choice(&["tip", "all"]),
        "`\"tip\"`",
        "Whether only the tip of what is pushed must be proven or each new commit.",
    ),
    key(
        Table::Push,
        "tags",
        Kind::Choice(&["tip", "ignore"]),
        "`\"ignore\"`",
        "Whether the commit that a pushed tag names must be proven.",
    ),
];

/// The key `name` of `table`.
pub(crate) fn find(table: Table, name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.table == table && key.name == name)
}

/// The keys of `table`.
pub(crate) fn of(table: Table) -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(move |key| key.table == table)
}
