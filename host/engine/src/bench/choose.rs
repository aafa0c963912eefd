//! Which of the benchmarks are asked for.

use super::{Discovery, Found, folded};
use crate::run::reserved::{GENERATOR_CORES, GENERATOR_PROCESSORS};
use crate::run::serving::BUDGET;
use crate::run::{RequestError, keep_contents};
use skillbench_record::suggest::did_you_mean;
use skillbench_record::{OptionChoice, PluginOptions, RunRequest};
use skillbench_worker::CATEGORIES;

impl Discovery {
    /// The benchmarks that a request means, in the order in which they were found. One that needs an option, such as an address, is meant only where it
    /// is named, or given that ([`Discovery::left_out`]). A category or a model without any is no error.
    ///
    /// # Errors
    /// A name that nothing has, with the nearest ones.
    pub fn choose(&self, request: &RunRequest) -> Result<Vec<Found>, RequestError> {
        let offered = self.offered(request)?.into_iter();
        Ok(offered.filter(|found| found.is_named(request) || found.lacks(request).is_none()).collect())
    }

    /// Those that a request leaves out although it names no other, each with the option that it needs.
    ///
    /// # Errors
    /// As for [`Discovery::choose`].
    pub fn left_out(&self, request: &RunRequest) -> Result<Vec<(String, String)>, RequestError> {
        let offered = self.offered(request)?.into_iter().filter(|found| !found.is_named(request));
        Ok(offered.filter_map(|found| Some((found.id().to_string(), found.lacks(request)?))).collect())
    }

    /// All that a request may mean, with those that need an option.
    ///
    /// # Errors
    /// As for [`Discovery::choose`].
    pub fn offered(&self, request: &RunRequest) -> Result<Vec<Found>, RequestError> {
        request.benchmarks.iter().try_for_each(|name| self.check_name(name))?;
        for category in &request.selection.categories {
            if !CATEGORIES.iter().any(|known| known.eq_ignore_ascii_case(category)) {
                let hint = did_you_mean(category, CATEGORIES);
                let text = format!("there is no category '{category}'{hint} (there are {})", CATEGORIES.join(", "));
                return Err(RequestError(text));
            }
        }
        let models: Vec<String> = request.models.iter().map(|name| self.model(name)).collect::<Result<_, _>>()?;
        let asked = |wanted: &[String], has: Option<&String>| {
            wanted.is_empty() || has.is_some_and(|has| wanted.iter().any(|one| folded(one) == folded(has)))
        };
        let chosen = self.benchmarks.iter().filter(|found| {
            (request.benchmarks.is_empty() || found.is_named(request))
                && asked(&request.selection.categories, found.category.as_ref())
                && asked(&models, found.model.as_ref())
        });
        Ok(chosen.cloned().collect())
    }

    /// What of a request this machine has: the names of benchmarks that it knows, and the options that they take.
    ///
    /// # Errors
    /// It has nothing of it, for this reason.
    pub fn narrowed(&self, request: &RunRequest) -> Result<RunRequest, RequestError> {
        let is_known = |name: &&String| self.check_name(name).is_ok();
        let known: Vec<String> = request.benchmarks.iter().filter(is_known).cloned().collect();
        if known.is_empty() {
            request.benchmarks.first().map_or(Ok(()), |name| self.check_name(name))?;
        }
        let mut narrowed = RunRequest { benchmarks: known, ..request.clone() };
        let chosen = self.choose(&narrowed)?;
        narrowed.options.retain(|option| chosen.iter().any(|found| found.is_reached_by(option)));
        Ok(narrowed)
    }

