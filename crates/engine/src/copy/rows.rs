//! Encodes the fields of a line as rowkey and fragment.
//!
//! Most loads take the fast path: each field is parsed and encoded as its cell, without a row of values. Computed
//! defaults, sequences, generated columns, WHERE and CHECK constraints need the whole row and take the slow path
//! ([`SlowPath`]).

use super::lines::{Field, Fields};
use super::plain::plain;
use crate::dml::{Exprs, Row, Scope, Target, set};
use crate::error::{EngineResult, Fault, fail};
use crate::session::running::RunGuard;
use crate::session::sequences::{Taken, next_values};
use crate::{Engine, EngineError};
use builtins::{Env, TimeZone};
use catalog::Column;
use query::QueryContext;
use query::row_codec::{Place, encode_cell};
use std::sync::Arc;
use types::{DataType, Datum, TypeError};

/// Encodes lines for one table. The buffers are reused for each row.
pub(super) struct RowEncoder {
    target: Arc<Target>,
    /// The column position of each field.
    positions: Vec<usize>,
    /// Constant defaults of the columns without a field.
    base: Row,
    hidden: Option<usize>,
    long: Option<SlowPath>,
    /// The encoded cells of `base`, with which every row begins.
    base_cells: Cells,
    base_key: Vec<Datum>,
    cells: Cells,
    key_values: Vec<Datum>,
    pub(super) key: Vec<u8>,
    pub(super) fragment: Vec<u8>,
}

/// The parts of the slow path, which needs a row of values.
#[derive(Debug)]
pub(super) struct SlowPath {
    pub(super) context: QueryContext,
    pub(super) env: Env,
    pub(super) guard: Arc<RunGuard>,
    /// Positions of the columns with computed defaults; `defaults` holds the expressions.
    pub(super) columns: Vec<usize>,
    pub(super) defaults: Exprs,
    /// WHERE, as the only expression.
    pub(super) filter: Option<Exprs>,
    /// Columns whose default is the next value of a sequence.
    pub(super) sequences: Vec<(usize, catalog::TableOid)>,
    pub(super) engine: Arc<Engine>,
    pub(super) taken: Arc<Taken>,
}

/// The cells of one fragment in one buffer.
#[derive(Clone, Debug, Default)]
struct Cells {
    bytes: Vec<u8>,
    spans: Vec<Option<(usize, usize)>>,
}

impl RowEncoder {
    pub(super) fn new(target: Target, positions: Vec<usize>, base: Row, long: Option<SlowPath>) -> EngineResult<Self> {
        let hidden = target.table.columns.iter().position(|column| column.hidden);
        let width = target.codec.current().map_or(0, |layout| layout.types.len());
        let mut base_cells = Cells { bytes: Vec::new(), spans: vec![None; width] };
        for (at, value) in base.iter().enumerate() {
            if let (Some(Place::Value(place)), Some(column), false) =
                (target.codec.places().get(at), target.column(at), value.is_null())
            {
                base_cells.add(*place, |out| Ok(encode_cell(&column.name, &column.ty, value, out)?))?;
            }
        }
        let key = target.codec.key_columns().iter().map(|at| base.get(*at).cloned().unwrap_or(Datum::Null));
        let base_key: Vec<Datum> = key.collect();
        Ok(Self {
            positions,
            hidden,
            long,
            cells: base_cells.clone(),
            key_values: base_key.clone(),
            base,
            base_cells,
            base_key,
            target: Arc::new(target),
            key: Vec::with_capacity(64),
            fragment: Vec::with_capacity(256),
        })
    }

    pub(super) fn target(&self) -> &Target {
        &self.target
    }

    /// Positions of a line's columns in the table.
    pub(super) fn positions(&self) -> &[usize] {
        &self.positions
    }

    /// Names of the columns of a line.
    pub(super) fn names(&self) -> Vec<String> {
        self.positions.iter().filter_map(|at| self.target.column(*at)).map(|column| column.name.clone()).collect()
    }

    /// Types of the columns of a line.
    pub(super) fn types(&self) -> Vec<DataType> {
        self.positions.iter().filter_map(|at| self.target.column(*at)).map(|column| column.ty).collect()
    }

    /// Whether rows have a hidden row id.
    pub(super) fn needs_ids(&self) -> bool {
        self.hidden.is_some()
    }

    /// Encodes a line into `key` and `fragment`. False if WHERE excludes the row.
    pub(super) async fn write(&mut self, fields: &Fields, buffer: &[u8], id: i64) -> EngineResult<bool> {
        if self.long.is_some() {
            self.check_width(fields, buffer)?;
            return self.write_long(fields, buffer, id).await;
        }
        self.write_short(fields, buffer, id)?;
        Ok(true)
    }

