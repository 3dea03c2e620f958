//! The filters of system calls, compiled for the kernel. What is not listed fails with `EPERM`: an interpreter that tries
//! something goes on without it, where a kill would end it for nothing.

mod confined;

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch,
};

pub(crate) use confined::confined;

#[cfg(target_arch = "x86_64")]
const ARCH: Option<TargetArch> = Some(TargetArch::x86_64);
#[cfg(target_arch = "aarch64")]
const ARCH: Option<TargetArch> = Some(TargetArch::aarch64);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const ARCH: Option<TargetArch> = None;

const PROT_EXEC: u64 = 4;
const CLONE_THREAD: u64 = 0x0001_0000;
/// New namespaces of any kind.
// The last bit is that of time namespaces, which stands apart from the others.
const CLONE_NEW: u64 = 0x7e02_0000 | 0x0000_0080;

/// System calls of an interpreter that computes and has threads.
const COMPUTE: &[i64] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_close,
    libc::SYS_futex,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    // Denied by a filter of its own, as a call that does not exist: the C library then takes `clone`.
    libc::SYS_clone3,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_getppid,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_gettimeofday,
    libc::SYS_getrusage,
    // Older versions sleep with it.
    libc::SYS_pselect6,
];

/// Further calls of the base process and templates, to load material and to fork.
const FORK: &[i64] = &[
    libc::SYS_clone,
    libc::SYS_close_range,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_fcntl,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_lseek,
    libc::SYS_sendmsg,
    libc::SYS_recvmsg,
    libc::SYS_sendto,
    libc::SYS_recvfrom,
    libc::SYS_getsockopt,
    libc::SYS_getsockname,
    libc::SYS_pidfd_open,
    libc::SYS_wait4,
    libc::SYS_prctl,
    libc::SYS_seccomp,
    libc::SYS_prlimit64,
    libc::SYS_set_tid_address,
    libc::SYS_getuid,
    libc::SYS_geteuid,
];

#[cfg(target_arch = "x86_64")]
const COMPUTE_OLD: &[i64] = &[libc::SYS_time, libc::SYS_select];
#[cfg(target_arch = "x86_64")]
const FORK_OLD: &[i64] = &[
    libc::SYS_dup2,
    libc::SYS_fork,
    libc::SYS_getrlimit,
    libc::SYS_setrlimit,
];
#[cfg(not(target_arch = "x86_64"))]
const COMPUTE_OLD: &[i64] = &[];
#[cfg(not(target_arch = "x86_64"))]
const FORK_OLD: &[i64] = &[];

/// Filters of the base process, which its children keep.
pub(crate) fn base() -> Result<Vec<Vec<u8>>, FilterError> {
    let mut rules = open_calls(&[COMPUTE, COMPUTE_OLD, FORK, FORK_OLD]);
    no_new_code(&mut rules)?;
    Ok(vec![
        compile(rules, libc::EPERM)?,
        all_but(libc::SYS_clone3, libc::ENOSYS)?,
    ])
}

/// The other way round: one call fails with this error, all others pass.
pub(crate) fn all_but(call: i64, error: i32) -> Result<Vec<u8>, FilterError> {
    let rules = BTreeMap::from([(call, Vec::new())]);
    Ok(bytes(&filter(rules, SeccompAction::Allow, errno(error))?))
}

/// Filters that a session puts on top.
pub(crate) fn session() -> Result<Vec<Vec<u8>>, FilterError> {
    let mut rules = open_calls(&[COMPUTE, COMPUTE_OLD]);
    no_new_code(&mut rules)?;
    // Threads and no processes: only the session's own process ends with the session.
    let thread = condition(0, CLONE_THREAD | CLONE_NEW, CLONE_THREAD)?;
    rules.insert(libc::SYS_clone, vec![thread]);
    Ok(vec![compile(rules, libc::EPERM)?])
}

/// Further calls of the built-in interpreter: for its memory usage, and for the keys of its tables.
const MONTY: &[i64] = &[libc::SYS_pread64, libc::SYS_getrandom];

/// The filter of a worker of the built-in interpreter.
pub(crate) fn monty() -> Result<BpfProgram, FilterError> {
    let mut rules = open_calls(&[COMPUTE, COMPUTE_OLD, MONTY]);
    no_new_code(&mut rules)?;
    filter(rules, errno(libc::EPERM), SeccompAction::Allow)
}

/// A filter of system calls could not be compiled.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FilterError {
    #[error("no filter of system calls for this kind of processor")]
    Processor,
    #[error(transparent)]
    Backend(#[from] BackendError),
}

type FilterRules = BTreeMap<i64, Vec<SeccompRule>>;

fn open_calls(lists: &[&[i64]]) -> FilterRules {
    lists
        .iter()
        .flat_map(|list| list.iter())
        .map(|call| (*call, Vec::new()))
        .collect()
}

/// Memory may hold data, never new machine code.
fn no_new_code(rules: &mut FilterRules) -> Result<(), FilterError> {
    for call in [libc::SYS_mmap, libc::SYS_mprotect] {
        rules.insert(call, vec![condition(2, PROT_EXEC, 0)?]);
    }
    Ok(())
}

/// Passes when the bits of an argument under the mask are these.
fn condition(argument: u8, mask: u64, bits: u64) -> Result<SeccompRule, FilterError> {
    SeccompCondition::new(
        argument,
        SeccompCmpArgLen::Qword,
        SeccompCmpOp::MaskedEq(mask),
        bits,
    )
    .and_then(|condition| SeccompRule::new(vec![condition]))
    .map_err(FilterError::from)
}

fn errno(number: i32) -> SeccompAction {
    SeccompAction::Errno(number.unsigned_abs())
}

fn compile(rules: FilterRules, otherwise: i32) -> Result<Vec<u8>, FilterError> {
    Ok(bytes(&filter(
        rules,
        errno(otherwise),
        SeccompAction::Allow,
    )?))
}

fn filter(
    rules: FilterRules,
    otherwise: SeccompAction,
    listed: SeccompAction,
) -> Result<BpfProgram, FilterError> {
    let arch = ARCH.ok_or(FilterError::Processor)?;
    SeccompFilter::new(rules, otherwise, listed, arch)
        .and_then(BpfProgram::try_from)
        .map_err(FilterError::from)
}

/// The program as the kernel takes it.
fn bytes(program: &BpfProgram) -> Vec<u8> {
    program
        .iter()
        .flat_map(|step| {
            let code = step.code.to_ne_bytes().into_iter();
            let jumps = [step.jt, step.jf];
            code.chain(jumps).chain(step.k.to_ne_bytes())
        })
        .collect()
}
