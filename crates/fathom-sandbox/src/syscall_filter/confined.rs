//! Filters for a program that was chosen by people and called by a model. It may do what programs do; this takes away what
//! landlock does not reach: sockets, other processes, the machine itself, and the modes and owners of files.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompRule,
    sock_filter,
};

use super::{CLONE_NEW, FilterError, condition, errno, filter, open_calls};

/// Not named everywhere yet; its number is the same on all processors.
const SYS_FCHMODAT2: i64 = 452;

/// Calls that fail, whatever their arguments.
const DENIED: &[i64] = &[
    // The network, and neighbours on this machine. A ring could open sockets past this filter.
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_io_uring_setup,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    // Other processes. All of a program's own stay in one group, which the host ends as a whole.
    libc::SYS_setsid,
    libc::SYS_setpgid,
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_send_signal,
    libc::SYS_pidfd_getfd,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    libc::SYS_kcmp,
    libc::SYS_setpriority,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
    libc::SYS_ioprio_set,
    libc::SYS_setrlimit,
    // What landlock lets pass on files that it denies.
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    SYS_FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    libc::SYS_truncate,
    libc::SYS_inotify_add_watch,
    libc::SYS_fanotify_init,
    libc::SYS_open_by_handle_at,
    // Namespaces, mounts and keys.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_chroot,
    libc::SYS_pivot_root,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_mount_setattr,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // The kernel and the machine.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
];

#[cfg(target_arch = "x86_64")]
const DENIED_OLD: &[i64] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
];
#[cfg(not(target_arch = "x86_64"))]
const DENIED_OLD: &[i64] = &[];

/// The filters of a process with this number.
pub(crate) fn confined(process: u32) -> Result<Vec<BpfProgram>, FilterError> {
    let mut rules = open_calls(&[DENIED, DENIED_OLD]);
    // Times of a file that is open may be set, those of a path not; limits may be read.
    rules.insert(libc::SYS_utimensat, vec![differs(1, 0)?]);
    rules.insert(libc::SYS_prlimit64, vec![differs(2, 0)?]);
    // A program may choose its own processors.
    rules.insert(libc::SYS_sched_setaffinity, vec![differs(0, 0)?]);
    // A program may end itself.
    rules.insert(libc::SYS_tgkill, vec![differs(0, process.into())?]);
    // A rule for each bit: all conditions of one rule must hold, but one rule of a call suffices.
    rules.insert(libc::SYS_clone, each_bit(0, CLONE_NEW)?);
    Ok(vec![
        filter(rules, SeccompAction::Allow, errno(libc::EPERM))?,
        // The C library then takes `clone`, whose flags can be seen.
        filter(
            BTreeMap::from([(libc::SYS_clone3, Vec::new())]),
            SeccompAction::Allow,
            errno(libc::ENOSYS),
        )?,
        no_other_numbers(),
    ])
}

fn differs(argument: u8, value: u64) -> Result<SeccompRule, FilterError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, value)
        .and_then(|condition| SeccompRule::new(vec![condition]))
        .map_err(FilterError::from)
}

/// Matches when any bit under the mask is set.
fn each_bit(argument: u8, mask: u64) -> Result<Vec<SeccompRule>, FilterError> {
    let bits = (0..u64::BITS).map(|n| 1 << n).filter(|bit| mask & bit != 0);
    bits.map(|bit| condition(argument, bit, bit)).collect()
}

/// Some kernels take every call a second time, under a number above these, which a list would not name.
fn no_other_numbers() -> BpfProgram {
    const LOAD: u16 = 0x20;
    const JUMP_IF_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const NUMBERS_MAX: u32 = 0x4000_0000;
    const ALLOW: u32 = 0x7fff_0000;
    const FAIL: u32 = 0x0005_0000 | libc::ENOSYS.unsigned_abs();
    let step = |code, jf, k| sock_filter { code, jt: 0, jf, k };
    vec![
        step(LOAD, 0, 0),
        step(JUMP_IF_AT_LEAST, 1, NUMBERS_MAX),
        step(RETURN, 0, FAIL),
        step(RETURN, 0, ALLOW),
    ]
}
