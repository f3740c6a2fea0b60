//! COPY … TO STDOUT.

use super::binary;
use super::block::CopyBlock;
use super::format::{Format, positions};
use crate::ddl::refuse_materialized;
use crate::error::{EngineResult, Fault, fail};
use crate::statement::Source;
use crate::{Answer, Chunk, Session};
use builtins::TimeZone;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use parking_lot::Mutex;
use sql::{Copy, CopyHeader, CopyTarget, ObjectName, Statement, ast};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use types::{DataType, Datum};

/// A running `COPY … TO STDOUT`. Dropping the value cancels the query.
pub struct CopyOut {
    /// Number of columns of a line.
    pub columns: usize,
    /// Whether the data is in PostgreSQL's binary format.
    pub binary: bool,
    /// Blocks of whole encoded lines.
    pub data: BoxStream<'static, EngineResult<CopyBlock>>,
    rows: Arc<AtomicU64>,
}

impl CopyOut {
    /// Number of rows encoded so far; at the end, the number in the command tag `COPY n`.
    pub fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }
}

/// The rows that COPY TO writes.
struct Copied {
    names: Vec<String>,
    types: Vec<DataType>,
    chunks: BoxStream<'static, EngineResult<Chunk>>,
}

impl Session {
    pub(super) async fn copy_out(&mut self, copy: &Copy, source: &Source) -> EngineResult<CopyOut> {
        if copy.selection.is_some() {
            return fail(Fault::Invalid { message: "WHERE clause not allowed with COPY TO".to_string() });
        }
        if copy.options.header == CopyHeader::Match {
            let message = "cannot use \"match\" with HEADER in COPY TO".to_string();
            return fail(Fault::CopyOptionsClash { message });
        }
        let Copied { names, types, chunks } = match &copy.target {
            CopyTarget::Statement(statement) => self.copied_write(statement, source).await?,
            _ => self.copied_rows(copy, source).await?,
        };
        let format = Format::new(&copy.options, &names)?;
        let zone = self.settings.effective().zone;
        let header = (format.header == CopyHeader::On).then(|| CopyBlock::single(header(&format, &names)));
        let in_binary = format.binary;
        // The binary header is part of the first row's message, or of the trailer's if there is no row.
        let head = Arc::new(Mutex::new(in_binary.then(binary::header)));
        let left = Arc::clone(&head);
        let rows = Arc::new(AtomicU64::new(0));
        let (counter, columns) = (Arc::clone(&rows), types.len());
        let lines = chunks.map(move |chunk| {
            let rows = chunk?.into_rows(&types)?;
            counter.fetch_add(rows.len() as u64, Ordering::Relaxed);
            if !format.binary {
                return Ok(encode(&format, &types, zone, &rows));
            }
            let block = binary::encode(&types, &rows);
            let head = if rows.is_empty() { None } else { head.lock().take() };
            Ok(match head {
                Some(head) => block.behind(&head),
                None => block,
            })
        });
        let trailer = stream::once(async move {
            let head = left.lock().take().unwrap_or_default();
            Ok(CopyBlock::single(binary::trailer()).behind(&head))
        });
        let trailer = trailer.take(usize::from(in_binary));
        let data = stream::iter(header.map(Ok)).chain(lines).chain(trailer);
        Ok(CopyOut { columns, binary: in_binary, data: Box::pin(data), rows })
    }

    /// The rows of a table or of a query.
    async fn copied_rows(&mut self, copy: &Copy, source: &Source) -> EngineResult<Copied> {
        let (view, catalog) = self.read_state().await?;
        let plan = match &copy.target {
            CopyTarget::Query(query) => self.plan_source(&catalog, &source.part(query)).await?,
            // The query of a table has its own text, so it is planned without `source`.
            CopyTarget::Table { name, columns } => {
                let query = self.query_of_table(&catalog, name, columns)?;
                self.plan(&catalog, &query).await?
            }
            CopyTarget::Statement(_) => {
                return fail(Fault::Internal { detail: "a statement that writes is no query".to_string() });
            }
        };
        if !plan.parameters.is_empty() {
            return fail(Fault::NoSuchParameter { number: 1 });
        }
        let (names, types) = plan.columns.iter().map(|column| (column.name.clone(), column.ty)).unzip();
        let chunks = self.stream(self.query_context(view), plan, Vec::new())?;
        Ok(Copied { names, types, chunks })
    }

