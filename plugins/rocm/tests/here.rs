//! The backend on whatever machine this is: it opens, or says in a sentence with evidence why it cannot. Both are checked;
//! neither is skipped.

use parking_lot::Mutex;
use skillbench_plugin_api::client::BackendRef;
use skillbench_plugin_api::provide::{HostServices, HostTable};
use skillbench_plugin_api::{Code, Options, Why};
use skillbench_rocm::RocmBackend;

#[derive(Default)]
struct Listening(Mutex<Vec<(String, String)>>);

impl HostServices for Listening {
    fn log(&self, _: i32, _: &str, _: &str) {}
    fn phase(&self, _: &str, _: f64) {}
    fn now_ns(&self) -> u64 {
        0
    }
    fn stopping(&self) -> bool {
        false
    }
    fn evidence(&self, what: &str, found: &str) {
        self.0.lock().push((what.into(), found.into()));
    }
}

#[test]
fn it_opens_or_says_with_evidence_why_not() {
    let host: &'static Listening = Box::leak(Box::default());
    let opened = BackendRef::linked::<RocmBackend>().unwrap().open(HostTable::leak(host), &Options::default());
    let evidence = host.0.lock().clone();
    let found = |what: &str| evidence.iter().find(|(name, _)| name == what).map(|(_, found)| found.as_str());
    for what in ["ONNX Runtime", "/dev/kfd", "libmigraphx_c.so.3", "PCI devices of vendor 1002"] {
        assert!(found(what).is_some(), "{what}: {evidence:?}");
    }
    let hip = found("libamdhip64.so.7").expect("HIP's library was looked at");
    match opened {
        Ok(backend) => {
            let devices = backend.devices().unwrap();
            assert!(
                devices.iter().all(|device| device.why == Why::NONE && device.id.starts_with("gpu")),
                "{devices:?}"
            );
            assert!(!devices.is_empty() && found("hipGetDeviceCount").is_some());
        }
        Err(error) => {
            assert_eq!(error.code, Code::Unavailable, "{error}");
            assert!(error.why.0 & (Why::DRIVER.0 | Why::DEVICE.0 | Why::RUNTIME.0) != 0, "{error}");
            let steps = [": use ", "install", "check ", "start the container", "join the groups"];
            assert!(steps.iter().any(|step| error.message.contains(step)), "a next step: {error}");
            assert!(error.message.len() < 500, "it fits the contract's buffer: {error}");
            if found("hipGetDeviceCount").is_none() {
                assert!(hip.contains("libamdhip64.so.7") && error.message.contains("libamdhip64"), "{hip}: {error}");
            }
        }
    }
}
