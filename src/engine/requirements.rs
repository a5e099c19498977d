//! From a commit's configuration to its requirements, each with everything that decides its verdict.

use std::collections::BTreeMap;

use crate::config::{self, Config, Influences, Measure, Pathspec, Per, Problem, Source};
use crate::document::{Diagnostic, Refusal};
use crate::evidence::subject::{
    self, Definition, Denominator, InputEntry, Inputs, Platform, SubjectInput, ToolchainAnswer, Unit,
};
use crate::evidence::{Demand, RequirementKey};
use crate::exit::Exit;
use crate::git::tree::{Folders, Trees};
use crate::git::{GitError, Pathspecs};
use crate::id::{Name, Subject, TreeId};
use crate::plan::Requirement;
use crate::standard::{Decimal, Limit};

/// One requirement with what decides it.
#[derive(Debug, Clone)]
pub struct Detailed {
    /// As planning sees it.
    pub requirement: Requirement,
    /// What decides its verdict.
    pub input: SubjectInput,
}

impl Detailed {
    /// `job`, whose verdict `input` decides. No duration is expected of it yet.
    pub fn job(job: &config::Job, input: SubjectInput, demanded: bool) -> Self {
        let requirement = Requirement {
            key: RequirementKey::job(job.name.clone()),
            subject: input.subject(),
            execution: input.execution(),
            command: job.run.to_string(),
            needs: job.influences.needs.clone(),
            after: job.after.clone(),
            from: None,
            retries: job.retries,
            inputs_declared: job.influences.inputs.is_some(),
            limit: None,
            demanded,
            expected_ms: None,
        };
        Self { requirement, input }
    }
}

/// What a run demands of its candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope<'n> {
    /// Every job, and the standards that are measured by the gate.
    Gate,
    /// Standards; jobs only where they are needed.
    Standards(&'n Chosen),
}

/// Which standards a run of `standards` measures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chosen {
    /// Every one.
    All,
    /// These.
    Named(Vec<Name>),
    /// Those that the gate measures, these, and every other one whose reading is known: what `--pin` looks at.
    ForPin(Vec<Name>),
}

impl Chosen {
    /// The standards that were named.
    pub fn names(&self) -> &[Name] {
        match self {
            Self::All => &[],
            Self::Named(names) | Self::ForPin(names) => names,
        }
    }

    /// Whether `standard` is measured also where that takes a run of its command.
    pub fn asks_for(&self, standard: &config::Standard) -> bool {
        match self {
            Self::All => true,
            Self::Named(names) => names.contains(&standard.name),
            Self::ForPin(names) => standard.measure == Measure::Gate || names.contains(&standard.name),
        }
    }
}

/// What is known besides the commit.
pub struct Surroundings<'s> {
    /// The value of a variable; nothing where it is unset.
    pub variable: &'s dyn Fn(&str) -> Option<Vec<u8>>,
    /// What is on disk otherwise than committed.
    pub on_disk: &'s [crate::git::InputEntry],
    /// The answer of each toolchain command.
    pub toolchain: &'s BTreeMap<String, ToolchainAnswer>,
    /// Trunk's limit of each standard, at the merge base.
    pub trunk_limits: &'s BTreeMap<Name, Decimal>,
}

/// The toolchain commands that `config` declares for what `scope` asks for, each once.
pub fn toolchain_commands(config: &Config, scope: Scope<'_>) -> Vec<String> {
    let jobs = config.jobs.iter().map(|job| &job.influences);
    let standards = config.standards.iter().filter(|standard| scope.demands(standard)).map(|it| &it.influences);
    let mut commands: Vec<String> = jobs.chain(standards).flat_map(|it| it.toolchain.iter().cloned()).collect();
    commands.sort();
    commands.dedup();
    commands
}

impl Scope<'_> {
    fn demands(&self, standard: &config::Standard) -> bool {
        match self {
            Self::Gate => standard.measure == Measure::Gate,
            Self::Standards(Chosen::ForPin(_)) => true,
            Self::Standards(chosen) => chosen.asks_for(standard),
        }
    }
}

