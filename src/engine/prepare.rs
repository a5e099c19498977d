//! `[gate] prepare`: what makes a kept checkout ready for jobs, as a job that every other one needs.
//!
//! It is planned like a job, so that it runs only when something else runs, has a log and a verdict of its own, and is let
//! be where this very checkout was prepared for the equal command and inputs. It is part of no other subject: a verdict from a
//! kept checkout serves the working one. Its failure says as much about the machine as about the commit and is never replayed.

use super::requirements::Detailed;
use crate::config::{Config, Influences, Job, Position};
use crate::document::{Diagnostic, Refusal};
use crate::id::Name;

/// The name under which it is planned, recorded and reported.
const NAME: &str = "gate.prepare";

/// Whether `name` is that of preparing.
pub fn is_it(name: &Name) -> bool {
    name.as_str() == NAME
}

/// `config` with preparing as one more job, if it asks for that.
///
/// # Errors
/// A job of that name is there already.
pub fn as_job(mut config: Config) -> Result<Config, Refusal> {
    let (Some(prepare), Ok(name)) = (config.gate.prepare.clone(), NAME.parse::<Name>()) else { return Ok(config) };
    if let Some(job) = config.job(&name) {
        let message = format!("the name `{NAME}` is that of `prepare` in `[gate]`");
        let place = format!("{}:{}:{}", crate::config::FILE, job.at.line, job.at.column);
        return Err(Refusal::new(Diagnostic::new("name-taken", message).at(place)));
    }
    let nowhere = Position { line: 1, column: 1 };
    config.jobs.push(Job {
        name,
        at: nowhere,
        run: prepare.run,
        run_at: nowhere,
        influences: Influences { inputs: prepare.inputs, needs: Vec::new(), env: Vec::new(), toolchain: Vec::new() },
        after: Vec::new(),
        touches: Vec::new(),
        timeout: config.gate.timeout.clone(),
        retries: config.gate.retries,
        artifacts: Vec::new(),
    });
    Ok(config)
}

/// Makes preparing, if it is among `details`, something that each of the others needs and nobody asks for by itself.
pub fn needed_by_all(details: &mut [Detailed]) {
    let Some(prepare) = details.iter().map(|it| it.requirement.key.name.clone()).find(is_it) else { return };
    for requirement in details.iter_mut().map(|it| &mut it.requirement) {
        if requirement.key.name == prepare {
            requirement.demanded = false;
        } else {
            requirement.needs.push(prepare.clone());
        }
    }
}
