//! `host update`: what the database has of this machine is measured again where it is too old, or made with what is no longer here.

use super::machine_lock::MachineLock;
use super::persist::Persist;
use super::{CommandError, Done, Exit, failed, run, usage};
use crate::cli::{Global, UpdateArgs};
use crate::output;
use again::{Group, groups};
use skillbench_engine::defaults::defaults;
use skillbench_engine::run::{self as engine, Availability, Inventory};
use skillbench_engine::worker::Stop;
use skillbench_record::Axes;
use skillbench_record::machine;
use skillbench_record::time::moment;
use skillbench_record::time::{now_utc, utc};
use skillbench_record::{BackendChoice, RunRequest};
use skillbench_report::{Cell, Table};
use skillbench_results::freshness::{self, Age, Measured};
use skillbench_session::Conditions;
use std::collections::BTreeMap;

mod again;

/// Which measurements are meant; empty lists: all.
pub struct Which<'a> {
    pub models: &'a [String],
    pub plugins: &'a [String],
    pub benchmarks: &'a [String],
}

/// What becomes of a measurement.
enum Verdict {
    Holds,
    Stale(String),
    /// It cannot be made again here.
    Gone(String),
}

pub fn update(global: &Global, args: &UpdateArgs) -> Done {
    let which = Which { models: &args.model, plugins: &args.plugin, benchmarks: &args.bench };
    stale(global, args.older_than, &which, args.dry_run, &Persist::new(global, &args.persist))
}

pub fn stale(global: &Global, older_than: Option<f64>, which: &Which<'_>, dry_run: bool, persist: &Persist) -> Done {
    if let Some(done) = persist.without_measuring(global) {
        return done;
    }
    let Some(database) = &persist.database else {
        return Err(usage("what is measured again is stale until it is stored: leave --no-save out"));
    };
    let mut lock = MachineLock::default();
    if !dry_run && let Err(exit) = lock.take(global, &persist.lock) {
        return Ok(exit);
    }
    let inventory = Inventory::take(&global.sources());
    let all = freshness::of_machine(database, &machine::this()).map_err(failed)?;
    let mut meant = which.of(&inventory, all)?;
    // As a run lays its cells out: those of one point together, and in the order of their plan.
    meant.reverse();
    meant.sort_by(|one, other| point(one).cmp(&point(other)));
    let most_days = older_than.unwrap_or(defaults().update.older_than_days);
    let age = Age { now: moment(&now_utc()).unwrap_or_default(), most_days };
    tell_future(&age, &meant);
    let (of, mut judged, mut requests) = (meant.len(), vec![], vec![]);
    let (groups, gone) = groups(&inventory, meant);
    judged.extend(gone.into_iter().map(|(measured, why)| (measured, Verdict::Gone(why))));
    for group in groups {
        judge(&inventory, &age, group, &mut judged, &mut requests);
    }
    // What was not looked at to the end would count as gone.
    if Stop::global().asked() {
        return Ok(Exit::Stopped);
    }
    let gone = judged.iter().any(|(_, verdict)| matches!(verdict, Verdict::Gone(_)));
    // What was not asked for by name may be gone.
    let named = !which.models.is_empty() || !which.plugins.is_empty() || !which.benchmarks.is_empty();
    let exit = if gone && named { Exit::Unmeasured } else { Exit::Good };
    let stale = judged.iter().filter(|(_, verdict)| matches!(verdict, Verdict::Stale(_))).count();
    match dry_run {
        true => output::table(&table(&judged), global.format.into()),
        false => tell(global, &judged),
    }
    output::say(&match (stale, dry_run) {
        (0, _) => format!("nothing is stale of {of} measured cells of this machine"),
        (_, true) => format!(
            "{stale} of {of} measured cells of this machine are stale; without --dry-run they are measured again"
        ),
        (_, false) => format!("{stale} of {of} measured cells of this machine are stale, and measured again"),
    });
    if dry_run {
        return Ok(exit);
    }
    let mut worst = exit;
    for request in requests {
        let ended = run::measure(global, request, persist, None)?;
        if ended == Exit::Stopped {
            return Ok(ended);
        }
        worst = worst.or(ended);
    }
    Ok(worst)
}

fn point(measured: &Measured) -> (&str, &str, Option<&str>, &Axes) {
    let name = &measured.name;
    (&name.model, &name.plugin, name.device.as_deref(), &name.axes)
}

