//! Colours and markers are the same everywhere, and can be told apart.

use std::collections::{BTreeMap, BTreeSet};

use skillbench_charts::{ChartError, Look, Rgb};

fn rgb(text: &str) -> Rgb {
    Rgb::parse("", text).unwrap()
}

#[test]
fn known_hardware_has_the_colours_people_know() {
    let look = Look::default();
    for (id, colour) in [
        ("cpu", "#1f77b4"),
        ("cuda", "#ec6f00"),
        ("rocm", "#2ca02c"),
        ("mps", "#d62728"),
        ("openvino", "#9c73c2"),
        ("qnn", "#90584d"),
        ("qualcomm", "#90584d"),
        ("CUDA", "#ec6f00"),
    ] {
        assert_eq!(look.colour(id), rgb(colour), "{id}");
    }
}

#[test]
fn no_two_known_ids_share_a_colour_and_no_two_architectures_a_marker() {
    let look = Look::default();
    let ids: Vec<&str> = look.hardware().collect();
    for wanted in ["rten", "webgpu", "webnn", "vendor-ep"] {
        assert!(ids.contains(&wanted));
    }
    assert_eq!(ids.iter().map(|id| look.colour(id)).collect::<BTreeSet<_>>().len(), ids.len());
    let architectures: Vec<&str> = look.architectures().collect();
    assert_eq!(architectures.len(), 11);
    assert_eq!(architectures.iter().map(|name| look.marker(name)).collect::<BTreeSet<_>>().len(), 11);
}

#[test]
fn colours_stand_out_from_light_and_from_dark_paper() {
    let look = Look::default();
    for id in look.hardware() {
        let colour = look.colour(id);
        assert!(colour.contrast(rgb("#ffffff")) >= 3.0, "{id} on white");
        assert!(colour.contrast(rgb("#16181d")) >= 3.0, "{id} on near-black");
    }
    // Those that most machines have stand together in most charts.
    for (one, other) in [("cpu", "openvino"), ("cpu", "rten"), ("openvino", "rten"), ("cpu", "cuda")] {
        let apart = look.colour(one).contrast(look.colour(other));
        assert!(apart >= 1.15, "{one} and {other} without their hues: {apart}");
    }
}

#[test]
fn an_unknown_id_has_a_stable_colour_that_no_known_one_has() {
    let look = Look::default();
    let known: BTreeSet<Rgb> = look.hardware().map(|id| look.colour(id)).collect();
    for index in 0..500 {
        let id = format!("vendor-{index}");
        assert!(!known.contains(&look.colour(&id)), "{id}");
        assert_eq!(look.colour(&id), Look::default().colour(&id));
    }
    assert_eq!(look.colour("gaudi"), rgb("#5c8a00"), "the colour of a name is the same in every version");
    let different: BTreeSet<Rgb> = (0..500).map(|index| look.colour(&format!("vendor-{index}"))).collect();
    assert!(different.len() >= 15);
}

#[test]
fn an_entry_may_set_a_colour_and_nobody_else_gets_it() {
    let taken = Look::default().colour("gaudi");
    let colours =
        BTreeMap::from([("mine".to_owned(), String::from(taken)), ("qualcomm".to_owned(), "#123456".to_owned())]);
    let look = Look::with_colours(&colours).unwrap();
    assert_eq!(look.colour("mine"), taken);
    assert_ne!(look.colour("gaudi"), taken);
    let others =
        ["npu", "tpu", "fpga", "hailo", "axelera"].into_iter().filter(|id| Look::default().colour(id) != taken);
    others.for_each(|id| assert_eq!(look.colour(id), Look::default().colour(id), "{id} keeps its colour"));
    assert_eq!(look.colour("qnn"), rgb("#123456"));
    assert!(look.hardware().any(|id| id == "mine"));
}

#[test]
fn a_colour_that_is_none_is_refused_with_its_id() {
    for wrong in ["", "red", "#12345", "#1234567", "123456", "#12345g", "#ä2345"] {
        let error = Look::with_colours(&BTreeMap::from([("mine".to_owned(), wrong.to_owned())])).unwrap_err();
        assert!(matches!(error, ChartError::Colour { .. }));
        assert!(error.to_string().contains("mine") && error.to_string().contains("#rrggbb"));
    }
}

/// What an eye without one kind of cone makes of a colour, after Machado, Oliveira and Fernandes (2009).
fn seen(colour: Rgb, matrix: [[f64; 3]; 3]) -> [f64; 3] {
    let linear = [colour.0, colour.1, colour.2].map(|byte| (f64::from(byte) / 255.0).powf(2.2));
    let rgb = matrix.map(|row| row.iter().zip(linear).map(|(weight, part)| weight * part).sum::<f64>().max(0.0));
    let [l, m, s] = [
        0.4122 * rgb[0] + 0.5363 * rgb[1] + 0.0514 * rgb[2],
        0.2119 * rgb[0] + 0.6807 * rgb[1] + 0.1074 * rgb[2],
        0.0883 * rgb[0] + 0.2817 * rgb[1] + 0.6300 * rgb[2],
    ]
    .map(f64::cbrt);
    [0.2105 * l + 0.7936 * m - 0.0041 * s, 1.978 * l - 2.4286 * m + 0.4506 * s, 0.0259 * l + 0.7828 * m - 0.8087 * s]
}

#[test]
fn the_colours_chosen_here_can_be_told_apart_without_red_or_green_cones() {
    let look = Look::default();
    let deuteranopia = [[0.3673, 0.8606, -0.2280], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]];
    let protanopia = [[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]];
    for matrix in [deuteranopia, protanopia] {
        for own in ["rten", "webgpu", "webnn", "vendor-ep"] {
            for other in look.hardware().filter(|id| *id != own) {
                let (one, two) = (seen(look.colour(own), matrix), seen(look.colour(other), matrix));
                let distance = one.iter().zip(two).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                assert!(distance > 0.07, "{own} and {other} are {distance:.3} apart");
            }
        }
    }
}
