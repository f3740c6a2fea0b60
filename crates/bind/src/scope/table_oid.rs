//! The system column `tableoid`: the oid of the table that a row belongs to.
//!
//! It is a constant, since tables have no child tables. On the nullable side of an outer join it is NULL where a NOT
//! NULL column of the table is.

use super::{ItemColumns, ScopeItem};
use crate::binder::{Binder, plain};
use crate::error::{BindErrorKind, BindResult};
use crate::tree::{ColInfo, ColRef, Kind, RelId, Scalar, Span};
use builtins::TypeId;
use types::Datum;

/// The name of the column.
pub(super) const TABLE_OID: &str = "tableoid";

impl Binder<'_> {
    /// Finds the innermost relation whose `tableoid` an unqualified name refers to. Two of one query are ambiguous.
    pub(super) fn owner_of_oid(&self) -> BindResult<Option<(usize, usize)>> {
        for (scope_at, scope) in self.scopes.iter().enumerate().rev() {
            let seen = |item: &ScopeItem| (!item.pending || scope.lateral) && is_relation(item);
            let mut found = scope.items.iter().enumerate().filter(|(_, item)| seen(item));
            match (found.next(), found.next()) {
                (Some(_), Some(_)) => {
                    let kind = BindErrorKind::AmbiguousColumn { name: TABLE_OID.to_owned() };
                    return self.error(kind, Span::default());
                }
                (Some((item_at, _)), None) => return Ok(Some((scope_at, item_at))),
                (None, _) => {}
            }
        }
        Ok(None)
    }

    pub(super) fn has_oid(&self, scope: usize, item: usize) -> bool {
        self.scopes.get(scope).and_then(|scope| scope.items.get(item)).is_some_and(is_relation)
    }

    /// Binds `tableoid` without a qualifier.
    pub(super) fn bare_table_oid(&mut self, span: Span) -> BindResult<Scalar> {
        match self.owner_of_oid()? {
            Some((scope, item)) => self.table_oid(scope, item, span),
            None => self.error(BindErrorKind::UndefinedColumn { relation: None, name: TABLE_OID.to_owned() }, span),
        }
    }

    /// Binds `t.tableoid`.
    pub(super) fn table_oid(&mut self, scope: usize, item: usize, span: Span) -> BindResult<Scalar> {
        let found = self.scopes.get(scope).and_then(|scope| scope.items.get(item)).map(|item| item.columns.clone());
        match found {
            Some(ItemColumns::Table { rel, .. }) => self.oid_of_table(rel, (scope, item), span),
            Some(ItemColumns::Computed { reference, .. }) => {
                let known = self.computed.get(reference).copied().flatten();
                let id = match known {
                    Some(id) => id,
                    None => {
                        let ty = plain(TypeId::OID);
                        let info = ColInfo { name: TABLE_OID.to_owned(), ty, nullable: true, origin: None };
                        let id = self.new_col(info)?;
                        if let Some(slot) = self.computed.get_mut(reference) {
                            *slot = Some(id);
                        }
                        id
                    }
                };
                let level = self.level_of(scope)?;
                self.note_read(scope, id);
                Ok(Scalar { kind: Kind::Col(ColRef { id, level }), ty: plain(TypeId::OID), span })
            }
            _ => Err(self.internal("a system column of no relation")),
        }
    }

    fn oid_of_table(&mut self, rel: RelId, place: (usize, usize), span: Span) -> BindResult<Scalar> {
        let scanned = self.scans.get(rel.0 as usize).map(|scanned| (scanned.table.clone(), scanned.nullable));
        let Some((table, nullable)) = scanned else { return Err(self.internal("a system column of no relation")) };
        let ty = plain(TypeId::OID);
        let oid = Scalar { kind: Kind::Const(Datum::Int8(i64::from(table.oid.0))), ty, span };
        if !nullable {
            return Ok(oid);
        }
        let Some(never_null) = table.columns.iter().position(|column| column.not_null) else {
            let feature = format!("tableoid of \"{}\", all of whose columns may be NULL, in an outer join", table.name);
            return self.unsupported_at(feature, span);
        };
        let probe = self.reference((place.0, place.1, never_null), span)?;
        let is_null = Scalar { kind: Kind::IsNull(Box::new(probe)), ty: builtins::Ty::BOOL, span };
        let is_there = Scalar { kind: Kind::Not(Box::new(is_null)), ty: builtins::Ty::BOOL, span };
        Ok(Scalar { kind: Kind::Case { arms: vec![(is_there, oid)], other: None }, ty, span })
    }
}

/// Is it a table or a computed relation, rather than a derived one?
fn is_relation(item: &ScopeItem) -> bool {
    matches!(item.columns, ItemColumns::Table { .. } | ItemColumns::Computed { oid: 1.., .. })
}
