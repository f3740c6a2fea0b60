//! `NEXT VALUE FOR s` and `CURRENT VALUE FOR s` become `nextval('s')` and `currval('s')`.

use crate::statement::names::quote;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

/// Replaces the words by the calls.
pub(crate) fn expand(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    if !tokens.iter().any(|token| is(token, "VALUE")) {
        return tokens;
    }
    let mut out = Vec::with_capacity(tokens.len());
    let mut rest = tokens.as_slice();
    while let [first, tail @ ..] = rest {
        match call(rest) {
            Some((call, after)) => {
                out.extend(call);
                rest = after;
            }
            None => {
                out.push(first.clone());
                rest = tail;
            }
        }
    }
    out
}

fn call(tokens: &[TokenWithSpan]) -> Option<([TokenWithSpan; 4], &[TokenWithSpan])> {
    let [first, value, word, rest @ ..] = tokens else { return None };
    let function = if is(first, "NEXT") {
        "nextval"
    } else if is(first, "CURRENT") {
        "currval"
    } else {
        return None;
    };
    if !is(value, "VALUE") || !is(word, "FOR") {
        return None;
    }
    let (name, last, rest) = name(rest)?;
    let name = TokenWithSpan { token: Token::SingleQuotedString(name), span: last.span };
    let word = Word { value: function.to_owned(), quote_style: None, keyword: sqlparser::keywords::Keyword::NoKeyword };
    let function = TokenWithSpan { token: Token::Word(word), span: first.span };
    let open = TokenWithSpan { token: Token::LParen, span: value.span };
    let close = TokenWithSpan { token: Token::RParen, span: last.span };
    Some(([function, open, name, close], rest))
}

/// `a` or `a.b`.
fn name(tokens: &[TokenWithSpan]) -> Option<(String, &TokenWithSpan, &[TokenWithSpan])> {
    let (first, rest) = tokens.split_first()?;
    let text = |token: &TokenWithSpan| match &token.token {
        Token::Word(word) => Some(quote(&crate::parser::fold(word))),
        _ => None,
    };
    let schema = text(first)?;
    match rest {
        [dot, second, rest @ ..] if dot.token == Token::Period => {
            text(second).map(|name| (format!("{schema}.{name}"), second, rest))
        }
        _ => Some((schema, first, rest)),
    }
}

fn is(token: &TokenWithSpan, word: &str) -> bool {
    matches!(&token.token, Token::Word(found) if found.quote_style.is_none() && found.value.eq_ignore_ascii_case(word))
}
