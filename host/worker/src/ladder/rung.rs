//! One case on a backend, inside a worker.

use super::cases::{Case, Tensor};
use super::{Rung, ladder};
use crate::child::{Opened, Services, View};
use crate::{Event, Failure, LadderJob, Reply, Stage};
use skillbench_plugin_api::client::Model;
use skillbench_plugin_api::{Direction, Error, HostTensor, Load, Source};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Runs the cases that a job names, and tells of each as it begins and ends.
pub(crate) fn serve(services: &'static Services, job: &LadderJob) -> Result<Reply, Failure> {
    let opened = Opened::observed(services, &job.backend)?;
    for place in &job.cases {
        let Some(case) = ladder().cases.get(*place) else { continue };
        let laid = Laid::new(case, &job.scratch).map_err(|text| Failure::failed("ladder", text))?;
        services.send(&Event::Rung { case: *place, rung: None });
        services.enter(Stage::Load);
        let rung = laid.run(services, &opened).err().unwrap_or(Rung::Right);
        services.send(&Event::Rung { case: *place, rung: Some(rung) });
    }
    Ok(Reply::Climbed)
}

/// A case that is ready to run.
struct Laid<'c> {
    case: &'c Case,
    graph: PathBuf,
    inputs: Vec<Arc<HostTensor>>,
    outputs: Vec<HostTensor>,
}

impl<'c> Laid<'c> {
    /// # Errors
    /// What stands in the way on this side, which is no verdict on a backend.
    fn new(case: &'c Case, scratch: &Path) -> Result<Laid<'c>, String> {
        let graph = scratch.join(format!("{}.onnx", case.name));
        std::fs::write(&graph, case.graph()?).map_err(|error| format!("{}: {error}", graph.display()))?;
        let inputs = case.inputs.iter().map(|input| input.tensor().map(Arc::new)).collect::<Result<_, _>>()?;
        let outputs = case.outputs.iter().map(Tensor::tensor).collect::<Result<_, _>>()?;
        Ok(Laid { case, graph, inputs, outputs })
    }

    /// A refusal, without the folder that the graph lies in for now.
    fn refused(&self, error: &Error) -> Rung {
        let name = self.graph.file_name().unwrap_or_default().to_string_lossy();
        Rung::Refused(error.to_string().replace(&*self.graph.to_string_lossy(), &name))
    }

    fn run(&self, services: &'static Services, opened: &Opened) -> Result<(), Rung> {
        let refused = |error: Error| self.refused(&error);
        let model = opened.instance.load(&Load::new(Source::onnx(&self.graph))).map_err(refused)?;
        let precision = model.placement().map_err(refused)?.precision;
        services.enter(Stage::Run);
        let mut request = model.request().map_err(refused)?;
        for (input, tensor) in self.case.inputs.iter().zip(&self.inputs) {
            let index = place(&model, Direction::Input, &input.name)?;
            request.bind(Direction::Input, index, Arc::clone(tensor)).map_err(refused)?;
        }
        request.run().map_err(refused)?;
        for (expected, want) in self.case.outputs.iter().zip(&self.outputs) {
            let index = place(&model, Direction::Output, &expected.name)?;
            let output = request.take_output(index).map_err(refused)?;
            let shape = want.shape();
            let (have, want) = (View::of_output(&output), View::of_tensor(want, &shape));
            differs(self.case, expected, &precision, have, want).map_or(Ok(()), |how| Err(Rung::Wrong(how)))?;
        }
        Ok(())
    }
}

/// The index of a port by its name.
fn place(model: &Model<'_>, direction: Direction, name: &str) -> Result<u32, Rung> {
    let ports = if direction == Direction::Input { model.inputs() } else { model.outputs() };
    let found = ports.iter().position(|port| port.name == name);
    found.map(|index| index as u32).ok_or_else(|| Rung::Wrong(format!("the loaded model has no port '{name}'")))
}

/// How an output is not the right one; `None`: it is.
fn differs(case: &Case, expected: &Tensor, precision: &str, have: View<'_>, want: View<'_>) -> Option<String> {
    let name = &expected.name;
    if have.shape != want.shape {
        return Some(format!("output '{name}' has shape {:?}, not {:?}", have.shape, want.shape));
    }
    // Engines without a type of its size give truth values as others.
    if have.is_float() != want.is_float() {
        return Some(format!("output '{name}' is {}, not {}", have.dtype.name(), want.dtype.name()));
    }
    let tolerance = case.tolerance(expected, precision);
    let is_right = |index: usize| {
        let (have, want) = (have.number(index), want.number(index));
        let near = || (have - want).abs() <= tolerance.absolute + tolerance.relative * want.abs();
        (have.is_nan() && want.is_nan()) || have == want || near()
    };
    let wrong: Vec<usize> = (0..want.elements()).filter(|index| !is_right(*index)).collect();
    let first = *wrong.first()?;
    let (count, all) = (wrong.len(), want.elements());
    Some(format!(
        "output '{name}': element {first} is {}, not {} ({count} of {all} are wrong)",
        have.number(first),
        want.number(first)
    ))
}