    /// Returns an encoder for another thread. `None` if rows take the slow path or have row ids.
    pub(super) fn fork(&self) -> Option<Self> {
        if self.long.is_some() || self.hidden.is_some() {
            return None;
        }
        Some(Self {
            target: Arc::clone(&self.target),
            positions: self.positions.clone(),
            base: self.base.clone(),
            hidden: None,
            long: None,
            base_cells: self.base_cells.clone(),
            base_key: self.base_key.clone(),
            cells: self.base_cells.clone(),
            key_values: self.base_key.clone(),
            key: Vec::with_capacity(64),
            fragment: Vec::with_capacity(256),
        })
    }

    /// Encodes a line by the fast path.
    pub(super) fn write_short(&mut self, fields: &Fields, buffer: &[u8], id: i64) -> EngineResult<()> {
        self.check_width(fields, buffer)?;
        self.cells.bytes.truncate(self.base_cells.bytes.len());
        self.cells.spans.clone_from_slice(&self.base_cells.spans);
        self.key_values.clone_from_slice(&self.base_key);
        for (field, at) in fields.list.iter().zip(&self.positions) {
            let (Some(column), Some(place)) = (self.target.column(*at), self.target.codec.places().get(*at)) else {
                continue;
            };
            let Some(bytes) = fields.bytes(buffer, field) else {
                if column.not_null {
                    return self.null_error(fields, buffer).map(drop);
                }
                match place {
                    Place::Value(place) => self.cells.forget(*place),
                    Place::Key(part) => set(&mut self.key_values, *part, Datum::Null),
                }
                continue;
            };
            let in_column = |error: EngineError| Self::in_column(&column.name, bytes, error);
            match place {
                Place::Value(place) => {
                    let zone = self.target.zone;
                    self.cells.add(*place, |out| write_cell(column, bytes, zone, out)).map_err(in_column)?;
                }
                Place::Key(part) => {
                    set(&mut self.key_values, *part, read(&column.ty, bytes, self.target.zone).map_err(in_column)?);
                }
            }
        }
        self.finish(id)
    }

    fn finish(&mut self, id: i64) -> EngineResult<()> {
        if self.hidden.is_some()
            && let Some(slot) = self.key_values.first_mut()
        {
            *slot = Datum::Int8(id);
        }
        self.target.codec.encode_key_values(&self.key_values, &mut self.key)?;
        let Some(current) = self.target.codec.current() else {
            return fail(Fault::Internal { detail: "a table without a layout".to_string() });
        };
        let bytes = &self.cells.bytes;
        let cells: Vec<Option<&[u8]>> =
            self.cells.spans.iter().map(|span| span.and_then(|(start, end)| bytes.get(start..end))).collect();
        self.fragment.clear();
        fragment::encode_dense(&current.layout, &cells, &mut self.fragment).map_err(catalog::RowError::from)?;
        Ok(())
    }

    /// Encodes a row of values, one for each column of a line. False if WHERE excludes the row.
    pub(super) async fn write_values(&mut self, values: Vec<Datum>, id: i64) -> EngineResult<bool> {
        let (given, wanted) = (values.len(), self.positions.len());
        if given != wanted {
            let message = format!("a row has {given} values, {wanted} are wanted");
            return fail(Fault::Invalid { message });
        }
        let mut row = self.base.clone();
        for (value, at) in values.into_iter().zip(&self.positions) {
            set(&mut row, *at, self.target.assign(*at, value)?);
        }
        self.write_row(row, id).await
    }

    async fn write_long(&mut self, fields: &Fields, buffer: &[u8], id: i64) -> EngineResult<bool> {
        let row = self.row(fields, buffer)?;
        self.write_row(row, id).await
    }

    async fn write_row(&mut self, mut row: Row, id: i64) -> EngineResult<bool> {
        if let Some(at) = self.hidden {
            set(&mut row, at, Datum::Int8(id));
        }
        if let Some(long) = &self.long {
            let (context, guard) = (Some(long.context.clone()), Arc::clone(&long.guard));
            let scope = Scope { params: &[], context, env: Some(long.env), guard };
            let values = long.defaults.eval(&scope, &row, None).await?;
            for (at, value) in long.columns.iter().zip(values) {
                set(&mut row, *at, self.target.assign(*at, value)?);
            }
            for (at, sequence) in &long.sequences {
                let value = next_values(&long.engine, &long.taken, *sequence, 1).await?.into_iter().next();
                set(&mut row, *at, self.target.assign(*at, value.map_or(Datum::Null, Datum::Int8))?);
            }
            if let Some(filter) = &long.filter
                && !matches!(filter.eval(&scope, &row, None).await?.first(), Some(Datum::Bool(true)))
            {
                return Ok(false);
            }
        }
        self.target.compute(&mut row)?;
        self.target.check(&row)?;
        self.target.codec.encode_key_into(&row, &mut self.key)?;
        self.fragment.clear();
        self.target.codec.encode_fragment_into(&row, &mut self.fragment)?;
        Ok(true)
    }

