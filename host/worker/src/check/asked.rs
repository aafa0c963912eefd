//! All rules from outside: each in a worker of its own, and what a library may cost that hangs.

use super::rules::{Applies, RULES, Rule};
use super::{PROBE, Verdict};
use crate::description::Description;
use crate::{CheckJob, Command, Failure, FailureKind, Library, Limits, PluginUse, Reply, Stop, Worker};
use skillbench_record::{PluginOptions, scratch};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long one rule may take.
const LIMIT: Duration = Duration::from_secs(30);
/// Memory of a worker that holds a rule.
const MEMORY: u64 = 4 << 30;
/// A library that hangs is let hang in so many rules; the others are not checked. So it costs minutes, not the half hour of all.
const HANGS: usize = 3;
/// The rule that also looks at how a process ends which had the plugin open, and how long that may take.
const LEAVES: &str = "closes";
const LEAVING: Duration = Duration::from_secs(5);

/// What is held against rules, and how.
pub struct Asked<'a> {
    pub library: &'a Library,
    /// `None`: it cannot be described; only the rules for every plugin say something then.
    pub description: Option<&'a Description>,
    pub options: &'a PluginOptions,
    /// A backend to measure with, for rules about benchmarks.
    pub backend: Option<&'a PluginUse>,
    /// Ids of the rules that count; none: all.
    pub rules: &'a [String],
    /// How long one rule may take.
    pub limit: Duration,
    pub stop: Stop,
}

impl<'a> Asked<'a> {
    /// All rules, in their usual time.
    pub fn all(library: &'a Library, description: Option<&'a Description>, options: &'a PluginOptions) -> Asked<'a> {
        let (backend, rules, limit, stop) = (None, [].as_slice(), LIMIT, Stop::default());
        Asked { library, description, options, backend, rules, limit, stop }
    }

    fn wants(&self, rule: &Rule) -> bool {
        self.rules.is_empty() || self.rules.iter().any(|id| id == rule.id || *id == rule.number.to_string())
    }

    fn applies(&self, rule: &Rule) -> bool {
        self.description.map_or(rule.applies == Applies::Every, |description| rule.applies.to(description))
    }

    /// Holds the library against its rules, one after the other, and tells of each as it ends. One that crashes breaks its own rule.
    ///
    /// # Errors
    /// A scratch folder cannot be made.
    pub fn check(&self, told: &mut dyn FnMut(&Checked)) -> std::io::Result<Vec<Checked>> {
        let scratch = scratch::folder()?;
        let probe = scratch.path().join("probe.onnx");
        std::fs::write(&probe, PROBE)?;
        let (mut all, mut hung): (Vec<Checked>, Vec<&str>) = (vec![], vec![]);
        for rule in RULES.iter().filter(|rule| self.wants(rule)) {
            let began = Instant::now();
            let verdict = if self.stop.asked() {
                Verdict::Unchecked("the check was stopped before".into())
            } else if !self.applies(rule) {
                Verdict::NotApplicable
            } else if hung.len() >= HANGS {
                Verdict::Unchecked(format!("the library hung in {} rules before: {}", hung.len(), hung.join(", ")))
            } else {
                self.one(rule, &probe, &scratch.path().join(rule.id)).unwrap_or_else(|failure| {
                    if failure.kind == FailureKind::TimedOut {
                        hung.push(rule.id);
                    }
                    Verdict::Broken(failure.to_string())
                })
            };
            let checked = Checked { rule, verdict, took: began.elapsed() };
            told(&checked);
            all.push(checked);
        }
        Ok(all)
    }

    fn one(&self, rule: &Rule, probe: &Path, folder: &Path) -> Result<Verdict, Failure> {
        std::fs::create_dir_all(folder)?;
        let job = CheckJob {
            rule: rule.id.into(),
            library: self.library.clone(),
            probe: probe.into(),
            options: self.options.clone(),
            backend: self.backend.cloned(),
            scratch: folder.into(),
        };
        let mut limits = Limits::probing(&self.stop);
        limits.memory = limits.memory.map(|most| most.min(MEMORY));
        (limits.total, limits.opening) = (self.limit, self.limit);
        let command = Command::Check(Box::new(job));
        let mut worker = Worker::start(&command)?;
        let (reply, _) = worker.call(&command, &limits, &mut |_| {});
        match reply? {
            Reply::Checked(Verdict::Kept) if rule.id == LEAVES => worker.leave(LEAVING).map(|()| Verdict::Kept),
            Reply::Checked(verdict) => Ok(verdict),
            other => Err(Failure::unexpected(&other)),
        }
    }
}

/// One rule, and what became of it.
pub struct Checked {
    pub rule: &'static Rule,
    pub verdict: Verdict,
    pub took: Duration,
}

/// How many rules of a check have which verdict. One that says nothing about a plugin does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub kept: usize,
    pub broken: usize,
    pub unchecked: usize,
}

impl Tally {
    pub fn of<'v>(verdicts: impl IntoIterator<Item = &'v Verdict>) -> Tally {
        let mut tally = Tally::default();
        for verdict in verdicts {
            match verdict {
                Verdict::Kept => tally.kept += 1,
                Verdict::Broken(_) => tally.broken += 1,
                Verdict::Unchecked(_) => tally.unchecked += 1,
                Verdict::NotApplicable => {}
            }
        }
        tally
    }
}

/// Holds a library against every rule.
///
/// # Errors
/// A scratch folder cannot be made.
pub fn check(
    library: &Library,
    description: Option<&Description>,
    options: &PluginOptions,
    reference: Option<&PluginUse>,
) -> std::io::Result<Vec<(&'static Rule, Verdict)>> {
    let asked = Asked { backend: reference, ..Asked::all(library, description, options) };
    Ok(asked.check(&mut |_| {})?.into_iter().map(|checked| (checked.rule, checked.verdict)).collect())
}
