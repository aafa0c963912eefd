//! The counts of the graphs of the zoo, which another shape inference made (scripts/zoo-flops, scripts/zoo-traffic), against those that the
//! host makes of a graph that nobody counted.

use serde_json::Value;
use skillbench_models::count::{Uncounted, Work, read_by_each, work};
use skillbench_models::{InputRule, evaluate};
use skillbench_onnx::Outline;
use skillbench_record::Axes;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

const ZOO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plugins/zoo/data");

fn rows(file: &str) -> BTreeMap<String, Value> {
    let text = std::fs::read_to_string(Path::new(ZOO).join(file)).unwrap();
    let rows: Vec<Value> = serde_json::from_str(&text).unwrap();
    rows.into_iter().map(|row| (row["id"].as_str().unwrap().to_string(), row)).collect()
}

fn outline(id: &str) -> Outline {
    let packed = std::fs::read(Path::new(ZOO).join(format!("{id}.onnx.zst"))).unwrap();
    let mut graph = vec![];
    ruzstd::decoding::StreamingDecoder::new(&packed[..]).unwrap().read_to_end(&mut graph).unwrap();
    Outline::of(&graph).unwrap()
}

fn counted(outline: &Outline, skill: &Value, axes: &Axes) -> Result<Work, Uncounted> {
    let inputs: Vec<InputRule> = serde_json::from_value(skill["inputs"].clone()).unwrap();
    let size = |rule| usize::try_from(evaluate(rule, axes).unwrap()).unwrap();
    work(outline, &inputs.iter().map(|input| (input.name.clone(), input.dims.iter().map(size).collect())).collect())
}

#[test]
fn what_the_host_counts_in_a_graph_of_the_zoo_is_what_the_scripts_counted() {
    let (skills, traffic) = (rows("skills.json"), rows("traffic.json"));
    let (mut same, mut apart, mut uncounted) = (0, vec![], vec![]);
    for (id, row) in &traffic {
        let (skill, outline) = (&skills[id], outline(id));
        let (known, read) = (skill["parameters_read"].as_u64(), read_by_each(&outline));
        if known != Some(read) {
            apart.push(format!("{id} reads {read} parameters, not {known:?}"));
        }
        for point in row["elements"].as_array().unwrap() {
            let axes: Axes = serde_json::from_value(point["axes"].clone()).unwrap();
            let flops = skill["flops"].as_array().unwrap();
            let flops = flops.iter().find(|count| count["axes"] == point["axes"]).unwrap()["value"].as_f64().unwrap();
            let expected = Work {
                operations: flops,
                elements: point["value"].as_f64().unwrap(),
                kernels: row["kernels"].as_u64().unwrap(),
            };
            match counted(&outline, skill, &axes) {
                Ok(found) if found == expected => same += 1,
                Ok(found) => apart.push(format!("{id} at {axes:?}: {found:?}, not {expected:?}")),
                Err(why) => uncounted.push(format!("{id} at {axes:?}: {why}")),
            }
        }
    }
    // The scripts' inference takes what an inverse DFT makes for a single number, and counts one element.
    apart.retain(|line: &String| !line.starts_with("mega-base "));
    assert_eq!((apart, uncounted), (vec![], vec![]));
    assert!(same > 500, "{same}");
}
