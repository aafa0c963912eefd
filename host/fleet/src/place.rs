//! Which machine of a fleet measures what.
//!
//! A run is one machine's, since figures compare on one machine only. So each class of devices is measured on one machine of it, or every
//! machine measures all that it can.

use crate::class::Class;
use crate::form::{Announced, Doing, Machine};
use crate::spread::Shared;
use skillbench_engine::bench::Discovery;
use skillbench_engine::run::Inventory;
use skillbench_record::{BackendChoice, RunRequest};
use skillbench_worker::{DeviceRecord, choose};
use std::collections::{BTreeMap, BTreeSet};

/// A machine that is there now.
#[derive(Clone, Debug)]
pub struct Present {
    pub machine: Machine,
    pub doing: Doing,
}

/// How many machines measure the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum On {
    /// One of each class of devices.
    #[default]
    EachClass,
    /// All.
    EachMachine,
    /// These, and all of them.
    Named(Vec<String>),
}

impl On {
    /// "each-class", "each-machine", or names of machines.
    pub fn parse(text: &str) -> On {
        match text {
            "each-class" => On::EachClass,
            "each-machine" => On::EachMachine,
            names => On::Named(names.split(',').map(|name| name.trim().to_string()).collect()),
        }
    }
}

/// A property that a machine has to have: `KEY=VALUE`, or `KEY~PART` for a part of it, of any case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    key: String,
    value: String,
    is_part: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    #[error("there is no agent '{name}' in the fleet; there is: {known}")]
    NoMachine { name: String, known: String },
    #[error("expected KEY=VALUE or KEY~PART, found '{0}'")]
    Property(String),
    #[error("no agent is there: start one with `host fleet agent`")]
    NoAgents,
    #[error("no agent has these properties; there is: {0}")]
    NoneLeft(String),
    #[error("no machine has any of these functions: {0}")]
    NoFunctions(String),
}

/// What is to be placed.
pub enum Wanted<'w> {
    /// These backends; none named means all that can be used without being emulated, remote or in a browser.
    Backends(&'w [BackendChoice]),
    /// The plugins of functions: of each machine by its name those that are meant there, or why none is.
    Functions(BTreeMap<String, Result<BTreeSet<String>, String>>),
}

impl<'w> Wanted<'w> {
    /// What a request asks for, with the names that this host has for models.
    pub fn of(inventory: &Inventory, request: &'w RunRequest, present: &[Present]) -> Wanted<'w> {
        let meant = |machine: &Machine| {
            let discovery = Discovery::elsewhere(inventory, &machine.functions);
            let chosen = discovery.narrowed(request).and_then(|narrowed| discovery.choose(&narrowed));
            let plugins = chosen.map_err(|error| error.to_string())?.into_iter().map(|found| found.plugin);
            Ok(plugins.collect())
        };
        match request.functions {
            false => Wanted::Backends(&request.backends),
            true => Wanted::Functions(
                present.iter().map(|present| (present.machine.name.clone(), meant(&present.machine))).collect(),
            ),
        }
    }

    fn choices(&self, meant: &[&Present]) -> Result<Vec<BackendChoice>, PlaceError> {
        let functions = match self {
            Wanted::Backends(choices) => return Ok(choices_of(meant, choices)),
            Wanted::Functions(functions) => functions,
        };
        let of_meant = || meant.iter().filter_map(|present| functions.get_key_value(&present.machine.name));
        let all: BTreeSet<&String> = of_meant().filter_map(|(_, plugins)| plugins.as_ref().ok()).flatten().collect();
        if all.is_empty() {
            let why = of_meant().map(|(machine, plugins)| match plugins {
                Ok(_) => format!("{machine} has none, or an older host, which does not say"),
                Err(why) => format!("{machine}: {why}"),
            });
            return Err(PlaceError::NoFunctions(why.collect::<Vec<_>>().join("; ")));
        }
        Ok(all.into_iter().map(|plugin| BackendChoice { plugin: plugin.clone(), device: None }).collect())
    }

    /// The class of what a machine would use for a choice.
    fn class(&self, machine: &Machine, choice: &BackendChoice) -> Result<Class, String> {
        match self {
            Wanted::Backends(_) => class_of_backend(machine, choice),
            Wanted::Functions(functions) => match functions.get(&machine.name) {
                Some(Ok(plugins)) if plugins.contains(&choice.plugin) => class_of_functions(machine, choice),
                _ => Err("it has no such plugin".into()),
            },
        }
    }
}

/// The class of the device that a machine would use for a backend.
///
/// # Errors
/// Why it can use none.
pub(crate) fn class_of_backend(machine: &Machine, choice: &BackendChoice) -> Result<Class, String> {
    usable(machine, choice).map(|(plugin, device)| Class::of_device(plugin, &device))
}

/// The class of a machine that has functions of this plugin.
///
/// # Errors
/// It has none.
pub(crate) fn class_of_functions(machine: &Machine, choice: &BackendChoice) -> Result<Class, String> {
    match machine.functions.iter().any(|found| found.plugin == choice.plugin) {
        true => Ok(Class::of_machine(&choice.plugin, &machine.environment)),
        false => Err("it has no such plugin".into()),
    }
}

impl Property {
    /// # Errors
    /// What was expected.
    pub fn parse(text: &str) -> Result<Property, PlaceError> {
        let split = text.find(['=', '~']).filter(|place| *place > 0);
        let place = split.ok_or_else(|| PlaceError::Property(text.into()))?;
        let (key, value) = text.split_at(place);
        Ok(Property { key: key.into(), is_part: value.starts_with('~'), value: value[1..].into() })
    }

