//! What is not as it should be is told as what it is, and the rest goes on.

use crate::world::{Ended, Fate, ID, Keys, World, environment};
use skillbench_fleet::agent::Word;
use skillbench_fleet::courier::{Courier, Table};
use skillbench_fleet::form::{self, Machine, Outcome};
use skillbench_fleet::keys::Role;
use skillbench_fleet::names;
use skillbench_fleet::seal::{Signer, Trust as TrustOf, When};
use skillbench_fleet::submit::{cancel, resume};
use skillbench_record::{Run, Trust};

/// What became of each cell of a plugin: "measured", or the code of the reason.
fn outcomes(run: &Run, plugin: &str) -> Vec<String> {
    let of_plugin = run.cells.iter().filter(|cell| cell.plugin == plugin && cell.axes.get("batch") != Some(&99));
    let told = |cell: &skillbench_record::Cell| {
        cell.outcome.reason().map_or_else(|| cell.outcome.name().to_string(), |reason| reason.code.clone())
    };
    of_plugin.map(told).collect()
}

#[test]
fn a_cell_that_takes_its_agent_down_three_times_is_told_so_and_the_rest_goes_on() {
    let keys = Keys::new();
    let world = World::new(&keys);
    world.submit().unwrap();
    *world.bench.fate.lock() = Some(("p0".into(), 2, Fate::AgentDies));
    for _ in 0..3 {
        assert!(matches!(world.agent(0), Err(Ended::Killed)));
        world.revive();
    }
    world.agent(0).unwrap();
    world.agent(1).unwrap_err();
    *world.bench.fate.lock() = None;
    world.revive();
    world.agent(1).unwrap();
    let runs = world.collect().unwrap();
    assert_eq!(outcomes(&runs[0], "p0"), ["measured", "machine-lost", "measured"]);
    assert_eq!(outcomes(&runs[0], "p1"), ["measured"; 3]);
    assert_eq!(outcomes(&runs[1], "p0"), ["measured"; 3]);
    world.verified();
}

#[test]
fn a_host_that_dies_costs_the_cell_it_was_at() {
    let keys = Keys::new();
    let world = World::new(&keys);
    *world.bench.fate.lock() = Some(("p1".into(), 1, Fate::HostDies));
    let runs = world.drive().unwrap();
    for run in &runs {
        assert_eq!(outcomes(run, "p1"), ["host-died", "measured", "measured"]);
        assert_eq!(outcomes(run, "p0"), ["measured"; 3]);
    }
    world.verified();
}

#[test]
fn a_machine_with_another_plugin_than_was_planned_measures_nothing_with_it() {
    let keys = Keys::new();
    let world = World::new(&keys);
    world.submit().unwrap();
    let mut other = environment();
    other.plugin_sha256.insert("p0".into(), "changed".into());
    world.agent_as(0, other.clone()).unwrap();
    // The library is changed under an agent that runs.
    *world.bench.plugins.lock() = Some(other.plugin_sha256);
    world.agent(1).unwrap();
    for run in world.collect().unwrap() {
        assert_eq!(outcomes(&run, "p0"), ["other-plugin"; 3]);
        assert_eq!(outcomes(&run, "p1"), ["measured"; 3]);
    }
    world.verified();
}

#[test]
fn what_is_taken_back_is_not_begun_and_what_is_measured_stays() {
    let keys = Keys::new();
    let world = World::new(&keys);
    world.submit().unwrap();
    world.agent(0).unwrap();
    assert_eq!(cancel(&world.courier, ID).unwrap(), 2);
    world.agent(1).unwrap();
    let runs = world.collect().unwrap();
    assert_eq!(outcomes(&runs[0], "p0"), ["measured"; 3]);
    assert_eq!(outcomes(&runs[1], "p0"), ["cancelled"; 3]);
}

#[test]
fn a_job_that_no_submitter_signed_is_not_measured() {
    let keys = Keys::new();
    let world = World::new(&keys);
    let forger = Signer::of(&keys.agents[1]).unwrap();
    let lot = &world.submission.lots[0];
    let job = forger.seal(&world.submission.job(lot).unwrap()).unwrap();
    world.courier.store(&names::job("h1", ID, &lot.id), &job).unwrap();
    let runs = world.drive().unwrap();
    assert_eq!(outcomes(&runs[0], "p0"), ["no-outcome"; 3]);
    let reason = runs[0].cells[0].outcome.reason().unwrap();
    assert!(reason.message.contains("'h2' is agent there"), "{}", reason.message);
    assert!(world.bench.measured.lock().values().sum::<usize>() == 9);
}

