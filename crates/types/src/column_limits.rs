//! The parts of array and interval types that only columns have: limits of the items, a number of dimensions, fields.
//!
//! To an expression, a column `varchar(5)[]` is an array of `varchar`, and a column `interval day` is an interval; the
//! limits apply when a value is assigned. [`DataType::of_expressions`] converts the type of a column to that of an
//! expression.

use crate::{DataType, ElementType, IntervalField, IntervalFields};
use serde::{Deserialize, Serialize};

/// A column type for arrays whose items have limits, or that have several dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ArrayLimits {
    element: ElementType,
    /// PostgreSQL's type modifier of the items, -1 for none.
    typmod: i32,
    dimensions: u8,
}

impl ArrayLimits {
    /// Returns the type of the items without limits.
    pub fn element(&self) -> ElementType {
        self.element
    }

    /// Returns the type of the items.
    pub fn item(&self) -> DataType {
        let plain = self.element.data_type();
        DataType::from_oid(plain.oid(), self.typmod).unwrap_or(plain)
    }

    /// Returns the number of dimensions of values that are not empty, as the column was declared.
    pub fn dimensions(&self) -> u8 {
        self.dimensions
    }
}

impl DataType {
    /// Returns the type of a column of arrays of `item`. `None` for item types whose limits an array type cannot have:
    /// `char(n)`, `varbinary(n)`; and for arrays of arrays.
    pub fn array_of(item: &DataType, dimensions: u8) -> Option<Self> {
        let element = ElementType::of(item)?;
        if *item == element.data_type() && dimensions == 1 {
            return Some(Self::Array(element));
        }
        let limits = ArrayLimits { element, typmod: item.typmod(), dimensions };
        (limits.item() == *item).then_some(Self::LimitedArray(limits))
    }

    /// Returns the type of an array's items.
    pub fn item(&self) -> Option<DataType> {
        match self {
            Self::Array(element) => Some(element.data_type()),
            Self::LimitedArray(limits) => Some(limits.item()),
            _ => None,
        }
    }

    /// Returns the number of dimensions that a column of this type declares; 0 if it is not an array.
    pub fn dimensions(&self) -> u8 {
        match self {
            Self::Array(_) => 1,
            Self::LimitedArray(limits) => limits.dimensions,
            _ => 0,
        }
    }

    /// Returns the type of an expression that reads a column of this type.
    #[must_use]
    pub fn of_expressions(self) -> Self {
        match self {
            Self::LimitedArray(limits) => Self::Array(limits.element),
            Self::LimitedInterval(_) => Self::Interval,
            other => other,
        }
    }

    /// Returns the type of a column that is created from computed values: without lengths, digits and fields, as no
    /// cast sets them.
    #[must_use]
    pub fn without_limits(self) -> Self {
        match self {
            Self::Numeric(_) => Self::Numeric(None),
            Self::Varchar(_) => Self::Varchar(None),
            Self::LimitedInterval(_) => Self::Interval,
            Self::LimitedArray(limits) => {
                Self::array_of(&limits.element.data_type(), limits.dimensions).unwrap_or(Self::Array(limits.element))
            }
            other => other.without_digits(),
        }
    }

    /// Returns the name from which [`DataType::of_column_name`] restores exactly this type: [`DataType::sql_name`],
    /// which is the same for any number of dimensions, and brackets for the dimensions.
    pub fn column_name(&self) -> String {
        let more = usize::from(self.dimensions()).saturating_sub(1);
        self.sql_name() + &"[]".repeat(more)
    }
}

/// Bits of PostgreSQL's type modifier of intervals for each field.
const FIELD_BITS: [(IntervalField, i32, &str); 6] = [
    (IntervalField::Year, 1 << 2, "year"),
    (IntervalField::Month, 1 << 1, "month"),
    (IntervalField::Day, 1 << 3, "day"),
    (IntervalField::Hour, 1 << 10, "hour"),
    (IntervalField::Minute, 1 << 11, "minute"),
    (IntervalField::Second, 1 << 12, "second"),
];
const ALL_FIELDS: i32 = 0x7FFF;
const ALL_DIGITS: i32 = 0xFFFF;

impl IntervalFields {
    /// Returns the type of a column with these limits.
    pub fn data_type(self) -> DataType {
        if self == Self::default() { DataType::Interval } else { DataType::LimitedInterval(self) }
    }

