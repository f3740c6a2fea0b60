//! Converts the name of a type to a [`DataType`]: PostgreSQL's names, the standard's and Phoenix's.
//!
//! If PostgreSQL and Phoenix disagree, PostgreSQL takes precedence: `FLOAT` is `double precision`, `DATE` has no time.

use crate::array::MAX_DIMENSIONS;
use crate::{DataType, ElementType, IntervalFields, MAX_DIGITS, TypeError};

/// PostgreSQL's limit for `varchar(n)` and `char(n)`, which also applies to bytes.
const MAX_LENGTH: i64 = 10_485_760;

impl DataType {
    /// Returns the type called `name` (any case, inner blanks as in `double precision`) with the parameters `params`.
    ///
    /// # Errors
    /// [`TypeError::BadType`] for an unknown name, [`TypeError::UnsupportedType`] for a type of PostgreSQL or Phoenix
    /// that Bennu does not support, [`TypeError::BadTypeParameter`] for wrong parameters.
    pub fn from_name(name: &str, params: &[i64]) -> Result<DataType, TypeError> {
        let words: Vec<String> = name.split_whitespace().map(str::to_lowercase).collect();
        let name = words.join(" ");
        let name = name.strip_prefix("pg_catalog.").unwrap_or(&name);
        if let Some(element) = name.strip_suffix("[]") {
            // PostgreSQL has one type for arrays of any number of dimensions. A cast applies lengths and digits.
            let element = Self::from_name(element.trim_end_matches("[]"), params)?;
            let unsupported = || TypeError::UnsupportedType { name: format!("{element}[]"), hint: String::new() };
            return ElementType::of(&element).map(Self::Array).ok_or_else(unsupported);
        }
        match plain(name) {
            Some(ty) if params.is_empty() => Ok(ty),
            Some(ty) => with_digits(ty, name, params),
            None => with_parameters(name, params),
        }
    }
}

impl DataType {
    /// Returns the type of a column, which unlike [`DataType::from_name`] keeps the limits of an array's items, the
    /// number of its dimensions, and the fields and digits of intervals.
    ///
    /// # Errors
    /// Errors of [`DataType::from_name`]; [`TypeError::UnsupportedType`] for arrays of `char(n)` and `varbinary(n)`.
    pub fn of_column_name(name: &str, params: &[i64]) -> Result<DataType, TypeError> {
        let base = name.trim_end_matches("[]");
        let dimensions = (name.len() - base.len()) / 2;
        let item = match base.trim().to_lowercase().strip_prefix("interval") {
            Some(fields) if !(fields.is_empty() && params.is_empty()) => interval(fields.trim(), params)?,
            _ => Self::from_name(base, params)?,
        };
        match u8::try_from(dimensions) {
            Ok(0) => Ok(item),
            Ok(few) if dimensions <= MAX_DIMENSIONS => {
                let hint = if item.is_bytes() { "; use bytea[]" } else { "; use text[] or varchar(n)[]" };
                let hint = if item.is_text() || item.is_bytes() { hint } else { "" }.to_owned();
                let unsupported = || TypeError::UnsupportedType { name: format!("{item}[]"), hint };
                Self::array_of(&item, few).ok_or_else(unsupported)
            }
            _ => Err(TypeError::TooManyDimensions { found: dimensions }),
        }
    }
}

/// Parses `interval day to second(3)`. As for times, more than six digits count as six.
fn interval(fields: &str, params: &[i64]) -> Result<DataType, TypeError> {
    let digits = match params {
        [] => None,
        [n @ ..=-1] => {
            let message = format!("INTERVAL({n}) precision must not be negative");
            return Err(TypeError::BadTypeParameter { message });
        }
        [n] => Some(u8::try_from(*n).map_or(MAX_DIGITS, |digits| digits.min(MAX_DIGITS))),
        _ => return Err(TypeError::BadTypeParameter { message: "invalid INTERVAL type modifier".to_owned() }),
    };
    let read = IntervalFields::from_words(fields, digits).map(IntervalFields::data_type);
    read.ok_or_else(|| TypeError::BadType { message: format!("type \"interval {fields}\" does not exist") })
}

