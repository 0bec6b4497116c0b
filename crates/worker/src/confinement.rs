//! Limits that a worker sets on itself before it reads any input.

use serde::{Deserialize, Serialize};
use std::io;
use std::path::PathBuf;

/// Niceness of a worker (19 is the lowest priority): while a request needs the processors, tasks of workers wait.
const NICENESS: i32 = 10;

/// Limits of a worker. The parent hands them over on the command line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Memory of a task in megabytes, without the files that are mapped.
    pub memory_megabytes: u64,
    /// Maximum number of open files.
    pub open_files: u64,
    /// Stack of the thread that runs the tasks, in megabytes.
    pub stack_megabytes: u64,
    /// Folders and files that the worker may read.
    pub readable: Vec<PathBuf>,
    /// Folders in which the worker may also create, change and remove files and folders.
    pub writable: Vec<PathBuf>,
    /// Maximum size in bytes of a file that the worker writes. 0: it cannot write files.
    pub file_bytes: u64,
}

impl Limits {
    /// Returns the memory of a task in bytes.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.memory_megabytes.saturating_mul(1 << 20)
    }

    /// Limit of all data in bytes. It is above the limit of a task: the parent ends the worker first, with a clear error.
    fn data_bytes(&self) -> u64 {
        self.memory_megabytes
            .saturating_add(self.memory_megabytes / 4)
            .saturating_add(self.stack_megabytes)
            .saturating_add(256)
            .saturating_mul(1 << 20)
    }

    /// Applies the limits to this process. Returns the protections that the system lacks.
    ///
    /// # Errors
    /// If a limit of resources cannot be set. That is possible on every system.
    pub(crate) fn apply(&self) -> io::Result<Vec<String>> {
        self.limit_resources()?;
        let mut missing = Vec::new();
        missing.extend(self.restrict_files());
        missing.extend(restrict_system_calls());
        Ok(missing)
    }

    fn limit_resources(&self) -> io::Result<()> {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limits = [
            (Resource::Data, self.data_bytes()),
            (Resource::Nofile, self.open_files),
            (Resource::Fsize, self.file_bytes),
            (Resource::Core, 0),
        ];
        // A process without privileges cannot raise the maximum: a lower limit of the operator stays.
        for (resource, own_limit) in limits {
            let limit = limit_to_maximum(own_limit, getrlimit(resource).maximum);
            setrlimit(
                resource,
                Rlimit {
                    current: Some(limit),
                    maximum: Some(limit),
                },
            )?;
        }
        rustix::process::nice(NICENESS)?;
        Ok(())
    }

    #[cfg(target_os = "linux")]
    fn restrict_files(&self) -> Option<String> {
        use landlock::RulesetStatus;
        match self.landlock() {
            Ok(RulesetStatus::FullyEnforced) => None,
            Ok(RulesetStatus::PartiallyEnforced) => {
                Some("this kernel supports a part of Landlock only; update Linux".to_owned())
            }
            Ok(RulesetStatus::NotEnforced) => {
                let access = self.unrestricted_access();
                Some(format!(
                    "this kernel has no Landlock, so workers can {access} all files of the user; enable it"
                ))
            }
            Err(error) => Some(format!("Landlock cannot be enabled: {error}")),
        }
    }

    /// Allows the listed folders, and no other files, no TCP, and no signals to other processes. In writable folders, the worker can
    /// create files and folders, but no links and no devices.
    #[cfg(target_os = "linux")]
    fn landlock(&self) -> Result<landlock::RulesetStatus, landlock::RulesetError> {
        use landlock::{
            ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetCreatedAttr, Scope,
            path_beneath_rules,
        };
        let read = AccessFs::ReadFile | AccessFs::ReadDir;
        let files =
            AccessFs::MakeReg | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::RemoveFile;
        let write = read | files | AccessFs::MakeDir | AccessFs::RemoveDir;
        // The rights of Linux 6.12. Older kernels enforce those they support.
        let abi = ABI::V6;
        let ruleset = Ruleset::default()
            .handle_access(AccessFs::from_all(abi))?
            .handle_access(AccessNet::from_all(abi))?
            .scope(Scope::from_all(abi))?
            .create()?
            .add_rules(path_beneath_rules(&self.readable, read))?
            .add_rules(path_beneath_rules(&self.writable, write))?;
        Ok(ruleset.restrict_self()?.ruleset)
    }

    #[cfg(not(target_os = "linux"))]
    fn restrict_files(&self) -> Option<String> {
        Some(format!(
            "this system has no Landlock, so workers can {} all files of the user",
            self.unrestricted_access()
        ))
    }

    /// Returns the access to files that only Landlock restricts.
    fn unrestricted_access(&self) -> &'static str {
        if self.file_bytes > 0 {
            "read and write"
        } else {
            "read"
        }
    }
}

