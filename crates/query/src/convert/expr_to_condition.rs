//! DataFusion's expressions to the conditions of the range algebra.
//!
//! Constants are evaluated when a scan is created. Before that, while a plan may still have parameters, the same
//! traversal tells whether an expression will be a condition for any value of its parameters ([`Mode::Shape`]).
//!
//! Casts that DataFusion added to a column are skipped if they preserve order and lose nothing: `CAST(pk AS numeric) =
//! 5.0` is a condition on `pk`.

use crate::convert::arrow_type::arrow_type;
use crate::convert::scalar::scalar_to_datum;
use crate::functions::{ListedRows, label_of, rows_of, utc_timestamp_target};
use arrow::array::RecordBatch;
use arrow::datatypes::{DataType as ArrowType, Schema, TimeUnit};
use arrow::record_batch::RecordBatchOptions;
use datafusion::common::{Column, DFSchema, ScalarValue};
use datafusion::logical_expr::execution_props::ExecutionProps;
use datafusion::logical_expr::expr::{Between, InList, Like};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, Operator};
use datafusion::physical_expr::create_physical_expr;
use rowkey::range::Condition;
use std::sync::Arc;
use types::{CompareOp, DataType, Datum};

/// Whether constants are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Constants are not known: they are NULL in the conditions, of which only the shape is valid.
    Shape,
    /// Constants are known.
    Values,
}

/// Returns the part and the type of a column; `None` for columns without conditions.
pub(crate) type PartOf<'a> = &'a dyn Fn(&Column) -> Option<(usize, DataType)>;

/// Converts expressions to conditions.
pub(crate) struct ConditionBuilder<'a> {
    mode: Mode,
    part_of: PartOf<'a>,
}

impl<'a> ConditionBuilder<'a> {
    pub(crate) fn new(mode: Mode, part_of: PartOf<'a>) -> Self {
        Self { mode, part_of }
    }

    /// Returns the condition of `expr` on the parts; [`Condition::Unknown`] if ranges cannot express it.
    pub(crate) fn condition(&self, expr: &Expr) -> Condition {
        match expr {
            Expr::Alias(alias) => self.condition(&alias.expr),
            Expr::BinaryExpr(binary) => self.binary(binary),
            Expr::Between(between) => self.between(between),
            Expr::InList(list) => self.in_list(list),
            Expr::Like(like) => self.like(like),
            Expr::IsNull(inner) => self.is_null(inner, false),
            Expr::IsNotNull(inner) => self.is_null(inner, true),
            Expr::ScalarFunction(call) => match (label_of(call), rows_of(&call.func)) {
                (Some(DataType::Boolean), _) => call.args.first().map_or(Condition::Unknown, |of| self.condition(of)),
                (_, Some(rows)) => self.in_rows(call.args.get(..rows.width).unwrap_or_default(), rows),
                _ => Condition::Unknown,
            },
            Expr::Column(column) => self.boolean(column, true),
            Expr::Not(inner) => match inner.as_ref() {
                Expr::Column(column) => self.boolean(column, false),
                _ => Condition::Unknown,
            },
            Expr::Literal(ScalarValue::Boolean(value), _) if self.mode == Mode::Values => match value {
                Some(true) => Condition::And(Vec::new()),
                Some(false) | None => Condition::False,
            },
            _ => Condition::Unknown,
        }
    }

    fn binary(&self, binary: &BinaryExpr) -> Condition {
        let BinaryExpr { left, op, right } = binary;
        match op {
            Operator::And => Condition::And(self.flatten(Operator::And, left, right)),
            Operator::Or => Condition::Or(self.flatten(Operator::Or, left, right)),
            _ => match compare_op(*op) {
                Some(op) => self.compare(left, op, right),
                None => Condition::Unknown,
            },
        }
    }

    /// Flattens `a OR b OR c`.
    fn flatten(&self, op: Operator, left: &Expr, right: &Expr) -> Vec<Condition> {
        let operands = |side: &Expr| match (op, self.condition(side)) {
            (Operator::And, Condition::And(inner)) | (Operator::Or, Condition::Or(inner)) => inner,
            (_, other) => vec![other],
        };
        let mut conditions = operands(left);
        conditions.extend(operands(right));
        conditions
    }

    fn compare(&self, left: &Expr, op: CompareOp, right: &Expr) -> Condition {
        if let Some(target) = self.target(left) {
            return self.compare_with(&target, op, right);
        }
        match self.target(right) {
            Some(target) => self.compare_with(&target, op.swapped(), left),
            None => Condition::Unknown,
        }
    }

