//! Sequences that arrive, alone and side by side, on real engines.

use crate::graphs::{KINDS, Kind};
use crate::proxy::opened;
use crate::stand::{Case, Record, onnxruntime, rten, run_with, serving};
use skillbench_plugin_api::Code;
use skillbench_plugin_api::client::Instance;

/// Requests that come so fast that several are there at once; short sessions.
const LOAD: [(&str, &str); 3] = [("rate", "500"), ("budget_s", "0.3"), ("slo", "ttft.p99<=10s,tpot.p99<=10s")];

/// On a machine that others use too a session may be void, since its requests were late: such a one says nothing, and is played again.
fn serve(instance: &Instance, more: &[(&str, &str)], case: &Case) -> Record {
    let is_void = |record: &Record| {
        record
            .outcome
            .as_ref()
            .is_err_and(|error| ["void", "overloaded"].iter().any(|why| error.message.starts_with(why)))
    };
    let mut record = run_with(&serving(), more, instance, case);
    for _ in 0..20 {
        if !is_void(&record) {
            break;
        }
        record = run_with(&serving(), more, instance, case);
    }
    record
}

#[test]
fn it_is_a_benchmark_of_skills_that_make_tokens() {
    let schema = serving().options_schema();
    assert!(["new_tokens", "slo", "rate", "batch_wait_us"].iter().all(|key| schema.contains(key)), "{schema}");
}

#[test]
fn sequences_side_by_side_are_what_each_is_alone_on_every_engine() {
    for instance in [rten(), onnxruntime()] {
        let record = serve(&instance, &LOAD, &Case { batch: 3, ..Case::new(Kind::Decoder) });
        record.outcome.as_ref().unwrap();
        let told = record.logs.iter().filter(|log| log.contains("up to 3 sequences side by side")).count();
        assert_eq!(record.values("cache_kept_by_backend"), [0.0]);
        assert_eq!(told, 2, "before anything is measured, and after: {:?}", record.logs);
    }
}

#[test]
fn every_request_has_its_tokens_and_their_times_fit_together() {
    for (batch, wait) in [(1, None), (3, None), (3, Some("2000"))] {
        let wait = wait.map(|wait| ("batch_wait_us", wait));
        let load: Vec<(&str, &str)> = LOAD.into_iter().chain(wait).collect();
        let record = serve(&rten(), &load, &Case { batch, ..Case::new(Kind::Decoder) });
        record.outcome.as_ref().unwrap();
        let requests: f64 = record.values("requests").iter().sum();
        let count = requests as usize;
        assert!(count > 0);
        assert_eq!(record.values("tokens").iter().sum::<f64>(), 6.0 * requests);
        assert_eq!(record.values("itl").len(), 5 * count);
        let (ttft, tpot, latency) = (record.values("ttft"), record.values("tpot"), record.values("latency"));
        assert_eq!((ttft.len(), tpot.len(), latency.len()), (count, count, count));
        for ((ttft, tpot), latency) in ttft.iter().zip(tpot).zip(latency) {
            // A time per token is whole nanoseconds.
            assert!((ttft + 5.0 * tpot - latency).abs() <= 5.0, "{ttft} {tpot} {latency}");
        }
        let gaps: f64 = record.values("itl").iter().sum();
        let rest: f64 = latency.iter().zip(ttft).map(|(latency, ttft)| latency - ttft).sum();
        assert!((gaps - rest).abs() <= 1e-3 * rest, "{gaps} {rest}");
        let from_issue = record.values("ttft.from_issue");
        assert!(from_issue.iter().zip(ttft).all(|(issue, due)| issue <= due));
        let together = record.values("requests_per_run");
        assert!(together.iter().all(|mean| (1.0..=batch as f64).contains(mean)), "{together:?}");
    }
}

#[test]
fn requests_of_mixed_lengths_make_as_many_tokens_as_each_is_for() {
    let load: Vec<(&str, &str)> = LOAD.into_iter().chain([("lengths", "uniform")]).collect();
    let tokens = |batch| {
        let record = serve(&rten(), &load, &Case { batch, ..Case::new(Kind::Decoder) });
        record.outcome.as_ref().unwrap();
        let (tokens, requests) = (record.values("tokens"), record.values("requests"));
        assert!(tokens.iter().sum::<f64>() < 6.0 * requests.iter().sum::<f64>());
        (tokens.to_vec(), requests.to_vec())
    };
    assert_eq!(tokens(1), tokens(4), "who is beside them changes nothing of what requests are for");
}

