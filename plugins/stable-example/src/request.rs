//! Requests: tensors that are bound to a model's ports, and runs on them.

use crate::net::{Lane, Net};
use crate::operators::View;
use skillbench_plugin_api::sdk::{Bindings, Bound, Host, Request};
use skillbench_plugin_api::{Error, OwnedTensor, Result, Timing};
use std::sync::Arc;

pub struct Run {
    net: Arc<Net>,
    host: Host,
    lane: Lane,
    /// Allocated outputs of the last run that nobody has taken.
    kept: Vec<Option<OwnedTensor>>,
}

impl Run {
    pub fn new(net: Arc<Net>, host: Host) -> Run {
        let kept = net.outputs().iter().map(|_| None).collect();
        Run { net, host, lane: Lane::default(), kept }
    }
}

impl Request for Run {
    /// Outputs go into the caller's memory, or into the plugin's own.
    fn bind_output(&mut self, index: usize, _tensor: Option<&Bound>) -> Result<()> {
        self.kept[index] = None;
        Ok(())
    }

    fn run(&mut self, bound: &Bindings) -> Result<Timing> {
        let start = self.host.now_ns();
        let inputs: Vec<View<'_>> =
            (0..self.net.inputs().len()).map(|index| View::of(bound.input(index)?)).collect::<Result<_>>()?;
        let outputs = self.net.run(&inputs, &mut self.lane, || self.host.stopping())?;
        // A run that fails leaves everything as it was: every output has its place before any is written.
        let mut fresh = Vec::with_capacity(outputs.len());
        for (index, output) in outputs.iter().enumerate() {
            fresh.push(match bound.output(index) {
                Some(memory) => fits(memory, output).map(|()| None)?,
                None => Some(OwnedTensor::from_vec(&output.shape.known(), output.data.to_vec())?),
            });
        }
        for (index, output) in outputs.iter().enumerate() {
            if let Some(memory) = bound.output(index) {
                memory.write(output.data)?;
            }
        }
        self.kept = fresh;
        Ok(Timing { start_ns: start, end_ns: self.host.now_ns(), ..Timing::default() })
    }

    fn take_output(&mut self, index: usize) -> Result<Option<OwnedTensor>> {
        Ok(self.kept[index].take())
    }
}

fn fits(memory: &Bound, output: &View<'_>) -> Result<()> {
    let made = output.shape.known();
    match memory.shape() == made {
        true => Ok(()),
        false => Err(Error::invalid(format!("an output is {made:?}, the memory bound to it is {:?}", memory.shape()))),
    }
}
