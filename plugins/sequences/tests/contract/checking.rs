//! A cache that does not hold what it should is found out before anything is timed.

use crate::graphs::{KINDS, Kind};
use crate::proxy::opened;
use crate::stand::{Case, run};
use skillbench_plugin_api::Code;

#[test]
fn a_backend_that_keeps_states_in_its_own_way_passes() {
    for kind in KINDS {
        let record = run(&opened(""), &Case { batch: 1, ..Case::new(kind) });
        record.outcome.as_ref().unwrap_or_else(|error| panic!("{kind:?}: {error}"));
        assert_eq!(record.values("cache_kept_by_backend"), [1.0]);
    }
}

#[test]
fn one_that_keeps_nothing_or_not_all_gives_its_outputs_back() {
    for fault in ["none kept", "some kept"] {
        for kind in KINDS {
            let record = run(&opened(fault), &Case { batch: 1, ..Case::new(kind) });
            record.outcome.as_ref().unwrap_or_else(|error| panic!("{fault}, {kind:?}: {error}"));
            // The state space has one state, which is kept.
            let kept = f64::from(u8::from(fault == "some kept" && kind == Kind::StateSpace));
            assert_eq!(record.values("cache_kept_by_backend"), [kept], "{fault}, {kind:?}");
        }
    }
}

#[test]
fn another_failure_of_an_alias_is_no_reason_to_go_on() {
    let record = run(&opened("broken"), &Case::new(Kind::Decoder));
    assert_eq!(record.outcome.unwrap_err().message, "the shelf has fallen down");
}

#[test]
fn a_step_that_is_lost_from_the_cache_is_a_wrong_output() {
    for kind in [Kind::Decoder, Kind::EncoderDecoder, Kind::Image, Kind::OneToken] {
        let record = run(&opened("blank"), &Case { batch: 1, ..Case::new(kind) });
        let error = record.outcome.err().unwrap_or_else(|| panic!("{kind:?} passes: {:?}", record.logs));
        assert_eq!(error.code, Code::WrongOutput, "{kind:?}: {error}");
        assert!(error.message.contains(" steps") && error.message.contains("of the largest"), "{error}");
        assert_eq!(record.rounds, 0, "nothing is timed");
    }
}

#[test]
fn a_state_that_is_not_the_last_ones_is_a_wrong_output() {
    let record = run(&opened("old"), &Case { batch: 1, ..Case::new(Kind::StateSpace) });
    let error = record.outcome.unwrap_err();
    assert_eq!(error.code, Code::WrongOutput);
    assert!(error.message.contains("the state that the backend keeps"), "{error}");
}

#[test]
fn how_far_the_cache_was_off_is_told() {
    let record = run(&opened(""), &Case::new(Kind::Decoder));
    assert!(record.logs.iter().any(|log| log.contains("after 5 steps with the cache")), "{:?}", record.logs);
    let record = run(&opened("none kept"), &Case::new(Kind::StateSpace));
    assert!(record.logs.iter().any(|log| log.contains("nothing to hold the cache against")), "{:?}", record.logs);
}

#[test]
fn tokens_that_are_others_while_they_are_timed_are_found_out_afterwards() {
    let record = run(&opened("in the middle"), &Case::new(Kind::Decoder));
    let error = record.outcome.unwrap_err();
    assert_eq!(error.code, Code::WrongOutput, "{error}");
    assert!(error.message.contains("of a sequence that was timed is"), "{error}");
    let well = run(&opened(""), &Case::new(Kind::Decoder));
    well.outcome.as_ref().unwrap();
    // Two of each of two sequences, four times.
    assert_eq!(well.values("tokens_checked"), [16.0]);
}
