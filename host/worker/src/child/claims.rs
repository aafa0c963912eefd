//! What a benchmark claims of its rounds, beside what the host's own clock says.

use super::audit::Corrected;
use crate::RoundRecord;
use skillbench_stats::median;

/// Claims may differ from the host's interval by this share; and by so much for each sample, for the clock is read between them.
const SHARE: f64 = 0.05;
const SLACK_NS: f64 = 2_000.0;
/// Of samples of several threads, which have to be woken on a machine that may be busy: claims fill so much of the interval.
const OF_CREWS: f64 = 0.5;
/// So many of a hundred rounds, or device times of runs, may claim what the host saw otherwise: on a busy machine clocks are read late.
const SHORT: usize = 5;
/// Binding joins the samples where it takes more than so many plain copies of the same bytes,
const COPIES: f64 = 3.0;
/// and more than this share of them: a call costs what it costs.
const OF_SAMPLES: f64 = 0.05;

/// Of the measured rounds of one series.
#[derive(Default)]
pub(super) struct Claims {
    /// What the samples of each round add up to, and what the host's clock says of it.
    rounds_ns: Vec<[f64; 2]>,
    /// Some round ran on several threads.
    has_crew: bool,
    rounds: usize,
    too_short: usize,
    bind_ns: Vec<Vec<f64>>,
    copy_ns: f64,
    /// What the host did in the rounds: audits, and what no sample is of.
    besides_ns: f64,
    /// What the threads of this process had waited for a processor when the series began; `None`: the kernel does not count it.
    began_ns: Option<f64>,
    /// What they waited since, as seen after a round whose samples do not fill it.
    waited_ns: f64,
}

impl Claims {
    /// Of a series that begins now.
    pub fn begin() -> Claims {
        Claims { began_ns: waited_ns(), ..Claims::default() }
    }

    /// `outside_ns`: what the host did in the round that no sample is of. `seen`: what the samples add up to, and what the host's clock says; `None`: they may overlap, or are no times.
    pub fn add(&mut self, corrected: &Corrected, outside_ns: f64, seen: Option<(f64, f64)>) {
        let samples = corrected.values.len();
        if let Some((claimed, seen)) = seen {
            self.rounds_ns.push([claimed + SLACK_NS * samples as f64, seen]);
        }
        self.has_crew |= corrected.threads > 1;
        // Looked at only where it counts, and while the threads of the round are there.
        if seen.is_some_and(|(claimed, seen)| claimed < seen * self.least()) {
            self.waited_ns = waited_ns().zip(self.began_ns).map_or(0.0, |(now, then)| now - then);
        }
        self.rounds += 1;
        self.too_short += usize::from(corrected.too_short);
        self.bind_ns.push(corrected.bind_ns.clone());
        self.copy_ns += corrected.copy_ns;
        self.besides_ns += corrected.audit_ns + outside_ns;
    }

    /// Adds the binding of inputs to the samples, where it is more than a copy. Says whether it was.
    pub fn settle(&self, rounds: &mut [RoundRecord]) -> bool {
        let measured = rounds.iter_mut().filter(|round| round.measured);
        let bind: f64 = self.bind_ns.iter().flatten().sum();
        let (measured, samples) = measured.fold((vec![], 0.0), |(mut all, sum), round| {
            let of_round: f64 = round.values.iter().sum();
            all.push(round);
            (all, sum + of_round)
        });
        let counts = bind > COPIES * self.copy_ns && bind > OF_SAMPLES * samples;
        if counts {
            for (round, bind) in measured.into_iter().zip(&self.bind_ns) {
                round.values.iter_mut().zip(bind).for_each(|(value, bind)| *value += bind);
            }
        }
        counts
    }

    /// The share of a round that samples have to fill.
    fn least(&self) -> f64 {
        if self.has_crew { OF_CREWS } else { 1.0 - SHARE }
    }

    /// Why the samples cannot be; nothing where they can.
    pub fn implausible(&self, rounds: &[RoundRecord]) -> Vec<String> {
        let mut reasons = vec![];
        let told =
            rounds.iter().filter(|round| round.measured).map(|round| (round.device.impossible, round.device.runs));
        let (impossible, runs) = told.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
        if impossible * 100 > runs * SHORT as u64 {
            reasons.push(format!(
                "the device times of {impossible} of {runs} runs, as the backend tells them, lie outside of the run or are more than it took"
            ));
        }
        if self.too_short * 100 > self.rounds * SHORT {
            let text = format!(
                "the samples of {} of {} rounds claim less time than the host saw their runs take",
                self.too_short, self.rounds
            );
            reasons.push(text);
        }
        let shares: Vec<f64> = self.rounds_ns.iter().map(|[claimed, seen]| claimed / seen.max(1.0)).collect();
        let (claimed, seen) = self.rounds_ns.iter().fold((0.0, 0.0), |all, one| (all.0 + one[0], all.1 + one[1]));
        // On a busy machine threads wait for a processor between samples. A plugin that makes its own threads wait works on all processors
        // meanwhile, which is too much work.
        let least = self.least();
        if claimed < (seen - self.waited_ns) * least && median(&shares).is_some_and(|typical| typical < least) {
            let share = 100.0 * claimed / seen;
            reasons.push(format!("the samples add up to {share:.1}% of what the host's clock says of the rounds"));
        }
        reasons.extend(too_much_work(rounds, self.besides_ns));
        reasons
    }
}

