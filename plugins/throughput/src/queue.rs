//! Requests that one thread keeps under way: submitted to the engine, and again as each comes back.

use skillbench_plugin_api::client::Request;
use skillbench_plugin_api::{Error, Result};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// A queue as deep as it has requests.
pub struct Queue {
    came: Sender<(usize, Result<()>)>,
    ended: Receiver<(usize, Result<()>)>,
}

impl Queue {
    pub fn new() -> Queue {
        let (came, ended) = channel();
        Queue { came, ended }
    }

    /// Runs each request so often, all of them at once, and returns how long it took from the first submit to the last end.
    ///
    /// # Errors
    /// That of the first run that fails, after those under way have ended. `Unimplemented` for a backend that takes no runs to do later.
    pub fn work(&self, requests: &mut [&mut Request<'_>], times: u64) -> Result<Duration> {
        let mut left = vec![times; requests.len()];
        let (mut under_way, mut failure) = (0, None);
        let start = Instant::now();
        for index in 0..requests.len() {
            match self.submit(requests[index], index) {
                Ok(()) => (under_way, left[index]) = (under_way + 1, left[index] - 1),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        let mut end = start;
        while under_way > 0 {
            let (index, ended) = self.ended.recv().map_err(|_| Error::internal("a submitted run never came back"))?;
            (under_way, end) = (under_way - 1, Instant::now());
            failure = failure.or(ended.err());
            if failure.is_some() {
                for request in requests.iter() {
                    // What cannot be cancelled ends by itself.
                    let _ = request.cancel();
                }
                continue;
            }
            if left[index] > 0 {
                match self.submit(requests[index], index) {
                    Ok(()) => (under_way, left[index]) = (under_way + 1, left[index] - 1),
                    Err(error) => failure = Some(error),
                }
            }
        }
        match failure {
            None => Ok(end - start),
            Some(error) => Err(error),
        }
    }

    fn submit(&self, request: &mut Request<'_>, index: usize) -> Result<()> {
        let came = self.came.clone();
        // The callback of the run before may not be over yet, though it told of its end.
        request.wait();
        request.submit(move |ended| _ = came.send((index, ended.map(|_| ()))))
    }
}
