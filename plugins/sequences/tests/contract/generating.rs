//! Sequences on real engines, and the figures they give.

use crate::graphs::{KINDS, Kind};
use crate::stand::{Case, Record, benchmark, onnxruntime, rten, run};
use skillbench_plugin_api::Code;

/// Two measured rounds of two sequences.
const SEQUENCES: usize = 4;

#[test]
fn it_says_what_it_needs() {
    let generation = benchmark();
    assert_eq!((generation.id().as_str(), generation.version().as_str()), ("generation", "1"));
    assert!(generation.needs_target() && !generation.cold_start());
    assert!(generation.options_schema().contains("\"new_tokens\""));
}

#[test]
fn every_kind_of_model_generates_on_every_engine() {
    for instance in [rten(), onnxruntime()] {
        for kind in KINDS {
            let record = run(&instance, &Case::new(kind));
            record.outcome.as_ref().unwrap_or_else(|error| panic!("{kind:?}: {error}"));
            assert_eq!(record.values("end_to_end").len(), SEQUENCES, "{kind:?}");
            assert_eq!(record.values("cache_kept_by_backend"), [1.0], "{kind:?}");
        }
    }
}

/// The figures of one sequence, which have to fit together.
fn fits(record: &Record, tokens: usize) {
    let (all, first) = (record.values("end_to_end"), record.values("time_to_first_token"));
    let (each, gaps) = (record.values("time_per_output_token"), record.values("inter_token"));
    assert_eq!((first.len(), each.len(), gaps.len()), (SEQUENCES, SEQUENCES, SEQUENCES * (tokens - 1)));
    for sequence in 0..SEQUENCES {
        let own: f64 = gaps[sequence * (tokens - 1)..][..tokens - 1].iter().sum();
        assert!(
            (first[sequence] + own - all[sequence]).abs() <= 1e-6 * all[sequence],
            "the gaps are all that there is"
        );
        let rest = each[sequence] * (tokens - 1) as f64;
        assert!((first[sequence] + rest - all[sequence]).abs() <= 1e-6 * all[sequence]);
    }
}

#[test]
fn first_token_and_gaps_add_up_to_the_whole() {
    let record = run(&rten(), &Case::new(Kind::Decoder));
    fits(&record, 6);
    let items = ["end_to_end", "time_to_first_token", "time_per_output_token", "inter_token"].map(|n| record.items(n));
    assert_eq!(items, [Some(12.0), Some(10.0), Some(2.0), Some(2.0)]);
    assert!(record.series.iter().all(
        |(info, _)| info.unit == "ns" || ["cache_kept_by_backend", "tokens_checked"].contains(&info.name.as_str())
    ));
}

#[test]
fn parts_that_run_once_have_a_series_each_within_the_first_token() {
    for (kind, part) in [(Kind::EncoderDecoder, "part.encoder"), (Kind::Image, "part.vision")] {
        let record = run(&rten(), &Case::new(kind));
        fits(&record, 6);
        let times = record.values(part).iter().zip(record.values("time_to_first_token"));
        assert_eq!(times.len(), SEQUENCES);
        assert!(times.into_iter().all(|(part, first)| part < first));
        assert_eq!(record.series.iter().filter(|(info, _)| info.name.starts_with("part.")).count(), 1);
    }
}

#[test]
fn one_token_has_no_gaps() {
    for kind in KINDS {
        let record = run(&rten(), &Case { new_tokens: 1, ..Case::new(kind) });
        record.outcome.as_ref().unwrap();
        assert!(record.items("inter_token").is_none() && record.items("time_per_output_token").is_none());
        assert_eq!(record.values("end_to_end"), record.values("time_to_first_token"));
    }
}

#[test]
fn every_part_is_verified_before_the_first_round() {
    let verified = |kind| run(&rten(), &Case::new(kind)).verified;
    assert_eq!(verified(Kind::Decoder), [""]);
    assert_eq!(verified(Kind::EncoderDecoder), ["encoder", "decoder"]);
    assert_eq!(verified(Kind::Image), ["vision", "embed", "decoder"]);
}

#[test]
fn a_wrong_output_is_never_timed() {
    let record = run(&rten(), &Case { wrong_output: true, ..Case::new(Kind::Decoder) });
    assert_eq!(record.outcome.unwrap_err().code, Code::WrongOutput);
    assert!(record.series.is_empty() && record.rounds == 0);
}

#[test]
fn the_batch_is_fixed_in_a_load_and_lengths_stay_open() {
    let record = run(&rten(), &Case::new(Kind::Image));
    let dim = |name: &str, min, max| (name.to_string(), min, max);
    let open = vec![dim("batch", 2, 2), dim("past", 0, 14), dim("prompt", 1, 14), dim("sequence", 1, 14)];
    let loads = [("vision", vec![]), ("embed", open.clone()), ("decoder", open)];
    assert_eq!(record.loads, loads.map(|(part, dims)| (part.to_string(), dims)));
    let record = run(&rten(), &Case::new(Kind::EncoderDecoder));
    let decoder = vec![dim("batch", 2, 2), dim("encoder_sequence", 5, 5), dim("past", 0, 7), dim("sequence", 1, 7)];
    assert_eq!(record.loads[1], ("decoder".to_string(), decoder));
}

#[test]
fn batches_and_prompts_of_other_sizes_generate_too() {
    for (batch, prompt) in [(1, 1), (3, 20)] {
        for kind in KINDS {
            let record = run(&onnxruntime(), &Case { batch, prompt, ..Case::new(kind) });
            record.outcome.as_ref().unwrap_or_else(|error| panic!("{kind:?} {batch} x {prompt}: {error}"));
            assert_eq!(record.items("time_to_first_token"), Some((batch * prompt) as f64));
        }
    }
}

#[test]
fn a_run_that_is_stopped_ends_within_a_token() {
    for stops_after in [0, 1, 12, 20] {
        let record = run(&rten(), &Case { stops_after, ..Case::new(Kind::Decoder) });
        assert_eq!(record.outcome.unwrap_err().code, Code::Cancelled, "{stops_after}");
    }
}

#[test]
fn a_skill_that_does_not_generate_is_refused_before_it_is_loaded() {
    for manifest in ["", "{}"] {
        let record = run(&rten(), &Case { manifest: Some(manifest.into()), ..Case::new(Kind::Decoder) });
        let error = record.outcome.unwrap_err();
        assert_eq!(error.code, Code::Unimplemented);
        assert!(error.message.contains("small does not say how it generates"), "{error}");
        assert!(record.loads.is_empty());
    }
}

#[test]
fn a_port_that_the_graph_has_not_is_named() {
    let manifest = r#"{ "generation": { "decoder": "", "tokens": "words", "logits": "logits", "axes": { "sequence": "prompt" } } }"#;
    let record = run(&rten(), &Case { manifest: Some(manifest.into()), ..Case::new(Kind::Decoder) });
    let error = record.outcome.unwrap_err();
    assert!(error.message.contains("no input 'words'") && error.message.contains("input_ids"), "{error}");
}

#[test]
fn numbers_that_cannot_be_are_refused() {
    for (prompt, new_tokens) in [(0, 4), (4, 0), (4, 100_001)] {
        let record = run(&rten(), &Case { prompt, new_tokens, ..Case::new(Kind::Decoder) });
        assert_eq!(record.outcome.unwrap_err().code, Code::InvalidArgument);
        assert!(record.loads.is_empty());
    }
}
