//! Bulk loading into one table.

use crate::{Error, Session};
use arrow::record_batch::RecordBatch;
use engine::{Append, ColumnDesc};
use types::Datum;

/// Appends rows to a table at the speed of COPY: rows are sorted in memory, written as whole sorted runs that bypass
/// the
/// log, and become visible together when [`Self::finish`] returns. The table is locked until then; dropping the
/// appender discards all rows. Inside a transaction the rows are ordinary writes.
///
/// ```
/// # use bennu::Bennu;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), bennu::Error> {
/// # let mut session = Bennu::in_memory().await?.session()?;
/// session.execute("CREATE TABLE squares (n bigint PRIMARY KEY, square bigint, note text)").await?;
/// let mut appender = session.appender("squares").await?;
/// for n in 0..1000_i64 {
///     appender.row((n, n * n, None::<String>)).await?;
/// }
/// assert_eq!(appender.finish().await?, 1000);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Appender<'a> {
    session: &'a mut Session,
    inner: Append,
}

impl<'a> Appender<'a> {
    pub(crate) fn new(session: &'a mut Session, inner: Append) -> Self {
        Self { session, inner }
    }

    /// The columns for which a row has values.
    pub fn columns(&self) -> &[ColumnDesc] {
        self.inner.columns()
    }

    /// Appends a row: a tuple, or a vector of values.
    ///
    /// # Errors
    /// A value that cannot be assigned to its column, or a wrong number of values. Drop the appender then: no row is
    /// kept.
    pub async fn row(&mut self, row: impl IntoRow) -> Result<(), Error> {
        Ok(self.inner.row(row.into_row()).await?)
    }

    /// Appends all rows of an Arrow batch with its columns in the order of [`Self::columns`].
    ///
    /// # Errors
    /// As [`Self::row`].
    pub async fn batch(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        Ok(self.inner.batch(batch).await?)
    }

    /// Makes all rows visible and durable, and returns their number.
    ///
    /// # Errors
    /// 23505 for a key that exists already or is given twice. No row is appended then.
    pub async fn finish(self) -> Result<u64, Error> {
        Ok(self.inner.finish(&mut self.session.inner).await?)
    }
}

/// A row to append: a tuple of up to twelve [`crate::ToValue`] types, or a vector of values.
pub trait IntoRow {
    /// Returns the values in order.
    fn into_row(self) -> Vec<Datum>;
}

impl IntoRow for Vec<Datum> {
    fn into_row(self) -> Vec<Datum> {
        self
    }
}
