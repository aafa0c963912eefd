//! The reporter: series, rounds and samples.

use crate::error::guarded;
use crate::raw::*;
use crate::{Error, Result, Round, RoundKind, SeriesInfo, SeriesKind, abi_size, text};
use std::ffi::{c_char, c_void};
use std::marker::PhantomData;

/// `series` and `attach` may be called from any thread, the others from the thread that runs the benchmark.
pub trait ReporterServices: Sync {
    /// # Errors
    /// A name given twice, a unit that does not fit.
    fn series(&self, info: SeriesInfo) -> Result<u32>;
    fn next_round(&self, series: u32) -> Option<Round>;
    /// # Errors
    /// Samples that cannot be: see the header.
    fn samples(&self, series: u32, round: u64, values: &[f64]) -> Result<()>;
    fn attach(&self, name: &str, bytes: &[u8]);
}

/// `sb_reporter` over some services.
pub struct ReporterTable<'a> {
    raw: sb_reporter,
    _services: PhantomData<&'a ()>,
}

impl<'a> ReporterTable<'a> {
    pub fn new<S: ReporterServices>(services: &'a S) -> ReporterTable<'a> {
        ReporterTable {
            raw: sb_reporter {
                size: size_of::<sb_reporter>() as u32,
                flags: 0,
                ctx: (&raw const *services).cast_mut().cast(),
                series: Some(series::<S>),
                next_round: Some(next_round::<S>),
                samples: Some(samples::<S>),
                attach: Some(attach::<S>),
            },
            _services: PhantomData,
        }
    }

    pub(crate) fn as_ptr(&self) -> *const sb_reporter {
        &raw const self.raw
    }
}

unsafe extern "C" fn series<S: ReporterServices>(
    ctx: *mut c_void,
    info: *const sb_series,
    handle: *mut u32,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: ctx is the borrowed services; the struct lives through the call, the handle is writable.
    unsafe {
        guarded(error, || {
            let raw = abi_size::read(info).ok_or_else(|| Error::invalid("no series was described"))?;
            let info = SeriesInfo {
                name: text::borrow(raw.name).unwrap_or_default().into_owned(),
                unit: text::borrow(raw.unit).unwrap_or_default().into_owned(),
                kind: SeriesKind::from_raw(raw.kind)?,
                higher_is_better: match raw.better {
                    SB_LOWER_IS_BETTER => Some(false),
                    SB_HIGHER_IS_BETTER => Some(true),
                    _ => None,
                },
                concurrent: raw.flags & SB_SERIES_CONCURRENT != 0,
                items_per_sample: raw.items_per_sample,
            };
            let new = (*ctx.cast::<S>()).series(info)?;
            if handle.is_null() {
                return Err(Error::invalid("no place to put the series' handle"));
            }
            handle.write(new);
            Ok(())
        })
    }
}

unsafe extern "C" fn next_round<S: ReporterServices>(ctx: *mut c_void, series: u32, out: *mut sb_round) -> i32 {
    let next = || {
        // SAFETY: ctx is the borrowed services.
        let round = unsafe { (*ctx.cast::<S>()).next_round(series) }?;
        let mut raw: sb_round = abi_size::sized();
        raw.kind = match round.kind {
            RoundKind::WarmUp => SB_WARM_UP,
            RoundKind::Measured => SB_MEASURED,
        };
        (raw.id, raw.iterations, raw.settle, raw.duration_ns) = (round.id, round.iterations, round.settle, SB_UNKNOWN);
        // SAFETY: `out` is writable, its size set.
        unsafe { abi_size::fill(out, &raw) };
        Some(())
    };
    let next = std::panic::catch_unwind(std::panic::AssertUnwindSafe(next));
    i32::from(matches!(next, Ok(Some(()))))
}

unsafe extern "C" fn samples<S: ReporterServices>(
    ctx: *mut c_void,
    samples: *const sb_samples,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: ctx is the borrowed services; `count` values live through the call.
    unsafe {
        guarded(error, || {
            let raw = abi_size::read(samples).ok_or_else(|| Error::invalid("no samples were handed over"))?;
            let values = match raw.values.is_null() {
                true => &[][..],
                false => std::slice::from_raw_parts(raw.values, raw.count as usize),
            };
            (*ctx.cast::<S>()).samples(raw.series, raw.round, values)
        })
    }
}

unsafe extern "C" fn attach<S: ReporterServices>(
    ctx: *mut c_void,
    name: *const c_char,
    bytes: *const c_void,
    length: u64,
) {
    // SAFETY: ctx is the borrowed services; name and `length` bytes live through the call.
    unsafe {
        guarded(std::ptr::null_mut(), || {
            let bytes = match bytes.is_null() {
                true => &[][..],
                false => std::slice::from_raw_parts(bytes.cast::<u8>(), length as usize),
            };
            (*ctx.cast::<S>()).attach(&text::borrow(name).unwrap_or_default(), bytes);
            Ok(())
        });
    }
}
