//! The backend as the worker sees it: through its C table, against real servers and against one that fails in every way.

mod faults;
mod served;
mod server;

use server::Server;
use skillbench_endpoint::EndpointBackend;
use skillbench_plugin_api::Result;
use skillbench_plugin_api::client::Instance;

fn opened(url: &str, options: &[(&str, &str)]) -> Result<Instance> {
    skillbench_testkit::open::<EndpointBackend>(&[&[("url", url)], options].concat())
}

impl Server {
    fn opened(&self, options: &[(&str, &str)]) -> Instance {
        opened(&self.url, options).unwrap()
    }
}
