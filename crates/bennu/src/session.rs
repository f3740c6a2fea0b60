//! A session of the embedding program.

use crate::statement::Source;
use crate::{Appender, Batches, CancelHandle, Error, FromRow, Row, Statement, ToStatement, ToValue};
use engine::{Answer, Chunk, Engine, RowStream};
use futures::{StreamExt, stream};
use std::sync::Arc;
use types::{Datum, coerce};

/// Runs statements in order, with its own settings and transaction.
///
/// Create one per task with [`crate::Bennu::session`]; it is cheap. Parameters are written `$1`, `$2`, … and given as
/// `&[&value, …]`.
#[derive(Debug)]
pub struct Session {
    pub(crate) inner: engine::Session,
    engine: Arc<Engine>,
    /// A transaction was abandoned and is still open.
    pub(crate) abandoned: bool,
}

impl Session {
    pub(crate) fn new(inner: engine::Session, engine: Arc<Engine>) -> Self {
        Self { inner, engine, abandoned: false }
    }

    /// Runs all statements of `sql` and returns the last one's command tag, such as `CREATE TABLE` or `INSERT 0 3`.
    /// Rows are read and dropped. Each statement is a transaction: those before a failed one stay committed, unless the
    /// text begins a transaction.
    ///
    /// # Errors
    /// The first statement that failed.
    pub async fn execute(&mut self, sql: &str) -> Result<String, Error> {
        self.end_abandoned().await?;
        self.execute_all(sql).await
    }

    pub(crate) async fn execute_all(&mut self, sql: &str) -> Result<String, Error> {
        let mut tag = String::new();
        for statement in self.inner.parse(sql)? {
            let answer = self.inner.run(&statement).await?;
            tag = finish(answer).await?;
        }
        Ok(tag)
    }

    /// Runs one statement and returns the number of rows that it changed, or that a query returned.
    ///
    /// # Errors
    /// The statement's.
    pub async fn run(
        &mut self,
        statement: &(impl ToStatement + ?Sized),
        params: &[&dyn ToValue],
    ) -> Result<u64, Error> {
        let answer = self.answer(statement, params).await?;
        let tag = finish(answer).await?;
        Ok(tag.rsplit(' ').next().and_then(|count| count.parse().ok()).unwrap_or(0))
    }

    /// Runs one statement and streams its rows as Arrow batches.
    ///
    /// ```
    /// # use bennu::{Bennu, arrow::array::AsArray, arrow::datatypes::Int32Type};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), bennu::Error> {
    /// # let mut session = Bennu::in_memory().await?.session()?;
    /// let mut batches = session.query("SELECT generate_series AS n FROM generate_series(1, $1::int)", &[&4]).await?;
    /// let mut sum = 0;
    /// while let Some(batch) = batches.next().await? {
    ///     sum += batch.column(0).as_primitive::<Int32Type>().values().iter().sum::<i32>();
    /// }
    /// assert_eq!(sum, 10);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The statement's.
    pub async fn query(
        &mut self,
        statement: &(impl ToStatement + ?Sized),
        params: &[&dyn ToValue],
    ) -> Result<Batches, Error> {
        Ok(Batches::new(self.stream(statement, params).await?))
    }

    /// Runs one statement and returns all its rows.
    ///
    /// # Errors
    /// The statement's, and those of reading a row as a `T`.
    pub async fn rows<T: FromRow>(
        &mut self,
        statement: &(impl ToStatement + ?Sized),
        params: &[&dyn ToValue],
    ) -> Result<Vec<T>, Error> {
        let mut stream = self.stream(statement, params).await?;
        let mut all = Vec::new();
        while let Some(rows) = next_rows(&mut stream).await? {
            for values in rows {
                all.push(T::from_row(Row::new(Arc::clone(&stream.columns), values))?);
            }
        }
        Ok(all)
    }

    /// Runs one statement and returns its first row, if it has any.
    ///
    /// # Errors
    /// As [`Self::rows`].
    pub async fn row<T: FromRow>(
        &mut self,
        statement: &(impl ToStatement + ?Sized),
        params: &[&dyn ToValue],
    ) -> Result<Option<T>, Error> {
        let mut stream = self.stream(statement, params).await?;
        while let Some(rows) = next_rows(&mut stream).await? {
            if let Some(values) = rows.into_iter().next() {
                return T::from_row(Row::new(stream.columns, values)).map(Some);
            }
        }
        Ok(None)
    }

