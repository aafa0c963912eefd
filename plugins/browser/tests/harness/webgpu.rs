//! The same harness with WebGPU.

use super::{answer, open, probe_on};
use skillbench_plugin_api::{Load, Why};

#[test]
fn webgpu_computes_what_webnn_computes() {
    let (instance, _) = open(&[]);
    let device = &instance.devices().unwrap()[1];
    assert_eq!((device.id.as_str(), device.why), ("webgpu", Why::NONE), "{}", device.reason);
    let load = Load { precision: Some("float32".into()), ..probe_on(1) };
    let model = instance.load(&load).unwrap();
    let placement = model.placement().unwrap();
    assert_eq!((placement.device.as_str(), placement.precision.as_str()), ("webgpu", "float32"));
    assert_eq!((placement.nodes_total, placement.nodes_on_device), (Some(3), Some(3)));
    let webnn = answer(&instance.load(&probe_on(0)).unwrap());
    assert!(answer(&model).iter().zip(&webnn).all(|(a, b)| (a - b).abs() < 1e-5));
}
