//! One part of a key: NULL mark, value, direction.
//!
//! ```text
//!   NOT NULL part   value
//!   nullable part   01 (NULL, sorts first) | 02 value | 03 (NULL, sorts last)
//! ```
//!
//! The value is a cell (`cell_value.rs`), escaped and ended when its width varies; a descending part has the value's
//! bytes inverted. The mark is never inverted: where NULLs stand is said by `nulls_first` alone.

use crate::{KeyError, KeyPart, cell_value, decimal, variable};
use types::{DataType, Datum};

pub(crate) const NULL_FIRST: u8 = 0x01;
pub(crate) const VALUE: u8 = 0x02;
pub(crate) const NULL_LAST: u8 = 0x03;

impl KeyPart {
    /// What the bytes of the value are XORed with.
    pub(crate) fn mask(&self) -> u8 {
        if self.descending { 0xFF } else { 0 }
    }

    /// The byte that stands for NULL.
    pub(crate) fn null_mark(&self) -> u8 {
        if self.nulls_first { NULL_FIRST } else { NULL_LAST }
    }

    /// Bytes of the part when they never vary.
    pub(crate) fn fixed_width(&self) -> Option<usize> {
        self.ty.fixed_width().filter(|_| !self.nullable)
    }

    /// Appends the part. `index` is for the error only.
    pub(crate) fn encode(&self, index: usize, value: &Datum, key: &mut Vec<u8>) -> Result<(), KeyError> {
        match (value.is_null(), self.nullable) {
            (true, true) => {
                key.push(self.null_mark());
                return Ok(());
            }
            (true, false) => return Err(KeyError::NullPart { part: index }),
            (false, true) => key.push(VALUE),
            (false, false) => {}
        }
        let start = key.len();
        self.encode_value(value, key)?;
        self.invert(start, key);
        Ok(())
    }

    /// Appends the ascending form of the value.
    fn encode_value(&self, value: &Datum, key: &mut Vec<u8>) -> Result<(), KeyError> {
        match (&self.ty, value) {
            // Ended by itself.
            (DataType::Numeric(None), _) => cell_value::encode_variable(&self.ty, value, key),
            (DataType::Text | DataType::Varchar(_), Datum::Text(text)) => {
                variable::encode(text.as_bytes(), key);
                Ok(())
            }
            _ if self.ty.fixed_width().is_some() => cell_value::encode_fixed(&self.ty, value, key),
            _ => {
                let mut cell = Vec::new();
                cell_value::encode_variable(&self.ty, value, &mut cell)?;
                variable::encode(&cell, key);
                Ok(())
            }
        }
    }

    /// Appends the part of a value whose cell (`cell_value.rs`) is known; `None` is NULL. The cell is of the part's type.
    ///
    /// # Errors
    /// [`KeyError::NullPart`] with `index`.
    pub fn encode_cell(&self, index: usize, cell: Option<&[u8]>, key: &mut Vec<u8>) -> Result<(), KeyError> {
        let Some(cell) = cell else {
            return match self.nullable {
                true => {
                    key.push(self.null_mark());
                    Ok(())
                }
                false => Err(KeyError::NullPart { part: index }),
            };
        };
        if self.nullable {
            key.push(VALUE);
        }
        let start = key.len();
        match self.ty.fixed_width().is_some() || self.ty == DataType::Numeric(None) {
            true => key.extend_from_slice(cell),
            false => variable::encode(cell, key),
        }
        self.invert(start, key);
        Ok(())
    }

    /// Inverts what was appended from `start` on, if the part is descending.
    pub(crate) fn invert(&self, start: usize, key: &mut [u8]) {
        if self.descending {
            key.iter_mut().skip(start).for_each(|byte| *byte = !*byte);
        }
    }

    /// Bytes that the part at the front of `input` takes.
    pub(crate) fn length(&self, input: &[u8]) -> Result<usize, KeyError> {
        let (marks, value) = match self.value_of(input)? {
            None => return Ok(1),
            Some(value) => (input.len() - value.len(), value),
        };
        let length = match self.ty.fixed_width() {
            Some(width) if width <= value.len() => width,
            Some(_) => return Err(KeyError::Truncated { offset: input.len() }),
            None if self.ty == DataType::Numeric(None) => {
                decimal::length(value, self.mask()).map_err(|error| error.at(marks))?
            }
            None => variable::length(value, self.mask()).map_err(|error| error.at(marks))?,
        };
        Ok(marks + length)
    }

    /// The bytes after the NULL mark; `None` for NULL.
    fn value_of<'a>(&self, part: &'a [u8]) -> Result<Option<&'a [u8]>, KeyError> {
        if !self.nullable {
            return Ok(Some(part));
        }
        match part {
            [VALUE, value @ ..] => Ok(Some(value)),
            [mark, ..] if *mark == self.null_mark() => Ok(None),
            [mark, ..] => Err(KeyError::BadNullMark { offset: 0, mark: *mark }),
            [] => Err(KeyError::Truncated { offset: 0 }),
        }
    }

    /// The cell (`cell_value.rs`) inside the bytes of a whole part; `None` for NULL. An ascending part of fixed width
    /// is its own cell and not copied; the others are put into `buffer`.
    ///
    /// # Errors
    /// [`KeyError`] for bytes that are no such part.
    pub fn cell<'a>(&self, part: &'a [u8], buffer: &'a mut Vec<u8>) -> Result<Option<&'a [u8]>, KeyError> {
        let Some(value) = self.value_of(part)? else {
            return if part.len() == 1 { Ok(None) } else { Err(KeyError::TrailingBytes { offset: 1 }) };
        };
        let marks = part.len() - value.len();
        if self.ty.fixed_width().is_some() || self.ty == DataType::Numeric(None) {
            if !self.descending {
                return Ok(Some(value));
            }
            buffer.clear();
            buffer.extend(value.iter().map(|byte| !byte));
        } else {
            let length = variable::decode(value, self.mask(), buffer).map_err(|error| error.at(marks))?;
            if length != value.len() {
                return Err(KeyError::TrailingBytes { offset: marks + length });
            }
        }
        Ok(Some(buffer))
    }

    /// The value of a whole part. `buffer` is scratch space that a caller keeps from part to part.
    ///
    /// # Errors
    /// [`KeyError`] for bytes that are no such part.
    pub fn decode(&self, part: &[u8], buffer: &mut Vec<u8>) -> Result<Datum, KeyError> {
        match self.cell(part, buffer)? {
            None => Ok(Datum::Null),
            Some(cell) => cell_value::decode(&self.ty, cell),
        }
    }
}