#[test]
fn requests_of_one_token_have_no_time_after_it() {
    for batch in [1, 3] {
        let record = serve(&rten(), &LOAD, &Case { batch, new_tokens: 1, ..Case::new(Kind::Decoder) });
        record.outcome.as_ref().unwrap();
        assert!(record.values("tpot").is_empty() && record.values("itl").is_empty());
        assert_eq!(record.values("ttft"), record.values("latency"));
        assert!(record.values("requests_per_run").iter().all(|requests| *requests == 1.0));
    }
}

#[test]
fn all_at_once_has_rates_and_no_time_from_when_it_was_due() {
    let load = [("scenario", "offline"), ("budget_s", "0.9")];
    let record = serve(&rten(), &load, &Case { batch: 4, ..Case::new(Kind::Decoder) });
    record.outcome.as_ref().unwrap();
    for of_arrival in ["ttft", "ttft.from_issue", "tpot.of_all", "latency"] {
        assert!(record.values(of_arrival).is_empty(), "{of_arrival} would say how many requests there were");
    }
    assert!(!record.values("tpot").is_empty());
    let together = record.values("requests_per_run");
    assert!(together.iter().all(|mean| *mean > 2.0), "with all there, slots are full: {together:?}");
    // Those of the first round are as long as the warm-up said. A sequence is six tokens, and a run one of each.
    let shortest = record.values("session").iter().copied().skip(2).reduce(f64::min).unwrap();
    assert!(
        shortest < 0.9e9,
        "sessions after the first are a third of the budget, too: {:?}",
        record.values("session")
    );
}

#[test]
fn a_model_whose_sequences_cannot_lie_side_by_side_says_why_and_serves_each_alone() {
    for kind in KINDS {
        let alone = serve(&rten(), &LOAD, &Case { batch: 1, ..Case::new(kind) });
        alone.outcome.as_ref().unwrap_or_else(|error| panic!("{kind:?}: {error}"));
        let together = serve(&rten(), &LOAD, &Case { batch: 2, ..Case::new(kind) });
        match kind {
            Kind::Decoder => together.outcome.unwrap(),
            _ => {
                let error = together.outcome.unwrap_err();
                assert_eq!(error.code, Code::Unimplemented, "{kind:?}: {error}");
                assert!(error.message.contains("cannot lie side by side"), "{error}");
                assert_eq!(together.rounds, 0);
            }
        }
    }
}

#[test]
fn an_engine_that_makes_other_tokens_while_it_serves_is_found_out_afterwards() {
    for batch in [1, 3] {
        let case = Case { batch, ..Case::new(Kind::Decoder) };
        let error = serve(&opened("in servers"), &LOAD, &case).outcome.unwrap_err();
        assert_eq!(error.code, Code::WrongOutput, "{error}");
        assert!(error.message.contains("of a sequence that was timed is"), "{error}");
        let well = serve(&opened(""), &LOAD, &case);
        well.outcome.as_ref().unwrap();
        assert_eq!(well.values("tokens_checked"), [8.0], "two of each of four sequences");
    }
}

#[test]
fn an_engine_that_is_blind_to_masks_mixes_sequences_and_is_found_out_before_anything_is_timed() {
    let alone = serve(&opened("blind"), &LOAD, &Case { batch: 1, ..Case::new(Kind::Decoder) });
    alone.outcome.unwrap();
    for (batch, new_tokens) in [(3, 6), (3, 2), (12, 6)] {
        let case = Case { batch, new_tokens, ..Case::new(Kind::Decoder) };
        let together = serve(&opened("blind"), &LOAD, &case);
        let error = together.outcome.unwrap_err();
        assert_eq!(error.code, Code::WrongOutput, "{error}");
        assert!(error.message.contains("beside") && error.message.contains("alone"), "{error}");
        assert_eq!(together.rounds, 0);
    }
}

#[test]
fn what_is_no_load_of_sequences_is_refused() {
    for more in [&[][..], &[("scenario", "single-stream")], &[("rate", "5"), ("slo", "itl.p99<=1s")]] {
        let record = serve(&rten(), more, &Case::new(Kind::Decoder));
        assert_eq!(record.outcome.unwrap_err().code, Code::InvalidArgument, "{more:?}");
    }
    let mixed = [("rate", "50"), ("lengths", "uniform")];
    let record = serve(&rten(), &mixed, &Case { batch: 1, ..Case::new(Kind::EncoderDecoder) });
    assert!(record.outcome.unwrap_err().message.contains("has one length"));
}
