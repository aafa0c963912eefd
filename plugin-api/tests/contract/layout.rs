//! The Rust mirror against what a C compiler makes of the header.

use crate::compile::{Language, compiler, include};
use skillbench_plugin_api::raw::{self, *};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::process::Command;

/// Compiles a program against the header, runs it, and returns what it prints.
fn printed(body: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("main.c"), folder.path().join("main"));
    let text = format!("#include \"skillbench.h\"\n#include <stdio.h>\nint main(void) {{\n{body}return 0;\n}}\n");
    std::fs::write(&source, text).unwrap();
    let include = include();
    let paths = [include.to_str().unwrap(), source.to_str().unwrap(), program.to_str().unwrap()];
    compiler(Language::C, &["-std=c99", "-I", paths[0], paths[1], "-o", paths[2]]).unwrap_or_else(|e| panic!("{e}"));
    String::from_utf8(Command::new(&program).output().unwrap().stdout).unwrap()
}

/// A field's name in C: only `type` is a word of Rust.
fn in_c(field: &str) -> &str {
    field.strip_prefix("r#").unwrap_or(field)
}

fn header() -> String {
    without_comments(skillbench_plugin_api::HEADER)
}

pub fn without_comments(text: &str) -> String {
    let mut rest = text;
    let mut kept = String::new();
    while let Some((before, after)) = rest.split_once("/*") {
        kept.push_str(before);
        rest = after.split_once("*/").expect("every comment ends").1;
    }
    kept + rest
}

#[test]
fn every_struct_has_the_size_and_the_offsets_that_c_gives_it() {
    let (mut body, mut expected) = (String::new(), String::new());
    for (name, size, fields) in raw::layouts() {
        writeln!(body, "printf(\"{name} %zu\\n\", sizeof({name}));").unwrap();
        writeln!(expected, "{name} {size}").unwrap();
        for (field, offset) in fields {
            let field = in_c(field);
            writeln!(body, "printf(\"{name}.{field} %zu\\n\", offsetof({name}, {field}));").unwrap();
            writeln!(expected, "{name}.{field} {offset}").unwrap();
        }
    }
    assert_eq!(printed(&body), expected);
}

#[test]
fn the_mirror_has_every_struct_of_the_header() {
    let header = header();
    let in_header: BTreeSet<&str> = header
        .split("typedef struct ")
        .skip(1)
        .filter(|text| text.split_whitespace().nth(1) == Some("{"))
        .map(|text| text.split_whitespace().next().unwrap())
        .collect();
    let mirrored: BTreeSet<&str> = raw::layouts().iter().map(|(name, ..)| *name).collect();
    assert_eq!(in_header, mirrored);
}

#[test]
fn no_struct_that_grows_ends_in_padding() {
    // A field appended later would lie in what an older provider counts as its own size, and reads as if it were there.
    let mut body = String::new();
    for (name, _, fields) in raw::layouts().iter().filter(|(_, _, fields)| fields[0].0 == "size") {
        let last = in_c(fields[fields.len() - 1].0);
        writeln!(
            body,
            "if (sizeof({name}) != offsetof({name}, {last}) + sizeof((({name} *)0)->{last})) puts(\"{name}\");"
        )
        .unwrap();
    }
    assert_eq!(printed(&body), "");
}

/// Constants of the mirror by name.
macro_rules! constants {
    ($($name:ident)*) => { BTreeMap::from([$((stringify!($name), $name as i64)),*]) };
}

#[test]
fn every_constant_has_the_value_that_c_gives_it() {
    let mirrored = constants! {
        SB_ABI_MAJOR SB_ABI_MINOR SB_OK SB_CANCELLED SB_INVALID_ARGUMENT SB_DEADLINE_EXCEEDED SB_NOT_FOUND SB_RESOURCE_EXHAUSTED
        SB_FAILED_PRECONDITION SB_UNIMPLEMENTED SB_INTERNAL SB_UNAVAILABLE SB_WRONG_OUTPUT SB_WHY_PLATFORM SB_WHY_RUNTIME
        SB_WHY_DRIVER SB_WHY_DEVICE SB_WHY_MODEL SB_WHY_MEMORY SB_WHY_PRECISION SB_HOST_MEMORY SB_INT SB_UINT SB_FLOAT
        SB_BFLOAT SB_COMPLEX SB_BOOL SB_LOG_ERROR SB_LOG_WARN SB_LOG_INFO SB_LOG_DEBUG SB_INPUT SB_OUTPUT SB_CPU SB_GPU
        SB_NPU SB_DSP SB_BROWSER SB_OTHER SB_DEVICE_EMULATED SB_DEVICE_REMOTE SB_BACKEND_SERIAL_LOAD SB_LOAD_ALLOW_FALLBACK SB_LOAD_PROFILE
        SB_OPERATOR_AS_SEEN_BY_HOST
        SB_SCOPE_PROCESS SB_SCOPE_DEVICE SB_SCOPE_PACKAGE SB_SCOPE_BOARD SB_DURATION SB_RATE SB_BYTES SB_JOULES SB_COUNT
        SB_RATIO SB_LOWER_IS_BETTER SB_HIGHER_IS_BETTER SB_NEITHER SB_SERIES_CONCURRENT SB_WARM_UP SB_MEASURED
        SB_BENCHMARK_NEEDS_TARGET SB_BENCHMARK_COLD_START SB_BENCHMARK_SHARES_MODELS
    };
    let header = header();
    let mut named: BTreeSet<&str> = ["SB_ABI_MAJOR", "SB_ABI_MINOR"].into();
    for list in header.split("enum {").skip(1).map(|text| text.split('}').next().unwrap()) {
        named.extend(list.split(',').map(|entry| entry.split('=').next().unwrap().trim()));
    }
    assert_eq!(named, mirrored.keys().copied().collect(), "the mirror lists what the header names");
    let body: String =
        mirrored.keys().map(|name| format!("printf(\"{name} %lld\\n\", (long long){name});\n")).collect();
    let expected: String = mirrored.iter().map(|(name, value)| format!("{name} {value}\n")).collect();
    assert_eq!(printed(&body), expected);
}

#[test]
fn every_id_and_the_unknown_are_the_same_in_c() {
    let body = "puts(SB_BACKEND); puts(SB_BENCHMARKS); puts(SB_SKILLSET); puts(SB_POWER); puts(SB_COUNTERS); puts(SB_PROFILE);\n\
                printf(\"%llu\\n\", (unsigned long long)SB_UNKNOWN);\n";
    let lines = [SB_BACKEND, SB_BENCHMARKS, SB_SKILLSET, SB_POWER, SB_COUNTERS, SB_PROFILE, &SB_UNKNOWN.to_string()];
    assert_eq!(printed(body), lines.map(|line| format!("{line}\n")).concat());
}
