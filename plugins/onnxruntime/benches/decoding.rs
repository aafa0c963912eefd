//! What the contract costs where a model generates: the benchmark `generation` on the cpu backend, against a plain loop over the
//! C API of the same ONNX Runtime.
//!
//!     cargo bench --profile release -p skillbench-onnxruntime --bench decoding -- [PROMPT [NEW_TOKENS [PAIRS [FOLDER]]]]
//!
//! `ORT_DYLIB_PATH` names libonnxruntime. Without a folder the model is one that does next to nothing but keep a cache of 24
//! tensors, on which a token's cost shows best; a folder holds `model.onnx` and the `skill.json` of a decoder with a cache, as
//! they are built for gpt2-kv or llama-tiny-kv.
//!
//! Both sides have the same model, sizes and threads, pass the cache on without copying it, and take the largest logit with the
//! same function. They take turns, one sequence each; each sequence through the contract is held against the plain ones before
//! and after it. The figure is the median of these ratios, and the goal is 1.02. A second plain session takes its turns too: what
//! it shows against the first is how far two of the same are apart on this machine. Where other work takes turns on the
//! machine's cores, wall time shows more of that than of either side; the CPU time of the one thread that both run on shows less.

#[path = "decoding/plain.rs"]
mod plain;
#[path = "decoding/thin.rs"]
mod thin;

use plain::{Plain, Times};
use skillbench_cpu::CpuBackend;
use skillbench_generation::Generation;
use skillbench_plugin_api::client::{BenchmarkRef, Instance, Model, Request};
use skillbench_plugin_api::host_tables::{
    HostTable, ReporterServices, ReporterTable, TargetParts, TargetServices, TargetTable,
};
use skillbench_plugin_api::{
    Dim, Direction, Error, HostTensor, Load, Options, Result, Round, RoundKind, SeriesInfo, Source,
};
use skillbench_testkit::Quiet;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

const THREADS: i32 = 1;
/// Sequences of either side before any counts.
const WARM: u64 = 2;

fn main() -> Result<()> {
    // Cargo's own argument is `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let number =
        |index: usize, default: u64| arguments.get(index).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (prompt, new_tokens, pairs) = (number(0, 32), number(1, 64), number(2, 150));
    let made = tempfile::tempdir().map_err(|error| Error::internal(error.to_string()))?;
    let folder = match arguments.get(3) {
        Some(folder) => PathBuf::from(folder),
        None => {
            thin::write(made.path())?;
            made.path().into()
        }
    };
    let manifest =
        std::fs::read_to_string(folder.join("skill.json")).map_err(|error| Error::invalid(error.to_string()))?;
    let path = folder.join("model.onnx");

    let instance = skillbench_testkit::open::<CpuBackend>(&[("threads", &THREADS.to_string())])?;
    let states = states(&instance, &path)?;
    let open = || Plain::open(&path, THREADS, &states).map(Mutex::new);
    let (plain, same) = (open()?, open()?);
    let ids: Vec<i64> = (0..prompt as i64).map(|index| 10 + index * 37 % 90).collect();
    let run = |plain: &Mutex<Plain>| {
        let (mut plain, before) = (plain.lock().unwrap_or_else(PoisonError::into_inner), cpu_ms());
        let mut times = plain.sequence(&ids, new_tokens as usize)?;
        times.cpu = cpu_ms() - before;
        Ok(times)
    };
    let between = || Ok((run(&plain)?, run(&same)?));
    let turns = Turns { between: &between, pairs, state: Mutex::default() };

    let axes = [("batch", 1), ("prompt", prompt as i64), ("sequence", prompt as i64), ("past", 0)];
    let axes: Vec<Dim> = axes.iter().map(|(name, value)| Dim::fixed(name, *value)).collect();
    let target = Target { instance: &instance, path: path.clone(), axes: axes.clone(), models: Mutex::default() };
    let parts = TargetParts {
        instance: &instance,
        skill: "a decoder",
        manifest: &manifest,
        parts: vec![(String::new(), Source::onnx(&path))],
        axes,
        seed: 1,
    };
    let options = Options(BTreeMap::from([("new_tokens".to_string(), new_tokens.to_string())]));
    let benchmark = BenchmarkRef::linked::<Generation>()?;
    let table = TargetTable::new(&parts, &target);
    benchmark.run(HostTable::leak(&Quiet), Some(&table), &options, &ReporterTable::new(&turns))?;
    turns.describe(new_tokens as f64)
}

