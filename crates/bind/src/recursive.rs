//! WITH RECURSIVE: a non-recursive term, and a recursive term over the rows of the previous iteration.
//!
//! ```text
//!   WITH RECURSIVE r (n) AS (base UNION [ALL] step)
//!     base ──> columns of r ──> step reads them, once and in its FROM ──> rows of the same types
//! ```

use crate::binder::Binder;
use crate::coerce::{name_of, with_digits};
use crate::error::{BindError, BindErrorKind, BindResult};
use crate::name::fold;
use crate::recursion_error::RecursionError;
use crate::scope::{Boundary, CteEntry, CteState};
use crate::select::Selected;
use crate::tree::{CastContext, ColId, ColInfo, Cte, CteBody, CteId, Rel, Scalar};
use builtins::resolve::common_type;
use builtins::{Ty, TypeId, Volatility};
use sql::ast;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// The recursive term, and its value for each column of the query.
type Step = (Rel, Vec<(ColId, Scalar)>);

/// A recursive query with its id and its columns.
type NamedCte = (CteId, Vec<(String, ColId)>, CteBody);

/// Maximum number of recursive terms in a statement that are bound again because digits of numerics differ. After that,
/// numeric columns have no digits from the start.
const MOST_RETRIES: usize = 16;

/// The two terms of a recursive query.
struct Terms<'q> {
    base: &'q ast::SetExpr,
    step: &'q ast::SetExpr,
    distinct: bool,
}

/// The non-recursive term.
struct Base {
    rel: Rel,
    /// Columns of the query, and their values in the non-recursive term.
    exprs: Vec<(ColId, Scalar)>,
    columns: Vec<(String, ColId)>,
}

