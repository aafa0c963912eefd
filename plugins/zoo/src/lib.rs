//! A skillset of real architectures: graphs that were exported once, shipped without their weights, and given weights
//! from a rule when they are built. Latency and memory are those of the original; what the model says is not.
//!
//! - `skills`: the records of `data/skills.json`, and what they become: descriptions and `skill.json`.
//! - `skeleton`: the shipped graphs, unpacked and held against their hash.
//! - `graph`: a skeleton's way to a graph that finds its weights in a file beside it.
//! - `form`: in which forms weights are written. `stored`: what of a graph a form changes. `blocks`: weights in 4 bits;
//!   `eight`: numbers in 8. `integers`: the layers that multiply those, `ranges`: between which numbers their data lies.
//! - `rule`: the numbers of a weight, `spread`: how large they are. `weights`: the file they are written to.
//!
//! Not here: which inputs a run gets (the host fills them by the record's rules), and any engine.

#![deny(unsafe_code)]

mod blocks;
mod eight;
mod form;
mod graph;
mod integers;
pub mod ranges;
mod rule;
mod skeleton;
mod skills;
mod spread;
mod stored;
mod weights;

use form::Form;
use graph::Wanted;
use skillbench_plugin_api::sdk::{Host, Skillset};
use skillbench_plugin_api::{Error, Options, Result};
use std::ffi::{CStr, CString};
use std::path::Path;
use std::sync::LazyLock;

pub struct Zoo;

impl Skillset for Zoo {
    const ID: &'static CStr = c"zoo";
    const SUMMARY: &'static CStr = c"Graphs of real architectures, with seeded weights";

    fn descriptions() -> &'static [CString] {
        static DESCRIPTIONS: LazyLock<Vec<CString>> =
            LazyLock::new(|| skills::descriptions().filter_map(|text| CString::new(text).ok()).collect());
        &DESCRIPTIONS
    }

    fn build(host: Host, skill: &str, options: &Options, directory: &Path) -> Result<()> {
        let record = skills::find(skill).ok_or_else(|| Error::not_found(unknown(skill)))?;
        let form = Form::asked(options)?;
        record.can_be(form)?;
        host.phase("build", 0.0);
        let mut files = Vec::new();
        let mut graphs = Vec::new();
        for part in record.parts() {
            let skeleton = skeleton::unpack(part.skeleton, part.sha256)?;
            let file = part.weights();
            let wanted = Wanted { file: &file, axes: part.axes, form, ranges: ranges::of(part.skeleton) };
            let refilled = graph::refill(&skeleton, wanted)?;
            files.push((file, refilled.weights));
            graphs.push((part.graph(), refilled.graph));
        }
        let outcome = write_all(&host, directory, &files, &graphs, &record.manifest(form));
        if outcome.is_err() {
            // Part of a model is no use, and a disk that is full should not stay so. What cannot be removed is the host's to
            // throw away, with the folder.
            let names = files.iter().map(|(name, _)| name).chain(graphs.iter().map(|(name, _)| name));
            names.for_each(|name| drop(std::fs::remove_file(directory.join(name))));
        }
        outcome
    }
}

/// The manifest comes last: a folder that has it is whole.
fn write_all(
    host: &Host,
    directory: &Path,
    weights: &[(String, weights::Weights)],
    graphs: &[(String, Vec<u8>)],
    manifest: &str,
) -> Result<()> {
    weights::write(host, directory, weights)?;
    for (name, graph) in graphs {
        write(&directory.join(name), graph)?;
    }
    write(&directory.join("skill.json"), manifest.as_bytes())?;
    host.phase("build", 1.0);
    Ok(())
}

fn unknown(skill: &str) -> String {
    let known: Vec<&str> = skills::all().iter().map(|record| record.id.as_str()).collect();
    format!("the zoo has no skill '{skill}'; it has {}", known.join(", "))
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).map_err(|error| weights::unwritable(path, &error))
}

skillbench_plugin_api::export_plugin! {
    id: "zoo",
    name: "Zoo",
    vendor: "skillbench",
    skillset: Zoo,
}
