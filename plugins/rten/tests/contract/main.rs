//! The backend as the worker sees it: through its C table.

mod errors;
mod running;
mod states;

use skillbench_plugin_api::client::Instance;
use skillbench_rten::RtenBackend;

/// The backend, opened with these options.
fn opened(options: &[(&str, &str)]) -> Instance {
    skillbench_testkit::open::<RtenBackend>(options).unwrap()
}
