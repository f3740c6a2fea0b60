//! Result rows, and Rust types that are read from them.

use crate::value::{FromValue, read};
use crate::{ColumnDesc, Error};
use std::sync::Arc;
use types::Datum;

/// A result row.
///
/// ```
/// # use bennu::{Bennu, Row};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), bennu::Error> {
/// # let mut session = Bennu::in_memory().await?.session()?;
/// let row: Option<Row> = session.row("SELECT 42 AS answer, NULL::text AS question", &[]).await?;
/// let row = row.expect("a SELECT without FROM has one row");
/// assert_eq!(row.get::<i32>("answer")?, 42);
/// assert_eq!(row.get::<Option<String>>(1)?, None);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Row {
    columns: Arc<Vec<ColumnDesc>>,
    values: Vec<Datum>,
}

impl Row {
    pub(crate) fn new(columns: Arc<Vec<ColumnDesc>>, values: Vec<Datum>) -> Self {
        Self { columns, values }
    }

    /// The value of a column, by its name or its index from 0.
    ///
    /// # Errors
    /// 42703 if there is no such column, 22002 for a NULL that is not read as an [`Option`], 42804 for a value of
    /// another
    /// type.
    pub fn get<T: FromValue>(&self, column: impl ColumnIndex) -> Result<T, Error> {
        let at = column.place(&self.columns)?;
        let name = self.columns.get(at).map(|column| column.name.as_str()).unwrap_or_default();
        match self.values.get(at) {
            Some(value) => read(name, value),
            None => Err(no_column(format!("a row of {} columns has none at {at}", self.columns.len()))),
        }
    }

    /// The columns, in order.
    pub fn columns(&self) -> &[ColumnDesc] {
        &self.columns
    }

    /// The values, in the order of the columns.
    pub fn values(&self) -> &[Datum] {
        &self.values
    }
}

/// Identifies a column: its name, or its index from 0.
pub trait ColumnIndex {
    /// Returns the column's index in `columns`.
    ///
    /// # Errors
    /// 42703 if no column has the name, 42702 if several have it.
    fn place(&self, columns: &[ColumnDesc]) -> Result<usize, Error>;
}

impl ColumnIndex for usize {
    fn place(&self, _: &[ColumnDesc]) -> Result<usize, Error> {
        Ok(*self)
    }
}

impl ColumnIndex for &str {
    fn place(&self, columns: &[ColumnDesc]) -> Result<usize, Error> {
        let mut found = columns.iter().enumerate().filter(|(_, column)| column.name == *self);
        match (found.next(), found.next()) {
            (Some((at, _)), None) => Ok(at),
            (Some(_), Some(_)) => Err(Error::new("42702", format!("the answer has several columns \"{self}\""))),
            (None, _) => Err(no_column(format!("the answer has no column \"{self}\""))),
        }
    }
}

fn no_column(message: String) -> Error {
    Error::new("42703", message)
}

/// A type that can be read from a row: tuples of up to twelve [`FromValue`] types, and [`Row`] itself. Implement it for
/// your own types:
///
/// ```
/// # use bennu::{Bennu, Error, FromRow, Row};
/// struct Flight {
///     dest: String,
///     delay: Option<i32>,
/// }
///
/// impl FromRow for Flight {
///     fn from_row(row: Row) -> Result<Self, Error> {
///         Ok(Self { dest: row.get("dest")?, delay: row.get("delay")? })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// # let mut session = Bennu::in_memory().await?.session()?;
/// let sql = "SELECT * FROM (VALUES ('IAH', 9), ('ORD', NULL)) AS flights (dest, delay)";
/// let flights: Vec<Flight> = session.rows(sql, &[]).await?;
/// assert_eq!((flights[0].dest.as_str(), flights[1].delay), ("IAH", None));
/// # Ok(())
/// # }
/// ```
pub trait FromRow: Sized {
    /// Reads a row.
    ///
    /// # Errors
    /// Those of [`Row::get`]; 42804 for a tuple of another length.
    fn from_row(row: Row) -> Result<Self, Error>;
}

impl FromRow for Row {
    fn from_row(row: Row) -> Result<Self, Error> {
        Ok(row)
    }
}

macro_rules! tuples {
    ($(($($name:ident $at:tt),+) $count:literal)+) => {$(
        impl<$($name: FromValue),+> FromRow for ($($name,)+) {
            fn from_row(row: Row) -> Result<Self, Error> {
                if row.values.len() != $count {
                    let message = format!("a row of {} columns does not read as a tuple of {}", row.values.len(), $count);
                    return Err(Error::new("42804", message));
                }
                Ok(($(row.get::<$name>($at)?,)+))
            }
        }

        impl<$($name: crate::ToValue),+> crate::IntoRow for ($($name,)+) {
            fn into_row(self) -> Vec<Datum> {
                vec![$(self.$at.to_value(),)+]
            }
        }
    )+};
}

tuples! {
    (A 0) 1
    (A 0, B 1) 2
    (A 0, B 1, C 2) 3
    (A 0, B 1, C 2, D 3) 4
    (A 0, B 1, C 2, D 3, E 4) 5
    (A 0, B 1, C 2, D 3, E 4, F 5) 6
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6) 7
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7) 8
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8) 9
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9) 10
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10) 11
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11) 12
}
