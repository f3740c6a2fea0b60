//! COPY between the client and tables.

use crate::error::{EngineResult, Fault, fail};
use crate::{Answer, EngineError, Session};
use bytes::Bytes;
use futures::stream::BoxStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A `COPY … FROM STDIN` under way. Dropping it undoes it.
pub struct CopyIn {
    /// How many columns a line has.
    pub columns: usize,
    /// Is the data in PostgreSQL's binary form?
    pub binary: bool,
}

impl CopyIn {
    /// Takes the next bytes, cut anywhere.
    ///
    /// # Errors
    /// The first bad line, with its number as context.
    pub async fn feed(&mut self, data: &[u8]) -> Result<(), EngineError> {
        let _ = data;
        fail(Fault::Unsupported { feature: "COPY".to_string() })
    }

    /// Ends the data: all rows are in the table when this returns. The command tag.
    ///
    /// # Errors
    /// A duplicate key, an incomplete last line, or the store's failure. Nothing was copied then.
    pub async fn finish(self: Box<Self>, session: &mut Session) -> Result<String, EngineError> {
        session.fail();
        fail(Fault::Unsupported { feature: "COPY".to_string() })
    }

    /// The client gave up: the error to answer with.
    pub fn abort(self: Box<Self>, session: &mut Session, reason: &str) -> EngineError {
        session.fail();
        Fault::Unsupported { feature: format!("COPY ({reason})") }.into()
    }
}

/// A `COPY … TO STDOUT` under way. Dropping it cancels it.
pub struct CopyOut {
    /// How many columns a line has.
    pub columns: usize,
    /// Is the data in PostgreSQL's binary form?
    pub binary: bool,
    /// Whole encoded lines, many at a time.
    pub data: BoxStream<'static, EngineResult<Bytes>>,
    pub(crate) rows: Arc<AtomicU64>,
}

impl CopyOut {
    /// How many rows were handed out so far: at the end the number in the tag `COPY n`.
    pub fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }
}

impl Session {
    pub(crate) async fn copy(&mut self, copy: &sql::Copy) -> EngineResult<Answer> {
        let _ = copy;
        fail(Fault::Unsupported { feature: "COPY".to_string() })
    }
}
