//! A skillset of one model, whose files are in the library.

use skillbench_plugin_api::sdk::{Host, Skillset};
use skillbench_plugin_api::{Error, Options, Result};
use std::ffi::{CStr, CString};
use std::path::Path;
use std::sync::LazyLock;

const FILES: [(&str, &[u8]); 2] =
    [("skill.json", include_bytes!("../skill/skill.json")), ("model.onnx", include_bytes!("../skill/model.onnx"))];

pub struct Skills;

impl Skillset for Skills {
    const ID: &'static CStr = c"stable-example";
    const SUMMARY: &'static CStr = c"One small perceptron";

    fn descriptions() -> &'static [CString] {
        static DESCRIPTIONS: LazyLock<Vec<CString>> = LazyLock::new(|| CString::new(FILES[0].1).into_iter().collect());
        &DESCRIPTIONS
    }

    fn build(_host: Host, skill: &str, _options: &Options, directory: &Path) -> Result<()> {
        if skill != "stable-mlp" {
            return Err(Error::not_found(format!("there is no skill '{skill}' here, only stable-mlp")));
        }
        let write = |(name, bytes): (&str, &[u8])| {
            let path = directory.join(name);
            std::fs::write(&path, bytes).map_err(|error| Error::internal(format!("{}: {error}", path.display())))
        };
        FILES.into_iter().try_for_each(write)
    }
}
