//! Referencing rows: finds them, and runs ON DELETE and ON UPDATE actions on them.

use super::Gone;
use super::relations::Relation;
use crate::block::work::Work;
use crate::dml::fits_exactly;
use crate::error::{EngineResult, Fault, fail};
use crate::session::search_path::qualified;
use crate::statement::Source;
use crate::{Answer, Session};
use catalog::ReferentialAction;
use futures::StreamExt;
use std::sync::Arc;
use txn::LockMode;
use types::ident::quote;
use types::{DataType, Datum, coerce};

/// The largest number of key values that one statement moves in a cycle.
const MOST_MOVED_AT_ONCE: usize = 10_000;

/// An internal statement over the rows that reference a key.
struct Own {
    text: String,
    types: Vec<DataType>,
    values: Vec<Datum>,
}

impl Relation {
    /// `verb … WHERE column = $1 AND …`; `None` if no row can reference these values.
    fn over_children(&self, verb: &str, values: &[Datum], mut parameters: Vec<(DataType, Datum)>) -> Option<Own> {
        let mut conditions = Vec::with_capacity(values.len());
        for (column, value) in self.child.columns_of(&self.key.columns).zip(values) {
            if value.is_null() {
                conditions.push(format!("{} IS NULL", quote(&column.name)));
                continue;
            }
            // Without a length, which would cut blanks.
            parameters.push((column.ty.unlimited(), fits_exactly(&column.ty, value.clone())?));
            conditions.push(format!("{} = ${}", quote(&column.name), parameters.len()));
        }
        let text = format!("{verb} WHERE {}", conditions.join(" AND "));
        let (types, values) = parameters.into_iter().unzip();
        Some(Own { text, types, values })
    }

    /// The statement that applies several ON UPDATE CASCADE actions at once; `None` if no row can reference an old key.
    ///
    /// # Errors
    /// 0A000 for a cycle of very many keys: a statement has a limited number of parameters.
    fn action_at_once(&self, moves: &[Gone]) -> EngineResult<Option<Own>> {
        if moves.len() * self.key.columns.len() > MOST_MOVED_AT_ONCE {
            let feature = format!("ON UPDATE CASCADE of a cycle of {} keys", moves.len());
            return fail(Fault::Unsupported { feature });
        }
        let columns: Vec<_> = self.child.columns_of(&self.key.columns).collect();
        let (mut types, mut values, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for Gone { values: old, new, .. } in moves {
            let old: Option<Vec<Datum>> =
                columns.iter().zip(old).map(|(column, value)| fits_exactly(&column.ty, value.clone())).collect();
            let (Some(old), Some(new)) = (old, new) else { continue };
            let new = columns.iter().zip(new).map(|(column, value)| coerce::assign(&column.ty, value.clone()));
            let first = values.len();
            values.extend(old);
            values.extend(new.collect::<Result<Vec<_>, _>>()?);
            types.extend(columns.iter().chain(&columns).map(|column| column.ty.unlimited()));
            let row: Vec<String> = (first + 1..=values.len()).map(|number| format!("${number}")).collect();
            rows.push(format!("({})", row.join(", ")));
        }
        if rows.is_empty() {
            return Ok(None);
        }
        let each = |shown: &dyn Fn(usize, &str) -> String, between: &str| {
            let parts = columns.iter().enumerate().map(|(at, column)| shown(at, &quote(&column.name)));
            parts.collect::<Vec<_>>().join(between)
        };
        let text = format!(
            "UPDATE {} AS child SET {} FROM (VALUES {}) AS moved ({}, {}) WHERE {}",
            self.child_name(),
            each(&|at, name| format!("{name} = moved.new{at}"), ", "),
            rows.join(", "),
            each(&|at, _| format!("old{at}"), ", "),
            each(&|at, _| format!("new{at}"), ", "),
            each(&|at, name| format!("child.{name} = moved.old{at}"), " AND "),
        );
        Ok(Some(Own { text, types, values }))
    }

    fn child_name(&self) -> String {
        format!("{}.{}", quote(&self.schema), quote(&self.child.name))
    }

    /// The statement of a referential action; `None` if it changes nothing.
    fn action(&self, values: &[Datum], new: Option<&[Datum]>) -> EngineResult<Option<Own>> {
        let child = self.child_name();
        let (action, set) = match new {
            None => (self.key.on_delete, self.key.set_columns.as_slice()),
            Some(_) => (self.key.on_update, &[][..]),
        };
        let set = if set.is_empty() { self.key.columns.as_slice() } else { set };
        let all_to = |value: &str| {
            let parts = self.child.columns_of(set).map(|column| format!("{} = {value}", quote(&column.name)));
            format!("UPDATE {child} SET {}", parts.collect::<Vec<_>>().join(", "))
        };
        let mut parameters = Vec::new();
        let verb = match (action, new) {
            (ReferentialAction::Cascade, None) => format!("DELETE FROM {child}"),
            (ReferentialAction::Cascade, Some(new)) => {
                let mut parts = Vec::new();
                for (column, value) in self.child.columns_of(&self.key.columns).zip(new) {
                    parameters.push((column.ty, coerce::assign(&column.ty, value.clone())?));
                    parts.push(format!("{} = ${}", quote(&column.name), parameters.len()));
                }
                format!("UPDATE {child} SET {}", parts.join(", "))
            }
            (ReferentialAction::SetNull, _) => all_to("NULL"),
            (ReferentialAction::SetDefault, _) => all_to("DEFAULT"),
            (ReferentialAction::NoAction | ReferentialAction::Restrict, _) => return Ok(None),
        };
        Ok(self.over_children(&verb, values, parameters))
    }
}

impl Session {
    /// Runs a referential action. Locks the definition of the referencing table, not the whole table against writers.
    pub(super) async fn act(
        &mut self,
        work: &mut Work,
        relation: &Relation,
        values: &[Datum],
        new: Option<&[Datum]>,
    ) -> EngineResult<()> {
        match relation.action(values, new)? {
            Some(own) => self.run_action(work, &own).await,
            None => Ok(()),
        }
    }

