//! Which variables of the environment a worker gets. Tokens and passwords lie there too, so the list says what goes along.

use std::ffi::OsString;

/// What every process may need, and no secret is in.
const ALWAYS: [&str; 24] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TERM",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "DYLD_FALLBACK_LIBRARY_PATH",
    "XDG_RUNTIME_DIR",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "RUST_BACKTRACE",
    "MALLOC_*",
    "GLIBC_TUNABLES",
    "OMP_*",
    "KMP_*",
    "GOMP_*",
    "SKILLBENCH_CACHE",
    "SKILLBENCH_DATA",
];

/// What no program of this system runs without, or finds its user's folders by.
const OF_SYSTEM: &[&str] = if cfg!(windows) {
    &[
        "SystemRoot",
        "SystemDrive",
        "windir",
        "ComSpec",
        "PATHEXT",
        "USERPROFILE",
        "APPDATA",
        "LOCALAPPDATA",
        "ProgramData",
        "ProgramFiles*",
        "NUMBER_OF_PROCESSORS",
        "PROCESSOR_*",
    ]
} else {
    &[]
};

/// Names variables that the user wants to go along: separated by commas, `*` at the end for any ending.
pub(crate) const PASS: &str = "SKILLBENCH_PASS_ENV";

/// The variables that go along, and the names of those that do not.
pub(crate) struct Passed {
    pub set: Vec<(OsString, OsString)>,
    pub dropped: Vec<String>,
}

/// Chooses from this process's variables.
pub(crate) fn choose(granted: &[String]) -> Passed {
    choose_from(std::env::vars_os(), granted)
}

fn choose_from(all: impl Iterator<Item = (OsString, OsString)>, granted: &[String]) -> Passed {
    let (mut passed, mut rest) = (vec![], vec![]);
    let all: Vec<(OsString, OsString)> = all.collect();
    let asked = all.iter().find(|(name, _)| name == PASS).map(|(_, value)| value.to_string_lossy().into_owned());
    let asked: Vec<String> =
        asked.iter().flat_map(|list| list.split(',')).map(|name| name.trim().to_string()).collect();
    let patterns = || ALWAYS.iter().chain(OF_SYSTEM).copied().chain(granted.iter().chain(&asked).map(String::as_str));
    for (name, value) in all {
        let shown = name.to_string_lossy().into_owned();
        match patterns().any(|pattern| fits(pattern, &shown)) {
            true => passed.push((name, value)),
            false => rest.push(shown),
        }
    }
    rest.sort();
    Passed { set: passed, dropped: rest }
}

fn fits(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        // A star alone would pass everything, which `--sandbox off` is for.
        Some(start) => !start.is_empty() && name.get(..start.len()).is_some_and(|begin| same(begin, start)),
        None => same(pattern, name),
    }
}

/// Windows takes `Path` and `PATH` for one variable.
fn same(one: &str, other: &str) -> bool {
    if cfg!(windows) { one.eq_ignore_ascii_case(other) } else { one == other }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(variables: &[&str], granted: &[&str]) -> (Vec<String>, Vec<String>) {
        let all = variables.iter().map(|text| text.split_once('=').unwrap());
        let all = all.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let granted: Vec<String> = granted.iter().map(|text| text.to_string()).collect();
        let Passed { set, dropped } = choose_from(all, &granted);
        (set.into_iter().map(|(name, _)| name.into_string().unwrap()).collect(), dropped)
    }

    #[test]
    fn tokens_stay_here_and_what_an_entry_or_the_user_names_goes_along() {
        let all = ["HF_TOKEN=x", "PATH=/bin", "CUDA_HOME=/c", "ACME_KEY=y", "SKILLBENCH_PASS_ENV=ACME_*, OTHER"];
        let (set, dropped) = passed(&all, &["CUDA_*"]);
        assert_eq!(set, ["PATH", "CUDA_HOME", "ACME_KEY"]);
        assert_eq!(dropped, ["HF_TOKEN", "SKILLBENCH_PASS_ENV"]);
    }

    #[test]
    fn a_star_alone_passes_nothing() {
        assert_eq!(passed(&["HF_TOKEN=x"], &["*"]).0, Vec::<String>::new());
    }
}
