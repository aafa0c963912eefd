//! What commands do, without a terminal: whoever has a request and a database can do it too.
//!
//! - [`measure`](mod@measure): a plan becomes a run, kept in its journal as each cell ends.
//! - [`conditions`]: what a plan's cells would be measured with here and now.
//! - [`forecast`]: what predictions and recommendations stand on.
//! - [`incremental`]: what of a plan is missing in the database.
//!
//! Nothing here prints: what there is to say is returned, or told to the observers of the engine. Not here: grammar and printing (host),
//! how cells are measured (engine), what is asked of results (results).

pub mod conditions;
pub mod forecast;
pub mod incremental;
pub mod measure;

pub use conditions::{Conditions, names};
pub use measure::{Begun, MeasureError, measure};
