//! Encodes values as keys.

use crate::{KeyError, KeySchema, MAX_KEY_BYTES, salt_of};
use types::Datum;

impl KeySchema {
    /// Overwrites `key` with the key of `values`, one for each part, including the salt byte.
    ///
    /// # Errors
    /// [`KeyError::WrongArity`], [`KeyError::WrongType`], [`KeyError::NullPart`], [`KeyError::TooLong`].
    pub fn encode(&self, values: &[Datum], key: &mut Vec<u8>) -> Result<(), KeyError> {
        if values.len() != self.parts.len() {
            return Err(KeyError::WrongArity { expected: self.parts.len(), found: values.len() });
        }
        key.clear();
        if self.salt_buckets.is_some() {
            key.push(0);
        }
        self.append(values, key)?;
        if let (Some(buckets), [salt, unsalted @ ..]) = (self.salt_buckets, key.as_mut_slice()) {
            *salt = salt_of(unsalted, buckets);
        }
        if key.len() > MAX_KEY_BYTES {
            return Err(KeyError::TooLong { len: key.len(), limit: MAX_KEY_BYTES });
        }
        Ok(())
    }

    /// Overwrites `key` with the salt and `unsalted`.
    pub fn put_salt(&self, unsalted: &[u8], key: &mut Vec<u8>) {
        key.clear();
        key.extend(self.salt_of(unsalted));
        key.extend_from_slice(unsalted);
    }

    /// Overwrites `prefix` with the common prefix, without the salt byte, of all keys whose first parts are `values`.
    ///
    /// # Errors
    /// As [`KeySchema::encode`]; fewer values than parts are allowed.
    pub fn encode_prefix(&self, values: &[Datum], prefix: &mut Vec<u8>) -> Result<(), KeyError> {
        if values.len() > self.parts.len() {
            return Err(KeyError::WrongArity { expected: self.parts.len(), found: values.len() });
        }
        prefix.clear();
        self.append(values, prefix)
    }

    fn append(&self, values: &[Datum], key: &mut Vec<u8>) -> Result<(), KeyError> {
        for (index, (part, value)) in self.parts.iter().zip(values).enumerate() {
            part.encode(index, value, key)?;
        }
        Ok(())
    }

    /// The salt of a key without its salt byte; `None` without salt, or if the salt is not a function of the key.
    pub fn salt_of(&self, unsalted: &[u8]) -> Option<u8> {
        self.salt_buckets.filter(|_| !self.salted_by_row).map(|buckets| salt_of(unsalted, buckets))
    }
}