    /// The rows of a statement with RETURNING or of a locking SELECT.
    async fn copied_write(&mut self, statement: &Statement, source: &Source) -> EngineResult<Copied> {
        let returning = match statement {
            Statement::Insert(insert) => &insert.returning,
            Statement::Update(update) => &update.returning,
            Statement::Delete(delete) => &delete.returning,
            _ => &Vec::new(),
        };
        let locks = matches!(statement, Statement::LockingSelect(_));
        let no_rows = || Fault::CopyOptionsClash { message: "COPY query must have a RETURNING clause".to_string() };
        if returning.is_empty() && !locks {
            return Err(no_rows().into());
        }
        // Without the text, which is the key of cached plans: the text of COPY belongs to another statement.
        let source = Source::of_statement(statement.clone()).written_in(source.written.clone());
        let Answer::Rows(rows) = self.run_write(&Arc::new(source), None, &[]).await? else {
            return Err(no_rows().into());
        };
        let (names, types) = rows.columns.iter().map(|column| (column.name.clone(), column.ty)).unzip();
        Ok(Copied { names, types, chunks: rows.chunks })
    }

    fn query_of_table(
        &self,
        catalog: &catalog::Catalog,
        name: &ObjectName,
        columns: &[String],
    ) -> EngineResult<ast::Query> {
        let table = self.resolve_stored(catalog, name)?;
        refuse_materialized(&table, "cannot copy from", Some("Try the COPY (SELECT ...) TO variant."))?;
        let quote = types::ident::quote;
        let columns: Vec<String> = positions(&table, columns)?
            .into_iter()
            .filter_map(|at| table.columns.get(at))
            .map(|column| quote(&column.name).into_owned())
            .collect();
        let schema = catalog.schema_name(&table);
        let text = format!("SELECT {} FROM {}.{}", columns.join(", "), quote(schema), quote(&table.name));
        match sql::parse(&text)?.pop().map(|parsed| parsed.statement) {
            Some(Statement::Query(query)) => Ok(*query),
            _ => fail(Fault::Internal { detail: format!("no query: {text}") }),
        }
    }
}

fn header(format: &Format, names: &[String]) -> Bytes {
    // FORCE_QUOTE does not apply to the header.
    let unforced = Format { force_quote: Vec::new(), ..format.clone() };
    let mut out = String::new();
    for (i, name) in names.iter().enumerate() {
        field(&unforced, i, Some(name), names.len() == 1, &mut out);
    }
    out.push('\n');
    Bytes::from(out)
}

fn encode(format: &Format, types: &[DataType], zone: TimeZone, rows: &[Vec<Datum>]) -> CopyBlock {
    let mut ends = Vec::with_capacity(rows.len());
    let mut out = String::with_capacity(rows.len() * types.len() * 8);
    let mut value = String::new();
    for row in rows {
        for (i, (ty, datum)) in types.iter().zip(row).enumerate() {
            value.clear();
            match datum {
                Datum::Null => field(format, i, None, false, &mut out),
                datum => {
                    zone.print(ty, datum, &mut value);
                    field(format, i, Some(&value), types.len() == 1, &mut out);
                }
            }
        }
        out.push('\n');
        ends.push(out.len());
    }
    CopyBlock::new(Bytes::from(out), ends)
}

/// Appends one field with the delimiter before it. A delimiter is an ASCII character.
fn field(format: &Format, i: usize, value: Option<&str>, alone: bool, out: &mut String) {
    if i > 0 {
        out.push(char::from(format.delimiter));
    }
    let Some(value) = value else {
        out.push_str(&format.null);
        return;
    };
    if !format.csv {
        escape_text(format, value, out);
        return;
    }
    let special = |c: char| c == '\n' || c == '\r' || [format.delimiter, format.quote].map(char::from).contains(&c);
    let quoted = format.force_quote.get(i) == Some(&true)
        || value == format.null
        || value.contains(special)
        || (alone && value == "\\.");
    if !quoted {
        out.push_str(value);
        return;
    }
    let (quote, escape) = (char::from(format.quote), char::from(format.escape));
    out.push(quote);
    for c in value.chars() {
        if c == quote || c == escape {
            out.push(escape);
        }
        out.push(c);
    }
    out.push(quote);
}

pub(super) fn escape_text(format: &Format, value: &str, out: &mut String) {
    let delimiter = char::from(format.delimiter);
    let special = |c: char| c == '\\' || c == delimiter || ('\u{8}'..='\r').contains(&c);
    if !value.contains(special) {
        out.push_str(value);
        return;
    }
    for c in value.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            c if c == delimiter => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
}
