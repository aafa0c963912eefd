//! The backend on whatever machine this is: it opens, or says in a sentence with evidence why it cannot. Both are checked;
//! neither is skipped.

use parking_lot::Mutex;
use skillbench_mps::MpsBackend;
use skillbench_plugin_api::client::BackendRef;
use skillbench_plugin_api::provide::{HostServices, HostTable};
use skillbench_plugin_api::{Code, Options, Why};

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
    let opened = BackendRef::linked::<MpsBackend>().unwrap().open(HostTable::leak(host), &Options::default());
    let evidence = host.0.lock().clone();
    let system = evidence.iter().find(|(what, _)| what == "operating system").expect("the system was looked at");
    match opened {
        Ok(backend) => {
            let devices = backend.devices().unwrap();
            assert!(system.1.contains("macos") && devices.len() == 4, "{devices:?}");
            assert!(devices.iter().all(|device| device.why == Why::NONE), "{devices:?}");
        }
        Err(error) => {
            let expected = if cfg!(target_os = "macos") { Why::RUNTIME } else { Why::PLATFORM };
            assert_eq!((error.code, error.why), (Code::Unavailable, expected), "{error}");
            assert!(error.message.contains("use another") || error.message.contains("install"), "a next step: {error}");
        }
    }
}

#[test]
fn a_wrong_option_is_no_matter_of_the_machine() {
    let options = Options([("units".to_string(), "tpu".to_string())].into());
    let opened = BackendRef::linked::<MpsBackend>()
        .unwrap()
        .open(HostTable::leak(Box::leak(Box::<Listening>::default())), &options);
    assert_eq!(opened.err().unwrap().code, Code::InvalidArgument);
}
