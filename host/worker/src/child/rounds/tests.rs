use super::super::energy::OfRound;
use super::*;

const POLICY: Policy = Policy {
    warmup: 5,
    warmup_ns: None,
    iterations: None,
    interval: 0.01,
    rate_interval: 0.05,
    budget_ns: 1_000_000_000,
    verify_only: false,
    interleaved_round_ns: None,
    whole_budget: false,
};

fn now() -> End {
    End { at: Instant::now(), cpu: None }
}

fn state(concurrent: bool) -> State {
    let info = SeriesInfo { concurrent, ..SeriesInfo::duration("latency", 1.0) };
    let series = Series::new(info);
    State { series: vec![series], ..State::default() }
}

/// Plays rounds whose every iteration "took" as long as `iteration` says, without waiting for it.
fn play(policy: &Policy, iteration: impl Fn(u64) -> f64) -> Series {
    let mut state = state(true);
    let mut n = 0;
    while let Some(round) = state.next_round(0, policy, true, |_| None).unwrap() {
        let values: Vec<f64> = (0..round.iterations).map(|i| iteration(n + i)).collect();
        n += round.iterations;
        let total: f64 = values.iter().sum();
        let series = &mut state.series[0];
        let measured = round.kind == RoundKind::Measured;
        series.iteration_ns = Some(total / round.iterations as f64);
        *(if measured { &mut series.spent_ns } else { &mut series.warm_ns }) += total;
        let (wall_ns, cpu_ns) = (total as u64, None);
        let record = RoundRecord { id: round.id, measured, wall_ns, cpu_ns, values, ..RoundRecord::default() };
        series.rounds.push(record);
        state.open = None;
    }
    state.series.remove(0)
}

#[test]
fn a_whole_budget_is_used_however_tight_an_interval_is() {
    let policy = Policy { whole_budget: true, ..POLICY };
    let series = play(&policy, |_| 1e6);
    assert!(series.stable && series.spent_ns >= policy.budget_ns as f64 && series.stopped_by == Some("budget"));
}

#[test]
fn sessions_of_a_third_of_the_budget_are_three_though_they_end_a_moment_early() {
    for whole_budget in [false, true] {
        let policy = Policy { warmup: 0, whole_budget, interval: 1e-9, rate_interval: 1e-9, ..POLICY };
        let third = policy.budget_ns as f64 / 3.0;
        assert_eq!(play(&policy, |i| third * (0.97 + 0.01 * (i % 2) as f64)).count(true), 3);
        assert_eq!(play(&policy, |i| third * (0.75 + 0.01 * (i % 2) as f64)).count(true), 4, "there is time for one");
    }
}

#[test]
fn a_steady_target_is_measured_until_its_interval_is_tight() {
    let series = play(&POLICY, |i| 1e6 + (i % 7) as f64);
    assert_eq!(series.stopped_by, Some("interval"));
    assert!(series.count(true) >= 64 && series.count(false) >= 5);
}

#[test]
fn a_noisy_target_stops_at_its_budget_and_is_not_stable() {
    let series = play(&POLICY, |i| if i % 2 == 0 { 1e6 } else { 9e6 });
    assert_eq!((series.stopped_by, series.stable), (Some("budget"), false));
    assert!(series.spent_ns < 1.2e9, "{}", series.spent_ns);
}

#[test]
fn a_slow_target_is_measured_three_times_whatever_the_budget() {
    let series = play(&POLICY, |_| 5e9);
    assert_eq!(series.count(true), 3);
}

#[test]
fn in_turns_it_is_not_the_series_that_has_enough() {
    let mut series = Series::new(SeriesInfo::duration("latency", 1.0));
    let policy = Policy { interleaved_round_ns: Some(25_000_000), warmup: 0, ..POLICY };
    series.iteration_ns = Some(1e6);
    for id in 0..100 {
        assert_eq!(series.plan(&policy), Some((RoundKind::Measured, 25)), "a round of 25 ms");
        let values = vec![1e6; 25];
        series.spent_ns += 2.5e7;
        series.rounds.push(RoundRecord { id, measured: true, values, ..RoundRecord::default() });
    }
}