/// Makes system calls of the network, of other programs and of the kernel's administration fail with EPERM.
#[cfg(target_os = "linux")]
fn restrict_system_calls() -> Option<String> {
    let filtered = seccomp_filter().map_err(seccompiler::Error::from);
    let applied = filtered.and_then(|program| seccompiler::apply_filter(&program));
    applied
        .err()
        .map(|error| format!("seccomp cannot be enabled, so workers can use the network: {error}"))
}

#[cfg(target_os = "linux")]
fn seccomp_filter() -> Result<seccompiler::BpfProgram, seccompiler::BackendError> {
    use seccompiler::SeccompCmpOp::Ne;
    use seccompiler::{
        SeccompAction, SeccompCmpArgLen, SeccompCondition, SeccompFilter, SeccompRule,
    };
    let refused = [
        // Network. `io_uring` can open sockets by itself.
        libc::SYS_socket,
        libc::SYS_socketpair,
        libc::SYS_connect,
        libc::SYS_bind,
        libc::SYS_listen,
        libc::SYS_accept,
        libc::SYS_accept4,
        libc::SYS_sendto,
        libc::SYS_sendmsg,
        libc::SYS_sendmmsg,
        libc::SYS_io_uring_setup,
        // Other programs and processes.
        libc::SYS_execve,
        libc::SYS_execveat,
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_process_madvise,
        libc::SYS_kcmp,
        libc::SYS_pidfd_open,
        libc::SYS_pidfd_getfd,
        libc::SYS_pidfd_send_signal,
        // Signals, except `tgkill`, by which glibc aborts.
        libc::SYS_kill,
        libc::SYS_tkill,
        libc::SYS_rt_sigqueueinfo,
        libc::SYS_rt_tgsigqueueinfo,
        // Administration, and parts of the kernel that a worker does not need.
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_unshare,
        libc::SYS_setns,
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_userfaultfd,
        libc::SYS_keyctl,
        libc::SYS_add_key,
        libc::SYS_request_key,
        libc::SYS_init_module,
        libc::SYS_finit_module,
        libc::SYS_kexec_load,
        libc::SYS_open_by_handle_at,
    ];
    // `tgkill` stays allowed for the threads of this process only.
    let other_process =
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, Ne, std::process::id().into())?;
    let signals = [(
        libc::SYS_tgkill,
        vec![SeccompRule::new(vec![other_process])?],
    )];
    let rules = refused
        .into_iter()
        .map(|call| (call, Vec::new()))
        .chain(signals)
        .collect();
    // An error rather than a signal: libraries handle EPERM, and the task gets a message.
    let denied = SeccompAction::Errno(libc::EPERM as u32);
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        denied,
        std::env::consts::ARCH.try_into()?,
    )?;
    filter.try_into()
}

#[cfg(not(target_os = "linux"))]
fn restrict_system_calls() -> Option<String> {
    Some("this system has no seccomp, so workers can use the network".to_owned())
}

/// Returns a limit of a resource, or the maximum that the system permits if that is lower.
fn limit_to_maximum(limit: u64, maximum: Option<u64>) -> u64 {
    match maximum {
        Some(maximum) => maximum.min(limit),
        None => limit,
    }
}

/// Allows this process so much more processor time. The system ends it afterwards, even if the parent does not.
pub(crate) fn allow_processor_time(time: std::time::Duration) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    use rustix::time::{ClockId, clock_gettime};
    // RLIMIT_CPU counts from the start of the process: the time of earlier tasks is added.
    let used = u64::try_from(clock_gettime(ClockId::ProcessCPUTime).tv_sec).unwrap_or_default();
    let maximum = getrlimit(Resource::Cpu).maximum;
    let total_seconds = used + time.as_secs() + 2;
    // The maximum stays, because a process without privileges cannot raise it again for the next task.
    let current = Some(limit_to_maximum(total_seconds, maximum));
    Ok(setrlimit(Resource::Cpu, Rlimit { current, maximum })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_memory_is_no_small_one() {
        let limits = Limits {
            memory_megabytes: u64::MAX,
            open_files: 64,
            stack_megabytes: 8,
            readable: Vec::new(),
            writable: Vec::new(),
            file_bytes: 0,
        };
        assert_eq!(
            (limits.memory_bytes(), limits.data_bytes()),
            (u64::MAX, u64::MAX)
        );
    }
}
