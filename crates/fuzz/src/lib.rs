//! Fuzz targets: one plain function for each thing that parses bytes. A fuzzer can drive them; the test
//! replays `fixtures/` and mutations of it, so that each build does a little.
//!
//! A target passes when it returns: what it checks besides "no panic" it checks itself.

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

/// A target.
pub type Target = fn(&[u8]);

/// All targets by the name of their folder in `fixtures/`.
pub const TARGETS: [(&str, Target); 5] = [
    ("cell_bytes", cell_bytes),
    ("fragment_bytes", fragment_bytes),
    ("key_bytes", key_bytes),
    ("sql_text", sql_text),
    ("value_text", value_text),
];
