//! Every skill, built through the plugin's C table, loaded into ONNX Runtime and run: on the library that `ORT_DYLIB_PATH`
//! names. Where it names none there is nothing to run on, and the backend's error is looked at instead.
//!
//! The backend is that of `plugins/cpu`, compiled in: two plugins cannot be linked into one test.

mod generate;
mod model;
mod power;
#[path = "../../../cpu/src/provider.rs"]
mod provider;
mod ranges;

use model::{Part, Skill};
use skillbench_onnxruntime::OrtBackend;
use skillbench_plugin_api::client::{Instance, Plugin, SkillsetRef};
use skillbench_plugin_api::host_tables::HostTable;
use skillbench_plugin_api::{Code, Options, Why, raw};
use skillbench_testkit::Quiet;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Mutex;

unsafe extern "C" {
    static skillbench_plugin: raw::sb_plugin;
}

fn zoo() -> SkillsetRef {
    // SAFETY: the table of the crate this test is linked with.
    let plugin = unsafe { Plugin::new(&raw const skillbench_plugin) }.unwrap();
    plugin.skillset().unwrap().unwrap()
}

/// ONNX Runtime with one thread for each model: as many models are tried at once as there are processors.
fn engine() -> Option<Instance> {
    let opened = skillbench_testkit::open::<OrtBackend<provider::Cpu>>(&[("threads", "1")]);
    if std::env::var_os("ORT_DYLIB_PATH").is_some() {
        return Some(opened.unwrap());
    }
    let error = opened.err()?;
    assert_eq!((error.code, error.why), (Code::Unavailable, Why::RUNTIME), "{error}");
    skillbench_testkit::skipped("ORT_DYLIB_PATH names no ONNX Runtime; scripts/test sets it");
    None
}

/// Parameters of a skill, and its operations at the smallest point.
struct Limits {
    parameters: u64,
    flops: f64,
}

/// What runs within minutes. Counts of larger ones are held against the published ones without running them.
const USUAL: Limits = Limits { parameters: 70_000_000, flops: 2e10 };
/// What `scripts/zoo-try` runs: the float32 weights and outputs of two at once fit a small machine.
const LARGE: Limits = Limits { parameters: 500_000_000, flops: 4e11 };

impl Limits {
    fn hold(&self, skill: &Skill) -> bool {
        skill.parameters <= self.parameters && skill.flops <= self.flops
    }
}

/// The skills within the usual limits; with `SKILLBENCH_TEST_SKILLS=large` all within the large ones, else those that it names with
/// commas between them.
fn wanted() -> Vec<Skill> {
    let named = std::env::var("SKILLBENCH_TEST_SKILLS").ok();
    let skills = zoo().descriptions();
    let skills = skills.iter().filter_map(|text| Skill::parse(text));
    let is_wanted = |skill: &Skill| match named.as_deref() {
        Some("large") => LARGE.hold(skill),
        Some(named) => named.split(',').any(|name| name == skill.id),
        None => USUAL.hold(skill),
    };
    skills.filter(is_wanted).collect()
}

/// The longest ones first, so that none is left for the end.
fn by_size(mut skills: Vec<Skill>) -> Vec<Skill> {
    skills.sort_by_key(|skill| skill.parameters);
    skills
}

fn built(skill: &Skill) -> Result<tempfile::TempDir, String> {
    built_in(skill, &Options::default())
}

fn built_in(skill: &Skill, options: &Options) -> Result<tempfile::TempDir, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let text = |error: skillbench_plugin_api::Error| error.to_string();
    zoo().build(HostTable::leak(&Quiet), &skill.id, options, folder.path()).map_err(text)?;
    Ok(folder)
}

/// Outputs move by so much at least, over their largest magnitude, where all inputs have other contents.
const MOVES: f64 = 5e-3;

