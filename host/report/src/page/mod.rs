//! One self-contained HTML file for a report, a dashboard, a model, an index or a comparison.
//!
//! Here live the parts that a page is made of ([`Page`]), and [`Page::html`], which writes them. `look/` holds the template,
//! the style, the script and the words. Here lives no data frame, and nothing is computed: what is shown was handed over.
//!
//! The file loads nothing from anywhere. It is complete without its script, which only hides, sorts and saves what is
//! already there. Every text is taken for hostile and escaped; only drawings of `skillbench_charts` go in as they are.

mod check;
mod decisions;
mod embed;
mod error;
mod html;
mod json;
mod model;
mod view;

pub use error::PageError;
pub use model::{
    Badge, Choice, Data, Decisions, Figure, Filter, Finding, Kind, Link, Page, PageCell, PageRow, PageTable, Section,
    Tone,
};