    /// Whether a machine has it: in its name, its system, its devices or its labels.
    fn is_of(&self, machine: &Machine) -> bool {
        let devices = || machine.backends.iter().flat_map(|backend| &backend.devices).filter(|device| device.usable);
        let environment = &machine.environment;
        let known: Vec<&str> = match self.key.as_str() {
            "machine" => vec![&machine.name],
            "os" => vec![&environment.os],
            "arch" => vec![&environment.arch],
            "cpu" => environment.cpu_model.as_deref().into_iter().collect(),
            "device" => devices().map(|device| device.name.as_str()).collect(),
            "driver" => devices().map(|device| device.driver.as_str()).collect(),
            "vendor" => devices().map(|device| device.vendor.as_str()).collect(),
            label => machine.labels.get(label).map(String::as_str).into_iter().collect(),
        };
        let asked = self.value.to_lowercase();
        known.iter().map(|found| found.to_lowercase()).any(|found| match self.is_part {
            true => found.contains(&asked),
            false => found == asked,
        })
    }
}

/// Who measures what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placed {
    /// The backends of each machine, or the plugins of its functions, by its name.
    pub machines: BTreeMap<String, Vec<BackendChoice>>,
    /// The machines that can use any of it, chosen or not.
    pub able: BTreeSet<String>,
    /// Machines of one class that share what is measured with a backend, where that was asked for.
    pub shared: Vec<Shared>,
    /// Backends that no machine can use, with the reason that each gave.
    pub nowhere: Vec<(BackendChoice, String)>,
}

