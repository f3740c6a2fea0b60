//! COMMENT ON: finds the object and stores the comment in the catalog.

use super::view::shown;
use crate::Session;
use crate::error::{EngineResult, Fault, fail};
use catalog::{Catalog, CatalogError, CommentTarget, DATABASE_NAME, DATABASE_OID, Table};
use sql::{Comment, Commented, ObjectName, RelationKind};

impl Session {
    pub(super) async fn comment_on(&mut self, comment: &Comment) -> EngineResult<()> {
        let catalog = self.engine.catalog().current();
        if let Commented::Database(name) = &comment.on
            && name != DATABASE_NAME
        {
            // As in PostgreSQL, so that a dump can be restored into a database of another name.
            self.notices.warning("3D000", format!("database \"{name}\" does not exist"));
            return Ok(());
        }
        let target = self.comment_target(&catalog, &comment.on)?;
        self.change_catalog(|draft| draft.set_comment(target, comment.text.as_deref())).await
    }

    fn comment_target(&self, catalog: &Catalog, on: &Commented) -> EngineResult<CommentTarget> {
        let oid = match on {
            Commented::Relation(kind, name) => self.commented_relation(catalog, *kind, name)?,
            Commented::Column { relation, column } => return self.commented_column(catalog, relation, column),
            Commented::Constraint { name, table } => {
                let table = self.resolve(catalog, table)?;
                constraint_oid(&table, name).ok_or_else(|| CatalogError::NoSuchConstraint {
                    table: table.name.clone(),
                    constraint: name.clone(),
                })?
            }
            Commented::Schema(name) => catalog.must_get_schema(name)?.id.0,
            Commented::Database(_) => DATABASE_OID,
        };
        Ok(CommentTarget::object(oid))
    }

    fn commented_relation(&self, catalog: &Catalog, kind: RelationKind, name: &ObjectName) -> EngineResult<u32> {
        let found = match kind {
            RelationKind::Table => return Ok(self.resolve(catalog, name)?.oid.0),
            RelationKind::View => self.find_view(catalog, name)?.map(|view| view.oid.0),
            RelationKind::MaterializedView => self.find_materialized(catalog, name)?.map(|table| table.oid.0),
            RelationKind::Sequence => self.find_sequence(catalog, name)?.map(|sequence| sequence.oid.0),
            RelationKind::Index => match self.key_index(catalog, name) {
                Some(oid) => Some(oid),
                None => self.find_index(catalog, name)?.map(|(_, index)| index.oid),
            },
        };
        match found {
            Some(oid) => Ok(oid),
            None => fail(Fault::NoSuchObject { kind: "relation", name: shown(name) }),
        }
    }

    /// The OID of the primary key's index of that name. The index is the table itself.
    fn key_index(&self, catalog: &Catalog, name: &ObjectName) -> Option<u32> {
        let schemas = self.schemas_of(catalog, name);
        let mut tables = schemas.iter().flat_map(|schema| catalog.tables_in(schema));
        tables.find(|table| table.key_name.as_ref() == Some(&name.name))?.key_oid
    }

    fn commented_column(&self, catalog: &Catalog, name: &ObjectName, column: &str) -> EngineResult<CommentTarget> {
        let is_table = self.schemas_of(catalog, name).iter().find_map(|schema| {
            let table = catalog.table(schema, &name.name).map(|_| true);
            table.or_else(|| catalog.view(schema, &name.name).map(|_| false))
        });
        if is_table == Some(false)
            && let Some(view) = self.find_view(catalog, name)?
        {
            let at = view.columns.iter().position(|it| it.name == column);
            let number = at.and_then(|at| u16::try_from(at + 1).ok());
            let missing = || CatalogError::NoSuchColumn { table: view.name.clone(), column: column.to_string() };
            return Ok(CommentTarget { oid: view.oid.0, column: number.ok_or_else(missing)? });
        }
        let table = self.resolve_stored(catalog, name)?;
        let found = table.visible_columns().find(|it| it.name == column);
        let missing = || CatalogError::NoSuchColumn { table: table.name.clone(), column: column.to_string() };
        Ok(CommentTarget { oid: table.oid.0, column: found.ok_or_else(missing)?.id.0 })
    }
}

fn constraint_oid(table: &Table, name: &str) -> Option<u32> {
    let key = || table.key_constraint_oid().filter(|_| table.key_name.as_deref() == Some(name));
    let check = || table.checks.iter().find(|check| check.name == name).map(|check| check.oid);
    let unique = || table.index(name).and_then(|index| index.constraint);
    let reference = || table.foreign_key(name).map(|key| key.oid);
    key().or_else(check).or_else(unique).or_else(reference)
}
