//! The list of rules.

use super::{Test, backend, benchmark, cache, hygiene, memory, skillset, slots, timed, told};
use crate::CheckJob;
use crate::child::Services;
use crate::description::Description;

/// What kind of plugin a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applies {
    Every,
    Backend,
    Skillset,
    Benchmark,
}

impl Applies {
    pub(super) fn to(self, description: &Description) -> bool {
        match self {
            Applies::Every => true,
            Applies::Backend => description.backend.is_some(),
            Applies::Skillset => description.skillset.is_some(),
            Applies::Benchmark => !description.benchmarks.is_empty(),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Applies::Every => "every plugin",
            Applies::Backend => "backends",
            Applies::Skillset => "skillsets",
            Applies::Benchmark => "benchmarks",
        }
    }
}

pub struct Rule {
    pub number: u32,
    pub id: &'static str,
    pub applies: Applies,
    /// What a well-behaved plugin does.
    pub sentence: &'static str,
    pub(super) test: fn(&'static Services, &CheckJob) -> Test,
}

pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id)
}

macro_rules! rules {
    ($($number:literal $id:literal $applies:ident $sentence:literal $test:path;)*) => {
        /// Every rule. A number never changes its meaning; new rules get new numbers.
        pub const RULES: &[Rule] = &[$(
            Rule { number: $number, id: $id, applies: Applies::$applies, sentence: $sentence, test: $test }
        ),*];
    };
}

