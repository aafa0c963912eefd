//! A skill's description, its inputs by rule, and a loaded graph of it.

use serde_json::Value;
use skillbench_plugin_api::client::{Instance, Model};
use skillbench_plugin_api::{DType, Direction, HostTensor, Load, Source};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

pub type Axes = BTreeMap<String, i64>;
pub type Tensors = BTreeMap<String, Arc<HostTensor>>;

pub struct Skill {
    pub id: String,
    pub parameters: u64,
    /// Of the smallest point that was counted; 0: none was.
    pub flops: f64,
    pub parts: Vec<String>,
    pub generation: Option<Value>,
    axes: BTreeMap<String, (i64, i64)>,
    inputs: Vec<Value>,
}

/// Long enough for every operator to have something to do.
const LENGTHS: &[(&str, i64)] = &[
    ("sequence", 16),
    ("decoder_sequence", 4),
    ("encoder_sequence", 16),
    ("past", 16),
    ("text_batch", 2),
    ("samples", 16_000),
    ("frames", 128),
    ("points", 2),
    ("prompt", 8),
];

impl Skill {
    /// `None`: a name that leads to no skill.
    pub fn parse(text: &str) -> Option<Skill> {
        let described: Value = serde_json::from_str(text).unwrap();
        if described.get("unavailable").is_some() {
            return None;
        }
        let flops = described["flops"].as_array().into_iter().flatten().filter_map(|count| count["value"].as_f64());
        let limits = |limits: &Value| (limits[0].as_i64().unwrap(), limits[1].as_i64().unwrap());
        Some(Skill {
            id: string(&described["id"]),
            parameters: described["parameters"].as_u64().unwrap(),
            flops: flops.reduce(f64::min).unwrap_or_default(),
            parts: described["parts"].as_array().unwrap().iter().map(|part| string(&part["name"])).collect(),
            generation: described.get("generation").cloned(),
            axes: described["axes"].as_object().unwrap().iter().map(|(name, l)| (name.clone(), limits(l))).collect(),
            inputs: described["inputs"].as_array().unwrap().clone(),
        })
    }

    pub fn smallest(&self) -> Axes {
        let of = |name: &str| LENGTHS.iter().find(|(known, _)| *known == name).map_or(1, |(_, length)| *length);
        self.axes.iter().map(|(name, (least, most))| (name.clone(), of(name).clamp(*least, *most))).collect()
    }

    pub fn input(&self, part: &str, name: &str) -> Option<&Value> {
        self.inputs.iter().find(|input| input["part"] == part && input["name"] == name)
    }

    pub fn inputs<'a>(&'a self, part: &'a str) -> impl Iterator<Item = &'a Value> {
        self.inputs.iter().filter(move |input| input["part"] == part)
    }
}

pub fn string(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_string()
}

/// A dimension: a number, an axis, or sums of products of them.
pub fn dimension(rule: &Value, axes: &Axes) -> i64 {
    let Some(text) = rule.as_str() else { return rule.as_i64().unwrap() };
    let atom = |name: &str| name.parse().ok().or_else(|| axes.get(name).copied());
    let product = |term: &str| -> i64 {
        term.split('*').map(|name| atom(name).unwrap_or_else(|| panic!("no axis {name}"))).product()
    };
    text.split('+').map(product).sum()
}

pub struct Part<'a> {
    skill: &'a Skill,
    name: &'a str,
    model: Model<'a>,
}

