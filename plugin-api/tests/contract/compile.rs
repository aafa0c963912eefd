//! Building plugins: with the C and C++ compilers of this machine, and with cargo.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};
use std::process::Command;

pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies in the repository").to_path_buf()
}

/// The folder of `skillbench.h`.
pub fn include() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("include")
}

pub fn fixtures() -> PathBuf {
    repository().join("tests/fixtures")
}

pub fn library_name(name: &str) -> String {
    format!("{DLL_PREFIX}{name}{DLL_SUFFIX}")
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Language {
    C,
    Cpp,
}

/// Runs the compiler.
///
/// # Errors
/// What it says.
pub fn compiler(language: Language, arguments: &[&str]) -> Result<(), String> {
    let (variable, default) = if language == Language::C { ("CC", "cc") } else { ("CXX", "c++") };
    let program = std::env::var(variable).unwrap_or_else(|_| default.into());
    let output = Command::new(&program).args(arguments).output().unwrap_or_else(|e| panic!("{program}: {e}"));
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{program} {arguments:?}\n{}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// Compiles C files into a library in `folder`; `flags` come first.
pub fn c_library(folder: &Path, name: &str, flags: &[&str], sources: &[PathBuf]) -> PathBuf {
    let library = folder.join(library_name(name));
    let mut arguments = vec!["-std=c99", "-pedantic", "-Wall", "-Wextra", "-fvisibility=hidden", "-fPIC", "-O1"];
    arguments.extend(flags);
    let paths: Vec<&str> = sources.iter().map(|path| path.to_str().expect("a path in UTF-8")).collect();
    arguments.extend(["-shared", "-o", library.to_str().expect("a path in UTF-8")]);
    arguments.extend(&paths);
    compiler(Language::C, &arguments).unwrap_or_else(|error| panic!("{error}"));
    library
}

/// Puts the C template into `folder` as the plugin "demo", each file as `edit` returns it, and the header beside it.
pub fn install_c_template(folder: &Path, edit: impl Fn(&str, String) -> String) {
    for entry in std::fs::read_dir(repository().join("tests/fixtures/c-backend")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&path).unwrap().replace("@NAME@", "demo").replace("@IDENT@", "demo");
        std::fs::write(folder.join(name), edit(name, text)).unwrap();
    }
    let header = std::fs::read_to_string(include().join("skillbench.h")).unwrap();
    std::fs::write(folder.join("skillbench.h"), edit("skillbench.h", header)).unwrap();
}

/// Builds the C template as its vendor does, with its Makefile; every warning is an error.
pub fn make_c_template(folder: &Path) -> PathBuf {
    install_c_template(folder, |_, text| text);
    let output = Command::new("make").args(["CFLAGS=-O2 -Werror"]).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder.join(library_name("demo"))
}

/// Compiles what `install_c_template` put there.
pub fn c_template(folder: &Path) -> PathBuf {
    let mut sources: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    sources.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    c_library(folder, "demo", &["-Werror"], &sources)
}

/// The fixture in C++, which shares the C template's ONNX reader.
pub fn cpp_plugin(folder: &Path) -> PathBuf {
    install_c_template(folder, |_, text| text);
    let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let mut objects = Vec::new();
    for name in ["onnx", "protobuf", "weights", "contract"] {
        let (source, object) = (at(&format!("{name}.c")), at(&format!("{name}.o")));
        let arguments = ["-std=c99", "-fvisibility=hidden", "-fPIC", "-O1", "-c", &source, "-o", &object];
        compiler(Language::C, &arguments).unwrap_or_else(|error| panic!("{error}"));
        objects.push(object);
    }
    let library = folder.join(library_name("cpp"));
    let sources = ["plugin.cpp", "graph.cpp"].map(|name| fixtures().join("cpp").join(name));
    let mut arguments = vec!["-std=c++17", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden", "-fPIC"];
    arguments.extend(["-O1", "-shared", "-I", folder.to_str().unwrap(), "-o", library.to_str().unwrap()]);
    arguments.extend(sources.iter().map(|source| source.to_str().unwrap()));
    arguments.extend(objects.iter().map(String::as_str));
    compiler(Language::Cpp, &arguments).unwrap_or_else(|error| panic!("{error}"));
    library
}

/// Builds a cdylib of the workspace, in the profile of this test, and returns its library.
pub fn cargo_library(package: &str) -> PathBuf {
    cargo(&["-p", package], &repository())
}

/// Builds the Rust template of the kit as the plugin "demo-rust" in `folder`, against the SDK of this tree.
pub fn rust_template(folder: &Path) -> PathBuf {
    let source = repository().join("host/kit/templates/rust/backend/lib.rs");
    rust_plugin(folder, "demo-rust", &source, Path::new(env!("CARGO_MANIFEST_DIR")))
}

/// Builds a plugin of one source file against an SDK, as a crate of the kit.
pub fn rust_plugin(folder: &Path, name: &str, source: &Path, sdk: &Path) -> PathBuf {
    rust_crate(folder, name, "src/lib.rs", source, sdk, |manifest| manifest);
    cargo(&["--offline"], folder)
}

/// Builds a program of one source file against an SDK.
pub fn cargo_program(folder: &Path, name: &str, source: &Path, sdk: &Path) -> PathBuf {
    rust_crate(folder, name, "src/main.rs", source, sdk, |manifest| {
        manifest.replace("[lib]\ncrate-type = [\"cdylib\"]\n", "")
    });
    let messages = cargo_messages(&["--offline"], folder);
    let program = messages.iter().filter_map(|message| message["executable"].as_str()).next_back();
    program.expect("cargo built a program").into()
}

fn rust_crate(folder: &Path, name: &str, file: &str, source: &Path, sdk: &Path, edit: fn(String) -> String) {
    let sdk = sdk.to_str().expect("a path in UTF-8").replace('\\', "/");
    let install = |from: &Path, to: &str, edit: fn(String) -> String| {
        let text = std::fs::read_to_string(from).unwrap();
        let filled = edit(text.replace("@NAME@", name).replace("sdk/skillbench-plugin-api", &sdk));
        std::fs::write(folder.join(to), filled).unwrap();
    };
    std::fs::create_dir(folder.join("src")).unwrap();
    install(&repository().join("host/kit/templates/rust/Cargo.toml.in"), "Cargo.toml", edit);
    install(source, file, |text| text);
}

fn cargo(arguments: &[&str], folder: &Path) -> PathBuf {
    let messages = cargo_messages(arguments, folder);
    let mut files = messages
        .iter()
        .filter(|message| message["target"]["crate_types"][0] == "cdylib")
        .filter_map(|message| message["filenames"].as_array())
        .flatten()
        .filter_map(|file| file.as_str().filter(|file| file.ends_with(DLL_SUFFIX)));
    files.next_back().expect("cargo built a library").into()
}

fn cargo_messages(arguments: &[&str], folder: &Path) -> Vec<serde_json::Value> {
    // The test's program lies in target/PROFILE/deps.
    let program = std::env::current_exe().unwrap();
    let target = program.ancestors().nth(3).unwrap();
    let mut command = Command::new(env!("CARGO"));
    command.args(["build", "--message-format=json"]).args(arguments).arg("--target-dir").arg(target);
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    let output = command.current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let messages = String::from_utf8(output.stdout).unwrap();
    let messages: Vec<serde_json::Value> =
        messages.lines().map(|line| serde_json::from_str(line).expect("a message of cargo")).collect();
    let warning = messages.iter().find(|message| message["message"]["level"] == "warning");
    assert!(warning.is_none(), "{}", warning.unwrap()["message"]["rendered"].as_str().unwrap_or_default());
    messages
}
