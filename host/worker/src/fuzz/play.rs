//! What one seed does, inside a worker: it opens the backend, uses its slots in some order, and closes it.

use super::random::Random;
use super::{Played, asked};
use crate::child::{Opened, Services};
use crate::{Event, Failure, FailureKind, FuzzJob, PluginUse, Reply, Stage};
use skillbench_plugin_api::client::{Instance, Model, Output, Request};
use skillbench_plugin_api::{Direction, HostTensor, Result};
use std::sync::Arc;

/// Models and requests that are there at once.
const MOST: usize = 4;
/// Calls of a seed.
const LEAST: usize = 5;
const MORE: usize = 45;
/// Ports that are bound, of a model with fewer too.
const PORTS: usize = 3;

pub(crate) fn serve(services: &'static Services, job: &FuzzJob) -> std::result::Result<Reply, Failure> {
    for seed in job.first..job.first.saturating_add(job.count) {
        services.send(&Event::Played { seed, ended: None });
        services.enter(Stage::Load);
        let ended = Some(play(services, job, seed)?);
        services.send(&Event::Played { seed, ended });
    }
    Ok(Reply::Fuzzed)
}

/// # Errors
/// The backend cannot be opened as it was asked for, or this machine does not let it happen.
fn play(services: &'static Services, job: &FuzzJob, seed: u64) -> std::result::Result<Played, Failure> {
    let mut random = Random::new(seed);
    let options = asked::plugin_options(&mut random, &job.backend.options, &job.options_schema);
    let own = options == job.backend.options;
    let opened = match Opened::observed(services, &PluginUse { options, ..job.backend.clone() }) {
        Ok(opened) => opened,
        Err(failure) if own || failure.kind == FailureKind::Unavailable => return Err(failure),
        Err(_) => return Ok(Played { asked: 1, refused: 1, fault: None }),
    };
    let played = used(&opened.instance, &mut random, job);
    drop(opened);
    Ok(played?)
}

/// Calls slots in some order. Outputs, requests and models end before it returns, in the order that the contract has.
fn used(instance: &Instance, random: &mut Random, job: &FuzzJob) -> std::io::Result<Played> {
    let mut game = Game { instance, played: Played::default(), requests: vec![], models: vec![] };
    for _ in 0..LEAST + random.below(MORE) {
        let call = game.call(random, job)?;
        game.played.asked += 1;
        game.played.refused += u64::from(call.is_err());
        game.look();
        if game.played.fault.is_some() {
            break;
        }
    }
    Ok(game.played)
}

/// A request with what was taken from it, which goes before it.
struct Lane<'i> {
    taken: Vec<Output>,
    request: Request<'i>,
    model: Arc<Model<'i>>,
}

struct Game<'i> {
    instance: &'i Instance,
    played: Played,
    requests: Vec<Lane<'i>>,
    models: Vec<Arc<Model<'i>>>,
}

impl<'i> Game<'i> {
    /// One call. What the backend refuses is inside; what this machine refuses is outside.
    fn call(&mut self, random: &mut Random, job: &FuzzJob) -> std::io::Result<Result<()>> {
        if self.models.is_empty() || random.one_in(8) {
            return self.of_instance(random, job);
        }
        if self.requests.is_empty() || random.one_in(8) {
            return Ok(self.of_model(random));
        }
        if self.requests.len() > 1 && random.one_in(12) {
            return Ok(self.at_once());
        }
        let place = random.below(self.requests.len());
        if random.one_in(15) {
            drop(self.requests.swap_remove(place));
            return Ok(Ok(()));
        }
        Ok(self.requests[place].call(random))
    }

    fn of_instance(&mut self, random: &mut Random, job: &FuzzJob) -> std::io::Result<Result<()>> {
        Ok(match random.below(8) {
            0 => self.instance.devices().map(drop),
            1 => self.instance.memory(random.below(2) as u32).map(drop),
            2 => self.instance.energy(random.below(2) as u32).map(drop),
            3 => self.instance.counters(random.below(2) as u32).map(drop),
            4 => self.instance.supports(&asked::load(random, job)?),
            _ => {
                if self.models.len() >= MOST {
                    self.models.swap_remove(random.below(self.models.len()));
                }
                let load = asked::load(random, job)?;
                self.instance.load(&load).map(|model| self.models.push(Arc::new(model)))
            }
        })
    }

    fn of_model(&mut self, random: &mut Random) -> Result<()> {
        let Some(model) = random.pick(&self.models).map(Arc::clone) else { return Ok(()) };
        if random.one_in(4) {
            return model.placement().map(drop);
        }
        if self.requests.len() >= MOST {
            self.requests.swap_remove(random.below(self.requests.len()));
        }
        let request = Model::request_of(Arc::clone(&model), |model| model)?;
        self.requests.push(Lane { taken: vec![], request, model });
        Ok(())
    }

    /// Two requests run on two threads.
    fn at_once(&mut self) -> Result<()> {
        let [one, other, ..] = self.requests.as_mut_slice() else { return Ok(()) };
        std::thread::scope(|scope| {
            let beside = scope.spawn(|| other.request.run());
            let first = one.request.run();
            // A panic of this side would have ended the process of a plugin in C.
            beside.join().unwrap_or(Ok(())).and(first)
        })
    }

    /// Looks at the memory that is bound.
    fn look(&mut self) {
        for lane in &self.requests {
            for direction in [Direction::Input, Direction::Output] {
                let broken = (0..PORTS as u32)
                    .find(|index| lane.request.bound(direction, *index).is_some_and(|it| !it.is_intact()));
                if let Some(index) = broken {
                    let text =
                        format!("something was written beside the memory that is bound to {direction:?} {index}");
                    self.played.fault.get_or_insert(text);
                }
            }
        }
    }
}

impl Lane<'_> {
    fn call(&mut self, random: &mut Random) -> Result<()> {
        let ports = if random.one_in(6) { PORTS } else { 1 };
        let index = random.below(ports) as u32;
        match random.below(20) {
            0..=4 => self.bind(random, Direction::Input, index),
            5 | 6 => self.bind(random, Direction::Output, index),
            7..=10 => self.request.run(),
            11 => self.request.run_with_timing().map(drop),
            12 | 13 => self.take(index),
            14 => {
                self.taken.clear();
                Ok(())
            }
            15 => self.submit(random),
            16 => self.request.alias(index, random.below(2) as u32),
            17 => self.request.reset(),
            18 => self.request.leave_output(index),
            _ => self.request.bind_again(index),
        }
    }

    fn bind(&mut self, random: &mut Random, direction: Direction, index: u32) -> Result<()> {
        let ports = if direction == Direction::Input { self.model.inputs() } else { self.model.outputs() };
        let tensor: Option<HostTensor> = asked::tensor(random, ports.get(index as usize));
        tensor.map_or(Ok(()), |tensor| self.request.bind(direction, index, Arc::new(tensor)))
    }

    /// Reads an output to its end, and holds some.
    fn take(&mut self, index: u32) -> Result<()> {
        let output = self.request.take_output(index)?;
        std::hint::black_box(output.bytes().iter().fold(0u8, |all, byte| all ^ byte));
        if self.taken.len() < MOST {
            self.taken.push(output);
        }
        Ok(())
    }

    fn submit(&mut self, random: &mut Random) -> Result<()> {
        self.request.submit(|_| {})?;
        let cancelled = if random.one_in(2) { self.request.cancel() } else { Ok(()) };
        self.request.wait();
        cancelled
    }
}
