//! Which hardware bears the most of a load, and at what cost: capacities that were measured, ranked for each model, load and precision.
//! Of several of one hardware, such as of other batches or waits, the one of the highest trust and the largest figure counts, as elsewhere.

use super::bench::machine;
use super::price::{Per, PriceError, Prices};
use super::ranking::{By, in_order};
use super::{Candidate, Capacities, Capacity, Cells, Evidence, Models, Place, Question, QuestionError};
use skillbench_engine::run::Inventory;
use skillbench_record::load::{Load, limits};
use skillbench_record::suggest::did_you_mean;
use skillbench_record::{BackendChoice, HardwareLabel};
use skillbench_results::matrix::rule;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// What is asked for where nobody says which limits, and none is known.
const EXAMPLE: &str = "latency.p99<=20ms";

/// A device of a backend, with its options.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Hardware {
    plugin: String,
    device: String,
    options: Option<String>,
}

impl Hardware {
    fn of(place: &Place) -> Hardware {
        Hardware { plugin: place.plugin.clone(), device: place.device.clone(), options: place.options.clone() }
    }

    fn is(&self, choice: &BackendChoice) -> bool {
        self.plugin == choice.plugin && choice.device.as_ref().is_none_or(|device| *device == self.device)
    }
}

/// Of which capacities is asked, on one machine.
pub struct Bearing<'a> {
    capacities: &'a Capacities,
    question: &'a Question,
    /// Its id.
    pub machine: String,
    pub models: Vec<String>,
    pub limits: Option<String>,
    hardware: BTreeSet<Hardware>,
    /// Hardware that was named and of which nothing is measured there.
    unmeasured: Vec<String>,
    /// Backends of which several devices are known.
    several: BTreeSet<String>,
}

