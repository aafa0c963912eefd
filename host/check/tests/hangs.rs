//! A library that hangs in each slot in turn: the check ends in time, and says where.

mod support;

use skillbench_worker::check::SLOTS;
use std::time::{Duration, Instant};
use support::verdicts;

#[test]
fn a_library_that_hangs_in_a_slot_costs_a_few_rules_and_the_slot_is_named() {
    let of_plugin = |slot: &&skillbench_worker::check::Slot| matches!(slot.table, "sb_plugin" | "sb_backend");
    // What the template leaves out hangs nowhere.
    let left_out = ["allocate", "copy", "alias", "reset", "submit", "cancel", "memory", "extension"];
    let slots: Vec<&str> =
        SLOTS.iter().filter(of_plugin).map(|slot| slot.name).filter(|name| !left_out.contains(name)).collect();
    assert_eq!(slots.len(), 17, "{slots:?}");
    for slot in slots {
        let began = Instant::now();
        let (code, all) = verdicts(&format!("hang:{slot}"), &["--limit", "1"]);
        assert_eq!(code, 1, "{slot}");
        let named = |how: &str| how.contains(&format!("no end after 1.0 s of `{slot}`"));
        let hung = all.iter().filter(|(_, verdict, how)| verdict == "broken" && named(how)).count();
        assert!((1..=3).contains(&hung), "{slot}: {all:#?}");
        if let Some(third) = all.iter().enumerate().filter(|(_, (_, _, how))| named(how)).map(|(place, _)| place).nth(2)
        {
            let why = "the library hung in 3 rules before: ";
            let left = |(_, verdict, how): &(String, String, String)| {
                verdict == "not-applicable" || (verdict == "not-checked" && how.starts_with(why))
            };
            assert!(all[third + 1..].iter().all(left), "{slot}: {all:#?}");
        }
        assert!(began.elapsed() < Duration::from_secs(30), "{slot}: {:?}", began.elapsed());
    }
}

#[test]
fn a_crash_in_a_slot_is_named_by_it() {
    let (code, all) = verdicts("crash:placement", &["--rules", "placement"]);
    let how = &all[0].2;
    assert_eq!(code, 1);
    assert!(how.starts_with("the worker was killed by SIGABRT (abort) during `placement`"), "{how}");
}
