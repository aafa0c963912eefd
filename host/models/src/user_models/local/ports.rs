//! The inputs of a graph become rules: a dimension for each place, and how it is filled. What the graph leaves open becomes an
//! axis of the workload, with the limits that its tables and its configuration say.

use super::super::classify::{Config, has_offset_positions};
use super::NO_LIMIT;
use super::fills::{Type, table};
use super::trace::{Met, Trace, trace};
use crate::{DimRule, InputRule, standard_axis};
use skillbench_onnx::Outline;
use skillbench_onnx::messages::{Dim, ValueInfo};
use skillbench_plugin_api::DType;
use std::collections::BTreeMap;

/// What the graphs of a model take.
#[derive(Debug, Default)]
pub(super) struct Ports {
    pub inputs: Vec<InputRule>,
    pub axes: BTreeMap<String, [i64; 2]>,
    /// What an axis without limits is taken at.
    pub usual: BTreeMap<String, i64>,
    /// What the graphs call their dimensions, and what each is in axes.
    pub dimensions: BTreeMap<String, String>,
    pub evidence: Vec<String>,
    pub notes: Vec<String>,
}

/// Keys of config.json that say how long a sequence may be.
const POSITIONS: [&str; 6] =
    ["max_position_embeddings", "n_positions", "max_sequence_length", "max_target_positions", "n_ctx", "seq_length"];

/// One graph, while its inputs are read.
struct Reader<'a> {
    part: &'a str,
    trace: Trace,
    config: Option<&'a Config>,
    with_encoder: bool,
    has_past: bool,
}

impl Ports {
    /// Adds the inputs of a graph.
    ///
    /// # Errors
    /// An input that the host cannot fill.
    pub fn read(
        &mut self,
        part: &str,
        outline: &Outline,
        config: Option<&Config>,
        with_encoder: bool,
    ) -> Result<(), String> {
        let ports = outline.graph.ports();
        let is_past = |name: &str| name.split(['+', '*']).any(|name| table().axis(name.trim()) == Some("past"));
        let has_past = ports
            .iter()
            .filter_map(|port| port.dims())
            .flatten()
            .filter_map(Dim::name)
            .any(|name| is_past(name) || name.split(['+', '*']).any(|name| name.trim() == "past"));
        let reader = Reader { part, trace: trace(outline), config, with_encoder, has_past };
        for port in ports {
            let dtype = element(port)?;
            let Some(dims) = port.dims() else {
                self.notes.push(format!("the graph does not say the shape of its input '{}'", port.name));
                continue;
            };
            let rules: Vec<DimRule> =
                dims.iter().enumerate().map(|(index, dim)| reader.dim(self, port, index, dim, dims.len())).collect();
            let fill = reader.fill(self, port, dtype);
            let (part, name) = (part.to_string(), port.name.clone());
            self.inputs.push(InputRule { part, name, dtype: dtype.name().into(), dims: rules, fill });
        }
        reader.limits(self);
        Ok(())
    }

    fn add_axes(&mut self, rule: &str) {
        for axis in rule.split(['+', '*']).map(str::trim).filter(|axis| axis.parse::<i64>().is_err()) {
            let least = i64::from(axis != "past");
            self.axes.entry(axis.into()).or_insert([least, NO_LIMIT]);
        }
    }

    fn say(&mut self, sentence: String) {
        if !self.evidence.contains(&sentence) {
            self.evidence.push(sentence);
        }
    }
}

