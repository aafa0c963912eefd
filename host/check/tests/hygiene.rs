//! Each way of keeping no house breaks the rule that is about it, and no plugin that keeps house does.

mod support;

use support::verdicts;

/// The rules that a kind breaks, of those about hygiene.
fn broken(kind: &str) -> Vec<(String, String)> {
    let hygiene = "70,71,72,73,74,75,76,77,78,79";
    let (_, all) = verdicts(kind, &["--rules", hygiene]);
    all.into_iter().filter(|(_, verdict, _)| verdict == "broken").map(|(id, _, how)| (id, how)).collect()
}

/// One rule alone is broken, and says so.
fn breaks(kind: &str, rule: &str, says: &str) {
    let all = broken(kind);
    let ids: Vec<&str> = all.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, [rule], "{kind}: {all:#?}");
    assert!(all[0].1.contains(says), "{kind}: {}", all[0].1);
}

#[test]
fn a_clean_plugin_keeps_every_rule() {
    let (code, all) = verdicts("", &[]);
    let other: Vec<_> = all.iter().filter(|(_, verdict, _)| verdict != "kept" && verdict != "not-applicable").collect();
    assert_eq!((code, other.as_slice()), (0, [].as_slice()));
}

#[test]
fn a_word_on_stdout_is_seen_also_where_the_c_library_holds_it_back() {
    breaks("stdout", "stdout-kept", "'one runone runone run'");
}

#[test]
fn threads_that_come_with_each_open_and_stay_are_seen() {
    breaks("threads", "threads-end", "threads grew from");
}

#[test]
fn a_thread_that_spins_is_seen() {
    breaks("spins", "idle", "of processor time");
}

#[test]
fn a_child_that_is_left_is_seen() {
    breaks("children", "children-end", "1 processes that it started run on after close");
}

#[test]
fn what_all_share_is_left_as_it_was() {
    for (kind, says) in [
        ("folder", "after `load`: the working folder is /"),
        ("environment", "the variable UNCLEAN_LEFT_THIS of the environment is set"),
        ("locale", "the locale is C.UTF-8, and was C"),
        ("umask", "the umask is 0777"),
        ("mask", "after `run`: the signal mask is"),
        ("handler", "the handler of SIGTERM is a function"),
        ("rounding", "the rounding of floating point is up, and was to the nearest"),
        #[cfg(target_arch = "x86_64")]
        ("denormals", "the smallest numbers of floating point is"),
    ] {
        breaks(kind, "process-kept", says);
    }
    if std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1) {
        breaks("affinity", "process-kept", "the processors that the thread may run on is");
    }
}

#[test]
fn descriptors_that_stay_open_are_seen() {
    breaks("descriptors", "descriptors-end", "open descriptors grew from");
    breaks("stream", "descriptors-end", "standard stream");
}

#[test]
fn devices_that_become_more_at_each_look_are_seen() {
    breaks("devices", "devices-steady", "at look 2 it has 3 devices, and at the first 2");
}

#[test]
fn texts_without_an_end_and_bytes_that_are_no_text_are_seen() {
    breaks("unterminated", "texts", "the name of a device, of `device`, has no NUL at its end");
    breaks("no-text", "texts", "is not UTF-8");
}

#[test]
fn crashes_while_it_is_closed_are_seen() {
    breaks("exit", "closes", "SIGABRT (abort) as it left, after all was closed");
    for (kind, slot) in [("unused-release", "during `release`"), ("second-close", "during `close`")] {
        let all = broken(kind);
        assert!(all.iter().any(|(id, how)| id == "closes" && how.contains(slot)), "{kind}: {all:#?}");
    }
}

#[test]
fn a_slot_that_is_slow_is_seen() {
    breaks("slow", "slots-quick", "`placement` takes 150 ms");
}
