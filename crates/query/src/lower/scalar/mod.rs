//! Lowers expressions. Comparisons are in `compare.rs`, rows and arrays in `composite.rs`.

pub(super) mod call;
pub(super) mod cast;
pub(super) mod catalog;
pub(super) mod comparable;
pub(super) mod compare;
pub(super) mod composite;
pub(super) mod constant;
pub(super) mod lengths;
pub(super) mod list;
pub(super) mod one_type;
pub(super) mod operator;
pub(super) mod pattern;
pub(super) mod row_compare;
pub(super) mod row_subquery;
pub(super) mod subquery;
pub(super) mod zero;
pub(super) mod zone;

use crate::error::QueryError;
use crate::functions::{case_once, coalesce, extreme, unequated};
use crate::lower::Lowering;
use crate::lower::error::{LowerResult, internal};
use crate::lower::rel::sort::ordered;
use crate::lower::scalar::call::with_type;
use crate::lower::scalar::comparable::Side;
use crate::lower::scalar::constant::{constant, plain, value_type};
use crate::lower::scalar::one_type::{chosen, label_type, unify};
use crate::lower::scalar::row_compare::join as join_all;
use ::bind::tree::{BoolTest, CastVia, ColId, Kind, PhoenixForm, Scalar, SessionValue, SubqueryKind};
use builtins::TypeId;
use datafusion::common::{Column, DFSchemaRef, ScalarValue};
use datafusion::functions::core::nullif;
use datafusion::logical_expr::expr::Case;
use datafusion::logical_expr::{Expr, Operator, when};
use types::DataType;

/// The parameters of the function that limits intervals.
const LIMITED_INTERVAL: [DataType; 3] = [DataType::Interval, DataType::Integer, DataType::Integer];