impl<'a> Part<'a> {
    pub fn load(engine: &'a Instance, skill: &'a Skill, name: &'a str, folder: &Path) -> Result<Part<'a>, String> {
        let file = if name.is_empty() { "model.onnx".into() } else { format!("{name}.onnx") };
        let model = engine.load(&Load::new(Source::onnx(&folder.join(file)))).map_err(|error| error.to_string())?;
        Ok(Part { skill, name, model })
    }

    /// Runs once on inputs by rule, besides those that are given.
    pub fn run(&self, axes: &Axes, mut given: Tensors) -> Result<Tensors, String> {
        let told = |error: skillbench_plugin_api::Error| format!("{} at {axes:?}: {error}", self.name);
        let mut request = self.model.request().map_err(told)?;
        for (index, port) in self.model.inputs().iter().enumerate() {
            let rule = self.skill.input(self.name, &port.name);
            let rule = rule.ok_or_else(|| format!("the record has no input '{}' of '{}'", port.name, self.name))?;
            let tensor = given.remove(&port.name).unwrap_or_else(|| by_rule(rule, axes));
            request.bind(Direction::Input, index as u32, tensor).map_err(told)?;
        }
        if self.model.inputs().len() != self.skill.inputs(self.name).count() || !given.is_empty() {
            return Err(format!("the record has inputs that '{}' has not", self.name));
        }
        for index in 0..self.model.outputs().len() {
            request.leave_output(index as u32).map_err(told)?;
        }
        request.run().map_err(told)?;
        let take = |(index, port): (usize, &skillbench_plugin_api::Port)| {
            let tensor = request.take_output(index as u32).and_then(|output| output.to_host()).map_err(told)?;
            Ok((port.name.clone(), Arc::new(tensor)))
        };
        self.model.outputs().iter().enumerate().map(take).collect()
    }
}

/// Whether a rule leaves a choice.
pub fn is_free(rule: &Value) -> bool {
    let fill = string(&rule["fill"]);
    ["ids", "normal", "image", "uniform", "boxes"].contains(&fill.split(':').next().unwrap_or_default())
}

/// The numbers of an input, as docs/skills.md tells the rules.
pub fn by_rule(rule: &Value, axes: &Axes) -> Arc<HostTensor> {
    filled(rule, axes, "")
}

/// Other numbers of the same rule.
pub fn variant(rule: &Value, axes: &Axes) -> Arc<HostTensor> {
    filled(rule, axes, "other")
}

fn filled(rule: &Value, axes: &Axes, salt: &str) -> Arc<HostTensor> {
    let shape: Vec<usize> = rule["dims"].as_array().unwrap().iter().map(|dim| dimension(dim, axes) as usize).collect();
    let text = string(&rule["fill"]);
    let mut words = text.split(':');
    let kind = words.next().unwrap();
    let arguments: Vec<&str> = words.collect();
    let number = |index: usize| arguments.get(index).map_or(index as f64, |text| text.parse().unwrap_or(0.0));
    let last = shape.last().copied().unwrap_or(1).max(1);
    let stream = format!("{}{salt}", rule["name"]);
    let random = |index: usize| random(&stream, index);
    let plane = shape.iter().rev().take(2).product::<usize>().max(1);
    let value = |index: usize| match kind {
        "ones" => 1.0,
        "zeros" => 0.0,
        "const" => number(0),
        // The token that ends a text: some models answer with what they have there.
        "ids" if arguments.len() > 1 && index % last == last - 1 => number(1),
        "ids" => {
            let low = 10_f64.min(number(0) / 2.0).floor();
            (low + random(index) * (number(0) - low)).floor()
        }
        // As wide as a normal distribution, which is all that matters here.
        "image" => {
            let light = |number: usize| random(usize::MAX / 2 + 2 * (index / plane) + number);
            2.0 * light(0) - 1.0 + (0.3 + 1.2 * light(1)) * (random(index) - 0.5) * 12_f64.sqrt()
        }
        "normal" => number(0) + number(1) * (random(index) - 0.5) * 12_f64.sqrt(),
        "uniform" => number(0) + (number(1) - number(0)) * random(index),
        "range" => {
            let start = arguments.first().map_or(0, |start| dimension(&Value::from(*start), axes));
            (start as usize + index % last) as f64
        }
        "boxes" => (random(index) * number(0) / 2.0).floor() + if index % 4 < 2 { 0.0 } else { number(0) / 2.0 },
        "grid" => {
            let (patch, width) = (index / 2 % shape[shape.len() - 2], number(0) as usize);
            (if index.is_multiple_of(2) { patch / width } else { patch % width }) as f64
        }
        other => panic!("no rule {other}"),
    };
    let mut tensor = HostTensor::zeroed(dtype(&rule["dtype"]), &shape).unwrap();
    match tensor.dtype() {
        DType::F32 => write(&mut tensor, |index| (value(index) as f32).to_ne_bytes()),
        DType::I64 => write(&mut tensor, |index| (value(index) as i64).to_ne_bytes()),
        DType::I32 => write(&mut tensor, |index| (value(index) as i32).to_ne_bytes()),
        DType::Bool => write(&mut tensor, |index| [u8::from(value(index) != 0.0)]),
        other => panic!("no rule for {}", other.name()),
    }
    Arc::new(tensor)
}

fn dtype(name: &Value) -> DType {
    let known = [DType::F32, DType::I64, DType::I32, DType::Bool];
    known.into_iter().find(|dtype| name == dtype.name()).unwrap_or_else(|| panic!("no input of type {name}"))
}

fn write<const BYTES: usize>(tensor: &mut HostTensor, element: impl Fn(usize) -> [u8; BYTES]) {
    let (elements, _) = tensor.bytes_mut().as_chunks_mut::<BYTES>();
    elements.iter_mut().enumerate().for_each(|(index, bytes)| *bytes = element(index));
}

/// In [0, 1), by name and index.
fn random(name: &str, index: usize) -> f64 {
    let seed = name.bytes().fold(7_u64, |hash, byte| hash.wrapping_mul(0x100_0000_01B3) ^ u64::from(byte));
    let mut x = seed.wrapping_add((index as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((x ^ (x >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Numbers that an inference could have given: there, finite, and not all the same.
pub fn sane(what: &str, tensor: &HostTensor) -> Result<(), String> {
    if tensor.bytes().is_empty() {
        return Err(format!("{what} is empty"));
    }
    let Some(values) = tensor.as_slice::<f32>() else { return Ok(()) };
    if let Some(value) = values.iter().find(|value| !value.is_finite()) {
        return Err(format!("{what} holds {value}"));
    }
    match values.len() > 1 && values.iter().all(|value| *value == values[0]) {
        true => Err(format!("{what} is {} throughout", values[0])),
        false => Ok(()),
    }
}