/// Every requirement that `scope` asks for and every job that it may need, jobs first, each in the file's order.
///
/// # Errors
/// A pathspec that selects nothing is refused, with its place; a tree can't be read.
pub fn requirements(
    config: &Config,
    scope: Scope<'_>,
    tree: TreeId,
    trees: &Trees<'_>,
    surroundings: &Surroundings<'_>,
) -> Result<Vec<Detailed>, Unplanned> {
    let maker = Maker { config, tree, trees, surroundings };
    let mut subjects: BTreeMap<Name, Subject> = BTreeMap::new();
    let mut jobs: BTreeMap<Name, Detailed> = BTreeMap::new();
    for job in config.jobs_in_order() {
        let detailed = maker.job(job, scope, &subjects)?;
        subjects.insert(job.name.clone(), detailed.requirement.subject);
        jobs.insert(job.name.clone(), detailed);
    }
    let jobs = config.jobs.iter().filter_map(|job| jobs.remove(&job.name));
    let standards = config.standards.iter().filter(|standard| scope.demands(standard));
    let standards = standards.map(|standard| maker.standard(standard, &subjects));
    jobs.map(Ok).chain(standards).collect()
}

/// What a Proof must answer, for what is demanded.
pub fn demands(requirements: &[Detailed]) -> Vec<Demand> {
    let demanded = requirements.iter().map(|detailed| &detailed.requirement).filter(|it| it.demanded);
    demanded.map(|it| Demand { key: it.key.clone(), subject: it.subject, limit: it.limit.clone() }).collect()
}

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum Unplanned {
    /// Something has to be mended first.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The repository could not be read.
    #[error(transparent)]
    Git(#[from] GitError),
}

struct Maker<'m> {
    config: &'m Config,
    tree: TreeId,
    trees: &'m Trees<'m>,
    surroundings: &'m Surroundings<'m>,
}

