//! `host update`: what the database has of this machine is measured again where it is too old, or made with what is no longer here.

use super::persist::Persist;
use super::{Done, Exit, failed, locked_out, run, usage};
use crate::cli::{Global, HowArgs, UpdateArgs};
use crate::output;
use crate::screen::Screen;
use skillbench_engine::suite::how;
use skillbench_record::time::utc;
use skillbench_report::{Cell, Table};
use skillbench_results::freshness::Measured;
use skillbench_session::Start;
use skillbench_session::update::{self, Judged, UpdateError, Verdict};
use std::collections::BTreeMap;

pub use skillbench_session::update::Which;

pub fn update(global: &Global, args: &UpdateArgs) -> Done {
    let options = run::options(&args.option)?;
    let which = Which { models: &args.model, plugins: &args.plugin, benchmarks: &args.bench, options: &options };
    stale(global, args.older_than, &which, &args.how, args.dry_run, &Persist::new(global, &args.persist))
}

pub fn stale(
    global: &Global,
    older_than: Option<f64>,
    which: &Which<'_>,
    way: &HowArgs,
    dry_run: bool,
    persist: &Persist,
) -> Done {
    if let Some(done) = persist.without_measuring(global) {
        return done;
    }
    let Some(database) = &persist.database else {
        return Err(usage("what is measured again is stale until it is stored: leave --no-save out"));
    };
    let mut session = persist.session();
    if !dry_run {
        let mut screen = Screen::new(global);
        session.lock.take(&global.stop, &mut |event| screen.on(event)).map_err(|error| locked_out(&error))?;
    }
    let inventory = global.inventory();
    let judged = update::judge(&inventory, database, which, older_than).map_err(|error| match error {
        UpdateError::Unknown { .. } | UpdateError::Recorded(_) => usage(error),
        UpdateError::Database(error) => failed(error),
    })?;
    tell_future(&judged);
    // What was not looked at to the end would count as gone.
    if global.stop.asked() {
        return Ok(Exit::Stopped);
    }
    // What was not asked for by name may be gone.
    let named = !which.models.is_empty() || !which.plugins.is_empty() || !which.benchmarks.is_empty();
    let mut worst = if judged.is_any_gone() && named { Exit::Unmeasured } else { Exit::Good };
    match dry_run {
        true => output::table(&table(&judged.measured), global.format.into()),
        false => tell(global, &judged.measured),
    }
    let of = judged.measured.len();
    output::say(&match (judged.stale(), dry_run) {
        (0, _) => format!("nothing is stale of {of} measured cells of this machine"),
        (stale, true) => format!(
            "{stale} of {of} measured cells of this machine are stale; without --dry-run they are measured again"
        ),
        (stale, false) => format!("{stale} of {of} measured cells of this machine are stale, and measured again"),
    });
    if dry_run {
        return Ok(worst);
    }
    for mut request in judged.requests {
        how(&way.suite(), &mut request);
        let ended = run::measure(global, Start::New(Box::new(request)), persist, &mut session)?;
        if ended == Exit::Stopped {
            return Ok(ended);
        }
        worst = worst.or(ended);
    }
    Ok(worst)
}

/// A clock that went back makes measurements of tomorrow.
fn tell_future(judged: &Judged) {
    if let Some(newest) = judged.future.iter().max() {
        output::warning(&format!(
            "{} measured cells are dated after this machine's clock, up to {}: how old they are nobody can tell; \
             --older-than 0 measures them again",
            judged.future.len(),
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
    ])
    .least(["newer_try", "run", "options", "threads", "device", "precision", "benchmark", "measured"]);
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
