//! The sizes of which a benchmark has requests: its cell's, and others that were asked for besides. Each has a reference and inputs of its own.

use crate::{CellJob, SizeJob, VerifyJob};
use skillbench_models::Manifest;
use skillbench_plugin_api::Dim;
use skillbench_record::Axes;

#[derive(Clone, Copy)]
pub(super) struct Size<'c> {
    pub axes: &'c Axes,
    pub verify: &'c VerifyJob,
    /// 0: the cell's own.
    number: usize,
}

impl Size<'_> {
    pub fn is_own(&self) -> bool {
        self.number == 0
    }

    /// What a part at this size is known by.
    pub fn key(&self, part: &str) -> String {
        if self.is_own() { part.into() } else { format!("{part} at {}", self.axes) }
    }

    /// The axes that are about graphs: those that the benchmark takes as options are about its own work, unless an input has them.
    pub fn axes_of_graphs(&self, job: &CellJob, manifest: &Manifest) -> Axes {
        let mut axes = self.axes.clone();
        axes.retain(|name, _| manifest.names(name) || !job.benchmark_options.contains_key(name));
        axes
    }

    /// The dimensions that a graph is compiled for.
    fn dims(&self, job: &CellJob, manifest: &Manifest) -> Vec<Dim> {
        fixed(manifest, &self.axes_of_graphs(job, manifest))
    }
}

impl CellJob {
    /// Of the cell's own size.
    pub(crate) fn axes_of_graphs(&self, manifest: &Manifest) -> Axes {
        self.own_size().axes_of_graphs(self, manifest)
    }

    fn own_size(&self) -> Size<'_> {
        Size { axes: &self.axes, verify: &self.verify, number: 0 }
    }

    fn other_sizes(&self) -> impl Iterator<Item = Size<'_>> {
        self.sizes.iter().zip(1..).map(|(SizeJob { axes, verify }, number)| Size { axes, verify, number })
    }

    /// The size for which a model with these dimensions was loaded.
    pub(super) fn size_of(&self, dims: &[Dim], manifest: &Manifest) -> Size<'_> {
        self.other_sizes().find(|size| size.dims(self, manifest) == dims).unwrap_or(self.own_size())
    }

    /// The dimensions for which a model is loaded that a benchmark asks for with these: the cell's where it names none, those of another size where it
    /// names that; else as it says.
    pub(super) fn dims_for(&self, asked: &[Dim], manifest: &Manifest) -> Vec<Dim> {
        let mut axes = self.axes.clone();
        let is_size = asked.iter().all(|dim| match axes.get_mut(&dim.name) {
            Some(value) if dim.min == dim.max => {
                *value = dim.min;
                true
            }
            _ => false,
        });
        let mut sizes = std::iter::once(self.own_size()).chain(self.other_sizes());
        let named = || sizes.find(|size| *size.axes == axes);
        match (asked, &self.sizes[..]) {
            ([], _) => self.own_size().dims(self, manifest),
            (_, []) => asked.to_vec(),
            _ => is_size.then(named).flatten().map_or_else(|| asked.to_vec(), |size| size.dims(self, manifest)),
        }
    }
}

/// Axes as dimensions that a graph is compiled for, under its own names too. An empty one stays free: engines compile for sizes
/// of 1 and more.
pub(super) fn fixed(manifest: &Manifest, axes: &Axes) -> Vec<Dim> {
    let named = axes.iter().map(|(name, value)| (name, *value));
    let own = manifest.dimensions.iter().filter(|(name, _)| !axes.contains_key(*name));
    let own = own.filter_map(|(name, rule)| Some((name, skillbench_models::evaluate(rule, axes).ok()?)));
    named.chain(own).filter(|(_, value)| *value > 0).map(|(name, value)| Dim::fixed(name, value)).collect()
}
