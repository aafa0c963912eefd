//! The handle by which work is asked to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Asks work to end. Clones ask for the same end; whoever works looks whether it was asked.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    asked: Arc<AtomicBool>,
    /// The work that this one is a part of.
    whole: Option<Arc<Stop>>,
}

impl Stop {
    /// A handle for a part of the work: it ends alone, or with the whole.
    #[must_use]
    pub fn of_part(&self) -> Stop {
        Stop { asked: Arc::default(), whole: Some(Arc::new(self.clone())) }
    }

    pub fn ask(&self) {
        self.asked.store(true, Ordering::SeqCst);
    }

    pub fn asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst) || self.whole.as_ref().is_some_and(|whole| whole.asked())
    }
}

#[cfg(test)]
mod tests {
    use super::Stop;

    #[test]
    fn a_part_ends_alone_and_the_whole_ends_its_parts() {
        let whole = Stop::default();
        let (one, other) = (whole.of_part(), whole.of_part());
        one.clone().ask();
        assert_eq!((one.asked(), other.asked(), whole.asked()), (true, false, false));
        whole.ask();
        assert_eq!((other.asked(), other.of_part().asked()), (true, true));
    }
}
