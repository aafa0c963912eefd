//! `host plugin new`: a vendor's first plugin, from the templates in `host/templates`.

use super::{Done, Exit, failed, plugin_id, usage};
use crate::cli::Language;
use crate::output;
use skillbench_engine::registry::library_file_name;
use std::path::Path;

/// File name and text of each file of a template.
type Template = &'static [(&'static str, &'static str)];

macro_rules! template {
    ($folder:literal: $($name:literal from $source:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../", $folder, "/", $source)))),*]
    };
}

const RUST: Template = template!("host/templates/rust":
    "Cargo.toml" from "Cargo.toml.in",
    "README.md" from "README.md",
    "src/lib.rs" from "src/lib.rs",
    "src/model.rs" from "src/model.rs",
    "src/net.rs" from "src/net.rs",
    "src/onnx.rs" from "src/onnx.rs",
    "src/operators.rs" from "src/operators.rs",
    "src/protobuf.rs" from "src/protobuf.rs",
    "src/request.rs" from "src/request.rs",
    "src/weights.rs" from "src/weights.rs",
);

const C: Template = template!("tests/fixtures/c-backend":
    "Makefile" from "Makefile",
    "README.md" from "README.md",
    "contract.c" from "contract.c",
    "contract.h" from "contract.h",
    "engine.c" from "engine.c",
    "engine.h" from "engine.h",
    "model.c" from "model.c",
    "onnx.c" from "onnx.c",
    "onnx.h" from "onnx.h",
    "operators.c" from "operators.c",
    "operators.h" from "operators.h",
    "plugin.c" from "plugin.c",
    "plugin.h" from "plugin.h",
    "protobuf.c" from "protobuf.c",
    "protobuf.h" from "protobuf.h",
    "request.c" from "request.c",
    "weights.c" from "weights.c",
    "weights.h" from "weights.h",
);

/// The crate this host was built with; a vendor elsewhere names their copy with `--api`.
const OWN_API: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../plugin-api");

pub fn new(name: &str, language: Language, directory: &Path, api: Option<&Path>) -> Done {
    let name = plugin_id(name)?;
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        return Err(usage(format!("'{name}' cannot name a crate: begin with a letter")));
    }
    let folder = directory.join(name);
    if folder.exists() {
        return Err(usage(format!("{} is there already", folder.display())));
    }
    let (template, next) = match language {
        // Cargo names a library by its crate, in which '-' is '_'.
        Language::Rust => (
            RUST,
            format!(
                "cargo build --release, then: host plugin check target/release/{}",
                library_file_name(&name.replace('-', "_"))
            ),
        ),
        Language::C => (C, format!("make, then: host plugin check {}", library_file_name(name))),
    };
    let api = api.unwrap_or(Path::new(OWN_API));
    let api = std::fs::canonicalize(api).unwrap_or_else(|_| api.to_path_buf());
    let files = template.iter().map(|(file, text)| (*file, fill(text, name, &api)));
    let header = matches!(language, Language::C).then(|| ("skillbench.h", skillbench_plugin_api::HEADER.to_string()));
    for (file, text) in files.chain(header) {
        let path = folder.join(file);
        let written = path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&path, text));
        written.map_err(|error| failed(format!("{}: {error}", path.display())))?;
    }
    output::say(&format!("wrote {}; next, in it: {next}", folder.display()));
    Ok(Exit::Good)
}

fn fill(text: &str, name: &str, api: &Path) -> String {
    let identifier = name.replace('-', "_");
    text.replace("@NAME@", name).replace("@IDENT@", &identifier).replace("@API@", &api.display().to_string())
}
