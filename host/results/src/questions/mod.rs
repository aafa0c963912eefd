//! Questions asked of the cells' frame: each a function with a name, a lazy pipeline, and a test on a frame worked out by hand.

mod summary;

pub use summary::summary;
