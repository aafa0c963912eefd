//! What only the C library tells of this process, and a call that empties its streams. On other systems than Linux nothing is told.

/// Writes out what `printf` and the like hold back, so that it shows whether anything was printed.
pub(crate) fn flush_streams() {
    #[cfg(target_os = "linux")]
    // SAFETY: with a null stream all output streams are flushed, under their own locks.
    unsafe {
        libc::fflush(std::ptr::null_mut());
    }
}

/// The locale of this process: that of all categories, as `setlocale` names it.
pub(crate) fn locale() -> Option<String> {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: asked without a name it changes nothing.
        let name = unsafe { libc::setlocale(libc::LC_ALL, std::ptr::null()) };
        if name.is_null() {
            return None;
        }
        // SAFETY: a C string that stays as it is until the next call.
        Some(unsafe { std::ffi::CStr::from_ptr(name) }.to_string_lossy().into_owned())
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// What is called for a signal, as an address; 0 is the system's own answer, 1 that it is ignored.
pub(crate) fn handler_of(signal: i32) -> Option<usize> {
    #[cfg(target_os = "linux")]
    {
        let mut now = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: asked without a new one it changes nothing; the struct is writable, and zeros are a valid one.
        unsafe {
            match libc::sigaction(signal, std::ptr::null(), now.as_mut_ptr()) {
                0 => Some(now.assume_init().sa_sigaction),
                _ => None,
            }
        }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = signal;
        None
    }
}

/// The version of the GNU C library that this process runs with; `None` with another one.
pub fn libc_version() -> Option<String> {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: it returns a constant string of the library.
        let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
        Some(version.to_string_lossy().into_owned())
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    None
}
