//! The default size of the block cache.

use sysinfo::System;

/// The cache gets `1 / CACHE_SHARE` of the memory. Query memory and memtables come on top, and the operating system
/// caches files besides.
const CACHE_SHARE: u64 = 8;

/// Bounds of the default in bytes.
const CACHE_LEAST: u64 = 64 << 20;
const CACHE_MOST: u64 = 4 << 30;

/// The default if the memory size is unknown.
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
