//! What a worker prints. It is drained without end, so that a flood blocks nobody, and only its tail is kept.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

const KEPT: usize = 8 << 10;

/// The last bytes of one stream.
#[derive(Clone, Default)]
pub(super) struct Tail(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    bytes: VecDeque<u8>,
    total: u64,
}

impl Tail {
    /// Drains a stream on a thread of its own until it ends.
    pub(super) fn drain(&self, mut stream: impl Read + Send + 'static) -> JoinHandle<()> {
        let tail = self.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 64 << 10];
            while let Ok(read) = stream.read(&mut buffer)
                && read > 0
            {
                tail.add(&buffer[..read]);
            }
        })
    }

    fn add(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        kept.total += bytes.len() as u64;
        kept.bytes.extend(&bytes[bytes.len().saturating_sub(KEPT)..]);
        let surplus = kept.bytes.len().saturating_sub(KEPT);
        kept.bytes.drain(..surplus);
    }

    /// The last lines as text, and how many bytes there were in all.
    pub(super) fn text(&self) -> (String, u64) {
        let kept = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let bytes: Vec<u8> = kept.bytes.iter().copied().collect();
        (String::from_utf8_lossy(&bytes).trim().to_string(), kept.total)
    }
}
