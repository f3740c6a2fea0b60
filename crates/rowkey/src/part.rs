//! One part of a key: NULL mark, value, direction.
//!
//! ```text
//!   NOT NULL part   value
//!   nullable part   01 (NULL, sorts first) | 02 value | 03 (NULL, sorts last)
//! ```
//!
//! The value is encoded from a cell (`cell_value.rs`), escaped and terminated if its width varies; a descending part
//! has the bytes of the value inverted. The mark is never inverted: only `nulls_first` determines the position of
//! NULLs.

use crate::{KeyError, KeyPart, cell_value, decimal, variable};
use types::{DataType, Datum};

pub(crate) const NULL_FIRST: u8 = 0x01;
pub(crate) const VALUE: u8 = 0x02;
pub(crate) const NULL_LAST: u8 = 0x03;

impl KeyPart {
    /// The XOR mask of the value's bytes.
    pub(crate) fn mask(&self) -> u8 {
        if self.descending { 0xFF } else { 0 }
    }

    /// The mark of NULL.
    pub(crate) fn null_mark(&self) -> u8 {
        if self.nulls_first { NULL_FIRST } else { NULL_LAST }
    }

    /// Width of the part, if constant.
    pub(crate) fn fixed_width(&self) -> Option<usize> {
        self.ty.fixed_width().filter(|_| !self.nullable)
    }

    /// Appends the part. `index` is only used for errors.
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

    /// Appends the ascending encoding of the value.
    fn encode_value(&self, value: &Datum, key: &mut Vec<u8>) -> Result<(), KeyError> {
        match (&self.ty, value) {
            // Self-terminating.
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

    /// Appends the part of a value given as a cell (`cell_value.rs`) of the part's type; `None` is NULL.
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

    /// If the part is descending, inverts the bytes from `start` on.
    pub(crate) fn invert(&self, start: usize, key: &mut [u8]) {
        if self.descending {
            key.iter_mut().skip(start).for_each(|byte| *byte = !*byte);
        }
    }

    /// Length of the part at the front of `input`.
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

    /// The cell (`cell_value.rs`) in the bytes of a whole part; `None` for NULL. An ascending fixed-width part is
    /// returned as is; other cells are decoded into `buffer`.
    ///
    /// # Errors
    /// [`KeyError`] for bytes that are not such a part.
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

    /// Decodes a whole part. `buffer` is scratch space that the caller reuses.
    ///
    /// # Errors
    /// [`KeyError`] for bytes that are not such a part.
    pub fn decode(&self, part: &[u8], buffer: &mut Vec<u8>) -> Result<Datum, KeyError> {
        match self.cell(part, buffer)? {
            None => Ok(Datum::Null),
            Some(cell) => cell_value::decode(&self.ty, cell),
        }
    }
}
