//! What the database has of this machine, held against what is here now: what is too old, or made with what is no longer here, is
//! measured again.
//!
//! `groups`: measurements as the requests that make them again.

mod groups;

use crate::conditions::Conditions;
use crate::recorded::{RecordedError, all_known};
use groups::{Group, groups};
use skillbench_engine::run::{self, Availability, Inventory};
use skillbench_record::defaults::defaults;
use skillbench_record::time::{moment, now_utc};
use skillbench_record::{Axes, BackendChoice, OptionChoice, RunRequest, machine};
use skillbench_results::freshness::{self, Age, Measured};
use skillbench_store::{Database, DatabaseError};

#[derive(Debug, thiserror::Error)]
pub enum UpdateError {
    #[error(transparent)]
    Database(#[from] DatabaseError),
    #[error(
        "nothing is stored of {what} '{name}' on this machine; `host query \"SELECT DISTINCT model_id, plugin, benchmark FROM latest_benchmarks\"` lists what is there"
    )]
    Unknown { what: &'static str, name: String },
    #[error(transparent)]
    Recorded(#[from] RecordedError),
}

/// Which measurements are meant; empty lists: all.
pub struct Which<'a> {
    pub models: &'a [String],
    pub plugins: &'a [String],
    pub benchmarks: &'a [String],
    /// Paths of recorded options that are named again, see [`recorded`](mod@crate::recorded).
    pub options: &'a [OptionChoice],
}

/// What becomes of a measurement.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    Holds,
    Stale(String),
    /// It cannot be made again here.
    Gone(String),
}

/// Measurements with what becomes of them.
#[derive(Debug, Default)]
pub struct Judged {
    pub measured: Vec<(Measured, Verdict)>,
    /// What makes the stale ones again.
    pub requests: Vec<RunRequest>,
    /// When those began that are dated after this machine's clock, in microseconds since 1970-01-01.
    pub future: Vec<i64>,
}

impl Judged {
    pub fn stale(&self) -> usize {
        self.measured.iter().filter(|(_, verdict)| matches!(verdict, Verdict::Stale(_))).count()
    }

    pub fn is_any_gone(&self) -> bool {
        self.measured.iter().any(|(_, verdict)| matches!(verdict, Verdict::Gone(_)))
    }
}

/// Holds the measurements of this machine against what is here now. Stale are those older than so many days, or than the default.
///
/// # Errors
/// The database cannot be read, or has nothing of a name or of an option.
pub fn judge(
    inventory: &Inventory,
    database: &Database,
    which: &Which<'_>,
    older_than_days: Option<f64>,
) -> Result<Judged, UpdateError> {
    let mut meant = which.of(inventory, freshness::of_machine(database, &machine::this())?)?;
    all_known(which.options, meant.iter().filter_map(|measured| measured.request.as_deref()))?;
    // As a run lays its cells out: those of one point together, and in the order of their plan.
    meant.reverse();
    meant.sort_by(|one, other| point(one).cmp(&point(other)));
    let most_days = older_than_days.unwrap_or(defaults().update.older_than_days);
    let age = Age { now: moment(&now_utc()).unwrap_or_default(), most_days };
    let future = meant.iter().filter(|measured| age.is_of_the_future(measured));
    let mut judged = Judged { future: future.filter_map(|measured| measured.began).collect(), ..Judged::default() };
    let (groups, gone) = groups(inventory, meant, which.options);
    judged.measured.extend(gone.into_iter().map(|(measured, why)| (measured, Verdict::Gone(why))));
    for group in groups {
        judged.add(inventory, &age, group);
    }
    Ok(judged)
}

fn point(measured: &Measured) -> (&str, &str, Option<&str>, &Axes) {
    let name = &measured.name;
    (&name.model, &name.plugin, name.device.as_deref(), &name.axes)
}

impl Judged {
    /// Holds the measurements of a group against what is here now. What is stale of them becomes a request.
    fn add(&mut self, inventory: &Inventory, age: &Age, group: Group) {
        let plan = match run::plan(inventory, group.request.clone()) {
            Ok(plan) => plan,
            Err(error) => {
                let gone = |measured| (measured, Verdict::Gone(error.to_string()));
                self.measured.extend(group.cells.into_iter().map(gone));
                return;
            }
        };
        let conditions = Conditions::look(&plan);
        let mut stale = vec![];
        for (cell, measured) in plan.cells.iter().zip(group.cells) {
            let verdict = match conditions.availability(cell) {
                Availability::LeftOut(why) | Availability::Unusable(why) => Verdict::Gone(why.clone()),
                Availability::Usable(device) => {
                    let changes = measured.made_with.changed(&conditions.wanted(cell, device).made_with);
                    let why: Vec<String> = age.too_old(&measured).into_iter().chain(changes).collect();
                    match why.is_empty() {
                        true => Verdict::Holds,
                        false => Verdict::Stale(why.join("; ")),
                    }
                }
            };
            if let Verdict::Stale(_) = verdict {
                stale.push(conditions.name(cell));
            }
            self.measured.push((measured, verdict));
        }
        if !stale.is_empty() {
            self.requests.push(RunRequest { exactly: stale, ..group.request });
        }
    }
}

impl Which<'_> {
    /// Those of the measurements that are meant.
    fn of(&self, inventory: &Inventory, mut all: Vec<Measured>) -> Result<Vec<Measured>, UpdateError> {
        if self.models.is_empty() && self.plugins.is_empty() && self.benchmarks.is_empty() {
            return Ok(all);
        }
        let catalog = inventory.catalog();
        narrow(&mut all, self.models, "the model", |asked| {
            let same = |text: &str| text.to_lowercase().replace('_', "-");
            let skills = catalog.skills.iter().map(|skill| &skill.description);
            let id = skills.filter(|skill| skill.aliases.iter().any(|alias| same(alias) == same(asked)));
            let ids: Vec<String> = id.map(|skill| skill.id.clone()).chain([asked.to_string()]).collect();
            Box::new(move |measured| ids.iter().any(|id| same(id) == same(&measured.name.model)))
        })?;
        narrow(&mut all, self.plugins, "the plugin", |asked| {
            let BackendChoice { plugin, device } = BackendChoice::parse(asked);
            let plugin = inventory.plugin(&plugin).map_or(plugin, |known| known.id.clone());
            Box::new(move |measured| {
                let is_device = || device.is_none() || device == measured.name.device;
                measured.name.plugin == plugin && is_device()
            })
        })?;
        narrow(&mut all, self.benchmarks, "the benchmark", |asked| {
            let of_plugin = inventory.benchmarks().filter(|(plugin, _)| plugin.id == asked);
            let ids: Vec<String> = of_plugin.map(|(_, known)| known.id.clone()).chain([asked.to_string()]).collect();
            Box::new(move |measured| ids.contains(&measured.name.benchmark))
        })?;
        Ok(all)
    }
}

/// Keeps what one of the names means. A name that means nothing is told.
fn narrow<'a>(
    all: &mut Vec<Measured>,
    names: &[String],
    what: &'static str,
    means: impl Fn(&str) -> Box<dyn Fn(&Measured) -> bool + 'a>,
) -> Result<(), UpdateError> {
    if names.is_empty() {
        return Ok(());
    }
    let tests: Vec<_> = names.iter().map(|name| means(name)).collect();
    if let Some((name, _)) = names.iter().zip(&tests).find(|(_, test)| !all.iter().any(test)) {
        return Err(UpdateError::Unknown { what, name: (*name).clone() });
    }
    all.retain(|measured| tests.iter().any(|test| test(measured)));
    Ok(())
}
