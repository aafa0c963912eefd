//! Models that load and run.

use crate::graphs::{twice_and_inverse, weighted_by, write};
use crate::probe::{self, INPUT, OUTPUT};
use crate::{Sizes, booleans, close, floats, integers, taken};
use skillbench_plugin_api::client::Instance;
use skillbench_plugin_api::{Code, DType, Dim, Direction, Load, Placement};

pub fn the_probe_model_answers_as_computed_by_hand(instance: &Instance, sizes: Sizes) {
    let model = instance.load(&sizes.load(&probe::path(), &[("batch", 2)])).unwrap();
    let (input, output) = (&model.inputs()[0], &model.outputs()[0]);
    assert_eq!((input.name.as_str(), input.dtype, output.dtype), ("x", DType::F32, DType::F32));
    let (batch, name) = match sizes {
        Sizes::Open => (None, Some("batch".to_string())),
        Sizes::Fixed => (Some(2), None),
    };
    assert_eq!((&input.shape[..], &input.dim_names[..]), (&[batch, Some(64)][..], &[name, None][..]));
    assert_eq!(output.shape, [batch, Some(32)]);
    let (x, y) = probe::expected();
    assert!(close(&probe::run(&model, &x), &y));
    if sizes == Sizes::Open {
        assert!(close(&probe::run(&model, &x[..INPUT]), &y[..OUTPUT]), "and for another batch size");
    }
}

/// For backends that write outputs where they are bound.
pub fn outputs_go_where_they_are_bound(instance: &Instance, dims: Vec<Dim>) {
    let model = instance.load(&Load { dims, ..crate::load_of(&probe::path()) }).unwrap();
    let (x, y) = probe::expected();
    let mut request = probe::bound(&model, &x);
    let memory = floats(&[2, OUTPUT], &[0.0; 2 * OUTPUT]);
    request.bind(Direction::Output, 0, memory.clone()).unwrap();
    request.run().unwrap();
    assert!(close(memory.as_slice().unwrap(), &y), "written in place");
    assert_eq!(request.take_output(0).err().unwrap().code, Code::FailedPrecondition, "it is the caller's memory");

    request.leave_output(0).unwrap();
    assert_eq!(request.take_output(0).err().unwrap().code, Code::FailedPrecondition, "no run since");
    request.run().unwrap();
    let first = request.take_output(0).unwrap().to_host().unwrap();
    assert_eq!(request.take_output(0).err().unwrap().code, Code::FailedPrecondition, "an output is taken once");
    request.bind(Direction::Input, 0, floats(&[2, INPUT], &[0.0; 2 * INPUT])).unwrap();
    request.run().unwrap();
    assert!(close(first.as_slice().unwrap(), &y), "later runs do not write what was taken");
    assert!(!close(&taken::<f32>(&mut request, 0), &y), "and read what was bound last");
    assert!(close(memory.as_slice().unwrap(), &y), "nor memory that was bound before");
}

/// What every backend tells of the probe model in float32; the rest is for its own test to look at.
pub fn what_ran_is_told(instance: &Instance, sizes: Sizes) -> Placement {
    let load = Load { precision: Some("float32".into()), ..sizes.load(&probe::path(), &[("batch", 1)]) };
    let placement = instance.load(&load).unwrap().placement().unwrap();
    assert_eq!(placement.precision, "float32");
    assert!(placement.read_ns.is_some_and(|ns| ns > 0) && placement.compile_ns.is_some_and(|ns| ns > 0));
    assert_eq!((placement.cache_hit, placement.upload_ns), (None, None), "what is unknown is not told");
    placement
}

pub fn requests_run_at_once_and_do_not_mix(instance: &Instance, sizes: Sizes, times: usize) {
    let model = instance.load(&sizes.load(&probe::path(), &[("batch", 1)])).unwrap();
    let (x, y) = probe::expected();
    std::thread::scope(|scope| {
        for (x, y) in x.chunks(INPUT).zip(y.chunks(OUTPUT)) {
            let model = &model;
            scope.spawn(move || (0..times).for_each(|_| assert!(close(&probe::run(model, x), y))));
        }
    });
}

/// With integers as far from zero as `large`, which the backend can add to itself.
pub fn integers_booleans_and_nothing_at_all(instance: &Instance, large: i64) {
    let folder = tempfile::tempdir().unwrap();
    let model = instance.load(&crate::load_of(&write(folder.path(), twice_and_inverse()))).unwrap();
    let mut request = model.request().unwrap();
    request.bind(Direction::Input, 0, integers(&[3], &[1, -2, large])).unwrap();
    request.bind(Direction::Input, 1, booleans(&[3], &[true, false, true])).unwrap();
    request.run().unwrap();
    assert_eq!(taken::<i64>(&mut request, 0), [2, -4, 2 * large]);
    let inverse = request.take_output(1).unwrap();
    assert_eq!((inverse.dtype(), inverse.bytes()), (DType::Bool, &[0, 1, 0][..]));

    request.bind(Direction::Input, 0, integers(&[0], &[])).unwrap();
    request.bind(Direction::Input, 1, booleans(&[0], &[])).unwrap();
    request.run().unwrap();
    assert_eq!(request.take_output(0).unwrap().shape(), [0]);
}

pub fn weights_are_read_from_the_file_beside_the_graph(instance: &Instance, sizes: Sizes) {
    let folder = tempfile::tempdir().unwrap();
    let weights: Vec<u8> = [1.0f32, 2.0, 3.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    std::fs::write(folder.path().join("model.onnx.data"), weights).unwrap();
    let path = write(folder.path(), weighted_by("model.onnx.data"));
    let model = instance.load(&sizes.load(&path, &[("n", 3)])).unwrap();
    let mut request = model.request().unwrap();
    for factor in [1.0, 2.0] {
        request.bind(Direction::Input, 0, floats(&[3], &[factor, factor, 2.0 * factor])).unwrap();
        request.run().unwrap();
        assert_eq!(taken::<f32>(&mut request, 0), [factor, 2.0 * factor, 6.0 * factor]);
    }
}
