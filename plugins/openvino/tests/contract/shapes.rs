//! The sizes that a load fixes reach the compiler.

use super::real;
use skillbench_plugin_api::Load;
use skillbench_testkit::shapes::{self, batch};

#[test]
fn a_fixed_dimension_is_compiled_in() {
    shapes::a_fixed_dimension_is_compiled_in(&real(&[]));
}

#[test]
fn a_range_an_empty_size_and_the_option_leave_it_open() {
    shapes::a_range_and_an_empty_size_leave_it_open(&real(&[]));
    shapes::the_option_leaves_it_open(&real(&[("dynamic_shapes", "true")]));
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

#[test]
fn one_size_is_fixed_and_another_stays_open() {
    shapes::one_size_is_fixed_and_another_stays_open(&real(&[]));
}
