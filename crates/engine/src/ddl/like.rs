//! LIKE in CREATE TABLE: copies the columns of another relation, and what INCLUDING names.

use super::index::schedule;
use crate::error::{EngineResult, Fault, fail};
use crate::{Engine, Session};
use catalog::{
    Catalog, CatalogResult, CommentTarget, Draft, Identity, Index, IndexExpr, IndexRefresh, JobRecord, NewIndex,
    NewIndexExpr, NewIndexPart, NewPartOf, PartOf, Table, TableOid, sequence_reference,
};
use sql::{
    CheckDef, ColumnDef, CreateTable, Generated, KeyPartDef, LikeOption, PrimaryKeyDef, SequenceOptions, TableLike,
    WrittenExpr,
};
use std::sync::Arc;

/// What LIKE copies besides columns and constraints: indexes and comments.
#[derive(Default)]
pub(super) struct Copied {
    /// Indexes with their comments.
    indexes: Vec<(NewIndex, Option<String>)>,
    /// Comments of columns, by column name.
    columns: Vec<(String, String)>,
    /// Comments of CHECK constraints, by constraint name.
    checks: Vec<(String, String)>,
}

impl Session {
    /// Replaces each LIKE of the statement by columns and constraints.
    ///
    /// # Errors
    /// 42P01, 42P16 for a second primary key.
    pub(super) fn expand_likes(&self, create: &CreateTable) -> EngineResult<(CreateTable, Copied)> {
        let (mut whole, mut copied) = (create.clone(), Copied::default());
        let catalog = self.engine.catalog().current();
        let mut added = 0;
        for like in std::mem::take(&mut whole.likes) {
            let at = (like.at + added).min(whole.columns.len());
            let columns = match self.view_columns(&catalog, &like) {
                Some(columns) => columns,
                None => {
                    let table = self.resolve_stored(&catalog, &like.source)?;
                    copy_constraints(&catalog, &table, &like, &mut whole, &mut copied)?;
                    table
                        .visible_columns()
                        .map(|column| column_of(&catalog, &table, column, &like))
                        .collect::<EngineResult<_>>()?
                }
            };
            added += columns.len();
            whole.columns.splice(at..at, columns);
        }
        Ok((whole, copied))
    }

    /// The columns of a view; `None` if the name is not a view's.
    fn view_columns(&self, catalog: &Catalog, like: &TableLike) -> Option<Vec<ColumnDef>> {
        let schemas = self.schemas_of(catalog, &like.source);
        let first = schemas.iter().find(|schema| {
            catalog.table(schema, &like.source.name).is_some() || catalog.view(schema, &like.source.name).is_some()
        })?;
        let view = catalog.view(first, &like.source.name)?;
        Some(view.columns.iter().map(|column| plain(&column.name, column.ty)).collect())
    }
}

impl Copied {
    /// Creates the indexes and the comments of a new table. Returns the refresh jobs of its indexes.
    pub(super) fn apply(
        self,
        engine: &Arc<Engine>,
        draft: &mut Draft,
        table: TableOid,
    ) -> CatalogResult<Vec<JobRecord>> {
        let mut jobs = Vec::new();
        for (new, comment) in self.indexes {
            let every = new.refresh.and_then(|refresh| refresh.every);
            let refreshed = new.refresh.is_some();
            // The new table has no rows to build the index from.
            let prepared = draft.prepare_index(table, new)?;
            draft.publish_index(&prepared)?;
            if refreshed {
                let job = every.map(|_| engine.refreshing_job(draft, prepared.table(), prepared.index()));
                jobs.extend(schedule(draft, (table, prepared.index().oid), engine.now(), job)?);
            }
            if comment.is_some() {
                draft.set_comment(CommentTarget::object(prepared.index().oid), comment.as_deref())?;
            }
        }
        let made = draft.table(table)?;
        for (name, text) in &self.columns {
            let column = made.must_get_column(name)?.id.0;
            draft.set_comment(CommentTarget { oid: table.0, column }, Some(text))?;
        }
        for (name, text) in &self.checks {
            if let Some(check) = made.check(name) {
                draft.set_comment(CommentTarget::object(check.oid), Some(text))?;
            }
        }
        Ok(jobs)
    }
}

fn plain(name: &str, data_type: types::DataType) -> ColumnDef {
    ColumnDef {
        family: None,
        name: name.to_string(),
        data_type,
        null: false,
        not_null: false,
        default: None,
        generated: None,
        computed: None,
        checks: Vec::new(),
        uniques: Vec::new(),
        foreign_keys: Vec::new(),
    }
}

