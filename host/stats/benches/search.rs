//! What a search for capacity costs in requests, and how far it is off, on queues whose capacity is known. Run by a person:
//! `cargo bench --profile release --workspace --bench search -- [SECONDS[,SECONDS]] [SEARCHES]`. Prints a line of JSON for each queue and length of a session.

#[allow(dead_code)] // The tests use more of it.
#[path = "../tests/simulated/mod.rs"]
mod simulated;

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let lengths = words.first().map_or("0.75,1.5,3", String::as_str).split(',').map(str::parse::<f64>).collect();
    let searches = words.get(1).map_or("200", String::as_str).parse();
    let (Ok(lengths), Ok(searches @ 1..)) = (lengths, searches) else {
        eprintln!("usage: search SECONDS[,SECONDS] [SEARCHES]");
        return ExitCode::from(2);
    };
    let lengths: Vec<f64> = lengths;
    for queue in simulated::queues() {
        let truth = queue.truth();
        for length_s in &lengths {
            let cost = queue.server.cost(truth, queue.limit, *length_s, searches);
            println!(
                "{{\"queue\":\"{}\",\"workers\":{},\"service_s\":{},\"constant\":{},\"within_s\":{},\"truth_per_s\":{truth},\"session_s\":{length_s},\"requests\":{},\"error_p50\":{},\"error_p90\":{},\"within_5_percent\":{}}}",
                queue.name,
                queue.server.workers,
                queue.service_s,
                queue.is_constant,
                queue.limit.within_s,
                cost.requests,
                cost.median,
                cost.p90,
                cost.within,
            );
        }
    }
    ExitCode::SUCCESS
}
