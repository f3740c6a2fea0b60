//! Arbitrary SQL is parsed or refused, without a panic or a stack overflow.

/// Parses `bytes` as text.
pub fn sql_text(bytes: &[u8]) {
    // Errors are expected.
    let _ = sql::parse(&String::from_utf8_lossy(bytes));
}
