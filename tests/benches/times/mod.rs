//! Times as benches print them.

/// Milliseconds: the median, the 99th percentile where there are enough, the least and the most.
pub fn show(what: &str, mut times: Vec<f64>) {
    times.sort_by(f64::total_cmp);
    let n = times.len();
    let p99 = if n >= 300 { format!("p99 {:.2}, ", times[n * 99 / 100]) } else { String::new() };
    println!("{what}: median {:.2} ms, {p99}{:.2} to {:.2}, n {n}", times[n / 2], times[0], times[n - 1]);
}
