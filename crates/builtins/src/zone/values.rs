//! How a session with a zone and a style prints and assigns values.

use super::TimeZone;
use types::array::print_array_by;
use types::{DataType, Datum, TypeError, coerce, temporal, text};

impl TimeZone {
    /// Appends the text of a value in the session's style; a `timestamptz` in local time.
    pub fn print(self, ty: &DataType, value: &Datum, out: &mut String) {
        match (ty, value) {
            (_, Datum::TimestampTz(moment)) => temporal::print_timestamptz(*moment, self.offset_at(*moment), out),
            (ty, Datum::Array(items)) if matches!(ty.item(), Some(DataType::TimestampTz(_))) => {
                let mut print = |item: &Datum, out: &mut String| self.print(&DataType::TimestampTz(None), item, out);
                print_array_by(items, &mut print, out);
            }
            _ => text::print_styled(ty, value, self.style, out),
        }
    }

    /// Converts a value to be assigned to a column of type `ty`.
    ///
    /// # Errors
    /// Errors of [`coerce::assign`]; [`TypeError::MomentRange`].
    pub fn assign(self, ty: &DataType, value: Datum) -> Result<Datum, TypeError> {
        coerce::assign(ty, self.seen_as(ty, value)?)
    }

    /// Converts a value to local time, or to text in the session's style, if `ty` needs that: an assignment or a cast
    /// to `ty` follows. Other values are unchanged.
    ///
    /// # Errors
    /// [`TypeError::MomentRange`].
    pub fn seen_as(self, ty: &DataType, value: Datum) -> Result<Datum, TypeError> {
        Ok(match (ty, value) {
            (DataType::Timestamp(_) | DataType::Date | DataType::Time(_), Datum::TimestampTz(moment)) => {
                Datum::Timestamp(self.local_of(moment)?)
            }
            (ty, value) if ty.is_text() => match styled_type(&value) {
                Some(own) => {
                    let mut text = String::new();
                    self.print(&own, &value, &mut text);
                    Datum::Text(text)
                }
                None => value,
            },
            (DataType::TimestampTz(_), Datum::Timestamp(local)) => Datum::TimestampTz(self.moment_of(local)?),
            (DataType::TimestampTz(_), value @ Datum::Date(_)) => {
                self.seen_as(ty, coerce::assign(&DataType::Timestamp(None), value)?)?
            }
            (_, value) => value,
        })
    }
}

/// Returns the type of a value whose text depends on the session; `None` for other values.
fn styled_type(value: &Datum) -> Option<DataType> {
    match value {
        Datum::TimestampTz(_) => Some(DataType::TimestampTz(None)),
        Datum::Float4(_) => Some(DataType::Real),
        Datum::Float8(_) => Some(DataType::Double),
        Datum::Interval(_) => Some(DataType::Interval),
        _ => None,
    }
}
