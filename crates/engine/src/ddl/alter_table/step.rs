//! Actions of ALTER TABLE whose expressions and conditions were looked at, and what they change in the catalog.

use crate::ddl::generated::OwnSequence;
use catalog::{
    CatalogResult, Counting, Draft, Identity, IndexText, NewCheck, NewColumn, NewDefault, NewForeignKey, NewIndex,
    NewKeyPart, Sequence, TableOid,
};
use std::collections::BTreeMap;
use types::{DataType, Datum};

/// An action whose expressions and conditions were looked at.
#[derive(Clone)]
pub(in crate::ddl) enum Step {
    Add {
        column: NewColumn,
        missing: Datum,
    },
    /// A column with a sequence of its own.
    AddOwned(NewColumn, OwnSequence),
    /// Includes columns in indexes, by their oids.
    Include(Vec<u32>, Vec<String>),
    AddCheck(NewCheck),
    AddForeignKey(NewForeignKey),
    Validate(String),
    /// DEFERRABLE? INITIALLY DEFERRED?
    AlterConstraint(String, bool, bool),
    /// With what depends on it?
    DropConstraint(String, bool),
    RenameConstraint(String, String),
    /// Columns, those first that are computed from the others. With what depends on a key that one of them is in?
    Drop(Vec<String>, bool),
    /// An index, whose entries are made with the rows.
    AddIndex(NewIndex),
    /// The index goes, and its columns are the key.
    KeyUsingIndex(u32, Vec<NewKeyPart>, String),
    AddKey(Vec<NewKeyPart>, Option<String>),
    /// To be followed by other storage, unless bytes of values stay. With how the sequence of an identity counts then.
    SetType(String, DataType, Option<(TableOid, Counting)>),
    /// What indexes compute with columns of other types.
    SetIndexTexts(Vec<(u32, Vec<IndexText>)>),
    DropExpression(String),
    /// With the texts of the constraints, indexes and generated columns that name it, with its new name.
    RenameColumn(String, String, RenamedTexts),
    RenameTable(String),
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
        /// The next value.
        restart: Option<i64>,
    },
    SetSchema(String),
    Properties(BTreeMap<String, Option<String>>),
}

impl Step {
    /// The column that it adds.
    pub(in crate::ddl) fn added(&self) -> Option<&NewColumn> {
        match self {
            Self::Add { column, .. } | Self::AddOwned(column, _) => Some(column),
            _ => None,
        }
    }
}

/// The texts that name a column, with its new name.
#[derive(Clone, Default)]
pub(in crate::ddl) struct RenamedTexts {
    /// Of CHECK constraints, by their names.
    pub(in crate::ddl) checks: Vec<(String, String)>,
    /// Of indexes, by their oids.
    pub(in crate::ddl) indexes: Vec<(u32, Vec<IndexText>)>,
    /// Of generated columns, by their names.
    pub(in crate::ddl) generated: Vec<(String, String)>,
    /// The query of a materialized view.
    pub(in crate::ddl) query: Option<String>,
}

/// Returns what else was dropped, kind and name.
pub(in crate::ddl) fn apply(draft: &mut Draft, oid: TableOid, step: Step) -> CatalogResult<Vec<String>> {
    let done = match step {
        Step::DropConstraint(name, cascade) => return draft.drop_constraint(oid, &name, cascade),
        Step::Add { column, missing } => draft.add_column(oid, column, missing).map(drop),
        Step::AddOwned(column, sequence) => sequence.add_column(draft, oid, column),
        Step::Include(indexes, columns) => {
            indexes.iter().try_for_each(|index| draft.include_columns(oid, *index, &columns).map(drop))
        }
        Step::Drop(names, cascade) => return drop_columns(draft, oid, &names, cascade),
        Step::AddIndex(new) => {
            // Its entries are those of the storage that the table takes behind this.
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
        Step::DropExpression(name) => draft.drop_expression(oid, &name).map(drop),
        Step::RenameColumn(from, to, texts) => {
            draft.rename_column(oid, &from, &to)?;
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
        Step::RenameTable(to) => draft.rename_table(oid, &to).map(drop),
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
        Step::SetSchema(schema) => draft.set_schema(oid, &schema).map(drop),
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

/// The last column, and before it those that are computed from it. A key goes with a column that is in it.
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
