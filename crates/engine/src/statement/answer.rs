//! Answers of statements: rows, a command tag, or a COPY stream.

use crate::{CopyIn, CopyOut, EngineError, StoredRows};
use arrow::datatypes::SchemaRef;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use builtins::TimeZone;
use futures::stream::BoxStream;
use query::convert::answer_schema;
use std::borrow::Cow;
use std::sync::Arc;
use types::{DataType, Datum};

/// A column of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnDesc {
    /// Its name.
    pub name: String,
    /// Its SQL type.
    pub ty: DataType,
    /// Oid of the table it comes from, 0 if computed.
    pub table_oid: u32,
    /// Its number in that table from 1, 0 if computed.
    pub column_number: i16,
}

/// Some rows of an answer, in the form in which they were produced.
#[derive(Debug)]
pub enum Chunk {
    /// From a DataFusion plan.
    Batch(RecordBatch),
    /// From a scan of a key range.
    Stored(StoredRows),
    /// From a key look-up, a row program, a utility statement or RETURNING: one value per column.
    Rows(Vec<Vec<Datum>>),
}

impl Chunk {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Batch(batch) => batch.num_rows(),
            Self::Stored(rows) => rows.len(),
            Self::Rows(rows) => rows.len(),
        }
    }

    /// All rows as values.
    ///
    /// # Errors
    /// 22003 for a number with more digits than a numeric holds.
    pub fn to_rows(&self, columns: &[ColumnDesc]) -> Result<Cow<'_, [Vec<Datum>]>, EngineError> {
        match self {
            Self::Rows(rows) => Ok(Cow::Borrowed(rows)),
            Self::Stored(rows) => Ok(Cow::Owned(rows.to_rows()?)),
            Self::Batch(batch) => {
                let types: Vec<DataType> = columns.iter().map(|c| c.ty).collect();
                Ok(Cow::Owned(query::convert::batch_to_rows(batch, &types)?))
            }
        }
    }

    /// All rows as values of these types.
    ///
    /// # Errors
    /// As [`Self::to_rows`].
    pub(crate) fn into_rows(self, types: &[DataType]) -> Result<Vec<Vec<Datum>>, EngineError> {
        Ok(match self {
            Self::Rows(rows) => rows,
            Self::Stored(rows) => rows.to_rows()?,
            Self::Batch(batch) => query::convert::batch_to_rows(&batch, types)?,
        })
    }

    /// The rows as an Arrow batch whose fields have the columns' names and SQL types (`bennu.type`).
    ///
    /// # Errors
    /// As [`Self::to_rows`].
    pub fn to_batch(&self, columns: &[ColumnDesc]) -> Result<RecordBatch, EngineError> {
        if let Self::Batch(batch) = self {
            let schema = answer_schema(columns.iter().map(|c| (c.name.as_str(), &c.ty)));
            let same = |e| query::QueryError::internal(format!("a batch that is not of its columns: {e}"));
            let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            let arrays = batch.columns().to_vec();
            return Ok(RecordBatch::try_new_with_options(schema, arrays, &rows).map_err(same)?);
        }
        let named: Vec<_> = columns.iter().map(|c| (c.name.as_str(), &c.ty)).collect();
        Ok(query::convert::rows_to_batch(&named, &self.to_rows(columns)?)?)
    }

    /// All rows as text: NULL as `None`, timestamptz in `zone`.
    ///
    /// # Errors
    /// As [`Self::to_rows`].
    pub fn to_text(&self, columns: &[ColumnDesc], zone: TimeZone) -> Result<Vec<Vec<Option<String>>>, EngineError> {
        let print = |(value, column): (&Datum, &ColumnDesc)| {
            (!matches!(value, Datum::Null)).then(|| {
                let mut text = String::new();
                zone.print(&column.ty, value, &mut text);
                text
            })
        };
        let rows = self.to_rows(columns)?;
        Ok(rows.iter().map(|row| row.iter().zip(columns).map(print).collect()).collect())
    }

    /// The last row as values.
    ///
    /// # Errors
    /// As [`Self::to_rows`].
    pub(crate) fn last_row(&self, columns: &[ColumnDesc]) -> Result<Option<Vec<Datum>>, EngineError> {
        let Some(last) = self.len().checked_sub(1) else { return Ok(None) };
        match self {
            Self::Rows(rows) => Ok(rows.last().cloned()),
            Self::Stored(rows) => rows.row(last).map(Some),
            Self::Batch(batch) => Ok(Self::Batch(batch.slice(last, 1)).to_rows(columns)?.into_owned().pop()),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A stream of rows. Dropping it cancels the statement.
pub struct RowStream {
    /// The columns, in order.
    pub columns: Arc<Vec<ColumnDesc>>,
    /// The rows. The stream is not polled again after an error or its end.
    pub chunks: BoxStream<'static, Result<Chunk, EngineError>>,
    /// First word(s) of the command tag: `SELECT`, `INSERT 0`, `UPDATE`, `SHOW`, … The row count follows
    /// when [`Self::counted`].
    pub tag: &'static str,
    /// Whether the tag ends in the number of rows.
    pub counted: bool,
}

impl RowStream {
    /// The schema of its batches: see [`Chunk::to_batch`].
    pub fn schema(&self) -> SchemaRef {
        answer_schema(self.columns.iter().map(|column| (column.name.as_str(), &column.ty)))
    }
}

/// The answer to one statement.
pub enum Answer {
    /// The answer to an empty statement.
    Empty,
    /// Rows.
    Rows(RowStream),
    /// The whole command tag of a statement without rows: `CREATE TABLE`, `INSERT 0 3`.
    Done(String),
    /// `COPY … FROM STDIN`: the caller writes data and finishes it.
    CopyIn(Box<CopyIn>),
    /// `COPY … TO STDOUT`.
    CopyOut(CopyOut),
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => write!(f, "Empty"),
            Self::Rows(rows) => write!(f, "Rows({} columns)", rows.columns.len()),
            Self::Done(tag) => write!(f, "Done({tag})"),
            Self::CopyIn(_) => write!(f, "CopyIn"),
            Self::CopyOut(_) => write!(f, "CopyOut"),
        }
    }
}
