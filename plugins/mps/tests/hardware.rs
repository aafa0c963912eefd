//! The backend on whatever machine this is: it opens, or says in a sentence with evidence why it cannot. Both are checked;
//! neither is skipped.

use skillbench_mps::MpsBackend;
use skillbench_plugin_api::{Code, Why};
use skillbench_testkit::{errors, hardware};

#[test]
fn it_opens_or_says_with_evidence_why_not() {
    let opened = hardware::open::<MpsBackend>();
    let system = opened.found("operating system").expect("the system was looked at");
    match &opened.instance {
        Ok(backend) => {
            let devices = backend.devices().unwrap();
            assert!(system.contains("macos") && devices.len() == 4, "{devices:?}");
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
    errors::options_are_named_where_they_do_not_parse::<MpsBackend>(&[("units", "tpu")]);
}
