//! The options that the backends on ONNX Runtime share.

use ort::session::builder::GraphOptimizationLevel;
use skillbench_plugin_api::{Error, Options, Result};

/// How sessions are made.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Threads within an operator; each session has its own.
    pub threads: usize,
    /// Compile for every size of the named dimensions, even where the load fixes them.
    pub dynamic_shapes: bool,
    pub optimization: GraphOptimizationLevel,
}

impl Settings {
    /// Reads the options `threads` (default: as many as the process may use cores), `dynamic_shapes` (default: false) and
    /// `graph_optimization` (default: all).
    ///
    /// # Errors
    /// `InvalidArgument`, naming the option.
    pub fn read(options: &Options) -> Result<Settings> {
        let threads = match options.parse("threads")? {
            Some(threads) => threads,
            None => std::thread::available_parallelism().map_or(1, usize::from),
        };
        let optimization = match options.get("graph_optimization") {
            None | Some("all") => GraphOptimizationLevel::All,
            Some("extended") => GraphOptimizationLevel::Level2,
            Some("basic") => GraphOptimizationLevel::Level1,
            Some("disable") => GraphOptimizationLevel::Disable,
            Some(other) => {
                let text = format!("option graph_optimization: '{other}' is none of disable, basic, extended, all");
                return Err(Error::invalid(text));
            }
        };
        Ok(Settings { threads, dynamic_shapes: options.parse("dynamic_shapes")?.unwrap_or(false), optimization })
    }
}

/// The JSON Schema of a backend's options: those that [`Settings`] and [`find_library`](crate::find_library) read, and the
/// backend's own, each as a literal `"name": { ... }`.
#[macro_export]
macro_rules! options_schema {
    ($($own:literal),* $(,)?) => {
        match ::std::ffi::CStr::from_bytes_with_nul(concat!(
            r#"{
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "threads": {
                "type": "integer",
                "minimum": 1,
                "description": "Threads to compute with on the processor, for each loaded model. Default: as many as the process may use cores."
            },
            "library": {
                "type": "string",
                "format": "path",
                "description": "Path of libonnxruntime, 1.24 or later. Default: what ORT_DYLIB_PATH says."
            },
            "dynamic_shapes": {
                "type": "boolean",
                "default": false,
                "description": "Compile for every batch size and length, in place of those that are measured. Default: false."
            },
            "graph_optimization": {
                "enum": ["disable", "basic", "extended", "all"],
                "default": "all",
                "description": "How far ONNX Runtime may rewrite the graph. Default: all."
            }"#,
            $(",\n            ", $own,)*
            "\n        }\n    }\0"
        ).as_bytes()) {
            Ok(schema) => schema,
            Err(_) => panic!("the schema has a NUL inside"),
        }
    };
}