    fn compare_with(&self, target: &Target, op: CompareOp, constant: &Expr) -> Condition {
        match self.constant(target, constant) {
            Some(value) => Condition::Compare { part: target.part, op, value },
            None => Condition::Unknown,
        }
    }

    fn between(&self, between: &Between) -> Condition {
        let Some(target) = self.target(&between.expr) else { return Condition::Unknown };
        let (low, high) = if between.negated { (CompareOp::Lt, CompareOp::Gt) } else { (CompareOp::Ge, CompareOp::Le) };
        let bounds =
            vec![self.compare_with(&target, low, &between.low), self.compare_with(&target, high, &between.high)];
        if between.negated { Condition::Or(bounds) } else { Condition::And(bounds) }
    }

    fn in_list(&self, list: &InList) -> Condition {
        let Some(target) = self.target(&list.expr) else { return Condition::Unknown };
        let values: Option<Vec<Datum>> = list.list.iter().map(|item| self.constant(&target, item)).collect();
        let Some(values) = values else { return Condition::Unknown };
        if !list.negated {
            return Condition::In { part: target.part, values };
        }
        let unequal = |value| Condition::Compare { part: target.part, op: CompareOp::Ne, value };
        Condition::And(values.into_iter().map(unequal).collect())
    }

    /// Returns the condition of a list of rows on the parts of its left side. A row with a NULL is equal to none.
    fn in_rows(&self, left: &[Expr], rows: ListedRows<'_>) -> Condition {
        let targets = left.iter().enumerate().filter_map(|(column, side)| Some((column, self.target(side)?)));
        let (columns, targets): (Vec<usize>, Vec<Target>) = targets.unzip();
        if targets.is_empty() {
            return Condition::Unknown;
        }
        let values = match self.mode {
            Mode::Shape => Some(Vec::new()),
            Mode::Values => rows.count().and_then(|count| {
                let values = |row| {
                    let values = rows.datums(row, &columns)?;
                    targets.iter().zip(values).map(|(target, value)| value_of_part(target, value)).collect()
                };
                (0..count).map(values).collect()
            }),
        };
        let listed = match (targets.as_slice(), values) {
            (_, None) => return Condition::Unknown,
            ([only], Some(rows)) => Condition::In { part: only.part, values: rows.into_iter().flatten().collect() },
            (all, Some(rows)) => Condition::RowIn { parts: all.iter().map(|target| target.part).collect(), rows },
        };
        if targets.len() == left.len() { listed } else { Condition::And(vec![listed, Condition::Unknown]) }
    }

    fn like(&self, like: &Like) -> Condition {
        if like.negated || like.case_insensitive {
            return Condition::Unknown;
        }
        let Some(target) = self.target(&like.expr).filter(|target| target.ty.is_text()) else {
            return Condition::Unknown;
        };
        let Some(Datum::Text(pattern)) = self.constant(&target, &like.pattern) else { return Condition::Unknown };
        rowkey::range::like(target.part, &target.ty, &pattern, like.escape_char.unwrap_or('\\'))
    }

    fn is_null(&self, inner: &Expr, negated: bool) -> Condition {
        match self.target(inner) {
            Some(target) => Condition::IsNull { part: target.part, negated },
            None => Condition::Unknown,
        }
    }

    fn boolean(&self, column: &Column, value: bool) -> Condition {
        match (self.part_of)(column) {
            Some((part, DataType::Boolean)) => {
                Condition::Compare { part, op: CompareOp::Eq, value: Datum::Bool(value) }
            }
            _ => Condition::Unknown,
        }
    }

    /// Returns the part that an expression reads, below casts that preserve order.
    fn target(&self, expr: &Expr) -> Option<Target> {
        match expr {
            Expr::Column(column) => {
                let (part, ty) = (self.part_of)(column)?;
                Some(Target { part, ty, seen_as: arrow_type(&ty) })
            }
            Expr::Cast(cast) => {
                let target = self.target(&cast.expr)?;
                let to = cast.field.data_type();
                keeps_order(&target.seen_as, to).then(|| Target { seen_as: to.clone(), ..target })
            }
            // Bennu's cast of dates and timestamps: Arrow's has no infinities.
            Expr::ScalarFunction(call) => {
                let to = utc_timestamp_target(call)?;
                let target = self.target(call.args.first()?)?;
                let is_moment = matches!(target.seen_as, ArrowType::Date32 | ArrowType::Timestamp(..));
                is_moment.then(|| Target { seen_as: arrow_type(&to), ..target })
            }
            Expr::Alias(alias) => self.target(&alias.expr),
            _ => None,
        }
    }

