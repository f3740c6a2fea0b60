//! Fuzz targets: one function for each parser of bytes. A fuzzer can drive them; the test replays `fixtures/` and
//! mutations of them, so that every build fuzzes a little.
//!
//! A target passes when it returns: it asserts everything that it checks besides the absence of panics.

mod cell_bytes;
mod fragment_bytes;
mod key_bytes;
mod sql_text;
mod value_text;

pub use cell_bytes::cell_bytes;
pub use fragment_bytes::fragment_bytes;
pub use key_bytes::key_bytes;
pub use sql_text::sql_text;
pub use value_text::value_text;

/// A fuzz target.
pub type Target = fn(&[u8]);

/// All targets by the name of their folder in `fixtures/`.
pub const TARGETS: [(&str, Target); 5] = [
    ("cell_bytes", cell_bytes),
    ("fragment_bytes", fragment_bytes),
    ("key_bytes", key_bytes),
    ("sql_text", sql_text),
    ("value_text", value_text),
];
