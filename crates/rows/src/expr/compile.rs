//! Compiles bound expressions to row expressions.

use super::{Callee, Comparison, Form, RowExpr, SubqueryValue};
use crate::plan::Compiler;
use crate::{Test, WhyNot};
use bind::tree::{CastContext, CastVia, ColId, Kind, Scalar, SessionValue, Subquery, SubqueryKind};
use builtins::{FuncId, Ty, TypeId};
use types::{DataType, Datum};

/// The columns of the current row, by index.
pub(crate) struct Scope<'a> {
    pub(crate) cols: &'a [ColId],
}

type Compiled = Result<RowExpr, WhyNot>;

impl Compiler<'_> {
    /// Compiles `scalar` over rows of `scope`.
    pub(crate) fn expr(&mut self, scalar: &Scalar, scope: &Scope<'_>) -> Compiled {
        let compiled = self.unscaled(scalar, scope)?;
        // Columns have their scale already.
        if let Kind::Col(_) = scalar.kind {
            return Ok(compiled);
        }
        if let Some(what) = unsupported_type_modifier(scalar) {
            return no(what);
        }
        Ok(match (Form::of(scalar.ty)?, &scalar.kind) {
            (None, _) => compiled,
            (Some(form), Kind::Const(value)) => RowExpr::Const(form.apply(value.clone())),
            (Some(form), _) => RowExpr::Form(form, Box::new(compiled)),
        })
    }

    fn unscaled(&mut self, scalar: &Scalar, scope: &Scope<'_>) -> Compiled {
        Ok(match &scalar.kind {
            Kind::Col(col) => self.column(col.id, scope)?,
            Kind::Const(value) => RowExpr::Const(value.clone()),
            Kind::Param(param) => RowExpr::Param(usize::from(param.0)),
            Kind::Session(SessionValue::CurrentTimestamp) => RowExpr::TransactionTime,
            Kind::Session(_) => return no("value of the session"),
            Kind::Call { func, args } => self.call(*func, args, scalar.ty, scope)?,
            Kind::Phoenix { .. } => return no("form of Phoenix"),
            Kind::Own { .. } => return no("function of the embedding program"),
            Kind::Cast { via, arg, context } => self.cast(*via, arg, scalar.ty, *context, scope)?,
            Kind::And(list) => RowExpr::And(self.exprs(list, scope)?),
            Kind::Or(list) => RowExpr::Or(self.exprs(list, scope)?),
            Kind::Not(arg) => RowExpr::Not(self.boxed(arg, scope)?),
            Kind::IsNull(arg) => RowExpr::IsNull(self.boxed(arg, scope)?),
            Kind::Is { arg, test } => RowExpr::Is(self.boxed(arg, scope)?, *test),
            Kind::Case { arms, other } => {
                let arms = arms.iter().map(|(when, then)| Ok((self.expr(when, scope)?, self.expr(then, scope)?)));
                let arms = arms.collect::<Result<_, WhyNot>>()?;
                RowExpr::Case(arms, other.as_ref().map(|other| self.boxed(other, scope)).transpose()?)
            }
            Kind::CaseOf { .. } => return no("CASE of an operand that is computed once"),
            Kind::Coalesce(list) => RowExpr::Coalesce(self.exprs(list, scope)?),
            Kind::Extreme { max, lt, args } => {
                RowExpr::Extreme(*max, self.comparison(*lt, args.first(), args.first())?, self.exprs(args, scope)?)
            }
            Kind::NullIf { eq, left, args } => {
                let by = self.comparison(*eq, Some(&args.0), Some(&args.1))?;
                let args = (self.expr(left, scope)?, self.expr(&args.0, scope)?, self.expr(&args.1, scope)?);
                RowExpr::NullIf(by, Box::new(args))
            }
            Kind::Distinct { eq, left, right, negated } => {
                let by = self.comparison(*eq, Some(left), Some(right))?;
                RowExpr::Distinct(by, self.pair(left, right, scope)?, *negated)
            }
            Kind::InList { eq, arg, list, negated } => {
                let by = self.comparison(*eq, Some(arg), list.first())?;
                RowExpr::InList(by, self.boxed(arg, scope)?, self.exprs(list, scope)?, *negated)
            }
            Kind::AnyArray { op, arg, array, all } => {
                RowExpr::AnyArray(Comparison::Call(self.callee(*op)?), self.pair(arg, array, scope)?, *all)
            }
            Kind::RowCompare { op, pairs } => {
                let pairs = pairs.iter().map(|(eq, lt, left, right)| {
                    let (eq, lt) = (
                        self.comparison(*eq, Some(left), Some(right))?,
                        self.comparison(*lt, Some(left), Some(right))?,
                    );
                    Ok((eq, lt, self.expr(left, scope)?, self.expr(right, scope)?))
                });
                RowExpr::RowCompare(*op, pairs.collect::<Result<_, WhyNot>>()?)
            }
            Kind::Array(list) => RowExpr::Array(self.exprs(list, scope)?),
            Kind::Element { array, at } => RowExpr::Element(self.boxed(array, scope)?, self.exprs(at, scope)?),
            Kind::Field(arg, at) => match &arg.kind {
                Kind::Row(list) => match list.get(usize::from(*at)) {
                    Some(field) => self.expr(field, scope)?,
                    None => return no("field of a row"),
                },
                _ => return no("field of a row"),
            },
            Kind::Row(_) => return no("row value"),
            Kind::Slice { .. } => return no("slice of an array"),
            Kind::Subquery(subquery) => self.subquery(subquery, scope)?,
        })
    }

    fn exprs(&mut self, list: &[Scalar], scope: &Scope<'_>) -> Result<Vec<RowExpr>, WhyNot> {
        list.iter().map(|item| self.expr(item, scope)).collect()
    }

    fn boxed(&mut self, scalar: &Scalar, scope: &Scope<'_>) -> Result<Box<RowExpr>, WhyNot> {
        self.expr(scalar, scope).map(Box::new)
    }

    fn pair(&mut self, left: &Scalar, right: &Scalar, scope: &Scope<'_>) -> Result<Box<(RowExpr, RowExpr)>, WhyNot> {
        Ok(Box::new((self.expr(left, scope)?, self.expr(right, scope)?)))
    }

    /// The reference to a column: of the row, or of an enclosing query.
    pub(crate) fn column(&mut self, id: ColId, scope: &Scope<'_>) -> Compiled {
        match scope.cols.iter().position(|col| *col == id) {
            Some(at) => Ok(RowExpr::Col(at)),
            None => self.outer_slot(id).map(RowExpr::Outer).ok_or(WhyNot::Scope { index: id.index() }),
        }
    }

    fn call(&mut self, func: FuncId, args: &[Scalar], returns: Ty, scope: &Scope<'_>) -> Compiled {
        if let [left, right] = args
            && let Some(Test::Compare(_)) = self.functions.test(func)
        {
            let by = self.comparison(func, Some(left), Some(right))?;
            return Ok(RowExpr::Compare(by, self.pair(left, right, scope)?));
        }
        if matches!(func, FuncId::TEXTANYCAT | FuncId::ANYTEXTCAT) {
            let printed = args.iter().map(|arg| self.printed(arg, scope)).collect::<Result<_, WhyNot>>()?;
            return Ok(RowExpr::Call(self.callee(FuncId::TEXTCAT)?, printed));
        }
        let values = self.exprs(args, scope)?;
        let no_body = match self.callee(func) {
            Ok(callee) => return Ok(RowExpr::Call(callee, values)),
            Err(why) => why,
        };
        let types: Vec<Ty> = args.iter().map(|arg| arg.ty).collect();
        match self.functions.outside(func, &types, returns) {
            Some(body) => Ok(RowExpr::Outside(func, body, values)),
            None => Err(no_body),
        }
    }

    /// The text of a value.
    fn printed(&mut self, arg: &Scalar, scope: &Scope<'_>) -> Compiled {
        let value = self.expr(arg, scope)?;
        match data_type(arg.ty)? {
            ty if ty.is_text() && !matches!(ty, DataType::Char(_)) => Ok(value),
            ty if prints_alike(&ty) => Ok(RowExpr::Print(ty, Box::new(value))),
            _ => no("text of a value"),
        }
    }

    fn callee(&self, func: FuncId) -> Result<Callee, WhyNot> {
        let name = || WhyNot::Function { name: func.0.to_string() };
        let line = self.functions.function(func).ok_or_else(name)?;
        let body = line.body.ok_or_else(|| WhyNot::Function { name: line.name.to_owned() })?;
        if line.returns_set {
            return Err(WhyNot::Function { name: line.name.to_owned() });
        }
        Ok(Callee { func, body, strict: line.strict })
    }

    /// How two operands are compared: inline if their values are of the same kind.
    fn comparison(&self, func: FuncId, left: Option<&Scalar>, right: Option<&Scalar>) -> Result<Comparison, WhyNot> {
        let kind = |side: Option<&Scalar>| side.and_then(|side| kind_of(side.ty));
        match self.functions.test(func) {
            Some(Test::Compare(op)) if kind(left).is_some() && kind(left) == kind(right) => Ok(Comparison::Inline(op)),
            _ => self.callee(func).map(Comparison::Call),
        }
    }

    fn cast(&mut self, via: CastVia, arg: &Scalar, to: Ty, context: CastContext, scope: &Scope<'_>) -> Compiled {
        let inner = self.expr(arg, scope)?;
        Ok(match via {
            CastVia::Function(func) => RowExpr::Call(self.callee(func)?, vec![inner]),
            CastVia::Relabel => match (kind_of(arg.ty), kind_of(to)) {
                (Some(from), Some(to)) if from == to => inner,
                _ => return no("cast between kinds of values"),
            },
            CastVia::Length => RowExpr::Fit(data_type(to)?, Box::new(inner), context == CastContext::Explicit),
            CastVia::Elements => return no("cast of an array's elements"),
            CastVia::Text => match (data_type(arg.ty)?, data_type(to)?) {
                (from, to) if to.is_text() && prints_alike(&from) => RowExpr::Print(from, Box::new(inner)),
                (from, to) if from.is_text() && reads_alike(&to) => RowExpr::Parse(to, Box::new(inner)),
                _ => return no("cast by text"),
            },
        })
    }

    fn subquery(&mut self, subquery: &Subquery, scope: &Scope<'_>) -> Compiled {
        let made = match &subquery.kind {
            SubqueryKind::Scalar => SubqueryValue::Scalar,
            SubqueryKind::Exists => SubqueryValue::Exists,
            SubqueryKind::ArrayOf => SubqueryValue::Array,
            SubqueryKind::Quantified { left, ops, all } if left.len() > 1 && !is_equality(ops, *all) => {
                return no("order of rows and a subquery");
            }
            SubqueryKind::Quantified { left, ops, all } => {
                let sides = left.iter().zip(ops);
                let sides = sides.map(|(left, op)| Ok((Comparison::Call(self.callee(*op)?), self.expr(left, scope)?)));
                SubqueryValue::Quantified(sides.collect::<Result<_, WhyNot>>()?, *all)
            }
        };
        let number = self.add_subquery(subquery, scope)?;
        Ok(RowExpr::Subquery(number, made))
    }
}

