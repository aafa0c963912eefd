//! One request at a time, over a connection of its own.

use crate::client::{Client, HEADER_LENGTH};
use crate::decode::{Elements, Outputs};
use crate::encode::encode;
use crate::model::EndpointModel;
use skillbench_plugin_api::sdk::{Bindings, Bound, Request};
use skillbench_plugin_api::{Code, Error, HostTensor, OwnedTensor, Port, Result, Timing};
use std::sync::Arc;

pub struct EndpointRequest {
    model: Arc<EndpointModel>,
    client: Client,
    body: Vec<u8>,
    answer: Vec<u8>,
    /// Outputs of the last run that nobody has taken.
    kept: Vec<Option<HostTensor>>,
}

impl EndpointRequest {
    pub(crate) fn new(model: Arc<EndpointModel>) -> EndpointRequest {
        let kept = model.outputs.iter().map(|_| None).collect();
        EndpointRequest { client: Client::new(&model.settings), model, body: vec![], answer: vec![], kept }
    }

    fn place(&mut self, header: Option<usize>, bound: &Bindings) -> Result<()> {
        let mut outputs = Outputs::of(&self.answer, header)?;
        for (index, port) in self.model.outputs.iter().enumerate() {
            let (shape, elements) = outputs.take(port)?;
            match bound.output(index) {
                Some(room) => write(port, &shape, &elements, room)?,
                None => self.kept[index] = Some(kept(port, &shape, elements)?),
            }
        }
        Ok(())
    }
}

fn write(port: &Port, shape: &[usize], elements: &Elements<'_>, room: &Bound) -> Result<()> {
    if room.shape() != shape {
        let text = format!(
            "output '{}' came with the shape {shape:?}, the memory bound to it is {:?}",
            port.name,
            room.shape()
        );
        return Err(Error::invalid(text));
    }
    match elements {
        Elements::Bytes(bytes) => room.write_bytes(port.dtype, bytes),
        Elements::Tensor(tensor) => room.write_bytes(port.dtype, tensor.bytes()),
    }
}

fn kept(port: &Port, shape: &[usize], elements: Elements<'_>) -> Result<HostTensor> {
    match elements {
        Elements::Tensor(tensor) => Ok(tensor),
        Elements::Bytes(bytes) => {
            let mut tensor = HostTensor::zeroed(port.dtype, shape)?;
            tensor.bytes_mut().copy_from_slice(bytes);
            Ok(tensor)
        }
    }
}

impl Request for EndpointRequest {
    fn bind_output(&mut self, index: usize, _tensor: Option<&Bound>) -> Result<()> {
        self.kept[index] = None;
        Ok(())
    }

    /// What is told as the device's time is from when the request is sent until all of its answer is there; putting tensors into the request
    /// and taking them out of the answer are told apart, as the copies to and from it.
    fn run(&mut self, bound: &Bindings) -> Result<Timing> {
        self.kept.fill_with(|| None);
        if self.model.host.stopping() {
            return Err(Error::new(Code::Cancelled, "the run is being stopped"));
        }
        let clock = bound.clock();
        let began = clock.now_ns();
        let EndpointModel { encoding, inputs, outputs, path, .. } = &*self.model;
        let header = encode(*encoding, inputs, outputs, bound, &mut self.body)?;
        let sent = clock.now_ns();
        let answer = self.client.post(path, header, &self.body)?;
        let header = match answer.headers.get(HEADER_LENGTH) {
            None => None,
            Some(length) => {
                let length = length.to_str().ok().and_then(|length| length.parse().ok());
                Some(length.ok_or_else(|| Error::invalid(format!("the answer's {HEADER_LENGTH} is no length")))?)
            }
        };
        self.client.read(answer, &mut self.answer)?;
        let answered = clock.now_ns();
        self.place(header, bound)?;
        let between = |from: Option<u64>, to: Option<u64>| to?.checked_sub(from?);
        Ok(Timing {
            start_ns: sent,
            end_ns: answered,
            host_to_device_ns: between(began, sent),
            device_to_host_ns: between(answered, clock.now_ns()),
            ..Timing::default()
        })
    }

    fn take_output(&mut self, index: usize) -> Result<Option<OwnedTensor>> {
        Ok(self.kept[index].take().map(OwnedTensor::from_host))
    }
}
