//! `host recommend`: which hardware to take, with the evidence. `capacity`: which bears the most load, and at what cost. `analysis`: the
//! best over all that was measured. `table`: how it is shown.

mod analysis;
mod capacity;
mod table;

use super::forecast::{bench_of, form, models_asked, read, tell_other_machines};
use super::{CommandError, Done, Exit, failed, usage};
use crate::cli::{Global, RecommendArgs};
use crate::output;
use skillbench_engine::skill::Tell;
use skillbench_report::{Format, Table};
use skillbench_results::questions::Goal;
use skillbench_session::forecast::{Asked, Bench, Candidate, Cells, Evidence, Models, Prices, Within, answers, rank};
use std::collections::BTreeSet;
use std::path::Path;
use table::{Shown, table};

pub fn recommend(global: &Global, args: &RecommendArgs) -> Done {
    let prices = Prices::parse(&args.price).map_err(usage)?;
    let goal = match args.optimize.goal() {
        Some(goal) => goal,
        None => return capacity::recommend(global, args, &prices),
    };
    if args.slo.is_some() {
        return Err(usage("--slo chooses among capacities: ask for --optimize capacity or cost"));
    }
    if !prices.is_empty() && goal != Goal::Throughput {
        let of = goal.metric();
        let text = format!(
            "a price by the hour makes a cost of what is done in a second, and none of {of}: ask for --optimize capacity, cost or throughput"
        );
        return Err(usage(text));
    }
    let limits: Vec<Within> =
        args.within.iter().map(|text| Within::parse(text)).collect::<Result<_, _>>().map_err(usage)?;
    let database = args.about.stored.whole(global)?;
    let cells = read(&database)?;
    let mut inventory = global.inventory();
    if !global.quiet {
        inventory.tell = Tell(output::say);
    }
    let mut models = Models::new(inventory.catalog());
    let mut asked = models_asked(&mut models, &args.about, &cells, false)?;
    let bench = bench_of(&cells, &args.about, &models, &inventory, global)?;
    if args.about.batch_size.is_empty() && args.about.sequence_length.is_empty() {
        asked.iter_mut().for_each(|one| bench.take_measured_points(one));
    }
    let all = answers(&bench, &cells, &asked);
    let mut ranked = rank(&all, goal, &limits);
    prices.give(&mut ranked).map_err(usage)?;
    let shown = Shown { of_capacity: false, priced: !prices.is_empty() };
    let mut parts = vec![("ranking", "Which hardware to take", table(&ranked, shown))];
    if args.optimal_hardware_analysis {
        if args.about.model.is_empty() {
            parts.clear();
        }
        parts.extend(analysis::parts(&database, &bench.machine, &asked, goal)?);
    }
    let form = form(global, args.output.as_deref());
    if form == Format::Csv && parts.len() > 1 {
        return Err(usage("a CSV file holds one table, and this analysis has several: take .md, .html or .json"));
    }
    show(&parts, form, args.output.as_deref())?;
    if shown.priced && !global.quiet {
        output::say(shown.how_it_costs());
    }
    Ok(verdict(global, args, &bench, &cells, &models, &asked, &ranked))
}

fn show(parts: &[(&str, &str, Table)], form: Format, file: Option<&Path>) -> Result<(), CommandError> {
    let text = render(parts, form, file);
    match file {
        None => output::print(&text),
        Some(file) => output::to_file(file, text.as_bytes()).map_err(failed)?,
    }
    Ok(())
}

fn render(parts: &[(&str, &str, Table)], form: Format, file: Option<&Path>) -> String {
    let shown = |table: &Table| {
        let mut table = table.clone();
        table.keep_columns(|_, cells| cells.iter().any(|cell| !cell.value.is_null()));
        table
    };
    match (form, parts) {
        (Format::Json | Format::Csv | Format::Html, [(_, _, one)]) => one.render(form),
        (Format::Table, [(_, _, one)]) => output::drawn(&shown(one), form, file),
        (Format::Json, _) => {
            let part = |(name, _, table): &(&str, &str, Table)| format!("{name:?}: {}", table.render(form).trim_end());
            format!("{{\n{}\n}}\n", parts.iter().map(part).collect::<Vec<_>>().join(",\n"))
        }
        (Format::Csv, _) => parts.first().map(|(_, _, table)| table.render(form)).unwrap_or_default(),
        _ => {
            let part = |(_, title, table): &(&str, &str, Table)| {
                let text = match table.rows.is_empty() {
                    true => "Nothing.\n".into(),
                    false => output::drawn(&shown(table), form, file),
                };
                if form == Format::Html { format!("<h2>{title}</h2>\n{text}") } else { format!("## {title}\n\n{text}") }
            };
            parts.iter().map(part).collect::<Vec<_>>().join("\n")
        }
    }
}

/// In words what comes first, what could not be ranked, and how the command ends.
fn verdict(
    global: &Global,
    args: &RecommendArgs,
    bench: &Bench,
    cells: &Cells,
    models: &Models,
    asked: &[Asked],
    ranked: &[Candidate],
) -> Exit {
    let only_analysis = args.optimal_hardware_analysis && args.about.model.is_empty();
    if !global.quiet && !only_analysis {
        tell_best(ranked);
    }
    if ranked.iter().any(|one| one.rank.is_some()) {
        return Exit::Good;
    }
    if ranked.iter().any(|one| one.breaks) {
        output::say("nothing that is measured or can be predicted keeps the limit");
        return Exit::Broken;
    }
    match ranked.iter().any(|one| one.value.is_some() && one.within.is_some()) {
        true => output::say("not enough data: nothing is known to keep the limit"),
        false => output::say(&format!("not enough data: there is nothing to rank on {}", bench.machine_label)),
    }
    tell_other_machines(&bench.machine, &cells.labelled());
    let names: Vec<&str> = match asked {
        [] => models.to_measure(&BTreeSet::new(), "", 3),
        asked => asked.iter().take(3).map(|one| one.model.as_str()).collect(),
    };
    output::say(&format!("measure: host run --bench inference --plugin all --model {}", names.join(",")));
    Exit::NoVerdict
}

/// What comes first, and what has no rank for what it is.
fn tell_best(ranked: &[Candidate]) {
    ranked.iter().filter(|one| one.rank == Some(1)).for_each(|one| output::say(&one.describe()));
    let aside: BTreeSet<&str> = ranked
        .iter()
        .filter(|one| {
            matches!(one.evidence, Evidence::Emulated | Evidence::Unverified | Evidence::Remote | Evidence::Implausible)
        })
        .map(|one| one.hardware.as_str())
        .collect();
    if !aside.is_empty() {
        let aside = aside.into_iter().collect::<Vec<_>>().join(", ");
        output::say(&format!("not ranked, being emulated, unverified or remote: {aside}"));
    }
}
