//! Whether requests were issued too late for a session to say something of the target.

use crate::limit::Limit;
use crate::session::{Request, Served};
use std::time::Duration;

/// How much of the latencies may be the generator's: of their median, and of their 99th percentile, or the limit that they are held to.
const OF_MEDIAN: f64 = 0.05;
const OF_P99: f64 = 0.25;
/// No machine is asked for less.
const LEAST: Duration = Duration::from_micros(20);
/// An event loop is woken by others: none is asked for less than this.
const LEAST_OF_LOOP: Duration = Duration::from_micros(200);
/// Workers that work so much of their time are what latencies come from, whoever is late beside them.
const SATURATED: f64 = 0.95;

/// An event loop that works so much of the time is itself at its limit.
const LOOP_AT_ITS_LIMIT: f64 = 0.9;

/// Why a session says nothing of its target whose event loop was itself at its limit; `None`: it was not.
pub fn at_its_limit(served: &Served, less: &str) -> Option<String> {
    let share = served.event_loop.filter(|share| *share >= LOOP_AT_ITS_LIMIT)?;
    Some(format!(
        "void: the thread that has all requests under way worked {:.0}% of the time, so that what it saw may be its own limit: ask for {less}, or for shorter answers",
        share * 100.0
    ))
}

/// Why a session is void, with what to do, of which `less` is a part: how less load is asked for. `None`: it is not.
pub fn too_late(served: &Served, workers: usize, limits: &[Limit], less: &str) -> Option<String> {
    if served.utilization(workers) >= SATURATED {
        return None;
    }
    let late = sorted(served.late(workers).into_iter());
    let latencies = sorted(served.requests.iter().filter_map(Request::response));
    // The shortest of the limits on what a user sees first.
    let of_response = limits.iter().map(|limit| limit.response().as_nanos() as u64).filter(|within| *within > 0);
    let within = of_response.min().unwrap_or_default();
    // Where most were refused, there is no latency in the middle that lateness could be held against, only the limit.
    let middle = if served.refused() * 2 > served.requests.len() { within } else { 0 };
    let least = if served.event_loop.is_some() { LEAST_OF_LOOP } else { LEAST }.as_nanos() as f64;
    let done = if served.event_loop.is_some() { "seen to" } else { "issued" };
    let rules = [
        ("half of the requests were", 0.5, OF_MEDIAN, middle),
        ("one of a hundred requests was", 0.99, OF_P99, within),
    ];
    rules.into_iter().find_map(|(name, share, allowed, against)| {
        let found = at(&late, share) as f64;
        let most = (at(&latencies, share).max(against) as f64 * allowed).max(least);
        let (found_us, most_us) = (found * 1e-3, most * 1e-3);
        (found > most).then(|| {
            format!(
                "void: {name} {done} {found_us:.0} us late or later, and {most_us:.0} us are allowed beside such latencies; this machine cannot issue them so often beside the target: leave a processor free (--threads, --generator-cores), or ask for {less}"
            )
        })
    })
}

/// The shortest latencies beside which requests so late are not too late, in nanoseconds: in the middle, and of one of a hundred. `None`: beside any.
pub fn tells_from(served: &Served) -> [Option<f64>; 2] {
    let late = sorted(served.requests.iter().map(Request::lateness));
    let least = LEAST.as_nanos() as f64;
    [(0.5, OF_MEDIAN), (0.99, OF_P99)].map(|(share, allowed)| {
        let late = at(&late, share) as f64;
        (late > least).then(|| late / allowed)
    })
}

fn sorted(values: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values
}

