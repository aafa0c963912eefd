//! Results for people: tables in the terminal, Markdown, CSV and JSON, and HTML pages. It draws what it is handed, and computes nothing.

mod decision;
mod markdown;
pub mod page;
pub mod plots;
mod profile;
mod render;
mod run;
pub mod sections;
mod table;

pub use profile::{operators, phases};
pub use render::Format;
pub use run::summary;
pub use sections::winner;
pub use table::{Cell, Table};