impl Reader<'_> {
    fn dim(&self, ports: &mut Ports, port: &ValueInfo, index: usize, dim: &Dim, rank: usize) -> DimRule {
        if let Some(fixed) = dim.fixed() {
            return DimRule::Fixed(i64::try_from(fixed).unwrap_or(NO_LIMIT));
        }
        let rule = match table().place(&port.name, rank, index) {
            Some("channels") => return DimRule::Fixed(self.channels(ports, &port.name)),
            Some("mels") => match self.mels(ports) {
                Some(mels) => return DimRule::Fixed(mels),
                None => "mels".into(),
            },
            Some("frames") if self.part != "vision" && rank == 3 => match self.frames(ports) {
                Some(frames) => return DimRule::Fixed(frames),
                None => "frames".into(),
            },
            Some(axis) => axis.into(),
            None => self.axes_of(&port.name, index, dim.name()),
        };
        if let Some(name) = dim.name() {
            ports.dimensions.insert(name.into(), rule.clone());
        }
        ports.add_axes(&rule);
        if let ("height" | "width", Some((key, [height, width]))) =
            (rule.as_str(), self.config.and_then(Config::image_size))
        {
            ports.usual.insert("height".into(), height);
            ports.usual.insert("width".into(), width);
            ports.say(format!("images of {height}x{width}: {key} of the configuration"));
        } else if let Some(usual) = table().usual.get(&rule) {
            ports.usual.entry(rule.clone()).or_insert(*usual);
        }
        DimRule::Of(rule)
    }

    /// A dimension's name in the host's axes.
    fn axes_of(&self, input: &str, index: usize, name: Option<&str>) -> String {
        let Some(name) = name else {
            // By custom the first dimension is the batch.
            return if index == 0 { "batch".into() } else { plain(&format!("{input}_{index}")) };
        };
        // Other signs than those of expressions make it a name of its own.
        if name.contains(|c: char| !(c.is_alphanumeric() || " _+*.-:/".contains(c))) {
            return plain(name);
        }
        let mut rule = String::new();
        for piece in name.split_inclusive(['+', '*']) {
            let (atom, sign) = match piece.strip_suffix(['+', '*']) {
                Some(atom) => (atom, &piece[atom.len()..]),
                None => (piece, ""),
            };
            rule.push_str(&self.axis(atom.trim()));
            rule.push_str(sign);
        }
        rule
    }

    fn axis(&self, name: &str) -> String {
        if name.parse::<i64>().is_ok() {
            return name.into();
        }
        let standard = standard_axis(name);
        let axis = table().axis(name).filter(|_| standard == name).unwrap_or(standard);
        match (axis, self.part) {
            ("past+sequence", _) if !self.has_past => "sequence".into(),
            // The decoder of a pair reads its own tokens; what the encoder read is the other sequence.
            ("sequence", "encoder") => "encoder_sequence".into(),
            ("decoder_sequence", "decoder") => "sequence".into(),
            (axis, _) if axis.contains('+') => axis.into(),
            (axis, _) => plain(axis),
        }
    }

    fn channels(&self, ports: &mut Ports, input: &str) -> i64 {
        if let Some(Met { weight, dims }) = self.trace.convolutions.get(input)
            && let Some(channels) = dims.get(1).filter(|channels| **channels > 0)
        {
            ports.say(format!("images of {channels} channels: the shape of '{weight}', which takes '{input}'"));
            return *channels;
        }
        match self.config.and_then(|config| config.number(&["num_channels", "in_channels", "in_chans"])) {
            Some((key, channels)) => {
                ports.say(format!("images of {channels} channels: {key} of the configuration"));
                channels
            }
            None => {
                ports.notes.push(format!("nothing says how many channels '{input}' has: 3 are taken"));
                3
            }
        }
    }

    fn mels(&self, ports: &mut Ports) -> Option<i64> {
        let (key, mels) = match self.config?.number(&["num_mel_bins"]) {
            Some(found) => found,
            None => ("feature_size".into(), self.config?.preprocessing("feature_size")?),
        };
        ports.say(format!("sound of {mels} mel bands: {key} of the configuration"));
        Some(mels)
    }

    fn frames(&self, ports: &mut Ports) -> Option<i64> {
        let frames = self.config?.preprocessing("nb_max_frames")?;
        ports.say(format!("sound of {frames} frames: nb_max_frames of the preprocessor"));
        Some(frames)
    }

    fn fill(&self, ports: &mut Ports, port: &ValueInfo, dtype: DType) -> String {
        let of = match dtype {
            DType::Bool => Type::Bool,
            DType::F16 | DType::BF16 | DType::F32 | DType::F64 => Type::Float,
            _ => Type::Whole,
        };
        match table().fill(&port.name, of) {
            "range" if self.has_past => "range:past".into(),
            "ids" => format!("ids:{}", self.vocabulary(ports, &port.name)),
            // The first step of a decoder that has an encoder beside it is the one that makes the cache.
            "ones" if port.name == "use_cache_branch" && self.with_encoder => "zeros".into(),
            fill => fill.into(),
        }
    }

    /// How many token ids there are.
    fn vocabulary(&self, ports: &mut Ports, input: &str) -> i64 {
        let table = self.trace.tables.get(input);
        let rows = table.and_then(|met| met.dims.first().copied());
        let told = self.config.and_then(|config| config.number(&["vocab_size"]));
        match (table.zip(rows), told) {
            (Some((_, rows)), Some((key, told))) if told < rows => {
                ports.say(format!("ids of '{input}' are below {told}: {key} of the configuration"));
                told
            }
            (Some((met, rows)), _) => {
                ports.say(format!(
                    "ids of '{input}' are below {rows}: the rows of '{}', which it is looked up in",
                    met.weight
                ));
                rows
            }
            (None, Some((key, told))) => {
                ports.say(format!("ids of '{input}' are below {told}: {key} of the configuration"));
                told
            }
            (None, None) => {
                ports.notes.push(format!("nothing says how many ids '{input}' may have: {SAFE_IDS} are taken"));
                SAFE_IDS
            }
        }
    }

    /// How long a sequence may be.
    fn limits(&self, ports: &mut Ports) {
        let mut limit = |axis: &str, most: i64, why: String| {
            let Some(range) = ports.axes.get_mut(axis) else { return };
            if most >= range[0] && most < range[1] {
                range[1] = most;
                ports.evidence.push(format!("{axis} up to {most}: {why}"));
            }
        };
        for (input, met) in &self.trace.tables {
            if let (true, Some(rows)) = (input.contains("position"), met.dims.first()) {
                let axis = if self.part == "encoder" { "encoder_sequence" } else { "sequence" };
                limit(axis, *rows, format!("the rows of '{}', which '{input}' is looked up in", met.weight));
            }
        }
        let Some(config) = self.config else { return };
        let Some((key, positions)) = config.number(&POSITIONS) else { return };
        let offset = match config.model_type() {
            Some(model_type) if has_offset_positions(model_type) => {
                config.number(&["pad_token_id"]).map_or(1, |(_, id)| id) + 1
            }
            _ => 0,
        };
        for axis in ["sequence", "encoder_sequence", "decoder_sequence"] {
            let why = match offset {
                0 => format!("{key} of the configuration"),
                offset => format!("{key} of the configuration, of which {offset} are not for tokens"),
            };
            limit(axis, positions - offset, why);
        }
    }
}

