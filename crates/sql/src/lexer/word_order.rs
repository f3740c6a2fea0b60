//! Word orders that sqlparser parses: `'1 day'::interval PRECEDING` becomes `INTERVAL '1 day' PRECEDING`, `INTERVAL(2)
//! '1.234'` becomes `INTERVAL '1.234' SECOND(2)`, `TRIM(BOTH FROM x)` becomes `TRIM(BOTH x)`, `SUBSTRING(x FOR 3 FROM
//! 2)` becomes `SUBSTRING(x FROM 2 FOR 3)`, `EXCLUDE NO OTHERS` is dropped, and the number of `FETCH FIRST -1 ROWS`
//! becomes one token.

use super::word::{is_one_of, is_word};
use sqlparser::tokenizer::{Token, TokenWithSpan};
use std::ops::Range;

/// Replaces these forms by ones that sqlparser parses.
pub(super) fn replace(mut tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let mut at = 0;
    while let Some(rest) = tokens.get(at..).filter(|rest| !rest.is_empty()) {
        // This is the default of a frame.
        if starts(rest, &[&["EXCLUDE"], &["NO"], &["OTHERS"]]) {
            tokens.drain(at..at + 3);
            continue;
        }
        let change = intervals(rest).or_else(|| fetch(rest)).or_else(|| trim(rest)).or_else(|| substring(rest));
        if let Some(Change { range, tokens: new }) = change {
            tokens.splice(at + range.start..at + range.end, new);
        }
        at += 1;
    }
    tokens
}

/// A replacement of tokens; its range is relative to the token that was examined.
struct Change {
    range: Range<usize>,
    tokens: Vec<TokenWithSpan>,
}

/// Do these words come next? Each has alternatives.
fn starts(rest: &[TokenWithSpan], words: &[&[&str]]) -> bool {
    rest.len() >= words.len() && rest.iter().zip(words).all(|(token, words)| is_one_of(&token.token, words))
}

fn intervals(rest: &[TokenWithSpan]) -> Option<Change> {
    match rest {
        [string, colons, kind, bound, ..]
            if matches!(string.token, Token::SingleQuotedString(_))
                && colons.token == Token::DoubleColon
                && is_word(&kind.token, "INTERVAL")
                && is_one_of(&bound.token, &["PRECEDING", "FOLLOWING"]) =>
        {
            let keyword = TokenWithSpan::new(Token::make_keyword("INTERVAL"), string.span);
            Some(Change { range: 0..3, tokens: vec![keyword, string.clone()] })
        }
        [kind, open, digits, close, string, ..]
            if is_word(&kind.token, "INTERVAL")
                && open.token == Token::LParen
                && matches!(digits.token, Token::Number(..))
                && close.token == Token::RParen
                && matches!(string.token, Token::SingleQuotedString(_)) =>
        {
            let second = TokenWithSpan::new(Token::make_keyword("SECOND"), string.span);
            let tokens = vec![string.clone(), second, open.clone(), digits.clone(), close.clone()];
            Some(Change { range: 1..5, tokens })
        }
        _ => None,
    }
}

fn fetch(rest: &[TokenWithSpan]) -> Option<Change> {
    let [_, _, minus, TokenWithSpan { token: Token::Number(digits, long), .. }, ..] = rest else { return None };
    if minus.token != Token::Minus || !starts(rest, &[&["FETCH"], &["FIRST", "NEXT"]]) {
        return None;
    }
    let negative = TokenWithSpan::new(Token::Number(format!("-{digits}"), *long), minus.span);
    Some(Change { range: 2..4, tokens: vec![negative] })
}

/// Removes the FROM in front of TRIM's operand.
fn trim(rest: &[TokenWithSpan]) -> Option<Change> {
    let inside = call_of(rest, "TRIM")?;
    let from = if starts(inside, &[&["BOTH", "LEADING", "TRAILING"], &["FROM"]]) { 3 } else { 2 };
    (from == 3 || starts(inside, &[&["FROM"]])).then(|| Change { range: from..from + 1, tokens: Vec::new() })
}

fn substring(rest: &[TokenWithSpan]) -> Option<Change> {
    let (length, count) = length_first(call_of(rest, "SUBSTRING")?)?;
    let range = length.start + 2..length.end + 2;
    let mut tokens = rest.get(range.clone())?.to_vec();
    tokens.rotate_left(count);
    Some(Change { range, tokens })
}

/// Returns the tokens after `name(`.
fn call_of<'a>(rest: &'a [TokenWithSpan], name: &str) -> Option<&'a [TokenWithSpan]> {
    match rest {
        [word, open, inside @ ..] if is_word(&word.token, name) && open.token == Token::LParen => Some(inside),
        _ => None,
    }
}

/// Returns the range of `FOR n FROM m` in the arguments of SUBSTRING, and the number of tokens of `FOR n`.
fn length_first(inside: &[TokenWithSpan]) -> Option<(Range<usize>, usize)> {
    let mut depth = 0_usize;
    let (mut length, mut start) = (None, None);
    for (at, token) in inside.iter().enumerate() {
        match &token.token {
            Token::LParen => depth += 1,
            Token::RParen if depth == 0 => {
                let (length, start): (usize, usize) = (length?, start?);
                return Some((length..at, start - length));
            }
            Token::RParen => depth -= 1,
            word if depth == 0 && length.is_none() && is_word(word, "FOR") => length = Some(at),
            word if depth == 0 && is_word(word, "FROM") => {
                length?;
                start = Some(at);
            }
            _ => {}
        }
    }
    None
}
