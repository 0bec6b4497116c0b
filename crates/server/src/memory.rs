//! Memory budget: concurrent queries, and files that are parsed beside them, together may use three quarters of the memory that the
//! system grants to this process.

use lodeseek_sparql::SparqlLimits;
use std::fs;
use std::path::Path;

/// Memory of a query in megabytes that is reduced no further. Instead, fewer queries run at one time.
const MIN_QUERY_MEGABYTES: u64 = 256;
/// Maximum number of examples of visitors that are parsed and compared at one time. Searches do not wait for them.
pub(crate) const MAX_PARSES: usize = 2;
/// Number of files that are parsed at one time, each with the memory of a query: examples of visitors, and two of a harvest or an
/// upload.
const MAX_PARSED_FILES: u64 = MAX_PARSES as u64 + 2;

/// Adapts limits of queries to the memory of this machine or container, and logs the change.
pub(crate) fn fit_to_memory(limits: SparqlLimits) -> SparqlLimits {
    let Some(available) = available_megabytes(Path::new("/")) else {
        return limits;
    };
    let fitted = fit_to_budget(limits.clone(), available / 4 * 3);
    if (fitted.memory_megabytes, fitted.concurrent) != (limits.memory_megabytes, limits.concurrent)
    {
        tracing::warn!(
            "this process may use {available} MB of memory, three quarters of it for queries and files: at most {} concurrent queries with {} MB each, instead of {} with {} MB",
            fitted.concurrent,
            fitted.memory_megabytes,
            limits.concurrent,
            limits.memory_megabytes,
        );
    }
    fitted
}

/// Reduces the memory of each query and file, and if this is not enough the number of concurrent queries, until all fit into a budget.
fn fit_to_budget(limits: SparqlLimits, budget_megabytes: u64) -> SparqlLimits {
    let concurrent = limits.concurrent.max(1);
    let share = budget_megabytes / (concurrent as u64 + MAX_PARSED_FILES);
    let memory_megabytes = limits.memory_megabytes.min(share.max(MIN_QUERY_MEGABYTES));
    let possible = (budget_megabytes / memory_megabytes.max(1)).saturating_sub(MAX_PARSED_FILES);
    let possible = usize::try_from(possible).unwrap_or(usize::MAX);
    let concurrent = concurrent.min(possible.max(1));
    if concurrent >= limits.concurrent {
        return SparqlLimits {
            memory_megabytes,
            ..limits
        };
    }
    // The limit of a client is reduced as well, so that one client cannot hold all permits.
    let half = concurrent.div_ceil(2);
    SparqlLimits {
        memory_megabytes,
        concurrent,
        concurrent_of_client: limits.concurrent_of_client.min(half),
        ..limits
    }
}

/// Returns the memory of the machine in megabytes or, if it is smaller, the limit of the control group (container) of this
/// process. `None` if the system does not report it. `root` is the root folder of the system.
fn available_megabytes(root: &Path) -> Option<u64> {
    let machine = fs::read_to_string(root.join("proc/meminfo"))
        .ok()
        .and_then(|text| total_kilobytes(&text))?
        << 10;
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let limits = groups.lines().flat_map(|line| group_limits(root, line));
    Some(limits.fold(machine, u64::min) >> 20)
}

fn total_kilobytes(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// Returns the memory limits in bytes of a control group and of those above it. `line` is one of `/proc/self/cgroup`:
/// `ID:CONTROLLERS:PATH`.
fn group_limits(root: &Path, line: &str) -> Vec<u64> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
        return Vec::new();
    };
    let (folder, file) = match controllers {
        "" => ("sys/fs/cgroup", "memory.max"),
        "memory" => ("sys/fs/cgroup/memory", "memory.limit_in_bytes"),
        _ => return Vec::new(),
    };
    // Inside a container, the path may be that outside of it. Then only the topmost folder exists.
    let own = Path::new(path.trim_start_matches('/'));
    let texts = own
        .ancestors()
        .filter_map(|group| fs::read_to_string(root.join(folder).join(group).join(file)).ok());
    texts.filter_map(|text| text.trim().parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_fit_into_the_budget() {
        let default = SparqlLimits::default();
        assert_eq!((default.concurrent, default.memory_megabytes), (8, 1024));
        for (budget, concurrent, megabytes) in [
            (100_000, 8, 1024),
            (12_288, 8, 1024),
            (6144, 8, 512),
            (3072, 8, 256),
            (2048, 4, 256),
            (1300, 1, 256),
            (10, 1, 256),
        ] {
            let fitted = fit_to_budget(default.clone(), budget);
            assert_eq!(
                (fitted.concurrent, fitted.memory_megabytes),
                (concurrent, megabytes),
                "{budget}"
            );
            assert!(fitted.concurrent_of_client <= fitted.concurrent);
        }
        let small = SparqlLimits {
            memory_megabytes: 64,
            ..default
        };
        assert_eq!(
            fit_to_budget(small, 512).memory_megabytes,
            64,
            "a smaller limit is kept"
        );
    }

    #[test]
    fn the_smallest_limit_counts() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = folder.path();
        assert_eq!(available_megabytes(root), None);
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("created");
            fs::write(path, text).expect("written");
        };
        write(
            "proc/meminfo",
            "MemTotal:        4194304 kB\nMemFree: 1 kB\n",
        );
        assert_eq!(available_megabytes(root), Some(4096));
        write("proc/self/cgroup", "0::/system.slice/lodeseek.service\n");
        write(
            "sys/fs/cgroup/system.slice/lodeseek.service/memory.max",
            "max\n",
        );
        assert_eq!(available_megabytes(root), Some(4096));
        write("sys/fs/cgroup/system.slice/memory.max", "1073741824\n");
        assert_eq!(
            available_megabytes(root),
            Some(1024),
            "a group above limits it"
        );
        write(
            "proc/self/cgroup",
            "4:memory:/docker/abc\n3:cpu:/docker/abc\n",
        );
        write("sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912\n");
        assert_eq!(available_megabytes(root), Some(512));
        write(
            "sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes",
            "9223372036854771712\n",
        );
        assert_eq!(available_megabytes(root), Some(512));
    }
}
