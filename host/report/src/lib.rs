//! Results for people: tables in the terminal, Markdown, CSV and JSON, and HTML pages. It draws what it is handed, and computes nothing.

pub mod decision;
mod fit;
mod markdown;
pub mod page;
pub mod plots;
mod profile;
mod render;
mod run;
pub mod sections;
mod spark;
mod table;
mod view;

pub use profile::{operators, phases};
pub use render::Format;
pub use run::{RunView, run_view, summary};
pub use table::{Cell, Table};
pub use view::{Piece, View, wrapped};
