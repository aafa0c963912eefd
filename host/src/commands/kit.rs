//! `host plugin sdk` and `host plugin new`: the vendors' kit that the host carries, and a plugin's folder made from it.
//!
//! The kit is `host/kit` with the header and the Rust SDK. How a plugin's folder is laid out stands in its script `new` alone.

use super::{CommandError, Done, Exit, failed, plugin_id, usage};
use crate::cli::{Kind, Language};
use crate::output;
use skillbench_engine::registry::library_file_name;
use skillbench_record::scratch;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Path in the kit and text of each file.
const KIT: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/kit.rs"));

/// Where the kit has the SDK's `Cargo.toml`, without a version; and where it belongs.
const MANIFEST: (&str, &str) = ("sdk/Cargo.toml.in", "sdk/skillbench-plugin-api/Cargo.toml");

/// The program that holds a plugin against the rules without a host.
const VALIDATOR: &str = "skillbench-check";

pub fn sdk(folder: &Path) -> Done {
    if folder.exists() {
        return Err(usage(format!("{} is there already", folder.display())));
    }
    write(folder)?;
    if let Err(error) = add_validator(folder) {
        output::warning(&format!(
            "the kit is without {VALIDATOR}, which checks a plugin where there is no host: {error}"
        ));
    }
    output::say(&format!(
        "wrote {folder}; next: README.md in it, or `sh {folder}/try host`, which builds, checks and measures its templates",
        folder = folder.display()
    ));
    Ok(Exit::Good)
}

/// Copies the validator, which lies beside this program.
fn add_validator(kit: &Path) -> std::io::Result<()> {
    let name = format!("{VALIDATOR}{}", std::env::consts::EXE_SUFFIX);
    let from = std::env::current_exe()?.canonicalize()?.with_file_name(&name);
    let failed = |error| std::io::Error::other(format!("{}: {error}", from.display()));
    std::fs::copy(&from, kit.join(&name)).map(|_| ()).map_err(failed)
}

fn write(kit: &Path) -> Result<(), CommandError> {
    for (file, text) in KIT {
        let (file, text) = match *file == MANIFEST.0 {
            true => (MANIFEST.1, text.replace("@VERSION@", env!("CARGO_PKG_VERSION"))),
            false => (*file, text.to_string()),
        };
        let path = kit.join(file);
        let written = path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&path, text));
        written.map_err(|error| failed(format!("{}: {error}", path.display())))?;
    }
    Ok(())
}

pub fn new(name: &str, language: Language, kind: Kind, directory: &Path) -> Done {
    let name = plugin_id(name)?;
    let folder = directory.join(name);
    let scratch = scratch::folder().map_err(|error| failed(format!("no scratch folder: {error}")))?;
    let kit: PathBuf = scratch.path().join("kit");
    write(&kit)?;
    let mut script = Command::new("sh");
    script.arg(kit.join("new")).args([name, language.name(), kind.name()]).arg(&folder);
    let ended = script.output().map_err(|error| failed(format!("a template is laid out by `sh`: {error}")))?;
    if !ended.status.success() {
        let told = String::from_utf8_lossy(&ended.stderr).trim().to_string();
        return Err(if ended.status.code() == Some(2) { usage(told) } else { failed(told) });
    }
    let (build, library) = match language {
        // Cargo names a library by its crate, in which '-' is '_'.
        Language::Rust => {
            ("cargo build --release", format!("target/release/{}", library_file_name(&name.replace('-', "_"))))
        }
        Language::C | Language::Cpp | Language::Zig => ("make", format!("./{}", library_file_name(name))),
    };
    output::say(&format!("wrote {}; next, in it: {build}, then: host plugin check {library}", folder.display()));
    Ok(Exit::Good)
}
