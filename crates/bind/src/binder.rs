//! The state of binding one statement.

use crate::error::{BindError, BindErrorKind, BindResult};
use crate::fixed_constants::SessionConstants;
use crate::position::Lines;
use crate::relation_names::NamedRelation;
use crate::relations::{Environment, Relations};
use crate::scope::{Boundary, CteEntry, Scope, ScopeItem};
use crate::shared_rows;
use crate::tree::{
    Body, Bound, ColId, ColInfo, Cte, CteBody, CteId, Facts, InsertSource, Kind, Needs, NewValue, OnConflict, ParamId,
    Query, Rel, RelId, Scalar, Span,
};
use crate::write::scalars_mut;
use builtins::{Ty, TypeId, Volatility};
use catalog::{ColumnId, Table, ViewRead};
use sql::SourceSpan;
use std::borrow::Cow;
use std::sync::Arc;
use types::Datum;

/// Maximum number of expression nodes that may be copied: copies of nested operands double with each level.
const MAX_COPIED: usize = 4096;
/// Operands of at most this many nodes are not counted: a list may have any number of items, and these cannot grow.
const SMALL: usize = 4;
/// This many bytes of a constant count as one node.
const BYTES_OF_A_PART: usize = 1024;

/// The state of the binder: ids, scopes, parameters and the facts collected so far.
pub(crate) struct Binder<'a> {
    pub(crate) relations: &'a dyn Relations,
    pub(crate) env: &'a Environment<'a>,
    pub(crate) lines: Lines<'a>,
    pub(crate) cols: Vec<ColInfo>,
    pub(crate) params: Vec<Parameter>,
    /// Parameters whose type was still unknown in a context that does not determine it.
    pub(crate) untyped: Vec<(ParamId, Span)>,
    /// Table references, indexed by [`RelId`].
    pub(crate) scans: Vec<Scanned>,
    /// Names and column ids of the fields of a record column, by the record's column.
    pub(crate) records: std::collections::HashMap<ColId, Vec<(String, ColId)>>,
    /// Column ids of `tableoid` of computed relations, by reference number; `None` if nothing reads it.
    pub(crate) computed: Vec<Option<ColId>>,
    next_cte: u32,
    pub(crate) needs: Needs,
    pub(crate) facts: Facts,
    /// Constants that depend on the session, if they are asked for.
    pub(crate) constants: Option<SessionConstants>,
    /// Relations of FROM, if they are asked for.
    pub(crate) named: Option<Vec<NamedRelation>>,
    /// Scopes of the enclosing queries, the innermost last.
    pub(crate) scopes: Vec<Scope>,
    /// FROM items of the query that was bound last: its LIMIT must not reference their columns.
    pub(crate) last_query_items: Vec<ScopeItem>,
    /// CTEs in scope, the innermost last.
    pub(crate) ctes: Vec<CteEntry>,
    /// Enclosing subqueries, the innermost last.
    pub(crate) boundaries: Vec<Boundary>,
    /// Search path of the view being bound.
    pub(crate) path: Option<Vec<String>>,
    /// The relations and columns that the view being bound reads.
    pub(crate) reads: Option<Vec<ViewRead>>,
    pub(crate) view_depth: usize,
    /// Number of expression nodes copied so far.
    copied: usize,
    /// Number of view references bound so far: views that read one another twice double it with each level.
    pub(crate) views: usize,
    /// Number of times a recursive term was bound again.
    pub(crate) retries: usize,
    /// Nesting depth of the expression being bound.
    pub(crate) depth: usize,
    /// May `$n` be used?
    pub(crate) has_parameters: bool,
    /// Locking clauses that apply to the SELECT that is bound next.
    pub(crate) pending_locks: Vec<crate::row_locks::Locking>,
    /// Tables whose rows are locked.
    pub(crate) locked: Vec<crate::row_locks::LockedScan>,
    /// Bound CTEs, in dependency order.
    pub(crate) cte_bodies: Vec<crate::tree::Cte>,
}

/// A parameter `$n`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameter {
    /// `unknown` until a context determines it.
    pub(crate) ty: Ty,
    /// Its first occurrence.
    pub(crate) span: Span,
    /// Is it declared by the client or used in the statement?
    pub(crate) used: bool,
}

