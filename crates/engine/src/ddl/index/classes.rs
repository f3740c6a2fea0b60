//! Access methods and operator classes by name: those that mean what an index here is.

use crate::error::{EngineResult, Fault, fail};
use types::DataType;

/// Entries are kept in order, which clients know as `btree`.
pub(super) fn check_method(method: Option<&str>) -> EngineResult<()> {
    match method {
        None | Some("btree") => Ok(()),
        Some(name @ ("hash" | "gist" | "gin" | "spgist" | "brin")) => {
            fail(Fault::Unsupported { feature: format!("access method \"{name}\" of an index") })
        }
        Some(name) => fail(Fault::NoAccessMethod { name: name.to_string() }),
    }
}

/// Those that mean the order that a type has, and the types. `…_pattern_ops` are for the order of bytes, which text has here
/// anyway.
fn accepts(class: &str, ty: DataType) -> Option<bool> {
    use DataType as Of;
    Some(match class {
        "bool_ops" => ty == Of::Boolean,
        "bpchar_ops" | "bpchar_pattern_ops" => matches!(ty, Of::Char(_)),
        "bytea_ops" => matches!(ty, Of::Bytea | Of::Binary(_) | Of::Varbinary(_)),
        "date_ops" => ty == Of::Date,
        "float4_ops" => ty == Of::Real,
        "float8_ops" => ty == Of::Double,
        "int2_ops" => ty == Of::SmallInt,
        "int4_ops" => ty == Of::Integer,
        "int8_ops" => ty == Of::BigInt,
        "numeric_ops" => matches!(ty, Of::Numeric(_)),
        "text_ops" | "varchar_ops" | "text_pattern_ops" | "varchar_pattern_ops" => {
            matches!(ty, Of::Text | Of::Varchar(_))
        }
        "time_ops" => matches!(ty, Of::Time(_)),
        "timestamp_ops" => matches!(ty, Of::Timestamp(_)),
        "timestamptz_ops" => matches!(ty, Of::TimestampTz(_)),
        "uuid_ops" => ty == Of::Uuid,
        _ => return None,
    })
}

/// Operator classes of PostgreSQL for types that no index has here.
const OTHER_CLASSES: &[&str] = &[
    "array_ops",
    "bit_ops",
    "char_ops",
    "cidr_ops",
    "enum_ops",
    "inet_ops",
    "interval_ops",
    "jsonb_ops",
    "macaddr_ops",
    "money_ops",
    "name_ops",
    "oid_ops",
    "range_ops",
    "record_ops",
    "timetz_ops",
    "tsvector_ops",
];

pub(super) fn check_operator_class(class: &str, ty: DataType) -> EngineResult<()> {
    match accepts(class, ty) {
        Some(true) => Ok(()),
        Some(false) => fail(Fault::UnfitOperatorClass { name: class.to_string(), ty: ty.column_name() }),
        None if OTHER_CLASSES.contains(&class) => {
            fail(Fault::Unsupported { feature: format!("operator class \"{class}\" of an index") })
        }
        None => fail(Fault::NoOperatorClass { name: class.to_string() }),
    }
}
