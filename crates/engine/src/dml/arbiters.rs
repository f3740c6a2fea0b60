//! ON CONFLICT: chooses the arbiters (the primary key, unique indexes) and finds the conflicting row.
//!
//! ```text
//!   new row ──> key, unique prefixes ──look up──> existing row ──lock──> still conflicts? ──> conflicting row
//!                                         └─ none: lock the prefixes, look up again
//! ```
//! The row is locked before the prefix: a writer that changes the row holds its lock and then wants the prefix. One
//! lock order avoids deadlocks.

use super::insert::InsertProgram;
use super::target::{FAMILY, Row, Target};
use crate::Session;
use crate::block::work::Work;
use crate::error::{EngineResult, Fault, fail};
use crate::row_writer::NewRow;
use bind::TableExpression;
use bind::tree::{ColId, Scalar};
use catalog::Table;
use index::Clause;
use rows::clause;
use sql::ast::Expr;
use sql::{Conflict, ConflictTarget};
use store::Bytes;
use txn::LockMode;
use types::temporal::Utc;

/// The arbiters of a conflict: the primary key, unique indexes, or both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arbiters {
    /// The primary key.
    pub(super) key: bool,
    /// Unique indexes, as positions in [`Target::indexes`].
    indexes: Vec<usize>,
}

impl Arbiters {
    /// The primary key alone: for UPSERT, and for INSERT without ON CONFLICT.
    pub(super) fn key() -> Self {
        Self { key: true, indexes: Vec::new() }
    }

    /// The arbiters that the conflict target names or infers; all unique indexes and the key without a conflict
    /// target.
    ///
    /// # Errors
    /// 42P10, 42704, 42703; 55000 for constraints that are DEFERRABLE.
    pub(super) fn find(target: &Target, conflict: &Conflict) -> EngineResult<Self> {
        let found = Self::named(target, conflict)?;
        let named = found.indexes.iter().filter_map(|at| target.indexes.get(*at));
        match named.map(|index| index.index()).find(|index| index.deferrable) {
            Some(index) => {
                let (schema, table) = (target.schema.clone(), target.table.name.clone());
                fail(Fault::DeferrableArbiter { schema, table, constraint: index.name.clone() })
            }
            None => Ok(found),
        }
    }

    fn named(target: &Target, conflict: &Conflict) -> EngineResult<Self> {
        let table = &target.table;
        // An index that is being built does not have the entries of all rows.
        let decides = |index: &catalog::Index| index.unique && index.state.is_complete();
        let unique = || target.indexes.iter().enumerate().filter(|(_, index)| decides(index.index()));
        match &conflict.target {
            None => Ok(Self { key: true, indexes: unique().map(|(at, _)| at).collect() }),
            Some(ConflictTarget::Constraint(name)) if table.key_name.as_ref() == Some(name) => Ok(Self::key()),
            Some(ConflictTarget::Constraint(name)) => {
                let named = |index: &catalog::Index| index.constraint.is_some() && index.name == *name;
                match unique().find(|(_, index)| named(index.index())) {
                    Some((at, _)) => Ok(Self { key: false, indexes: vec![at] }),
                    None => fail(Fault::NoSuchConstraint { table: table.name.clone(), constraint: name.clone() }),
                }
            }
            Some(ConflictTarget::Columns { names, exprs, predicate }) => {
                for name in names {
                    target.position(&sql::ColumnName::bare(name.clone()))?;
                }
                let is_key = || is_set(table, names, table.key.iter().map(|part| part.column));
                let key = exprs.is_empty() && !table.has_hidden_row_id() && is_key();
                let inferred = Inferred::new(target, exprs, predicate.as_ref());
                let fits = |index: &catalog::Index| {
                    is_set(table, names, index.parts.iter().filter_map(catalog::IndexPart::column))
                        && inferred.fits(index)
                };
                let indexes: Vec<usize> = unique().filter(|(_, index)| fits(index.index())).map(|(at, _)| at).collect();
                match key || !indexes.is_empty() {
                    true => Ok(Self { key, indexes }),
                    false => fail(Fault::NoSuchUniqueness),
                }
            }
        }
    }
}

/// Index inference: the expressions and predicate of a conflict target, bound over the table. An expression that
/// cannot be bound matches no index.
struct Inferred<'t> {
    target: &'t Target,
    exprs: Option<Vec<TableExpression>>,
    /// The predicate of the conflict target; empty without WHERE.
    given: Vec<Clause<String>>,
}

impl<'t> Inferred<'t> {
    fn new(target: &'t Target, exprs: &[Expr], predicate: Option<&Expr>) -> Self {
        let exprs = exprs.iter().map(|expr| bound(target, expr, &expr.to_string())).collect();
        let given = predicate.and_then(|predicate| bound(target, predicate, &predicate.to_string()));
        let given = given.into_iter().filter_map(|given| Some(clause(&in_place(target, &given)?)));
        Self { target, exprs, given: given.collect() }
    }

