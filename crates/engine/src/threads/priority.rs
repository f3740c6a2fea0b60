//! The scheduling priority of query threads.
//!
//! On a machine whose cores are all busy, a short statement would wait until a query thread's time slice ends: up to
//! some milliseconds, where the statement takes microseconds. So query threads are niced: a connection thread that
//! becomes ready preempts them. Alone they run as fast as before; beside connections that use all cores they get about
//! a third of what a connection thread gets.

/// Niceness of query threads above that of the process.
#[cfg(target_os = "linux")]
const QUERY_NICENESS: i32 = 5;

/// Lowers the priority of the calling thread. On Linux, niceness belongs to a thread; elsewhere it belongs to the
/// process, which keeps it.
#[cfg(target_os = "linux")]
pub(crate) fn lower() {
    // Relative to the first thread: a query thread may be started by another one, whose niceness it inherits.
    let process = std::process::id();
    #[expect(unsafe_code, reason = "no crate in the tree has a safe form of these calls")]
    // SAFETY: both calls take any numbers and touch no memory. 0 is the calling thread.
    let lowered = unsafe {
        let of_process = libc::getpriority(libc::PRIO_PROCESS, process);
        libc::setpriority(libc::PRIO_PROCESS, 0, of_process.saturating_add(QUERY_NICENESS)) == 0
    };
    if !lowered {
        tracing::warn!(error = %std::io::Error::last_os_error(), "the priority of a query thread cannot be lowered");
    }
}

/// As above.
#[cfg(not(target_os = "linux"))]
pub(crate) fn lower() {}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::unwrap_used)]
mod tests {
    /// The niceness of the calling thread (proc(5), field 19 of stat).
    fn niceness() -> i32 {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        let (_, behind_name) = stat.rsplit_once(") ").unwrap();
        behind_name.split(' ').nth(16).unwrap().parse().unwrap()
    }

    fn lowered() -> i32 {
        super::lower();
        niceness()
    }

    #[test]
    fn only_the_calling_thread_is_niced_and_threads_that_it_starts_are_not_niced_further() {
        let own = niceness();
        let expected = (own + super::QUERY_NICENESS).min(19);
        let first = std::thread::spawn(|| (lowered(), std::thread::spawn(lowered).join().unwrap()));
        assert_eq!(first.join().unwrap(), (expected, expected));
        assert_eq!(niceness(), own);
    }
}
