//! Plugins built against an older and against a newer copy of the header, under this host.
//!
//! The plugin is the C template, and the copies are edits of the header: fields taken from the end of its structs, or added
//! there.

use crate::compile::{c_library, install_c_template};
use crate::guards::{Caller, Driven};
use crate::layout::without_comments;
use crate::loading::{backend, floats, host};
use crate::model::{distance, example, probe};
use skillbench_plugin_api::{Code, Direction, Load, Options, Placement, Source};
use std::path::{Path, PathBuf};

/// Replaces what has to be there exactly once.
fn replaced(text: String, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "'{from}' is there once in:\n{text}");
    text.replace(from, to)
}

/// Takes everything from `first` to the end of a struct.
fn cut(header: String, name: &str, first: &str) -> String {
    let end = header.find(&format!("}} {name};")).unwrap_or_else(|| panic!("no end of {name}"));
    let start = header[..end].rfind(first).unwrap_or_else(|| panic!("no '{first}' in {name}"));
    format!("{}\n{}", &header[..start], &header[end..])
}

/// Adds a field at the end of a struct.
fn added(header: String, name: &str, field: &str) -> String {
    replaced(header, &format!("}} {name};"), &format!("  {field}\n}} {name};"))
}

/// Fields that came last are not there yet, and a plugin of that time knows nothing of them.
fn older(file: &str, text: String) -> String {
    match file {
        "skillbench.h" => {
            let mut header = without_comments(&text);
            header = cut(header, "sb_backend", "sb_status (*submit)");
            header = cut(header, "sb_plugin", "uint32_t abi_minor");
            header = cut(header, "sb_host", "const void *(*extension)");
            header = cut(header, "sb_load", "const sb_options *options");
            header = cut(header, "sb_port", "uint32_t flags");
            header = cut(header, "sb_error", "char message");
            header = replaced(header, ", driver[64], reason[256]", "");
            header = replaced(header, ", engine[128]", "");
            cut(header, "sb_timing", "uint64_t host_to_device_ns")
        }
        "plugin.c" => {
            let lines = ["SB_ABI_MINOR,", "submit */", "cancel */", "memory */", "extension */"];
            text.lines()
                .filter(|line| !lines.iter().any(|end| line.ends_with(end)))
                .map(|line| line.to_owned() + "\n")
                .collect::<String>()
                .replace("  factory,\n  0,\n", "  factory,\n")
        }
        "model.c" => replaced(text, "strcpy(placement.engine, ENGINE_NAME);", ""),
        "request.c" => replaced(text, "measured.host_to_device_ns = measured.device_to_host_ns = SB_UNKNOWN;", ""),
        "contract.c" => replaced(text, "  sb_error made;", "  sb_error made;\n  char message[496];")
            .replace("made.message", "message"),
        _ => text,
    }
}

const GROWN: [&str; 12] = [
    "sb_plugin",
    "sb_backend",
    "sb_host",
    "sb_options",
    "sb_source",
    "sb_load",
    "sb_device",
    "sb_placement",
    "sb_port",
    "sb_timing",
    "sb_memory",
    "sb_error",
];

/// Every struct has one more field, which the plugin fills, and reads where the host has it.
fn newer(file: &str, text: String) -> String {
    match file {
        "skillbench.h" => {
            let slot = |name: &str| if name == "sb_host" { "uint64_t (*newer)(void *ctx);" } else { "uint64_t newer;" };
            GROWN.iter().fold(without_comments(&text), |header, name| added(header, name, slot(name)))
        }
        "plugin.c" => replaced(text, "  SB_ABI_MINOR,\n  0,\n", "  SB_ABI_MINOR,\n  0,\n  7,\n")
            .replace("/* extension */\n", "\n  7,\n")
            .replace("strcpy(device.id", "device.newer = 7;\n  strcpy(device.id"),
        "model.c" => replaced(
            text,
            "  if (!SB_HAS(sb_load, load, source)",
            "  if (SB_HAS(sb_load, load, newer) || SB_HAS(sb_source, load->source, newer))\n    \
             return fail(error, SB_INTERNAL, 0, \"read %d past the end\", (int)load->newer);\n  if (!SB_HAS(sb_load, load, source)",
        )
        .replace("port.dtype.lanes = 1;", "port.dtype.lanes = 1;\n  port.newer = 7;")
        .replace("placement.cache_hit =", "placement.newer = 7;\n  placement.cache_hit ="),
        "contract.c" => replaced(
            text,
            "? host->now_ns(host->ctx)",
            "? (SB_CALL(sb_host, host, newer) ? host->newer(host->ctx) : host->now_ns(host->ctx))",
        )
        .replace("made.why = why;", "made.why = why;\n    made.newer = 7;"),
        _ => text,
    }
}

fn build(folder: &Path, edit: fn(&str, String) -> String) -> PathBuf {
    install_c_template(folder, edit);
    let mut sources: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    sources.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    c_library(folder, "demo", &["-Werror"], &sources)
}

/// Runs the probe, and returns the placement and the message of a failed load.
fn run_probe(library: &Path) -> (Placement, String) {
    let ((x, y), instance) = (example(), backend(library).open(host(), &Options::default()).unwrap());
    let mut load = Load::new(Source::onnx(&probe()));
    load.devices = vec![0];
    let model = instance.load(&load).unwrap();
    let mut request = model.request().unwrap();
    request.bind(Direction::Input, 0, floats(&x.shape, &x.data)).unwrap();
    request.run().unwrap();
    let output = request.take_output(0).unwrap().to_host().unwrap();
    assert!(distance(output.as_slice().unwrap(), &y.data) < 1e-6);
    load.precision = Some("int8".into());
    let error = instance.load(&load).err().expect("the precision is refused");
    assert_eq!(error.code, Code::Unimplemented);
    assert_eq!(instance.memory(0).unwrap_err().code, Code::Unimplemented);
    let devices = instance.devices().unwrap();
    assert_eq!((devices[0].id.as_str(), devices[0].driver.as_str(), devices[0].reason.as_str()), ("cpu0", "", ""));
    (model.placement().unwrap(), error.message)
}

#[test]
fn a_plugin_of_an_older_header_runs_and_what_it_does_not_know_is_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let (placement, message) = run_probe(&build(folder.path(), older));
    assert_eq!((placement.device.as_str(), placement.engine.as_str()), ("cpu0", ""));
    assert_eq!(placement.nodes_on_device, Some(5));
    assert!(message.contains("gave no reason"), "{message}");
}

#[test]
fn a_plugin_of_a_newer_header_runs_and_what_the_host_does_not_know_stays_away() {
    let folder = tempfile::tempdir().unwrap();
    let (placement, message) = run_probe(&build(folder.path(), newer));
    assert_eq!((placement.device.as_str(), placement.engine.as_str()), ("cpu0", "demo 0.1.0"));
    assert!(placement.read_ns.is_some(), "the host's clock was asked");
    assert!(message.contains("'int8'"), "{message}");
}

#[test]
fn a_plugin_of_an_older_header_fills_what_it_knows() {
    let folder = tempfile::tempdir().unwrap();
    Driven::new(&build(folder.path(), older), Caller::FULL).check(|name, size| match name {
        "sb_device" => size - 64 - 256,
        "sb_placement" => size - 128,
        "sb_timing" => size - 16,
        "sb_error" => 16,
        _ => size,
    });
}

#[test]
fn a_plugin_of_a_newer_header_fills_what_the_caller_has_room_for() {
    let folder = tempfile::tempdir().unwrap();
    let library = build(folder.path(), newer);
    Driven::new(&library, Caller::FULL).check(|_, size| size + 8);
}
