//! Conversions between Rust values and SQL values.

use crate::Error;
use std::time::{Duration, SystemTime};
use types::{Datum, Decimal, Interval};

/// A Rust value that can be a parameter or a value of an appended row.
///
/// The value is assigned to the parameter's type as in `INSERT`: an `i32` may be given for a `bigint`, and a value out
/// of range is an error. A `&str` is text; for a `uuid`, `date` or `timestamp` write `$1::text::date`, or give a
/// [`Datum`].
pub trait ToValue: Sync {
    /// Returns the SQL value.
    fn to_value(&self) -> Datum;
}

/// A Rust value that can be read from a SQL value.
///
/// Numbers widen (`smallint` reads as `i64`) and never narrow. Everything but [`Option`] and [`Datum`] refuses NULL.
pub trait FromValue: Sized {
    /// Converts `value`; `None` if its type does not fit.
    fn from_value(value: &Datum) -> Option<Self>;

    /// Name of this type in error messages.
    fn expected() -> &'static str;

    /// Whether NULL can be read as this type.
    const TAKES_NULL: bool = false;
}

/// Reads the value of the column `name`, which error messages mention.
pub(crate) fn read<T: FromValue>(name: &str, value: &Datum) -> Result<T, Error> {
    if value.is_null() && !T::TAKES_NULL {
        let message = format!("column \"{name}\" is NULL: read it as an Option");
        return Err(Error::new("22002", message));
    }
    T::from_value(value).ok_or_else(|| {
        let message =
            format!("column \"{name}\" holds {}, which does not read as {}", value.kind_name(), T::expected());
        Error::new("42804", message)
    })
}

macro_rules! values {
    ($($rust:ty, $name:literal, $($pattern:pat => $read:expr),+; $own:ident => $write:expr;)+) => {$(
        impl FromValue for $rust {
            fn from_value(value: &Datum) -> Option<Self> {
                match value {
                    $($pattern => $read,)+
                    _ => None,
                }
            }

            fn expected() -> &'static str {
                $name
            }
        }

        impl ToValue for $rust {
            fn to_value(&self) -> Datum {
                let $own = self;
                $write
            }
        }
    )+};
}

values! {
    bool, "bool", Datum::Bool(v) => Some(*v); v => Datum::Bool(*v);
    i16, "i16", Datum::Int2(v) => Some(*v); v => Datum::Int2(*v);
    i32, "i32", Datum::Int2(v) => Some(i32::from(*v)), Datum::Int4(v) => Some(*v); v => Datum::Int4(*v);
    i64, "i64", Datum::Int2(v) => Some(i64::from(*v)), Datum::Int4(v) => Some(i64::from(*v)), Datum::Int8(v) => Some(*v); v => Datum::Int8(*v);
    f32, "f32", Datum::Float4(v) => Some(*v); v => Datum::Float4(*v);
    f64, "f64", Datum::Float4(v) => Some(f64::from(*v)), Datum::Float8(v) => Some(*v); v => Datum::Float8(*v);
    Decimal, "Decimal", Datum::Numeric(v) => Some(*v); v => Datum::Numeric(*v);
    String, "String", Datum::Text(v) => Some(v.clone()); v => Datum::Text(v.clone());
    Vec<u8>, "Vec<u8>", Datum::Bytes(v) => Some(v.clone()); v => Datum::Bytes(v.clone());
    Interval, "Interval", Datum::Interval(v) => Some(*v); v => Datum::Interval(*v);
    SystemTime, "SystemTime", Datum::TimestampTz(v) => system_time(*v); v => Datum::TimestampTz(micros(*v));
}

/// Reads a one-dimensional array, or as `Vec<Vec<T>>` a two-dimensional one. Nullable items are read as [`Option`]s.
impl<T: FromValue> FromValue for Vec<T> {
    fn from_value(value: &Datum) -> Option<Self> {
        let Datum::Array(items) = value else { return None };
        let read = |item: &Datum| if item.is_null() && !T::TAKES_NULL { None } else { T::from_value(item) };
        items.iter().map(read).collect()
    }

    fn expected() -> &'static str {
        "Vec"
    }
}

impl<T: ToValue> ToValue for Vec<T> {
    fn to_value(&self) -> Datum {
        self.as_slice().to_value()
    }
}

impl<T: ToValue> ToValue for [T] {
    fn to_value(&self) -> Datum {
        Datum::Array(self.iter().map(T::to_value).collect())
    }
}

impl FromValue for Datum {
    fn from_value(value: &Datum) -> Option<Self> {
        Some(value.clone())
    }

    fn expected() -> &'static str {
        "Datum"
    }

    const TAKES_NULL: bool = true;
}

impl ToValue for Datum {
    fn to_value(&self) -> Datum {
        self.clone()
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: &Datum) -> Option<Self> {
        if value.is_null() { Some(None) } else { T::from_value(value).map(Some) }
    }

    fn expected() -> &'static str {
        T::expected()
    }

    const TAKES_NULL: bool = true;
}

impl<T: ToValue> ToValue for Option<T> {
    fn to_value(&self) -> Datum {
        self.as_ref().map_or(Datum::Null, T::to_value)
    }
}

impl<T: ToValue + ?Sized> ToValue for &T {
    fn to_value(&self) -> Datum {
        (**self).to_value()
    }
}

impl ToValue for str {
    fn to_value(&self) -> Datum {
        Datum::Text(self.to_owned())
    }
}

impl ToValue for [u8] {
    fn to_value(&self) -> Datum {
        Datum::Bytes(self.to_vec())
    }
}

/// Microseconds since 1970; times out of range become the infinities.
fn micros(time: SystemTime) -> i64 {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_micros()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_micros()).map_or(i64::MIN, |micros| -micros),
    }
}

/// `None` for the infinities.
fn system_time(micros: i64) -> Option<SystemTime> {
    let distance = Duration::from_micros(micros.unsigned_abs());
    match micros {
        i64::MIN | i64::MAX => None,
        0.. => SystemTime::UNIX_EPOCH.checked_add(distance),
        _ => SystemTime::UNIX_EPOCH.checked_sub(distance),
    }
}