    /// Runs several ON UPDATE CASCADE actions of a foreign key as one statement.
    pub(super) async fn act_at_once(
        &mut self,
        work: &mut Work,
        relation: &Relation,
        moves: &[Gone],
    ) -> EngineResult<()> {
        match relation.action_at_once(moves)? {
            Some(own) => self.run_action(work, &own).await,
            None => Ok(()),
        }
    }

    async fn run_action(&mut self, work: &mut Work, own: &Own) -> EngineResult<()> {
        let source = own.source()?;
        let compiled = self.compile(&source, None).await?;
        let compiled = self.lock_target(work, &source, None, compiled).await?;
        // The action sees what the statement has written so far.
        work.txn.end_statement()?;
        work.references.begin_statement();
        self.write_rows(work, &compiled, &own.values).await.map(drop)
    }

    /// Whether a row references the key. Waits for transactions that delete such a row. Most keys have no such row,
    /// so a search without locks comes first.
    pub(super) async fn has_child(
        &mut self,
        work: &mut Work,
        relation: &Relation,
        values: &[Datum],
    ) -> EngineResult<bool> {
        Ok(self.finds_child(work, relation, values).await? && self.locks_child(work, relation, values).await?)
    }

    /// Whether a visible row references the key. Takes no row locks.
    async fn finds_child(&mut self, work: &mut Work, relation: &Relation, values: &[Datum]) -> EngineResult<bool> {
        let verb = format!("SELECT 1 FROM {}", relation.child_name());
        let Some(mut own) = relation.over_children(&verb, values, Vec::new()) else { return Ok(false) };
        own.text.push_str(" LIMIT 1");
        let source = own.source()?;
        let view = work.view(self.engine.store().as_ref(), self.last_commit).await?;
        let compiled = self.compile(&source, None).await?;
        let Answer::Rows(mut rows) = Box::pin(self.run_compiled(view, &compiled, false, &own.values)).await? else {
            return fail(Fault::Internal { detail: "a look for rows that refer answers none".to_string() });
        };
        while let Some(chunk) = rows.chunks.next().await {
            if !chunk?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a row references the key once it is locked. KEY SHARE waits for transactions that delete the row or
    /// change its key.
    async fn locks_child(&mut self, work: &mut Work, relation: &Relation, values: &[Datum]) -> EngineResult<bool> {
        let verb = format!("SELECT 1 FROM {}", relation.child_name());
        let Some(mut own) = relation.over_children(&verb, values, Vec::new()) else { return Ok(false) };
        own.text.push_str(" LIMIT 1 FOR KEY SHARE");
        let source = own.source()?;
        let compiled = self.compile(&source, None).await?;
        let compiled = self.lock_target(work, &source, None, compiled).await?;
        let locked = self.write_rows(work, &compiled, &own.values).await?;
        Ok(locked.returns_rows())
    }

    /// A foreign key by the current definition of its referencing table, which is locked; `None` if the table or its
    /// foreign key was dropped.
    pub(super) async fn child_now(
        &mut self,
        work: &mut Work,
        of: (catalog::TableOid, u32),
    ) -> EngineResult<Option<Arc<Relation>>> {
        let guard = self.running();
        loop {
            let catalog = self.engine.catalog().current();
            // The statement has locked the table of a known one.
            if let Some(known) = work.references.relations.get(&catalog, of.1) {
                return Ok(Some(known));
            }
            let Some(child) = catalog.table_by_oid(of.0).cloned() else { return Ok(None) };
            let name = qualified(&catalog, &child);
            let locked = self.lock_named(work.txn.locks(), &name, LockMode::Shared, work.wait);
            let locked = match guard.stoppable(locked).await {
                Err(error) if error.is_undefined_table() => continue,
                locked => locked?,
            };
            let catalog = self.engine.catalog().current();
            if locked.oid == of.0 {
                let Some(key) = locked.foreign_keys.iter().find(|key| key.oid == of.1) else { return Ok(None) };
                let relation = Arc::new(Relation::new(&catalog, &locked, key)?);
                work.references.relations.add(&relation);
                return Ok(Some(relation));
            }
        }
    }
}

impl Own {
    fn source(&self) -> EngineResult<Arc<Source>> {
        let types: Vec<_> = self.types.iter().copied().map(Some).collect();
        let parsed = sql::parse(&self.text)?;
        match Source::all(&self.text, parsed, &types).pop() {
            Some(source) => Ok(Arc::new(source)),
            None => fail(Fault::Internal { detail: format!("no statement: {}", self.text) }),
        }
    }
}
