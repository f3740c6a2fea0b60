//! Tokens that are keywords: words without quotes, in any case.

use sqlparser::tokenizer::Token;

/// Is the token this word?
pub(super) fn is_word(token: &Token, word: &str) -> bool {
    is_one_of(token, &[word])
}

/// Is the token one of these words?
pub(super) fn is_one_of(token: &Token, words: &[&str]) -> bool {
    matches!(token, Token::Word(found)
        if found.quote_style.is_none() && words.iter().any(|word| found.value.eq_ignore_ascii_case(word)))
}