impl Maker<'_> {
    fn job(&self, job: &config::Job, scope: Scope<'_>, known: &BTreeMap<Name, Subject>) -> Result<Detailed, Unplanned> {
        let source = subject::Source::Run(job.run.clone());
        let input = self.input(&job.name, source, None, &job.influences, known)?;
        Ok(Detailed::job(job, input, scope == Scope::Gate))
    }

    fn standard(&self, standard: &config::Standard, known: &BTreeMap<Name, Subject>) -> Result<Detailed, Unplanned> {
        let (source, from) = match &standard.source {
            Source::Run(run) => (subject::Source::Run(run.clone()), None),
            Source::From { job, artifact, extract } => {
                let source = subject::Source::From {
                    job: job.clone(),
                    subject: subject_of(job, known)?,
                    artifact: artifact.clone(),
                    extract: extract.clone(),
                };
                (source, Some(job.clone()))
            }
        };
        let measure = subject::Measure {
            metric: standard.metric.clone(),
            per: standard.per.as_ref().map(|per| self.denominator(&standard.name, per)).transpose()?,
            scale: standard.scale.as_ref().map(ToString::to_string),
        };
        let input = self.input(&standard.name, source, Some(measure), &standard.influences, known)?;
        let limit = Limit {
            direction: standard.direction,
            own: standard.limit.clone(),
            trunk: self.surroundings.trunk_limits.get(&standard.name).cloned(),
            scale: standard.scale.clone(),
        };
        let requirement = Requirement {
            key: RequirementKey::standard(standard.name.clone()),
            subject: input.subject(),
            execution: input.execution(),
            command: input.definition.to_string(),
            needs: standard.influences.needs.clone(),
            after: Vec::new(),
            from,
            retries: 0,
            inputs_declared: standard.influences.inputs.is_some(),
            limit: Some(limit),
            demanded: true,
            expected_ms: None,
        };
        Ok(Detailed { requirement, input })
    }

    fn input(
        &self,
        of: &Name,
        source: subject::Source,
        measure: Option<subject::Measure>,
        influences: &Influences,
        known: &BTreeMap<Name, Subject>,
    ) -> Result<SubjectInput, Unplanned> {
        let (inputs, on_disk) = match &influences.inputs {
            None => (Inputs::WholeTree, self.on_disk(None)?),
            Some(pathspecs) => {
                let on_disk = self.on_disk(Some(pathspecs))?;
                let (pathspecs, entries) = self.select((of, "inputs", pathspecs), Folders::Whole)?;
                (Inputs::Selected { pathspecs, entries }, on_disk)
            }
        };
        let needs = influences.needs.iter().map(|need| Ok((need.clone(), subject_of(need, known)?)));
        let environment = influences.env.iter().map(|name| (name.clone(), (self.surroundings.variable)(name)));
        let toolchain = influences.toolchain.iter().filter_map(|it| self.surroundings.toolchain.get(it).cloned());
        Ok(SubjectInput {
            definition: Definition { source, measure },
            tree: self.tree,
            inputs,
            on_disk,
            needs: needs.collect::<Result<_, Unplanned>>()?,
            environment_mode: self.config.gate.environment,
            environment: environment.collect(),
            toolchain: toolchain.collect(),
            platform: Platform::current(),
        })
    }

    /// What of the declared inputs (all, without a declaration) is on disk otherwise than committed.
    fn on_disk(&self, inputs: Option<&[Pathspec]>) -> Result<Vec<InputEntry>, Unplanned> {
        let there = self.surroundings.on_disk;
        if there.is_empty() {
            return Ok(Vec::new());
        }
        let texts = inputs.map(|inputs| inputs.iter().map(|it| it.as_str().to_owned()).collect::<Vec<_>>());
        let specs = texts.map(|texts| Pathspecs::parse(&texts)).transpose()?;
        let is_submodule = |entry: &crate::git::InputEntry| entry.mode == crate::git::tree::MODE_SUBMODULE;
        let counts = |entry: &&crate::git::InputEntry| {
            specs.as_ref().is_none_or(|specs| specs.selects(entry.path.as_ref(), is_submodule(entry)))
        };
        let entry = |it: &crate::git::InputEntry| InputEntry { path: it.path.to_vec(), mode: it.mode, id: it.id };
        Ok(there.iter().filter(counts).map(entry).collect())
    }

    fn denominator(&self, of: &Name, per: &Per) -> Result<Denominator, Unplanned> {
        let (unit, pathspecs) = match per {
            Per::Metric(name) => return Ok(Denominator::Metric(name.clone())),
            Per::Lines(pathspecs) => (Unit::Lines, pathspecs),
            Per::Files(pathspecs) => (Unit::Files, pathspecs),
            Per::Bytes(pathspecs) => (Unit::Bytes, pathspecs),
        };
        let (pathspecs, entries) = self.select((of, "per", pathspecs), Folders::Expanded)?;
        Ok(Denominator::Counted { unit, pathspecs, entries })
    }

    fn select(
        &self,
        declared: (&Name, &'static str, &[Pathspec]),
        folders: Folders,
    ) -> Result<(Vec<Pathspec>, Vec<InputEntry>), Unplanned> {
        let (entries, unmatched) = select(self.trees, self.tree, declared, folders)?;
        if !unmatched.is_empty() {
            return Err(select_nothing(self.config, &unmatched).into());
        }
        let entry = |it: crate::git::tree::InputEntry| InputEntry { path: it.path.into(), mode: it.mode, id: it.id };
        Ok((declared.2.to_vec(), entries.into_iter().map(entry).collect()))
    }
}

/// A declared pathspec that selects nothing (B071).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unmatched<'c> {
    /// The job or standard that declares it.
    pub of: &'c Name,
    /// The key that it is written in.
    pub key: &'static str,
    /// It.
    pub pathspec: &'c Pathspec,
}