/// A reference to a table. Its columns get ids on first use.
#[derive(Clone, Debug)]
pub(crate) struct Scanned {
    pub(crate) table: Arc<Table>,
    /// Column ids by ordinal; `None` for columns that the statement does not read.
    pub(crate) ids: Vec<Option<ColId>>,
    /// Is it on the nullable side of an outer join?
    pub(crate) nullable: bool,
    /// The columns that a stored query may name: those that it reads. Columns that the table got later must not change
    /// the meaning of `*`, NATURAL JOIN and unqualified names.
    pub(crate) recorded: Option<Vec<ColumnId>>,
}

/// A type without modifiers.
pub(crate) fn plain(id: TypeId) -> Ty {
    Ty { id, typmod: -1, digits: None }
}

impl<'a> Binder<'a> {
    pub(crate) fn new(relations: &'a dyn Relations, env: &'a Environment<'a>, declared: &[Option<Ty>]) -> Self {
        let declared = declared.iter().map(|ty| Parameter {
            ty: ty.unwrap_or(plain(TypeId::UNKNOWN)),
            span: Span::default(),
            used: ty.is_some(),
        });
        Self {
            relations,
            env,
            lines: Lines::new(env.text),
            cols: Vec::new(),
            params: declared.collect(),
            untyped: Vec::new(),
            scans: Vec::new(),
            records: std::collections::HashMap::new(),
            computed: Vec::new(),
            next_cte: 0,
            needs: Needs::default(),
            facts: Facts { volatility: Volatility::Immutable, session_bound: false, catalogs: false },
            constants: None,
            named: None,
            scopes: Vec::new(),
            last_query_items: Vec::new(),
            ctes: Vec::new(),
            boundaries: Vec::new(),
            path: None,
            reads: None,
            view_depth: 0,
            copied: 0,
            views: 0,
            retries: 0,
            depth: 0,
            has_parameters: true,
            pending_locks: Vec::new(),
            locked: Vec::new(),
            cte_bodies: Vec::new(),
        }
    }

    /// Returns the bound statement. A parameter without a type is an error.
    pub(crate) fn finish(mut self, mut body: Body) -> BindResult<Bound> {
        for (at, param) in self.params.iter().enumerate() {
            if param.ty.id == TypeId::UNKNOWN {
                let number = u16::try_from(at + 1).unwrap_or(u16::MAX);
                return Err(BindError::new(BindErrorKind::UntypedParameter { number }, param.span));
            }
        }
        if let Some((id, span)) = self.untyped.first() {
            return Err(BindError::new(BindErrorKind::LateParameter { number: id.0 + 1 }, *span));
        }
        if let Body::Query(query) = &mut body {
            shared_rows::share(&mut self, query)?;
        }
        self.fill_scans(&mut body);
        let params = self.params.iter().map(|param| param.ty).collect();
        Ok(Bound { body, cols: self.cols, params, needs: self.needs, facts: self.facts })
    }

    /// Fills in the columns that each scan reads, now that the whole statement is bound.
    fn fill_scans(&self, body: &mut Body) {
        match body {
            Body::Query(query) => self.fill_query(query),
            Body::Insert(insert) => {
                self.fill_target(&mut insert.target);
                match &mut insert.source {
                    InsertSource::Query(query) => self.fill_query(query),
                    InsertSource::Rows(rows) => rows.iter_mut().flatten().for_each(|value| self.fill_value(value)),
                }
                insert.defaults.iter_mut().for_each(|(_, value)| self.fill_value(value));
                if let OnConflict::Update { set, filter, .. } = &mut insert.action {
                    set.iter_mut().for_each(|(_, value)| self.fill_value(value));
                    filter.iter_mut().for_each(|value| self.fill_subqueries(value));
                }
                insert.returning.iter_mut().for_each(|(_, value)| self.fill_subqueries(value));
                self.fill_ctes(&mut insert.ctes);
            }
            Body::Update(update) | Body::Delete(update) => {
                self.fill_target(&mut update.target);
                self.fill_query(&mut update.source);
                update.set.iter_mut().for_each(|(_, value)| self.fill_value(value));
                update.own.iter_mut().flatten().for_each(|value| self.fill_subqueries(value));
                update.returning.iter_mut().for_each(|(_, value)| self.fill_subqueries(value));
            }
            Body::Lock(locked) => {
                self.fill_query(&mut locked.query);
                for count in [&mut locked.limit, &mut locked.offset].into_iter().flatten() {
                    self.fill_subqueries(count);
                }
            }
            Body::Exprs(values) => values.iter_mut().for_each(|value| self.fill_subqueries(value)),
        }
    }