/// The pairs of names of the cache, as a decoder has them, with the shape of an empty one.
fn states(instance: &Instance, path: &std::path::Path) -> Result<Vec<(String, String, [i64; 4])>> {
    let model = instance.load(&Load { dims: vec![Dim::fixed("batch", 1)], ..Load::new(Source::onnx(path)) })?;
    println!("{}", model.placement()?.engine);
    let pasts = model.inputs().iter().filter(|port| port.name.starts_with("past_key_values."));
    let state = |port: &skillbench_plugin_api::Port| {
        let size = |index: usize| port.shape.get(index).copied().flatten().unwrap_or(0) as i64;
        let from = port.name.replace("past_key_values", "present");
        (from, port.name.clone(), [1, size(1), 0, size(3)])
    };
    Ok(pasts.map(state).collect())
}

/// Series of the benchmark, and how the plain loop's times come to the same.
type Figure = (&'static str, fn(&Times, f64) -> f64);

const FIGURES: [Figure; 3] = [
    ("time_per_output_token", |times, new_tokens| (times.all - times.first) / (new_tokens - 1.0)),
    ("time_to_first_token", |times, _| times.first),
    ("end_to_end", |times, _| times.all),
];

/// Gives out rounds of one sequence, and runs two plain ones before each.
struct Turns<'a> {
    between: &'a (dyn Fn() -> Result<(Times, Times)> + Sync),
    pairs: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    series: Vec<(String, Vec<f64>)>,
    rounds: u64,
    plain: Vec<Times>,
    same: Vec<Times>,
    /// Milliseconds of the thread's CPU time, for each sequence.
    contract_cpu: Vec<f64>,
    /// The thread's CPU time when the last round was given out.
    given_out: f64,
    failure: Option<Error>,
}

impl Turns<'_> {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn describe(&self, new_tokens: f64) -> Result<()> {
        let state = self.state();
        if let Some(failure) = &state.failure {
            return Err(failure.clone());
        }
        let values = |name: &str| {
            let found = state.series.iter().find(|(known, _)| known == name);
            found.map(|(_, values)| values.clone()).ok_or_else(|| Error::internal(format!("no series {name}")))
        };
        println!("cache kept by the backend: {:?}", values("cache_kept_by_backend")?);
        // The warm-up rounds of the plain side are before the first of these.
        let warm = WARM as usize;
        let of =
            |times: &[Times], figure: &dyn Fn(&Times) -> f64| times.iter().skip(warm).map(figure).collect::<Vec<f64>>();
        for (name, figure) in FIGURES {
            let figure = |times: &Times| figure(times, new_tokens);
            print(name, "us", 1e3, &values(name)?, &of(&state.same, &figure), &of(&state.plain, &figure));
        }
        let figure = |times: &Times| times.cpu;
        let contract = &state.contract_cpu[warm..];
        print("CPU time of a sequence", "ms", 1.0, contract, &of(&state.same, &figure), &of(&state.plain, &figure));
        Ok(())
    }
}

fn print(name: &str, unit: &str, scale: f64, contract: &[f64], same: &[f64], plain: &[f64]) {
    let (of_contract, of_same) = (ratios(contract, plain), ratios(same, plain));
    println!(
        "{name:22} contract {:9.1} {unit}   plain loop {:9.1} {unit}   ratio {:.4}   plain against plain {:.4}   ({} pairs)",
        median(contract) / scale,
        median(plain) / scale,
        median(&of_contract),
        median(&of_same),
        of_contract.len(),
    );
}