/// Returns the type of a name that needs no parameters.
fn plain(name: &str) -> Option<DataType> {
    Some(match name {
        "boolean" | "bool" => DataType::Boolean,
        "smallint" | "int2" | "tinyint" => DataType::SmallInt,
        "integer" | "int" | "int4" => DataType::Integer,
        "bigint" | "int8" => DataType::BigInt,
        "real" | "float4" => DataType::Real,
        "double precision" | "double" | "float8" => DataType::Double,
        "text" => DataType::Text,
        "bytea" => DataType::Bytea,
        "date" => DataType::Date,
        "time" | "time without time zone" => DataType::Time(None),
        "timestamp" | "timestamp without time zone" => DataType::Timestamp(None),
        "timestamptz" | "timestamp with time zone" => DataType::TimestampTz(None),
        "uuid" => DataType::Uuid,
        "interval" => DataType::Interval,
        "oid" => DataType::Oid,
        "json" => DataType::Json,
        _ => return None,
    })
}

/// Returns a type with digits, `timestamp(3)`. As in PostgreSQL, more than six digits count as six; other parameters
/// are refused, because they would be ignored.
fn with_digits(ty: DataType, name: &str, params: &[i64]) -> Result<DataType, TypeError> {
    let bad = |message: String| Err(TypeError::BadTypeParameter { message });
    let digits = |digits: i64| Some(u8::try_from(digits).map_or(MAX_DIGITS, |digits| digits.min(MAX_DIGITS)));
    match (ty, params) {
        (DataType::Time(_) | DataType::Timestamp(_) | DataType::TimestampTz(_), [n @ ..=-1]) => {
            bad(format!("{}({n}) precision must not be negative", name.to_uppercase()))
        }
        (DataType::Time(_), [n]) => Ok(DataType::Time(digits(*n))),
        (DataType::Timestamp(_), [n]) => Ok(DataType::Timestamp(digits(*n))),
        (DataType::TimestampTz(_), [n]) => Ok(DataType::TimestampTz(digits(*n))),
        (DataType::Interval, [n]) => Err(TypeError::UnsupportedType {
            name: format!("{name}({n})"),
            hint: ": intervals keep microseconds, precision 6".to_owned(),
        }),
        _ => bad(format!("type modifier is not allowed for type \"{name}\"")),
    }
}

/// Returns a type that takes parameters.
fn with_parameters(name: &str, params: &[i64]) -> Result<DataType, TypeError> {
    match name {
        "numeric" | "decimal" | "dec" => numeric(params),
        "float" => float(params),
        "varchar" | "character varying" | "char varying" => match params {
            [] => Ok(DataType::Varchar(None)),
            _ => Ok(DataType::Varchar(Some(length("varchar", params)?))),
        },
        "char" | "character" => match params {
            [] => Ok(DataType::Char(1)),
            _ => Ok(DataType::Char(length("char", params)?)),
        },
        "bpchar" => match params {
            [] => unsupported("bpchar without a length", "; use text or char(n)"),
            _ => Ok(DataType::Char(length("bpchar", params)?)),
        },
        "varbinary" | "binary varying" => match params {
            [] => Ok(DataType::Bytea),
            _ => Ok(DataType::Varbinary(length("varbinary", params)?)),
        },
        "binary" => match params {
            [] => {
                Err(TypeError::BadTypeParameter { message: "type binary needs a length, as in binary(16)".to_owned() })
            }
            _ => Ok(DataType::Binary(length("binary", params)?)),
        },
        _ => Err(unknown(name)),
    }
}

