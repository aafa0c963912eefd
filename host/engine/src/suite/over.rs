//! What is named next to a suite counts in place of what the suite says.

use super::{FAMILIES, SuiteFile};
use std::collections::BTreeMap;
use std::path::Path;

impl SuiteFile {
    /// Whether it says which models are measured.
    pub fn names_models(&self) -> bool {
        let named = self.model_families.values().any(|models| !models.is_empty());
        let apart = |suite: SuiteFile| SuiteFile { model_families: BTreeMap::new(), ..suite };
        named || apart(self.clone()) != apart(self.clone().without_models())
    }

    fn without_models(self) -> SuiteFile {
        SuiteFile {
            models: vec![],
            model_list: vec![],
            models_set: None,
            custom_models: None,
            small_models: false,
            specific_models: vec![],
            families: vec![],
            benchmark_category: vec![],
            model_families: BTreeMap::new(),
            ..self
        }
    }

    /// This suite, with what `named` says in place of what it says itself. Models are one thing: where `named` says any, none of this suite
    /// stays. A family among their names means its models in this suite, or where it has none those of the family.
    #[must_use]
    pub fn with(self, named: SuiteFile) -> SuiteFile {
        let suite = match named.names_models() {
            true => named.clone().models_from(&self).over_models_of(self),
            false => self,
        };
        fn list<T>(named: Vec<T>, own: Vec<T>) -> Vec<T> {
            if named.is_empty() { own } else { named }
        }
        SuiteFile {
            batch_sizes: list(named.batch_sizes, suite.batch_sizes),
            sequence_lengths: list(named.sequence_lengths, suite.sequence_lengths),
            image_sizes: list(named.image_sizes, suite.image_sizes),
            audio_seconds: list(named.audio_seconds, suite.audio_seconds),
            frames: list(named.frames, suite.frames),
            prompt_lengths: list(named.prompt_lengths, suite.prompt_lengths),
            new_tokens: list(named.new_tokens, suite.new_tokens),
            rates: list(named.rates, suite.rates),
            batch_wait_ms: list(named.batch_wait_ms, suite.batch_wait_ms),
            scenario: named.scenario.or(suite.scenario),
            arrivals: named.arrivals.or(suite.arrivals),
            slo: named.slo.or(suite.slo),
            generator_cores: named.generator_cores.or(suite.generator_cores),
            mlperf: named.mlperf || suite.mlperf,
            warmup_iterations: named.warmup_iterations.or(suite.warmup_iterations),
            benchmark_iterations: named.benchmark_iterations.or(suite.benchmark_iterations),
            budget: named.budget.or(suite.budget),
            timeout: named.timeout.or(suite.timeout),
            memory_limit: named.memory_limit.or(suite.memory_limit),
            cool_down: named.cool_down.or(suite.cool_down),
            wait_quiet: named.wait_quiet.or(suite.wait_quiet),
            launches: named.launches.or(suite.launches),
            seed: named.seed.or(suite.seed),
            benchmarks: list(named.benchmarks, suite.benchmarks),
            hardware_types: list(named.hardware_types, suite.hardware_types),
            include_web_platforms: named.include_web_platforms || suite.include_web_platforms,
            threads: named.threads.or(suite.threads),
            workers: named.workers.or(suite.workers),
            precision: named.precision.or(suite.precision),
            options: list(named.options, suite.options),
            parallel: named.parallel || suite.parallel,
            use_resource_pool: named.use_resource_pool && suite.use_resource_pool,
            verify_only: named.verify_only || suite.verify_only,
            benchmark_only: named.benchmark_only || suite.benchmark_only,
            no_verify: named.no_verify || suite.no_verify,
            no_fix: named.no_fix || suite.no_fix,
            profile: named.profile || suite.profile,
            profile_detailed: named.profile_detailed || suite.profile_detailed,
            generate_plots: named.generate_plots || suite.generate_plots,
            update_compatibility_matrix: named.update_compatibility_matrix && suite.update_compatibility_matrix,
            limits: [suite.limits, named.limits].concat(),
            dims: if named.dims.is_empty() { suite.dims } else { named.dims },
            schedule: named.schedule.or(suite.schedule),
            ..suite
        }
    }

    /// Families among the names of models, as what they mean next to a suite. A path that is there is a path.
    fn models_from(self, suite: &SuiteFile) -> SuiteFile {
        let (mut models, mut families) = (vec![], self.families.clone());
        for name in &self.models {
            match suite.model_families.get(name) {
                _ if Path::new(name).exists() => models.push(name.clone()),
                Some(own) => models.extend(own.iter().cloned()),
                None if FAMILIES.contains(&name.as_str()) => families.push(name.clone()),
                None => models.push(name.clone()),
            }
        }
        SuiteFile { models, families, ..self }
    }

    /// The other suite with this one's models.
    fn over_models_of(self, other: SuiteFile) -> SuiteFile {
        SuiteFile {
            models: self.models,
            model_list: self.model_list,
            models_set: self.models_set,
            custom_models: self.custom_models,
            small_models: self.small_models,
            specific_models: self.specific_models,
            families: self.families,
            benchmark_category: self.benchmark_category,
            model_families: self.model_families,
            ..other
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite() -> SuiteFile {
        let of = |models: &[&str]| models.iter().map(|model| model.to_string()).collect::<Vec<_>>();
        SuiteFile {
            batch_sizes: vec![1, 8],
            threads: Some(2),
            use_resource_pool: false,
            model_families: [("embedding".to_string(), of(&["bert-tiny"])), ("vision".into(), of(&["resnet-18"]))]
                .into(),
            ..SuiteFile::default()
        }
    }

    #[test]
    fn what_is_named_counts_and_the_rest_stays() {
        let named = SuiteFile { batch_sizes: vec![4], precision: Some("float16".into()), ..SuiteFile::default() };
        let with = suite().with(named);
        assert_eq!((with.batch_sizes, with.threads, with.precision.as_deref()), (vec![4], Some(2), Some("float16")));
        assert!(!with.use_resource_pool && with.model_families.len() == 2);
        assert_eq!(suite().with(SuiteFile::default()), suite());
    }

    #[test]
    fn models_that_are_named_are_all_that_are_measured() {
        let with = suite().with(SuiteFile { models: vec!["probe-mlp".into()], ..SuiteFile::default() });
        assert_eq!((with.models, with.model_families.len()), (vec!["probe-mlp".to_string()], 0));
        let with = suite().with(SuiteFile { small_models: true, ..SuiteFile::default() });
        assert!(with.small_models && with.model_families.is_empty());
    }

    #[test]
    fn a_family_means_its_models_in_the_suite_or_else_those_of_the_family() {
        let named = SuiteFile { models: vec!["vision".into(), "audio".into()], ..SuiteFile::default() };
        let with = suite().with(named);
        assert_eq!((with.models, with.families), (vec!["resnet-18".to_string()], vec!["audio".to_string()]));
    }
}