/// CPU time of this thread so far.
fn cpu_ms() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// Each of the contract's against the plain ones before and after it.
fn ratios(contract: &[f64], plain: &[f64]) -> Vec<f64> {
    contract.iter().zip(plain.windows(2)).map(|(one, pair)| one / ((pair[0] + pair[1]) / 2.0)).collect()
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

impl ReporterServices for Turns<'_> {
    fn series(&self, info: SeriesInfo) -> Result<u32> {
        let mut state = self.state();
        state.series.push((info.name, vec![]));
        Ok(state.series.len() as u32 - 1)
    }

    fn next_round(&self, _series: u32) -> Option<Round> {
        let mut state = self.state();
        match (self.between)() {
            Ok((plain, same)) => {
                state.plain.push(plain);
                state.same.push(same);
            }
            Err(error) => {
                state.failure = Some(error);
                return None;
            }
        }
        state.rounds += 1;
        let kind = if state.rounds <= WARM { RoundKind::WarmUp } else { RoundKind::Measured };
        state.given_out = cpu_ms();
        (state.rounds <= WARM + self.pairs).then_some(Round { id: state.rounds, kind, iterations: 1, settle: 0 })
    }

    fn samples(&self, series: u32, round: u64, values: &[f64]) -> Result<()> {
        let mut state = self.state();
        if round > 0 {
            let spent = cpu_ms() - state.given_out;
            state.contract_cpu.push(spent);
        }
        if round == 0 || round > WARM {
            state.series[series as usize].1.extend_from_slice(values);
        }
        Ok(())
    }

    fn attach(&self, _name: &str, _bytes: &[u8]) {}
}

/// Loads and fills as the host does; outputs are its business, and are not looked at here.
struct Target<'i> {
    instance: &'i Instance,
    path: PathBuf,
    axes: Vec<Dim>,
    models: Mutex<Vec<(usize, Arc<Model<'i>>)>>,
}

impl TargetServices for Target<'_> {
    fn load(&self, _part: &str, dims: &[Dim]) -> Result<usize> {
        let model = self.instance.load(&Load { dims: dims.to_vec(), ..Load::new(Source::onnx(&self.path)) })?;
        let address = model.address();
        self.models.lock().unwrap_or_else(PoisonError::into_inner).push((address, Arc::new(model)));
        Ok(address)
    }

    fn unload(&self, model: usize) {
        self.models.lock().unwrap_or_else(PoisonError::into_inner).retain(|(address, _)| *address != model);
    }

    fn with_model(&self, model: usize, work: &mut dyn FnMut(&Model<'_>) -> Result<()>) -> Result<()> {
        let models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        let found = models.iter().find(|(address, _)| *address == model).map(|(_, model)| model.clone());
        drop(models);
        work(&*found.ok_or_else(|| Error::not_found("no such model"))?)
    }

    /// Zeros, and ones for a mask.
    fn prepare(&self, model: &Model<'_>, request: &mut Request<'_>, _variant: u64) -> Result<()> {
        for (index, port) in (0..).zip(model.inputs()) {
            let size = |(size, name): (&Option<usize>, &Option<String>)| {
                let known =
                    |name: &str| self.axes.iter().find(|axis| axis.name == name).map_or(0, |axis| axis.opt as usize);
                // An open dimension has the name of an axis, or is past and present together.
                size.unwrap_or_else(|| {
                    name.as_deref().map_or(0, |name| name.split('+').map(|name| known(name.trim())).sum())
                })
            };
            let mut shape: Vec<usize> = port.shape.iter().zip(&port.dim_names).map(size).collect();
            if port.name.contains("mask") {
                shape =
                    vec![1, self.axes.iter().find(|axis| axis.name == "sequence").map_or(1, |axis| axis.opt as usize)];
            }
            let mut tensor = HostTensor::zeroed(port.dtype, &shape)?;
            if port.name.contains("mask") {
                tensor.bytes_mut().iter_mut().step_by(8).for_each(|byte| *byte = 1);
            }
            let tensor = Arc::new(tensor);
            // Lent to the end of the program.
            std::mem::forget(tensor.clone());
            request.bind(Direction::Input, index, tensor)?;
        }
        (0..model.outputs().len() as u32).try_for_each(|index| request.leave_output(index))
    }

    fn verify(&self, _model: &Model<'_>, _request: &mut Request<'_>) -> Result<()> {
        Ok(())
    }
}
