//! The sizes that a load fixes reach the compiler.

use super::real;
use skillbench_testkit::shapes;

#[test]
fn a_fixed_dimension_is_compiled_in() {
    let Some(instance) = real(&[]) else { return };
    shapes::a_fixed_dimension_is_compiled_in(&instance);
}

#[test]
fn a_range_an_empty_size_and_the_option_leave_it_open() {
    let Some(instance) = real(&[]) else { return };
    shapes::a_range_and_an_empty_size_leave_it_open(&instance);
    let Some(dynamic) = real(&[("dynamic_shapes", "true")]) else { return };
    shapes::the_option_leaves_it_open(&dynamic);
}

#[test]
fn one_size_is_fixed_and_another_stays_open() {
    let Some(instance) = real(&[]) else { return };
    shapes::one_size_is_fixed_and_another_stays_open(&instance);
}
