//! The skill `roofline-peaks`: its description, and its files.

use crate::graphs;
use crate::parts::{Form, Part};
use crate::weights::{Matrix, unwritable};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use skillbench_plugin_api::sdk::{Host, Skillset};
use skillbench_plugin_api::{Error, Options, Result};
use std::ffi::{CStr, CString};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::LazyLock;

/// Changes whenever the files of weights do; graphs are hashed.
const WEIGHTS: &str = "seeded by roofline/2";

pub const SKILL: &CStr = c"roofline-peaks";

pub struct RooflineSkill;

impl Skillset for RooflineSkill {
    const ID: &'static CStr = c"roofline";
    const SUMMARY: &'static CStr = c"Graphs that only multiply, or only move memory";

    fn descriptions() -> &'static [CString] {
        static DESCRIPTIONS: LazyLock<Vec<CString>> =
            LazyLock::new(|| CString::new(Value::from(description()).to_string()).into_iter().collect());
        &DESCRIPTIONS
    }

    fn build(host: Host, skill: &str, _options: &Options, directory: &Path) -> Result<()> {
        if skill.as_bytes() != SKILL.to_bytes() {
            return Err(Error::not_found(format!("there is no skill '{skill}' here, only roofline-peaks")));
        }
        let (mut done, total) = (0, Matrix::all().map(Matrix::bytes).sum::<u64>());
        let mut tell = |bytes| {
            host.phase("build", done as f64 / total as f64);
            done += bytes;
        };
        for matrix in Matrix::all() {
            matrix.write(&host, directory, &mut tell)?;
        }
        for part in Part::all() {
            put(&directory.join(graphs::file(part)), &graphs::write(part))?;
        }
        put(&directory.join("skill.json"), format!("{:#}\n", Value::from(manifest())).as_bytes())?;
        host.phase("build", 1.0);
        Ok(())
    }
}

fn put(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).map_err(|error| unwritable(path, &error))
}

fn described() -> Map<String, Value> {
    let input = |part: Part| {
        let dtype = if matches!(part, Part::Products { form: Form::Float16, .. }) { "f16" } else { "f32" };
        // As wide as the weights it is added to; see graphs.
        let fill = match part {
            Part::Products { size, .. } => format!("normal:0:{}", 1.0 / (size as f64).sqrt()),
            Part::Copy | Part::Read { .. } => "normal".into(),
        };
        json!({"part": part.name(), "name": part.input(), "dtype": dtype, "dims": part.input_shape(), "fill": fill})
    };
    object(json!({
        "id": SKILL.to_string_lossy(),
        "family": "roofline",
        "architecture": "roofline",
        "category": "roofline",
        "task": "peaks",
        "parameters": null,
        "reduced": null,
        "axes": {},
        "inputs": Part::all().into_iter().map(input).collect::<Vec<_>>(),
        "flops": [],
    }))
}

fn description() -> Map<String, Value> {
    let mut description = described();
    description.insert("content".into(), content().into());
    description
}

fn manifest() -> Map<String, Value> {
    let mut manifest = manifested();
    manifest.insert("content".into(), content().into());
    manifest
}

fn manifested() -> Map<String, Value> {
    let mut manifest = object(json!({"schema": "skillbench.skill/1"}));
    manifest.extend(described());
    // Where values are quantized, one that lies between two steps may fall to either: engines differ by steps.
    let tolerance = |part: Part| match part {
        Part::Products { form: Form::Int8, .. } => {
            json!({"float32": 5e-2, "float16": 5e-2, "bfloat16": 5e-2, "int8": 5e-2})
        }
        _ => json!({}),
    };
    let part = |part: Part| json!({"name": part.name(), "graph": graphs::file(part), "tolerance": tolerance(part)});
    manifest.extend(object(json!({
        "weights": WEIGHTS,
        "parts": Part::all().into_iter().map(part).collect::<Vec<_>>(),
    })));
    manifest
}

/// Changes whenever `build` would write something else.
fn content() -> String {
    let mut hash = Sha256::new();
    hash.update(Value::from(manifested()).to_string());
    Part::all().into_iter().for_each(|part| hash.update(graphs::write(part)));
    hash.finalize().iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}