    /// Parses the line into a row of values.
    fn row(&self, fields: &Fields, buffer: &[u8]) -> EngineResult<Row> {
        let mut row = self.base.clone();
        for (field, at) in fields.list.iter().zip(&self.positions) {
            let Some(column) = self.target.column(*at) else { continue };
            let value = match fields.bytes(buffer, field) {
                None => Datum::Null,
                Some(bytes) => read(&column.ty, bytes, self.target.zone)
                    .map_err(|error| Self::in_column(&column.name, bytes, error))?,
            };
            set(&mut row, *at, value);
        }
        Ok(row)
    }

    fn null_error(&self, fields: &Fields, buffer: &[u8]) -> EngineResult<bool> {
        self.target.check(&self.row(fields, buffer)?)?;
        fail(Fault::Internal { detail: "a NULL that is none".to_string() })
    }

    fn check_width(&self, fields: &Fields, buffer: &[u8]) -> EngineResult<()> {
        if fields.list.len() > self.positions.len() {
            return fail(Fault::BadCopy { message: "extra data after last expected column".to_string() });
        }
        match self.positions.get(fields.list.len()) {
            None => Ok(()),
            Some(at) => {
                // As in PostgreSQL, an invalid value takes precedence over the missing column.
                self.row(fields, buffer)?;
                let name = self.target.column(*at).map(|column| column.name.as_str()).unwrap_or_default();
                fail(Fault::BadCopy { message: format!("missing data for column \"{name}\"") })
            }
        }
    }

    /// Adds the column and its data to the error's context; the caller adds the line number.
    fn in_column(name: &str, bytes: &[u8], error: EngineError) -> EngineError {
        error.with_context(format!("column {name}: \"{}\"", shortened(bytes)))
    }
}

impl Cells {
    fn forget(&mut self, place: usize) {
        if let Some(span) = self.spans.get_mut(place) {
            *span = None;
        }
    }

    fn add(&mut self, place: usize, write: impl FnOnce(&mut Vec<u8>) -> EngineResult<()>) -> EngineResult<()> {
        let start = self.bytes.len();
        write(&mut self.bytes)?;
        if let Some(span) = self.spans.get_mut(place) {
            *span = Some((start, self.bytes.len()));
        }
        Ok(())
    }
}

/// Truncates data for an error's context.
pub(super) fn shortened(bytes: &[u8]) -> String {
    const SHOWN: usize = 100;
    let text = String::from_utf8_lossy(bytes.get(..SHOWN).unwrap_or(bytes));
    if bytes.len() > SHOWN { format!("{text}...") } else { text.into_owned() }
}

/// Hint for files in another encoding.
const CONVERT: &str = "COPY reads UTF-8. Convert the file first, as with: iconv -f LATIN1 -t UTF-8";

/// The error of a line that has a zero byte.
pub(super) fn zero_byte() -> EngineError {
    TypeError::InvalidEncoding { detail: "0x00".to_owned() }.into()
}

/// Checks that bytes are UTF-8 without zero bytes.
pub(super) fn utf8(bytes: &[u8]) -> EngineResult<&str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => {
            types::text::check_zero_byte(text)?;
            Ok(text)
        }
        Err(error) => {
            let wrong = TypeError::not_utf8(bytes, error.valid_up_to());
            Err(EngineError::from(wrong).with_hint(CONVERT))
        }
    }
}

fn read(ty: &DataType, bytes: &[u8], zone: TimeZone) -> EngineResult<Datum> {
    if let Some(value) = plain(ty, bytes) {
        return Ok(value);
    }
    Ok(types::text::parse_in(ty, utf8(bytes)?, &zone)?)
}

/// Encodes a field as the cell of its column.
fn write_cell(column: &Column, bytes: &[u8], zone: TimeZone, out: &mut Vec<u8>) -> EngineResult<()> {
    let ty = &column.ty;
    // Text of at most `limit` bytes has at most `limit` characters, so it is copied without building a value.
    let limit = match ty {
        DataType::Text | DataType::Varchar(None) => usize::MAX,
        DataType::Varchar(Some(limit)) | DataType::Char(limit) => *limit as usize,
        _ => 0,
    };
    if ty.is_text() && bytes.len() <= limit && memchr::memchr(0, bytes).is_none() {
        let text = utf8(bytes)?;
        let kept = if matches!(ty, DataType::Char(_)) { text.trim_end_matches(' ') } else { text };
        out.extend_from_slice(kept.as_bytes());
        return Ok(());
    }
    Ok(encode_cell(&column.name, ty, &read(ty, bytes, zone)?, out)?)
}

/// The text of a header field; empty for NULL.
pub(super) fn header_text(fields: &Fields, buffer: &[u8], field: &Field) -> String {
    fields.bytes(buffer, field).map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default()
}
