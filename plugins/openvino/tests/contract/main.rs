//! The backend as the worker sees it: through its C table, on the OpenVINO that `OPENVINO_LIB_PATH` names.

mod devices;
mod errors;
mod precision;
mod profile;
mod running;
mod shapes;
mod states;

use skillbench_openvino::OpenVinoBackend;
use skillbench_plugin_api::Load;
use skillbench_plugin_api::client::Instance;

/// The backend on a real OpenVINO.
fn real(options: &[(&str, &str)]) -> Instance {
    skillbench_testkit::part("OPENVINO_LIB_PATH");
    skillbench_testkit::open::<OpenVinoBackend>(options).unwrap()
}

fn in_precision(precision: &str, load: Load) -> Load {
    Load { precision: Some(precision.into()), ..load }
}
