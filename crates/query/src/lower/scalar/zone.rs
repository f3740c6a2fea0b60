//! Calls that depend on the session's time zone or style (`DateStyle`, `IntervalStyle`), if these are not the defaults.
//!
//! ```text
//!   extract(hour from timestamptz), to_char, age     of the local time: timezone('Europe/Berlin', timestamptz)
//!   date_trunc('day', timestamptz)                   date_trunc('day', timestamptz, 'Europe/Berlin')
//!   timestamptz + interval                           by the days of the time zone
//! ```
//! In UTC, the usual time zone of sessions, no call is changed. Plans are cached per time zone.

use crate::convert::arrow_type;
use crate::functions::{Zone, cast_in_zone};
use crate::lower::Lowering;
use crate::lower::error::LowerResult;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Cast, Expr};
use types::DataType;
use types::DataType::{Interval, Text};

const LOCAL: DataType = DataType::Timestamp(None);
const MOMENT: DataType = DataType::TimestampTz(None);

/// Phoenix's functions of one field.
const FIELDS: [&str; 9] = ["year", "month", "week", "dayofyear", "dayofmonth", "dayofweek", "hour", "minute", "second"];

/// Functions that print values like casts to text.
const SHOWN: [&str; 4] = ["concat", "concat_ws", "format", "operator ||"];

/// A call: the function, the types of its parameters and its arguments.
pub(in crate::lower) struct Call<'n> {
    pub(in crate::lower) name: &'n str,
    pub(in crate::lower) types: Vec<DataType>,
    pub(in crate::lower) args: Vec<Expr>,
}

/// The replacement of a call.
pub(in crate::lower) enum Zoned<'n> {
    /// A call, perhaps of another function.
    Call(Call<'n>),
    Value(Expr),
}