/// Holds the measurements of a group against what is here now. What is stale of them becomes a request.
fn judge(
    inventory: &Inventory,
    age: &Age,
    group: Group,
    judged: &mut Vec<(Measured, Verdict)>,
    requests: &mut Vec<RunRequest>,
) {
    let plan = match engine::plan(inventory, group.request.clone()) {
        Ok(plan) => plan,
        Err(error) => {
            let gone = |measured| (measured, Verdict::Gone(error.to_string()));
            judged.extend(group.cells.into_iter().map(gone));
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
        judged.push((measured, verdict));
    }
    if !stale.is_empty() {
        requests.push(RunRequest { exactly: stale, ..group.request });
    }
}

/// A clock that went back makes measurements of tomorrow.
fn tell_future(age: &Age, measured: &[Measured]) {
    let future = measured.iter().filter(|measured| age.is_of_the_future(measured));
    let times: Vec<i64> = future.filter_map(|measured| measured.began).collect();
    if let Some(newest) = times.iter().max() {
        output::warning(&format!(
            "{} measured cells are dated after this machine's clock, up to {}: how old they are nobody can tell; \
             --older-than 0 measures them again",
            times.len(),
            utc(newest.div_euclid(1_000_000))
        ));
    }
}

fn tell(global: &Global, judged: &[(Measured, Verdict)]) {
    let mut gone: BTreeMap<&str, usize> = BTreeMap::new();
    for (measured, verdict) in judged {
        match verdict {
            Verdict::Stale(why) if !global.quiet => {
                output::say(&format!("{}: {why}", measured.name));
            }
            Verdict::Gone(why) => *gone.entry(why).or_default() += 1,
            Verdict::Stale(_) | Verdict::Holds => {}
        }
    }
    for (why, cells) in gone {
        output::warning(&format!("{cells} measured cells cannot be measured again: {why}"));
    }
}

fn table(judged: &[(Measured, Verdict)]) -> Table {
    let mut table = Table::new([
        "model",
        "plugin",
        "device",
        "benchmark",
        "axes",
        "precision",
        "threads",
        "options",
        "measured",
        "run",
        "newer_try",
        "now",
        "why",
    ]);
    for (measured, verdict) in judged {
        let (now, why) = match verdict {
            Verdict::Holds => continue,
            Verdict::Stale(why) => ("stale", why),
            Verdict::Gone(why) => ("gone", why),
        };
        let name = &measured.name;
        table.row([
            Cell::text(&name.model),
            Cell::text(&name.plugin),
            Cell::maybe(name.device.clone(), Cell::from),
            Cell::text(&name.benchmark),
            name.axes.to_string().into(),
            Cell::maybe(measured.precision.clone(), Cell::from),
            Cell::maybe(measured.threads, Cell::count),
            Cell::maybe(measured.options.clone(), Cell::from),
            Cell::maybe(measured.began.map(|began| utc(began.div_euclid(1_000_000))), Cell::from),
            Cell::text(&measured.run),
            Cell::maybe(measured.newer.as_ref().map(|newer| format!("{} in {}", newer.outcome, newer.run)), Cell::from),
            now.into(),
            Cell::text(why),
        ]);
    }
    table
}

impl Which<'_> {
    /// Those of the measurements that are meant.
    fn of(&self, inventory: &Inventory, mut all: Vec<Measured>) -> Result<Vec<Measured>, CommandError> {
        if self.models.is_empty() && self.plugins.is_empty() && self.benchmarks.is_empty() {
            return Ok(all);
        }
        let catalog = inventory.catalog();
        narrow(&mut all, self.models, "model", |asked| {
            let same = |text: &str| text.to_lowercase().replace('_', "-");
            let skills = catalog.skills.iter().map(|skill| &skill.description);
            let id = skills.filter(|skill| skill.aliases.iter().any(|alias| same(alias) == same(asked)));
            let ids: Vec<String> = id.map(|skill| skill.id.clone()).chain([asked.to_string()]).collect();
            Box::new(move |measured| ids.iter().any(|id| same(id) == same(&measured.name.model)))
        })?;
        narrow(&mut all, self.plugins, "plugin", |asked| {
            let BackendChoice { plugin, device } = BackendChoice::parse(asked);
            let plugin = inventory.plugin(&plugin).map_or(plugin, |known| known.id.clone());
            Box::new(move |measured| {
                let is_device = || device.is_none() || device == measured.name.device;
                measured.name.plugin == plugin && is_device()
            })
        })?;
        narrow(&mut all, self.benchmarks, "benchmark", |asked| {
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
    what: &str,
    means: impl Fn(&str) -> Box<dyn Fn(&Measured) -> bool + 'a>,
) -> Result<(), CommandError> {
    if names.is_empty() {
        return Ok(());
    }
    let tests: Vec<_> = names.iter().map(|name| means(name)).collect();
    if let Some((name, _)) = names.iter().zip(&tests).find(|(_, test)| !all.iter().any(test)) {
        let hint =
            "`host query \"SELECT DISTINCT model_id, plugin, benchmark FROM latest_benchmarks\"` lists what is there";
        return Err(usage(format!("nothing is stored of {what} '{name}' on this machine; {hint}")));
    }
    all.retain(|measured| tests.iter().any(|test| test(measured)));
    Ok(())
}
