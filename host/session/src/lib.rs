//! What commands do, without a terminal: whoever has a request and a database can do it too.
//!
//! - [`run`]: a request is carried out: chosen, planned, measured, kept, and held to limits and a baseline.
//! - `functions`: the same for benchmarks that are plain functions.
//! - [`event`]: what it tells while it works. [`machine_lock`]: whose turn it is to measure.
//! - [`measure`](mod@measure): a plan becomes a run, kept in its journal as each cell ends. [`keep`]: its files, and its rows in the database.
//! - [`conditions`]: what a plan's cells would be measured with here and now.
//! - [`forecast`]: what predictions and recommendations stand on.
//! - [`gate`]: limits and a baseline that a run is held to. [`compare`]: two stored sides against each other.
//! - [`audit`]: which numbers of a stored run stand, measured again with other seeds.
//! - [`baseline`]: runs that later ones are held against, by name.
//! - [`incremental`]: what of a plan is missing in the database.
//! - [`capacity`]: targets whose capacities are searched in turns, and which bears more.
//! - [`interleave`]: the plans of two targets that are measured in turns. [`noise`]: how far the same code is apart from itself.
//! - [`which`]: which stored results are meant, by one rule for all that read them.
//! - [`ladder`]: which operators a backend runs, and which to build next.
//! - [`update`]: what of the database is to be measured again. [`recorded`]: which of a record's options are taken over.
//!
//! Nothing here prints: what there is to say is an event, or returned. Not here: grammar and printing (host),
//! how cells are measured (engine), what is asked of results (results).

pub mod audit;
pub mod baseline;
pub mod capacity;
pub mod compare;
pub mod conditions;
pub mod event;
pub mod forecast;
mod functions;
pub mod gate;
pub mod incremental;
pub mod interleave;
pub mod keep;
pub mod ladder;
pub mod machine_lock;
pub mod measure;
pub mod noise;
pub mod recorded;
pub mod run;
pub mod update;
pub mod which;

pub use conditions::{Conditions, environment_of_all, names};
pub use event::{Event, Listener};
pub use incremental::Missing;
pub use keep::{Keep, KeepError, Kept};
pub use machine_lock::MachineLock;
pub use measure::{Begun, MeasureError, Measured, Received, measure};
pub use run::{Ended, Ran, Session, SessionError, Start};
