//! The hardware of one machine, as far as it was measured: each with its cells and with what predicts it.

use super::answers::Figure;
use super::asked::{Asked, Models};
use super::elsewhere::{Elsewhere, TrainingRow};
use super::{Cells, MeasuredCell, Place, Question, QuestionError};
use skillbench_engine::run::Inventory;
use skillbench_predict::{
    Efficiency, NotEnough, Peaks, Prediction, Predictor, Quantity, Sample, Source, Transfer, Work,
};
use skillbench_record::BackendChoice;
use skillbench_record::suggest::did_you_mean;
use skillbench_record::{Axes, HardwareLabel, Trust};
use skillbench_results::matrix::rule;
use std::collections::{BTreeMap, BTreeSet};

/// One device of a backend, at one precision and number of threads.
pub struct Hardware {
    pub place: Place,
    /// The backend, and its device where several of it were measured.
    pub name: String,
    pub cells: Vec<MeasuredCell>,
    /// Of the cells those that teach: measured hardware whose work is known.
    pub taught: usize,
    /// And of these those whose threads waited for a processor.
    pub waited: usize,
    pub models: usize,
    pub peaks: Peaks,
    samples: BTreeMap<Quantity, Vec<Sample>>,
    predictors: BTreeMap<Quantity, Predictor>,
    /// The same backend and precision on other machines.
    transfers: BTreeMap<Quantity, Transfer>,
}

impl Hardware {
    /// From what is measured on it, or else from other machines.
    ///
    /// # Errors
    /// Why neither has enough data.
    pub fn predict(&self, quantity: Quantity, work: &Work) -> Result<Prediction, NotEnough> {
        let here = match self.predictors[&quantity].predict(work) {
            Ok(told) => return Ok(told),
            Err(why) => why,
        };
        let transfer = &self.transfers[&quantity];
        if transfer.machines() == 0 {
            return Err(here);
        }
        let machine = self.place.machine.clone();
        let source = Source { machine, peaks: self.peaks, samples: self.samples[&quantity].clone() };
        transfer.predict(&source, work).map_err(|elsewhere| NotEnough::Both(Box::new(here), Box::new(elsewhere)))
    }

    pub fn samples(&self, quantity: Quantity) -> &[Sample] {
        &self.samples[&quantity]
    }

    /// What teaches, as a file keeps it.
    pub fn training(&self) -> impl Iterator<Item = TrainingRow> {
        let rows = self.samples.iter().flat_map(|(quantity, samples)| samples.iter().map(|sample| (*quantity, sample)));
        rows.map(|(quantity, Sample { work, value })| TrainingRow {
            machine: self.place.machine.clone(),
            plugin: self.place.plugin.clone(),
            device: self.place.device.clone(),
            precision: self.place.precision.clone(),
            threads: self.place.threads,
            model: work.model.clone(),
            family: work.family.clone(),
            batch: work.batch,
            flops: work.flops,
            weight_bytes: work.weight_bytes,
            activation_bytes: work.activation_bytes,
            kernels: work.kernels,
            parameter_bytes: work.parameter_bytes,
            peak_flops_per_s: self.peaks.flops_per_s,
            peak_bytes_per_s: self.peaks.bytes_per_s,
            quantity,
            value: *value,
        })
    }

    pub fn efficiency(&self) -> Option<Efficiency> {
        self.predictors[&Quantity::Latency].efficiency()
    }

    /// "cpu (float32, 2 threads)".
    pub fn describe(&self) -> String {
        let precision = self.place.precision.clone().unwrap_or_else(|| "precision not known".into());
        let threads = self.place.threads.map_or_else(String::new, |threads| format!(", {threads} threads"));
        format!("{} ({precision}{threads})", self.name)
    }

    /// As `--plugin` takes it, with its options: "cpu --option cache=off".
    pub fn as_arguments(&self) -> String {
        let plugin = self.name.split(" (").next().unwrap_or(&self.name);
        let options = self.place.options.iter().flat_map(|options| options.split(' '));
        options.fold(plugin.to_string(), |text, option| format!("{text} --option {option}"))
    }

    /// Joules for each item, where a sensor counted them.
    pub fn energy(&self, asked: &Asked, axes: &Axes) -> Option<Figure> {
        let cell = self.cells.iter().find(|cell| cell.model == asked.model && cell.axes == *axes)?;
        Some(Figure::of(cell, cell.energy_j?, None))
    }

    /// Nothing on it is measured hardware: why.
    pub fn only(&self) -> Option<Trust> {
        let first = self.cells.first()?.trust;
        self.cells.iter().all(|cell| !cell.trust.is_comparable()).then_some(first)
    }
}

/// The hardware that is meant, on one machine.
pub struct Bench {
    /// Its id.
    pub machine: String,
    /// What people call it.
    pub machine_label: String,
    pub hardware: Vec<Hardware>,
    /// Backends that were named, are known, and of which nothing is measured there.
    pub unmeasured: Vec<String>,
}

impl Bench {
    /// Has a model asked at the points at which it was measured, where there are some.
    pub fn take_measured_points(&self, asked: &mut Asked) {
        let mut points = vec![];
        for cell in self.hardware.iter().flat_map(|hardware| &hardware.cells).filter(|cell| cell.model == asked.model) {
            if points.iter().all(|(known, _)| *known != cell.axes) {
                points.push((cell.axes.clone(), None));
            }
        }
        if !points.is_empty() {
            points.sort();
            asked.points = points;
        }
    }