fn column_of(
    catalog: &Catalog,
    table: &Arc<Table>,
    column: &catalog::Column,
    like: &TableLike,
) -> EngineResult<ColumnDef> {
    let includes = |option| like.including.contains(&option);
    let expression = || -> EngineResult<Option<WrittenExpr>> {
        let Some(mut text) = column.default.clone() else { return Ok(None) };
        // The sequence may have another name by now, and another sequence its name.
        if let Some(sequence) = column.sequence {
            text = format!("nextval({})", sequence_reference(sequence));
        }
        Ok(Some(WrittenExpr { expr: sql::parse_expr(&text)?, text }))
    };
    let mut def = plain(&column.name, column.ty);
    (def.family, def.not_null) = (column.family.clone(), column.not_null);
    def.null = !column.not_null && table.key_position(column.id).is_some() && includes(LikeOption::Indexes);
    match (column.generated.is_some(), column.identity) {
        (true, _) if includes(LikeOption::Generated) => def.computed = expression()?,
        (false, Some(identity)) if includes(LikeOption::Identity) => {
            let sequence = column.sequence.and_then(|oid| catalog.sequence_by_oid(oid));
            let options = sequence.map_or_else(SequenceOptions::default, |it| SequenceOptions {
                increment: Some(it.increment),
                min: Some(Some(it.min)),
                max: Some(Some(it.max)),
                start: Some(it.start),
                cycle: Some(it.cycle),
                ..SequenceOptions::default()
            });
            def.generated =
                Some(Generated::Identity { always: identity == Identity::Always, options: Box::new(options) });
        }
        (false, None) if includes(LikeOption::Defaults) => def.default = expression()?,
        _ => {}
    }
    Ok(def)
}

fn copy_constraints(
    catalog: &Catalog,
    table: &Arc<Table>,
    like: &TableLike,
    whole: &mut CreateTable,
    copied: &mut Copied,
) -> EngineResult<()> {
    let includes = |option| like.including.contains(&option);
    let comment = |oid: u32, column: u16| {
        let text = catalog.comment(CommentTarget { oid, column });
        text.filter(|_| includes(LikeOption::Comments)).map(str::to_string)
    };
    for column in table.visible_columns() {
        copied.columns.extend(comment(table.oid.0, column.id.0).map(|text| (column.name.clone(), text)));
    }
    if includes(LikeOption::Constraints) {
        for check in &table.checks {
            let (expr, text) = (sql::parse_expr(&check.text)?, check.text.clone());
            whole.checks.push(CheckDef { name: Some(check.name.clone()), expr, text, not_valid: false });
            copied.checks.extend(comment(check.oid, 0).map(|text| (check.name.clone(), text)));
        }
    }
    if !includes(LikeOption::Indexes) {
        return Ok(());
    }
    if !table.has_hidden_row_id() {
        if whole.key.is_some() {
            let message = format!("multiple primary keys for table \"{}\" are not allowed", whole.name.name);
            return fail(Fault::InvalidDefinition { message });
        }
        let part = |part: &catalog::KeyColumn| {
            let column = table.column(part.column)?.name.clone();
            Some(KeyPartDef { column, descending: part.descending, nulls_first: Some(part.nulls_first) })
        };
        let parts = table.key.iter().filter_map(part).collect();
        whole.key = Some(PrimaryKeyDef { parts, ..PrimaryKeyDef::default() });
    }
    copied.indexes.extend(table.indexes.iter().map(|index| (new_index(table, index), comment(index.oid, 0))));
    Ok(())
}

/// The definition of the index for the new table, with a generated name.
fn new_index(table: &Table, index: &Index) -> NewIndex {
    let name = |id| table.column(id).map(|column| column.name.clone());
    let expression = |expression: &IndexExpr| NewIndexExpr {
        text: expression.text.clone(),
        name: expression.name.clone(),
        ty: expression.ty,
        columns: expression.columns.iter().filter_map(|id| name(*id)).collect(),
        shown: expression.shown.clone(),
    };
    let part = |part: &catalog::IndexPart| {
        let of = match &part.of {
            PartOf::Column(id) => NewPartOf::Column(name(*id)?),
            PartOf::Expression(of) => NewPartOf::Expression(expression(of)),
        };
        Some(NewIndexPart { of, descending: part.descending, nulls_first: part.nulls_first })
    };
    NewIndex {
        name: None,
        unique: index.unique,
        nulls_not_distinct: index.nulls_not_distinct,
        constraint: index.constraint.is_some(),
        primary: index.primary,
        parts: index.parts.iter().filter_map(part).collect(),
        include: index.include.iter().filter_map(|id| name(*id)).collect(),
        salt_buckets: index.salt_buckets.filter(|_| !index.local),
        local: index.local,
        predicate: index.predicate.as_ref().map(expression),
        deferrable: index.deferrable,
        deferred: index.deferred,
        refresh: index.refresh.map(|refresh| IndexRefresh { job: None, ..refresh }),
        ..NewIndex::default()
    }
}