    /// Options of a request that lead to files whose content is measured.
    ///
    /// # Errors
    /// As for [`Discovery::choose`].
    pub fn files_among<'r>(&self, request: &'r RunRequest) -> Result<Vec<&'r OptionChoice>, RequestError> {
        let chosen = self.choose(request)?;
        let leads_to_file = |option: &&OptionChoice| {
            let has_content = |found: &Found| {
                skillbench_worker::options::contents_of(&found.description.options_schema).contains(&option.key)
            };
            chosen.iter().any(|found| found.is_reached_by(option) && has_content(found))
        };
        Ok(request.options.iter().filter(leads_to_file).collect())
    }

    /// # Errors
    /// It is the name of no function, with the nearest ones.
    pub fn check_name(&self, name: &str) -> Result<(), RequestError> {
        // A name of its own goes before that of a plugin.
        let measures_a_model = self.with_target.iter().any(|found| folded(&found.description.id) == folded(name));
        if !measures_a_model && self.benchmarks.iter().any(|found| found.is_called(name)) {
            return Ok(());
        }
        if self.with_target.iter().any(|found| found.is_called(name)) {
            let text = format!("benchmark '{name}' measures a model on a backend: `host run --bench {name}`");
            return Err(RequestError(text));
        }
        if let Some(rejected) = self.rejected.iter().find(|rejected| folded(&rejected.id) == folded(name)) {
            return Err(RequestError(format!("'{name}' ({}) is rejected: {}", rejected.origin, rejected.reason)));
        }
        let known = self.benchmarks.iter().flat_map(|found| [found.description.id.as_str(), found.plugin.as_str()]);
        Err(RequestError(format!("there is no benchmark '{name}'{}", did_you_mean(name, known))))
    }

    /// The id of a model that a benchmark is about, or that the catalog knows.
    fn model(&self, name: &str) -> Result<String, RequestError> {
        let of_benchmarks = || self.benchmarks.iter().filter_map(|found| found.model.as_deref());
        let known = self.known_model(name);
        let found = known.or_else(|| of_benchmarks().find(|model| folded(model) == folded(name)).map(String::from));
        let all = || of_benchmarks().chain(self.models());
        found.ok_or_else(|| RequestError(format!("there is no model '{name}'{}", did_you_mean(name, all()))))
    }
}

impl Found {
    pub fn id(&self) -> &str {
        &self.description.id
    }

    fn is_called(&self, name: &str) -> bool {
        [&self.description.id, &self.plugin].iter().any(|known| folded(known) == folded(name))
    }

    fn is_named(&self, request: &RunRequest) -> bool {
        request.benchmarks.iter().any(|name| self.is_called(name))
    }

    /// An option that it needs and is not given.
    fn lacks(&self, request: &RunRequest) -> Option<String> {
        let given = self.own_options(request);
        let needed = skillbench_worker::options::required(&self.description.options_schema);
        needed.into_iter().find(|option| !given.contains_key(option))
    }

    /// Whether an option is for this benchmark.
    fn is_reached_by(&self, option: &OptionChoice) -> bool {
        match &option.plugin {
            Some(owner) => self.is_called(owner),
            None => skillbench_worker::options::takes(&self.description.options_schema, &option.key),
        }
    }

    /// The options of a request that are for this benchmark.
    fn own_options(&self, request: &RunRequest) -> PluginOptions {
        let mine = request.options.iter().filter(|option| self.is_reached_by(option));
        mine.map(|option| (option.key.clone(), option.value.clone())).collect()
    }
}

/// No benchmark takes an option.
pub fn not_taken(option: &OptionChoice) -> RequestError {
    RequestError(format!("none of the chosen benchmarks takes the option '{}'", option.key))
}

/// The options of each chosen benchmark.
///
/// # Errors
/// An option that none of them takes, or a value that one of them does not.
pub(super) fn options(chosen: &[Found], request: &RunRequest) -> Result<Vec<PluginOptions>, RequestError> {
    for option in &request.options {
        if !chosen.iter().any(|found| found.is_reached_by(option)) {
            return Err(not_taken(option));
        }
    }
    let checked = |found: &Found| {
        let mut options = found.own_options(request);
        if options.contains_key(BUDGET) {
            return Err(RequestError(format!("{BUDGET} of '{}' is what --budget says: give that", found.id())));
        }
        if options.contains_key(GENERATOR_PROCESSORS) {
            let text = format!("{GENERATOR_PROCESSORS} of '{}' is what {GENERATOR_CORES} says: give that", found.id());
            return Err(RequestError(text));
        }
        let (schema, owner) = (&found.description.options_schema, format!("benchmark '{}'", found.id()));
        skillbench_worker::options::check(&options, schema, &owner).map_err(RequestError)?;
        keep_contents(&mut options, schema, &owner)?;
        Ok(options)
    };
    chosen.iter().map(checked).collect()
}
