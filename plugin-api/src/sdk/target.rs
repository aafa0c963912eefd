//! What a benchmark measures: it loads, prepares and verifies through the host, and runs through the backend's own table.

use crate::client::{self, Allocated, BackendRef, Model, Request};
use crate::error::checked;
use crate::raw::*;
use crate::{Dim, Error, HostTensor, Place, Placement, Port, Result, abi_size, text};
use std::marker::PhantomData;

/// A backend, a device and a model's parts, at one point of the workload grid.
pub struct Target<'a> {
    raw: sb_target,
    backend: BackendRef,
    skill: String,
    manifest: String,
    parts: Vec<String>,
    axes: Vec<Dim>,
    _borrowed: PhantomData<&'a ()>,
}

// SAFETY: load, unload are [any]; prepare and verify are [lane], and need `&mut Request`.
unsafe impl Sync for Target<'_> {}

/// A model that the host loaded. Dropping it unloads it.
pub struct TargetModel<'t> {
    model: Model<'t>,
    target: &'t Target<'t>,
}

impl<'a> Target<'a> {
    /// # Safety
    /// `raw` is null or a target that lives for `'a`.
    pub(crate) unsafe fn new(raw: *const sb_target) -> Result<Option<Target<'a>>> {
        // SAFETY: the caller promises it.
        let Some(raw) = (unsafe { abi_size::read(raw) }) else { return Ok(None) };
        // SAFETY: the contract: the backend's table is static, the strings and axes live through `run`.
        unsafe {
            Ok(Some(Target {
                backend: BackendRef::new(raw.backend)?,
                skill: text::borrow(raw.skill).unwrap_or_default().into_owned(),
                manifest: text::borrow(raw.manifest).unwrap_or_default().into_owned(),
                parts: read_parts(&raw),
                axes: super::read_dims(raw.axes, raw.axis_count),
                raw,
                _borrowed: PhantomData,
            }))
        }
    }

    pub fn skill(&self) -> &str {
        &self.skill
    }

    /// The text of its skill.json; empty for a user's own file.
    pub fn manifest(&self) -> &str {
        &self.manifest
    }

    /// The names of its parts; one that is "" for a model of one part.
    pub fn parts(&self) -> &[String] {
        &self.parts
    }

    /// The cell's point of the workload grid.
    pub fn axes(&self) -> &[Dim] {
        &self.axes
    }

    /// What the run's random choices are made from.
    pub fn seed(&self) -> u64 {
        self.raw.seed
    }

    /// The cell's value of an axis, such as "batch".
    pub fn axis(&self, name: &str) -> Option<i64> {
        self.axes.iter().find(|axis| axis.name == name).map(|axis| axis.opt)
    }

    /// The batch size; 1 for a model that has no such axis.
    pub fn batch_size(&self) -> i64 {
        self.axis("batch").unwrap_or(1)
    }

    /// Loads a part for the target's axes.
    ///
    /// # Errors
    /// Whatever the backend says, and a fallback that nobody allowed.
    pub fn load(&self, part: &str) -> Result<TargetModel<'_>> {
        self.load_for(part, &[])
    }

    /// Loads a part for dimensions of the benchmark's choice (none: the target's axes). One whose least and greatest size differ
    /// is left open. An axis at a value of the benchmark's option of the format `sizes` is another size of the target, which the host fills and
    /// verifies as such.
    ///
    /// # Errors
    /// As for [`Target::load`].
    pub fn load_for(&self, part: &str, dims: &[Dim]) -> Result<TargetModel<'_>> {
        let slot = self.raw.load.ok_or_else(|| incomplete("load"))?;
        let part = text::c_string(part);
        let mut model = std::ptr::null_mut();
        let names: Vec<_> = dims.iter().map(|dim| text::c_string(&dim.name)).collect();
        let raw = |(dim, name): (&Dim, &std::ffi::CString)| sb_dim {
            name: name.as_ptr(),
            min: dim.min,
            opt: dim.opt,
            max: dim.max,
        };
        let dims: Vec<sb_dim> = dims.iter().zip(&names).map(raw).collect();
        // SAFETY: [any]; the strings and dimensions live through the call.
        checked(|e| unsafe { slot(self.raw.ctx, part.as_ptr(), dims.as_ptr(), dims.len() as u32, &raw mut model, e) })?;
        // SAFETY: a live model of this backend; the host unloads it, see Drop.
        let model = unsafe { Model::borrowed(&self.backend, model)? };
        Ok(TargetModel { model, target: self })
    }

    /// Binds every input of a request, filled by the skill's rules.
    ///
    /// # Errors
    /// A dimension that the axes do not give, memory that does not suffice.
    pub fn prepare(&self, model: &TargetModel<'_>, request: &mut Request<'_>, variant: u64) -> Result<()> {
        let slot = self.raw.prepare.ok_or_else(|| incomplete("prepare"))?;
        // SAFETY: [lane]: the request is borrowed mutably; both are alive.
        checked(|e| unsafe { slot(self.raw.ctx, model.model.as_raw(), request.as_raw(), variant, e) })
    }

    /// After a run on variant 0: holds the outputs against the reference.
    ///
    /// # Errors
    /// `WrongOutput`, saying by how much and where.
    pub fn verify(&self, model: &TargetModel<'_>, request: &mut Request<'_>) -> Result<()> {
        let slot = self.raw.verify.ok_or_else(|| incomplete("verify"))?;
        // SAFETY: [lane]: the request is borrowed mutably; both are alive.
        checked(|e| unsafe { slot(self.raw.ctx, model.model.as_raw(), request.as_raw(), e) })
    }
}