fn numeric(params: &[i64]) -> Result<DataType, TypeError> {
    let (precision, scale) = match *params {
        [] => return Ok(DataType::Numeric(None)),
        [precision] => (precision, 0),
        [precision, scale] => (precision, scale),
        _ => return Err(TypeError::BadTypeParameter { message: "invalid NUMERIC type modifier".to_owned() }),
    };
    let small = |n: i64, from: i64, to: i64| u8::try_from(n).ok().filter(|_| (from..=to).contains(&n));
    let precision = small(precision, 1, 38).ok_or_else(|| TypeError::BadTypeParameter {
        message: format!("NUMERIC precision {precision} must be between 1 and 38"),
    })?;
    let scale = small(scale, 0, i64::from(precision)).ok_or_else(|| TypeError::BadTypeParameter {
        message: format!("NUMERIC scale {scale} must be between 0 and precision {precision}"),
    })?;
    Ok(DataType::Numeric(Some((precision, scale))))
}

/// `float(p)` counts binary digits, as in the standard.
fn float(params: &[i64]) -> Result<DataType, TypeError> {
    let bad = |message: &str| Err(TypeError::BadTypeParameter { message: message.to_owned() });
    match params {
        [] | [25..=53] => Ok(DataType::Double),
        [1..=24] => Ok(DataType::Real),
        [..=0] => bad("precision for type float must be at least 1 bit"),
        [_] => bad("precision for type float must be less than 54 bits"),
        _ => bad("invalid FLOAT type modifier"),
    }
}

fn length(name: &str, params: &[i64]) -> Result<u32, TypeError> {
    let message = match *params {
        [n] if (1..=MAX_LENGTH).contains(&n) => match u32::try_from(n) {
            Ok(length) => return Ok(length),
            Err(_) => format!("length for type {name} cannot exceed {MAX_LENGTH}"),
        },
        [n] if n < 1 => format!("length for type {name} must be at least 1"),
        [_] => format!("length for type {name} cannot exceed {MAX_LENGTH}"),
        _ => format!("type {name} takes one parameter, its length"),
    };
    Err(TypeError::BadTypeParameter { message })
}

fn unsupported(name: &str, hint: &str) -> Result<DataType, TypeError> {
    Err(TypeError::UnsupportedType { name: name.to_owned(), hint: hint.to_owned() })
}

