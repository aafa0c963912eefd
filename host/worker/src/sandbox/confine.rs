//! How a worker gives rights up, before it opens a library. What the kernel does not have is left out, and results say what was in force.

use super::{Confinement, Mode, system};
use landlock::{
    ABI, AccessFs, CompatLevel, Compatible, LandlockStatus, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, Scope,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

/// The newest rights that are asked for; older kernels have fewer.
const RIGHTS: ABI = ABI::V6;

/// System calls that no engine needs: they change the machine, or reach into other processes.
const REFUSED: &[libc::c_long] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_adjtimex,
    libc::SYS_bpf,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_umount2,
    libc::SYS_userfaultfd,
];

/// Kinds of sockets that lead to other machines.
const NETWORKS: [libc::c_int; 4] = [libc::AF_INET, libc::AF_INET6, libc::AF_PACKET, libc::AF_VSOCK];

/// Applies it to this thread, and so to every thread and process that comes of it.
///
/// # Errors
/// The kernel has what was asked for, and refused it.
pub(crate) fn confine(confinement: &Confinement) -> io::Result<()> {
    if confinement.mode == Mode::Off {
        return Ok(());
    }
    rustix::thread::set_no_new_privs(true)?;
    restrict_files(confinement).map_err(io::Error::other)?;
    match system::install(&filter(confinement).map_err(io::Error::other)?) {
        // A kernel without filters has none to give.
        Err(error) if error.raw_os_error() != Some(libc::EINVAL) && error.raw_os_error() != Some(libc::ENOSYS) => {
            Err(error)
        }
        _ => Ok(()),
    }
}

fn restrict_files(confinement: &Confinement) -> Result<(), RulesetError> {
    let (read, write) = (AccessFs::from_read(RIGHTS), AccessFs::from_write(RIGHTS));
    let strict = confinement.mode == Mode::Strict;
    let handled = if strict { read | write } else { write };
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort).handle_access(handled)?;
    let mut ruleset = ruleset.scope(Scope::Signal)?.create()?;
    let own = PathBuf::from(format!("/proc/{}", std::process::id()));
    let writable = confinement.writable.iter().chain(std::iter::once(&own)).map(|path| (path, handled));
    let readable = confinement.readable.iter().filter(|_| strict).map(|path| (path, read));
    for (path, rights) in readable.chain(writable) {
        // What is not there can be neither read nor written.
        let (Ok(opened), Ok(data)) = (PathFd::new(path), std::fs::metadata(path)) else { continue };
        let rights = if data.is_dir() { rights } else { rights & AccessFs::from_file(RIGHTS) };
        ruleset = ruleset.add_rule(PathBeneath::new(opened, rights))?;
    }
    ruleset.restrict_self()?;
    Ok(())
}

const TIOCLINUX: u64 = 0x541C;
/// Set in the numbers of system calls of x86-64 with short pointers.
const X32: i64 = 0x4000_0000;

fn argument(place: u8, compared: SeccompCmpOp, value: u64) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(place, SeccompCmpArgLen::Dword, compared, value)?])
}

fn filter(confinement: &Confinement) -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = REFUSED.iter().map(|call| (*call, vec![])).collect();
    if confinement.mode == Mode::Strict && !confinement.network {
        let of_kind = |kind: libc::c_int| argument(0, SeccompCmpOp::Eq, kind as u64);
        rules.insert(libc::SYS_socket, NETWORKS.into_iter().map(of_kind).collect::<Result<_, _>>()?);
        // It opens sockets without the call above.
        rules.insert(libc::SYS_io_uring_setup, vec![]);
    }
    // Limits of other processes, of the keeper above all; its own it may set.
    rules.insert(libc::SYS_prlimit64, vec![argument(0, SeccompCmpOp::Ne, 0)?]);
    // What is typed into the terminal of whoever called the host.
    let typing = [libc::TIOCSTI, TIOCLINUX];
    let typing = typing.into_iter().map(|request| argument(1, SeccompCmpOp::Eq, request)).collect::<Result<_, _>>()?;
    rules.insert(libc::SYS_ioctl, typing);
    if cfg!(target_arch = "x86_64") {
        // The same calls by their other numbers, and four that have one of their own there.
        let others: Vec<_> = rules.iter().map(|(call, rule)| (call | X32, rule.clone())).collect();
        rules.extend(others);
        rules.extend([521, 528, 539, 540].map(|call| (call | X32, vec![])));
    }
    let refuse = SeccompAction::Errno(libc::EPERM as u32);
    SeccompFilter::new(rules, SeccompAction::Allow, refuse, std::env::consts::ARCH.try_into()?)?.try_into()
}

/// What this kernel has of it.
pub(crate) fn support() -> Vec<String> {
    // Asked by restricting a thread that ends with its answer.
    let asked = std::thread::spawn(|| {
        Some(Ruleset::default().scope(Scope::Signal).ok()?.create().ok()?.restrict_self().ok()?.landlock)
    });
    let landlock = match asked.join() {
        Ok(Some(LandlockStatus::Available { effective_abi, .. })) => Some(format!("Landlock {}", effective_abi as i32)),
        _ => None,
    };
    let seccomp = std::fs::read_to_string("/proc/self/status").is_ok_and(|text| text.contains("\nSeccomp:"));
    landlock.into_iter().chain(seccomp.then(|| "seccomp".into())).collect()
}
