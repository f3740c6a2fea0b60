//! Checked actions of ALTER TABLE, and the catalog changes they make.

use crate::ddl::generated::OwnSequence;
use catalog::{
    CatalogResult, Counting, Draft, Identity, IndexText, NewCheck, NewColumn, NewDefault, NewForeignKey, NewIndex,
    NewKeyPart, Sequence, TableOid, ViewQuery,
};
use std::collections::BTreeMap;
use types::{DataType, Datum};

/// An action of ALTER TABLE with checked expressions.
#[derive(Clone)]
pub(in crate::ddl) enum Step {
    Add {
        column: NewColumn,
        missing: Datum,
    },
    /// A column with a sequence of its own.
    AddOwned(NewColumn, OwnSequence),
    /// Includes columns in the indexes of these OIDs.
    Include(Vec<u32>, Vec<String>),
    AddCheck(NewCheck),
    AddForeignKey(NewForeignKey),
    Validate(String),
    /// Constraint name, DEFERRABLE, INITIALLY DEFERRED.
    AlterConstraint(String, bool, bool),
    /// Constraint name, CASCADE.
    DropConstraint(String, bool),
    /// Drops views that depend on a dropped constraint: the constraint, the views, CASCADE.
    DropViews(String, Vec<TableOid>, bool),
    RenameConstraint(String, String),
    /// Column names, with the generated columns before the column they depend on; CASCADE.
    Drop(Vec<String>, bool),
    /// Adds an index; the rewrite of the rows builds its entries.
    AddIndex(NewIndex),
    /// Drops the index and makes its columns the primary key.
    KeyUsingIndex(u32, Vec<NewKeyPart>, String),
    AddKey(Vec<NewKeyPart>, Option<String>),
    /// Column name, new type, new options of an identity's sequence. Needs a rewrite of the rows unless the encoding
    /// stays.
    SetType(String, DataType, Option<(TableOid, Counting)>),
    /// New index expressions for retyped columns, by index OID.
    SetIndexTexts(Vec<(u32, Vec<IndexText>)>),
    /// New conditions of CHECK constraints over retyped columns, by name.
    SetCheckTexts(Vec<(String, String)>),
    DropExpression(String),
    /// Old name, new name, and the rewritten expressions that reference the column.
    RenameColumn(String, String, RenamedTexts),
    /// New name, and the queries of the views that read the table.
    RenameTable(String, Vec<ViewQuery>),
    SetDefault(String, Option<NewDefault>),
    SetNotNull(String),
    DropNotNull(String),
    AddIdentity(OwnSequence),
    DropIdentity(String),
    ChangeIdentity {
        column: String,
        sequence: TableOid,
        identity: Option<Identity>,
        counting: Counting,
        /// The next value, for RESTART.
        restart: Option<i64>,
    },
    /// New schema, and the queries of the views that read the table.
    SetSchema(String, Vec<ViewQuery>),
    Properties(BTreeMap<String, Option<String>>),
}

impl Step {
    /// The column that the step adds.
    pub(in crate::ddl) fn added(&self) -> Option<&NewColumn> {
        match self {
            Self::Add { column, .. } | Self::AddOwned(column, _) => Some(column),
            _ => None,
        }
    }
}

/// Expression texts with a renamed column.
#[derive(Clone, Default)]
pub(in crate::ddl) struct RenamedTexts {
    /// CHECK constraints, by name.
    pub(in crate::ddl) checks: Vec<(String, String)>,
    /// Index expressions and predicates, by index OID.
    pub(in crate::ddl) indexes: Vec<(u32, Vec<IndexText>)>,
    /// Generation expressions, by column name.
    pub(in crate::ddl) generated: Vec<(String, String)>,
    /// The query of a materialized view.
    pub(in crate::ddl) query: Option<String>,
    /// The queries of the views that read the column.
    pub(in crate::ddl) views: Vec<ViewQuery>,
}

