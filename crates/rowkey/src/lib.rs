//! Between SQL values and bytes: keys, cell values and key ranges.
//!
//! ```text
//!   ('UA', 1545, 2013-01-01)   --KeySchema::encode-->   [salt] part part part     compares as the values do
//!   predicates                 --range::key_ranges-->   sorted byte ranges, and which predicates they cover
//!   one value                  --cell_value-->          the bytes of a column in a fragment
//! ```
//!
//! Invariants:
//! - Comparing two keys of a table as bytes gives the order of their values, in the direction and NULL order of
//!   each part; values that SQL calls equal have equal bytes.
//! - No key is a prefix of another, nor a part of another part: keys can carry suffixes, and every set of keys with
//!   the same leading values is one byte range.
//! - Reading is total: any bytes give a value or a [`KeyError`], never a panic.
//!
//! The layouts are in `docs/formats/rowkey.md`. Read next: `store` (what is kept under these keys) and `catalog`.

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
