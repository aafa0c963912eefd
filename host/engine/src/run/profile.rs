//! What the operators of a model cost, in a worker of its own: a process that records is not the one that is measured.

use skillbench_record::ProfileReport;
use skillbench_worker::{Command, Failure, Limits, ProfileJob, Reply, Worker};

/// # Errors
/// `Unsupported` for an engine without a profile of its own; whatever became of the worker.
pub fn profile(job: ProfileJob, limits: &Limits) -> Result<ProfileReport, Failure> {
    match Worker::call_once(&Command::Profile(Box::new(job)), limits)? {
        Reply::Profiled(report) => Ok(*report),
        other => Err(Failure::unexpected(&other)),
    }
}
