//! Processors of the thread that issues requests, where the host keeps some for it.

use skillbench_plugin_api::{Error, Result};

/// This thread, on processors of its own until the guard is dropped.
pub struct Apart {
    #[cfg(target_os = "linux")]
    before: rustix::thread::CpuSet,
}

impl Apart {
    /// Threads that it starts meanwhile would be there, too: all workers have begun.
    ///
    /// # Errors
    /// The system does not let it.
    #[cfg(target_os = "linux")]
    pub fn go(processors: &[usize]) -> Result<Apart> {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
        let failed = |error: rustix::io::Errno| {
            Error::internal(format!(
                "the thread that issues requests cannot go to its processors {processors:?}: {error}"
            ))
        };
        let before = sched_getaffinity(None).map_err(failed)?;
        let mut all = CpuSet::new();
        processors.iter().filter(|one| **one < CpuSet::MAX_CPU).for_each(|one| all.set(*one));
        sched_setaffinity(None, &all).map_err(failed)?;
        Ok(Apart { before })
    }

    /// # Errors
    /// Always: this system has no way that is known here.
    #[cfg(not(target_os = "linux"))]
    pub fn go(_processors: &[usize]) -> Result<Apart> {
        Err(Error::unimplemented(
            skillbench_plugin_api::Why::RUNTIME,
            "work cannot be bound to processors on this system",
        ))
    }
}

#[cfg(target_os = "linux")]
impl Drop for Apart {
    fn drop(&mut self) {
        // Where it cannot go back it stays where nobody else is.
        let _ = rustix::thread::sched_setaffinity(None, &self.before);
    }
}

/// "1,5".
///
/// # Errors
/// What is no list of processors.
pub fn list(text: &str) -> Result<Vec<usize>> {
    let wrong = || Error::invalid(format!("option generator_processors: '{text}' is no list of processors"));
    text.split(',').map(|one| one.parse().map_err(|_| wrong())).collect()
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use rustix::thread::{CpuSet, sched_getaffinity};

    #[test]
    fn a_thread_is_apart_for_a_while_and_then_where_it_was() {
        std::thread::spawn(|| {
            let of = || -> Vec<usize> {
                let set = sched_getaffinity(None).unwrap();
                (0..CpuSet::MAX_CPU).filter(|one| set.is_set(*one)).collect()
            };
            let all = of();
            let last = *all.last().unwrap();
            let apart = Apart::go(&[last]).unwrap();
            assert_eq!(of(), [last]);
            drop(apart);
            assert_eq!(of(), all);
            assert!(Apart::go(&[CpuSet::MAX_CPU]).is_err(), "there is no such processor");
        })
        .join()
        .unwrap();
        assert_eq!(list("1,5").unwrap(), [1, 5]);
        assert!(list("1,").is_err() && list("a").is_err());
    }
}
