//! Expressions: which form each kind has. Comparisons are in `compare.rs`, rows and arrays in `composite.rs`.

use super::call::with_type;
use super::constant::{constant, plain};
use super::error::{LowerResult, internal};
use super::{Lowering, cast};
use crate::error::QueryError;
use crate::functions::interval_span;
use crate::representation::join_all;
use ::bind::tree::{BoolTest, CastVia, ColId, Kind, PhoenixForm, Scalar, SessionValue, SubqueryKind};
use builtins::TypeId;
use datafusion::common::{Column, DFSchemaRef, ScalarValue};
use datafusion::logical_expr::expr::Case;
use datafusion::logical_expr::{Expr, Operator, binary_expr};
use types::DataType;

impl Lowering<'_> {
    /// An expression over rows of `schema`.
    pub(super) fn expr(&mut self, value: &Scalar, schema: &DFSchemaRef) -> LowerResult<Expr> {
        match &value.kind {
            Kind::Col(col) => self.column(col.id, schema),
            Kind::Const(datum) => constant(datum, value.ty),
            Kind::Param(id) => self.parameter(*id, value.ty),
            Kind::Session(of) => self.named(session_function(*of), Vec::new()),
            Kind::Call { func, args } => self.call(*func, args, schema),
            Kind::Phoenix { form, args } => {
                let args = self.exprs(args, schema)?;
                self.named(phoenix_function(*form), args)
            }
            Kind::Own { function, args } => self.own_call(function, args, schema),
            Kind::Cast { via, arg, context } => {
                let lowered = self.expr(arg, schema)?;
                if let (CastVia::Length, Some(DataType::LimitedInterval(limits))) = (via, value.ty.data_type()) {
                    return self.named("limit interval", cast::limited_interval(lowered, limits));
                }
                self.cast(lowered, arg, *via, value.ty, *context)
            }
            Kind::And(_) | Kind::Or(_) | Kind::Not(_) | Kind::IsNull(_) | Kind::Is { .. } => {
                self.logical(&value.kind, schema)
            }
            Kind::Case { .. }
            | Kind::CaseOf { .. }
            | Kind::Coalesce(_)
            | Kind::Extreme { .. }
            | Kind::NullIf { .. } => self.choice(&value.kind, schema),
            Kind::Distinct { .. } | Kind::InList { .. } | Kind::AnyArray { .. } | Kind::RowCompare { .. } => {
                self.comparison(&value.kind, schema)
            }
            Kind::Row(_) | Kind::Field(..) | Kind::Array(_) | Kind::Element { .. } | Kind::Slice { .. } => {
                self.composite(value, schema)
            }
            Kind::Subquery(subquery) => self.subquery(subquery, value.ty, schema),
        }
    }

    fn logical(&mut self, kind: &Kind, schema: &DFSchemaRef) -> LowerResult<Expr> {
        Ok(match kind {
            Kind::And(all) => join_all(Operator::And, self.exprs(all, schema)?)?,
            Kind::Or(all) => join_all(Operator::Or, self.exprs(all, schema)?)?,
            Kind::Not(arg) => self.negation(arg, schema)?,
            Kind::IsNull(arg) => self.expr(arg, schema)?.is_null(),
            Kind::Is { arg, test } => is(self.expr(arg, schema)?, *test),
            _ => return internal("this condition"),
        })
    }

    /// One of several values.
    fn choice(&mut self, kind: &Kind, schema: &DFSchemaRef) -> LowerResult<Expr> {
        match kind {
            Kind::Case { arms, other } => {
                let mut lowered = Vec::with_capacity(arms.len());
                for (when, then) in arms {
                    lowered.push((Box::new(self.expr(when, schema)?), Box::new(self.expr(then, schema)?)));
                }
                let other = other.as_ref().map(|other| self.expr(other, schema)).transpose()?;
                Ok(Expr::Case(Case::new(None, lowered, other.map(Box::new))))
            }
            Kind::CaseOf { operand, arms, other, .. } => {
                let operand = self.compared_value(operand, schema)?;
                let mut lowered = Vec::with_capacity(arms.len());
                for (of, then) in arms {
                    lowered.push((Box::new(self.compared_value(of, schema)?), Box::new(self.expr(then, schema)?)));
                }
                let other = other.as_ref().map(|other| self.expr(other, schema)).transpose()?;
                Ok(Expr::Case(Case::new(Some(Box::new(operand)), lowered, other.map(Box::new))))
            }
            Kind::Coalesce(all) => {
                let all = self.values_of_one(all, schema)?;
                self.named("coalesce", all)
            }
            Kind::Extreme { max, args, .. } => {
                let args = self.values_of_one(args, schema)?;
                self.named(if *max { "greatest" } else { "least" }, args)
            }
            Kind::NullIf { left, args, .. } => {
                let (value, other) = (self.expr(left, schema)?, self.expr(&args.1, schema)?);
                self.named("nullif", vec![value, other])
            }
            _ => internal("this choice"),
        }
    }

    /// Values of which one is the result. NULLs alone keep their type: without one they would be texts.
    fn values_of_one(&mut self, values: &[Scalar], schema: &DFSchemaRef) -> LowerResult<Vec<Expr>> {
        let lowered = self.exprs(values, schema)?;
        if !lowered.iter().all(|value| matches!(value, Expr::Literal(constant, _) if constant.is_null())) {
            return Ok(lowered);
        }
        lowered.into_iter().zip(values).map(|(value, of)| with_type(value, of)).collect()
    }

    /// A value that is compared bit by bit: an interval by its length, zero without its sign.
    fn compared_value(&mut self, value: &Scalar, schema: &DFSchemaRef) -> LowerResult<Expr> {
        let lowered = self.expr(value, schema)?;
        Ok(match value.ty.id {
            TypeId::INTERVAL => interval_span(with_type(lowered, value)?),
            TypeId::FLOAT4 | TypeId::FLOAT8 => {
                let zero = match value.ty.id {
                    TypeId::FLOAT4 => ScalarValue::Float32(Some(0.0)),
                    _ => ScalarValue::Float64(Some(0.0)),
                };
                binary_expr(with_type(lowered, value)?, Operator::Plus, Expr::Literal(zero, None))
            }
            _ => lowered,
        })
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
        outer.ok_or_else(|| QueryError::internal(format!("column {column} out of reach")))
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

fn outer_column(outer: &DFSchemaRef, column: &Column) -> Option<Expr> {
    let at = outer.maybe_index_of_column(column)?;
    let field = outer.field(at).clone();
    Some(Expr::OuterReferenceColumn(field, column.clone()))
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

/// The function of a form of Phoenix, which no query can name.
fn phoenix_function(form: PhoenixForm) -> &'static str {
    match form {
        PhoenixForm::RoundToUnit => "round to unit",
        PhoenixForm::CeilToUnit => "ceil to unit",
        PhoenixForm::FloorToUnit => "floor to unit",
        PhoenixForm::EncodeBase62 => "encode in base 62",
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
