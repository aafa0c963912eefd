//! A backend's optional extensions as C tables: energy, figures of its own, and what the operators of its models cost.

use super::Backend;
use super::backend_table::{Instance, Loaded, look};
use super::{Model, Profile};
use crate::error::guarded;
use crate::raw::*;
use crate::{Code, Error, Result, abi_size, text};
use std::ffi::{c_char, c_void};
use std::marker::PhantomData;
use std::sync::PoisonError;

struct Tables<B>(PhantomData<B>);

impl<B: Backend> Tables<B> {
    const POWER: &'static sb_power =
        &sb_power { size: size_of::<sb_power>() as u32, flags: 0, read: Some(read_power::<B>) };
    const COUNTERS: &'static sb_counters = &sb_counters {
        size: size_of::<sb_counters>() as u32,
        flags: 0,
        count: Some(count_counters::<B>),
        read: Some(read_counter::<B>),
    };
    const PROFILE: &'static sb_profile = &sb_profile {
        size: size_of::<sb_profile>() as u32,
        flags: 0,
        begin: Some(begin_profile::<B>),
        end: Some(end_profile::<B>),
        count: Some(count_operators::<B>),
        read: Some(read_operator::<B>),
    };
}

pub(super) unsafe extern "C" fn extension<B: Backend>(instance: *mut sb_instance, id: *const c_char) -> *const c_void {
    let mut found: *const c_void = std::ptr::null();
    // SAFETY: the contract: a live instance, and an id that lives through the call; no error buffer is given.
    unsafe {
        guarded(std::ptr::null_mut(), || {
            let backend = &look::<Instance<B>, _>(instance)?.backend;
            found = match text::borrow(id).as_deref() {
                Some(SB_POWER) if backend.power().is_some() => (&raw const *Tables::<B>::POWER).cast(),
                Some(SB_COUNTERS) if backend.counters().is_some() => (&raw const *Tables::<B>::COUNTERS).cast(),
                Some(SB_PROFILE) if backend.profiles() => (&raw const *Tables::<B>::PROFILE).cast(),
                _ => std::ptr::null(),
            };
            Ok(())
        })
    };
    found
}

unsafe extern "C" fn read_power<B: Backend>(
    instance: *mut sb_instance,
    device: u32,
    out: *mut sb_energy,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: the contract: a live instance; `out` with its size set.
    unsafe {
        guarded(error, || {
            let power = look::<Instance<B>, _>(instance)?.backend.power();
            let power = power.ok_or_else(|| Error::unimplemented(crate::Why::NONE, "there is no energy counter"))?;
            abi_size::fill(out, &power.read(device)?.to_raw());
            Ok(())
        })
    }
}

/// Reads them all: drivers tell them at one moment, and are not asked again for each.
unsafe extern "C" fn count_counters<B: Backend>(instance: *mut sb_instance, device: u32) -> u32 {
    let mut count = 0;
    // SAFETY: the contract: a live instance; no error buffer is given.
    unsafe {
        guarded(std::ptr::null_mut(), || {
            let instance = look::<Instance<B>, _>(instance)?;
            let all = instance.backend.counters().map_or(Ok(vec![]), |counters| counters.read(device))?;
            count = all.len() as u32;
            instance.counted.lock().unwrap_or_else(PoisonError::into_inner).insert(device, all);
            Ok(())
        })
    };
    count
}

unsafe extern "C" fn read_counter<B: Backend>(
    instance: *mut sb_instance,
    device: u32,
    index: u32,
    out: *mut sb_counter,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: the contract: a live instance; `out` with its size set.
    unsafe {
        guarded(error, || {
            let counted = &look::<Instance<B>, _>(instance)?.counted;
            let counted = counted.lock().unwrap_or_else(PoisonError::into_inner);
            let found = counted.get(&device).and_then(|all| all.get(index as usize));
            let found =
                found.ok_or_else(|| Error::not_found(format!("no counter {index}: ask for their number first")))?;
            abi_size::fill(out, &found.to_raw());
            Ok(())
        })
    }
}

fn profile<B: Backend>(loaded: &Loaded<B>) -> Result<&dyn Profile> {
    let text = "this model was not loaded to be profiled: load it with SB_LOAD_PROFILE";
    loaded.model.profile().ok_or_else(|| Error::new(Code::FailedPrecondition, text))
}

unsafe extern "C" fn begin_profile<B: Backend>(model: *mut sb_model, error: *mut sb_error) -> sb_status {
    // SAFETY: the contract: a live model.
    unsafe {
        guarded(error, || {
            let loaded = look::<Loaded<B>, _>(model)?;
            loaded.recorded.lock().unwrap_or_else(PoisonError::into_inner).clear();
            profile(loaded)?.begin()
        })
    }
}

unsafe extern "C" fn end_profile<B: Backend>(model: *mut sb_model, error: *mut sb_error) -> sb_status {
    // SAFETY: the contract: a live model.
    unsafe {
        guarded(error, || {
            let loaded = look::<Loaded<B>, _>(model)?;
            let recorded = profile(loaded)?.end()?;
            *loaded.recorded.lock().unwrap_or_else(PoisonError::into_inner) = recorded;
            Ok(())
        })
    }
}

unsafe extern "C" fn count_operators<B: Backend>(model: *mut sb_model) -> u32 {
    // SAFETY: the contract: a live model.
    let loaded = unsafe { look::<Loaded<B>, _>(model) };
    loaded.map_or(0, |loaded| loaded.recorded.lock().unwrap_or_else(PoisonError::into_inner).len() as u32)
}

unsafe extern "C" fn read_operator<B: Backend>(
    model: *mut sb_model,
    index: u32,
    out: *mut sb_operator,
    error: *mut sb_error,
) -> sb_status {
    // SAFETY: the contract: a live model; `out` with its size set.
    unsafe {
        guarded(error, || {
            let recorded = look::<Loaded<B>, _>(model)?.recorded.lock().unwrap_or_else(PoisonError::into_inner);
            let found = recorded.get(index as usize);
            let found = found.ok_or_else(|| Error::not_found(format!("operator {index} of {}", recorded.len())))?;
            abi_size::fill(out, &found.to_raw());
            Ok(())
        })
    }
}
