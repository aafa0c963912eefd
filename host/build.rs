//! Where the host looks for DuckDB's library: beside itself; a debug build where scripts/duckdb puts it for a release.
//! And the vendors' kit, whose files the host carries (`src/commands/kit.rs`).

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    look_for_duckdb();
    carry_the_kit()
}

fn look_for_duckdb() {
    let here = match env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("windows") => return,
        Ok("macos") => "@executable_path",
        _ => "$ORIGIN",
    };
    for folder in [here.to_string(), format!("{here}/../release")] {
        println!("cargo:rustc-link-arg-bins=-Wl,-rpath,{folder}");
    }
}

/// What the kit is made of: a folder or a file from here, and where it lies in the kit.
const KIT: [(&str, &str); 4] = [
    ("kit", ""),
    ("../plugin-api/include", "include"),
    ("../plugin-api/include", "sdk/skillbench-plugin-api/include"),
    ("../plugin-api/src", "sdk/skillbench-plugin-api/src"),
];

/// Writes `KIT: &[(path in the kit, text)]`.
fn carry_the_kit() -> io::Result<()> {
    let mut files = vec![];
    for (from, to) in KIT {
        println!("cargo:rerun-if-changed={from}");
        files_below(&fs::canonicalize(from)?, Path::new(to), &mut files)?;
    }
    files.sort();
    let entries = files.iter().map(|(to, from)| format!("    ({to:?}, include_str!({from:?})),\n"));
    let text = format!("&[\n{}]\n", entries.collect::<String>());
    fs::write(Path::new(&env::var("OUT_DIR").expect("cargo sets OUT_DIR")).join("kit.rs"), text)
}

fn files_below(folder: &Path, to: &Path, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let to = to.join(path.file_name().unwrap_or_default());
        match path.is_dir() {
            true => files_below(&path, &to, files)?,
            false => files.push((to.to_string_lossy().replace('\\', "/"), path)),
        }
    }
    Ok(())
}