/// The value below which so large a share of sorted ones lies; 0 of none.
fn at(sorted: &[u64], share: f64) -> u64 {
    sorted.get((sorted.len() as f64 * share) as usize).or(sorted.last()).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn too_late(served: &Served, workers: usize, limits: &[Limit]) -> Option<String> {
        super::too_late(served, workers, limits, "a lower rate")
    }

    /// A hundred requests, 10 ms apart, each served for 1 ms; `late` and `refused` by their number.
    fn session(late: impl Fn(u64) -> u64, refused: impl Fn(u64) -> bool) -> Served {
        let request = |number: u64| {
            let due = number * 10 * MS;
            let issued = due + late(number);
            Request {
                due,
                issued,
                served: Some([issued, issued + MS]),
                first: None,
                tokens: 0,
                refused: refused(number),
            }
        };
        let requests: Vec<Request> = (0..100).map(request).collect();
        let (wall, busy) = (Duration::from_secs(1), Duration::from_millis(100));
        let (generator, event_loop) = (None, None);
        Served { requests, wall, gaps: vec![], busy, generator, event_loop, runs: 100, rows: 100, given_up: false }
    }

    fn limit() -> Vec<Limit> {
        Limit::all("latency.p99<=20ms").unwrap()
    }

    #[test]
    fn a_generator_that_is_late_makes_a_session_void() {
        let never = |_| false;
        assert_eq!(too_late(&session(|_| 10_000, never), 1, &[]), None);
        assert!(too_late(&session(|_| MS / 10, never), 1, &[]).unwrap().contains("half of the requests were"));
        let seldom = |number| if u64::is_multiple_of(number, 20) { 5 * MS } else { 0 };
        assert!(too_late(&session(seldom, never), 1, &[]).unwrap().contains("one of a hundred requests was"));
        assert_eq!(too_late(&session(seldom, never), 1, &limit()), None, "a quarter of the limit is more");
    }

    #[test]
    fn a_generator_tells_latencies_from_where_it_is_not_too_late_for_them() {
        let [median, p99] = tells_from(&session(|number| if number < 98 { 30_000 } else { 50_000 }, |_| false));
        assert_eq!([median.map(f64::round), p99.map(f64::round)], [Some(600_000.0), Some(200_000.0)]);
        assert_eq!(tells_from(&session(|_| 20_000, |_| false)), [None, None], "no machine is asked for less");
    }

    #[test]
    fn an_event_loop_that_is_at_its_limit_or_sees_late_to_what_it_has_room_for_makes_a_session_void() {
        let of_loop = |share| Served { event_loop: Some(share), ..session(|_| 0, |_| false) };
        assert_eq!(too_late(&of_loop(0.5), 4, &[]), None);
        assert_eq!(at_its_limit(&of_loop(0.5), "less"), None);
        assert!(at_its_limit(&of_loop(0.95), "less").unwrap().contains("worked 95% of the time"));
        // Each is seen to 1 ms after it was due, and takes 1 ms more.
        let waiting = |room: usize| {
            let mut served = of_loop(0.5);
            served.requests.iter_mut().for_each(|one| one.served = Some([one.due + MS, one.due + 2 * MS]));
            too_late(&served, room, &[])
        };
        assert!(waiting(4).unwrap().contains("half of the requests were"));
        // Where there is no room for it, it waits for others.
        let mut queue = of_loop(0.5);
        let times = |number: u64| [number * 20 * MS, number * 20 * MS + 20 * MS];
        queue.requests.iter_mut().zip(0..).for_each(|(one, number)| one.served = Some(times(number)));
        assert_eq!(too_late(&queue, 1, &[]), None);
    }

    #[test]
    fn a_target_that_is_at_its_limit_is_what_latencies_come_from() {
        let busy = Served { wall: Duration::from_millis(100), ..session(|_| MS, |_| false) };
        assert_eq!(too_late(&busy, 1, &[]), None);
    }

    #[test]
    fn where_most_are_refused_lateness_is_held_against_the_limit() {
        let few = |number: u64| !number.is_multiple_of(10);
        assert_eq!(too_late(&session(|_| MS / 10, few), 1, &limit()), None);
        assert_eq!(too_late(&session(|_| MS / 10, |_| true), 1, &limit()), None);
        assert!(too_late(&session(|_| 2 * MS, few), 1, &limit()).is_some());
    }
}
