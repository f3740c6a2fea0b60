//! Expressions.

use super::constant::{constant, parameter, plain, value_type};
use super::error::{LowerError, LowerResult, not_built};
use super::{Lowering, cast};
use crate::functions::WITH_EACH;
use crate::pg_semantics::{compare_rows, join_all};
use ::bind::tree::{BoolTest, ColId, CompareOp, Kind, Scalar, SessionValue, SubqueryKind};
use builtins::TypeId;
use datafusion::common::{Column, DFSchemaRef, ScalarValue};
use datafusion::logical_expr::expr::{Case, InList};
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use types::Datum;

/// Lower and upper bound of a slice.
type Bounds = (Option<Scalar>, Option<Scalar>);

impl Lowering<'_> {
    /// An expression over rows of `schema`.
    pub(super) fn expr(&mut self, value: &Scalar, schema: &DFSchemaRef) -> LowerResult<Expr> {
        Ok(match &value.kind {
            Kind::Col(col) => self.column(col.id, schema)?,
            Kind::Const(datum) => constant(datum, value.ty)?,
            Kind::Param(id) => parameter(*id, value.ty)?,
            Kind::Session(of) => self.named(session_function(*of), Vec::new())?,
            Kind::Call { func, args } => self.call(*func, args, schema)?,
            Kind::Cast { via, arg, context } => {
                let lowered = self.expr(arg, schema)?;
                cast::cast(lowered, arg, *via, value.ty, *context)?
            }
            Kind::And(all) => join_all(Operator::And, self.exprs(all, schema)?)?,
            Kind::Or(all) => join_all(Operator::Or, self.exprs(all, schema)?)?,
            Kind::Not(arg) => self.negation(arg, schema)?,
            Kind::IsNull(arg) => self.expr(arg, schema)?.is_null(),
            Kind::Is { arg, test } => is(self.expr(arg, schema)?, *test),
            Kind::Case { arms, other } => {
                let mut lowered = Vec::with_capacity(arms.len());
                for (when, then) in arms {
                    lowered.push((Box::new(self.expr(when, schema)?), Box::new(self.expr(then, schema)?)));
                }
                let other = other.as_ref().map(|other| self.expr(other, schema)).transpose()?;
                Expr::Case(Case::new(None, lowered, other.map(Box::new)))
            }
            Kind::Coalesce(all) => {
                let all = self.exprs(all, schema)?;
                self.named("coalesce", all)?
            }
            Kind::Extreme { max, args, .. } => {
                let args = self.exprs(args, schema)?;
                self.named(if *max { "greatest" } else { "least" }, args)?
            }
            Kind::NullIf { left, args, .. } => {
                let (value, other) = (self.expr(left, schema)?, self.expr(&args.1, schema)?);
                self.named("nullif", vec![value, other])?
            }
            Kind::Distinct { left, right, negated, .. } => {
                let op = if *negated { Operator::IsNotDistinctFrom } else { Operator::IsDistinctFrom };
                let (left, right) = (self.expr(left, schema)?, self.expr(right, schema)?);
                match (is_null_constant(&left), is_null_constant(&right)) {
                    (_, true) => nullness(left, *negated),
                    (true, _) => nullness(right, *negated),
                    _ => Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right))),
                }
            }
            Kind::InList { arg, list, negated, .. } => {
                let arg = self.expr(arg, schema)?;
                let list = list.iter().map(|item| self.item(item, schema)).collect::<LowerResult<Vec<_>>>()?;
                Expr::InList(InList::new(Box::new(arg), list, *negated))
            }
            Kind::AnyArray { op, arg, array, all } => {
                let Some(sign) = super::call::operator_name(*op, 2) else { return not_built("ANY of this function") };
                if let (Kind::Array(items), "=", false) | (Kind::Array(items), "<>", true) = (&array.kind, sign, *all)
                    && !items.is_empty()
                    && items.iter().all(|item| item.ty.id.element().is_none())
                {
                    // Key ranges are made of a list. Its items are compared one by one, whatever type the others are of.
                    let arg = self.expr(arg, schema)?;
                    let each = self.named(WITH_EACH, vec![arg])?;
                    return Ok(Expr::InList(InList::new(Box::new(each), self.exprs(items, schema)?, *all)));
                }
                let name = format!("{sign} {}", if *all { "all" } else { "any" });
                let mut value = self.expr(arg, schema)?;
                // A real among doubles is a double.
                if let (TypeId::FLOAT4, Some(element @ TypeId::FLOAT8)) = (arg.ty.id, array.ty.id.element()) {
                    value = cast::written(value, &value_type(element.into())?);
                }
                let args = vec![value, self.expr(array, schema)?];
                self.named(&name, args)?
            }
            Kind::Row(_) => return not_built("a row value"),
            Kind::Field(row, at) => match &row.kind {
                Kind::Row(fields) => match fields.get(usize::from(*at)) {
                    Some(field) => self.expr(field, schema)?,
                    None => return not_built("a field of a row"),
                },
                _ => return not_built("a field of a value"),
            },
            Kind::RowCompare { op, pairs } => {
                let (mut left, mut right) = (Vec::new(), Vec::new());
                for (_, _, a, b) in pairs {
                    left.push(self.expr(a, schema)?);
                    right.push(self.expr(b, schema)?);
                }
                let one = |a, op, b| super::call::compared(a, op, b, schema);
                compare_rows(&left, comparison(*op), &right, &one)?
            }
            Kind::Array(_) if dimensions_written(value) > MOST_DIMENSIONS => {
                return not_built("an array of more than six dimensions");
            }
            Kind::Array(items) => {
                let items = self.exprs(items, schema)?;
                if items.is_empty() {
                    return plain(&Datum::Array(Vec::new()), value.ty);
                }
                self.named("make_array", items)?
            }
            Kind::Element { array, at } => {
                let array = self.expr(array, schema)?;
                let at = self.exprs(at, schema)?;
                self.named("array subscript", std::iter::once(array).chain(at).collect())?
            }
            Kind::Slice { array, bounds } => self.slice(array, bounds, schema)?,
            Kind::Subquery(subquery) => self.subquery(subquery, value.ty, schema)?,
        })
    }

    /// One dimension after the other; a bound that is not said is NULL.
    fn slice(&mut self, array: &Scalar, bounds: &[Bounds], schema: &DFSchemaRef) -> LowerResult<Expr> {
        let mut value = self.expr(array, schema)?;
        for (at, (low, high)) in bounds.iter().enumerate() {
            let mut args = vec![value];
            for bound in [low, high] {
                let open = || Ok(Expr::Literal(ScalarValue::Null, None));
                args.push(bound.as_ref().map_or_else(open, |bound| self.expr(bound, schema))?);
            }
            value = match i32::try_from(at) {
                Ok(0) => self.named("array slice", args)?,
                Ok(inside) => {
                    args.push(Expr::Literal(ScalarValue::Int32(Some(inside)), None));
                    self.named("array slice inside", args)?
                }
                Err(_) => return not_built("a slice of so many dimensions"),
            };
        }
        Ok(value)
    }

    pub(super) fn exprs(&mut self, all: &[Scalar], schema: &DFSchemaRef) -> LowerResult<Vec<Expr>> {
        all.iter().map(|value| self.expr(value, schema)).collect()
    }

    /// All of the conditions; `None` without any.
    pub(super) fn conjunction(&mut self, all: &[Scalar], schema: &DFSchemaRef) -> LowerResult<Option<Expr>> {
        if all.is_empty() {
            return Ok(None);
        }
        Ok(Some(join_all(Operator::And, self.exprs(all, schema)?)?))
    }

    /// An item of a list: keys are made of constants only.
    fn item(&mut self, item: &Scalar, schema: &DFSchemaRef) -> LowerResult<Expr> {
        self.expr(item, schema)
    }

    /// LIMIT and OFFSET, which want a constant.
    pub(super) fn count(&mut self, value: &Scalar, none: &DFSchemaRef) -> LowerResult<Expr> {
        match &value.kind {
            Kind::Const(datum) => plain(datum, value.ty),
            _ => self.expr(value, none),
        }
    }

    /// A column of these rows, or of rows around them.
    pub(super) fn column(&self, id: ColId, schema: &DFSchemaRef) -> LowerResult<Expr> {
        let column = self.columns.get(id)?;
        if schema.has_column(column) {
            return Ok(Expr::Column(column.clone()));
        }
        let outer = self.outer.iter().rev().find_map(|outer| outer_column(outer, column));
        outer.ok_or_else(|| LowerError::NotBuilt { what: format!("column {column} out of reach").into() })
    }

    fn negation(&mut self, arg: &Scalar, schema: &DFSchemaRef) -> LowerResult<Expr> {
        if let Kind::Subquery(subquery) = &arg.kind
            && matches!(subquery.kind, SubqueryKind::Exists | SubqueryKind::Quantified { .. })
        {
            return self.negated_subquery(subquery, schema);
        }
        Ok(match self.expr(arg, schema)? {
            Expr::IsNull(inner) => Expr::IsNotNull(inner),
            Expr::Like(mut like) if !like.negated => {
                like.negated = true;
                Expr::Like(like)
            }
            other => Expr::Not(Box::new(other)),
        })
    }
}