/// Token ids that are in range of any vocabulary.
const SAFE_IDS: i64 = 100;

/// A name that can stand in an expression and on the command line.
fn plain(name: &str) -> String {
    let sign = |c: char| if c.is_alphanumeric() || c == '_' { c } else { '_' };
    let text: String = name.chars().map(sign).collect();
    // What begins with a digit would be a number.
    if text.starts_with(|c: char| c.is_ascii_digit()) { format!("_{text}") } else { text }
}

fn element(port: &ValueInfo) -> Result<DType, String> {
    let element =
        port.element().ok_or_else(|| format!("does not say the type of its input '{}'; export it again", port.name))?;
    let dtype = match element {
        1 => DType::F32,
        2 => DType::U8,
        3 => DType::I8,
        4 => DType::U16,
        5 => DType::I16,
        6 => DType::I32,
        7 => DType::I64,
        9 => DType::Bool,
        10 => DType::F16,
        11 => DType::F64,
        12 => DType::U32,
        13 => DType::U64,
        16 => DType::BF16,
        other => {
            let name = skillbench_onnx::messages::type_name(other).map_or(format!("type {other}"), String::from);
            return Err(format!(
                "its input '{}' takes {name}, which the host does not fill; export the part that takes numbers",
                port.name
            ));
        }
    };
    Ok(dtype)
}

#[cfg(test)]
mod tests {
    use super::super::super::samples::{Sample, port};
    use super::*;
    use serde_json::{Value, json};
    use skillbench_onnx::messages::{FLOAT, INT64};

    fn read(sample: &Sample, part: &str, config: Value, preprocessor: Value) -> Ports {
        let config = Config::of(config, preprocessor);
        let mut ports = Ports::default();
        ports.read(part, &Outline::of(&sample.bytes()).unwrap(), Some(&config), !part.is_empty()).unwrap();
        ports
    }

    fn alone(sample: &Sample) -> Ports {
        read(sample, "", json!({}), Value::Null)
    }

