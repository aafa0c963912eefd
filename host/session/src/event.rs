//! What a session reports while it works: one stream of events, in order, from one thread.

use crate::incremental::Missing;
use crate::keep::Kept;
use skillbench_engine::run::{Observer, PlannedCell};
use skillbench_record::{Cell, Samples};
use std::io;

/// Something that has just happened.
#[derive(Clone, Copy)]
pub enum Event<'a> {
    /// The machine is asked for. From here on the handle to stop ends the work in order.
    Locking,
    /// Another benchmark measures on this machine. The session waits for it.
    Waiting {
        holder: &'a str,
    },
    /// What the database lacks of a plan of so many cells.
    Missing {
        missing: &'a Missing,
        planned: usize,
    },
    /// A run begins. What its cells are called, by index.
    RunBegun {
        names: &'a [String],
    },
    /// A comparison begins: "[3/10] bert-tiny, batch=1". What follows is about it.
    ComparisonBegun {
        name: &'a str,
    },
    CellBegun {
        index: usize,
        place: usize,
        of: usize,
    },
    /// A share of a cell is done, 0 to 1.
    CellProgress {
        index: usize,
        share: f64,
    },
    CellEnded(&'a Cell),
    /// A run has ended, and lies in its folder.
    Kept(&'a Kept),
    /// Cells that look worse than a baseline. They are measured again.
    Suspected {
        cells: usize,
        baseline: &'a str,
    },
    /// A step before the cells, such as building a model.
    Step(&'a str),
    /// How the work is done.
    Note(&'a str),
    /// Something that the user should know.
    Warning(&'a str),
    /// How it comes about, for whoever looks for a fault.
    Debug(&'a str),
}

/// Whoever listens to a session.
pub type Listener<'l> = dyn FnMut(Event<'_>) + 'l;

/// A listener, as the engine tells it.
pub(crate) struct Relay<'a, 'l>(pub &'a mut Listener<'l>);

impl Observer for Relay<'_, '_> {
    fn step(&mut self, text: &str) {
        (self.0)(Event::Step(text));
    }

    fn note(&mut self, text: &str) {
        (self.0)(Event::Note(text));
    }

    fn warning(&mut self, text: &str) {
        (self.0)(Event::Warning(text));
    }

    fn debug(&mut self, text: &str) {
        (self.0)(Event::Debug(text));
    }

    fn cell_begun(&mut self, cell: &PlannedCell, place: usize, of: usize) {
        (self.0)(Event::CellBegun { index: cell.index, place, of });
    }

    fn function_begun(&mut self, index: usize, place: usize, of: usize) {
        (self.0)(Event::CellBegun { index, place, of });
    }

    fn cell_progress(&mut self, index: usize, share: f64) {
        (self.0)(Event::CellProgress { index, share });
    }

    fn cell_ended(&mut self, cell: &Cell, _: &[Samples]) -> io::Result<()> {
        (self.0)(Event::CellEnded(cell));
        Ok(())
    }
}