/// Is it `= ANY` or `<> ALL` of rows?
fn is_equality(ops: &[FuncId], all: bool) -> bool {
    let wanted = if all { "<>" } else { "=" };
    ops.iter().all(|op| builtins::operator_of(*op).is_some_and(|operator| operator.name == wanted))
}

/// Values whose type modifier is not known here: the length of a computed `char(n)`, and the modifier of array
/// elements.
fn unsupported_type_modifier(scalar: &Scalar) -> Option<&'static str> {
    let is_array = scalar.ty.id.element().is_some();
    match &scalar.kind {
        _ if is_array && scalar.ty.typmod != -1 => Some("array of limited elements"),
        Kind::Array(items) if items.iter().any(|item| item.ty.id.element().is_some()) => Some("array of arrays"),
        Kind::Const(Datum::Array(items)) if items.iter().any(|item| matches!(item, Datum::Array(_))) => {
            Some("array of arrays")
        }
        // A plan gives NULLIF the common type of both operands, here it is that of the first one.
        Kind::NullIf { left, args, .. } if left.ty != args.0.ty || left.ty != args.1.ty => {
            Some("NULLIF of unlike types")
        }
        Kind::Const(_) | Kind::Param(_) | Kind::Cast { via: CastVia::Length, .. } => None,
        _ if scalar.ty.id == TypeId::BPCHAR => Some("computed char(n)"),
        _ => None,
    }
}