    fn fill_query(&self, query: &mut Query) {
        self.fill_ctes(&mut query.ctes);
        self.fill(&mut query.rel);
    }

    fn fill_ctes(&self, ctes: &mut [Cte]) {
        for cte in ctes {
            match &mut cte.body {
                CteBody::Inline(rel) | CteBody::Either(rel) | CteBody::Materialized(rel) => self.fill(rel),
                CteBody::Recursive { base, step, .. } => {
                    self.fill(base);
                    self.fill(step);
                }
            }
        }
    }

    fn fill_value(&self, value: &mut NewValue) {
        for scalar in scalars_mut(value) {
            self.fill_subqueries(scalar);
        }
    }

    fn fill(&self, rel: &mut Rel) {
        if let Rel::Scan { rel: id, cols, .. } = rel
            && let Some(scanned) = self.scans.get(id.0 as usize)
        {
            let used = scanned.ids.iter().enumerate().filter_map(|(at, id)| id.map(|id| (at, id)));
            *cols = used.collect();
        }
        if let Rel::Computed { reference, oid, .. } = rel {
            *oid = self.computed.get(*reference).copied().flatten();
        }
        rel.each_scalar_mut(&mut |value| self.fill_subqueries(value));
        rel.each_input_mut(&mut |input| self.fill(input));
    }

    fn fill_subqueries(&self, value: &mut Scalar) {
        if let Kind::Subquery(subquery) = &mut value.kind {
            self.fill(&mut subquery.rel);
        }
        value.each_operand_mut(&mut |operand| self.fill_subqueries(operand));
    }

    pub(crate) fn new_col(&mut self, info: ColInfo) -> BindResult<ColId> {
        let id = ColId::at(self.cols.len());
        self.cols.push(info);
        id.ok_or_else(|| BindError::new(BindErrorKind::TooManyColumns, Span::default()))
    }

    /// Adds a column for a computed expression.
    pub(crate) fn computed(&mut self, name: &str, value: &Scalar) -> BindResult<ColId> {
        let nullable = self.is_nullable(value);
        self.new_col(ColInfo { name: name.to_owned(), ty: value.ty, nullable, origin: None })
    }

    fn is_nullable(&self, value: &Scalar) -> bool {
        match &value.kind {
            Kind::Const(value) => value.is_null(),
            Kind::Col(col) => self.cols.get(col.id.index()).is_none_or(|info| info.nullable),
            Kind::IsNull(_) | Kind::Is { .. } | Kind::Distinct { .. } | Kind::Session(_) => false,
            _ => true,
        }
    }

    pub(crate) fn new_rel(&mut self, table: Arc<Table>) -> RelId {
        let recorded = match &self.reads {
            Some(reads) => reads.iter().find(|read| read.relation == table.oid).map(|read| read.columns.clone()),
            None => self.relations.recorded_columns(table.oid).map(<[ColumnId]>::to_vec),
        };
        let id = RelId(u32::try_from(self.scans.len()).unwrap_or(u32::MAX));
        let ids = vec![None; table.columns.len()];
        self.scans.push(Scanned { table, ids, nullable: false, recorded });
        id
    }

    pub(crate) fn new_cte(&mut self) -> CteId {
        self.next_cte += 1;
        CteId(self.next_cte - 1)
    }

