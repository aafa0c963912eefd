//! What predictions and recommendations stand on.
//!
//! - `asked`: which models and points are meant. `bench`: the hardware that was measured, each with what predicts it. `answers`: what is
//!   known of each point on each. `within`: what has to be kept. `ranking`: which hardware goes before which.
//! - `capacities`: those that were searched, each with its load. `bearing`: which hardware bears the most of a load. `price`: what that costs.
//! - `elsewhere`: what was measured on other machines.
//! - `cells`: the cells of the inference benchmark that count now, and the peaks of the hardware.

mod answers;
mod asked;
mod bearing;
mod bench;
mod candidate;
mod capacities;
mod cells;
mod elsewhere;
mod price;
mod ranking;
mod within;

pub use answers::{Answer, Figure, answers, by_hardware};
pub use asked::{Asked, Models};
pub use bearing::Bearing;
pub use bench::{Bench, Hardware};
pub use candidate::{Candidate, Evidence};
pub use capacities::{Capacities, Capacity, Vain};
pub use cells::{Cells, MeasuredCell, Place, Tried};
pub use elsewhere::{Elsewhere, ElsewhereError, TrainingRow};
pub use price::{Cost, Per, PriceError, Prices};
pub use ranking::{By, rank};
pub use within::{Within, WithinError};

pub use skillbench_record::load::Load;

use skillbench_engine::run::RequestError;
use skillbench_record::BackendChoice;

/// What is asked ahead of measuring; empty lists: all, or the usual.
#[derive(Clone, Debug, Default)]
pub struct Question {
    pub models: Vec<String>,
    /// Its id, or what people call it; `None`: this one.
    pub machine: Option<String>,
    pub hardware: Vec<String>,
    pub precision: Option<String>,
    pub threads: Option<u64>,
    pub batch_sizes: Vec<i64>,
    pub sequence_lengths: Vec<i64>,
}

#[derive(Debug, thiserror::Error)]
pub enum QuestionError {
    #[error("no hardware '{choice}' was measured or is known here{near}")]
    Hardware { choice: BackendChoice, near: String },
    #[error("no machine '{asked}' is in the database; there are: {known}")]
    Machine { asked: String, known: String },
    #[error(
        "no model '{0}' is known or was measured here, and nothing is fetched for a prediction: `host models {0}` fetches it"
    )]
    NotFetched(String),
    #[error("{0}")]
    Model(String),
    #[error(transparent)]
    Request(#[from] RequestError),
}
