//! Open files: each connection is one.

use skillbench_plugin_api::Result;

/// What else a process has open.
#[cfg(unix)]
const OTHERS: u64 = 128;

/// Has the system allow as many as so many connections need.
///
/// # Errors
/// `FailedPrecondition` where it allows fewer.
#[cfg(unix)]
pub fn allow(connections: usize) -> Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    use skillbench_plugin_api::{Code, Error};
    let limit = getrlimit(Resource::Nofile);
    let needed = connections as u64 + OTHERS;
    let is_enough = |limit: Option<u64>| limit.is_none_or(|most| most >= needed);
    if is_enough(limit.current) {
        return Ok(());
    }
    let raised = Rlimit { current: Some(needed), maximum: limit.maximum };
    if is_enough(limit.maximum) && setrlimit(Resource::Nofile, raised).is_ok() {
        return Ok(());
    }
    let most = limit.maximum.or(limit.current).unwrap_or_default();
    let text = format!(
        "{connections} connections need {needed} open files, and this process may have {most}: raise its limit (`ulimit -n {needed}`, or LimitNOFILE= of a service), or ask for at most {} workers",
        most.saturating_sub(OTHERS)
    );
    Err(Error::new(Code::FailedPrecondition, text))
}

#[cfg(not(unix))]
pub fn allow(_connections: usize) -> Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use rustix::process::{Resource, getrlimit};

    #[test]
    fn files_are_allowed_up_to_what_the_system_lets_and_no_further() {
        allow(300).unwrap();
        let limit = getrlimit(Resource::Nofile);
        assert!(limit.current.is_none_or(|most| most >= 300 + OTHERS));
        if let Some(most) = limit.maximum {
            let told = allow(most as usize).unwrap_err().message;
            assert!(told.contains(&format!("may have {most}")) && told.contains("ulimit -n"), "{told}");
        }
    }
}
