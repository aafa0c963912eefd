//! The sizes that a load fixes reach the compiler.

use crate::graphs::{graph, write};
use crate::{floats, load_of, probe};
use skillbench_onnx::Graph;
use skillbench_onnx::messages::{FLOAT, Size, ValueInfo};
use skillbench_plugin_api::client::Instance;
use skillbench_plugin_api::{Code, Dim, Direction, Load};

/// The probe model for a range of batch sizes.
pub fn batch(min: i64, max: i64) -> Load {
    Load { dims: vec![Dim { name: "batch".into(), min, opt: min, max }], ..load_of(&probe::path()) }
}

pub fn a_fixed_dimension_is_compiled_in(instance: &Instance) {
    let model = instance.load(&batch(4, 4)).unwrap();
    assert_eq!(model.inputs()[0].shape, [Some(4), Some(64)]);
    assert_eq!(model.outputs()[0].shape, [Some(4), Some(32)]);
    let mut request = model.request().unwrap();
    let three = request.bind(Direction::Input, 0, floats(&[3, 64], &[0.0; 192])).unwrap_err();
    assert_eq!(three.code, Code::InvalidArgument);
    request.bind(Direction::Input, 0, floats(&[4, 64], &[0.0; 256])).unwrap();
    request.run().unwrap();
}

pub fn a_range_and_an_empty_size_leave_it_open(instance: &Instance) {
    for load in [batch(1, 8), batch(0, 0)] {
        let model = instance.load(&load).unwrap();
        assert_eq!(model.inputs()[0].shape, [None, Some(64)]);
        assert_eq!(model.inputs()[0].dim_names, [Some("batch".to_string()), None]);
    }
}

/// As a decoder needs it: its batch is one size, its length is not.
pub fn one_size_is_fixed_and_another_stays_open(instance: &Instance) {
    let folder = tempfile::tempdir().unwrap();
    let rows =
        |name| ValueInfo::of_tensor(name, FLOAT, vec![Size::Named("batch".into()), Size::Named("length".into())]);
    let graph = Graph { input: vec![rows("x")], output: vec![rows("y")], ..graph("Neg", FLOAT) };
    let length = Dim { name: "length".into(), min: 0, opt: 3, max: 9 };
    let load = Load { dims: vec![Dim::fixed("batch", 2), length], ..load_of(&write(folder.path(), graph)) };
    let model = instance.load(&load).unwrap();
    assert_eq!(model.inputs()[0].shape, [Some(2), None]);
    let mut request = model.request().unwrap();
    for length in [3, 0, 5] {
        let data: Vec<f32> = (0..2 * length).map(|value| value as f32).collect();
        request.bind(Direction::Input, 0, floats(&[2, length], &data)).unwrap();
        request.run().unwrap();
        let output = request.take_output(0).unwrap();
        assert_eq!(output.shape(), [2, length]);
        assert!(output.as_slice::<f32>().unwrap().iter().zip(&data).all(|(have, want)| *have == -want));
    }
    let three = request.bind(Direction::Input, 0, floats(&[3, 1], &[0.0; 3])).unwrap_err();
    assert_eq!(three.code, Code::InvalidArgument);
}

/// With an instance that was opened with `dynamic_shapes`.
pub fn the_option_leaves_it_open(instance: &Instance) {
    assert_eq!(instance.load(&batch(4, 4)).unwrap().inputs()[0].shape, [None, Some(64)]);
}
