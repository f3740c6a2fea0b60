//! Binds key tests: evaluates their operands, and converts them to conditions on key ranges.

use super::{AccessPath, KeyTest, Target};
use crate::expr::{Frame, RowExpr, Stop};
use rowkey::range::{Condition, KeyRanges, RangeLimits, key_ranges, like};
use types::{CompareOp, DataType, Datum};

/// Larger integers are rounded when they are converted to double precision and real.
const EXACT_DOUBLE: f64 = 9_007_199_254_740_992.0;
const EXACT_REAL: f32 = 16_777_216.0;

impl AccessPath {
    /// The key ranges that may contain rows which satisfy all conditions.
    ///
    /// # Errors
    /// Errors of the operands.
    pub(crate) fn ranges(&self, frame: &Frame<'_>) -> Result<KeyRanges, Stop> {
        Ok(self.ranges_of(&bound(&self.tests, frame)?))
    }

    /// The key ranges for conditions on the parts of this path's key.
    pub(crate) fn ranges_of(&self, conditions: &[Condition]) -> KeyRanges {
        let schema = self.scanned.codec().key_schema();
        let limits = match self.one_range {
            true => RangeLimits::of(schema.salt_buckets.map_or(1, usize::from)),
            false => RangeLimits::default(),
        };
        key_ranges(schema, conditions, &limits)
    }
}

/// Converts tests to conditions.
///
/// # Errors
/// Errors of the operands.
pub(crate) fn bound(tests: &[KeyTest], frame: &Frame<'_>) -> Result<Vec<Condition>, Stop> {
    tests.iter().map(|test| test.bind(frame)).collect()
}

impl KeyTest {
    fn bind(&self, frame: &Frame<'_>) -> Result<Condition, Stop> {
        let all = |tests: &[Self]| tests.iter().map(|test| test.bind(frame)).collect::<Result<Vec<_>, Stop>>();
        Ok(match self {
            Self::And(tests) => Condition::And(all(tests)?),
            Self::Or(tests) => Condition::Or(all(tests)?),
            Self::Compare(of, op, operand) => compare(*of, *op, value(operand, frame)?),
            Self::In(of, operands) => {
                let values = operands.iter().map(|operand| value(operand, frame));
                in_values(*of, values.collect::<Result<_, Stop>>()?)
            }
            Self::NotIn(of, operands) => {
                let unequal = operands.iter().map(|operand| Ok(compare(*of, CompareOp::Ne, value(operand, frame)?)));
                Condition::And(unequal.collect::<Result<_, Stop>>()?)
            }
            Self::InArray(of, operand) => match value(operand, frame)? {
                Datum::Array(items) if items.iter().all(|item| !matches!(item, Datum::Array(_))) => {
                    in_values(*of, items)
                }
                Datum::Null => Condition::False,
                _ => Condition::Unknown,
            },
            Self::IsNull(of, negated) => Condition::IsNull { part: of.part, negated: *negated },
            Self::Bool(of, value) => compare(*of, CompareOp::Eq, Datum::Bool(*value)),
            Self::Like(of, operand) => match value(operand, frame)? {
                Datum::Text(pattern) => like(of.part, &of.ty, &pattern, '\\'),
                Datum::Null => Condition::False,
                _ => Condition::Unknown,
            },
            Self::Rows(targets, op, operands) => rows(targets, *op, operands, frame)?,
            Self::Unknown => Condition::Unknown,
        })
    }
}

fn value(operand: &RowExpr, frame: &Frame<'_>) -> Result<Datum, Stop> {
    Ok(operand.eval(frame)?.into_owned())
}

fn compare(of: Target, op: CompareOp, value: Datum) -> Condition {
    match value {
        Datum::Null => Condition::False,
        value if comparable(&of.ty, &value) => Condition::Compare { part: of.part, op, value },
        _ => Condition::Unknown,
    }
}

fn in_values(of: Target, values: Vec<Datum>) -> Condition {
    let values: Vec<Datum> = values.into_iter().filter(|value| !value.is_null()).collect();
    match values.iter().all(|value| comparable(&of.ty, value)) {
        true => Condition::In { part: of.part, values },
        false => Condition::Unknown,
    }
}

/// A row comparison with a NULL is decided by the columns before it, which a condition on key ranges cannot express;
/// such a comparison is only checked on rows.
fn rows(targets: &[Target], op: CompareOp, operands: &[RowExpr], frame: &Frame<'_>) -> Result<Condition, Stop> {
    let values = operands.iter().map(|operand| value(operand, frame)).collect::<Result<Vec<_>, _>>()?;
    let known = targets.iter().zip(&values).all(|(of, value)| !value.is_null() && comparable(&of.ty, value));
    Ok(match known {
        true => Condition::RowCompare { parts: targets.iter().map(|of| of.part).collect(), op, values },
        false => Condition::Unknown,
    })
}

/// Does the key compare the part with such a value like the operator does?
fn comparable(ty: &DataType, value: &Datum) -> bool {
    match value {
        Datum::Float8(number) if ty.is_integer() => number.abs() < EXACT_DOUBLE,
        Datum::Float4(number) if ty.is_integer() => number.abs() < EXACT_REAL,
        Datum::Float8(_) | Datum::Float4(_) => ty.is_float(),
        Datum::Int2(_) | Datum::Int4(_) | Datum::Int8(_) => ty.is_number() || *ty == DataType::Oid,
        Datum::Numeric(_) => ty.is_integer() || matches!(ty, DataType::Numeric(_)),
        // A char(n) is encoded in keys without trailing blanks, and so is represented by its values.
        Datum::Text(text) => ty.is_text() && !(matches!(ty, DataType::Char(_)) && text.ends_with(' ')),
        Datum::Date(_) | Datum::Timestamp(_) => matches!(ty, DataType::Date | DataType::Timestamp(_)),
        Datum::TimestampTz(_) => matches!(ty, DataType::TimestampTz(_)),
        Datum::Time(_) => matches!(ty, DataType::Time(_)),
        Datum::Bool(_) => *ty == DataType::Boolean,
        Datum::Bytes(_) => ty.is_bytes(),
        Datum::Uuid(_) => *ty == DataType::Uuid,
        Datum::Interval(_) | Datum::Array(_) | Datum::Null => false,
    }
}
