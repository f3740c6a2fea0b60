//! Compiled generated columns, which every new state of a row computes before it is checked and written.
//!
//! They depend on the other columns of the row alone, like CHECK constraints.

use crate::Session;
use crate::dml::{Exprs, Row, RowTable, Target};
use crate::error::{EngineResult, Fault, fail};
use bind::Clause;
use catalog::{Catalog, Table};
use sql::ast::Expr;
use std::sync::Arc;
use types::DataType;

/// The generated columns of a table, in column order.
#[derive(Debug, Default)]
pub(crate) struct Generated {
    positions: Vec<usize>,
    exprs: Exprs,
}

impl Generated {
    pub(crate) fn is_cacheable(&self) -> bool {
        self.exprs.is_cacheable()
    }
}

impl Target {
    /// Computes the generated columns of a row.
    ///
    /// # Errors
    /// Evaluation errors, and values that do not fit.
    pub(crate) fn compute(&self, row: &mut Row) -> EngineResult<()> {
        if !self.is_computed {
            return Ok(());
        }
        if self.generated.positions.is_empty() {
            return fail(Fault::Internal { detail: "a row is written past the generated columns".to_string() });
        }
        let values = self.generated.exprs.eval_alone(row)?;
        for (at, value) in self.generated.positions.iter().zip(values) {
            let value = self.assign(*at, value)?;
            crate::dml::set(row, *at, value);
        }
        Ok(())
    }
}

impl Session {
    /// Compiles the generated columns of a table.
    pub(super) async fn generated_of(&mut self, catalog: &Arc<Catalog>, table: &Table) -> EngineResult<Generated> {
        let (mut positions, mut exprs) = (Vec::new(), Vec::new());
        for (at, column) in table.columns.iter().enumerate().filter(|(_, column)| column.generated.is_some()) {
            positions.push(at);
            exprs.push(sql::parse_expr(column.default.as_deref().unwrap_or("NULL"))?);
        }
        let exprs = self.compile_generated(catalog, &RowTable::of(table), &exprs).await?;
        Ok(Generated { positions, exprs })
    }

    /// Compiles generation expressions over rows of a table.
    ///
    /// # Errors
    /// Errors in the expressions; 42P17 if one depends on more than the row.
    pub(crate) async fn compile_generated(
        &mut self,
        catalog: &Arc<Catalog>,
        row: &RowTable,
        exprs: &[Expr],
    ) -> EngineResult<Exprs> {
        let compiled = self.exprs_over(catalog, row, exprs, Clause::Generated).await?;
        match compiled.depends_on_session() || compiled.is_volatile() {
            true => fail(Fault::GenerationNotImmutable),
            false => Ok(compiled),
        }
    }
}

/// Whether PostgreSQL has an assignment cast from one type to the other.
pub(crate) fn can_assign(from: DataType, to: DataType) -> bool {
    use DataType::{
        BigInt, Char, Date, Double, Integer, Interval, LimitedInterval, Numeric, Real, SmallInt, Text, Varchar,
    };
    let is_number = |ty| matches!(ty, SmallInt | Integer | BigInt | Real | Double | Numeric(_));
    let is_moment = |ty| matches!(ty, Date | DataType::Timestamp(_) | DataType::TimestampTz(_));
    match (from, to) {
        (_, Text | Varchar(_) | Char(_)) => true,
        (from, to) if is_number(from) && is_number(to) => true,
        (from, to) if is_moment(from) && is_moment(to) => true,
        (DataType::Timestamp(_) | DataType::TimestampTz(_) | Interval | LimitedInterval(_), DataType::Time(_)) => true,
        (DataType::Time(_), Interval | LimitedInterval(_)) => true,
        (Interval | LimitedInterval(_), Interval | LimitedInterval(_)) => true,
        (
            DataType::Bytea | DataType::Varbinary(_) | DataType::Binary(_),
            DataType::Bytea | DataType::Varbinary(_) | DataType::Binary(_),
        ) => true,
        (from, to) => from.unlimited() == to.unlimited() || from.base_name() == to.base_name(),
    }
}
