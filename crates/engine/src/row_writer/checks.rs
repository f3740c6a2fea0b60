//! Checks of rows before they are written, and the error for a duplicate key.

use crate::EngineError;
use crate::dml::Target;
use crate::error::{EngineResult, Fault};
use catalog::Column;
use query::QueryError;
use store::Bytes;
use types::{DataType, Datum, interrupt, text};

/// Steps of an interrupt check that building and writing one row counts as.
const STEPS_OF_A_ROW: usize = 512;

impl Target {
    /// Rejects a row that violates a constraint of its table.
    ///
    /// # Errors
    /// 23502, 23514.
    pub(crate) fn check(&self, row: &[Datum]) -> EngineResult<()> {
        self.check_nulls(row)?;
        self.check_conditions(row)
    }

    /// Rejects NULL in NOT NULL columns.
    pub(super) fn check_nulls(&self, row: &[Datum]) -> EngineResult<()> {
        let wrong = self.table.columns.iter().zip(row).find(|(column, value)| column.not_null && value.is_null());
        match wrong {
            None => Ok(()),
            Some((column, _)) => Err(Fault::NotNull {
                schema: self.schema.clone(),
                table: self.table.name.clone(),
                column: column.name.clone(),
                row: self.row_text(row),
            }
            .into()),
        }
    }

    pub(super) fn fragment(&self, row: &[Datum]) -> EngineResult<Bytes> {
        interrupt::spend(STEPS_OF_A_ROW).map_err(QueryError::from)?;
        Ok(self.codec.encode_fragment(row)?.into())
    }

    pub(super) fn fragment_into(&self, row: &[Datum], out: &mut Vec<u8>) -> EngineResult<()> {
        interrupt::spend(STEPS_OF_A_ROW).map_err(QueryError::from)?;
        Ok(self.codec.encode_fragment_into(row, out)?)
    }

    /// Converts an error of the store: an existing key is 23505.
    pub(crate) fn in_words(&self, error: EngineError) -> EngineError {
        match error.conflict() {
            Some((table, key)) if *table == self.storage => self.duplicate(key),
            _ => error,
        }
    }

    /// The 23505 error for the row with that key.
    pub(super) fn duplicate(&self, key: &[u8]) -> EngineError {
        let columns: Vec<_> = self.table.key_columns().map(|column| types::ident::quote(&column.name)).collect();
        let values = self.codec.key_schema().decode(key).unwrap_or_default();
        let values: Vec<String> =
            self.table.key_columns().zip(&values).map(|(column, value)| print(column, value)).collect();
        Fault::DuplicateKey {
            schema: self.schema.clone(),
            table: self.table.name.clone(),
            constraint: self.table.key_name.clone().unwrap_or_default(),
            columns: columns.join(", "),
            values: values.join(", "),
        }
        .into()
    }

    pub(super) fn row_text(&self, row: &[Datum]) -> String {
        let visible = self.table.columns.iter().zip(row).filter(|(column, _)| !column.hidden);
        visible.map(|(column, value)| print(column, value)).collect::<Vec<_>>().join(", ")
    }
}

pub(super) fn print(column: &Column, value: &Datum) -> String {
    print_as(&column.ty, value)
}

pub(super) fn print_as(ty: &DataType, value: &Datum) -> String {
    if value.is_null() {
        return "null".to_string();
    }
    let mut out = String::new();
    text::print(ty, value, &mut out);
    out
}
