//! Where the host looks for DuckDB's library: beside itself; a debug build where scripts/duckdb puts it for a release.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let here = match std::env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("windows") => return,
        Ok("macos") => "@executable_path",
        _ => "$ORIGIN",
    };
    for folder in [here.to_string(), format!("{here}/../release")] {
        println!("cargo:rustc-link-arg-bins=-Wl,-rpath,{folder}");
    }
}
