//! A thread with a large stack, for the rare statement with thousands of ANDs and ORs.
//!
//! sqlparser builds such a chain as a tree that leans to one side, and dropping the tree after an error deep inside
//! takes stack for each level. Once `rewrite` has balanced the tree, any thread can hold it.

use crate::SqlError;
use crate::lexer::position_at;
use std::ops::Range;
use std::thread;
use types::interrupt;

/// Enough for [`crate::lexer`]'s deepest raw tree in a debug build, several times over. Only address space until used.
const BYTES: usize = 256 << 20;

/// Runs `work` on such a thread. Returns `None` if there is no memory for the thread.
pub(super) fn run<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    let host = interrupt::host();
    let work = || interrupt::under(host, work);
    thread::scope(|scope| {
        let spawned = thread::Builder::new().name("sql-parser".into()).stack_size(BYTES).spawn_scoped(scope, work);
        spawned.ok().and_then(|thread| thread.join().ok())
    })
}

/// Returns the error if the thread could not be started.
pub(super) fn refused(text: &str, span: &Range<usize>) -> SqlError {
    SqlError::TooDeep {
        what: "ANDs and ORs for the memory there is",
        limit: 0,
        position: position_at(text, span.start),
    }
}