/// What the threads of this process have waited for a processor so far; `None` where the kernel does not count it.
fn waited_ns() -> Option<f64> {
    let of = |thread: std::fs::DirEntry| -> Option<f64> {
        std::fs::read_to_string(thread.path().join("schedstat")).ok()?.split_whitespace().nth(1)?.parse().ok()
    };
    let threads: Vec<f64> = std::fs::read_dir("/proc/self/task").ok()?.flatten().filter_map(of).collect();
    (!threads.is_empty()).then(|| threads.iter().sum())
}

/// CPU time that does not fit into the time that passed.
fn too_much_work(rounds: &[RoundRecord], besides_ns: f64) -> Option<String> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    let measured = || rounds.iter().filter(|round| round.measured);
    let cpu: f64 = measured().map(|round| round.cpu_ns.map_or(0.0, |cpu| cpu as f64)).sum();
    let samples: f64 = measured().flat_map(|round| &round.values).sum();
    // Clocks of processes tick in steps.
    const STEP_NS: f64 = 20e6;
    let most = (samples + besides_ns) * cores * (1.0 + SHARE) + STEP_NS;
    (cpu > most).then(|| {
        format!(
            "{:.1} ms of CPU time in {:.1} ms on {cores} cores: more was done than is claimed",
            cpu * 1e-6,
            samples * 1e-6
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(values: &[f64], cpu_ns: Option<u64>) -> RoundRecord {
        RoundRecord { measured: true, values: values.to_vec(), cpu_ns, ..RoundRecord::default() }
    }

    fn corrected(values: &[f64], bind: f64, copy_ns: f64) -> Corrected {
        Corrected { values: values.to_vec(), bind_ns: vec![bind; values.len()], copy_ns, ..Corrected::default() }
    }

    #[test]
    fn samples_that_fill_their_rounds_are_plausible() {
        let mut claims = Claims::default();
        for _ in 0..10 {
            claims.add(&corrected(&[1e6; 25], 0.0, 0.0), 0.0, Some((25e6, 25.2e6)));
        }
        assert!(claims.implausible(&[round(&[1e6; 25], Some(45_000_000))]).is_empty());
    }

    #[test]
    fn samples_divided_by_ten_are_not() {
        let mut claims = Claims::default();
        claims.add(&corrected(&[1e5; 25], 0.0, 0.0), 0.0, Some((2.5e6, 25.2e6)));
        let told = claims.implausible(&[]).concat();
        assert!(told.contains("add up to 10"), "{told}");
    }

    #[test]
    fn threads_that_wait_for_a_processor_between_samples_are_no_lie() {
        let busy = |waited_ns: f64| {
            let mut claims = Claims { has_crew: true, ..Claims::default() };
            claims.add(&Corrected { threads: 2, ..corrected(&[1e6; 10], 0.0, 0.0) }, 0.0, Some((10e6, 24e6)));
            claims.waited_ns = waited_ns;
            claims.implausible(&[])
        };
        assert!(busy(8e6).is_empty() && !busy(1e6).is_empty());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_round_that_samples_do_not_fill_is_held_against_what_the_kernel_counts() {
        let mut claims = Claims::begin();
        let others: Vec<_> = (0..4 * std::thread::available_parallelism().unwrap().get())
            .map(|_| {
                std::thread::spawn(|| {
                    let begun = std::time::Instant::now();
                    while begun.elapsed().as_millis() < 200 {}
                })
            })
            .collect();
        std::thread::sleep(std::time::Duration::from_millis(150));
        claims.add(&corrected(&[1e6; 10], 0.0, 0.0), 0.0, Some((10e6, 150e6)));
        assert!(claims.waited_ns > 100e6, "{}", claims.waited_ns);
        others.into_iter().for_each(|thread| thread.join().unwrap());
    }

    #[test]
    fn a_pause_of_the_machine_between_samples_is_no_lie() {
        let mut claims = Claims::default();
        for pause in [0.0, 0.0, 9e6] {
            claims.add(&corrected(&[1e6; 25], 0.0, 0.0), 0.0, Some((25e6, 25.2e6 + pause)));
        }
        assert!(claims.implausible(&[]).is_empty());
    }

    #[test]
    fn work_that_is_done_while_inputs_are_bound_counts() {
        let mut claims = Claims::default();
        claims.add(&corrected(&[1e3; 2], 5e6, 1e3), 0.0, None);
        let mut rounds = [round(&[1e3; 2], None)];
        assert!(claims.settle(&mut rounds));
        assert_eq!(rounds[0].values, [5.001e6; 2]);
    }

    #[test]
    fn binding_that_is_no_more_than_a_copy_does_not() {
        let mut claims = Claims::default();
        claims.add(&corrected(&[1e6; 2], 1e4, 2e4), 0.0, None);
        let mut rounds = [round(&[1e6; 2], None)];
        assert!(!claims.settle(&mut rounds));
        assert_eq!(rounds[0].values, [1e6; 2]);
    }

    #[test]
    fn one_nanosecond_beside_a_millisecond_of_cpu_time_cannot_be() {
        let told = Claims::default().implausible(&[round(&[1.0; 100], Some(93_000_000))]).concat();
        assert!(told.contains("93.0 ms of CPU time"), "{told}");
    }
}
