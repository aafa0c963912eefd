//! Cores that are kept for the thread which issues requests: a worker is started on the others, and that thread alone goes to these.

use crate::cores;
use skillbench_record::PluginOptions;
use skillbench_worker::{Failure, Limits, PluginUse, Watched, Worker};

/// The option of a benchmark that says how many cores are kept.
pub(crate) const GENERATOR_CORES: &str = "generator_cores";
/// The option by which the host says which processors these are.
pub(crate) const GENERATOR_PROCESSORS: &str = "generator_processors";

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reserved {
    generator: Vec<usize>,
    /// Processors of the target, and on how many cores they are.
    target: Vec<usize>,
    width: usize,
}

impl Reserved {
    /// `None`: nobody asked for it.
    ///
    /// # Errors
    /// There are not as many cores, with one for the target at least.
    pub fn of(options: &PluginOptions) -> Result<Option<Reserved>, Failure> {
        let Some(count) = options.get(GENERATOR_CORES) else { return Ok(None) };
        let Some(cores) = cores::usable() else {
            let text = "this system does not tell its cores, and binds no work to them: leave --generator-cores out";
            return Err(Failure::failed(GENERATOR_CORES, text));
        };
        let count = count.parse().unwrap_or(usize::MAX);
        match Reserved::split(&cores, count) {
            Some(reserved) => Ok(Some(reserved)),
            None => {
                let text = format!(
                    "{count} cores are to be kept for the thread that issues requests, and this machine has {}: one at least is left for the target",
                    cores.len()
                );
                Err(Failure::failed(GENERATOR_CORES, text))
            }
        }
    }

    fn split(cores: &[Vec<usize>], count: usize) -> Option<Reserved> {
        let width = cores.len().checked_sub(count).filter(|width| *width > 0)?;
        let (target, generator) = cores.split_at(width);
        Some(Reserved { generator: generator.concat(), target: target.concat(), width })
    }

    /// Tells the benchmark its processors.
    pub fn tell(&self, options: &mut PluginOptions) {
        let list: Vec<String> = self.generator.iter().map(usize::to_string).collect();
        options.insert(GENERATOR_PROCESSORS.into(), list.join(","));
    }

    /// Has a backend to which nobody gave a number of threads use as many as there are cores for it.
    pub fn limit(&self, backend: &mut PluginUse) {
        if let Some(threads) = backend.options.get_mut("threads") {
            *threads = self.width.to_string();
        }
    }

    /// Starts a worker on the target's processors.
    ///
    /// # Errors
    /// The system does not let it, or what `start` says.
    pub fn start(&self, start: impl FnOnce() -> Result<Worker, Failure>) -> Result<Worker, Failure> {
        let failed =
            |error| Failure::failed(GENERATOR_CORES, format!("a worker cannot be bound to its cores: {error}"));
        cores::within(&self.target, start).map_err(failed)?
    }

    /// Has somebody look whether more of the worker than that thread may run there.
    pub fn watched(&self, limits: &Limits) -> Limits {
        Limits { kept: self.generator.iter().copied().collect(), ..limits.clone() }
    }
}

/// What was seen of it; `None`: nothing.
pub(crate) fn shared(watched: &Watched) -> Option<String> {
    let text = "more of the worker than the thread that issues requests could run on the cores that are kept for that";
    watched.shares_kept.then(|| text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_cores_are_kept_with_all_their_processors_and_one_is_left_for_the_target() {
        let cores = [vec![0, 4], vec![1, 5], vec![2]];
        let kept = Reserved::split(&cores, 2).unwrap();
        assert_eq!(kept, Reserved { generator: vec![1, 5, 2], target: vec![0, 4], width: 1 });
        let mut options = PluginOptions::new();
        kept.tell(&mut options);
        assert_eq!(options[GENERATOR_PROCESSORS], "1,5,2");
        assert_eq!((Reserved::split(&cores, 3), Reserved::split(&cores, usize::MAX)), (None, None));
    }

    #[test]
    fn nobody_is_bound_who_did_not_ask() {
        assert!(Reserved::of(&PluginOptions::new()).unwrap().is_none());
    }
}
