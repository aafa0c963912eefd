//! Backends side by side: a thread for each lane, bound to the lane's cores, so that every worker it starts is bound to them too.
//!
//! What tells of the machine and not of a backend on some of its cores runs alone, after the lanes: peaks, and many requests at once.

use super::Observer;
use super::execute::Runner;
use super::lanes::{Accelerator, Claim, Lane, Layout, lay_out};
use super::plan::{Plan, PlannedCell};
use super::relay::{Abreast, Message, Relay};
use crate::cores;
use skillbench_record::{Cell, Metrics, Outcome};
use skillbench_worker::{Limits, Stop};
use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{Receiver, channel};

/// What an energy counter may count while others compute, and still be of one cell.
const OWN_SCOPES: [&str; 2] = ["process", "device"];

/// Runs cells, as many side by side as may be.
///
/// # Errors
/// The observer could not keep an outcome.
pub(super) fn execute(main: &mut Runner<'_, '_>, pending: VecDeque<PlannedCell>) -> io::Result<()> {
    let mut all = VecDeque::new();
    for cell in pending {
        match main.left_out(&cell)? {
            true => main.common.pass_over(&cell),
            false => all.push_back(cell),
        }
    }
    let layout = match cores::usable() {
        Some(cores) => lay_out(&claims(main, &all), &cores),
        None => {
            let why = "nothing runs side by side: this system does not tell its cores, and binds no work to them";
            Layout { warnings: vec![why.into()], ..Layout::default() }
        }
    };
    // A backend that was stopped while it opened is not one that cannot be used.
    if main.limits.stopped() {
        return Ok(());
    }
    layout.notes.iter().for_each(|note| main.observer.note(note));
    layout.warnings.iter().for_each(|warning| main.observer.warning(warning));
    if layout.lanes.is_empty() {
        return main.row(all);
    }
    let (mut alone, mut rows) = (vec![], vec![VecDeque::new(); layout.lanes.len()]);
    for cell in all {
        let lane = layout.lanes.iter().position(|lane| lane.backends.contains(&cell.backend));
        match lane.filter(|_| !of_the_machine(main.common.plan, &cell)) {
            Some(lane) => rows[lane].push_back(cell),
            None => alone.push(cell),
        }
    }
    tell_of_the_machine(main, &alone);
    alone.extend(side_by_side(main, &layout.lanes, rows)?);
    match main.limits.stopped() {
        true => Ok(()),
        false => main.row(alone.into()),
    }
}

/// Whether a cell tells of the whole machine: its benchmark brings a model to find its peaks, or has several work at once.
fn of_the_machine(plan: &Plan, cell: &PlannedCell) -> bool {
    let benchmark = &plan.benchmarks[cell.benchmark].description;
    benchmark.skill.is_some() || plan.is_option(cell.benchmark, "workers")
}

fn tell_of_the_machine(main: &mut Runner<'_, '_>, cells: &[PlannedCell]) {
    let plan = main.common.plan;
    for cell in cells.iter().filter(|cell| of_the_machine(plan, cell)) {
        let id = &plan.benchmarks[cell.benchmark].description.id;
        let text = format!("{id} runs alone, after the others: it measures what the whole machine does");
        if main.common.is_news(text.clone()) {
            main.observer.note(&text);
        }
    }
}

/// What each backend needs that has cells to run side by side, and a device to run them on.
fn claims(main: &mut Runner<'_, '_>, cells: &VecDeque<PlannedCell>) -> Vec<Claim> {
    let plan = main.common.plan;
    let mut claims: Vec<Claim> = vec![];
    for cell in cells.iter().filter(|cell| !of_the_machine(plan, cell)) {
        if let Some(known) = claims.iter_mut().find(|known| known.backend == cell.backend) {
            known.cells += 1;
            continue;
        }
        // Without one its cells say so, each in a moment.
        let Some(device) = main.device(cell).filter(|device| device.usable) else { continue };
        let backend = &plan.backends[cell.backend];
        // What is behind a network may well run on these processors.
        let on_processor = device.kind == "cpu" || device.emulated || device.remote;
        let accelerator = (!on_processor).then(|| Accelerator {
            library: backend.plugin.library.path.clone(),
            id: device.id.clone(),
            kind: device.kind.clone(),
            name: if device.name.is_empty() { device.id.clone() } else { device.name.clone() },
        });
        let (name, threads) = (backend.choice.to_string(), backend.threads);
        claims.push(Claim { backend: cell.backend, name, accelerator, threads, cells: 1 });
    }
    claims
}

