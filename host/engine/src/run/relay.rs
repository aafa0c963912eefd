//! Between lanes and the observer: lanes are threads, and an observer is told from one.

use super::{Observer, PlannedCell};
use skillbench_record::{Cell, Samples};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::mpsc::{Sender, channel};

/// What a lane tells.
pub(super) enum Message {
    Step(String),
    Note(String),
    Warning(String),
    Debug(String),
    Begun {
        cell: PlannedCell,
        place: usize,
        of: usize,
    },
    Progress {
        index: usize,
        share: f64,
    },
    /// The lane waits until it is kept.
    Ended {
        cell: Box<Cell>,
        samples: Vec<Samples>,
        kept: Sender<io::Result<()>>,
    },
}

/// The observer as a lane sees it. What is told without a cell gets the name of the backend before it.
pub(super) struct Relay<'a> {
    messages: Sender<Message>,
    /// Of each backend of the plan.
    names: &'a [String],
    current: &'a str,
}

impl<'a> Relay<'a> {
    pub fn new(messages: Sender<Message>, names: &'a [String]) -> Relay<'a> {
        Relay { messages, names, current: "" }
    }

    /// A main thread that is gone has nobody to tell.
    fn tell(&self, messages: Message) {
        let _ = self.messages.send(messages);
    }

    fn named(&self, text: &str) -> String {
        match self.current {
            "" => text.into(),
            name => format!("{name}: {text}"),
        }
    }
}

impl Observer for Relay<'_> {
    fn step(&mut self, text: &str) {
        self.tell(Message::Step(self.named(text)));
    }

    fn note(&mut self, text: &str) {
        self.tell(Message::Note(self.named(text)));
    }

    fn warning(&mut self, text: &str) {
        self.tell(Message::Warning(self.named(text)));
    }

    fn debug(&mut self, text: &str) {
        self.tell(Message::Debug(self.named(text)));
    }

    fn cell_begun(&mut self, cell: &PlannedCell, place: usize, of: usize) {
        self.current = self.names.get(cell.backend).map_or("", String::as_str);
        self.tell(Message::Begun { cell: cell.clone(), place, of });
    }

    fn cell_progress(&mut self, index: usize, share: f64) {
        self.tell(Message::Progress { index, share });
    }

    fn cell_ended(&mut self, cell: &Cell, samples: &[Samples]) -> io::Result<()> {
        let (kept, answer) = channel();
        self.tell(Message::Ended { cell: Box::new(cell.clone()), samples: samples.to_vec(), kept });
        answer.recv().unwrap_or_else(|_| Err(io::Error::other("nobody keeps the results any more")))
    }
}

/// The cells that run at one moment, and whom each has met.
#[derive(Default)]
pub(super) struct Abreast(BTreeMap<usize, Neighbours>);

struct Neighbours {
    name: String,
    others: BTreeSet<String>,
}

impl Abreast {
    pub fn begin(&mut self, cell: usize, name: &str) {
        let others = self.0.values().map(|met| met.name.clone()).collect();
        for met in self.0.values_mut() {
            met.others.insert(name.into());
        }
        self.0.insert(cell, Neighbours { name: name.into(), others });
    }

    /// The backends whose cells ran at some time of this one.
    pub fn end(&mut self, cell: usize) -> Vec<String> {
        self.0.remove(&cell).map(|met| met.others.into_iter().collect()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_met_whoever_ran_at_some_time_of_it() {
        let mut abreast = Abreast::default();
        abreast.begin(0, "rten");
        abreast.begin(1, "cpu");
        assert_eq!(abreast.end(1), ["rten"]);
        abreast.begin(2, "openvino");
        assert_eq!(abreast.end(0), ["cpu", "openvino"]);
        assert_eq!(abreast.end(2), ["rten"]);
        abreast.begin(3, "cpu");
        assert!(abreast.end(3).is_empty(), "it was alone");
    }
}
