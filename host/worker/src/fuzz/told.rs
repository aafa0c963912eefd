//! What random use found, in words and as JSON: the same in every program that hunts.

use super::{Found, Hunted};
use serde_json::{Value, json};

impl Found {
    /// One fault, and how to see it again.
    pub fn shown(&self) -> String {
        let Found { seed, fault, text, first, runs, repeats } = self;
        let again = if *repeats { "again with" } else { "a matter of luck: it did not come again with" };
        let fault = fault.name();
        format!(
            "seed {seed} {fault}: {}\n  {again}: --seed {first} --runs {runs}\n",
            skillbench_record::shown::line(text)
        )
    }

    fn document(&self) -> Value {
        json!({
            "seed": self.seed,
            "fault": self.fault.name(),
            "text": self.text,
            "repeats": self.repeats,
            "again": { "seed": self.first, "runs": self.runs },
        })
    }
}

impl Hunted {
    /// How much was tried from a first seed, and how much was found.
    pub fn sentence(&self, seed: u64) -> String {
        let Hunted { runs, asked, refused, found } = self;
        format!("{runs} runs from seed {seed}, {asked} calls, {refused} of them refused, {} faults", found.len())
    }

    pub fn document(&self, seed: u64) -> Value {
        json!({
            "seed": seed,
            "runs": self.runs,
            "calls": self.asked,
            "refused": self.refused,
            "found": self.found.iter().map(Found::document).collect::<Vec<_>>(),
        })
    }
}
