//! The noise floor of a machine: the same code against itself, again and again. No difference below the largest that this shows is
//! told as one.

use crate::event::{Event, Listener, Relay};
use crate::interleave::{InterleaveError, plan_of, with_defaults};
use skillbench_engine::compare::{Live, Side};
use skillbench_engine::run::{Interleave, Inventory, Plan, Probe};
use skillbench_record::RunRequest;
use skillbench_record::defaults::defaults;
use skillbench_record::scratch;
use skillbench_record::time::now_utc;
use skillbench_stats::compare::{Deviations, Evidence, Floor, Metric, Noise};
use skillbench_stats::{between_launches, rules};
use skillbench_worker::DeviceRecord;
use std::collections::BTreeMap;

/// One comparison of a model with itself.
pub struct Itself {
    pub plugin: String,
    pub model: String,
    pub figures: Vec<(Metric, Evidence)>,
}

/// Backends with a device that computes here, and is neither emulated, remote nor a browser.
pub fn backends(inventory: &Inventory) -> Vec<String> {
    let computes = |probe: &Probe| probe.usable().is_some_and(DeviceRecord::is_local_hardware);
    let backends = inventory.backends().filter(|(plugin, _)| computes(&Probe::at(plugin, &inventory.stop)));
    backends.map(|(plugin, _)| plugin.id.clone()).collect()
}

#[derive(Debug, thiserror::Error)]
pub enum NoiseError {
    #[error(transparent)]
    Plan(#[from] InterleaveError),
    #[error("stopped; the noise floor is as it was")]
    Stopped,
    #[error("no temporary folder can be made: {0}")]
    Scratch(std::io::Error),
}

/// What is compared with itself, so many times each.
pub struct Question {
    pub sides: Vec<Side>,
    pub models: Vec<String>,
    pub benchmarks: Vec<String>,
    pub comparisons: u64,
}

/// Compares every model with itself on every side. What could not be compared is a warning.
///
/// # Errors
/// A name that cannot be; or it was stopped.
pub fn measure(inventory: &Inventory, question: &Question, on: &mut Listener<'_>) -> Result<Vec<Itself>, NoiseError> {
    let mut all = vec![];
    for side in &question.sides {
        let mut inventory = inventory.clone();
        let plan = |model: &String| {
            let (models, benchmarks) = (vec![model.clone()], question.benchmarks.clone());
            let request = with_defaults(RunRequest { models, benchmarks, ..RunRequest::default() });
            plan_of(&mut inventory, side, &request)
        };
        let plans = question.models.iter().map(plan).collect::<Result<Vec<Plan>, _>>()?;
        // Model after model, again and again: a moment that is noisy meets all of them.
        for number in 0..question.comparisons {
            for (model, plan) in question.models.iter().zip(&plans) {
                let name = format!("{model} on {}, {} of {}", side.name, number + 1, question.comparisons);
                on(Event::ComparisonBegun { name: &name });
                on(Event::Note("against itself"));
                all.extend(with_itself(plan, number, on)?);
            }
        }
    }
    Ok(all)
}

/// Compares each cell of a plan with itself. `number` tells comparisons of the same plan apart: other orders, other draws.
fn with_itself(plan: &Plan, number: u64, on: &mut Listener<'_>) -> Result<Vec<Itself>, NoiseError> {
    let (floors, rules) = (Noise::default(), &rules().compare);
    let seed = defaults().run.seed + number * 1_000_003;
    let live = Live { noise: &floors, effect: 0.0, launches: rules.launches, pairs: rules.pairs, seed };
    // What a benchmark leaves of a comparison with itself is nobody's.
    let folder = scratch::folder().map_err(NoiseError::Scratch)?;
    let mut interleave = Interleave::new([plan, plan], folder.path(), "noise");
    let mut all = vec![];
    for cell in &plan.cells {
        let evidence = live.evidence(&mut interleave, [cell, cell], &mut Relay(&mut *on));
        match evidence.map_err(|_| NoiseError::Stopped)? {
            // Verdicts look it up by the plugin's own id, whatever was set for it here.
            Ok(figures) => all.push(Itself {
                plugin: plan.backends[cell.backend].choice.plugin.clone(),
                model: plan.models[cell.model].id().into(),
                figures,
            }),
            Err(reason) => on(Event::Warning(&reason.message)),
        }
    }
    Ok(all)
}

/// The floor of each backend and metric, out of so many comparisons of each model.
pub fn floors(all: &[Itself], models: &[String], comparisons: u64) -> Vec<Floor> {
    let mut deviations: BTreeMap<(String, String), Deviations> = BTreeMap::new();
    for one in all {
        for (metric, evidence) in &one.figures {
            let known = deviations.entry((one.plugin.clone(), metric.name.clone())).or_default();
            known.interleaved.push(evidence.ratio);
            known.levels.entry(one.model.clone()).or_default().push(evidence.before);
            known.launches.entry(one.model.clone()).or_default().extend(evidence.levels.as_flattened());
        }
    }
    let measured_at = now_utc();
    let floor = |((plugin, metric), deviations): ((String, String), Deviations)| {
        let (interleaved, apart) = deviations.largest()?;
        let (models, measured_at) = (models.to_vec(), measured_at.clone());
        let comparisons = (deviations.interleaved.len() as u64).min(comparisons * models.len() as u64);
        let of_models: Vec<Vec<f64>> = deviations.launches.into_values().collect();
        let between = between_launches(&of_models);
        Some(Floor {
            plugin,
            metric,
            interleaved,
            apart,
            comparisons,
            launch_deviation: between.map(|launches| launches.deviation),
            launches: between.map_or(0, |launches| launches.count),
            models,
            measured_at,
        })
    };
    deviations.into_iter().filter_map(floor).collect()
}