    /// Prepares one statement; the types of `$1`, `$2`, … are inferred.
    ///
    /// ```
    /// # use bennu::{Bennu, DataType};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), bennu::Error> {
    /// # let mut session = Bennu::in_memory().await?.session()?;
    /// session.execute("CREATE TABLE t (k bigint PRIMARY KEY, v text)").await?;
    /// let insert = session.prepare("INSERT INTO t VALUES ($1, $2)").await?;
    /// assert_eq!(insert.parameters(), [DataType::BigInt, DataType::Text]);
    /// for k in 0..10 {
    ///     session.run(&insert, &[&k, &format!("row {k}")]).await?;
    /// }
    /// # assert_eq!(session.row::<(i64,)>("SELECT count(*) FROM t", &[]).await?, Some((10,)));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// 42601 for invalid SQL or several statements.
    pub async fn prepare(&mut self, sql: &str) -> Result<Statement, Error> {
        self.end_abandoned().await?;
        Ok(Statement { prepared: self.inner.prepare(sql, &[]).await? })
    }

    /// Opens a table for a bulk load: see [`Appender`]. `table` is its name as in SQL.
    ///
    /// # Errors
    /// 42P01 when there is no such table.
    pub async fn appender(&mut self, table: &str) -> Result<Appender<'_>, Error> {
        self.appender_of(table, &[]).await
    }

    /// Like [`Self::appender`], with values for these columns only; the others get their defaults.
    ///
    /// # Errors
    /// As [`Self::appender`], and 42703.
    pub async fn appender_of(&mut self, table: &str, columns: &[&str]) -> Result<Appender<'_>, Error> {
        self.end_abandoned().await?;
        let inner = self.inner.append(table, columns).await?;
        Ok(Appender::new(self, inner))
    }

    /// Returns a handle that cancels this session's statements.
    pub fn cancel_handle(&self) -> CancelHandle {
        let (process, secret) = (self.inner.process_id(), self.inner.secret());
        CancelHandle { engine: Arc::clone(&self.engine), process, secret }
    }

    /// The underlying engine session, for front ends.
    pub fn inner(&mut self) -> &mut engine::Session {
        &mut self.inner
    }

    /// The rows of one statement; a statement without a result has neither columns nor rows.
    async fn stream(
        &mut self,
        statement: &(impl ToStatement + ?Sized),
        params: &[&dyn ToValue],
    ) -> Result<RowStream, Error> {
        match self.answer(statement, params).await? {
            Answer::Rows(rows) => Ok(rows),
            Answer::CopyIn(_) | Answer::CopyOut(_) => Err(copy_needs_a_stream()),
            Answer::Empty | Answer::Done(_) => {
                Ok(RowStream { columns: Arc::default(), chunks: stream::empty().boxed(), tag: "", counted: false })
            }
        }
    }

    async fn answer(
        &mut self,
        statement: &(impl ToStatement + ?Sized),
        params: &[&dyn ToValue],
    ) -> Result<Answer, Error> {
        self.end_abandoned().await?;
        let made;
        let prepared = match statement.to_statement() {
            Source::Prepared(statement) => &statement.prepared,
            Source::Text(sql) => {
                made = self.inner.prepare(sql, &[]).await?;
                &made
            }
        };
        let mut values: Vec<Datum> = params.iter().map(|param| param.to_value()).collect();
        // The engine reports a wrong number of parameters.
        for (value, ty) in values.iter_mut().zip(&prepared.parameters) {
            let given = std::mem::replace(value, Datum::Null);
            *value = coerce::assign(ty, given).map_err(engine::EngineError::from)?;
        }
        Ok(self.inner.execute(prepared, &values).await?)
    }
}

/// Reads a result to its end and returns its command tag.
async fn finish(answer: Answer) -> Result<String, Error> {
    Ok(match answer {
        Answer::Empty => String::new(),
        Answer::Done(tag) => tag,
        Answer::Rows(mut rows) => {
            let mut count = 0;
            while let Some(chunk) = rows.chunks.next().await {
                count += chunk?.len();
            }
            if rows.counted { format!("{} {count}", rows.tag) } else { rows.tag.into() }
        }
        Answer::CopyIn(_) | Answer::CopyOut(_) => return Err(copy_needs_a_stream()),
    })
}

/// The next rows of a result as values; `None` after the last.
async fn next_rows(stream: &mut RowStream) -> Result<Option<Vec<Vec<Datum>>>, Error> {
    let Some(chunk) = stream.chunks.next().await else { return Ok(None) };
    Ok(Some(match chunk? {
        Chunk::Rows(rows) => rows,
        chunk => chunk.to_rows(&stream.columns)?.into_owned(),
    }))
}

fn copy_needs_a_stream() -> Error {
    engine::EngineError::unsupported("COPY through this call (use an Appender, or Session::inner)").into()
}