    /// Whether the index has exactly these expressions, and `given` implies the predicate of a partial index.
    fn fits(&self, index: &catalog::Index) -> bool {
        let over = |expr: &catalog::IndexExpr| {
            let parsed = sql::parse_expr(&expr.text).ok()?;
            in_place(self.target, &bound(self.target, &parsed, &expr.text)?)
        };
        let own: Option<Vec<Scalar>> = index.expressions().map(over).collect();
        let wanted = self
            .exprs
            .as_ref()
            .and_then(|exprs| exprs.iter().map(|expr| in_place(self.target, expr)).collect::<Option<Vec<Scalar>>>());
        let (Some(own), Some(wanted)) = (own, wanted) else { return false };
        let all_in = |some: &[Scalar], others: &[Scalar]| {
            some.iter().all(|one| others.iter().any(|other| bind::is_same(one, other)))
        };
        all_in(&own, &wanted)
            && all_in(&wanted, &own)
            && match &index.predicate {
                None => true,
                Some(predicate) => {
                    over(predicate).is_some_and(|predicate| index::implies(&self.given, &clause(&predicate)))
                }
            }
    }
}

fn bound(target: &Target, expr: &Expr, text: &str) -> Option<TableExpression> {
    bind::bind_table_expression(&target.table, expr, &bind::Environment { text, rules: &Utc }).ok()
}

/// Replaces the expression's own column ids by the columns' positions, so that expressions bound separately compare
/// equal.
fn in_place(target: &Target, expr: &TableExpression) -> Option<Scalar> {
    let columns = 0..target.table.columns.len();
    let all: Vec<(usize, ColId)> = columns.filter_map(|at| Some((at, ColId::at(at)?))).collect();
    expr.over(&all)
}

/// Whether `names` are exactly the names of `columns`.
fn is_set(table: &Table, names: &[String], columns: impl Iterator<Item = catalog::ColumnId>) -> bool {
    let columns: Vec<&str> = columns.filter_map(|id| table.column(id)).map(|column| column.name.as_str()).collect();
    columns.iter().all(|column| names.iter().any(|name| name == column))
        && names.iter().all(|name| columns.contains(&name.as_str()))
}

impl Session {
    /// Returns the conflicting row, locked. Without a conflict, locks the unique prefixes of the new row, so that no
    /// conflicting row appears later. The caller holds the lock on the new row's key.
    pub(super) async fn conflicting_row(
        &self,
        work: &mut Work,
        program: &InsertProgram,
        new: &NewRow,
    ) -> EngineResult<Option<(Bytes, Row)>> {
        let InsertProgram { target, arbiters, .. } = program;
        if arbiters.key
            && let Some(fragment) = work.newest(target.storage, FAMILY, new.key()).await?
        {
            return Ok(Some((new.key().clone(), target.decode(new.key(), &fragment)?)));
        }
        let mode = program.lock_mode();
        for at in &arbiters.indexes {
            let mut locked = false;
            loop {
                match self.row_with_prefix(work, target, (*at, mode), new.row()).await? {
                    Look::Row(key, row) => return Ok(Some((key, row))),
                    Look::Changed => {}
                    Look::None if locked => break,
                    Look::None => {
                        self.row_writer(work, target).lock_prefix(*at, new.row()).await?;
                        locked = true;
                    }
                }
            }
        }
        Ok(None)
    }

    /// Finds the row with the new row's unique prefix in the index at position `at`, and locks it in `mode`.
    async fn row_with_prefix(
        &self,
        work: &mut Work,
        target: &Target,
        (at, mode): (usize, LockMode),
        new: &Row,
    ) -> EngineResult<Look> {
        let Some(index) = target.indexes.get(at) else { return Ok(Look::None) };
        let Some(entry) = index.entry(new)? else { return Ok(Look::None) };
        let Some(prefix) = entry.unique_prefix.and_then(|prefix| entry.key.get(..prefix)) else {
            return Ok(Look::None);
        };
        let storage = index.index().storage_id();
        let prefix = Bytes::copy_from_slice(prefix);
        let Some(found) = work.txn.find_newest(storage, FAMILY, &prefix).await? else { return Ok(Look::None) };
        let Some(fragment) = work.newest(storage, FAMILY, &found).await? else { return Ok(Look::Changed) };
        let mut key = Vec::with_capacity(32);
        index.rowkey_into(&target.codec, &found, &fragment, &mut key)?;
        let key = Bytes::from(key);
        self.row_writer(work, target).lock_row(&key, mode).await?;
        let Some(fragment) = work.newest(target.storage, FAMILY, &key).await? else { return Ok(Look::Changed) };
        let row = target.decode(&key, &fragment)?;
        // The lookup took no lock, so the current row decides.
        match index.entry(&row)?.is_some_and(|now| now.key == found) {
            true => Ok(Look::Row(key, row)),
            false => Ok(Look::Changed),
        }
    }
}

/// Result of the lookup of a unique prefix.
enum Look {
    /// No row has the prefix.
    None,
    /// The row that has the prefix, locked.
    Row(Bytes, Row),
    /// The row no longer has the prefix: look up again.
    Changed,
}
