//! Structs that grow: both sides may have been compiled against a longer or a shorter copy.
//!
//! Reading copies what the provider has and leaves the rest zero, so that a slot the provider does not know is `None`.
//! Filling writes what the receiver has room for and lowers its `size` to that.

use crate::raw::*;

/// A struct of the contract that starts with `size: u32` and may be all zeros.
///
/// # Safety
/// `repr(C)`, its first field is the `u32` size, all-zero bytes are a valid value, and it has no padding that is read.
pub(crate) unsafe trait Grows: Copy {}

macro_rules! grows {
    ($($name:ident)*) => { $(
        // SAFETY: repr(C) with `size: u32` first; integers, pointers, arrays of them and Option<fn> are valid as zeros.
        unsafe impl Grows for $name {}
    )* };
}
grows!(sb_error sb_options sb_host sb_device sb_source sb_load sb_port sb_placement sb_timing sb_memory sb_energy sb_counter
       sb_operator sb_backend sb_power sb_counters sb_profile sb_skillset sb_part sb_target sb_series sb_round sb_samples
       sb_reporter sb_benchmark sb_benchmarks sb_plugin);

/// How many bytes of `T` a struct of `size` bytes really has. A size that ends inside a pointer is rounded down to whole fields.
fn usable<T>(size: u32) -> usize {
    (size as usize & !(align_of::<T>() - 1)).min(size_of::<T>())
}

pub(crate) fn zeroed<T: Grows>() -> T {
    // SAFETY: Grows promises that zeros are a valid value.
    unsafe { std::mem::zeroed() }
}

/// A zeroed struct with `size` set, ready to be filled by a callee.
pub(crate) fn sized<T: Grows>() -> T {
    let mut value: T = zeroed();
    // SAFETY: Grows promises that the first field is the u32 size.
    unsafe { (&raw mut value).cast::<u32>().write(size_of::<T>() as u32) };
    value
}

/// Copies a provided struct, whichever size its provider knew.
///
/// # Safety
/// `from` is null or points to a struct whose first `size` bytes are readable.
pub(crate) unsafe fn read<T: Grows>(from: *const T) -> Option<T> {
    if from.is_null() {
        return None;
    }
    let mut value: T = zeroed();
    // SAFETY: at least the size field is there; then only as much is copied as both sides have.
    unsafe {
        let size = from.cast::<u32>().read();
        std::ptr::copy_nonoverlapping(from.cast::<u8>(), (&raw mut value).cast::<u8>(), usable::<T>(size));
    }
    Some(value)
}

/// Fills a caller's struct as far as it reaches, and lowers its `size` to what was filled.
///
/// # Safety
/// `to` is null or points to a struct of which the first `size` bytes are writable.
pub(crate) unsafe fn fill<T: Grows>(to: *mut T, value: &T) {
    if to.is_null() {
        return;
    }
    // SAFETY: at least the size field is there; only bytes below it are written.
    unsafe {
        let filled = usable::<T>(to.cast::<u32>().read());
        if filled >= size_of::<u32>() {
            std::ptr::copy_nonoverlapping((&raw const *value).cast::<u8>(), to.cast::<u8>(), filled);
            to.cast::<u32>().write(filled as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shorter_provider_leaves_the_rest_unset() {
        let mut long: sb_memory = sized();
        long.used = 7;
        long.total = 9;
        long.size = 16; // size, scope and used
        // SAFETY: a live struct.
        let copy = unsafe { read(&raw const long) }.unwrap();
        assert_eq!((copy.used, copy.total), (7, 0));
    }

    #[test]
    fn a_callee_writes_only_what_the_caller_has_room_for() {
        let mut small = [u64::MAX; 5];
        small[0] = 24; // the size field (and scope 0)
        let mut value: sb_memory = sized();
        (value.used, value.peak, value.total) = (1, 2, 3);
        // SAFETY: the first 24 bytes are writable, which is what the size says.
        unsafe { fill(small.as_mut_ptr().cast::<sb_memory>(), &value) };
        assert_eq!(small, [24, 1, 2, u64::MAX, u64::MAX]);
    }

    #[test]
    fn a_size_that_cuts_a_field_in_two_does_not_deliver_the_half() {
        let mut value: sb_memory = sized();
        value.used = u64::MAX;
        value.size = 12;
        // SAFETY: a live struct.
        assert_eq!(unsafe { read(&raw const value) }.unwrap().used, 0);
    }
}
