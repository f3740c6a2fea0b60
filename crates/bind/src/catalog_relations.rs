//! Computed relations in FROM: system catalogs and sequences.

use crate::binder::Binder;
use crate::error::{BindErrorKind, BindResult};
use crate::from::Source;
use crate::name::fold;
use crate::relations::ComputedRelation;
use crate::scope::{ItemColumns, ScopeItem};
use crate::tree::{ColId, ColInfo, Rel, Span};
use catalog::{DATABASE_NAME, TableOid};
use sql::ast;
use std::sync::Arc;

impl Binder<'_> {
    /// Binds a computed relation: `pg_class`, `information_schema.tables AS t (a, b)`.
    pub(crate) fn computed_in_from(
        &mut self,
        relation: Arc<ComputedRelation>,
        alias: Option<&ast::TableAlias>,
    ) -> BindResult<Source> {
        let name = alias.map_or_else(|| relation.name.clone(), |alias| fold(&alias.name));
        self.remember(&name, Some(&relation.name));
        self.refuse_computed_lock(&name)?;
        let mut columns = self.columns_of(&relation)?;
        let cols = columns.iter().map(|(_, col)| *col).collect();
        if let Some(alias) = alias {
            self.check_renamed(&name, columns.len(), alias.columns.len())?;
            for (column, new) in columns.iter_mut().zip(&alias.columns) {
                column.0 = fold(&new.name);
            }
        }
        let reference = self.computed.len();
        self.computed.push(None);
        // The rows depend on the session.
        self.facts.session_bound = true;
        self.facts.catalogs = true;
        self.facts.volatility = self.facts.volatility.max(builtins::Volatility::Stable);
        let oid = (relation.oid != 0 && alias.is_none()).then_some(TableOid(relation.oid));
        let columns = ItemColumns::Computed { reference, oid: relation.oid, columns };
        let item = ScopeItem::new(Some(name), oid, columns);
        Ok(Source { rel: Rel::Computed { relation, cols, reference, oid: None }, items: vec![item], free: Vec::new() })
    }

    fn columns_of(&mut self, relation: &ComputedRelation) -> BindResult<Vec<(String, ColId)>> {
        let mut columns = Vec::with_capacity(relation.columns.len());
        for column in &relation.columns {
            let (name, ty, nullable) = (column.name.clone(), column.ty, column.nullable);
            let id = self.new_col(ColInfo { name: name.clone(), ty, nullable, origin: None })?;
            columns.push((name, id));
        }
        Ok(columns)
    }

    /// Checks that the database of a qualified name is the only one, `DATABASE_NAME`.
    pub(crate) fn check_database(&self, database: &str, whole: &str, span: Span) -> BindResult<()> {
        match database {
            DATABASE_NAME => Ok(()),
            _ => self.error(BindErrorKind::OtherDatabase { name: whole.to_owned() }, span),
        }
    }
}
