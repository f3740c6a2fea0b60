//! The appender: inserts rows of values through COPY FROM's loader, without a text format.

use super::loader::Loader;
use crate::error::{EngineResult, Fault, fail};
use crate::{ColumnDesc, EngineError, Session};
use arrow::datatypes::{Field, Schema};
use arrow::record_batch::RecordBatch;
use query::convert::{arrow_type, batch_to_rows, column_type_of};
use sql::{CopyTarget, ObjectName, Statement};
use std::sync::Arc;
use types::Datum;

/// Rows between two checks for cancellation.
const CHECK_EVERY: u64 = 4096;

/// An append of rows to a table. Dropping the value discards the rows.
pub struct Append {
    columns: Vec<ColumnDesc>,
    /// Rows passed so far, for the context of errors.
    row: u64,
    loader: Loader,
}

impl std::fmt::Debug for Append {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Append({} at row {})", self.loader.rows.target().table.name, self.row)
    }
}

impl Append {
    /// The columns for which a row has values, in order.
    pub fn columns(&self) -> &[ColumnDesc] {
        &self.columns
    }

    /// Appends a row: a value for each of [`Self::columns`], of a type that can be assigned to it.
    ///
    /// # Errors
    /// A value that does not fit, with the row's number as context. The error fails the whole append.
    pub async fn row(&mut self, values: Vec<Datum>) -> Result<(), EngineError> {
        self.row += 1;
        self.take(values).await.map_err(|error| {
            let table = &self.loader.rows.target().table.name;
            error.with_context(format!("append to {table}, row {}", self.row))
        })
    }

    /// Appends all rows of an Arrow batch, whose columns come in the order of [`Self::columns`].
    ///
    /// # Errors
    /// As [`Self::row`]; 0A000 for Arrow types without a SQL type.
    pub async fn batch(&mut self, batch: &RecordBatch) -> Result<(), EngineError> {
        for row in rows_of(batch)? {
            self.row(row).await?;
        }
        Ok(())
    }

    /// Inserts all rows in one commit (inside a transaction block, with its commit) and returns their number.
    ///
    /// # Errors
    /// A duplicate key or a failure of the store. No row is appended then.
    pub async fn finish(self, session: &mut Session) -> Result<u64, EngineError> {
        let done = self.loader.end(session).await;
        if done.is_err() {
            session.fail();
        }
        done
    }

    async fn take(&mut self, values: Vec<Datum>) -> EngineResult<()> {
        if self.row.is_multiple_of(CHECK_EVERY) {
            self.loader.guard.check()?;
        }
        let id = self.loader.next_id().await?;
        if self.loader.rows.write_values(values, id).await? {
            self.loader.put().await?;
        }
        Ok(())
    }
}

impl Session {
    /// Opens a table for appending rows with values for `columns`; an empty list means all columns. `table` and
    /// `columns` are names as in SQL: a table may be qualified by its schema, and capital letters need double quotes.
    ///
    /// # Errors
    /// 42601, 42P01, 42703, and those of COPY.
    pub async fn append(&mut self, table: &str, columns: &[&str]) -> Result<Append, EngineError> {
        self.begin_statement();
        let done = self.open_append(table, columns).await;
        self.end_statement(done)
    }

    async fn open_append(&mut self, table: &str, columns: &[&str]) -> EngineResult<Append> {
        self.check_block()?;
        self.check_writable("COPY FROM")?;
        let (table, columns) = target_names(table, columns)?;
        let loader = self.loader(&table, &columns, None).await?;
        let target = loader.rows.target();
        let columns = loader.rows.positions().iter().map(|at| target.describe(*at)).collect();
        Ok(Append { columns, row: 0, loader })
    }
}

/// Converts an Arrow batch to rows, casting each column to the Arrow type of its SQL type.
fn rows_of(batch: &RecordBatch) -> EngineResult<Vec<Vec<Datum>>> {
    let (mut types, mut arrays, mut fields) = (Vec::new(), Vec::new(), Vec::new());
    for (field, array) in batch.schema().fields().iter().zip(batch.columns()) {
        let Some(ty) = column_type_of(field) else {
            let feature = format!("an Arrow column of type {}", field.data_type());
            return fail(Fault::Unsupported { feature });
        };
        let plain = arrow_type(&ty);
        let broken = |e: arrow::error::ArrowError| Fault::Invalid { message: e.to_string() };
        arrays.push(arrow::compute::cast(array, &plain).map_err(broken)?);
        fields.push(Field::new(field.name(), plain, true));
        types.push(ty);
    }
    let broken = |e: arrow::error::ArrowError| Fault::Invalid { message: e.to_string() };
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(broken)?;
    Ok(batch_to_rows(&batch, &types)?)
}

/// Parses the names as a COPY statement's.
fn target_names(table: &str, columns: &[&str]) -> EngineResult<(ObjectName, Vec<String>)> {
    let list = if columns.is_empty() { String::new() } else { format!(" ({})", columns.join(", ")) };
    let parsed = sql::parse(&format!("COPY {table}{list} FROM STDIN"))?.pop().map(|parsed| parsed.statement);
    match parsed {
        Some(Statement::Copy(copy)) => match copy.target {
            CopyTarget::Table { name, columns } => Ok((name, columns)),
            CopyTarget::Query(_) | CopyTarget::Statement(_) => {
                fail(Fault::Invalid { message: format!("\"{table}\" is not the name of a table") })
            }
        },
        _ => fail(Fault::Invalid { message: format!("\"{table}\" is not the name of a table") }),
    }
}