impl Lowering<'_> {
    /// Lowers an expression over rows of `schema`.
    pub(in crate::lower) fn expr(&mut self, value: &Scalar, schema: &DFSchemaRef) -> LowerResult<Expr> {
        match &value.kind {
            Kind::Col(col) => self.column(col.id, schema),
            Kind::Const(datum) => constant(datum, value.ty),
            Kind::Param(id) => self.parameter(*id, value.ty),
            Kind::Session(of) => self.named(session_function(*of), Vec::new()),
            Kind::Call { func, args } => self.call(*func, args, value.ty, schema),
            Kind::Phoenix { form, args } => {
                let types = args.iter().map(|arg| value_type(arg.ty)).collect::<LowerResult<Vec<_>>>()?;
                let args = self.typed_exprs(args, schema)?;
                self.by_value(phoenix_function(*form), types, args, value.ty, schema)
            }
            Kind::Own { function, args } => self.own_call(function, args, schema),
            Kind::Cast { via, arg, context } => {
                let lowered = self.expr(arg, schema)?;
                if let (CastVia::Length, Some(DataType::LimitedInterval(limits))) = (via, value.ty.data_type()) {
                    return self.sql_call("limit interval", &LIMITED_INTERVAL, cast::limited_interval(lowered, limits));
                }
                self.cast(lowered, arg, (*via, *context), value.ty, schema)
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
            Kind::Or(all) => self.any_of(all, schema)?,
            Kind::Not(arg) => self.negation(arg, schema)?,
            Kind::IsNull(arg) => self.expr(arg, schema)?.is_null(),
            Kind::Is { arg, test } => is(self.expr(arg, schema)?, *test),
            _ => return internal("this condition"),
        })
    }

    /// CASE, COALESCE, GREATEST, LEAST and NULLIF.
    fn choice(&mut self, kind: &Kind, schema: &DFSchemaRef) -> LowerResult<Expr> {
        match kind {
            Kind::Case { arms, other } => {
                let mut lowered = Vec::with_capacity(arms.len());
                for (when, then) in arms {
                    lowered.push((Box::new(self.expr(when, schema)?), Box::new(self.expr(then, schema)?)));
                }
                let other = other.as_ref().map(|other| self.expr(other, schema)).transpose()?;
                Ok(case(Case::new(None, lowered, other.map(Box::new)), schema)?)
            }
            Kind::CaseOf { operand, arms, other, .. } => {
                let operand = self.compared_value(operand, schema)?;
                let mut lowered = Vec::with_capacity(arms.len());
                for (of, then) in arms {
                    lowered.push((Box::new(self.compared_value(of, schema)?), Box::new(self.expr(then, schema)?)));
                }
                let other = other.as_ref().map(|other| self.expr(other, schema)).transpose()?;
                Ok(case(Case::new(Some(Box::new(operand)), lowered, other.map(Box::new)), schema)?)
            }
            Kind::Coalesce(all) => {
                let all = self.values_of_one(all, schema)?;
                chosen(all, schema, |all, _| coalesce(all))
            }
            Kind::Extreme { max, args, .. } => {
                let args = self.values_of_one(args, schema)?;
                chosen(args, schema, |args, ty| extreme(*max, ty.unwrap_or(DataType::Text), args))
            }
            Kind::NullIf { left, args, .. } => self.null_if(left, args, schema),
            _ => internal("this choice"),
        }
    }

    /// Lowers values of which one is the result. If all are NULL literals, they keep their types: an untyped NULL would
    /// become text.
    fn values_of_one(&mut self, values: &[Scalar], schema: &DFSchemaRef) -> LowerResult<Vec<Expr>> {
        let lowered = self.exprs(values, schema)?;
        if !lowered.iter().all(|value| matches!(value, Expr::Literal(constant, _) if constant.is_null())) {
            return Ok(lowered);
        }
        lowered.into_iter().zip(values).map(|(value, of)| with_type(value, of)).collect()
    }

    /// NULLIF. Its equality may need other representations of the operands.
    fn null_if(&mut self, left: &Scalar, args: &(Scalar, Scalar), schema: &DFSchemaRef) -> LowerResult<Expr> {
        let value = self.expr(left, schema)?;
        let (mut compared, mut other) = (self.expr(&args.0, schema)?, self.expr(&args.1, schema)?);
        let ty = match Side::of(&value, schema) {
            Side::Known(ty) => Some(ty),
            _ => None,
        };
        self.comparable_bits((&mut compared, schema), (&mut other, schema));
        // DataFusion's `nullif` does not support these types.
        let strange = matches!(left.ty.id, TypeId::BOOL | TypeId::UUID);
        if compared == value && left.ty.id == args.1.ty.id && !strange {
            return Ok(label_type(nullif().call(vec![value, other]), ty));
        }
        let null = Expr::Literal(ScalarValue::Null, None);
        let chosen = match when(compared.eq(other), null).otherwise(value)? {
            Expr::Case(case) => case_once(case),
            other => other,
        };
        Ok(label_type(chosen, ty))
    }

    /// Lowers a value that is compared by bits: an interval by its length, a float without the sign of zero.
    fn compared_value(&mut self, value: &Scalar, schema: &DFSchemaRef) -> LowerResult<Expr> {
        let lowered = with_type(self.expr(value, schema)?, value)?;
        Ok(ordered(lowered, schema))
    }

    pub(in crate::lower) fn exprs(&mut self, all: &[Scalar], schema: &DFSchemaRef) -> LowerResult<Vec<Expr>> {
        all.iter().map(|value| self.expr(value, schema)).collect()
    }

    /// The conjunction of the conditions; `None` if there are none.
    pub(in crate::lower) fn conjunction(&mut self, all: &[Scalar], schema: &DFSchemaRef) -> LowerResult<Option<Expr>> {
        if all.is_empty() {
            return Ok(None);
        }
        let all = all.iter().map(|value| self.condition(value, schema).map(unequated)).collect::<LowerResult<_>>()?;
        Ok(Some(join_all(Operator::And, all)?))
    }

    /// LIMIT and OFFSET, which DataFusion requires to be constants.
    pub(in crate::lower) fn count(&mut self, value: &Scalar, none: &DFSchemaRef) -> LowerResult<Expr> {
        match &value.kind {
            Kind::Const(datum) => plain(datum, value.ty),
            _ => self.expr(value, none),
        }
    }

    /// A column of these rows, or of an enclosing query's rows.
    pub(in crate::lower) fn column(&self, id: ColId, schema: &DFSchemaRef) -> LowerResult<Expr> {
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

/// Unifies the types of the branches of CASE; PostgreSQL considers ELSE first.
fn case(mut case: Case, schema: &DFSchemaRef) -> LowerResult<Expr> {
    let last = case.else_expr.iter_mut().map(AsMut::as_mut);
    let branches = last.chain(case.when_then_expr.iter_mut().map(|(_, then)| then.as_mut()));
    let ty = unify(&mut branches.collect::<Vec<_>>(), schema)?;
    Ok(label_type(case_once(case), ty))
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

/// The function that implements a form of Phoenix; its name cannot be written in a query.
fn phoenix_function(form: PhoenixForm) -> &'static str {
    match form {
        PhoenixForm::RoundToUnit => "round to unit",
        PhoenixForm::CeilToUnit => "ceil to unit",
        PhoenixForm::FloorToUnit => "floor to unit",
        PhoenixForm::EncodeBase62 => "encode in base 62",
    }
}

/// The function that returns a session value.
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
