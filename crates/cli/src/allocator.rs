//! The allocator of the process, and how long it keeps what is free.
//!
//! Batches are made on one thread and dropped on another, many of them and large: the system's allocator spends a
//! tenth of a query on that, and gives memory back to the kernel only to fault it in again. mimalloc keeps what was
//! freed for a second, unless it is told otherwise. A query that spills makes and drops its whole memory several times
//! in a second, and the process would hold as many times what is configured.

use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Milliseconds for which memory that is free stays with the process. A batch that is dropped makes room for the next
/// one within this time.
const KEPT_FREE: std::ffi::c_long = 10;

/// `mi_option_purge_delay` of mimalloc 3, which the binding gives no name.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

/// Lets the allocator give memory back soon after it is free. `MIMALLOC_PURGE_DELAY` in the environment goes before.
pub(crate) fn give_back_soon() {
    if std::env::var_os("MIMALLOC_PURGE_DELAY").is_some() {
        return;
    }
    #[expect(
        unsafe_code,
        reason = "the binding has no safe form; the call stores a number for an option that there is"
    )]
    // SAFETY: the function takes any option and any value, and may be called at any time from any thread.
    unsafe {
        libmimalloc_sys::mi_option_set(PURGE_DELAY, KEPT_FREE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_is_the_one_that_delays_purging() {
        // What mimalloc begins with: a second. Another option of another version would have another value.
        #[expect(unsafe_code, reason = "as above")]
        // SAFETY: as above.
        let value = || unsafe { libmimalloc_sys::mi_option_get(PURGE_DELAY) };
        if std::env::var_os("MIMALLOC_PURGE_DELAY").is_none() {
            assert_eq!(value(), 1000);
            give_back_soon();
            assert_eq!(value(), KEPT_FREE);
        }
    }
}
