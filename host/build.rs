//! Where the host looks for DuckDB's library: beside itself, and where scripts/duckdb puts it while it is being built.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let here = match std::env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("windows") => return,
        Ok("macos") => "@executable_path",
        _ => "$ORIGIN",
    };
    for folder in [here.to_string(), format!("{here}/../duckdb")] {
        println!("cargo:rustc-link-arg-bins=-Wl,-rpath,{folder}");
    }
}
