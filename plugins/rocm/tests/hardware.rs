//! The backend on whatever machine this is: it opens, or says in a sentence with evidence why it cannot. Both are checked;
//! neither is skipped.

use skillbench_plugin_api::Why;
use skillbench_rocm::RocmBackend;
use skillbench_testkit::hardware;

#[test]
fn it_opens_or_says_with_evidence_why_not() {
    let opened = hardware::open::<RocmBackend>();
    for what in ["ONNX Runtime", "/dev/kfd", "libmigraphx_c.so.3", "PCI devices of vendor 1002"] {
        assert!(opened.found(what).is_some(), "{what}: {:?}", opened.evidence);
    }
    let hip = opened.found("libamdhip64.so.7").expect("HIP's library was looked at");
    match &opened.instance {
        Ok(backend) => {
            let devices = backend.devices().unwrap();
            let usable = devices.iter().all(|device| device.why == Why::NONE && device.id.starts_with("gpu"));
            assert!(usable && !devices.is_empty(), "{devices:?}");
            assert!(opened.found("hipGetDeviceCount").is_some());
        }
        Err(error) => {
            hardware::refused_with_a_next_step(error);
            if opened.found("hipGetDeviceCount").is_none() {
                assert!(hip.contains("libamdhip64.so.7") && error.message.contains("libamdhip64"), "{hip}: {error}");
            }
        }
    }
}
