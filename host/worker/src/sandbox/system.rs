//! The system calls of confining a process that no safe library has.

use seccompiler::BpfProgram;
use std::io;

/// Closes whatever the caller of the host left open beyond the three standard streams: a program that is loaded here has no business
/// with it.
pub(crate) fn close_inherited() {
    let Ok(open) = std::fs::read_dir("/proc/self/fd") else { return };
    let numbers: Vec<i32> = open.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for number in numbers.into_iter().filter(|number| *number > 2) {
        // SAFETY: called first thing in a process, when nothing in it owns a descriptor but the standard streams. The one that listed
        // the others is closed already, and closing it again fails without effect.
        unsafe { libc::close(number) };
    }
}

/// Installs a filter for this thread and all that it starts. Older kernels slow a filtered process down in general, as if it ran foreign
/// code; `SPEC_ALLOW` has them not do so.
pub(super) fn install(filter: &BpfProgram) -> io::Result<()> {
    const SPEC_ALLOW: libc::c_ulong = 1 << 2;
    let length = u16::try_from(filter.len()).map_err(io::Error::other)?;
    // The kernel's `sock_filter` and the library's have the same four fields in the same order.
    let program = libc::sock_fprog { len: length, filter: filter.as_ptr().cast::<libc::sock_filter>().cast_mut() };
    // SAFETY: the kernel copies the program during the call and writes to none of it; both live until it returns.
    let status =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, SPEC_ALLOW, &raw const program) };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
