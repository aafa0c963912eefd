//! Copies to a GPU of NVIDIA's and back, by its driver.

use crate::copies::{Copier, Piece};
use cudarc::driver::result::{ctx, device, primary_ctx, stream};
use cudarc::driver::sys::{self, CUcontext, CUdevice, CUdeviceptr, CUstream};
use cudarc::driver::{DriverError, result};
use skillbench_plugin_api::{Code, Error, Result, Why};
use std::sync::OnceLock;

/// The queue that the driver has for each thread of the host (`CU_STREAM_PER_THREAD` of `cuda.h`): threads do not wait for each other.
const OWN_QUEUE: CUstream = 2 as CUstream;

/// Copies to one GPU and back. Its primary context, in which the CUDA runtime works too, is made at the first copy: looking at a GPU takes
/// none of its memory.
pub struct Copies {
    ordinal: i32,
    context: OnceLock<Result<Context>>,
}

impl Copies {
    /// Of the GPU with this number of CUDA's. The driver is loaded already ([`gpus`](super::gpus)).
    pub fn of(ordinal: i32) -> Copies {
        Copies { ordinal, context: OnceLock::new() }
    }
}

impl Copier for Copies {
    unsafe fn copy(&self, pieces: &[Piece]) -> Result<()> {
        let context = self.context.get_or_init(|| Context::hold(self.ordinal)).as_ref().map_err(Clone::clone)?;
        // SAFETY: the context is held. With one address space for host and device, which every 64-bit system has, the driver tells from the
        // addresses which way a copy goes; the caller promises both sides until the queue is empty.
        unsafe {
            ctx::set_current(context.handle).map_err(refused)?;
            let started = pieces.iter().filter(|piece| piece.bytes > 0).try_for_each(|piece| {
                sys::cuMemcpyAsync(piece.to as CUdeviceptr, piece.from as CUdeviceptr, piece.bytes, OWN_QUEUE).result()
            });
            // Also after a refusal: what was queued before it may still be on its way.
            let ended = stream::synchronize(OWN_QUEUE);
            started.and(ended).map_err(refused)
        }
    }
}

/// A GPU's primary context: what an engine allocates there has the same addresses here.
struct Context {
    device: CUdevice,
    handle: CUcontext,
}

// SAFETY: a context may be used from any thread; each makes it its current one first.
unsafe impl Send for Context {}
// SAFETY: as for Send.
unsafe impl Sync for Context {}

impl Context {
    fn hold(ordinal: i32) -> Result<Context> {
        result::init().map_err(refused)?;
        let device = device::get(ordinal).map_err(refused)?;
        // SAFETY: the driver has just returned the device.
        let handle = unsafe { primary_ctx::retain(device) }.map_err(refused)?;
        Ok(Context { device, handle })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: held once, and let go of once. A driver that is shutting down refuses, and needs nothing.
        let _ = unsafe { primary_ctx::release(self.device) };
    }
}

fn refused(error: DriverError) -> Error {
    let text = super::words(error);
    let code = match error.0 {
        sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => Code::ResourceExhausted,
        _ => Code::Internal,
    };
    let error = Error { vendor_code: error.0 as i32, ..Error::new(code, format!("NVIDIA's driver: {text}")) };
    if code == Code::ResourceExhausted { error.because(Why::MEMORY) } else { error }
}