#[test]
fn figures_that_another_machine_wrote_are_not_believed() {
    let keys = Keys::new();
    let world = World::new(&keys);
    world.submit().unwrap();
    let asked = &world.submission.runs[0].cells[0];
    let outcome = Outcome {
        schema: form::OUTCOME.into(),
        submission: ID.into(),
        lot: "0".into(),
        machine: "h1".into(),
        key: asked.key.clone(),
        session: "s".into(),
        attempt: 1,
        at: "2026-01-31T12:00:00Z".into(),
        conditions: form::conditions(&environment()),
        line: String::new(),
        files: vec![],
        lost: vec![],
    };
    let forged = Signer::of(&keys.agents[1]).unwrap().seal(&outcome).unwrap();
    world.courier.store(&names::outcome(ID, "h1", &asked.key), &forged).unwrap();
    let runs = world.drive().unwrap();
    assert_eq!(outcomes(&runs[0], "p0"), ["no-outcome", "measured", "measured"]);
    assert_eq!(runs[0].cells.iter().filter(|cell| cell.trust() == Some(Trust::Implausible)).count(), 0);
}

#[test]
fn what_was_taken_back_is_measured_after_all_and_takes_the_place_of_what_was_said_of_it() {
    let keys = Keys::new();
    let world = World::new(&keys);
    world.submit().unwrap();
    world.agent(0).unwrap();
    cancel(&world.courier, ID).unwrap();
    let before = world.collect().unwrap();
    assert_eq!(outcomes(&before[0], "p0"), ["measured"; 3]);
    assert_eq!(outcomes(&before[1], "p0"), ["cancelled"; 3]);
    let signer = Signer::of(&keys.me).unwrap();
    let lots = resume(&world.courier, &signer, &world.submission).unwrap();
    let of_the_other = world.submission.lots.iter().filter(|lot| lot.run == 1).count();
    assert_eq!(lots, of_the_other);
    world.agent(1).unwrap();
    let after = world.collect().unwrap();
    assert_eq!(outcomes(&after[1], "p0"), ["measured"; 3]);
    assert_eq!(resume(&world.courier, &signer, &world.submission).unwrap(), 0);
    world.verified();
}

#[test]
fn a_machine_says_how_far_its_clock_is_from_the_servers() {
    let keys = Keys::new();
    let world = World::new(&keys);
    let now = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as i64;
    let before = now();
    world.agent(0).unwrap();
    let announced = world.courier.read(Table::Machines, &keys.agents[0].name).unwrap().unwrap();
    let opened = TrustOf::of(&keys.me).open(&announced.body, &[Role::Agent], When::Now).unwrap();
    let machine: Machine = form::read(form::MACHINE, &opened.body).unwrap();
    let clock = machine.clock.unwrap();
    // The server in memory began at a moment of its own.
    let truth = announced.at_ms - before;
    assert!((clock.offset_ms - truth).abs() <= clock.bound_ms + (now() - before), "{clock:?}, truly {truth}");
    assert!(clock.is_beyond(2000) && clock.bound_ms < 2000, "{clock:?}");
}

#[test]
fn an_agent_with_an_idle_exit_does_not_wait_for_a_server_that_does_not_come_back() {
    let keys = Keys::new();
    let world = World::new(&keys);
    let mut warnings = vec![];
    world
        .agent_that(0, environment(), &mut |word| match word {
            Word::Ready => world.courier.away(true),
            Word::Warning(text) => warnings.push(text.to_string()),
            _ => {}
        })
        .unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
}

#[test]
fn a_file_that_is_not_what_the_job_names_costs_the_cells_that_need_it_and_is_mended_by_whoever_asks_anew() {
    let keys = Keys::new();
    let world = World::new(&keys);
    world.submit().unwrap();
    let file = world.submission.own.files().next().unwrap();
    world.courier.take_back(&names::all_of_file(&file.sha256)).unwrap();
    world.courier.store(&names::file_part(&file.sha256, 0), b"other").unwrap();
    world.courier.store(&names::whole_file(&file.sha256), br#"{"bytes":5}"#).unwrap();
    world.agent(0).unwrap();
    assert!(world.bench.measured.lock().is_empty());
    world.courier.take_back(&names::all_of_file(&file.sha256)).unwrap();
    let runs = world.drive().unwrap();
    assert_eq!(outcomes(&runs[0], "p0"), ["no-file"; 3]);
    assert_eq!(outcomes(&runs[1], "p0"), ["measured"; 3], "sent again, it is the right one");
}

#[test]
fn a_submission_with_a_place_outside_of_its_folder_is_not_measured() {
    let keys = Keys::new();
    let mut world = World::new(&keys);
    let model = world.submission.own.models.get_mut("m").unwrap();
    model.files[1].name = "../../w/m.data".into();
    world.submit().unwrap();
    world.agent(0).unwrap();
    assert!(world.bench.measured.lock().is_empty());
}
