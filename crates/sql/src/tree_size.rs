//! Estimates the memory that a text takes once it is parsed.
//!
//! Trees are many times as large as their text, and their size cannot be queried. The estimate counts the words and
//! symbols of the text, without tokenizing it.

/// Approximate bytes of tokens, trees and plan for each word or symbol: lists of constants take 300 to 800.
const BYTES_OF_TOKEN: usize = 600;
/// Bytes of a statement besides its words.
const BYTES_OF_STATEMENT: usize = 2048;
/// Number of copies of a quoted text, from the message to the plan.
const COPIES: usize = 4;

/// Returns an estimate of the bytes that the statements of `text` take together, from their tokens to their plans.
pub fn tree_bytes(text: &str) -> usize {
    let (mut rest, mut bytes) = (text.as_bytes(), text.len().saturating_mul(COPIES));
    while let Some((&first, behind)) = rest.split_first() {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
        let (cost, length) = match first {
            b' ' | b'\t' | b'\n' | b'\r' => (0, 0),
            b'\'' | b'"' => (BYTES_OF_TOKEN, up_to(behind, &[first])),
            b'-' if behind.starts_with(b"-") => (0, up_to(behind, b"\n")),
            b'/' if behind.starts_with(b"*") => (0, up_to(behind, b"*/")),
            b';' => (BYTES_OF_STATEMENT, 0),
            word if is_word(&word) => (BYTES_OF_TOKEN, behind.iter().take_while(|byte| is_word(byte)).count()),
            _ => (BYTES_OF_TOKEN, 0),
        };
        bytes = bytes.saturating_add(cost);
        rest = behind.get(length..).unwrap_or_default();
    }
    bytes
}

/// Returns the number of bytes up to and including `end`.
fn up_to(text: &[u8], end: &[u8]) -> usize {
    text.windows(end.len()).position(|at| at == end).map_or(text.len(), |at| at + end.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> usize {
        (tree_bytes(text) - text.len() * COPIES) / BYTES_OF_TOKEN
    }

    #[test]
    fn words_and_signs_are_counted_and_what_is_quoted_is_one() {
        assert_eq!(tokens("select 5 in (0, 10,200)"), 10);
        assert_eq!(tokens("select 'a b, c' || \"x y\""), 5);
        assert_eq!(tokens("select /* a, b, c */ 1 -- and, so, on\n"), 2);
        assert_eq!(tokens("wählen_1"), 1);
        assert_eq!(tokens(""), 0);
        assert_eq!(tokens("'never ended"), 1);
        assert_eq!(tokens("/* never ended"), 0);
    }

    #[test]
    fn many_short_statements_take_more_than_one_long_one() {
        assert!(tree_bytes(&"select 1;".repeat(1000)) > 3_000_000);
        assert!(tree_bytes(&format!("select '{}'", "x".repeat(9000))) < 40_000);
    }
}
