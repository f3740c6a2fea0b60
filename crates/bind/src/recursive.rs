//! WITH RECURSIVE: a first term, and a second one over the rows found last.
//!
//! ```text
//!   WITH RECURSIVE r (n) AS (base UNION [ALL] step)
//!     base ──> columns of r ──> step reads them, once and in its FROM ──> rows of the same types
//! ```

use crate::binder::Binder;
use crate::coerce::{name_of, with_digits};
use crate::error::{BindError, BindErrorKind, BindResult};
use crate::name::fold;
use crate::scope::{Boundary, CteEntry, CteState};
use crate::select::Selected;
use crate::tree::{CastContext, ColId, ColInfo, Cte, CteBody, CteId, Rel, Scalar};
use builtins::resolve::common_type;
use builtins::{Ty, TypeId, Volatility};
use sql::ast;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// A recursive query with its name in the statement and its columns.
type NamedCte = (CteId, Vec<(String, ColId)>, CteBody);

/// Second terms of a statement that are bound again with other digits, at most.
const MOST_RETRIES: usize = 16;

/// The two terms of a recursive query.
struct Terms<'q> {
    base: &'q ast::SetExpr,
    step: &'q ast::SetExpr,
    distinct: bool,
}

/// The first term.
struct Base {
    rel: Rel,
    /// Columns of the query, and what the first term makes of them.
    exprs: Vec<(ColId, Scalar)>,
    columns: Vec<(String, ColId)>,
}

