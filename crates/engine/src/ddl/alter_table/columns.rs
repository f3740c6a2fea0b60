//! ALTER TABLE … ADD, ALTER, DROP and RENAME COLUMN.

use super::step::{RenamedTexts, Step};
use crate::Session;
use crate::ddl::check::renamed_texts;
use crate::ddl::check_default;
use crate::ddl::computed::renamed_expressions;
use crate::ddl::create_table::new_column;
use crate::ddl::generated::OwnSequence;
use crate::ddl::index::renamed_index_texts;
use crate::ddl::rewrite::Rewrite;
use crate::ddl::view_queries::NewName;
use crate::dml::RowTable;
use crate::error::{EngineError, EngineResult, Fault, fail};
use bind::AssignedTo;
use catalog::{Draft, Table, ViewQuery};
use sql::{ColumnDef, WrittenExpr};
use types::Datum;

impl Session {
    /// ADD COLUMN. `None` if the column exists and IF NOT EXISTS is given.
    pub(super) async fn added_column(
        &mut self,
        table: &Table,
        def: &ColumnDef,
        if_not_exists: bool,
        rewrite: &mut Rewrite,
    ) -> EngineResult<Option<Step>> {
        if if_not_exists && table.column_by_name(&def.name).is_some() {
            let what = format!("column \"{}\" of relation \"{}\" already exists", def.name, table.name);
            self.skipped("42701", &what);
            return Ok(None);
        }
        self.add_column(table, def, rewrite).await.map(Some)
    }

    /// Adds a column. Existing rows read its constant default from the catalog and are not rewritten, unless each row
    /// needs a value of its own.
    async fn add_column(&mut self, table: &Table, def: &ColumnDef, rewrite: &mut Rewrite) -> EngineResult<Step> {
        let schema = self.engine.catalog().current().schema_name(table).to_string();
        if let Some(sequence) = OwnSequence::of(def, &schema)? {
            if self.has_row(table, None).await? {
                rewrite.number(&def.name, None);
            }
            return Ok(Step::AddOwned(new_column(def), sequence));
        }
        if def.computed.is_some() {
            let columns = table.visible_columns().map(|column| (column.name.clone(), column.ty)).collect();
            let row = RowTable { name: table.name.clone(), columns };
            let computed = table.columns.iter().filter(|column| column.generated.is_some());
            let computed: Vec<String> = computed.map(|column| column.name.clone()).collect();
            let mut column = new_column(def);
            self.compute_columns(&row, std::iter::once(def), &computed, std::slice::from_mut(&mut column)).await?;
            rewrite.needed |= self.has_row(table, None).await?;
            return Ok(Step::Add { column, missing: Datum::Null });
        }
        if let Some(step) = self.add_with_values(table, def, rewrite).await? {
            return Ok(step);
        }
        let missing = match &def.default {
            None => Datum::Null,
            Some(default) => self.evaluate_default(&default.expr, &def.name, def.data_type).await?,
        };
        if def.not_null && matches!(missing, Datum::Null) && self.has_row(table, None).await? {
            return Err(self.contains_nulls(table, &def.name).into());
        }
        Ok(Step::Add { column: self.new_column(def)?, missing })
    }

    /// Adds a column whose default differs from row to row: a sequence's next value or a volatile expression. `None`
    /// for any other default.
    async fn add_with_values(
        &mut self,
        table: &Table,
        def: &ColumnDef,
        rewrite: &mut Rewrite,
    ) -> EngineResult<Option<Step>> {
        let Some(default) = &def.default else { return Ok(None) };
        check_default(self, Some(default), &def.name, def.data_type).await?;
        let column = self.new_column(def)?;
        let volatile = self.is_volatile(&default.expr, AssignedTo { ty: def.data_type, column: Some(&def.name) })?;
        if column.sequence.is_none() && !volatile {
            return Ok(None);
        }
        if self.has_row(table, None).await? {
            match column.sequence {
                Some(sequence) => rewrite.number(&def.name, Some(sequence)),
                None => rewrite.compute(&def.name, &default.text),
            }
        }
        Ok(Some(Step::Add { column, missing: Datum::Null }))
    }

    /// DROP COLUMN. `None` if the column does not exist and IF EXISTS is given.
    pub(super) fn dropped_column(
        &mut self,
        table: &Table,
        name: &str,
        (if_exists, cascade): (bool, bool),
        rewrite: &mut Rewrite,
    ) -> Option<Step> {
        let found = table.column_by_name(name);
        if if_exists && found.is_none() {
            let what = format!("column \"{name}\" of relation \"{}\" does not exist", table.name);
            self.skipped("00000", &what);
            return None;
        }
        let mut names = vec![name.to_string()];
        if let (true, Some(found)) = (cascade, found) {
            let from = |it: &&catalog::Column| it.generated.as_ref().is_some_and(|of| of.contains(&found.id));
            names.splice(0..0, table.columns.iter().filter(from).map(|it| it.name.clone()));
        }
        if found.is_some_and(|it| !it.hidden && table.key_position(it.id).is_some()) {
            // Dropping a key column drops the primary key.
            (rewrite.needed, rewrite.drops_key) = (true, true);
        }
        Some(Step::Drop(names, cascade))
    }

