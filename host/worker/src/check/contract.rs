//! The slots of the contract that plugins fill: since when there is each, who calls it, and which rules hold it.
//!
//! `docs/contract.md` is made from [`SLOTS`]. A test holds the list against the header and against the rules.

/// A function of a plugin, in one of the tables of the header.
pub struct Slot {
    pub table: &'static str,
    pub name: &'static str,
    /// The minor of the contract, "1.0".
    pub since: &'static str,
    /// Whether a plugin may leave it out.
    pub optional: bool,
    /// Who calls it, and when.
    pub caller: &'static str,
    /// Ids of rules.
    pub rules: &'static [&'static str],
}

macro_rules! slots {
    ($($table:literal { $($name:literal $since:literal $need:ident $caller:literal [$($rule:literal)*];)* })*) => {
        pub const SLOTS: &[Slot] = &[$($(Slot {
            table: $table,
            name: $name,
            since: $since,
            optional: slots!($need),
            caller: $caller,
            rules: &[$($rule),*],
        }),*),*];
    };
    (needed) => { false };
    (optional) => { true };
}

slots! {
    "sb_plugin" {
        "init" "1.0" optional "each worker, once, before it asks for anything" ["quiet" "stdout-kept"];
        "factory" "1.0" needed "each worker, for the tables that it needs" ["described" "texts"];
    }
    "sb_backend" {
        "open" "1.0" needed "each worker that measures or looks for devices" ["opens" "opens-again" "process-kept"];
        "close" "1.0" needed "the worker, before it ends" ["opens-again" "closes" "threads-end" "idle" "children-end" "descriptors-end" "process-kept"];
        "device_count" "1.0" needed "the worker, after `open`" ["opens" "devices-steady" "slots-quick"];
        "device" "1.0" needed "the worker, after `open`" ["opens" "devices-steady" "texts" "slots-quick"];
        "supports" "1.0" optional "`host why`, the choice of a backend and the look ahead of a run, before they load a model" ["supports" "slots-quick"];
        "load" "1.0" needed "the worker, timed; for benchmarks, references, profiles and `host why`" ["ports" "precision" "bad-model" "bad-device" "several-devices" "from-memory" "compiled-cache" "process-kept"];
        "unload" "1.0" needed "the worker, once no request is left" ["no-leak" "closes"];
        "placement" "1.0" needed "the worker, after each load" ["placement" "precision" "several-devices" "texts" "slots-quick"];
        "port_count" "1.0" needed "the worker, after each load" ["ports" "slots-quick"];
        "port" "1.0" needed "the worker, after each load" ["ports" "texts" "slots-quick"];
        "allocate" "1.0" optional "the benchmark `roofline`, for the rates of copies" ["device-memory"];
        "copy" "1.0" optional "the benchmark `roofline`, for the rates of copies" ["device-memory"];
        "request" "1.0" needed "benchmarks, and the worker for its own runs" ["requests-apart"];
        "release" "1.0" needed "whoever made the request" ["no-leak" "closes"];
        "bind" "1.0" needed "the worker: inputs by rule, outputs after verification, and again between the runs of a round" ["bad-binding" "outputs-bound" "same-address" "within-bounds"];
        "alias" "1.0" optional "the benchmark `generation`, for a cache that stays where it is" ["state-kept"];
        "reset" "1.0" optional "the benchmark `generation`, before each sequence" ["reset"];
        "run" "1.0" needed "the worker, for benchmarks; it asks for times with each run" ["right" "inputs-matter" "batch" "rows-apart" "keeps-working" "no-work-no-number" "times" "stdout-kept" "process-kept"];
        "output" "1.0" needed "the worker, to compare with the reference" ["outputs-taken"];
        "submit" "1.0" optional "the benchmark `throughput-inference` with a queue depth" ["submitted" "closes"];
        "cancel" "1.0" optional "benchmarks, when a run fails or is stopped while others are under way" ["cancelled"];
        "memory" "1.0" optional "the worker, before, while and after it measures" ["memory" "slots-quick"];
        "extension" "1.0" optional "the worker, for sensors and profiles" ["energy" "counters" "operators"];
    }
    "sb_power" {
        "read" "1.0" needed "the worker, around measured rounds, and during long ones" ["energy"];
    }
    "sb_counters" {
        "count" "1.0" needed "the worker, between measured rounds, and during long ones" ["counters"];
        "read" "1.0" needed "the worker, between measured rounds, and during long ones" ["counters"];
    }
    "sb_profile" {
        "begin" "1.0" needed "`host run --profile-detailed`" ["operators"];
        "end" "1.0" needed "`host run --profile-detailed`" ["operators"];
        "count" "1.0" needed "`host run --profile-detailed`" ["operators"];
        "read" "1.0" needed "`host run --profile-detailed`" ["operators"];
    }
    "sb_skillset" {
        "count" "1.0" needed "a worker that looks at a plugin" ["skills-described"];
        "describe" "1.0" needed "a worker that looks at a plugin" ["skills-described"];
        "build" "1.0" needed "a worker that builds a model into the cache" ["skill-builds" "skill-repeats" "skill-unknown"];
    }
    "sb_benchmark" {
        "run" "1.0" needed "a worker, for each cell" ["needs-target" "measures" "passes-failure-on" "stops"];
    }
    "sb_benchmarks" {
        "count" "1.0" needed "a worker that looks at a plugin, and for each cell" ["benchmarks-described"];
        "at" "1.0" needed "a worker that looks at a plugin, and for each cell" ["benchmarks-described"];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::RULES;
    use std::collections::BTreeSet;

    /// The functions of the tables that plugins provide, as the header declares them.
    fn declared() -> BTreeSet<(String, String)> {
        let mut all = BTreeSet::new();
        let tables: BTreeSet<&str> = SLOTS.iter().map(|slot| slot.table).collect();
        for table in tables {
            let (_, body) = skillbench_plugin_api::HEADER.split_once(&format!("typedef struct {table} {{")).unwrap();
            let (body, _) = body.split_once(&format!("}} {table};")).unwrap();
            let names = body.split("(*").skip(1).filter_map(|rest| rest.split_once(')'));
            all.extend(names.map(|(name, _)| (table.to_string(), name.to_string())));
        }
        all
    }

    #[test]
    fn every_slot_of_the_header_is_listed_once() {
        let listed: BTreeSet<_> = SLOTS.iter().map(|slot| (slot.table.to_string(), slot.name.to_string())).collect();
        assert_eq!(listed.len(), SLOTS.len());
        assert_eq!(listed, declared());
    }

    #[test]
    fn every_rule_that_holds_a_slot_is_there() {
        let named = SLOTS.iter().flat_map(|slot| slot.rules);
        let unknown: Vec<_> = named.filter(|id| !RULES.iter().any(|rule| rule.id == **id)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}