    /// # Errors
    /// A machine or hardware that nobody knows.
    pub fn of(
        cells: &Cells,
        question: &Question,
        models: &Models,
        inventory: &Inventory,
        elsewhere: &Elsewhere,
    ) -> Result<Bench, QuestionError> {
        let machine = machine(&cells.labelled(), question.machine.as_deref())?;
        let mut places: BTreeMap<&Place, Vec<&MeasuredCell>> = BTreeMap::new();
        for cell in cells.measured.iter().filter(|cell| cell.place.machine == machine) {
            places.entry(&cell.place).or_default().push(cell);
        }
        let asked: Vec<BackendChoice> =
            question.hardware.iter().map(|name| BackendChoice::parse(rule().hardware_name(name))).collect();
        let is = |place: &Place, choice: &BackendChoice| {
            place.plugin == choice.plugin && choice.device.as_ref().is_none_or(|device| *device == place.device)
        };
        let known: BTreeSet<&str> = cells
            .measured
            .iter()
            .map(|cell| cell.place.plugin.as_str())
            .chain(inventory.backends().map(|(plugin, _)| plugin.description.id.as_str()))
            .collect();
        let mut unmeasured = vec![];
        // Hardware of which the peaks alone are measured.
        let peaked = cells.peaked(&machine, question.precision.as_deref().unwrap_or("float32"));
        for choice in &asked {
            if !known.contains(choice.plugin.as_str()) {
                let near = did_you_mean(&choice.plugin, known.iter().copied());
                return Err(QuestionError::Hardware { choice: choice.clone(), near });
            }
            if places.keys().any(|place| is(place, choice)) {
                continue;
            }
            let of_peaks: Vec<&Place> = peaked.iter().filter(|place| is(place, choice)).collect();
            if of_peaks.is_empty() {
                unmeasured.push(choice.to_string());
            }
            of_peaks.into_iter().for_each(|place| drop(places.insert(place, vec![])));
        }
        places.retain(|place, _| {
            (asked.is_empty() || asked.iter().any(|choice| is(place, choice)))
                && question.precision.as_ref().is_none_or(|precision| place.precision.as_ref() == Some(precision))
                && question.threads.is_none_or(|threads| place.threads == Some(threads))
        });
        let mut devices: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for cell in cells.measured.iter().filter(|cell| cell.place.machine == machine) {
            devices.entry(&cell.place.plugin).or_default().insert(&cell.place.device);
        }
        let name = |place: &Place| {
            let several = devices.get(place.plugin.as_str()).is_some_and(|devices| devices.len() > 1);
            let label = HardwareLabel {
                plugin: &place.plugin,
                device: several.then_some(&place.device),
                options: place.options.as_deref(),
                ..HardwareLabel::default()
            };
            label.to_string()
        };
        let hardware = places.into_iter();
        let hardware =
            hardware.map(|(place, of)| learn(place, name(place), &of, cells.peaks(place), models, elsewhere));
        let machine_label = cells.machine_label(&machine).to_string();
        Ok(Bench { hardware: hardware.collect(), machine, machine_label, unmeasured })
    }
}

fn learn(
    place: &Place,
    name: String,
    cells: &[&MeasuredCell],
    peaks: Peaks,
    models: &Models,
    elsewhere: &Elsewhere,
) -> Hardware {
    let (samples, taught) = samples_of(place, cells, models);
    let train = |quantity: &Quantity| (*quantity, Predictor::train(samples[quantity].clone(), *quantity, peaks));
    let transfers = Quantity::ALL.into_iter().map(|quantity| (quantity, elsewhere.transfer(place, quantity)));
    Hardware {
        place: place.clone(),
        name,
        cells: cells.iter().map(|cell| (*cell).clone()).collect(),
        taught: taught.len(),
        waited: taught.iter().filter(|(_, index)| cells[*index].waited).count(),
        models: taught.iter().map(|(model, _)| *model).collect::<BTreeSet<_>>().len(),
        peaks,
        predictors: Quantity::ALL.iter().map(train).collect(),
        transfers: transfers.collect(),
        samples,
    }
}

type Samples = BTreeMap<Quantity, Vec<Sample>>;

/// What the cells of a place teach, and which of them do, by model.
pub(super) fn samples_of<'a>(
    place: &Place,
    cells: &[&'a MeasuredCell],
    models: &Models,
) -> (Samples, BTreeSet<(&'a str, usize)>) {
    let precision = place.precision.as_deref().unwrap_or_default();
    let mut samples: Samples = Quantity::ALL.into_iter().map(|quantity| (quantity, vec![])).collect();
    let mut taught = BTreeSet::new();
    for (index, cell) in cells.iter().enumerate().filter(|(_, cell)| cell.trust.is_comparable()) {
        let Some(Ok(work)) = models.described(&cell.model).map(|skill| Models::work(skill, &cell.axes, precision))
        else {
            continue;
        };
        taught.insert((cell.model.as_str(), index));
        let figures = [
            (Quantity::Latency, cell.latency_ms),
            (Quantity::Throughput, cell.throughput_per_s),
            (Quantity::Memory, cell.memory_mb),
        ];
        for (quantity, value) in figures {
            if let Some(value) = value {
                samples.entry(quantity).or_default().push(Sample { work: work.clone(), value });
            }
        }
    }
    (samples, taught)
}

/// The machine that is meant: this one, or the one of this name, of those that are known with what people call them.
pub(super) fn machine(known: &BTreeMap<&str, &str>, asked: Option<&str>) -> Result<String, QuestionError> {
    let Some(asked) = asked else { return Ok(skillbench_record::machine::this()) };
    let named =
        |(id, label): &(&&str, &&str)| **id == asked || **label == asked || label.split(", ").next() == Some(asked);
    match known.iter().find(named) {
        Some((machine, _)) => Ok((*machine).to_string()),
        None => {
            let all: Vec<&str> = known.values().copied().collect();
            let known = if all.is_empty() { "none".into() } else { all.join("; ") };
            Err(QuestionError::Machine { asked: asked.into(), known })
        }
    }
}
