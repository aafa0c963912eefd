//! Tells the code what it is built with, for `host --version --verbose` and the environment of a run (`src/built.rs`).

use std::env;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-env=SKILLBENCH_COMPILER={}", compiler());
    println!("cargo:rustc-env=SKILLBENCH_TARGET={}", env::var("TARGET").unwrap_or_default());
}

/// "rustc 1.95.0 (59807616e 2026-04-14)".
fn compiler() -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let told = Command::new(rustc).arg("--version").output().ok();
    told.and_then(|told| String::from_utf8(told.stdout).ok()).unwrap_or_default().trim().to_string()
}