/// How a call depends on the time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dependence {
    /// It uses the local times of its timestamps.
    LocalTimes,
    /// Likewise, except for a few fields.
    Field,
    /// The zone's name is appended to its arguments.
    NameLast,
    /// A function takes the zone's name before the arguments.
    NameFirst(&'static str),
    /// Likewise, with the arguments swapped.
    NameFirstFlipped(&'static str),
    /// It builds a timestamp from the parts of a local time.
    Made,
    /// It prints values.
    Texts,
}

/// How the function depends on the time zone; `None` if it does not.
fn dependence(name: &str, types: &[DataType]) -> Option<Dependence> {
    Some(match (name, types) {
        ("extract" | "date_part", [_, MOMENT]) => Dependence::Field,
        ("date_trunc", [_, MOMENT]) => Dependence::NameLast,
        ("to_char", [MOMENT, _]) => Dependence::NameFirst("to_char in zone"),
        ("age", [MOMENT, MOMENT]) => Dependence::LocalTimes,
        (name, [MOMENT]) if FIELDS.contains(&name) => Dependence::LocalTimes,
        ("operator +", [MOMENT, _]) => Dependence::NameFirst("plus in zone"),
        ("operator +", [_, MOMENT]) => Dependence::NameFirstFlipped("plus in zone"),
        ("operator -", [MOMENT, Interval]) => Dependence::NameFirst("minus in zone"),
        ("make_timestamptz", [_, _, _, _, _, _]) => Dependence::Made,
        ("to_timestamp", [_, _]) => Dependence::NameFirst("to_timestamp in zone"),
        ("generate_series", [MOMENT, MOMENT, _]) => Dependence::NameFirst("generate_series in zone"),
        (name, _) if SHOWN.contains(&name) => Dependence::Texts,
        _ => return None,
    })
}

/// Does the function of a plan depend on the time zone?
pub(crate) fn depends_on_zone(name: &str, types: &[DataType]) -> bool {
    dependence(name, types).is_some()
}

impl Lowering<'_> {
    pub(in crate::lower) fn zoned<'n>(&self, zone: &Zone, call: Call<'n>) -> LowerResult<Zoned<'n>> {
        let Some(dependence) = dependence(call.name, &call.types) else { return Ok(Zoned::Call(call)) };
        Ok(match dependence {
            Dependence::Field => return self.zoned_field(zone, call),
            Dependence::LocalTimes => Zoned::Call(self.of_local_times(zone, call)?),
            Dependence::NameLast => Zoned::Call(call.with_last(Text, name_of(zone))),
            Dependence::NameFirst(name) => Zoned::Call(call.with_first(name, name_of(zone))),
            Dependence::NameFirstFlipped(name) => Zoned::Call(call.flipped().with_first(name, name_of(zone))),
            Dependence::Made => {
                let local = self.sql_call("make_timestamp", &call.types, call.args)?;
                Zoned::Value(self.other_side(name_of(zone), LOCAL, local)?)
            }
            Dependence::Texts => Zoned::Call(call.of_texts(zone)),
        })
    }

    /// Converts a timestamptz to local time, or a local time to timestamptz.
    fn other_side(&self, zone: Expr, ty: DataType, value: Expr) -> LowerResult<Expr> {
        self.sql_call("timezone", &[Text, ty], vec![zone, value])
    }

    /// Converts the timestamptz arguments to local times.
    fn of_local_times<'n>(&self, zone: &Zone, mut call: Call<'n>) -> LowerResult<Call<'n>> {
        for (ty, arg) in call.types.iter_mut().zip(&mut call.args) {
            if *ty == MOMENT {
                *arg = self.other_side(name_of(zone), MOMENT, std::mem::take(arg))?;
                *ty = LOCAL;
            }
        }
        Ok(call)
    }

    /// The epoch is the same in all time zones, and the offset is a property of the zone itself.
    fn zoned_field<'n>(&self, zone: &Zone, call: Call<'n>) -> LowerResult<Zoned<'n>> {
        let field = match call.args.first() {
            Some(Expr::Literal(ScalarValue::Utf8(Some(field)), _)) => field.to_ascii_lowercase(),
            _ => String::new(),
        };
        match field.as_str() {
            "epoch" => Ok(Zoned::Call(call)),
            "timezone" | "timezone_hour" | "timezone_minute" => {
                let part = Expr::Literal(ScalarValue::Utf8(Some(field)), None);
                let args = [part, name_of(zone)].into_iter().chain(call.args.into_iter().skip(1)).collect();
                let offset = self.sql_call("offset in zone", &[Text, Text, MOMENT], args)?;
                let double = call.name == "date_part";
                let wanted = if double { DataType::Double } else { DataType::Numeric(Some((10, 0))) };
                Ok(Zoned::Value(Expr::Cast(Cast::new(Box::new(offset), arrow_type(&wanted)))))
            }
            _ => Ok(Zoned::Call(self.of_local_times(zone, call)?)),
        }
    }
}

impl<'n> Call<'n> {
    fn with_first(mut self, name: &'n str, arg: Expr) -> Self {
        self.types.insert(0, Text);
        self.args.insert(0, arg);
        Self { name, ..self }
    }

    fn with_last(mut self, ty: DataType, arg: Expr) -> Self {
        self.types.push(ty);
        self.args.push(arg);
        self
    }

    fn flipped(mut self) -> Self {
        self.types.reverse();
        self.args.reverse();
        self
    }

    /// Casts arguments to text if their text depends on the time zone or style.
    fn of_texts(mut self, zone: &Zone) -> Self {
        for (ty, arg) in self.types.iter_mut().zip(&mut self.args) {
            if zone.changes_text(ty) {
                *arg = cast_in_zone(std::mem::take(arg), Text, zone);
                *ty = Text;
            }
        }
        self
    }
}

fn name_of(zone: &Zone) -> Expr {
    Expr::Literal(ScalarValue::Utf8(Some(zone.name().to_owned())), None)
}