/// Lays backends, or functions, out over machines. With `spread` the machines of a class share what is measured, in place of one that measures
/// all or each that does.
///
/// # Errors
/// A machine that is not there, or none that has the properties or any of the functions.
pub fn place(
    present: &[Present],
    wanted: &Wanted<'_>,
    on: &On,
    properties: &[Property],
    spread: bool,
) -> Result<Placed, PlaceError> {
    let known = || present.iter().map(|present| present.machine.name.as_str()).collect::<Vec<_>>().join(", ");
    if present.is_empty() {
        return Err(PlaceError::NoAgents);
    }
    if let On::Named(names) = on {
        let is_there = |name: &&String| !present.iter().any(|present| present.machine.name == **name);
        if let Some(name) = names.iter().find(is_there) {
            return Err(PlaceError::NoMachine { name: name.clone(), known: known() });
        }
    }
    let is_meant = |present: &&Present| match on {
        On::Named(names) => names.contains(&present.machine.name),
        On::EachClass | On::EachMachine => true,
    };
    let has_all = |present: &&Present| properties.iter().all(|property| property.is_of(&present.machine));
    let mut meant: Vec<&Present> = present.iter().filter(is_meant).filter(has_all).collect();
    if meant.is_empty() {
        return Err(PlaceError::NoneLeft(known()));
    }
    idle_first(&mut meant);
    let mut placed = Placed::default();
    for choice in wanted.choices(&meant)? {
        let (mut classes, mut reasons) = (BTreeMap::<Class, Shared>::new(), vec![]);
        for present in &meant {
            match wanted.class(&present.machine, &choice) {
                Err(why) => reasons.push(format!("{}: {why}", present.machine.name)),
                Ok(class) => {
                    let name = &present.machine.name;
                    let choice = BackendChoice { plugin: class.plugin.clone(), device: choice.device.clone() };
                    let of_class =
                        classes.entry(class).or_insert_with(|| Shared { choice: choice.clone(), machines: vec![] });
                    of_class.machines.push(name.clone());
                    placed.able.insert(name.clone());
                    if *on != On::EachClass || spread || of_class.machines.len() == 1 {
                        let of_machine = placed.machines.entry(name.clone()).or_default();
                        if !of_machine.contains(&choice) {
                            of_machine.push(choice);
                        }
                    }
                }
            }
        }
        match classes.is_empty() {
            true => placed.nowhere.push((choice, reasons.join("; "))),
            false if spread => placed.shared.extend(classes.into_values().filter(|shared| shared.machines.len() > 1)),
            false => {}
        }
    }
    Ok(placed)
}

/// Who is idle comes first; by name among those who are equal, so that a second submission goes to the same machines.
pub(crate) fn idle_first(present: &mut [&Present]) {
    present.sort_by_key(|present| (rank(&present.doing), present.machine.name.clone()));
}

fn rank(doing: &Doing) -> u8 {
    match doing {
        Doing::Idle => 0,
        Doing::Measuring { .. } => 1,
    }
}

fn choices_of(present: &[&Present], choices: &[BackendChoice]) -> Vec<BackendChoice> {
    if !choices.is_empty() && !choices.iter().any(|choice| choice.plugin == BackendChoice::ALL) {
        return choices.to_vec();
    }
    let is_own = |device: &&DeviceRecord| device.usable && device.is_local_hardware();
    let backends = present.iter().flat_map(|present| &present.machine.backends);
    let with_device = backends.filter(|backend| backend.devices.iter().any(|device| is_own(&device)));
    let ids: BTreeSet<&str> = with_device.map(|backend| backend.id.as_str()).collect();
    ids.into_iter().map(|id| BackendChoice { plugin: id.into(), device: None }).collect()
}

/// The plugin's own id and the device that a machine would use for a choice.
///
/// # Errors
/// Why it can use none.
pub fn usable<'m>(machine: &'m Machine, choice: &BackendChoice) -> Result<(&'m str, DeviceRecord), String> {
    let is_called = |backend: &&Announced| backend.id == choice.plugin || backend.aliases.contains(&choice.plugin);
    let Some(backend) = machine.backends.iter().find(is_called) else {
        let rejected = machine.rejected.iter().find(|rejected| rejected.id == choice.plugin);
        return Err(rejected.map_or("it has no such plugin".into(), |rejected| rejected.reason.clone()));
    };
    let chosen = choose(choice.device.as_deref(), &backend.devices);
    match chosen {
        Ok(chosen) if chosen.device.usable => Ok((&backend.id, chosen.device)),
        Ok(chosen) => Err(chosen.device.reason),
        Err(none) => Err(backend.why_not.clone().unwrap_or(none)),
    }
}