impl Binder<'_> {
    /// Queries of WITH RECURSIVE: each has a name from the first on, which those that are not bound yet cannot be read by.
    pub(crate) fn with_recursive(&mut self, with: &ast::With) -> BindResult<()> {
        let first = self.ctes.len();
        for cte in &with.cte_tables {
            let name = fold(&cte.alias.name);
            self.check_cte_name(first, &name, cte)?;
            let id = self.new_cte();
            self.ctes.push(CteEntry { name, id, columns: Vec::new(), state: CteState::NotYet });
        }
        for (at, cte) in with.cte_tables.iter().enumerate() {
            let name = fold(&cte.alias.name);
            let entry = match terms_of(cte, &name) {
                Some(terms) => self.recursive_cte(cte, &terms, first + at)?,
                None => self.cte(cte, name)?,
            };
            if let Some(slot) = self.ctes.get_mut(first + at) {
                *slot = entry;
            }
        }
        Ok(())
    }

    fn recursive_cte(&mut self, cte: &ast::Cte, terms: &Terms<'_>, place: usize) -> BindResult<CteEntry> {
        let volatility = std::mem::replace(&mut self.facts.volatility, Volatility::Immutable);
        self.boundaries.push(Boundary { depth: self.scopes.len(), free: BTreeMap::new() });
        let bound = self.terms(cte, terms, place);
        let free = self.boundaries.pop().map(|boundary| boundary.free).unwrap_or_default();
        let own = std::mem::replace(&mut self.facts.volatility, volatility);
        self.facts.volatility = volatility.max(own);
        let (id, columns, body) = bound?;
        if !free.is_empty() {
            return Err(self.not_built("a query of WITH that reads columns from outside"));
        }
        if own == Volatility::Volatile {
            return Err(self.not_built("a recursive query that is volatile"));
        }
        self.cte_bodies.push(Cte { id, cols: columns.iter().map(|(_, col)| *col).collect(), body });
        Ok(CteEntry { name: fold(&cte.alias.name), id, columns, state: CteState::Ready })
    }

    fn terms(&mut self, cte: &ast::Cte, terms: &Terms<'_>, place: usize) -> BindResult<NamedCte> {
        let Some(id) = self.ctes.get(place).map(|entry| entry.id) else {
            return Err(self.not_built("a query of WITH"));
        };
        let mut base = self.base(cte, terms.base)?;
        let (step, exprs) = self.step(cte, terms, place, &mut base)?;
        let step_cols = exprs.iter().map(|(col, _)| *col).collect();
        let body = CteBody::Recursive {
            base: Rel::Project { input: Box::new(base.rel), exprs: base.exprs },
            step: Rel::Project { input: Box::new(step), exprs },
            step_cols,
            distinct: terms.distinct,
        };
        Ok((id, base.columns, body))
    }

    fn base(&mut self, cte: &ast::Cte, term: &ast::SetExpr) -> BindResult<Base> {
        let Selected { rel, outputs } = self.operand(term)?;
        let (mut exprs, mut columns) = (Vec::with_capacity(outputs.len()), Vec::with_capacity(outputs.len()));
        for (name, value) in outputs {
            let value = self.output_type(value)?;
            let info = ColInfo { name: name.clone(), ty: value.ty, nullable: true, origin: None };
            let col = self.new_col(info)?;
            exprs.push((col, value));
            columns.push((name, col));
        }
        self.name_cte_columns(cte, &mut columns)?;
        Ok(Base { rel, exprs, columns })
    }

    /// The second term with a value for each column. Numerics that it makes with other digits have none of their own in
    /// all of the query, which it is bound again for.
    fn step(
        &mut self,
        cte: &ast::Cte,
        terms: &Terms<'_>,
        place: usize,
        base: &mut Base,
    ) -> BindResult<(Rel, Vec<(ColId, Scalar)>)> {
        let mut selected = self.second_term(terms, place, base)?;
        let widened = self.check_types(cte, terms, &selected, base)?;
        if !widened.is_empty() {
            self.retries += 1;
            if self.retries > MOST_RETRIES {
                return Err(self.not_built("so many recursive queries of numerics"));
            }
            for at in widened {
                self.free_digits(at, base);
            }
            selected = self.second_term(terms, place, base)?;
            self.check_types(cte, terms, &selected, base)?;
        }
        let mut exprs = Vec::with_capacity(base.columns.len());
        for ((_, value), (name, col)) in selected.outputs.into_iter().zip(&base.columns) {
            let wanted = self.col_ty(*col);
            let value = self.coerce(value, wanted, CastContext::Implicit)?;
            let value = if value.ty.digits == wanted.digits { value } else { with_digits(value, wanted.digits) };
            exprs.push((self.computed(name, &value)?, value));
        }
        Ok((selected.rel, exprs))
    }

    fn second_term(&mut self, terms: &Terms<'_>, place: usize, base: &Base) -> BindResult<Selected> {
        let boundaries = self.boundaries.len();
        let Some(entry) = self.ctes.get_mut(place) else { return Err(self.not_built("a query of WITH")) };
        entry.columns.clone_from(&base.columns);
        entry.state = CteState::Working { boundaries, is_read: false };
        let id = entry.id;
        let selected = self.operand(terms.step)?;
        let is_read =
            matches!(self.ctes.get(place).map(|entry| &entry.state), Some(CteState::Working { is_read: true, .. }));
        if !is_read || !is_row_by_row(&selected.rel, id) {
            return Err(self.not_built("this form of recursive query"));
        }
        Ok(selected)
    }

    /// The second term has the types of the first one. Also tells the numerics whose digits differ.
    fn check_types(
        &mut self,
        cte: &ast::Cte,
        terms: &Terms<'_>,
        step: &Selected,
        base: &Base,
    ) -> BindResult<Vec<usize>> {
        if step.outputs.len() != base.columns.len() {
            return self.error(BindErrorKind::UnequalColumns { op: "UNION" }, Default::default());
        }
        let mut widened = Vec::new();
        for (at, ((_, value), (_, col))) in step.outputs.iter().zip(&base.columns).enumerate() {
            let first = self.col_ty(*col);
            let Ok(common) = common_type(&[first, value.ty]) else {
                let (left, right) = (name_of(first), name_of(value.ty));
                return self.error(BindErrorKind::NoCommonType { what: "UNION", left, right }, value.span);
            };
            if common.id != first.id {
                let (name, column) = (fold(&cte.alias.name), at + 1);
                let (first, all) = (first.sql_name(), name_of(common));
                let kind = BindErrorKind::RecursiveType { name, column, first, all };
                let hint = "Cast the output of the non-recursive term to the correct type.";
                return Err(BindError::new(kind, self.span_of_output(base, at)).with_hint(hint));
            }
            if first.typmod != -1 && value.ty.typmod != first.typmod {
                return Err(self.not_built("a recursive query of limited types"));
            }
            if terms.distinct {
                self.equality(first, value.span)?;
            }
            if first.id == TypeId::NUMERIC && first.digits.is_some() && first.digits != value.ty.digits {
                widened.push(at);
            }
        }
        Ok(widened)
    }

    fn span_of_output(&self, base: &Base, at: usize) -> crate::tree::Span {
        base.exprs.get(at).map(|(_, value)| value.span).unwrap_or_default()
    }

    /// Each value of the column has its own digits.
    fn free_digits(&mut self, at: usize, base: &mut Base) {
        let Some((col, value)) = base.exprs.get_mut(at) else { return };
        let none = Scalar { kind: crate::tree::Kind::Const(types::Datum::Null), ty: value.ty, span: value.span };
        *value = with_digits(std::mem::replace(value, none), None);
        if let Some(info) = self.cols.get_mut(col.index()) {
            info.ty = Ty { digits: None, ..info.ty };
        }
    }
}

