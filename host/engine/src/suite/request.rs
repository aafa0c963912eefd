//! A suite as a request for a run.

use super::SuiteFile;
use skillbench_record::suggest::did_you_mean;
use skillbench_record::{BackendChoice, RunRequest};

/// The families that models are sorted by.
const FAMILIES: [&str; 5] = ["embedding", "text_generation", "vision", "audio", "multimodal"];

/// What to run for a suite, and one sentence for each key of it that this host does not act on.
pub fn to_request(suite: &SuiteFile) -> (RunRequest, Vec<String>) {
    let request = RunRequest {
        backends: suite.hardware_types.iter().map(|text| BackendChoice::parse(text)).collect(),
        include_web_platforms: suite.include_web_platforms,
        models: models(suite),
        batch_sizes: suite.batch_sizes.clone(),
        sequence_lengths: suite.sequence_lengths.clone(),
        iterations: suite.benchmark_iterations,
        warmup: suite.warmup_iterations,
        timeout_s: suite.timeout,
        no_resource_pool: !suite.use_resource_pool,
        parallel: suite.parallel,
        ..RunRequest::default()
    };
    (request, left_undone(suite))
}

/// Every model once, in the order of the file.
fn models(suite: &SuiteFile) -> Vec<String> {
    let mut models: Vec<String> = vec![];
    for model in suite.model_families.values().flatten() {
        if !models.contains(model) {
            models.push(model.clone());
        }
    }
    models
}

fn left_undone(suite: &SuiteFile) -> Vec<String> {
    let mut told: Vec<String> = vec![];
    for family in suite.model_families.keys().filter(|family| !FAMILIES.contains(&family.as_str())) {
        let hint = did_you_mean(family, FAMILIES);
        told.push(format!(
            "model_families: '{family}' is no family that is known here{hint}; its models are run all the same"
        ));
    }
    if suite.model_families.values().all(Vec::is_empty) {
        told.push("model_families: it names no model; the default set is run".into());
    }
    let keys = [(
        suite.schedule.as_ref().is_some_and(|schedule| schedule.enabled),
        "schedule: the suite is run now, and once; `host schedule FILE` sets up what runs it again",
    )];
    told.extend(keys.into_iter().filter(|(set, _)| *set).map(|(_, text)| text.to_string()));
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::Schedule;

    #[test]
    fn what_a_suite_asks_for_is_what_is_run() {
        let families = [
            ("vision".to_string(), vec!["resnet-50".to_string()]),
            ("embedding".to_string(), vec!["bert-tiny".to_string(), "resnet-50".to_string()]),
        ];
        let suite = SuiteFile {
            batch_sizes: vec![2],
            sequence_lengths: vec![64],
            warmup_iterations: Some(0),
            benchmark_iterations: Some(7),
            timeout: Some(1.5),
            hardware_types: vec!["openvino:GPU".into()],
            include_web_platforms: true,
            model_families: families.into(),
            ..SuiteFile::default()
        };
        let (request, told) = to_request(&suite);
        assert_eq!(request.models, ["bert-tiny", "resnet-50"]);
        assert_eq!((request.batch_sizes, request.sequence_lengths), (vec![2], vec![64]));
        assert_eq!((request.warmup, request.iterations, request.timeout_s), (Some(0), Some(7), Some(1.5)));
        assert_eq!(request.backends, [BackendChoice::parse("openvino:GPU")]);
        assert!(request.include_web_platforms && told.is_empty(), "{told:?}");
    }

    #[test]
    fn each_key_that_nothing_is_done_about_is_told() {
        let suite = SuiteFile {
            parallel: true,
            generate_plots: true,
            use_resource_pool: false,
            schedule: Some(Schedule { enabled: true, frequency: None, time: None }),
            model_families: [("visoin".to_string(), vec!["resnet-50".to_string()])].into(),
            ..SuiteFile::default()
        };
        let (request, told) = to_request(&suite);
        assert!(request.no_resource_pool && request.parallel, "what is acted on is not told");
        let keys = ["model_families", "schedule"];
        assert_eq!(told.len(), keys.len());
        assert!(told.iter().zip(keys).all(|(sentence, key)| sentence.starts_with(key)), "{told:?}");
        assert!(told[0].contains("did you mean vision?"));
        assert_eq!(to_request(&SuiteFile::default()).1, ["model_families: it names no model; the default set is run"]);
    }
}