/// Runs a row of cells in each lane. Returns those of lanes that could not be bound to their cores.
fn side_by_side(
    main: &mut Runner<'_, '_>,
    lanes: &[Lane],
    rows: Vec<VecDeque<PlannedCell>>,
) -> io::Result<Vec<PlannedCell>> {
    let common = main.common;
    let names: Vec<String> = common.plan.backends.iter().map(|backend| backend.choice.to_string()).collect();
    // The first outcome that cannot be kept ends them all.
    let halt = main.limits.stop.of_part();
    let mut limits = Limits { stop: halt.clone(), ..main.limits.clone() };
    if common.plan.request.memory_limit_mb.is_none() {
        limits.memory = limits.memory.map(|bytes| bytes / lanes.len() as u64);
    }
    let (sender, messages) = channel();
    std::thread::scope(|scope| {
        let mut threads = vec![];
        for (lane, row) in lanes.iter().zip(rows) {
            let mut relay = Relay::new(sender.clone(), &names);
            let known = main.known.clone();
            let limits = limits.clone();
            let run = move || match cores::bind(&lane.cores) {
                Ok(()) => Runner::in_lane(common, limits, known, lane, &mut relay).row(row).map(|()| vec![]),
                Err(error) => {
                    relay.warning(&format!("lane {} could not be bound to its cores: {error}", lane.number));
                    Ok(Vec::from(row))
                }
            };
            let name = format!("lane {}", lane.number);
            match std::thread::Builder::new().name(name).spawn_scoped(scope, run) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    halt.ask();
                    drop(sender);
                    return Err(error);
                }
            }
        }
        drop(sender);
        let kept = pass_on(main, &names, messages, &halt);
        let ended: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
        kept?;
        let mut unbound = vec![];
        for result in ended {
            unbound.extend(result.map_err(|_| io::Error::other("a lane ended in a panic"))??);
        }
        Ok(unbound)
    })
}

/// Tells the observer what lanes tell, until the last has ended.
fn pass_on(main: &mut Runner<'_, '_>, names: &[String], messages: Receiver<Message>, halt: &Stop) -> io::Result<()> {
    let mut abreast = Abreast::default();
    let mut outcome = Ok(());
    for messages in messages {
        match messages {
            Message::Step(text) => main.observer.step(&text),
            Message::Note(text) => main.observer.note(&text),
            Message::Warning(text) => main.observer.warning(&text),
            Message::Debug(text) => main.observer.debug(&text),
            Message::Progress { index, share } => main.observer.cell_progress(index, share),
            Message::Begun { cell, place, of } => {
                // What a rule skips disturbs nobody.
                if cell.skip.is_none() {
                    abreast.begin(cell.index, &names[cell.backend]);
                }
                main.observer.cell_begun(&cell, place, of);
            }
            Message::Ended { mut cell, samples, kept } => {
                let beside = abreast.end(cell.index);
                met(main, &mut cell, beside);
                let result = match &outcome {
                    Ok(()) => main.observer.cell_ended(&cell, &samples),
                    Err(_) => Err(io::Error::other("an outcome before this could not be kept")),
                };
                // The lane only has to know that it is over.
                let _ = kept.send(result.as_ref().copied().map_err(|error| io::Error::from(error.kind())));
                if outcome.is_ok() {
                    outcome = result;
                }
                if outcome.is_err() {
                    halt.ask();
                }
            }
        }
    }
    outcome
}

/// Writes down beside whom a cell ran.
fn met(main: &mut Runner<'_, '_>, cell: &mut Cell, beside: Vec<String>) {
    if let (false, Outcome::Measured(metrics)) = (beside.is_empty(), &mut cell.outcome)
        && let Some(why) = without_shared_energy(metrics)
        && main.common.is_news(why.clone())
    {
        main.observer.note(&why);
    }
    if let Some(record) = &mut cell.parallel {
        record.beside = beside;
    }
}

/// Takes out energy that all lanes used together, as that of a package or a board is. Returns why it is not there.
fn without_shared_energy(metrics: &mut Metrics) -> Option<String> {
    let energy = metrics.energy.take_if(|energy| !OWN_SCOPES.contains(&energy.scope.as_str()))?;
    metrics.energy_j_per_item = None;
    if let Some(generation) = &mut metrics.generation {
        generation.energy_j_per_token = None;
    }
    Some(format!("{} counts the whole {}: cells side by side have no energy", energy.source, energy.scope))
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillbench_record::EnergyMetrics;

    fn measured(scope: &str) -> Metrics {
        let energy =
            EnergyMetrics { source: "RAPL".into(), scope: scope.into(), joules: 2.0, ..EnergyMetrics::default() };
        Metrics { energy: Some(energy), energy_j_per_item: Some(0.5), ..Metrics::default() }
    }

    #[test]
    fn energy_that_several_lanes_used_is_no_figure_of_one_and_a_device_keeps_its_own() {
        let mut of_package = measured("package");
        assert!(without_shared_energy(&mut of_package).unwrap().starts_with("RAPL counts the whole package"));
        assert_eq!((of_package.energy, of_package.energy_j_per_item), (None, None));
        let mut of_device = measured("device");
        assert_eq!(without_shared_energy(&mut of_device), None);
        assert_eq!(of_device, measured("device"));
    }
}
