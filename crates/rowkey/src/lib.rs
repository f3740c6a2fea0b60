//! Encoding of SQL values as bytes: keys, cell values and key ranges.
//!
//! ```text
//!   ('UA', 1545, 2013-01-01)   --KeySchema::encode-->   [salt] part part part     compares as the values do
//!   predicates                 --range::key_ranges-->   sorted byte ranges, and which predicates they cover
//!   one value                  --cell_value-->          the bytes of a column in a fragment
//! ```
//!
//! Invariants:
//! - Comparing two keys of a table as bytes gives the order of their values, in the direction and NULL order of each
//!   part; values that are equal in SQL have equal bytes.
//! - No key is a prefix of another key, and no part of another part: a suffix can be appended to a key, and all keys
//!   with the same leading values are one byte range.
//! - Decoding is total: any bytes give a value or a [`KeyError`], never a panic.
//!
//! The layouts are in `docs/formats/rowkey.md`. Read next: `store` (stores rows under these keys) and `catalog`.

mod array;
pub mod cell_value;
mod decimal;
mod decode;
mod encode;
mod error;
pub mod float;
pub mod integer;
mod interval;
mod key_schema;
mod part;
pub mod range;
mod salt;
mod temporal;
mod variable;

pub use error::KeyError;
pub use key_schema::{CODEC_ID, KeyPart, KeySchema, MAX_KEY_BYTES};
pub use salt::{SALT_HASH_ID, salt_of};
