//! Lists the skeletons of `data/`, so that adding one means adding a file.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

const SUFFIX: &str = ".onnx.zst";

fn main() -> io::Result<()> {
    let variable = |name| env::var_os(name).map(PathBuf::from).ok_or_else(|| io::Error::other(format!("no {name}")));
    let data = variable("CARGO_MANIFEST_DIR")?.join("data");
    let table = variable("OUT_DIR")?.join("skeletons.rs");
    fs::write(table, skeletons(&data)?)?;
    println!("cargo::rerun-if-changed=data");
    Ok(())
}

fn skeletons(data: &Path) -> io::Result<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(data)? {
        let file = entry?.file_name().to_string_lossy().into_owned();
        names.extend(file.strip_suffix(SUFFIX).map(str::to_owned));
    }
    names.sort_unstable();
    let mut table = String::from("static SKELETONS: &[(&str, &[u8])] = &[\n");
    for name in names {
        let path = data.join(format!("{name}{SUFFIX}"));
        let _ = writeln!(table, "    ({name:?}, include_bytes!({path:?})),");
    }
    table.push_str("];\n");
    Ok(table)
}
