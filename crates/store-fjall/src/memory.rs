//! How much memory there is, and the share of it that the block cache takes by default.

use sysinfo::System;

/// One part in so many of the memory is for blocks. The queries' budget and the memtables come on top, and files are
/// cached by the operating system besides.
const CACHE_SHARE: u64 = 8;

/// Bounds of the default, in bytes.
const CACHE_LEAST: u64 = 64 << 20;
const CACHE_MOST: u64 = 4 << 30;

/// Where the system does not tell.
const CACHE_UNKNOWN: u64 = 256 << 20;

/// The block cache's default size in bytes: an eighth of the memory of the machine, or of the container if that
/// is limited to less, and between 64 MiB and 4 GiB.
pub(crate) fn default_cache_bytes() -> u64 {
    let Ok(mut system) = System::new() else { return CACHE_UNKNOWN };
    system.refresh_memory();
    let machine = system.total_memory();
    let limit = system.cgroup_limits().map(|limits| limits.total_memory).filter(|limit| *limit > 0);
    (limit.unwrap_or(machine).min(machine) / CACHE_SHARE).clamp(CACHE_LEAST, CACHE_MOST)
}
