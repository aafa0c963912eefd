//! The backend on whatever machine this is: it opens, or says in a sentence with evidence why it cannot. Both are checked;
//! neither is skipped.

use skillbench_cuda::CudaBackend;
use skillbench_plugin_api::Why;
use skillbench_testkit::hardware;

#[test]
fn it_opens_or_says_with_evidence_why_not() {
    let opened = hardware::open::<CudaBackend>();
    for what in ["ONNX Runtime", "libcudart.so.13"] {
        assert!(opened.found(what).is_some(), "{what}: {:?}", opened.evidence);
    }
    let driver = opened.found("libcuda.so.1").expect("the driver's library was looked at");
    match &opened.instance {
        Ok(backend) => {
            let devices = backend.devices().unwrap();
            let usable = devices.iter().find(|device| device.why == Why::NONE).expect("a usable device");
            assert!(driver.starts_with('/') && usable.memory_bytes.is_some(), "{usable:?}");
            assert!(devices.iter().all(|device| device.why == Why::NONE || !device.reason.is_empty()), "{devices:?}");
        }
        Err(error) => {
            hardware::refused_with_a_next_step(error);
            if error.why.0 & Why::DRIVER.0 != 0 && !driver.starts_with('/') {
                assert!(driver.contains("libcuda.so.1") && error.message.contains("libcuda.so.1"), "{driver}: {error}");
                assert!(opened.found("/dev/nvidia0").is_some() && opened.found("PCI devices of vendor 10de").is_some());
            }
        }
    }
}
