//! A suite as a request for a run.

use super::SuiteFile;
use skillbench_models::user_models::custom;
use skillbench_record::load::limits;
use skillbench_record::suggest::did_you_mean;
use skillbench_record::{BackendChoice, OptionChoice, RunRequest, Selection};
use std::collections::HashSet;
use std::path::absolute;

/// The families that models are sorted by.
pub const FAMILIES: [&str; 5] = ["embedding", "text_generation", "vision", "audio", "multimodal"];

/// What to run for a suite.
///
/// # Errors
/// An option that is none, or a list of models that cannot be read, in one sentence.
pub fn to_request(suite: &SuiteFile) -> Result<RunRequest, String> {
    let mut models = suite.models.clone();
    for file in &suite.model_list {
        let places = custom::read_lines(file).map_err(|error| error.to_string())?;
        models.extend(places.iter().map(custom::Place::as_name));
    }
    models.extend(suite.model_families.values().flatten().cloned());
    let mut once = HashSet::new();
    models.retain(|model| once.insert(model.clone()));
    let mut request = RunRequest {
        backends: suite.hardware_types.iter().map(|text| BackendChoice::parse(text)).collect(),
        include_web_platforms: suite.include_web_platforms,
        models,
        selection: Selection {
            set: suite.models_set,
            small: suite.small_models,
            keys: suite.specific_models.clone(),
            families: suite.families.clone(),
            categories: suite.benchmark_category.clone(),
            // A run may be resumed from another folder.
            custom: suite.custom_models.as_ref().map(|file| absolute(file).unwrap_or_else(|_| file.clone())),
        },
        benchmarks: suite.benchmarks.clone(),
        batch_sizes: suite.batch_sizes.clone(),
        sequence_lengths: suite.sequence_lengths.clone(),
        image_sizes: suite.image_sizes.clone(),
        audio_seconds: suite.audio_seconds.clone(),
        frames: suite.frames.clone(),
        prompt_lengths: suite.prompt_lengths.clone(),
        new_tokens: suite.new_tokens.clone(),
        rates: suite.rates.clone(),
        batch_wait_ms: suite.batch_wait_ms.clone(),
        dims: suite.dims.clone(),
        concurrent_workers: suite.workers,
        threads: suite.threads,
        options: suite.options.iter().map(|text| OptionChoice::parse(text)).collect::<Result<_, _>>()?,
        precision: suite.precision.clone(),
        verify_only: suite.verify_only,
        ..RunRequest::default()
    };
    serving(suite, &mut request);
    how(suite, &mut request);
    Ok(request)
}

/// The plugin and the benchmark of requests that arrive, and the benchmark of those that make tokens.
const SERVING: &str = "serving";
const OF_TOKENS: &str = "generation-serving";
/// What limits of tokens begin with.
const TOKEN_LIMITS: [&str; 2] = ["ttft.", "tpot."];

/// What is asked of the benchmarks of requests that arrive; one of them is meant where no other is named.
pub fn serving(suite: &SuiteFile, request: &mut RunRequest) {
    let by_mlperf = suite.mlperf.then(|| "on".to_string());
    // However it is written, it is the same measurement.
    let slo = suite.slo.as_deref().map(limits);
    let generator_cores = suite.generator_cores.map(|cores| cores.to_string());
    let asked = [
        ("scenario", &suite.scenario),
        ("arrivals", &suite.arrivals),
        ("slo", &slo),
        ("generator_cores", &generator_cores),
        ("mlperf", &by_mlperf),
    ];
    let options = asked.into_iter().filter_map(|(key, value)| {
        Some(OptionChoice { plugin: Some(SERVING.into()), key: key.into(), value: value.clone()? })
    });
    request.options.extend(options);
    let is_limit_of_tokens = |limit: &str| TOKEN_LIMITS.iter().any(|name| limit.starts_with(name));
    let limits_tokens = slo.as_ref().is_some_and(|slo| slo.split(',').any(is_limit_of_tokens));
    let is_told =
        request.options.iter().any(|option| [SERVING, OF_TOKENS].map(Some).contains(&option.plugin.as_deref()));
    let serves = is_told || !(request.rates.is_empty() && request.batch_wait_ms.is_empty());
    if request.benchmarks.is_empty() && serves {
        let makes_tokens = limits_tokens || !(request.new_tokens.is_empty() && request.prompt_lengths.is_empty());
        request.benchmarks.push(if makes_tokens { OF_TOKENS } else { SERVING }.into());
    }
    if limits_tokens {
        // Only requests that make tokens keep or break such a limit.
        request.benchmarks.iter_mut().filter(|name| *name == SERVING).for_each(|name| *name = OF_TOKENS.into());
    }
}

/// Has a request measured the way a suite says, where it says something. What is measured stays as it is.
pub fn how(suite: &SuiteFile, request: &mut RunRequest) {
    fn set<T: Clone>(place: &mut Option<T>, value: &Option<T>) {
        if value.is_some() {
            place.clone_from(value);
        }
    }
    set(&mut request.iterations, &suite.benchmark_iterations);
    set(&mut request.warmup, &suite.warmup_iterations);
    set(&mut request.timeout_s, &suite.timeout);
    set(&mut request.memory_limit_mb, &suite.memory_limit);
    set(&mut request.budget_s, &suite.budget);
    set(&mut request.seed, &suite.seed);
    set(&mut request.cool_down_s, &suite.cool_down);
    set(&mut request.launches, &suite.launches);
    set(&mut request.wait_quiet_s, &suite.wait_quiet);
    request.no_verify |= suite.no_verify || suite.benchmark_only;
    request.no_precheck |= suite.benchmark_only;
    request.no_fix |= suite.no_fix;
    request.no_resource_pool |= !suite.use_resource_pool;
    request.parallel |= suite.parallel;
    request.profile |= suite.profile || suite.profile_detailed;
    request.profile_operators |= suite.profile_detailed;
}

/// One sentence for each key of a suite's file that is not acted on as it stands.
pub fn left_undone(suite: &SuiteFile) -> Vec<String> {
    let mut told: Vec<String> = vec![];
    for family in suite.model_families.keys().filter(|family| !FAMILIES.contains(&family.as_str())) {
        let hint = did_you_mean(family, FAMILIES);
        told.push(format!(
            "model_families: '{family}' is no family that is known here{hint}; its models are run all the same"
        ));
    }
    if !suite.names_models() {
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
        let (request, told) = (to_request(&suite).unwrap(), left_undone(&suite));
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
        let (request, told) = (to_request(&suite).unwrap(), left_undone(&suite));
        assert!(request.no_resource_pool && request.parallel, "what is acted on is not told");
        let keys = ["model_families", "schedule"];
        assert_eq!(told.len(), keys.len());
        assert!(told.iter().zip(keys).all(|(sentence, key)| sentence.starts_with(key)), "{told:?}");
        assert!(told[0].contains("did you mean vision?"));
        assert_eq!(left_undone(&SuiteFile::default()), ["model_families: it names no model; the default set is run"]);
    }
}