    /// Returns the value of a constant that is compared with `target`.
    fn constant(&self, target: &Target, expr: &Expr) -> Option<Datum> {
        if self.mode == Mode::Shape {
            return self.constant_shape(target, expr);
        }
        let scalar = evaluate_constant(expr)?;
        if scalar.is_null() {
            return Some(Datum::Null);
        }
        value_of_part(target, scalar_to_datum(&scalar).ok()?)
    }

    fn constant_shape(&self, target: &Target, expr: &Expr) -> Option<Datum> {
        if let Expr::Literal(scalar, _) = expr {
            let value = scalar_to_datum(scalar).ok()?;
            return if value.is_null() { Some(value) } else { value_of_part(target, value) };
        }
        if !is_constant(expr) {
            return None;
        }
        // A constant has no columns, so its type can be found with an empty schema.
        let ty = expr.get_type(&DFSchema::empty()).ok()?;
        (ty == target.seen_as).then_some(Datum::Null)
    }
}

/// A part, possibly below casts.
struct Target {
    part: usize,
    ty: DataType,
    /// The Arrow type in which the part is compared with constants.
    seen_as: ArrowType,
}

/// Converts a value to the type of the part; `None` if the algebra would not compare it as DataFusion does.
fn value_of_part(target: &Target, value: Datum) -> Option<Datum> {
    let value = match (target.ty, value) {
        // The cast of one to the other is in UTC.
        (DataType::Date | DataType::Timestamp(_), Datum::TimestampTz(micros)) => Datum::Timestamp(micros),
        (DataType::TimestampTz(_), Datum::Timestamp(micros)) => Datum::TimestampTz(micros),
        (_, value) => value,
    };
    comparable(target, &value).then_some(value)
}

/// Returns whether the algebra compares `value` with the part as DataFusion does.
fn comparable(target: &Target, value: &Datum) -> bool {
    match value {
        // A bigint cast to double is rounded beyond 2^53: several bigints may equal one double.
        Datum::Float8(number) if target.ty.is_integer() => number.abs() < 9_007_199_254_740_992.0,
        Datum::Float4(number) if target.ty.is_integer() => number.abs() < 16_777_216.0,
        Datum::Float8(_) | Datum::Float4(_) => target.ty.is_float(),
        // Keys and cells have a char(n) without its trailing blanks, as constants of type char(n) do; a text may have
        // them.
        Datum::Text(text) if matches!(target.ty, DataType::Char(_)) => !text.ends_with(' '),
        _ => true,
    }
}

/// Returns whether a cast preserves order and equality, and maps no two values to one.
fn keeps_order(from: &ArrowType, to: &ArrowType) -> bool {
    use ArrowType::{Date32, Decimal128, Decimal256, Float32, Float64, Int16, Int32, Int64, Timestamp};
    match (from, to) {
        (from, to) if from == to => true,
        (Int16, Int32 | Int64 | Float32 | Float64) | (Int32, Int64 | Float64) | (Float32, Float64) => true,
        // `comparable` also checks the value.
        (Int64, Float64) | (Int32, Float32) => true,
        (Int16 | Int32 | Int64, Decimal128(precision, scale) | Decimal256(precision, scale)) => {
            let digits = match from {
                Int16 => 5,
                Int32 => 10,
                _ => 19,
            };
            i16::from(*precision) - i16::from(*scale) >= digits
        }
        (Decimal128(p1, s1), Decimal128(p2, s2) | Decimal256(p2, s2)) => {
            s2 >= s1 && i16::from(*p2) - i16::from(*s2) >= i16::from(*p1) - i16::from(*s1)
        }
        (Date32, Timestamp(TimeUnit::Microsecond, None)) => true,
        _ => false,
    }
}

/// Returns whether `expr` has no columns, subqueries or volatile functions. Parameters are allowed.
pub(crate) fn is_constant(expr: &Expr) -> bool {
    !expr.any_column_refs() && !expr.is_volatile() && !expr.contains_outer() && !expr.contains_scalar_subquery()
}

