//! What all libraries of a process share, and a plugin leaves as it was: the working folder, the environment, the locale, the umask,
//! signals, the mode of floating point, and the processors that a thread may run on.
//!
//! Of signals, the mask, those that are ignored, and the handlers of [`KEPT`] count: by them a worker learns that its host is gone,
//! that a child ended or that a pipe is closed, and a library that takes them over takes them from everybody. Handlers of faults
//! (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT) and of signals that runtimes use among their own threads (SIGURG, SIGPROF,
//! SIGUSR1, SIGUSR2 and the real-time ones) do not: virtual machines, garbage collectors and drivers need them, there is one of each
//! for all, and a worker that dies of a fault is seen to die.

use crate::loader::c_library;
use std::collections::BTreeMap;
use std::hint::black_box;

/// Signals whose handlers a plugin leaves alone.
const KEPT: [(i32, &str); 6] =
    [(1, "SIGHUP"), (2, "SIGINT"), (3, "SIGQUIT"), (13, "SIGPIPE"), (15, "SIGTERM"), (17, "SIGCHLD")];

/// So many differences are told.
const MOST: usize = 4;

/// The state of this process and of this thread, by what it is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    told: BTreeMap<String, String>,
    /// Values may be secrets, and are only compared.
    environment: BTreeMap<std::ffi::OsString, std::ffi::OsString>,
}

impl State {
    pub(super) fn now() -> State {
        let mut told = BTreeMap::new();
        let mut tell = |what: &str, how: Option<String>| {
            if let Some(how) = how {
                told.insert(what.to_string(), how);
            }
        };
        tell("the working folder", std::env::current_dir().ok().map(|folder| folder.display().to_string()));
        tell("the locale", c_library::locale());
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
        let of = |key: &str| {
            status
                .lines()
                .find_map(|line| line.strip_prefix(key))
                .map(|value| value.trim_matches([':', '\t', ' ']).into())
        };
        tell("the umask", of("Umask"));
        tell("the signal mask", of("SigBlk"));
        tell("the set of ignored signals", of("SigIgn"));
        tell("the processors that the thread may run on", of("Cpus_allowed"));
        if cfg!(target_os = "linux") {
            for (signal, name) in KEPT {
                let handler = c_library::handler_of(signal).map(|address| match address {
                    0 => "the system's".into(),
                    1 => "to ignore it".into(),
                    address => format!("a function at {address:#x}"),
                });
                tell(&format!("the handler of {name}"), handler);
            }
        }
        tell("the rounding of floating point", Some(rounding().into()));
        tell("the smallest numbers of floating point", Some(denormals().into()));
        State { told, environment: std::env::vars_os().collect() }
    }

    /// Variables that were not there do not count from now on: some vendors' libraries are told in no other way, and `open` is where a plugin
    /// loads them.
    pub(super) fn take_new_variables(&mut self, later: &State) {
        for (name, value) in &later.environment {
            self.environment.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }

    /// How a later state is another one; `None`: it is the same.
    pub(super) fn changed(&self, later: &State) -> Option<String> {
        let told = self.told.iter().filter_map(|(what, before)| match later.told.get(what) {
            Some(after) if after != before => Some(format!("{what} is {after}, and was {before}")),
            _ => None,
        });
        let mut all: Vec<String> = told.collect();
        for (name, value) in &later.environment {
            let name_shown = name.to_string_lossy();
            match self.environment.get(name) {
                None => all.push(format!("the variable {name_shown} of the environment is set")),
                Some(before) if before != value => {
                    all.push(format!("the variable {name_shown} of the environment is another one"));
                }
                Some(_) => {}
            }
        }
        let gone = self.environment.keys().filter(|name| !later.environment.contains_key(*name));
        all.extend(gone.map(|name| format!("the variable {} of the environment is gone", name.to_string_lossy())));
        let more = all.len().saturating_sub(MOST);
        all.truncate(MOST);
        let text = all.join("; ");
        match (text.is_empty(), more) {
            (true, _) => None,
            (false, 0) => Some(text),
            (false, more) => Some(format!("{text}; and {more} more")),
        }
    }
}

/// How sums are rounded on this thread, as it shows: the register that says so has another name on each processor.
fn rounding() -> &'static str {
    let (one, little) = (black_box(1.0f64), black_box(1e-30f64));
    let (above, below, beyond) = (black_box(one + little), black_box(one - little), black_box(-one - little));
    match (above > one, below < one, beyond < -one) {
        (false, false, _) => "to the nearest",
        (true, ..) => "up",
        (_, _, true) => "down",
        _ => "towards zero",
    }
}

/// Whether this thread takes the smallest numbers for zero, as a library does that was linked with `-ffast-math`.
fn denormals() -> &'static str {
    let (normal, tiny) = (black_box(f32::MIN_POSITIVE), black_box(f32::from_bits(1)));
    let (halved, doubled) = (black_box(normal * black_box(0.5)), black_box(tiny * black_box(1e30)));
    match (halved == 0.0, doubled == 0.0) {
        (false, false) => "kept",
        (true, false) => "flushed to zero where they come out",
        (false, true) => "taken for zero where they go in",
        (true, true) => "zero",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_rounds_to_the_nearest_and_keeps_the_smallest_numbers() {
        assert_eq!((rounding(), denormals()), ("to the nearest", "kept"));
    }

    #[test]
    fn what_changed_is_told_and_no_value_of_the_environment_is() {
        let mut before = State::now();
        assert_eq!(before.changed(&before.clone()), None);
        before.environment.insert("KEPT_FROM_TELLING".into(), "old".into());
        let mut later = before.clone();
        later.told.insert("the umask".into(), "0777".into());
        later.environment.insert("KEPT_FROM_TELLING".into(), "secret".into());
        let text = before.changed(&later).unwrap();
        assert!(text.starts_with("the umask is 0777, and was 0"), "{text}");
        assert!(text.ends_with("the variable KEPT_FROM_TELLING of the environment is another one"), "{text}");
    }
}