    fn rule<'a>(ports: &'a Ports, name: &str) -> &'a InputRule {
        ports.inputs.iter().find(|rule| rule.name == name).unwrap()
    }

    fn dims(ports: &Ports, name: &str) -> String {
        serde_json::to_string(&rule(ports, name).dims).unwrap()
    }

    #[test]
    fn names_that_exporters_give_become_the_hosts_axes() {
        let ports = alone(&Sample::decoder(1));
        assert_eq!(dims(&ports, "input_ids"), r#"["batch","sequence"]"#);
        assert_eq!(dims(&ports, "attention_mask"), r#"["batch","past+sequence"]"#);
        assert_eq!(dims(&ports, "past_key_values.0.key"), r#"["batch",2,"past",4]"#);
        assert_eq!(ports.axes["past"][0], 0, "a cache may be empty");
        assert_eq!(ports.dimensions["past_sequence_length + sequence_length"], "past+sequence");
        assert_eq!(rule(&ports, "position_ids").fill, "range:past");
    }

    #[test]
    fn token_ids_stay_below_the_rows_of_their_table_and_below_the_vocabulary() {
        let ids = |config: Value| rule(&read(&Sample::encoder(), "", config, Value::Null), "input_ids").fill.clone();
        assert_eq!(ids(json!({})), "ids:120");
        assert_eq!(ids(json!({"vocab_size": 100})), "ids:100", "padded tables have more rows than ids");
        assert_eq!(ids(json!({"vocab_size": 500})), "ids:120");
        let mut sample = Sample::perceptron();
        sample.inputs = vec![port("tokens", INT64, &["N", "S"])];
        assert_eq!(rule(&alone(&sample), "tokens").fill, "ids:100");
        assert!(alone(&sample).notes[0].contains("nothing says how many ids"));
    }

    #[test]
    fn sequences_are_as_long_as_the_positions_reach() {
        let most = |config: Value| read(&Sample::encoder(), "", config, Value::Null).axes["sequence"][1];
        assert_eq!(most(json!({})), NO_LIMIT);
        assert_eq!(most(json!({"max_position_embeddings": 512})), 512);
        assert_eq!(most(json!({"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 1})), 512);
        assert_eq!(alone(&Sample::decoder(1)).axes["sequence"][1], 64, "by the rows of the table of positions");
    }

    #[test]
    fn images_get_their_channels_from_the_weights_and_their_size_from_the_configuration() {
        let ports = read(&Sample::vision(), "", json!({"image_size": 32, "num_channels": 5}), Value::Null);
        assert_eq!(dims(&ports, "pixel_values"), r#"["batch",3,"height","width"]"#);
        assert_eq!(ports.usual, [("height".to_string(), 32), ("width".to_string(), 32)].into());
        assert_eq!(alone(&Sample::vision()).usual["height"], 224);
    }

    #[test]
    fn sound_gets_its_bands_and_frames_from_the_configuration() {
        let mut sample = Sample::perceptron();
        sample.inputs = vec![port("input_features", FLOAT, &["batch_size", "feature_size", "encoder_sequence_length"])];
        let known = read(&sample, "encoder", json!({"num_mel_bins": 80}), json!({"nb_max_frames": 3000}));
        assert_eq!(dims(&known, "input_features"), r#"["batch",80,3000]"#);
        assert_eq!(dims(&alone(&sample), "input_features"), r#"["batch","mels","frames"]"#);
        sample.inputs = vec![port("input_values", FLOAT, &["batch_size", "sequence_length"])];
        assert_eq!(dims(&alone(&sample), "input_values"), r#"["batch","samples"]"#);
    }

    #[test]
    fn the_two_sequences_of_a_pair_are_told_apart() {
        let encoder = read(&Sample::encoder(), "encoder", json!({}), Value::Null);
        assert_eq!(dims(&encoder, "input_ids"), r#"["batch","encoder_sequence"]"#);
        let mut sample = Sample::decoder(1);
        sample.inputs[0] = port("input_ids", INT64, &["batch_size", "decoder_sequence_length"]);
        sample.inputs.push(port("encoder_attention_mask", INT64, &["batch_size", "encoder_sequence_length"]));
        let decoder = read(&sample, "decoder", json!({}), Value::Null);
        assert_eq!(dims(&decoder, "input_ids"), r#"["batch","sequence"]"#);
        assert_eq!(dims(&decoder, "encoder_attention_mask"), r#"["batch","encoder_sequence"]"#);
    }

    #[test]
    fn dimensions_without_a_usable_name_get_one() {
        let mut sample = Sample::perceptron();
        sample.inputs = vec![port("x", FLOAT, &["", "", "floor(s0/2)", "2*N + 1", "unk__7"])];
        assert_eq!(dims(&alone(&sample), "x"), r#"["batch","x_1","floor_s0_2_","2*batch+1","unk__7"]"#);
    }

    #[test]
    fn an_input_of_texts_is_refused() {
        let mut sample = Sample::perceptron();
        sample.inputs = vec![port("x", 8, &["N"])];
        let outline = Outline::of(&sample.bytes()).unwrap();
        let error = Ports::default().read("", &outline, None, false).unwrap_err();
        assert!(error.contains("'x' takes string"), "{error}");
    }
}
