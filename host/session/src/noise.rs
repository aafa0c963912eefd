//! The noise floor of a machine: the same code against itself, again and again. No difference below the largest that this shows is
//! told as one.

use skillbench_engine::compare::{Live, Stopped};
use skillbench_engine::defaults::defaults;
use skillbench_engine::run::{Interleave, Inventory, Observer, Plan, Probe};
use skillbench_record::time::now_utc;
use skillbench_stats::compare::{Deviations, Evidence, Floor, Metric, Noise};
use skillbench_stats::rules;
use std::collections::BTreeMap;

/// One comparison of a model with itself.
pub struct Itself {
    pub plugin: String,
    pub model: String,
    pub figures: Vec<(Metric, Evidence)>,
}

/// Backends with a device that computes here, and is neither emulated nor a browser.
pub fn backends(inventory: &Inventory) -> Vec<String> {
    let computes = |probe: &Probe| probe.usable().is_some_and(|device| !device.emulated && device.kind != "browser");
    let backends = inventory.backends().filter(|(plugin, _)| computes(&Probe::at(plugin)));
    backends.map(|(plugin, _)| plugin.id.clone()).collect()
}

/// Compares each cell of a plan with itself. `number` tells comparisons of the same plan apart: other orders, other draws. What could
/// not be compared is a warning.
///
/// # Errors
/// The user stopped it.
pub fn measure(plan: &Plan, number: u64, observer: &mut dyn Observer) -> Result<Vec<Itself>, Stopped> {
    let (floors, rules) = (Noise::default(), &rules().compare);
    let seed = defaults().run.seed + number * 1_000_003;
    let live = Live { noise: &floors, effect: 0.0, launches: rules.launches, pairs: rules.pairs, seed };
    let folder = std::env::temp_dir();
    let mut interleave = Interleave::new([plan, plan], &folder, "noise");
    let mut all = vec![];
    for cell in &plan.cells {
        match live.evidence(&mut interleave, [cell, cell], observer)? {
            // Verdicts look it up by the plugin's own id, whatever was set for it here.
            Ok(figures) => all.push(Itself {
                plugin: plan.backends[cell.backend].choice.plugin.clone(),
                model: plan.models[cell.model].id().into(),
                figures,
            }),
            Err(reason) => observer.warning(&reason.message),
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
        }
    }
    let measured_at = now_utc();
    let floor = |((plugin, metric), deviations): ((String, String), Deviations)| {
        let (interleaved, apart) = deviations.largest()?;
        let (models, measured_at) = (models.to_vec(), measured_at.clone());
        let comparisons = (deviations.interleaved.len() as u64).min(comparisons * models.len() as u64);
        Some(Floor { plugin, metric, interleaved, apart, comparisons, models, measured_at })
    };
    deviations.into_iter().filter_map(floor).collect()
}