#[test]
fn a_slow_energy_counter_gets_rounds_of_its_own_that_no_other_figure_has() {
    let mut state = state(true);
    state.series[0] = play(&POLICY, |_| 1e6);
    let (rounds, spent_ns) = (state.series[0].rounds.len(), state.series[0].spent_ns);
    let round = OfRound { joules: 1.0, seconds: 0.025, samples: 25, median: None, other_joules: None };
    let used = Used { source: "NVML".into(), scope: "board", rounds: vec![round; 8], long: vec![], other: None };
    let slow = |_: &Used| Some(0.1);
    assert_eq!(state.next_round(0, &POLICY, true, slow).unwrap(), None, "without a sensor");
    state.series[0].energy = Some(used);
    for _ in 0..3 {
        let round = state.next_round(0, &POLICY, true, slow).unwrap().unwrap();
        assert_eq!(round.iterations, 2_000, "two seconds for a counter of 100 ms");
        let values = vec![1e6; 2_000];
        let median = state.samples(0, round.id, &values, Instant::now(), now(), &Seen::default()).unwrap();
        assert!(median.is_some());
    }
    assert_eq!((state.series[0].rounds.len(), state.series[0].spent_ns), (rounds, spent_ns));
    assert_eq!(state.next_round(0, &POLICY, true, slow).unwrap(), None, "three, whatever the counter said of them");
    state.series[0].long = 0;
    assert_eq!(state.next_round(0, &POLICY, true, |_| None).unwrap(), None, "it tells enough of the rounds there are");
    let asked = Policy { iterations: Some(10), ..POLICY };
    assert_eq!(state.next_round(0, &asked, true, slow).unwrap(), None);
    state.series[0].info.name = "matmul".into();
    assert_eq!(state.next_round(0, &POLICY, true, slow).unwrap(), None, "nobody is told the energy of this series");
}

#[test]
fn the_asked_iterations_are_the_least_number() {
    let series = play(&Policy { iterations: Some(500), ..POLICY }, |_| 1e7);
    assert!(series.count(true) >= 500);
}

#[test]
fn samples_that_add_up_to_more_than_the_round_are_rejected() {
    let mut state = state(false);
    let round = state.next_round(0, &POLICY, true, |_| None).unwrap().unwrap();
    let told = state.samples(0, round.id, &[1e12], Instant::now(), now(), &Seen::default()).unwrap_err();
    assert!(told.message.contains("more than the round took"), "{told}");
}

#[test]
fn no_measured_round_comes_before_the_verification() {
    let mut state = state(false);
    let none = Policy { warmup: 0, ..POLICY };
    assert!(state.next_round(0, &none, false, |_| None).is_err());
}

#[test]
fn a_time_of_zero_is_no_measurement() {
    let mut state = state(false);
    let round = state.next_round(0, &POLICY, true, |_| None).unwrap().unwrap();
    assert!(state.samples(0, round.id, &[0.0], Instant::now(), now(), &Seen::default()).is_err());
}

#[test]
fn a_series_is_called_neither_as_another_nor_as_one_of_the_hosts() {
    let verified = AtomicBool::new(true);
    let rounds = Rounds::without_target(Services::leak(std::io::sink()), &POLICY, None, &verified);
    let announced = |name: &str| rounds.series(SeriesInfo::duration(name, 1.0));
    assert!(announced("latency").is_ok());
    for taken in ["latency", "", "over_time.power", "read_at.power"] {
        assert!(announced(taken).is_err(), "{taken}");
    }
}

#[test]
fn an_attachment_is_kept_in_its_folder_and_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    let verified = AtomicBool::new(true);
    let (services, kept) = (Services::leak(std::io::sink()), folder.path().join("kept"));
    let rounds = Rounds::without_target(services, &POLICY, Some(&kept), &verified);
    rounds.attach("trace.json", b"{}");
    rounds.attach("../escaped", b"{}");
    assert_eq!(std::fs::read(folder.path().join("kept/trace.json")).unwrap(), b"{}");
    assert!(!folder.path().join("escaped").exists());
}
