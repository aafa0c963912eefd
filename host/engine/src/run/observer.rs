//! Whoever wants to know how a run goes.

use super::PlannedCell;
use skillbench_record::{Cell, Run, Samples};

/// Told in order, from one thread. A journal and a terminal are two of them. Where backends run side by side, several cells have begun
/// at once, and they end in any order.
pub trait Observer {
    /// The run as it begins: everything but the cells.
    ///
    /// # Errors
    /// Where it cannot be kept, the run does not begin.
    fn begun(&mut self, _run: &Run) -> std::io::Result<()> {
        Ok(())
    }

    /// A step before the cells, such as building a model.
    fn step(&mut self, _text: &str) {}

    /// How the run goes about it.
    fn note(&mut self, _text: &str) {}

    /// Something the user should know.
    fn warning(&mut self, _text: &str) {}

    /// How it comes about, for whoever looks for a fault: also what plugins log.
    fn debug(&mut self, _text: &str) {}

    /// A backend that nobody asked for by name has no cells in this run.
    ///
    /// # Errors
    /// As for [`Observer::cell_ended`].
    fn left_out(&mut self, _plugin: &str, _why: &str) -> std::io::Result<()> {
        Ok(())
    }

    fn cell_begun(&mut self, _cell: &PlannedCell, _place: usize, _of: usize) {}

    /// The cell of this index begins, of a benchmark that is a plain function.
    fn function_begun(&mut self, _index: usize, _place: usize, _of: usize) {}

    /// A share of the cell of this index is done, 0 to 1, as far as it can be told.
    fn cell_progress(&mut self, _index: usize, _share: f64) {}

    /// # Errors
    /// The observer cannot go on, and the run ends.
    fn cell_ended(&mut self, _cell: &Cell, _samples: &[Samples]) -> std::io::Result<()> {
        Ok(())
    }
}

/// Several observers, told one after the other.
impl Observer for Vec<Box<dyn Observer + '_>> {
    fn begun(&mut self, run: &Run) -> std::io::Result<()> {
        self.iter_mut().try_for_each(|one| one.begun(run))
    }

    fn step(&mut self, text: &str) {
        self.iter_mut().for_each(|one| one.step(text));
    }

    fn note(&mut self, text: &str) {
        self.iter_mut().for_each(|one| one.note(text));
    }

    fn warning(&mut self, text: &str) {
        self.iter_mut().for_each(|one| one.warning(text));
    }

    fn debug(&mut self, text: &str) {
        self.iter_mut().for_each(|one| one.debug(text));
    }

    fn left_out(&mut self, plugin: &str, why: &str) -> std::io::Result<()> {
        self.iter_mut().try_for_each(|one| one.left_out(plugin, why))
    }

    fn cell_begun(&mut self, cell: &PlannedCell, place: usize, of: usize) {
        self.iter_mut().for_each(|one| one.cell_begun(cell, place, of));
    }

    fn function_begun(&mut self, index: usize, place: usize, of: usize) {
        self.iter_mut().for_each(|one| one.function_begun(index, place, of));
    }

    fn cell_progress(&mut self, index: usize, share: f64) {
        self.iter_mut().for_each(|one| one.cell_progress(index, share));
    }

    fn cell_ended(&mut self, cell: &Cell, samples: &[Samples]) -> std::io::Result<()> {
        self.iter_mut().try_for_each(|one| one.cell_ended(cell, samples))
    }
}
