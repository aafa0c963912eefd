//! The options, read.

use skillbench_plugin_api::{Error, Options, Result, Why};
use std::ffi::OsString;
use std::path::PathBuf;

/// How models are compiled.
pub(crate) struct Settings {
    pub threads: usize,
    /// Compile for every size of the named dimensions, even where the load fixes them.
    pub dynamic_shapes: bool,
    /// Compile for many inferences at once, in place of the shortest one.
    pub throughput: bool,
}

impl Settings {
    /// # Errors
    /// `InvalidArgument`, naming the option.
    pub fn read(options: &Options) -> Result<Settings> {
        let threads = match options.parse("threads")? {
            Some(0) => return Err(Error::invalid("option threads: 0 threads compute nothing: ask for 1 or more")),
            Some(threads) => threads,
            None => std::thread::available_parallelism().map_or(1, usize::from),
        };
        let throughput = match options.get("performance_hint") {
            None | Some("latency") => false,
            Some("throughput") => true,
            Some(other) => {
                let text = format!("option performance_hint: '{other}' is neither latency nor throughput");
                return Err(Error::invalid(text));
            }
        };
        Ok(Settings { threads, dynamic_shapes: options.parse("dynamic_shapes")?.unwrap_or(false), throughput })
    }
}

/// Where libopenvino_c is: the option `library`, else the environment's `OPENVINO_LIB_PATH`.
///
/// # Errors
/// `Unavailable`, with the command that installs it, where neither says.
pub(crate) fn library(options: &Options) -> Result<PathBuf> {
    let given = |path: &OsString| !path.is_empty();
    let option = options.get("library").map(OsString::from).filter(given);
    let path = option.or_else(|| std::env::var_os("OPENVINO_LIB_PATH").filter(given));
    path.map(PathBuf::from).ok_or_else(|| {
        let text = "OpenVINO is not installed: run `host runtime install openvino`, or set OPENVINO_LIB_PATH to \
                    libopenvino_c.so";
        Error::unavailable(Why::RUNTIME, text)
    })
}
