//! The backend as the worker sees it: through its C table, in the real browser that `scripts/test` names.

mod errors;
mod running;

use skillbench_plugin_api::client::Instance;
use skillbench_testkit::part;
use skillbench_webnn::WebnnBackend;

/// The backend in the real browser.
fn opened() -> Instance {
    let (browser, ort_web) = (part("SKILLBENCH_TEST_BROWSER"), part("SKILLBENCH_TEST_ORT_WEB"));
    skillbench_testkit::open::<WebnnBackend>(&[("browser", &browser), ("ort_web", &ort_web)]).unwrap()
}