impl Binder<'_> {
    /// Binds the CTEs of WITH RECURSIVE. All names are in scope from the start, but a CTE that is not bound yet cannot
    /// be read.
    pub(crate) fn with_recursive(&mut self, with: &ast::With) -> BindResult<()> {
        let first = self.ctes.len();
        for cte in &with.cte_tables {
            let name = fold(&cte.alias.name);
            self.check_cte_name(first, &name, cte)?;
            let id = self.new_cte();
            self.ctes.push(CteEntry { name, id, columns: Vec::new(), state: CteState::NotYet, free: Vec::new() });
        }
        for at in in_order(&with.cte_tables) {
            let Some(cte) = with.cte_tables.get(at) else { continue };
            let name = fold(&cte.alias.name);
            let terms = terms_of(cte, &name);
            if let Some(entry) = self.ctes.get_mut(first + at) {
                let is_union =
                    matches!(cte.query.body.as_ref(), ast::SetExpr::SetOperation { op: ast::SetOperator::Union, .. });
                entry.state = CteState::Own { is_union };
            }
            if let (Some(_), Some(word)) = (&terms, clause_after_terms(&cte.query)) {
                let kind = BindErrorKind::Recursion { name, wrong: RecursionError::Clause { word } };
                return self.error(kind, Default::default());
            }
            let entry = match terms {
                Some(terms) => match self.recursive_cte(cte, &terms, first + at)? {
                    Some(entry) => entry,
                    None => self.cte(cte, name)?,
                },
                None => self.cte(cte, name)?,
            };
            if let Some(slot) = self.ctes.get_mut(first + at) {
                *slot = entry;
            }
        }
        Ok(())
    }

    /// Binds a recursive CTE. Returns `None` if its name refers to another relation within it.
    fn recursive_cte(&mut self, cte: &ast::Cte, terms: &Terms<'_>, place: usize) -> BindResult<Option<CteEntry>> {
        let volatility = std::mem::replace(&mut self.facts.volatility, Volatility::Immutable);
        self.boundaries.push(Boundary { depth: self.scopes.len(), free: BTreeMap::new(), in_expression: false });
        let known = self.ctes.len();
        let bound = match &cte.query.with {
            Some(with) => self.with(with).and_then(|()| self.terms(cte, terms, place)),
            None => self.terms(cte, terms, place),
        };
        self.ctes.truncate(known);
        let free = self.boundaries.pop().map(|boundary| boundary.free).unwrap_or_default();
        let own = std::mem::replace(&mut self.facts.volatility, volatility);
        self.facts.volatility = volatility.max(own);
        let Some((id, columns, body)) = bound? else { return Ok(None) };
        let free = self.outer_columns(free);
        if let Some(entry) = self.ctes.get_mut(place) {
            entry.state = CteState::Ready;
        }
        let body = match body {
            CteBody::Recursive { base, step, step_cols, distinct, .. } => {
                let reads_outside = !free.is_empty() || self.reads_work_table(&base) || self.reads_work_table(&step);
                let materialized = own == Volatility::Volatile && !reads_outside;
                CteBody::Recursive { base, step, step_cols, distinct, materialized }
            }
            body => body,
        };
        self.cte_bodies.push(Cte { id, cols: columns.iter().map(|(_, col)| *col).collect(), body });
        Ok(Some(CteEntry { name: fold(&cte.alias.name), id, columns, state: CteState::Ready, free }))
    }

    fn terms(&mut self, cte: &ast::Cte, terms: &Terms<'_>, place: usize) -> BindResult<Option<NamedCte>> {
        let Some(id) = self.ctes.get(place).map(|entry| entry.id) else {
            return Err(self.internal("a query of WITH without a place"));
        };
        let mut base = self.base(cte, terms.base)?;
        let Some((step, exprs)) = self.step(cte, terms, place, &mut base)? else { return Ok(None) };
        let step_cols = exprs.iter().map(|(col, _)| *col).collect();
        let body = CteBody::Recursive {
            base: Rel::Project { input: Box::new(base.rel), exprs: base.exprs },
            step: Rel::Project { input: Box::new(step), exprs },
            step_cols,
            distinct: terms.distinct,
            materialized: false,
        };
        Ok(Some((id, base.columns, body)))
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

    /// Binds the recursive term, with a value for each column. If the digits of a numeric column differ between the
    /// terms, the column gets no fixed digits, and the recursive term is bound again.
    fn step(&mut self, cte: &ast::Cte, terms: &Terms<'_>, place: usize, base: &mut Base) -> BindResult<Option<Step>> {
        if self.retries >= MOST_RETRIES {
            // Binding again would double the work at each level of nested recursive queries.
            (0..base.columns.len()).for_each(|at| self.free_digits(at, base));
        }
        let Some(mut selected) = self.second_term(terms, place, base)? else { return Ok(None) };
        let widened = self.check_types(cte, terms, &selected, base)?;
        if !widened.is_empty() {
            self.retries += 1;
            for at in widened {
                self.free_digits(at, base);
            }
            let Some(again) = self.second_term(terms, place, base)? else { return Ok(None) };
            selected = again;
            self.check_types(cte, terms, &selected, base)?;
        }
        let mut exprs = Vec::with_capacity(base.columns.len());
        for ((_, value), (name, col)) in selected.outputs.into_iter().zip(&base.columns) {
            let wanted = self.col_ty(*col);
            let value = self.coerce(value, wanted, CastContext::Implicit)?;
            let value = if value.ty.digits == wanted.digits { value } else { with_digits(value, wanted.digits) };
            exprs.push((self.computed(name, &value)?, value));
        }
        Ok(Some((selected.rel, exprs)))
    }

    /// Binds the recursive term. Returns `None` if it does not read the query.
    fn second_term(&mut self, terms: &Terms<'_>, place: usize, base: &Base) -> BindResult<Option<Selected>> {
        let boundaries = self.boundaries.len();
        let Some(entry) = self.ctes.get_mut(place) else {
            return Err(self.internal("a query of WITH without a place"));
        };
        entry.columns.clone_from(&base.columns);
        entry.state = CteState::Working { boundaries, is_read: false };
        let id = entry.id;
        let selected = self.operand(terms.step)?;
        let is_read =
            matches!(self.ctes.get(place).map(|entry| &entry.state), Some(CteState::Working { is_read: true, .. }));
        if !is_read {
            return Ok(None);
        }
        match misplaced(&selected.rel, id) {
            None => Ok(Some(selected)),
            Some(wrong) => {
                let name = self.ctes.get(place).map(|entry| entry.name.clone()).unwrap_or_default();
                self.error(BindErrorKind::Recursion { name, wrong }, Default::default())
            }
        }
    }

    /// Checks that the recursive term has the types of the non-recursive term. Returns the numerics whose digits
    /// differ.
    fn check_types(
        &mut self,
        cte: &ast::Cte,
        terms: &Terms<'_>,
        step: &Selected,
        base: &Base,
    ) -> BindResult<Vec<usize>> {
        if step.outputs.len() != base.columns.len() {
            let span = step.outputs.first().map(|(_, value)| value.span).unwrap_or_default();
            return self.error(BindErrorKind::UnequalColumns { op: "UNION" }, span);
        }
        let mut widened = Vec::new();
        for (at, ((_, value), (_, col))) in step.outputs.iter().zip(&base.columns).enumerate() {
            let first = self.col_ty(*col);
            let Ok(common) = common_type(&[first, value.ty]) else {
                let (left, right) = (name_of(first), name_of(value.ty));
                return self.error(BindErrorKind::NoCommonType { what: "UNION", left, right }, value.span);
            };
            let limits_differ = first.typmod != -1 && value.ty.typmod != first.typmod;
            if common.id != first.id || limits_differ {
                let (name, column) = (fold(&cte.alias.name), at + 1);
                let (first, all) = (first.sql_name(), name_of(common));
                let kind = BindErrorKind::RecursiveType { name, column, first, all };
                let hint = "Cast the output of the non-recursive term to the correct type.";
                return Err(BindError::new(kind, self.span_of_output(base, at)).with_hint(hint));
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

    /// Does it read the work table of an enclosing recursive query, which changes with each iteration?
    pub(crate) fn reads_work_table(&self, rel: &Rel) -> bool {
        self.reads_working(rel, &mut Vec::new())
    }

    /// `met` has the CTEs visited so far: a recursive CTE reads itself.
    fn reads_working(&self, rel: &Rel, met: &mut Vec<CteId>) -> bool {
        let mut found = matches!(rel, Rel::CteScan { cte, .. } if self.is_working(*cte, met));
        rel.each_input(&mut |input| found = found || self.reads_working(input, met));
        found
    }

    fn is_working(&self, cte: CteId, met: &mut Vec<CteId>) -> bool {
        if met.contains(&cte) {
            return false;
        }
        met.push(cte);
        let working = |entry: &CteEntry| entry.id == cte && matches!(entry.state, CteState::Working { .. });
        self.ctes.iter().any(working)
            || self.cte_bodies.iter().find(|known| known.id == cte).is_some_and(|known| match &known.body {
                CteBody::Inline(rel) | CteBody::Either(rel) | CteBody::Materialized(rel) => {
                    self.reads_working(rel, met)
                }
                CteBody::Recursive { base, step, .. } => self.reads_working(base, met) || self.reads_working(step, met),
            })
    }

    fn span_of_output(&self, base: &Base, at: usize) -> crate::tree::Span {
        base.exprs.get(at).map(|(_, value)| value.span).unwrap_or_default()
    }

    /// Removes the fixed digits of a column: each value keeps its own.
    fn free_digits(&mut self, at: usize, base: &mut Base) {
        let Some((col, value)) = base.exprs.get_mut(at) else { return };
        let none = Scalar { kind: crate::tree::Kind::Const(types::Datum::Null), ty: value.ty, span: value.span };
        *value = with_digits(std::mem::replace(value, none), None);
        if let Some(info) = self.cols.get_mut(col.index()) {
            info.ty = Ty { digits: None, ..info.ty };
        }
    }
}

/// Returns the terms of a UNION whose right side references the query; `None` for any other query.
fn terms_of<'q>(cte: &'q ast::Cte, name: &str) -> Option<Terms<'q>> {
    let query = cte.query.as_ref();
    let ast::SetExpr::SetOperation { op: ast::SetOperator::Union, set_quantifier, left, right } = query.body.as_ref()
    else {
        return None;
    };
    let distinct = match set_quantifier {
        ast::SetQuantifier::All => false,
        ast::SetQuantifier::Distinct | ast::SetQuantifier::None => true,
        _ => return None,
    };
    names(right.as_ref(), name).then_some(Terms { base: left, step: right, distinct })
}

/// Does it contain a reference to a relation of that name?
fn names(part: &impl ast::Visit, name: &str) -> bool {
    let found = ast::visit_relations(part, |relation: &ast::ObjectName| {
        let is_it = match crate::name::parts(relation).as_deref() {
            Some([ident]) => fold(ident) == name,
            _ => false,
        };
        if is_it { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    found.is_break()
}

/// Returns the clause after the terms that a recursive query must not have.
fn clause_after_terms(query: &ast::Query) -> Option<&'static str> {
    match (&query.order_by, &query.limit_clause, &query.fetch) {
        (Some(_), ..) => Some("ORDER BY"),
        (_, Some(ast::LimitClause::LimitOffset { limit: None, offset: Some(_), .. }), None) => Some("OFFSET"),
        (_, Some(_), _) | (.., Some(_)) => Some("LIMIT"),
        (None, None, None) => None,
    }
}

/// Returns the CTEs of WITH RECURSIVE in dependency order. In a cycle, the first one comes first.
fn in_order(ctes: &[ast::Cte]) -> Vec<usize> {
    let named: Vec<String> = ctes.iter().map(|cte| fold(&cte.alias.name)).collect();
    let reads = |at: usize, other: usize| {
        at != other && ctes.get(at).zip(named.get(other)).is_some_and(|(cte, name)| names(cte.query.as_ref(), name))
    };
    let mut order: Vec<usize> = Vec::with_capacity(ctes.len());
    while order.len() < ctes.len() {
        let open: Vec<usize> = (0..ctes.len()).filter(|at| !order.contains(at)).collect();
        let free = open.iter().find(|at| !open.iter().any(|other| reads(**at, *other)));
        match free.or(open.first()) {
            Some(next) => order.push(*next),
            None => break,
        }
    }
    order
}

/// Returns the error of a recursive term that reads the work table in a construct that does not allow it.
fn misplaced(rel: &Rel, cte: CteId) -> Option<RecursionError> {
    use crate::tree::{ApplyKind, JoinKind, SetOpKind};
    let reads = |rel: &Rel| reads_cte(rel, cte);
    let within = |place| Some(RecursionError::Within { place });
    match rel {
        Rel::Join { kind: JoinKind::Left | JoinKind::Full, right, .. } if reads(right) => within("an outer join"),
        Rel::Join { kind: JoinKind::Right | JoinKind::Full, left, .. } if reads(left) => within("an outer join"),
        Rel::Apply { kind: ApplyKind::Left, inner, .. } if reads(inner) => within("an outer join"),
        Rel::SetOp { op: SetOpKind::Except, right, .. } if reads(right) => within("EXCEPT"),
        Rel::SetOp { op: SetOpKind::Except, all: true, left, .. } if reads(left) => within("EXCEPT"),
        Rel::SetOp { op: SetOpKind::Intersect, all: true, .. } if reads(rel) => within("INTERSECT"),
        Rel::Aggregate { input, calls, .. } if !calls.is_empty() && reads(input) => Some(RecursionError::Aggregate),
        rel => {
            let mut found = None;
            rel.each_input(&mut |input| found = found.or_else(|| misplaced(input, cte)));
            found
        }
    }
}

fn reads_cte(rel: &Rel, cte: CteId) -> bool {
    let mut found = matches!(rel, Rel::CteScan { cte: read, .. } if *read == cte);
    rel.each_input(&mut |input| found = found || reads_cte(input, cte));
    found
}