/// Dimensions that an array may have.
const MOST_DIMENSIONS: usize = 6;

/// Arrays within arrays, as they are written.
fn dimensions_written(value: &Scalar) -> usize {
    match &value.kind {
        Kind::Array(items) => 1 + items.iter().map(dimensions_written).max().unwrap_or(0),
        _ => 0,
    }
}

fn outer_column(outer: &DFSchemaRef, column: &Column) -> Option<Expr> {
    let at = outer.maybe_index_of_column(column)?;
    let field = outer.field(at).clone();
    Some(Expr::OuterReferenceColumn(field, column.clone()))
}

fn is_null_constant(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(value, _) if value.is_null())
}

/// `value IS [NOT] DISTINCT FROM NULL`.
fn nullness(value: Expr, negated: bool) -> Expr {
    match value {
        Expr::Literal(ScalarValue::Null, _) => Expr::Literal(ScalarValue::Boolean(Some(negated)), None),
        value if negated => value.is_null(),
        value => value.is_not_null(),
    }
}

fn is(arg: Expr, test: BoolTest) -> Expr {
    match test {
        BoolTest::True => arg.is_true(),
        BoolTest::NotTrue => arg.is_not_true(),
        BoolTest::False => arg.is_false(),
        BoolTest::NotFalse => arg.is_not_false(),
        BoolTest::Unknown => arg.is_unknown(),
        BoolTest::NotUnknown => arg.is_not_unknown(),
    }
}

fn comparison(op: CompareOp) -> Operator {
    match op {
        CompareOp::Eq => Operator::Eq,
        CompareOp::NotEq => Operator::NotEq,
        CompareOp::Lt => Operator::Lt,
        CompareOp::LtEq => Operator::LtEq,
        CompareOp::Gt => Operator::Gt,
        CompareOp::GtEq => Operator::GtEq,
    }
}

/// The function that gives a value of the session.
fn session_function(value: SessionValue) -> &'static str {
    match value {
        SessionValue::CurrentDate => "current_date",
        SessionValue::CurrentTime => "current_time",
        SessionValue::CurrentTimestamp => "now",
        SessionValue::LocalTime => "localtime",
        SessionValue::LocalTimestamp => "localtimestamp",
        SessionValue::CurrentUser | SessionValue::SessionUser => "current_user",
        SessionValue::CurrentSchema => "current_schema",
        SessionValue::CurrentCatalog => "current_database",
    }
}