impl<'a> Bearing<'a> {
    /// `cells` say which other hardware there is.
    ///
    /// # Errors
    /// A machine, a model or hardware that nobody knows.
    pub fn of(
        capacities: &'a Capacities,
        cells: &Cells,
        question: &'a Question,
        slo: Option<&str>,
        models: &mut Models,
        inventory: &Inventory,
    ) -> Result<Bearing<'a>, QuestionError> {
        let mut machines = cells.labelled();
        machines.extend(capacities.machines.iter().map(|(id, label)| (id.as_str(), label.as_str())));
        let machine = machine(&machines, question.machine.as_deref())?;
        let here = |place: &&Place| place.machine == machine;
        let measured = cells.measured.iter().filter(|cell| cell.trust.is_comparable()).map(|cell| &cell.place);
        let borne = capacities.found.iter().map(|one| &one.place);
        let mut hardware: BTreeSet<Hardware> = measured.chain(borne).filter(here).map(Hardware::of).collect();
        for place in capacities.vain.iter().map(|vain| &vain.place).filter(here) {
            // It may not have come as far as a device.
            if !hardware.iter().any(|known| known.plugin == place.plugin && known.options == place.options) {
                hardware.insert(Hardware::of(place));
            }
        }
        let devices = |plugin: &str| -> usize {
            let of = hardware.iter().filter(|one| one.plugin == plugin && !one.device.is_empty());
            let of = of.map(|one| &one.device);
            of.collect::<BTreeSet<_>>().len()
        };
        let several = hardware.iter().map(|one| one.plugin.clone()).filter(|plugin| devices(plugin) > 1).collect();
        let asked: Vec<BackendChoice> =
            question.hardware.iter().map(|name| BackendChoice::parse(rule().hardware_name(name))).collect();
        let known: BTreeSet<&str> = hardware
            .iter()
            .map(|one| one.plugin.as_str())
            .chain(inventory.backends().map(|(plugin, _)| plugin.description.id.as_str()))
            .collect();
        if let Some(choice) = asked.iter().find(|choice| !known.contains(choice.plugin.as_str())) {
            let near = did_you_mean(&choice.plugin, known.iter().copied());
            return Err(QuestionError::Hardware { choice: choice.clone(), near });
        }
        let nowhere = |choice: &&BackendChoice| !hardware.iter().any(|one| one.is(choice));
        let unmeasured = asked.iter().filter(nowhere).map(ToString::to_string).collect();
        hardware.retain(|one| asked.is_empty() || asked.iter().any(|choice| one.is(choice)));
        let mut names = models.named(&question.models, &capacities.models())?;
        if question.models.is_empty() {
            let on_it = capacities.found.iter().filter(|one| one.place.machine == machine);
            names = on_it.map(|one| one.model.clone()).collect::<BTreeSet<_>>().into_iter().collect();
        }
        let limits = slo.map(limits);
        Ok(Bearing { capacities, question, machine, models: names, limits, hardware, unmeasured, several })
    }

    /// All candidates, the ranked ones of each model, load and precision first and in order; with what each costs.
    ///
    /// # Errors
    /// A price of what is not among them.
    pub fn rank(&self, prices: &Prices, by: By) -> Result<Vec<Candidate>, PriceError> {
        let mut groups: Vec<Vec<Candidate>> = self.models.iter().flat_map(|model| self.groups(model)).collect();
        let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
        let mut all = groups.drain(..).flatten().collect::<Vec<_>>();
        prices.give(&mut all)?;
        let mut ranked = vec![];
        for size in sizes {
            let group: Vec<Candidate> =
                all.drain(..size).map(|one| if by == By::Cost { unpriced(one) } else { one }).collect();
            ranked.extend(in_order(&group, by));
        }
        Ok(ranked)
    }

    /// Those of a model, apart for each load and precision.
    fn groups(&self, model: &str) -> Vec<Vec<Candidate>> {
        let mut groups: BTreeMap<(&Load, &Option<String>), Vec<&Capacity>> = BTreeMap::new();
        for one in self.capacities.found.iter().filter(|one| one.model == model && self.is_asked(one)) {
            groups.entry((&one.load, &one.place.precision)).or_default().push(one);
        }
        if groups.is_empty() {
            let limits = self.limits.clone().unwrap_or_else(|| EXAMPLE.into());
            let load = Load { limits, ..Load::default() };
            return vec![self.others(model, &load, None, &BTreeSet::new())];
        }
        let of_group = |((load, precision), of): (&(&Load, &Option<String>), &Vec<&Capacity>)| {
            let mut best: BTreeMap<Hardware, &Capacity> = BTreeMap::new();
            for one in of {
                let known = best.entry(Hardware::of(&one.place)).or_insert(one);
                if better(one, known).is_gt() {
                    *known = one;
                }
            }
            let asked = of.iter().find_map(|one| one.precision_asked.as_deref());
            let known: BTreeSet<&Hardware> = best.keys().collect();
            let mut made = self.others(model, load, asked, &known);
            made.iter_mut().for_each(|one| one.precision = (*precision).clone());
            best.iter().map(|(hardware, one)| self.measured(hardware, one)).chain(made).collect()
        };
        groups.iter().map(of_group).collect()
    }

    fn is_asked(&self, one: &Capacity) -> bool {
        let question = self.question;
        let size =
            |axis: &str, asked: &[i64]| asked.is_empty() || one.axes.get(axis).is_none_or(|size| asked.contains(size));
        one.place.machine == self.machine
            && self.hardware.contains(&Hardware::of(&one.place))
            && question.precision.as_ref().is_none_or(|precision| one.place.precision.as_ref() == Some(precision))
            && question.threads.is_none_or(|threads| one.place.threads == Some(threads))
            && self.limits.as_ref().is_none_or(|limits| *limits == one.load.limits)
            && size("batch", &question.batch_sizes)
            && size("sequence", &question.sequence_lengths)
    }

    fn measured(&self, hardware: &Hardware, one: &Capacity) -> Candidate {
        let figure = one.figure.clone();
        let tokens = one.load.tokens().map(|tokens| (Per::Tokens, tokens));
        let items = one.load.items();
        Candidate {
            model: one.model.clone(),
            axes: one.axes.to_string(),
            precision: one.place.precision.clone(),
            hardware: self.label(hardware),
            device: hardware.device.clone(),
            threads: one.place.threads,
            workers: one.workers,
            limits: Some(one.load.describe()),
            evidence: Evidence::from(figure.trust),
            value: Some(figure.value),
            // The catalogue's unit does not say of what.
            unit: "requests/s",
            counts: [(Per::Requests, 1.0)].into_iter().chain(tokens).collect(),
            interval: figure.interval,
            run: Some(figure.run),
            date: Some(figure.date),
            newer: figure.newer,
            note: if items > 1 { format!("a request is {items} items") } else { String::new() },
            ..Candidate::default()
        }
    }

    /// The hardware of which no such capacity is known, each with what came of it, or what would measure it.
    fn others(&self, model: &str, load: &Load, precision: Option<&str>, known: &BTreeSet<&Hardware>) -> Vec<Candidate> {
        let candidate = |hardware: String, device: &str, note: String| Candidate {
            model: model.into(),
            axes: load.request.to_string(),
            hardware,
            device: device.into(),
            limits: Some(load.describe()),
            note,
            ..Candidate::default()
        };
        let missing = self.hardware.iter().filter(|one| !known.contains(one)).map(|one| {
            let in_vain = self.capacities.vain.iter().find(|vain| {
                let of = Hardware::of(&vain.place);
                let same = of.plugin == one.plugin && of.options == one.options;
                let same_device = of.device.is_empty() || of.device == one.device;
                vain.place.machine == self.machine && vain.model == model && vain.load == *load && same && same_device
            });
            let note = match in_vain {
                Some(vain) => format!("tried and {}: {}", vain.outcome, vain.reason),
                None => self.command(&self.arguments(one), model, load, precision),
            };
            candidate(self.label(one), &one.device, note)
        });
        let unmeasured = self.unmeasured.iter();
        let named = unmeasured.map(|name| candidate(name.clone(), "", self.command(name, model, load, precision)));
        missing.chain(named).collect()
    }

    fn command(&self, hardware: &str, model: &str, load: &Load, precision: Option<&str>) -> String {
        let precision = precision.or(self.question.precision.as_deref());
        let precision = precision.map(|precision| format!(" --precision {precision}")).unwrap_or_default();
        let threads = self.question.threads.map(|threads| format!(" --threads {threads}")).unwrap_or_default();
        let load = load.as_arguments();
        format!("not measured: host run --plugin {hardware} --model {model} {load}{precision}{threads}")
    }

    /// As tables show it.
    fn label(&self, hardware: &Hardware) -> String {
        HardwareLabel { options: hardware.options.as_deref(), ..self.plain(hardware) }.to_string()
    }

    /// As `--plugin` takes it, with its options.
    fn arguments(&self, hardware: &Hardware) -> String {
        let options = hardware.options.iter().flat_map(|options| options.split(' '));
        options.fold(self.plain(hardware).to_string(), |text, option| format!("{text} --option {option}"))
    }

    fn plain<'h>(&self, hardware: &'h Hardware) -> HardwareLabel<'h> {
        let device = Some(hardware.device.as_str())
            .filter(|device| !device.is_empty() && self.several.contains(&hardware.plugin));
        HardwareLabel { plugin: &hardware.plugin, device, ..HardwareLabel::default() }
    }
}

/// The better of two capacities of one hardware is the greater.
fn better(one: &Capacity, other: &Capacity) -> Ordering {
    let by_trust = one.figure.trust.cmp(&other.figure.trust);
    by_trust.then(one.figure.value.total_cmp(&other.figure.value))
}

/// What is measured and has no price cannot be ranked by it, and says so.
fn unpriced(mut one: Candidate) -> Candidate {
    if one.value.is_some() && one.price.is_none() {
        let note = Some(one.note.clone()).filter(|note| !note.is_empty()).map(|note| format!("{note}; "));
        one.note = format!("{}it has no price (--price)", note.unwrap_or_default());
    }
    one
}

#[cfg(test)]
mod tests;