fn try_out(engine: &Instance, skill: &Skill) -> Result<(), String> {
    let folder = built(skill)?;
    let mut parts = BTreeMap::new();
    for name in &skill.parts {
        parts.insert(name.as_str(), Part::load(engine, skill, name, folder.path())?);
    }
    let axes = skill.smallest();
    for (name, part) in &parts {
        let outputs = part.run(&axes, BTreeMap::new())?;
        outputs.iter().try_for_each(|(port, tensor)| model::sane(&format!("{name} {port}"), tensor))?;
    }
    if let Some(moves) = power::of_all_inputs(skill, &parts, &axes)?.filter(|moves| *moves < MOVES) {
        return Err(format!("other inputs move the outputs by {moves:.1e} alone"));
    }
    match &skill.generation {
        Some(generation) => generate::whole_and_step_by_step(skill, generation, &parts),
        None => Ok(()),
    }
}

/// One model at a time for each processor, each in a folder of its own that goes when it was tried. What went wrong.
fn each(work: impl Fn(&Skill) -> Result<(), String> + Sync) -> Vec<String> {
    let queue = Mutex::new(by_size(wanted()));
    let wrong = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().unwrap().pop();
                    let Some(skill) = next else { return };
                    if let Err(what) = work(&skill) {
                        wrong.lock().unwrap().push(format!("{}: {what}", skill.id));
                    }
                }
            });
        }
    });
    wrong.into_inner().unwrap()
}

#[test]
fn every_skill_runs_and_is_moved_by_its_inputs_and_what_generates_does_so_through_its_cache() {
    let Some(engine) = engine() else { return };
    let wrong = each(|skill| try_out(&engine, skill));
    assert!(wrong.is_empty(), "{} skills:\n{}", wrong.len(), wrong.join("\n"));
}

/// Writes a line for each skill into the file that `SKILLBENCH_TEST_POWER` names.
#[test]
#[ignore = "measures for hours; scripts/zoo-power runs it"]
fn the_power_of_every_skill_is_measured() {
    let (Some(engine), Some(file)) = (engine(), std::env::var_os("SKILLBENCH_TEST_POWER")) else { return };
    let file = Mutex::new(std::fs::OpenOptions::new().append(true).create(true).open(file).unwrap());
    let wrong = each(|skill| {
        let folder = built(skill)?;
        let record = power::record(&engine, skill, folder.path())?;
        writeln!(file.lock().unwrap(), "{record}").map_err(|error| error.to_string())
    });
    assert!(wrong.is_empty(), "{} skills:\n{}", wrong.len(), wrong.join("\n"));
}

/// Writes a line for each skeleton into the file that `SKILLBENCH_TEST_RANGES` names.
#[test]
#[ignore = "measures for an hour; scripts/zoo-ranges runs it"]
fn the_ranges_of_every_skill_are_measured() {
    let (Some(engine), Some(file)) = (engine(), std::env::var_os("SKILLBENCH_TEST_RANGES")) else { return };
    let file = Mutex::new(std::fs::OpenOptions::new().append(true).create(true).open(file).unwrap());
    let wrong = each(|skill| {
        let folder = built(skill)?;
        for (part, skeleton) in skill.parts.iter().zip(skillbench_zoo::ranges::skeletons(&skill.id)) {
            let mut record = ranges::of_part(&engine, skill, part, folder.path())?;
            record["id"] = skeleton.into();
            writeln!(file.lock().unwrap(), "{record}").map_err(|error| error.to_string())?;
        }
        Ok(())
    });
    assert!(wrong.is_empty(), "{} skills:\n{}", wrong.len(), wrong.join("\n"));
}

/// As above, a line for each skill: how far it is in int8 from what it is in float32.
#[test]
#[ignore = "measures for an hour; scripts/zoo-ranges runs it"]
fn the_error_of_every_skill_in_int8_is_measured() {
    let (Some(engine), Some(file)) = (engine(), std::env::var_os("SKILLBENCH_TEST_RANGES")) else { return };
    let file = Mutex::new(std::fs::OpenOptions::new().append(true).create(true).open(file).unwrap());
    let int8 = Options([("precision".into(), "int8".into())].into());
    let wrong = each(|skill| {
        let error = ranges::error(&engine, skill, built(skill)?.path(), built_in(skill, &int8)?.path())?;
        let record = serde_json::json!({"id": skill.id, "error": format!("{error:.1e}").parse::<f64>().unwrap()});
        writeln!(file.lock().unwrap(), "{record}").map_err(|error| error.to_string())
    });
    assert!(wrong.is_empty(), "{} skills:\n{}", wrong.len(), wrong.join("\n"));
}
