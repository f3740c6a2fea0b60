//! `TABLE t` as a query is `SELECT * FROM t`: written so here, because sqlparser's form of it forgets quotes.

use super::keyword::is_reserved;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Replaces TABLE where a query begins.
pub(super) fn expand(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    if !(0..tokens.len()).any(|at| is_command(&tokens, at)) {
        return tokens;
    }
    let mut out = Vec::with_capacity(tokens.len() + 2);
    for (at, token) in tokens.iter().enumerate() {
        if is_command(&tokens, at) {
            let select = [Token::make_keyword("SELECT"), Token::Mul, Token::make_keyword("FROM")];
            out.extend(select.into_iter().map(|word| TokenWithSpan { token: word, span: token.span }));
        } else {
            out.push(token.clone());
        }
    }
    out
}

fn is_command(tokens: &[TokenWithSpan], at: usize) -> bool {
    let here = tokens.get(at).is_some_and(|token| is_word(&token.token, &["TABLE"]));
    if !here {
        return false;
    }
    let named = tokens.get(at + 1).is_some_and(|next| match &next.token {
        Token::Word(word) => word.quote_style.is_some() || !is_reserved(&word.value),
        _ => false,
    });
    named && begins_query(at.checked_sub(1).and_then(|before| tokens.get(before)))
}

fn begins_query(before: Option<&TokenWithSpan>) -> bool {
    let starts = ["UNION", "ALL", "DISTINCT", "EXCEPT", "INTERSECT", "AS", "EXPLAIN", "ANALYZE", "VERBOSE"];
    match before.map(|token| &token.token) {
        None | Some(Token::LParen | Token::RParen) => true,
        Some(token) => is_word(token, &starts),
    }
}

fn is_word(token: &Token, words: &[&str]) -> bool {
    matches!(token, Token::Word(word)
        if word.quote_style.is_none() && words.iter().any(|w| word.value.eq_ignore_ascii_case(w)))
}
