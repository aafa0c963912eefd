//! The threads that Polars works with.

use polars::prelude::*;
use std::sync::mpsc::channel;
use std::thread;

/// The most that Polars starts for its own runtime, whatever the machine has.
const MOST: usize = 32;

/// Starts them, once, before there is work for them.
///
/// # Errors
/// The process may not have so many, or lacks the memory. Polars itself waits for ever in that case: its runtime drops the threads
/// that it has without ending them.
pub fn start() -> Result<(), String> {
    let each = thread::available_parallelism().map_or(1, usize::from).min(MOST);
    // Those of its pool and of its runtime, and one that blocks.
    let wanted = 2 * each + 1;
    let (running, end) = channel::<()>();
    let end = std::sync::Arc::new(std::sync::Mutex::new(end));
    let tried: Vec<_> = (0..wanted)
        .map_while(|_| {
            let end = end.clone();
            let wait = move || drop(end.lock().map(|end| end.recv()));
            thread::Builder::new().spawn(wait).ok()
        })
        .collect();
    let had = tried.len();
    drop(running);
    tried.into_iter().for_each(|thread| drop(thread.join()));
    if had < wanted {
        return Err(format!("only {had} of {wanted} threads can be had"));
    }
    let trivial = df!("n" => [1]).map(|frame| frame.lazy().select([col("n").sum()]).collect());
    trivial.and_then(|done| done).map(drop).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    #[test]
    fn threads_that_can_be_had_are_started_once_and_again() {
        assert_eq!((super::start(), super::start()), (Ok(()), Ok(())));
    }
}
