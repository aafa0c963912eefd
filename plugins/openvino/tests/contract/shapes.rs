//! The sizes that a load fixes reach the compiler.

use super::{floats, load_of, probe, real};
use skillbench_plugin_api::{Code, Dim, Direction, Load};

fn batch(min: i64, max: i64) -> Load {
    Load { dims: vec![Dim { name: "batch".into(), min, opt: min, max }], ..load_of(&probe()) }
}

#[test]
fn a_fixed_dimension_is_compiled_in() {
    let instance = real(&[]);
    let model = instance.load(&batch(4, 4)).unwrap();
    assert_eq!(model.inputs()[0].shape, [Some(4), Some(64)]);
    assert_eq!(model.outputs()[0].shape, [Some(4), Some(32)]);
    let mut request = model.request().unwrap();
    let three = request.bind(Direction::Input, 0, floats(&[3, 64], &[0.0; 192])).unwrap_err();
    assert_eq!(three.code, Code::InvalidArgument);
    request.bind(Direction::Input, 0, floats(&[4, 64], &[0.0; 256])).unwrap();
    request.run().unwrap();
}

#[test]
fn a_range_an_empty_size_and_the_option_leave_it_open() {
    let instance = real(&[]);
    for load in [batch(1, 8), batch(0, 0)] {
        let model = instance.load(&load).unwrap();
        assert_eq!(model.inputs()[0].shape, [None, Some(64)]);
        assert_eq!(model.inputs()[0].dim_names, [Some("batch".to_string()), None]);
    }
    let open = real(&[("dynamic_shapes", "true")]);
    assert_eq!(open.load(&batch(4, 4)).unwrap().inputs()[0].shape, [None, Some(64)]);
}

#[test]
fn a_second_load_into_the_same_cache_finds_the_first() {
    let (instance, folder) = (real(&[]), tempfile::tempdir().unwrap());
    let load = Load { cache_dir: Some(folder.path().into()), ..batch(4, 4) };
    let hits: Vec<_> = (0..2).map(|_| instance.load(&load).unwrap().placement().unwrap().cache_hit).collect();
    assert_eq!(hits, [Some(false), Some(true)]);
    let other = Load { cache_dir: Some(folder.path().into()), ..batch(5, 5) };
    assert_eq!(instance.load(&other).unwrap().placement().unwrap().cache_hit, Some(false), "other sizes, other code");
    assert_eq!(instance.load(&batch(4, 4)).unwrap().placement().unwrap().cache_hit, None);
}