fn incomplete(slot: &str) -> Error {
    Error::invalid(format!("the host's target is incomplete: no `{slot}`"))
}

/// # Safety
/// The parts of `raw` are null or as many as it says, each with a name that lives through the call.
unsafe fn read_parts(raw: &sb_target) -> Vec<String> {
    if raw.parts.is_null() {
        return vec![];
    }
    // SAFETY: the caller promises it.
    let parts = unsafe { std::slice::from_raw_parts(raw.parts, raw.part_count as usize) };
    // SAFETY: as above.
    let name = |part: &*const sb_part| unsafe {
        let part = abi_size::read(*part)?;
        Some(text::borrow(part.name).unwrap_or_default().into_owned())
    };
    parts.iter().filter_map(name).collect()
}

impl<'t> TargetModel<'t> {
    /// The model itself. The host unloads it, when this value goes.
    pub fn model(&self) -> &Model<'t> {
        &self.model
    }

    /// As [`Target::prepare`].
    ///
    /// # Errors
    /// As there.
    pub fn prepare(&self, request: &mut Request<'_>, variant: u64) -> Result<()> {
        self.target.prepare(self, request, variant)
    }

    /// As [`Target::verify`].
    ///
    /// # Errors
    /// As there.
    pub fn verify(&self, request: &mut Request<'_>) -> Result<()> {
        self.target.verify(self, request)
    }

    /// The memory of the device that it was placed on.
    ///
    /// # Errors
    /// `NotFound` where the backend lists no such device, and whatever it says.
    pub fn place(&self) -> Result<Place> {
        let (table, instance) = (self.target.backend.table(), self.target.raw.instance);
        let id = self.placement()?.device;
        let missing = || Error::not_found(format!("the backend lists no device '{id}'"));
        let (count, device) = (table.device_count.ok_or_else(missing)?, table.device.ok_or_else(missing)?);
        // SAFETY: [any]; the target's own instance.
        let count = unsafe { count(instance) };
        for index in 0..count {
            let mut raw: sb_device = abi_size::sized();
            // SAFETY: [any]; a live instance, a writable struct.
            checked(|error| unsafe { device(instance, index, &raw mut raw, error) })?;
            if text::from_array(&raw.id) == id {
                // SAFETY: the target's own instance.
                return unsafe { client::place(table, instance, index) };
            }
        }
        Err(missing())
    }

    /// Copies a tensor of the host's into memory that the backend allocated.
    ///
    /// # Errors
    /// `Unimplemented` where the backend copies nothing, and whatever else it says.
    pub fn copy_in(&self, from: &HostTensor, to: &Allocated) -> Result<()> {
        // SAFETY: the target's own instance.
        unsafe { client::copy(self.target.backend.table(), self.target.raw.instance, &from.to_raw(), to.as_ptr()) }
    }

    /// Copies memory that the backend allocated into a tensor of the host's.
    ///
    /// # Errors
    /// As for [`TargetModel::copy_in`].
    pub fn copy_out(&self, from: &Allocated, to: &mut HostTensor) -> Result<()> {
        // SAFETY: as above; nobody else looks at the host's tensor.
        unsafe { client::copy(self.target.backend.table(), self.target.raw.instance, from.as_ptr(), &to.to_raw()) }
    }

    pub fn inputs(&self) -> &[Port] {
        self.model.inputs()
    }

    pub fn outputs(&self) -> &[Port] {
        self.model.outputs()
    }

    /// A new request on this model; it shares the weights.
    ///
    /// # Errors
    /// Whatever the backend says.
    pub fn request(&self) -> Result<Request<'_>> {
        self.model.request()
    }

    /// What really happened at load: the effective precision, the device.
    ///
    /// # Errors
    /// Whatever the backend says.
    pub fn placement(&self) -> Result<Placement> {
        self.model.placement()
    }
}

impl Drop for TargetModel<'_> {
    fn drop(&mut self) {
        if let Some(unload) = self.target.raw.unload {
            // SAFETY: [any]; requests borrow from the model, so none is alive.
            unsafe { unload(self.target.raw.ctx, self.model.as_raw()) }
        }
    }
}
