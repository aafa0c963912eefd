//! The three functions as a host sees them: through the C table alone.

use skillbench_examples::{SIZES, exponent};
use skillbench_plugin_api::client::{BenchmarkRef, Plugin};
use skillbench_plugin_api::host_tables::{HostServices, HostTable, ReporterServices, ReporterTable};
use skillbench_plugin_api::{Options, Result, Round, RoundKind, SeriesInfo, SeriesKind, raw};
use std::sync::Mutex;

unsafe extern "C" {
    static skillbench_plugin: raw::sb_plugin;
}

fn benchmarks() -> Vec<BenchmarkRef> {
    // SAFETY: the table of the crate under test, with which this program is linked.
    unsafe { Plugin::new(&raw const skillbench_plugin) }.unwrap().benchmarks().unwrap()
}

struct Silent;

impl HostServices for Silent {
    fn log(&self, _: i32, _: &str, _: &str) {}
    fn phase(&self, _: &str, _: f64) {}
    fn now_ns(&self) -> u64 {
        0
    }
    fn stopping(&self) -> bool {
        false
    }
}

/// A series, how many rounds it had, and its measured values.
type Seen = (SeriesInfo, u64, Vec<f64>);

/// A round to warm up, and a measured one of three calls.
#[derive(Default)]
struct Reporter(Mutex<Vec<Seen>>);

impl ReporterServices for Reporter {
    fn series(&self, info: SeriesInfo) -> Result<u32> {
        let mut all = self.0.lock().unwrap();
        all.push((info, 0, vec![]));
        Ok(all.len() as u32 - 1)
    }

    fn next_round(&self, series: u32) -> Option<Round> {
        let rounds = &mut self.0.lock().unwrap()[series as usize].1;
        *rounds += 1;
        let kind = if *rounds == 1 { RoundKind::WarmUp } else { RoundKind::Measured };
        (*rounds <= 2).then_some(Round { id: *rounds, kind, iterations: 3, settle: 0 })
    }

    fn samples(&self, series: u32, round: u64, values: &[f64]) -> Result<()> {
        if round != 1 {
            self.0.lock().unwrap()[series as usize].2.extend_from_slice(values);
        }
        Ok(())
    }

    fn attach(&self, _: &str, _: &[u8]) {}
}

fn run(id: &str) -> Vec<(SeriesInfo, Vec<f64>)> {
    let benchmark = benchmarks().into_iter().find(|benchmark| benchmark.id() == id).unwrap();
    let reporter = Reporter::default();
    let host = HostTable::leak(Box::leak(Box::new(Silent)));
    benchmark.run(host, None, &Options::default(), &ReporterTable::new(&reporter)).unwrap();
    reporter.0.into_inner().unwrap().into_iter().map(|(info, _, values)| (info, values)).collect()
}

fn values<'s>(seen: &'s [(SeriesInfo, Vec<f64>)], name: &str) -> &'s [f64] {
    &seen.iter().find(|(info, _)| info.name == name).unwrap_or_else(|| panic!("no series '{name}'")).1
}

#[test]
fn there_is_one_of_each_category_and_none_needs_a_target() {
    let told: Vec<(String, String)> = benchmarks().iter().map(|one| (one.id(), one.category())).collect();
    let wanted =
        [("run_hash_join", "unit"), ("benchmark_columns_to_rows", "integration"), ("run_scalability", "performance")];
    assert_eq!(told, wanted.map(|(id, category)| (id.to_string(), category.to_string())));
    assert!(benchmarks().iter().all(|one| !one.needs_target() && !one.summary().is_empty() && one.version() == "1"));
}

#[test]
fn the_join_leaves_time_and_throughput_to_the_host() {
    let seen = run("run_hash_join");
    assert_eq!(seen.len(), 2);
    assert_eq!((values(&seen, "first_execution").len(), values(&seen, "execution_time").len()), (1, 3));
    assert!(seen.iter().all(|(info, _)| info.items_per_sample == 20_000.0));
}

#[test]
fn the_rows_take_as_much_memory_as_the_columns() {
    let seen = run("benchmark_columns_to_rows");
    let size = f64::from(16 << 20);
    assert!(values(&seen, "columns").iter().chain(values(&seen, "rows")).all(|bytes| *bytes == size), "{seen:?}");
}

#[test]
fn a_sort_takes_more_than_ten_times_as_long_for_ten_times_the_numbers() {
    let seen = run("run_scalability");
    let middle = |name: &str| {
        let mut three = values(&seen, name).to_vec();
        three.sort_by(f64::total_cmp);
        three[1]
    };
    let times = SIZES.map(|size| middle(&format!("size_{size}")));
    assert!(times[0] < times[1] && times[1] < times[2], "{times:?}");
    let (info, _) = seen.iter().find(|(info, _)| info.name == "exponent").unwrap();
    assert_eq!((info.kind, info.higher_is_better), (SeriesKind::Ratio, Some(false)));
    assert!((0.8..2.0).contains(&middle("exponent")), "{times:?}");
}

#[test]
fn the_exponent_is_that_of_the_power_law_behind_the_points() {
    let points = |power: f64| SIZES.map(|size| (size as f64, 3e-9 * (size as f64).powf(power)));
    for power in [0.5, 1.0, 2.0] {
        assert!((exponent(&points(power)) - power).abs() < 1e-9);
    }
}
