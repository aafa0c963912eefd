//! How late requests are issued at a rate, with a worker that is done at once: the generator's own error on this machine. Run by a person:
//! `cargo bench --profile release --workspace --bench lateness -- RATE[,RATE] [SECONDS]`. Prints a line of JSON for each rate, in microseconds.

use skillbench_load::arrivals::Arrivals;
use skillbench_load::coming::Coming;
use skillbench_load::session::{Batching, Patience, Plan, Request, alone};
use skillbench_load::timer::Timer;
use std::process::ExitCode;
use std::time::Duration;

const SEED: u64 = 7;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let rates = words.first().map_or("1000,10000", String::as_str).split(',').map(str::parse).collect();
    let seconds = words.get(1).map_or("2", String::as_str).parse();
    let (Ok(rates), Ok(seconds)) = (rates, seconds) else {
        eprintln!("usage: lateness RATE[,RATE] [SECONDS]");
        return ExitCode::from(2);
    };
    let rates: Vec<f64> = rates;
    for per_s in rates {
        if let Err(error) = at(per_s, seconds) {
            eprintln!("{per_s} a second: {}", error.message);
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn at(per_s: f64, seconds: f64) -> skillbench_plugin_api::Result<()> {
    let due = Arrivals::Poisson.due(per_s, (per_s * seconds) as usize, SEED);
    let patience = Patience { drain: Duration::from_secs(5), over: None, takes_refusals: false };
    let stolen = steal();
    let plan = Plan {
        coming: &Coming::Due(due),
        sizes: None,
        timer: &Timer::calibrated(),
        patience,
        batching: Batching::NONE,
        tokens: 0,
        session: 1,
    };
    let served = alone([|| Ok(())], plan, &|| false)?;
    let stolen = steal().zip(stolen).map(|(after, before)| after - before);
    let late = sorted(served.requests.iter().map(Request::lateness));
    let handed = sorted(served.requests.iter().filter_map(|one| Some(one.served?[0].saturating_sub(one.issued))));
    let us = |sorted: &[u64], share: f64| sorted[(sorted.len() as f64 * share) as usize] as f64 * 1e-3;
    println!(
        "{{\"per_s\":{per_s},\"requests\":{},\"late_p50\":{},\"late_p90\":{},\"late_p99\":{},\"handed_over_p50\":{},\"handed_over_p99\":{},\"steal_ticks\":{}}}",
        late.len(),
        us(&late, 0.5),
        us(&late, 0.9),
        us(&late, 0.99),
        us(&handed, 0.5),
        us(&handed, 0.99),
        stolen.map_or("null".into(), |ticks| ticks.to_string()),
    );
    Ok(())
}

fn sorted(values: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values
}

/// Hundredths of a second that the hypervisor kept from all processors; `None` where the system does not tell.
fn steal() -> Option<u64> {
    let stat = std::fs::read_to_string("/proc/stat").ok()?;
    stat.lines().next()?.split_whitespace().nth(8)?.parse().ok()
}