    /// Returns the column id of a table's column, and adds the column on first use.
    pub(crate) fn table_col(&mut self, rel: RelId, ordinal: usize) -> BindResult<ColId> {
        let missing = || BindError::new(BindErrorKind::TooManyColumns, Span::default());
        let scanned = self.scans.get(rel.0 as usize).ok_or_else(missing)?;
        if let Some(id) = scanned.ids.get(ordinal).copied().flatten() {
            return Ok(id);
        }
        let column = scanned.table.columns.get(ordinal).ok_or_else(missing)?;
        let ty = Ty::of(&column.ty);
        let nullable = scanned.nullable || !column.not_null;
        let number = i16::try_from(column.id.0).unwrap_or_default();
        let (oid, name) = (scanned.table.oid, column.name.clone());
        let id = self.new_col(ColInfo { name, ty, nullable, origin: Some((oid, number)) })?;
        if let Some(slot) = self.scans.get_mut(rel.0 as usize).and_then(|scanned| scanned.ids.get_mut(ordinal)) {
            *slot = Some(id);
        }
        self.needs.relations.entry(oid).or_default().selected.insert(ordinal);
        Ok(id)
    }

    /// Returns the parameter as an expression; `span` is where it occurs.
    pub(crate) fn parameter(&mut self, number: u16, span: Span) -> BindResult<Scalar> {
        if !self.has_parameters {
            return self.error(BindErrorKind::NoParameter { number }, span);
        }
        let at = usize::from(number).saturating_sub(1);
        while self.params.len() <= at {
            self.params.push(Parameter { ty: plain(TypeId::UNKNOWN), span: Span::default(), used: false });
        }
        let Some(param) = self.params.get_mut(at) else { return Err(self.internal("a parameter without a place")) };
        if !param.used || param.span.is_empty() {
            (param.used, param.span) = (true, span);
        }
        let id = u16::try_from(at).unwrap_or(u16::MAX);
        Ok(Scalar { kind: Kind::Param(ParamId(id)), ty: param.ty, span })
    }

    /// Copies an operand that the bound tree needs twice, within the limit on copies.
    pub(crate) fn copy(&mut self, value: &Scalar) -> BindResult<Scalar> {
        let parts = parts_of(value);
        if parts > SMALL {
            self.copied = self.copied.saturating_add(parts);
        }
        if self.copied > MAX_COPIED {
            return self.error(BindErrorKind::TooManyCopies { limit: MAX_COPIED }, value.span);
        }
        Ok(value.clone())
    }

    pub(crate) fn span(&self, place: SourceSpan) -> Span {
        self.lines.span(place)
    }

    /// Returns an internal error, which no statement should cause.
    pub(crate) fn internal(&self, what: impl Into<Cow<'static, str>>) -> BindError {
        BindError::new(BindErrorKind::Internal { what: what.into() }, Span::default())
    }

    /// Returns 0A000 for a feature that Bennu does not have.
    pub(crate) fn unsupported<T>(&self, feature: impl Into<Cow<'static, str>>) -> BindResult<T> {
        self.error(BindErrorKind::Unsupported { feature: feature.into() }, Span::default())
    }

    /// As [`Self::unsupported`], with a position.
    pub(crate) fn unsupported_at<T>(&self, feature: impl Into<Cow<'static, str>>, span: Span) -> BindResult<T> {
        self.error(BindErrorKind::Unsupported { feature: feature.into() }, span)
    }

    pub(crate) fn error<T>(&self, kind: BindErrorKind, span: Span) -> BindResult<T> {
        Err(BindError::new(kind, span))
    }
}

/// Returns the number of nodes of an expression. A subquery counts as more than `SMALL`.
fn parts_of(value: &Scalar) -> usize {
    let mut parts = match &value.kind {
        Kind::Const(Datum::Text(text)) => 1 + text.len() / BYTES_OF_A_PART,
        Kind::Const(Datum::Bytes(bytes)) => 1 + bytes.len() / BYTES_OF_A_PART,
        Kind::Const(Datum::Array(items)) => 1 + items.len() * size_of::<Datum>() / BYTES_OF_A_PART,
        Kind::Subquery(_) => 1 + SMALL,
        _ => 1,
    };
    value.each_operand(&mut |operand| parts = parts.saturating_add(parts_of(operand)));
    parts
}
