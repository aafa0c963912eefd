//! Which hardware bears the most load within a limit, and at what cost.

use super::super::db::refused;
use super::super::forecast::tell_other_machines;
use super::super::{Done, Exit, usage};
use super::table::{Shown, table};
use super::{form, read, show, tell_best};
use crate::cli::{Global, GoalArg, RecommendArgs};
use crate::output;
use skillbench_report::Format;
use skillbench_session::forecast::{Bearing, By, Candidate, Capacities, Cells, Models, Prices};

pub fn recommend(global: &Global, args: &RecommendArgs, prices: &Prices) -> Done {
    check(args, prices)?;
    let database = args.about.stored.whole(global)?;
    let cells = read(&database)?;
    let capacities = Capacities::read(&database).map_err(refused)?;
    let inventory = global.inventory();
    let mut models = Models::new(inventory.catalog());
    let question = args.about.question();
    let bearing =
        Bearing::of(&capacities, &cells, &question, args.slo.as_deref(), &mut models, &inventory).map_err(usage)?;
    models.notes.drain(..).for_each(|note| output::warning(&note));
    let by = if args.optimize == GoalArg::Cost { By::Cost } else { By::MostFigure };
    let ranked = bearing.rank(prices, by).map_err(usage)?;
    let shown = Shown { of_capacity: true, priced: !prices.is_empty() };
    let parts = [("ranking", "Which hardware to take", table(&ranked, shown))];
    let file = args.output.as_deref();
    let form: Format = form(global, file);
    show(&parts, form, file)?;
    if shown.priced && !global.quiet {
        output::say(shown.how_it_costs());
    }
    Ok(verdict(global, by, &bearing, &cells, &capacities, &ranked))
}

/// What says nothing here is refused, and not passed over.
fn check(args: &RecommendArgs, prices: &Prices) -> Result<(), super::CommandError> {
    if !args.within.is_empty() {
        return Err(usage(
            "--within limits what was measured of single inferences; the limits of a capacity are --slo",
        ));
    }
    if !args.about.from.is_empty() {
        return Err(usage("--from is to predict from other machines, and no capacity is predicted"));
    }
    if args.optimal_hardware_analysis {
        return Err(usage("--optimal-hardware-analysis is of latency, throughput, energy or memory"));
    }
    if args.optimize == GoalArg::Cost && prices.is_empty() {
        return Err(usage("--optimize cost needs what hardware costs by the hour: --price cuda=2.50,cpu=0.20"));
    }
    Ok(())
}

/// In words what comes first, what could not be ranked, and how the command ends.
fn verdict(
    global: &Global,
    by: By,
    bearing: &Bearing<'_>,
    cells: &Cells,
    capacities: &Capacities,
    ranked: &[Candidate],
) -> Exit {
    if !global.quiet {
        tell_best(ranked);
    }
    if ranked.iter().any(|one| one.rank.is_some()) {
        return Exit::Good;
    }
    match by == By::Cost && ranked.iter().any(|one| one.value.is_some()) {
        true => output::say("not enough data: nothing that is measured has a price"),
        false => output::say("not enough data: there is no capacity to rank"),
    }
    for model in bearing.models.iter().filter(|_| bearing.limits.is_some()) {
        let known: Vec<&str> = capacities.limits(&bearing.machine, model).into_iter().collect();
        if !known.is_empty() {
            output::say(&format!("capacities of {model} are known within: {}", known.join("; ")));
        }
    }
    let mut machines = cells.labelled();
    machines.extend(capacities.machines.iter().map(|(id, label)| (id.as_str(), label.as_str())));
    tell_other_machines(&bearing.machine, &machines);
    let models = if bearing.models.is_empty() { "MODEL".to_string() } else { bearing.models.join(",") };
    let limits = bearing.limits.as_deref().unwrap_or("latency.p99<=20ms");
    output::say(&format!("measure: host run --plugin all --model {models} --slo \"{limits}\""));
    Exit::NoVerdict
}
