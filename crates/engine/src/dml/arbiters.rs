//! ON CONFLICT: which uniqueness decides, and the row that a new one is in conflict with.
//!
//! ```text
//!   new row ──> its key, its unique prefixes ──look──> a row with one of them ──lock──> still so? ──> that row
//!                                            └─ none: lock the prefixes, look once more
//! ```
//! The row is locked before the prefix is: who changes that row has it locked and wants the prefix, and two that lock in
//! one order do not wait for each other.

use super::insert::InsertProgram;
use super::target::{FAMILY, Row, Target};
use crate::Session;
use crate::block::work::Work;
use crate::error::{EngineResult, Fault, fail};
use crate::row_writer::NewRow;
use bind::OverTable;
use bind::tree::{ColId, Scalar};
use catalog::Table;
use index::Clause;
use rows::clause;
use sql::ast::Expr;
use sql::{Conflict, ConflictTarget};
use store::Bytes;
use txn::LockMode;
use types::temporal::Utc;

/// What decides whether a row is there already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arbiters {
    /// The primary key.
    pub(super) key: bool,
    /// Unique indexes, by their places in [`Target::indexes`].
    indexes: Vec<usize>,
}

impl Arbiters {
    /// The key alone: of UPSERT, and where nothing is said of conflicts.
    pub(super) fn key() -> Self {
        Self { key: true, indexes: Vec::new() }
    }

    /// Those that a statement names; all, if it names none.
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
        // One that is being built has not got the entries of all rows.
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

/// Expressions and WHERE of an inference, bound over the table; what cannot be bound fits nothing.
struct Inferred<'t> {
    target: &'t Target,
    exprs: Option<Vec<OverTable>>,
    /// What its WHERE says.
    given: Vec<Clause<String>>,
}

impl<'t> Inferred<'t> {
    fn new(target: &'t Target, exprs: &[Expr], predicate: Option<&Expr>) -> Self {
        let exprs = exprs.iter().map(|expr| bound(target, expr, &expr.to_string())).collect();
        let given = predicate.and_then(|predicate| bound(target, predicate, &predicate.to_string()));
        let given = given.into_iter().filter_map(|given| Some(clause(&in_place(target, &given)?)));
        Self { target, exprs, given: given.collect() }
    }

    /// Has the index these expressions and no others, and all rows that the WHERE speaks of?
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

fn bound(target: &Target, expr: &Expr, text: &str) -> Option<OverTable> {
    bind::bind_over(&target.table, expr, &bind::Environment { text, rules: &Utc }).ok()
}

/// With ids of columns that are those of no one expression.
fn in_place(target: &Target, expr: &OverTable) -> Option<Scalar> {
    let columns = 0..target.table.columns.len();
    let all: Vec<(usize, ColId)> = columns.filter_map(|at| Some((at, ColId::at(at)?))).collect();
    expr.over(&all)
}

/// Are these all the names of the columns, and no others?
fn is_set(table: &Table, names: &[String], columns: impl Iterator<Item = catalog::ColumnId>) -> bool {
    let columns: Vec<&str> = columns.filter_map(|id| table.column(id)).map(|column| column.name.as_str()).collect();
    columns.iter().all(|column| names.iter().any(|name| name == column))
        && names.iter().all(|name| columns.contains(&name.as_str()))
}

impl Session {
    /// The row, locked, that a new one is in conflict with. Else what decides is locked, and stays as it is. The new row's
    /// key is locked.
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

    /// The row that has the unique prefix of a new one in the index at that place, locked in that mode.
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
        // It was looked for without a lock: what is there now counts.
        match index.entry(&row)?.is_some_and(|now| now.key == found) {
            true => Ok(Look::Row(key, row)),
            false => Ok(Look::Changed),
        }
    }
}

/// What a look for a unique prefix found.
enum Look {
    /// Nothing.
    None,
    /// A row that has it, locked.
    Row(Bytes, Row),
    /// A row that has it no more: look again.
    Changed,
}