/// The terms of a query that reads itself; `None` for one that does not, or that is no UNION.
fn terms_of<'q>(cte: &'q ast::Cte, name: &str) -> Option<Terms<'q>> {
    let query = cte.query.as_ref();
    let bare =
        query.with.is_none() && query.order_by.is_none() && query.limit_clause.is_none() && query.fetch.is_none();
    let ast::SetExpr::SetOperation { op: ast::SetOperator::Union, set_quantifier, left, right } = query.body.as_ref()
    else {
        return None;
    };
    let distinct = match set_quantifier {
        ast::SetQuantifier::All => false,
        ast::SetQuantifier::Distinct | ast::SetQuantifier::None => true,
        _ => return None,
    };
    let names_itself = ast::visit_relations(right.as_ref(), |relation: &ast::ObjectName| {
        let is_it = match crate::name::parts(relation).as_deref() {
            Some([ident]) => fold(ident) == name,
            _ => false,
        };
        if is_it { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    (bare && names_itself.is_break()).then_some(Terms { base: left, step: right, distinct })
}

/// Has each row of the work table rows of its own, whatever others there are?
fn is_row_by_row(rel: &Rel, cte: CteId) -> bool {
    use crate::tree::{ApplyKind, JoinKind};
    let reads = |rel: &Rel| reads_cte(rel, cte);
    match rel {
        Rel::CteScan { cte: read, .. } => *read == cte,
        Rel::Filter { input, .. } | Rel::Project { input, .. } | Rel::Unnest { input, .. } => is_row_by_row(input, cte),
        Rel::Join { kind: JoinKind::Inner, left, right, .. } => match (reads(left), reads(right)) {
            (true, false) => is_row_by_row(left, cte),
            (false, true) => is_row_by_row(right, cte),
            _ => false,
        },
        Rel::Join { kind: JoinKind::Left, left, right, .. } => !reads(right) && is_row_by_row(left, cte),
        Rel::Join { kind: JoinKind::Right, left, right, .. } => !reads(left) && is_row_by_row(right, cte),
        Rel::Apply { kind: ApplyKind::Inner | ApplyKind::Left, outer, inner, .. } => {
            !reads(inner) && is_row_by_row(outer, cte)
        }
        _ => false,
    }
}

fn reads_cte(rel: &Rel, cte: CteId) -> bool {
    let mut found = matches!(rel, Rel::CteScan { cte: read, .. } if *read == cte);
    rel.each_input(&mut |input| found = found || reads_cte(input, cte));
    found
}
