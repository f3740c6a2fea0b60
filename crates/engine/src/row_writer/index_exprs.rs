//! Expressions and predicates of indexes, compiled once per version of a table and kept with it.
//!
//! Like CHECK constraints they depend on the row alone. CREATE INDEX checks that they are immutable
//! (`ddl/index/expr.rs`).

use crate::Session;
use crate::dml::{Exprs, RowTable};
use crate::error::{EngineResult, Fault, fail};
use bind::Clause;
use catalog::{Catalog, Index, Table};
use index::{IndexCodec, IndexError, IndexResult, RowExprs};
use sql::ast::Expr;
use std::collections::BTreeMap;
use std::sync::Arc;
use types::Datum;

/// The compiled expressions and predicates of a table's indexes, by index OID.
#[derive(Debug)]
struct IndexExprs(BTreeMap<u32, Arc<Computed>>);

/// The expressions of one index, and its predicate.
#[derive(Debug)]
struct Computed {
    expressions: Exprs,
    predicate: Option<Exprs>,
}

impl RowExprs for Computed {
    fn holds(&self, row: &[Datum]) -> IndexResult<bool> {
        let Some(predicate) = &self.predicate else { return Ok(true) };
        Ok(matches!(values(predicate, row)?.as_slice(), [Datum::Bool(true)]))
    }

    fn eval(&self, row: &[Datum]) -> IndexResult<Vec<Datum>> {
        values(&self.expressions, row)
    }
}

fn values(exprs: &Exprs, row: &[Datum]) -> IndexResult<Vec<Datum>> {
    exprs.eval_alone(row).map_err(|error| IndexError::Expr(Box::new(error)))
}

/// The codecs of the table's indexes that writes maintain.
pub(crate) fn written_indexes(table: &Arc<Table>) -> EngineResult<Vec<IndexCodec>> {
    let written = table.indexes.iter().filter(|index| index.state.takes_deletes());
    written.map(|index| index_codec(table, index)).collect()
}

/// The codec of an index. It builds entries only if the index's expressions are compiled.
pub(crate) fn index_codec(table: &Arc<Table>, index: &Index) -> EngineResult<IndexCodec> {
    let codec = IndexCodec::new(table, index)?;
    let computed = table.derived.get::<IndexExprs>().and_then(|all| all.0.get(&index.oid).cloned());
    Ok(match computed {
        Some(computed) => codec.with_exprs(computed),
        None => codec,
    })
}

impl Session {
    /// Compiles the expressions and predicates of a table's indexes, unless they are compiled.
    ///
    /// # Errors
    /// Errors in an expression of the catalog.
    pub(crate) async fn compile_indexes(&mut self, catalog: &Arc<Catalog>, table: &Arc<Table>) -> EngineResult<()> {
        let computed = |index: &&Index| index.texts().next().is_some();
        if !table.indexes.iter().any(|index| computed(&index)) || table.derived.get::<IndexExprs>().is_some() {
            return Ok(());
        }
        let mut all = BTreeMap::new();
        for index in table.indexes.iter().filter(computed) {
            let row = RowTable::of(table);
            let exprs =
                index.expressions().map(|expr| sql::parse_expr(&expr.text)).collect::<Result<Vec<Expr>, _>>()?;
            let expressions = match exprs.as_slice() {
                [] => Exprs::default(),
                exprs => self.exprs_over(catalog, &row, exprs, Clause::IndexExpression).await?,
            };
            let predicate = match &index.predicate {
                Some(predicate) => {
                    let expr = sql::parse_expr(&predicate.text)?;
                    Some(self.exprs_over(catalog, &row, std::slice::from_ref(&expr), Clause::IndexPredicate).await?)
                }
                None => None,
            };
            all.insert(index.oid, Arc::new(Computed { expressions, predicate }));
        }
        table.derived.keep(IndexExprs(all));
        Ok(())
    }

    /// Compiles one expression of an index that is being created.
    ///
    /// # Errors
    /// Errors in the expression; 42P17 if it is not immutable.
    pub(crate) async fn compile_index_expr(
        &mut self,
        catalog: &Arc<Catalog>,
        row: &RowTable,
        expr: &Expr,
        clause: Clause,
    ) -> EngineResult<Exprs> {
        let compiled = self.exprs_over(catalog, row, std::slice::from_ref(expr), clause).await?;
        match compiled.is_immutable() {
            false => fail(Fault::NotImmutable { clause }),
            true => Ok(compiled),
        }
    }
}