/// Returns the error for a name without a type: unsupported or unknown.
fn unknown(name: &str) -> TypeError {
    let hint = match name {
        "unsigned_tinyint" | "unsigned_smallint" => "; use smallint or integer (values sort the same)",
        "unsigned_int" => "; use bigint, or integer when values stay below 2^31",
        "unsigned_long" => "; use bigint",
        "unsigned_float" => "; use real",
        "unsigned_double" => "; use double precision",
        "unsigned_date" => "; use date",
        "unsigned_time" => "; use time",
        "unsigned_timestamp" => "; use timestamp",
        "jsonb" => "; use json, or text to store it",
        "bson" | "xml" => "; use text",
        "serial" | "serial4" | "bigserial" | "serial8" | "smallserial" | "serial2" => "; use an integer type",
        "money" => "; use numeric",
        "timetz" | "time with time zone" => "; use time or timestamptz",
        "bit" | "bit varying" | "varbit" | "inet" | "cidr" | "macaddr" | "macaddr8" | "hstore" | "point" | "line"
        | "lseg" | "box" | "path" | "polygon" | "circle" | "tsvector" | "tsquery" | "int4range" | "int8range"
        | "numrange" | "tsrange" | "tstzrange" | "daterange" | "nchar" | "nvarchar" | "clob" | "blob"
        | "varbinary_encoded" => "",
        _ => return TypeError::BadType { message: format!("type \"{name}\" does not exist") },
    };
    TypeError::UnsupportedType { name: name.to_owned(), hint: hint.to_owned() }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn names_of_both_worlds_lead_to_one_type() {
        let cases: [(&str, &[i64], DataType); 16] = [
            ("INT", &[], DataType::Integer),
            ("TinyInt", &[], DataType::SmallInt),
            ("double  PRECISION", &[], DataType::Double),
            ("float", &[24], DataType::Real),
            ("float", &[], DataType::Double),
            ("DECIMAL", &[10, 2], DataType::Numeric(Some((10, 2)))),
            ("numeric", &[5], DataType::Numeric(Some((5, 0)))),
            ("VARBINARY", &[], DataType::Bytea),
            ("varbinary", &[7], DataType::Varbinary(7)),
            ("bpchar", &[3], DataType::Char(3)),
            ("character", &[], DataType::Char(1)),
            ("character varying", &[9], DataType::Varchar(Some(9))),
            ("timestamp with time zone", &[6], DataType::TimestampTz(Some(6))),
            ("time", &[0], DataType::Time(Some(0))),
            ("timestamp", &[9], DataType::Timestamp(Some(6))),
            ("pg_catalog.int8", &[], DataType::BigInt),
        ];
        for (name, params, ty) in cases {
            assert_eq!(DataType::from_name(name, params), Ok(ty), "{name}");
        }
    }

    #[test]
    fn a_parameter_is_never_ignored() {
        for (name, params) in [
            ("integer", vec![3]),
            ("timestamp", vec![3, 3]),
            ("timestamp", vec![-1]),
            ("interval", vec![3]),
            ("date", vec![3]),
            ("numeric", vec![39, 0]),
            ("numeric", vec![5, 6]),
            ("numeric", vec![5, -1]),
            ("varchar", vec![0]),
            ("char", vec![1, 2]),
            ("binary", vec![]),
            ("float", vec![54]),
        ] {
            assert!(DataType::from_name(name, &params).is_err(), "{name}{params:?}");
        }
    }

    #[test]
    fn columns_keep_what_expressions_do_not() {
        let name = |name: &str, params: &[i64]| DataType::of_column_name(name, params).map(|ty| ty.column_name());
        for (written, params, shown) in [
            ("numeric[]", &[10, 2][..], "numeric(10,2)[]"),
            ("INTEGER[][][]", &[], "integer[][][]"),
            ("interval", &[9], "interval(6)"),
            ("INTERVAL DAY TO HOUR", &[], "interval day to hour"),
            ("interval second[]", &[3], "interval second(3)[]"),
        ] {
            assert_eq!(name(written, params).as_deref(), Ok(shown));
        }
        for (written, params) in [
            ("char[]", &[3][..]),
            ("varbinary[]", &[3]),
            ("interval", &[-1]),
            ("interval day", &[3]),
            ("json[]", &[]),
            ("integer[][][][][][][]", &[]),
        ] {
            assert!(name(written, params).is_err(), "{written}");
        }
    }

    #[test]
    fn unknown_and_unsupported_types_differ() {
        assert!(matches!(DataType::from_name("foo", &[]), Err(TypeError::BadType { .. })));
        let error = DataType::from_name("UNSIGNED_INT", &[]).unwrap_err();
        assert!(matches!(error, TypeError::UnsupportedType { .. }));
        assert_eq!(
            error.to_string(),
            "type unsigned_int is not supported; use bigint, or integer when values stay below 2^31"
        );
    }

    #[test]
    fn every_type_is_found_by_its_own_name_and_oid() {
        for ty in crate::data_type::tests::samples() {
            let name = ty.sql_name();
            let (base, rest) = name.split_once('(').unwrap_or((&name, ")"));
            let (params, tail) = rest.split_once(')').unwrap();
            let params: Vec<i64> = params.split(',').filter(|p| !p.is_empty()).map(|p| p.parse().unwrap()).collect();
            assert_eq!(DataType::of_column_name(&format!("{base}{tail}"), &params), Ok(ty));
            if !matches!(ty, DataType::Varbinary(_) | DataType::Binary(_)) {
                assert_eq!(DataType::from_oid(ty.oid(), ty.typmod()), Some(ty));
            }
        }
    }
}