    /// RENAME COLUMN: also rewrites the expressions that reference the column, and the queries of views that read it.
    pub(super) fn renamed_column(&self, table: &Table, from: &str, to: &str) -> EngineResult<Step> {
        let texts = RenamedTexts {
            checks: renamed_texts(table, from, to)?,
            indexes: renamed_index_texts(table, from, to)?,
            generated: renamed_expressions(table, from, to)?,
            query: None,
            views: self.views_with_column(table, from, to)?,
        };
        Ok(Step::RenameColumn(from.to_string(), to.to_string(), texts))
    }

    /// The queries of the views that read a column, with its new name.
    pub(in crate::ddl) fn views_with_column(
        &self,
        table: &Table,
        from: &str,
        to: &str,
    ) -> EngineResult<Vec<ViewQuery>> {
        let Some(column) = table.column_by_name(from) else { return Ok(Vec::new()) };
        let rename =
            |draft: &mut Draft, queries: &[ViewQuery]| draft.rename_column(table.oid, from, to, queries).map(drop);
        self.following_queries(table.oid, NewName::Column(column.id, to), rename)
    }

    /// DROP EXPRESSION. `None` if the column is not generated and IF EXISTS is given.
    pub(super) fn dropped_expression(
        &mut self,
        table: &Table,
        column: &str,
        if_exists: bool,
    ) -> EngineResult<Option<Step>> {
        if table.must_get_column(column)?.generated.is_some() {
            return Ok(Some(Step::DropExpression(column.to_string())));
        }
        let what = format!("column \"{column}\" of relation \"{}\" is not a stored generated column", table.name);
        self.skipped_if(if_exists, what)
    }

    /// Reports `what` as a NOTICE with IF EXISTS, as an error without.
    pub(super) fn skipped_if(&mut self, if_exists: bool, what: String) -> EngineResult<Option<Step>> {
        if !if_exists {
            return fail(Fault::Refused { message: what });
        }
        self.skipped("00000", &what);
        Ok(None)
    }

    pub(super) async fn new_default(
        &mut self,
        table: &Table,
        column: &str,
        default: Option<&WrittenExpr>,
    ) -> EngineResult<Step> {
        refuse_default(table, column, default.is_none())?;
        let Some(default) = default else { return Ok(Step::SetDefault(column.to_string(), None)) };
        let ty = table.must_get_column(column)?.ty;
        check_default(self, Some(default), column, ty).await?;
        let default = self.stored_default(default, AssignedTo { ty, column: Some(column) })?;
        Ok(Step::SetDefault(column.to_string(), Some(default)))
    }

    /// 23502 for existing rows with NULL.
    pub(in crate::ddl) fn contains_nulls(&self, table: &Table, column: &str) -> Fault {
        let schema = self.engine.catalog().current().schema_name(table).to_string();
        Fault::ContainsNulls { schema, table: table.name.clone(), column: column.to_string() }
    }

    /// SET NOT NULL. `old` is the current table, `now` the table after the preceding actions.
    pub(super) async fn set_not_null(
        &mut self,
        (old, now): (&Table, &Table),
        name: &str,
        rewrite: &Rewrite,
    ) -> EngineResult<Step> {
        let column = now.must_get_column(name)?;
        let null = match old.column(column.id) {
            // The rewrite checks the new values.
            _ if rewrite.fills(column) => false,
            Some(old_column) => self.has_row(old, Some(&old_column.name)).await?,
            None => column.missing.is_null() && self.has_row(old, None).await?,
        };
        match null {
            true => Err(self.contains_nulls(old, name).into()),
            false => Ok(Step::SetNotNull(name.to_string())),
        }
    }

    /// Whether the table has a row, or a row with NULL in `null_column`.
    pub(in crate::ddl) async fn has_row(&mut self, table: &Table, null_column: Option<&str>) -> EngineResult<bool> {
        let catalog = self.engine.catalog().current();
        let quote = types::ident::quote;
        let mut text = format!("SELECT 1 FROM {}.{}", quote(catalog.schema_name(table)), quote(&table.name));
        if let Some(column) = null_column {
            text.push_str(&format!(" WHERE {} IS NULL", quote(column)));
        }
        text.push_str(" LIMIT 1");
        Ok(!self.own_query(&text).await?.is_empty())
    }
}

/// Returns 42601 for the default of a generated or identity column.
fn refuse_default(table: &Table, name: &str, drops: bool) -> EngineResult<()> {
    let column = table.must_get_column(name)?;
    let (kind, instead) = match (column.identity, &column.generated) {
        (Some(_), _) => ("an identity column", "DROP IDENTITY"),
        (None, Some(_)) => ("a generated column", "DROP EXPRESSION"),
        (None, None) => return Ok(()),
    };
    let error = EngineError::from(Fault::Invalid { message: is_a(table, name, kind) });
    Err(match drops {
        true => error.with_hint(format!("Use ALTER TABLE ... ALTER COLUMN ... {instead} instead.")),
        false => error,
    })
}

/// DROP NOT NULL. 42601 for an identity column.
pub(super) fn dropped_not_null(table: &Table, name: &str) -> EngineResult<Step> {
    match table.must_get_column(name)?.identity {
        Some(_) => fail(Fault::Invalid { message: is_a(table, name, "an identity column") }),
        None => Ok(Step::DropNotNull(name.to_string())),
    }
}

fn is_a(table: &Table, column: &str, kind: &str) -> String {
    format!("column \"{column}\" of relation \"{}\" is {kind}", table.name)
}
