//! What an ONNX file says of itself, as far as it matters before the page reads it.

use skillbench_onnx::Declared;
use skillbench_onnx::messages::FLOAT;
use skillbench_plugin_api::{Error, Result};
use std::collections::BTreeSet;
use std::path::Path;

/// float16, double, bfloat16, and the floats of 8 and 4 bits.
const OTHER_FLOATS: [i32; 8] = [10, 11, 16, 17, 18, 19, 20, 23];

pub(crate) struct Graph {
    /// Names of the files that hold its weights.
    pub files: Vec<String>,
    /// Open dimensions of its inputs: the input, and the dimension's name where it has one.
    pub open: Vec<(String, Option<String>)>,
    /// Whether all arithmetic on numbers with a fraction is written down in float32.
    pub says_float32: bool,
}

impl Graph {
    /// # Errors
    /// `InvalidArgument` for what is no ONNX model, or keeps weights elsewhere than beside itself.
    pub fn parse(bytes: &[u8], path: &Path) -> Result<Graph> {
        let path = path.display();
        let declared = Declared::of(bytes).map_err(|broken| {
            Error::invalid(format!("{path} is not a whole ONNX model ({broken}): copy or export it again"))
        })?;
        let files = declared.files_beside().map_err(|file| Error::invalid(format!("{path} {file}")))?;
        let files = files.into_iter().map(str::to_string).collect();
        let mut open = vec![];
        for input in &declared.inputs {
            let dims = input.dims().unwrap_or_default().iter().filter(|dim| dim.fixed().is_none());
            open.extend(dims.map(|dim| (input.name.clone(), dim.name().map(str::to_string))));
        }
        Ok(Graph { files, open, says_float32: says_float32(&declared) })
    }
}

fn says_float32(declared: &Declared) -> bool {
    let inputs = declared.inputs.iter().filter_map(|input| input.element());
    let types: BTreeSet<i32> = inputs.chain(declared.all_stored().map(|stored| stored.element)).collect();
    let quantized = |name: &str| ["Quant", "QLinear", "Integer", "NBits"].iter().any(|part| name.contains(part));
    types.contains(&FLOAT)
        && !OTHER_FLOATS.iter().any(|other| types.contains(other))
        && !declared.all_operators().any(quantized)
}
