//! The header as a vendor's compiler sees it.

use crate::compile::{Language, compiler, include, library_name};
use crate::loading::load;

const STANDARDS: [(Language, &str); 6] = [
    (Language::C, "c99"),
    (Language::C, "c11"),
    (Language::C, "c17"),
    (Language::Cpp, "c++11"),
    (Language::Cpp, "c++17"),
    (Language::Cpp, "c++20"),
];

/// A plugin that uses the header's macros and exports its symbol; C and C++ at once.
const PLUGIN: &str = r#"
#include "skillbench.h"

static sb_status init(const sb_host *host, const char *path, sb_error *error)
{
  (void)path;
  (void)error;
  if (SB_CALL(sb_host, host, now_ns) && host->now_ns(host->ctx) == SB_UNKNOWN)
    return SB_UNAVAILABLE;
  return SB_HAS(sb_host, host, name) && host->name != NULL ? SB_OK : SB_INTERNAL;
}

static const void *factory(const char *id)
{
  (void)id;
  return NULL;
}

const sb_plugin skillbench_plugin = {
  sizeof(sb_plugin), SB_ABI_MAJOR, "tiny", NULL, "1.0.0", NULL, NULL, NULL, init, factory, SB_ABI_MINOR, 0,
};
"#;

fn strict<'a>(language: Language, standard: &'a str, include: &'a str) -> Vec<&'a str> {
    let tongue = if language == Language::C { "c" } else { "c++" };
    let mut flags = vec!["-x", tongue, standard, "-I", include];
    flags.extend(["-pedantic", "-Werror", "-Wall", "-Wextra", "-fvisibility=hidden"]);
    flags
}

#[test]
fn it_is_one_file_that_needs_no_other() {
    let includes: Vec<&str> =
        skillbench_plugin_api::HEADER.lines().filter(|line| line.trim_start().starts_with("#include")).collect();
    assert_eq!(includes, ["#include <stddef.h>", "#include <stdint.h>"]);
}

#[test]
fn it_compiles_alone_and_twice_in_every_standard() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("twice");
    std::fs::write(&source, "#include \"skillbench.h\"\n#include \"skillbench.h\"\n").unwrap();
    for (language, standard) in STANDARDS {
        let (standard, include) = (format!("-std={standard}"), include());
        let mut arguments = strict(language, &standard, include.to_str().unwrap());
        arguments.extend(["-fsyntax-only", source.to_str().unwrap()]);
        compiler(language, &arguments).unwrap_or_else(|error| panic!("{standard}: {error}"));
    }
}

#[test]
fn a_plugin_of_each_released_header_loads_and_tells_its_minor() {
    let folder = tempfile::tempdir().unwrap();
    let released = include().parent().unwrap().join("released");
    // Before 1.1 there was no field for it.
    let of_1_0 = PLUGIN.replace(" SB_ABI_MINOR, 0,", "");
    for (header, text, contract) in
        [(released.join("1.0/include"), of_1_0.as_str(), (1, 0)), (include(), PLUGIN, (1, 1))]
    {
        let source = folder.path().join("tiny.c");
        std::fs::write(&source, text).unwrap();
        let library = folder.path().join(library_name(&format!("of{}{}", contract.0, contract.1)));
        let mut arguments = strict(Language::C, "-std=c99", header.to_str().unwrap());
        arguments.extend(["-fPIC", "-shared", "-o", library.to_str().unwrap(), source.to_str().unwrap()]);
        compiler(Language::C, &arguments).unwrap_or_else(|error| panic!("{error}"));
        let plugin = load(&library).unwrap();
        assert_eq!((plugin.id().as_str(), plugin.contract()), ("tiny", contract));
    }
}

#[test]
fn a_plugin_exports_its_symbol_in_every_standard() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("tiny");
    std::fs::write(&source, PLUGIN).unwrap();
    for (language, standard) in STANDARDS {
        let library = folder.path().join(library_name(&standard.replace('+', "p")));
        let (flag, include) = (format!("-std={standard}"), include());
        let mut arguments = strict(language, &flag, include.to_str().unwrap());
        arguments.extend(["-fPIC", "-shared", "-o", library.to_str().unwrap(), source.to_str().unwrap()]);
        compiler(language, &arguments).unwrap_or_else(|error| panic!("{standard}: {error}"));
        let plugin = load(&library).unwrap_or_else(|error| panic!("{standard}: {error}"));
        assert_eq!((plugin.id(), plugin.name(), plugin.version()), ("tiny".into(), "".into(), "1.0.0".into()));
        plugin.init(crate::loading::host(), &library).unwrap_or_else(|error| panic!("{standard}: {error}"));
        assert!(plugin.backend().unwrap().is_none() && plugin.benchmarks().unwrap().is_empty());
    }
}
