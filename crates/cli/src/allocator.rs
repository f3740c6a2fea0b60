//! The process's allocator, and how long it keeps freed memory.
//!
//! Batches are large, many, and allocated on one thread and freed on another: the system's allocator spends a tenth of
//! a query on that, and returns memory to the kernel only to fault it in again. mimalloc keeps freed memory for a
//! second by default. A query that spills allocates and frees its whole memory several times per second, so the
//! process would hold a multiple of the configured memory.

use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Milliseconds that freed memory stays with the process: long enough to reuse a dropped batch's memory for the next
/// batch.
const PURGE_DELAY_MS: std::ffi::c_long = 10;

/// `mi_option_purge_delay` of mimalloc 3, for which the binding has no name.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

/// Makes the allocator return freed memory early. The environment variable `MIMALLOC_PURGE_DELAY` overrides this.
pub(crate) fn purge_freed_memory_early() {
    if std::env::var_os("MIMALLOC_PURGE_DELAY").is_some() {
        return;
    }
    #[expect(
        unsafe_code,
        reason = "the binding has no safe form; the call stores a number for an option that there is"
    )]
    // SAFETY: the function takes any option and any value, and may be called at any time from any thread.
    unsafe {
        libmimalloc_sys::mi_option_set(PURGE_DELAY, PURGE_DELAY_MS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_is_the_one_that_delays_purging() {
        // mimalloc's default is a second. After a renumbering of the options the default would differ.
        #[expect(unsafe_code, reason = "as above")]
        // SAFETY: as above.
        let value = || unsafe { libmimalloc_sys::mi_option_get(PURGE_DELAY) };
        if std::env::var_os("MIMALLOC_PURGE_DELAY").is_none() {
            assert_eq!(value(), 1000);
            purge_freed_memory_early();
            assert_eq!(value(), PURGE_DELAY_MS);
        }
    }
}
