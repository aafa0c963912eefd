use super::*;
use crate::skeleton;
use skillbench_onnx::messages::{DOUBLE, FLOAT, Size, ValueInfo};
use skillbench_onnx::{Declared, messages_of, numbers_of};
use std::collections::{BTreeSet, HashSet};

fn skill(id: &str) -> &'static Skill {
    find(id).unwrap()
}

fn aliases(skill: &Skill) -> Vec<&str> {
    skill.told["aliases"].as_array().unwrap().iter().filter_map(Value::as_str).collect()
}

/// As hosts compare names.
fn folded(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

#[test]
fn a_model_answers_to_its_published_name_with_and_without_the_publisher() {
    assert!(aliases(skill("bert-base")).contains(&"bert-base-uncased"));
    for name in ["google/vit-base-patch16-224", "vit-base-patch16-224"] {
        assert!(aliases(skill("vit-base")).contains(&name), "{name}");
    }
    assert!(aliases(skill("resnet-50")).contains(&"microsoft/resnet-50"));
}

#[test]
fn no_two_skills_answer_to_one_name() {
    let mut seen = HashSet::new();
    for name in all().iter().flat_map(|skill| [skill.id.as_str()].into_iter().chain(aliases(skill))) {
        assert!(seen.insert(folded(name)), "{name} is used twice");
    }
}

#[test]
fn records_are_in_order_so_that_each_is_found() {
    assert!(all().is_sorted_by(|one, other| one.id < other.id));
}

#[test]
fn a_manifest_holds_its_whole_description() {
    for skill in all() {
        let description: Value = serde_json::from_str(&skill.description()).unwrap();
        let manifest: Value = serde_json::from_str(&skill.manifest(Form::Float32)).unwrap();
        // Which forms there are is said before one of them is built.
        let of_forms = ["precisions", "withheld", "form_contents", "operators"];
        for (key, value) in description.as_object().unwrap().iter().filter(|(key, _)| !of_forms.contains(&key.as_str()))
        {
            assert_eq!(&manifest[key], value, "{} of {}", key, skill.id);
        }
        assert!(!manifest["parts"].as_array().unwrap().is_empty(), "{}", skill.id);
    }
}

#[test]
fn what_is_moved_is_counted_where_operations_are_and_of_skills_that_are_there() {
    assert!(traffic().len() > 300);
    for (id, traffic) in traffic() {
        let counted = |list: &Value| -> Vec<Value> {
            list.as_array().unwrap().iter().map(|count| count["axes"].clone()).collect()
        };
        assert!(traffic.kernels > 0, "{id}");
        assert_eq!(counted(&traffic.elements), counted(&skill(id).told["flops"]), "{id}");
        assert!(traffic.elements.as_array().unwrap().iter().all(|count| count["value"].as_f64() > Some(0.0)), "{id}");
    }
}

#[test]
fn the_operators_of_every_graph_are_listed() {
    let graphs: BTreeSet<&str> = crate::skeleton::names().collect();
    let listed: BTreeSet<&str> = operators().keys().map(String::as_str).collect();
    assert_eq!(listed, graphs, "scripts/zoo-operators lists them");
    assert!(operators().values().all(|of| !of.is_empty()));
}

#[test]
fn int8_is_offered_where_ranges_are_measured_and_withheld_with_the_reason_elsewhere() {
    let described = |id: &str| serde_json::from_str::<Value>(&skill(id).description()).unwrap();
    let offers = |described: &Value| described["precisions"].as_array().unwrap().iter().any(|form| form == "int8");
    let (with, without) = (described("bert-tiny"), described("llama-3.1-8b-kv"));
    assert!(offers(&with) && with["withheld"].as_object().unwrap().is_empty());
    assert!(with["form_contents"]["int8"].is_string());
    assert!(!offers(&without) && without["form_contents"].as_object().unwrap().is_empty());
    let why = without["withheld"]["int8"].as_str().unwrap();
    for part in ["'llama-3.1-8b-kv' is not written in int8", "scripts/zoo-ranges", "int8-stored, int4"] {
        assert!(why.contains(part), "{why}");
    }
}

#[test]
fn whatever_is_offered_in_int8_has_a_measured_error_and_so_a_tolerance() {
    for skill in all().iter().filter(|skill| skill.weights.is_none() && skill.offers(Form::Int8)) {
        let manifest: Value = serde_json::from_str(&skill.manifest(Form::Int8)).unwrap();
        let tolerance = manifest["tolerance"]["int8"].as_f64();
        assert!(tolerance.is_some_and(|tolerance| tolerance.is_finite() && tolerance >= 1e-3), "{}", skill.id);
    }
}

/// What is larger, or computes more, is not run by the tests either, and has no measured power.
const LARGEST: u64 = 500_000_000;
const MOST_FLOPS: f64 = 4e11;

/// `scripts/zoo-power` has these before it: nothing says yet that their inputs move their outputs.
const UNMEASURED: [&str; 53] = [
    "bark-small-fine",
    "bark-small-semantic-kv",
    "bartpho-syllable",
    "bartpho-syllable-decoder-kv",
    "bartpho-syllable-encoder-kv",
    "bert-generation-large",
    "bertweet-base",
    "biogpt-kv",
    "clip-italian",
    "clvp-text-encoder",
    "codegen-350m-kv",
    "dino-vits16",
    "fastspeech2-hifigan",
    "herbert-base",
    "hopper-medium-v2-unet",
    "ldm-unet",
    "lfm2-350m",
    "llama-50m-kv",
    "llava-1.5-7b-embed",
    "llava-1.5-7b-vision",
    "llava-1.6-mistral-7b-embed",
    "llava-1.6-mistral-7b-vision",
    "longt5-local",
    "m2m100-418m",
    "m2m100-418m-decoder-kv",
    "m2m100-418m-encoder-kv",
    "mbart-large-50-decoder-kv",
    "mbart-large-50-encoder-kv",
    "medasr",
    "mgp-str-base",
    "moonshine-streaming-tiny",
    "musicgen-small-decoder",
    "nllb-200-600m-decoder-kv",
    "nllb-200-600m-encoder-kv",
    "paligemma-3b-vision",
    "pegasus-x",
    "pegasus-xsum-decoder-kv",
    "pegasus-xsum-encoder-kv",
    "pix2struct-base",
    "pop2piano",
    "qwen2-tiny-kv",
    "qwen3-vl-2b-embed",
    "roberta-prelayernorm-large",
    "sd-controlnet-canny",
    "sd-vae-encoder",
    "sd15-text-encoder",
    "sdxl-text-encoder",
    "stable-diffusion-reduced",
    "t2i-adapter-canny-sdxl",
    "taesd",
    "trocr-base",
    "unispeech-large",
    "univnet",
];

#[test]
fn every_input_of_every_skill_moves_its_outputs() {
    let is_run = |skill: &&Skill| {
        let small = skill.told["parameters"].as_u64().is_some_and(|count| count <= LARGEST);
        let counts = skill.told["flops"].as_array().into_iter().flatten().filter_map(|count| count["value"].as_f64());
        small && counts.reduce(f64::min).is_none_or(|flops| flops <= MOST_FLOPS)
    };
    for id in UNMEASURED {
        assert!(!power().contains_key(id), "{id} was measured: take it off the list");
    }
    for skill in all().iter().filter(is_run).filter(|skill| !UNMEASURED.contains(&skill.id.as_str())) {
        let power =
            power().get(&skill.id).unwrap_or_else(|| panic!("{}: scripts/zoo-power has not measured it", skill.id));
        let moves = power["inputs"]["moves"].as_f64();
        assert!(moves >= Some(5e-3), "{}: {power}", skill.id);
    }
}

#[test]
fn each_name_in_a_dimension_is_an_axis() {
    for skill in all() {
        let axes = skill.told["axes"].as_object().unwrap();
        let description = skill.described();
        let inputs = description["inputs"].as_array().unwrap();
        for name in inputs.iter().flat_map(|input| input["dims"].as_array().unwrap()).filter_map(Value::as_str) {
            for word in name.split(['+', '*']).filter(|word| word.parse::<u64>().is_err()) {
                assert!(axes.contains_key(word), "{word} of {}", skill.id);
            }
        }
    }
}

#[test]
fn the_content_differs_between_skills() {
    let contents: HashSet<String> = all().iter().map(Skill::content).collect();
    assert_eq!(contents.len(), all().len());
}

#[test]
fn an_expression_gets_other_names_by_whole_words() {
    let axes = BTreeMap::from([("sequence".to_string(), "prompt".to_string())]);
    assert_eq!(renamed("past+sequence", &axes), "past+prompt");
    assert_eq!(renamed("Min(128, sequence)*2", &axes), "Min(128, prompt)*2");
    assert_eq!(renamed("encoder_sequence", &axes), "encoder_sequence");
}

#[test]
fn the_hash_is_sha256() {
    assert_eq!(sha256(&[b"a", b"bc"]), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

/// Skills of one skeleton, with their graph.
fn graphs() -> impl Iterator<Item = (&'static Skill, Vec<u8>, Declared)> {
    all().iter().filter(|skill| skill.sha256.is_some()).map(|skill| {
        let model = skeleton::unpack(&skill.id, skill.sha256.as_deref().unwrap()).unwrap();
        let declared = Declared::of(&model).unwrap();
        (skill, model, declared)
    })
}

fn element(port: &ValueInfo) -> &'static str {
    match port.of.as_ref().and_then(|of| of.tensor.as_ref()).map(|tensor| tensor.element) {
        Some(1) => "f32",
        Some(6) => "i32",
        Some(7) => "i64",
        Some(9) => "bool",
        other => panic!("{}: element type {other:?}", port.name),
    }
}

fn dims(port: &ValueInfo) -> Vec<Value> {
    let shape = port.of.clone().and_then(|of| of.tensor).and_then(|tensor| tensor.shape).unwrap();
    let dim = |size: Option<Size>| match size {
        Some(Size::Fixed(size)) => Value::from(size),
        Some(Size::Named(name)) => Value::from(name),
        None => Value::Null,
    };
    shape.dim.into_iter().map(|d| dim(d.size)).collect()
}

#[test]
fn a_record_has_the_ports_of_its_graph() {
    for (skill, _, graph) in graphs() {
        let ports: Vec<(&str, &str)> = graph.inputs.iter().map(|port| (port.name.as_str(), element(port))).collect();
        let told: Vec<(&str, &str)> = skill.inputs.iter().map(|i| (i.name.as_str(), i.dtype.as_str())).collect();
        assert_eq!(ports.iter().collect::<BTreeSet<_>>(), told.iter().collect::<BTreeSet<_>>(), "{}", skill.id);
        let outputs: Vec<&str> = graph.outputs.iter().map(|port| port.name.as_str()).collect();
        assert_eq!(json!(outputs), skill.told["outputs"], "{}", skill.id);
    }
}

/// A dimension that a graph fixes is that number in the record; one that it leaves open goes by the same name.
#[test]
fn a_record_has_the_dimensions_of_its_graph() {
    for (skill, _, graph) in graphs() {
        let rules: BTreeMap<&str, &[Value]> = skill.inputs.iter().map(|i| (i.name.as_str(), &i.dims[..])).collect();
        for port in &graph.inputs {
            let (found, told) = (dims(port), rules[port.name.as_str()]);
            assert_eq!(found.len(), told.len(), "{} of {}", port.name, skill.id);
            for (found, told) in found.iter().zip(told) {
                let plain = |dim: &Value| dim.as_str().map_or_else(|| dim.to_string(), |d| d.replace(' ', ""));
                assert_eq!(plain(found), plain(told), "{} of {}", port.name, skill.id);
            }
        }
    }
}

#[test]
fn a_record_has_the_opset_and_the_parameters_of_its_graph() {
    const OPSETS: u64 = 8;
    const VERSION: u64 = 2;
    for (skill, model, graph) in graphs() {
        let versions: Vec<u64> = messages_of(&model, OPSETS).flat_map(|opset| numbers_of(opset, VERSION)).collect();
        assert_eq!(skill.told["opset"].as_u64(), versions.first().copied(), "{}", skill.id);
        let floats = graph.weights.iter().filter(|weight| [FLOAT, DOUBLE].contains(&weight.element));
        let parameters: u64 = floats.map(|weight| weight.count).sum();
        assert_eq!(skill.told["parameters"].as_u64(), Some(parameters), "{}", skill.id);
    }
}

#[test]
fn operations_are_counted_at_the_axes_of_the_skill() {
    for skill in all() {
        let counts = skill.told["flops"].as_array().unwrap();
        let axes = skill.told["axes"].as_object().unwrap();
        for count in counts {
            let at = count["axes"].as_object().unwrap();
            assert!(count["value"].as_u64().is_some_and(|value| value > 0), "{count} of {}", skill.id);
            assert!(at.keys().collect::<BTreeSet<_>>() == axes.keys().collect(), "{count} of {}", skill.id);
            for (axis, value) in at {
                let (least, most) = (axes[axis][0].as_i64().unwrap(), axes[axis][1].as_i64().unwrap());
                assert!((least..=most).contains(&value.as_i64().unwrap()), "{axis} of {count} of {}", skill.id);
            }
        }
        let (read, parameters) = (skill.told["parameters_read"].as_u64(), skill.told["parameters"].as_u64());
        assert!(read <= parameters, "{}: {read:?} of {parameters:?} are read", skill.id);
        let looks_up = skill.id.ends_with("-embed");
        assert_eq!(counts.is_empty(), looks_up, "{}", skill.id);
        assert!(looks_up || read > Some(0), "{}", skill.id);
    }
}

/// The groups that results are told by.
#[test]
fn every_group_of_the_field_has_a_skill_and_there_is_no_other_group() {
    let groups = |key: &str| {
        let real = all().iter().filter(|skill| skill.told["family"] != "probe");
        real.map(|skill| skill.told[key].as_str().unwrap()).collect::<BTreeSet<_>>()
    };
    let expected = |text: &'static str| text.split(", ").collect::<BTreeSet<_>>();
    assert_eq!(groups("family"), expected("embedding, text_generation, vision, audio, multimodal"));
    let architectures = "encoder-only, decoder-only, encoder-decoder, vision, vision-encoder-text-decoder, speech, \
                         multimodal, diffusion, mixture-of-experts, state-space, rag";
    assert_eq!(groups("architecture"), expected(architectures));
    let categories = "text encoders, text decoders, encoder-decoders, vision, audio, vision-language, multimodal, video, \
                      speech-text, diffusion";
    assert_eq!(groups("category"), expected(categories));
    assert!(all().len() > 275);
}

#[test]
fn each_key_class_has_a_skill_and_a_small_one() {
    let classes = "bert clap clip detr llama llava llava_next qwen2 t5 vit wav2vec2 whisper xclip";
    for key in ["key", "small_of"] {
        let marked: Vec<&str> = all().iter().filter_map(|skill| skill.told.get(key)?.as_str()).collect();
        assert_eq!(marked.len(), 13, "{key}: each class once");
        assert_eq!(marked.iter().copied().collect::<BTreeSet<_>>(), classes.split(' ').collect(), "{key}");
    }
}

#[test]
fn what_generates_names_ports_that_are_there() {
    let mut able = 0;
    for skill in all() {
        let Some(how) = skill.told.get("generation") else { continue };
        able += 1;
        let decoder = skill.parts().into_iter().find(|part| part.name == how["decoder"]).unwrap();
        let graph = find(decoder.skeleton).unwrap();
        let inputs: BTreeSet<&str> = graph.inputs.iter().map(|input| input.name.as_str()).collect();
        let outputs: BTreeSet<&str> =
            graph.told["outputs"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let mut filled = BTreeSet::new();
        for pair in how["state"].as_array().unwrap() {
            assert!(outputs.contains(pair["from"].as_str().unwrap()), "{pair} of {}", skill.id);
            filled.insert(pair["to"].as_str().unwrap());
        }
        for pair in how["before"].as_array().into_iter().flatten().flat_map(|b| b["give"].as_array().unwrap()) {
            filled.insert(pair["to"].as_str().unwrap());
        }
        assert!(filled.is_subset(&inputs), "{}", skill.id);
        let states = inputs.iter().filter(|name| name.starts_with("past_")).copied().collect();
        assert_eq!(filled, states, "{}: each state comes from somewhere", skill.id);
        let tokens = how["tokens"].as_str().or_else(|| how["embed"]["to"].as_str()).unwrap();
        assert!(inputs.contains(tokens) && outputs.contains(how["logits"].as_str().unwrap()), "{}", skill.id);
        for input in ["positions", "mask"].iter().filter_map(|key| how.get(*key)?.as_str()) {
            assert!(inputs.contains(input), "{input} of {}", skill.id);
        }
    }
    assert!(able >= 50, "{able} skills generate");
}

#[test]
fn a_generator_is_a_skill_that_generates() {
    for skill in all() {
        if let Some(generator) = skill.told.get("generator") {
            let generator = find(generator.as_str().unwrap()).unwrap();
            assert!(generator.told.contains_key("generation"), "{}", skill.id);
            assert!(!skill.told.contains_key("generation"), "{}", skill.id);
        }
    }
}

#[test]
fn a_name_that_no_skill_serves_says_why_and_is_no_name_of_a_skill() {
    let served: HashSet<String> =
        all().iter().flat_map(|skill| [skill.id.as_str()].into_iter().chain(aliases(skill))).map(folded).collect();
    for text in descriptions().skip(all().len()) {
        let name: Value = serde_json::from_str(&text).unwrap();
        assert!(!served.contains(&folded(name["id"].as_str().unwrap())), "{text}");
        assert!(name["unavailable"].as_str().is_some_and(|why| why.len() > 5), "{text}");
        if let Some(kin) = name.get("kin") {
            assert!(find(kin.as_str().unwrap()).is_some(), "{text}");
        }
    }
}