    /// Returns PostgreSQL's type modifier: a bit for each field, and the digits.
    pub fn typmod(&self) -> i32 {
        if *self == Self::default() {
            return -1;
        }
        let inside = |(first, last): (IntervalField, IntervalField)| {
            let fields = FIELD_BITS.iter().filter(|(field, ..)| (first..=last).contains(field));
            fields.map(|(_, bit, _)| bit).sum::<i32>()
        };
        let fields = self.bounds.map_or(ALL_FIELDS, inside);
        (fields << 16) | self.digits.map_or(ALL_DIGITS, i32::from)
    }

    pub(crate) fn from_typmod(typmod: i32) -> Self {
        if typmod < 0 {
            return Self::default();
        }
        let fields = typmod >> 16;
        let has = |&(field, bit, _): &(IntervalField, i32, &str)| (fields & bit != 0).then_some(field);
        let named = || FIELD_BITS.iter().filter_map(has);
        let bounds = if fields == ALL_FIELDS { None } else { named().min().zip(named().max()) };
        Self { bounds, digits: u8::try_from(typmod & ALL_DIGITS).ok() }
    }

    /// Returns the words after `interval`: `day to second(3)`; `(3)` for all fields.
    pub fn words(&self) -> String {
        let name = |field| FIELD_BITS.iter().find(|(known, ..)| *known == field).map_or("", |(.., name)| name);
        let fields = match self.bounds {
            None => String::new(),
            Some((first, last)) if first == last => name(first).to_owned(),
            Some((first, last)) => format!("{} to {}", name(first), name(last)),
        };
        self.digits.map_or_else(|| fields.clone(), |digits| format!("{fields}({digits})"))
    }

    /// Parses `day to second`; only seconds can have digits. `None` for words that are not fields.
    pub fn from_words(words: &str, digits: Option<u8>) -> Option<Self> {
        let field = |word: &str| FIELD_BITS.iter().find(|(.., name)| *name == word).map(|(field, ..)| *field);
        let bounds = match words.split_once(" to ") {
            _ if words.is_empty() => None,
            None => Some((field(words)?, field(words)?)),
            Some((first, last)) => Some((field(first)?, field(last)?)),
        };
        use IntervalField::{Day, Hour, Minute, Month, Second, Year};
        let (first, last) = bounds.unwrap_or((Day, Second));
        let known = first == last
            || matches!((first, last), (Year, Month) | (Day, Hour | Minute | Second) | (Hour, Minute | Second))
            || (first, last) == (Minute, Second);
        (known && (digits.is_none() || last == Second)).then_some(Self { bounds, digits })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn modifiers_of_intervals_are_those_of_postgresql() {
        // From pg_attribute.atttypmod and format_type of a table with such columns.
        for (words, digits, typmod, name) in [
            ("", None, -1, "interval"),
            ("", Some(3), 2_147_418_115, "interval(3)"),
            ("year", None, 327_679, "interval year"),
            ("year to month", None, 458_751, "interval year to month"),
            ("day to second", None, 470_351_871, "interval day to second"),
            ("day to second", Some(3), 470_286_339, "interval day to second(3)"),
            ("second", Some(2), 268_435_458, "interval second(2)"),
        ] {
            let fields = IntervalFields::from_words(words, digits).unwrap();
            assert_eq!((fields.typmod(), fields.data_type().sql_name()), (typmod, name.to_owned()));
            assert_eq!(IntervalFields::from_typmod(typmod), fields, "{name}");
        }
        for (words, digits) in [("second to day", None), ("year to day", None), ("day", Some(3)), ("week", None)] {
            assert_eq!(IntervalFields::from_words(words, digits), None, "{words}");
        }
    }

    #[test]
    fn expressions_know_nothing_of_limits() {
        let limited = DataType::array_of(&DataType::Varchar(Some(5)), 2).unwrap();
        assert_eq!(limited.sql_name(), "character varying(5)[]");
        assert_eq!(limited.column_name(), "character varying(5)[][]");
        assert_eq!((limited.typmod(), limited.dimensions()), (9, 2));
        assert_eq!(limited.of_expressions(), DataType::Array(ElementType::Varchar));
        assert_eq!(DataType::array_of(&DataType::Char(5), 1), None);
        assert_eq!(DataType::array_of(&DataType::Varbinary(5), 1), None);
    }
}