impl Unmatched<'_> {
    /// Where it is written: `discern.toml:3:11`.
    pub fn place(&self) -> Option<String> {
        self.pathspec.at().map(|at| format!("{}:{at}", config::FILE))
    }

    fn said(&self) -> String {
        format!("`{}` in `{}` selects no file of the commit", self.pathspec.as_str(), self.key)
    }

    /// What is wrong, where, and what helps.
    pub fn diagnostic(&self) -> Diagnostic {
        let mut diagnostic = Diagnostic::new("inputs-match-nothing", self.said()).fix("git ls-files");
        diagnostic.place.extend(self.place());
        diagnostic
    }

    fn problem(&self) -> Problem {
        Problem {
            code: "inputs-match-nothing",
            message: self.said(),
            span: self.pathspec.span().unwrap_or_default(),
            label: String::new(),
            help: Some("`git ls-files` lists the files that there are".to_owned()),
        }
    }
}

/// The refusal of a commit in which declared pathspecs select nothing.
fn select_nothing(config: &Config, unmatched: &[Unmatched<'_>]) -> Refusal {
    let diagnostics = unmatched.iter().map(Unmatched::diagnostic).collect();
    let page = config.page(unmatched.iter().map(Unmatched::problem).collect());
    Refusal { exit: Exit::Refused, diagnostics, page: Some(page) }
}

/// What pathspecs select in a commit's tree, and those of them that select nothing.
fn select<'c>(
    trees: &Trees<'_>,
    tree: TreeId,
    (of, key, pathspecs): (&'c Name, &'static str, &'c [Pathspec]),
    folders: Folders,
) -> Result<(Vec<crate::git::tree::InputEntry>, Vec<Unmatched<'c>>), GitError> {
    let texts: Vec<String> = pathspecs.iter().map(|it| it.as_str().to_owned()).collect();
    let selected = trees.select(tree, &Pathspecs::parse(&texts)?, folders)?;
    let lacks = |it: &&Pathspec| selected.unmatched.iter().any(|text| text == it.as_str());
    let unmatched = pathspecs.iter().filter(lacks).map(|pathspec| Unmatched { of, key, pathspec }).collect();
    Ok((selected.entries, unmatched))
}

/// Every declared pathspec that selects nothing in `tree`, as planning would refuse it. Nothing else is looked at.
///
/// # Errors
/// A tree can't be read.
pub fn unmatched<'c>(config: &'c Config, tree: TreeId, trees: &Trees<'_>) -> Result<Vec<Unmatched<'c>>, GitError> {
    let mut found = Vec::new();
    let jobs = config.jobs.iter().map(|job| (&job.name, &job.influences));
    let standards = config.standards.iter().map(|standard| (&standard.name, &standard.influences));
    for (of, influences) in jobs.chain(standards) {
        if let Some(inputs) = &influences.inputs {
            found.extend(select(trees, tree, (of, "inputs", inputs), Folders::Whole)?.1);
        }
    }
    for standard in &config.standards {
        if let Some(Per::Lines(pathspecs) | Per::Files(pathspecs) | Per::Bytes(pathspecs)) = &standard.per {
            found.extend(select(trees, tree, (&standard.name, "per", pathspecs), Folders::Expanded)?.1);
        }
    }
    Ok(found)
}

/// The subject of a job that another requirement needs. Parsing has made sure that it is there, and the order that it is known;
/// were it not, a verdict that does not depend on it could be reused, so nothing is planned then.
fn subject_of(job: &Name, known: &BTreeMap<Name, Subject>) -> Result<Subject, Unplanned> {
    known.get(job).copied().ok_or_else(|| {
        let message = format!("job `{job}` is needed, and what it checks is not known");
        Refusal::new(Diagnostic::new("internal-error", message)).into()
    })
}

/// `details`, by key.
pub fn by_key(details: Vec<Detailed>) -> BTreeMap<RequirementKey, Detailed> {
    details.into_iter().map(|detailed| (detailed.requirement.key.clone(), detailed)).collect()
}