fn no<T>(what: &'static str) -> Result<T, WhyNot> {
    Err(WhyNot::Expression { what })
}

fn data_type(ty: Ty) -> Result<DataType, WhyNot> {
    DataType::from_oid(ty.id.0, ty.typmod).ok_or(WhyNot::Expression { what: "cast of a catalog's type" })
}

/// Types whose values [`types::compare::compare`] can compare with each other have the same kind.
fn kind_of(ty: Ty) -> Option<DataType> {
    let ty = DataType::from_oid(ty.id.0, -1)?.without_digits();
    Some(match ty {
        DataType::SmallInt | DataType::Integer | DataType::BigInt => DataType::BigInt,
        DataType::Numeric(_) => DataType::Numeric(None),
        DataType::Text | DataType::Varchar(_) => DataType::Text,
        DataType::Interval | DataType::LimitedInterval(_) => DataType::Interval,
        DataType::Bytea | DataType::Varbinary(_) => DataType::Bytea,
        // JSON has no order; arrays with different element types are not comparable.
        DataType::Json | DataType::Array(_) | DataType::LimitedArray(_) => return None,
        other => other,
    })
}

/// Is its text independent of the session? Dates and floats are printed in the session's style, which the frame has.
fn prints_alike(ty: &DataType) -> bool {
    !matches!(
        ty,
        DataType::TimestampTz(_)
            | DataType::Array(_)
            | DataType::LimitedArray(_)
            | DataType::Char(_)
            | DataType::Boolean
    )
}

/// Is its text parsed independently of the session?
fn reads_alike(ty: &DataType) -> bool {
    ty.is_number() || matches!(ty, DataType::Boolean | DataType::Uuid)
}