/// Applies a step to the draft. Returns the kinds and names of the other objects dropped by CASCADE.
pub(in crate::ddl) fn apply(draft: &mut Draft, oid: TableOid, step: Step) -> CatalogResult<Vec<String>> {
    let done = match step {
        Step::DropConstraint(name, cascade) => return draft.drop_constraint(oid, &name, cascade),
        Step::DropViews(constraint, views, cascade) => return draft.release_views(&constraint, &views, cascade),
        Step::Add { column, missing } => draft.add_column(oid, column, missing).map(drop),
        Step::AddOwned(column, sequence) => sequence.add_column(draft, oid, column),
        Step::Include(indexes, columns) => {
            indexes.iter().try_for_each(|index| draft.include_columns(oid, *index, &columns).map(drop))
        }
        Step::Drop(names, cascade) => return drop_columns(draft, oid, &names, cascade),
        Step::AddIndex(new) => {
            // The rewrite that follows builds the entries.
            let prepared = draft.prepare_index(oid, new)?;
            draft.publish_index(&prepared).map(drop)
        }
        Step::KeyUsingIndex(index, parts, name) => {
            draft.drop_index(oid, index)?;
            draft.set_key(oid, &parts, Some(name)).map(drop)
        }
        Step::AddKey(parts, name) => draft.set_key(oid, &parts, name).map(drop),
        Step::SetType(name, ty, counting) => {
            if let Some((sequence, counting)) = counting {
                count_as(draft, sequence, counting, None)?;
            }
            draft.set_type(oid, &name, ty).map(drop)
        }
        Step::SetIndexTexts(texts) => draft.set_index_texts(oid, &texts).map(drop),
        Step::SetCheckTexts(texts) => draft.set_check_texts(oid, &texts).map(drop),
        Step::DropExpression(name) => draft.drop_expression(oid, &name).map(drop),
        Step::RenameColumn(from, to, texts) => {
            draft.rename_column(oid, &from, &to, &texts.views)?;
            for (name, text) in texts.generated {
                draft.set_expression(oid, &name, text)?;
            }
            if let Some(query) = texts.query {
                draft.change_materialized(oid, |view| view.query = query)?;
            }
            draft.set_check_texts(oid, &texts.checks)?;
            draft.set_index_texts(oid, &texts.indexes).map(drop)
        }
        Step::AddCheck(check) => draft.add_check(oid, check).map(drop),
        Step::AddForeignKey(key) => draft.add_foreign_key(oid, key).map(drop),
        Step::AlterConstraint(name, deferrable, deferred) => {
            draft.set_deferrable(oid, &name, deferrable, deferred).map(drop)
        }
        Step::Validate(name) => draft.set_validated(oid, &name).map(drop),
        Step::RenameConstraint(from, to) => draft.rename_constraint(oid, &from, &to).map(drop),
        Step::RenameTable(to, views) => draft.rename_table(oid, &to, &views).map(drop),
        Step::SetDefault(name, default) => draft.set_default(oid, &name, default).map(drop),
        Step::SetNotNull(name) => draft.set_not_null(oid, &name).map(drop),
        Step::DropNotNull(name) => draft.drop_not_null(oid, &name).map(drop),
        Step::AddIdentity(sequence) => sequence.add_identity(draft, oid),
        Step::DropIdentity(name) => draft.set_identity(oid, &name, None).map(drop),
        Step::ChangeIdentity { column, sequence, identity, counting, restart } => {
            count_as(draft, sequence, counting, restart)?;
            match identity {
                Some(identity) => draft.set_identity_kind(oid, &column, identity).map(drop),
                None => Ok(()),
            }
        }
        Step::SetSchema(schema, views) => draft.set_schema(oid, &schema, &views).map(drop),
        Step::Properties(changes) => draft.set_properties(oid, &changes).map(drop),
    };
    done.map(|()| Vec::new())
}

fn count_as(draft: &mut Draft, sequence: TableOid, counting: Counting, restart: Option<i64>) -> CatalogResult<()> {
    let change = |it: &mut Sequence| {
        it.count_as(counting, restart);
        Ok(())
    };
    draft.alter_sequence(sequence, change).map(drop)
}

/// Drops the last column of `names` and before it the generated columns that depend on it. Drops the primary key if one
/// of them is part of it.
fn drop_columns(draft: &mut Draft, oid: TableOid, names: &[String], cascade: bool) -> CatalogResult<Vec<String>> {
    let table = draft.table(oid)?;
    let in_key =
        |name: &String| table.column_by_name(name).is_some_and(|it| !it.hidden && table.key_position(it.id).is_some());
    let mut dropped = if names.iter().any(in_key) { draft.drop_key(oid, cascade)? } else { Vec::new() };
    for name in names {
        dropped.extend(draft.drop_column(oid, name, cascade)?);
    }
    let others = names.split_last().map(|(_, others)| others).unwrap_or_default();
    dropped.extend(others.iter().map(|name| format!("column {name} of table {}", table.name)));
    Ok(dropped)
}