/// Evaluates an expression without columns.
pub(crate) fn evaluate_constant(expr: &Expr) -> Option<ScalarValue> {
    if let Expr::Literal(value, _) = expr {
        return Some(value.clone());
    }
    if !is_constant(expr) {
        return None;
    }
    let empty = Arc::new(Schema::empty());
    let schema = DFSchema::empty();
    let physical = create_physical_expr(expr, &schema, &ExecutionProps::new(), &Default::default()).ok()?;
    let row =
        RecordBatch::try_new_with_options(empty, vec![], &RecordBatchOptions::new().with_row_count(Some(1))).ok()?;
    let array = physical.evaluate(&row).ok()?.into_array(1).ok()?;
    ScalarValue::try_from_array(&array, 0).ok()
}

pub(crate) fn compare_op(op: Operator) -> Option<CompareOp> {
    Some(match op {
        Operator::Eq => CompareOp::Eq,
        Operator::NotEq => CompareOp::Ne,
        Operator::Lt => CompareOp::Lt,
        Operator::LtEq => CompareOp::Le,
        Operator::Gt => CompareOp::Gt,
        Operator::GtEq => CompareOp::Ge,
        _ => return None,
    })
}

/// Returns whether the algebra can express every part of a condition.
pub(crate) fn is_complete(condition: &Condition) -> bool {
    match condition {
        Condition::And(all) | Condition::Or(all) => all.iter().all(is_complete),
        Condition::Unknown => false,
        _ => true,
    }
}

/// Returns whether a condition can narrow the ranges.
pub(crate) fn is_useful(condition: &Condition) -> bool {
    match condition {
        Condition::And(all) => all.iter().any(is_useful),
        Condition::Or(any) => any.iter().all(is_useful),
        Condition::Unknown => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::in_rows;
    use datafusion::logical_expr::{cast, col, lit};

    fn part_of(column: &Column) -> Option<(usize, DataType)> {
        match column.name.as_str() {
            "a" => Some((0, DataType::Integer)),
            "t" => Some((1, DataType::Text)),
            "c" => Some((2, DataType::Char(3))),
            _ => None,
        }
    }

    fn condition(expr: &Expr) -> Condition {
        ConditionBuilder::new(Mode::Values, &part_of).condition(expr)
    }

    #[test]
    fn casts_that_lose_nothing_are_looked_through() {
        let wide = cast(col("a"), ArrowType::Decimal128(20, 1)).eq(lit(ScalarValue::Decimal128(Some(50), 2, 1)));
        assert!(matches!(condition(&wide), Condition::Compare { part: 0, op: CompareOp::Eq, .. }));
        let text = cast(col("a"), ArrowType::Utf8).eq(lit("5"));
        assert_eq!(condition(&text), Condition::Unknown);
        let narrow = cast(col("a"), ArrowType::Int16).eq(lit(5_i16));
        assert_eq!(condition(&narrow), Condition::Unknown);
    }

    #[test]
    fn a_constant_may_be_an_expression() {
        let sum = col("a").gt_eq(lit(2_i32) + lit(3_i32));
        let five = Condition::Compare { part: 0, op: CompareOp::Ge, value: Datum::Int4(5) };
        assert_eq!(condition(&sum), five);
        assert_eq!(condition(&(lit(5_i32).lt_eq(col("a")))), five);
    }

    #[test]
    fn a_list_of_rows_is_one_of_the_columns_that_are_parts() {
        let rows = |second: Expr| {
            let items = (1..3).flat_map(|number| [lit(number), lit("x")]).collect();
            in_rows(vec![col("a"), second], vec![ArrowType::Int32, ArrowType::Utf8], items).map(|list| condition(&list))
        };
        let row = |number| vec![Datum::Int4(number), Datum::Text("x".into())];
        let both = Condition::RowIn { parts: vec![0, 1], rows: vec![row(1), row(2)] };
        assert!(rows(col("t")).is_ok_and(|listed| listed == both));
        let first = Condition::In { part: 0, values: vec![Datum::Int4(1), Datum::Int4(2)] };
        let partly = Condition::And(vec![first, Condition::Unknown]);
        assert!(rows(col("z")).is_ok_and(|listed| listed == partly));
    }

    #[test]
    fn an_or_is_useful_only_if_every_branch_is() {
        let both = condition(&col("a").eq(lit(1)).or(col("t").eq(lit("x"))));
        assert!(is_useful(&both) && is_complete(&both));
        let one = condition(&col("a").eq(lit(1)).or(col("z").eq(lit(2))));
        assert!(!is_useful(&one));
        let all = condition(&col("a").eq(lit(1)).and(col("z").eq(lit(2))));
        assert!(is_useful(&all) && !is_complete(&all));
    }
}