rules! {
    1 "described" Every "It exports a complete `skillbench_plugin` of this ABI major, or an `abi_stable` root module that fits, with an id, a name, a version and at least one kind." backend::described;
    2 "quiet" Every "Being loaded and described takes less than a second and starts no thread." backend::quiet;
    10 "options-schema" Backend "Its options schema is valid JSON Schema and closed (`additionalProperties` is false)." backend::options_schema;
    11 "opens" Backend "It opens, or says in one sentence why it cannot, and tells each device's id and name." backend::opens;
    12 "opens-again" Backend "It can be closed and opened again in the same process." backend::opens_again;
    13 "ports" Backend "A loaded model tells its inputs and outputs with names, types and shapes, dynamic dimensions as -1." backend::ports;
    14 "placement" Backend "Placement tells precision, an engine and one of its own devices; counts add up; unknown is SB_UNKNOWN, not 0." backend::placement;
    15 "right" Backend "A model's outputs are right." backend::right;
    16 "inputs-matter" Backend "Outputs change when inputs change, and are the same when they are the same." backend::inputs_matter;
    17 "batch" Backend "The batch size reaches the work: outputs have as many rows as inputs." backend::batch;
    18 "outputs-taken" Backend "An output is given away once, and later runs never write to it." backend::outputs_taken;
    19 "outputs-bound" Backend "It writes into a bound output, or refuses the binding with SB_UNIMPLEMENTED." backend::outputs_bound;
    20 "requests-apart" Backend "Requests of one model are independent, and may run at once." backend::requests_apart;
    21 "no-work-no-number" Backend "A run without inputs is an error, and leaves no output: no number for work not done." backend::no_work_no_number;
    22 "bad-model" Backend "A missing, an empty, a truncated and a garbage model are errors with a message, not crashes, and not models." backend::bad_model;
    23 "bad-binding" Backend "A tensor of a wrong type or rank, and a port that is not there, are refused." backend::bad_binding;
    24 "precision" Backend "A precision it does not know is refused, never ignored." backend::precision;
    25 "bad-device" Backend "A device that is not there is refused." backend::bad_device;
    26 "no-leak" Backend "Running 2,000 times and loading 50 times leaves no growing memory." backend::no_leak;
    27 "same-address" Backend "Contents that change where they lie are those that run, once they are bound again." timed::same_address;
    28 "within-bounds" Backend "It writes nothing beside the memory of inputs and outputs." timed::within_bounds;
    29 "keeps-working" Backend "Each of 1,100 runs writes the output of its own input." timed::keeps_working;
    30 "rows-apart" Backend "Each row of a batch is computed from its own inputs." timed::rows_apart;
    31 "times" Backend "The times that `run` tells lie within the run, on the host's clock, and together take no longer than it." slots::times;
    32 "supports" Backend "`supports` refuses what `load` refuses (a precision and a device that are not there), and nothing that it loads." slots::supports;
    33 "from-memory" Backend "A model that is given as bytes gives the outputs of its file, or is refused with SB_UNIMPLEMENTED." slots::from_memory;
    34 "submitted" Backend "A submitted run calls back once, with the outputs that `run` gives, while others are under way." slots::submitted;
    35 "cancelled" Backend "A submitted run that is cancelled still calls back, and the request runs as before." slots::cancelled;
    36 "reset" Backend "`reset` leaves no trace of the runs before." slots::reset;
    37 "state-kept" Backend "An output that is kept for an input (`alias`) is what the input holds in the next run, until a tensor is bound there." slots::state_kept;
    38 "device-memory" Backend "Memory of a device takes what is copied there and gives it back, and an input that lies there gives the same outputs." memory::device_memory;
    39 "compiled-cache" Backend "Compiled code that is kept is used by the next load with the same outputs, and neither for another batch nor when it is damaged." cache::compiled_cache;
    40 "skills-described" Skillset "Each skill is described as JSON with a unique id, and with content to cache it by." skillset::described;
    41 "skill-builds" Skillset "Its smallest skill builds into an empty folder: a skill.json that can be read, and every file it names." skillset::builds;
    42 "skill-repeats" Skillset "Building it twice writes the same files." skillset::repeats;
    43 "skill-unknown" Skillset "A skill that is not there is an error." skillset::unknown;
    50 "memory" Backend "The memory of a device in use is no more than its highest, nor than all of it; unknown is SB_UNKNOWN, not 0." told::memory;
    51 "energy" Backend "An energy counter names its source, and never goes back." told::energy;
    52 "counters" Backend "Counters of a device are the same ones, in the same order, each time." told::counters;
    53 "operators" Backend "A recording tells the operators of the runs that were recorded, and durations that fit into them." told::operators;
    54 "several-devices" Backend "A model that is loaded onto several devices tells them all and gives the outputs of one, or is refused with SB_UNIMPLEMENTED." told::several_devices;
    55 "sensors-meanwhile" Backend "Energy and counters may be read by another thread while runs are under way: outputs stay right, and no reading fails." told::sensors_meanwhile;
    60 "benchmarks-described" Benchmark "Each benchmark has a unique id, a version, a known category and a valid options schema." benchmark::described;
    61 "needs-target" Benchmark "A benchmark that needs a target and gets none returns an error." benchmark::needs_target;
    62 "measures" Benchmark "On a real target it verifies, runs the rounds it is given, and hands over samples that fit into them." benchmark::measures;
    63 "passes-failure-on" Benchmark "When the target cannot be loaded it returns the error and hands over no sample." benchmark::passes_failure_on;
    64 "stops" Benchmark "Asked to stop while it measures, it returns within a second." benchmark::stops;
    70 "stdout-kept" Every "It writes nothing to stdout, neither itself nor through what it loads." hygiene::stdout_kept;
    71 "threads-end" Backend "Opened and closed again and again, it leaves no more threads each time." hygiene::threads_end;
    72 "idle" Backend "While nothing is asked of it, open or closed, it takes less than a tenth of a processor." hygiene::idle;
    73 "children-end" Backend "Once it is closed, no process that it started runs on." hygiene::children_end;
    74 "process-kept" Backend "It leaves working folder, environment, locale, umask, signals, floating point mode and affinity of the process as they were; `open` may set variables that were not there." hygiene::process_kept;
    75 "descriptors-end" Backend "Opened and closed again and again, it leaves no more open descriptors each time, and the standard streams alone." hygiene::descriptors_end;
    76 "devices-steady" Backend "Its devices are the same at each look, and after it is opened again." hygiene::devices_steady;
    77 "texts" Every "Its texts are UTF-8, and end with NUL within their arrays." hygiene::texts;
    78 "closes" Backend "Releasing, unloading and closing end well, also after failures and beside another instance, and so does the process." hygiene::closes;
    79 "slots-quick" Backend "Slots that only tell (devices, ports, placement, memory, `supports`) take less than a tenth of a second." hygiene::slots_quick;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_ids_are_unique_and_in_order() {
        assert!(RULES.windows(2).all(|pair| pair[0].number < pair[1].number));
        let ids: std::collections::HashSet<_> = RULES.iter().map(|rule| rule.id).collect();
        assert_eq!(ids.len(), RULES.len());
    }
}
