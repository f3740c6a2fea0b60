//! Words in an order that sqlparser reads: `'1 day'::interval PRECEDING` is `INTERVAL '1 day' PRECEDING`, `INTERVAL(2) '1.234'`
//! is `INTERVAL '1.234' SECOND(2)`, `TRIM(BOTH FROM x)` is `TRIM(BOTH x)`, `SUBSTRING(x FOR 3 FROM 2)` is
//! `SUBSTRING(x FROM 2 FOR 3)`, `EXCLUDE NO OTHERS` is nothing, and the number of `FETCH FIRST -1 ROWS` is one token.

use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Puts tokens that sqlparser reads in place of those that it does not.
pub(super) fn replace(mut tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let mut at = 0;
    while let Some(rest) = tokens.get(at..) {
        match rest {
            [string, colons, kind, bound, ..]
                if matches!(string.token, Token::SingleQuotedString(_))
                    && colons.token == Token::DoubleColon
                    && is_one_of(&kind.token, &["INTERVAL"])
                    && is_one_of(&bound.token, &["PRECEDING", "FOLLOWING"]) =>
            {
                let keyword = TokenWithSpan::new(Token::make_keyword("INTERVAL"), string.span);
                let string = string.clone();
                tokens.splice(at..at + 3, [keyword, string]);
            }
            [kind, open, digits, close, string, ..]
                if is_one_of(&kind.token, &["INTERVAL"])
                    && open.token == Token::LParen
                    && matches!(digits.token, Token::Number(..))
                    && close.token == Token::RParen
                    && matches!(string.token, Token::SingleQuotedString(_)) =>
            {
                let second = TokenWithSpan::new(Token::make_keyword("SECOND"), string.span);
                let moved = [string.clone(), second, open.clone(), digits.clone(), close.clone()];
                tokens.splice(at + 1..at + 5, moved);
            }
            [fetch, first, minus, number, ..]
                if is_one_of(&fetch.token, &["FETCH"])
                    && is_one_of(&first.token, &["FIRST", "NEXT"])
                    && minus.token == Token::Minus =>
            {
                if let Token::Number(digits, long) = &number.token {
                    let negative = Token::Number(format!("-{digits}"), *long);
                    let negative = TokenWithSpan::new(negative, minus.span);
                    tokens.splice(at + 2..at + 4, [negative]);
                }
            }
            [trim, open, from, ..]
                if is_one_of(&trim.token, &["TRIM"])
                    && open.token == Token::LParen
                    && is_one_of(&from.token, &["FROM"]) =>
            {
                tokens.remove(at + 2);
            }
            [trim, open, end, from, ..]
                if is_one_of(&trim.token, &["TRIM"])
                    && open.token == Token::LParen
                    && is_one_of(&end.token, &["BOTH", "LEADING", "TRAILING"])
                    && is_one_of(&from.token, &["FROM"]) =>
            {
                tokens.remove(at + 3);
            }
            [substring, open, inside @ ..]
                if is_one_of(&substring.token, &["SUBSTRING"]) && open.token == Token::LParen =>
            {
                if let Some((length, rest)) = length_first(inside) {
                    let begin = at + 2;
                    if let Some(parts) = tokens.get_mut(begin + length.start..begin + length.end) {
                        parts.rotate_left(rest);
                    }
                }
            }
            // What a frame says that says nothing.
            [exclude, no, others, ..]
                if is_one_of(&exclude.token, &["EXCLUDE"])
                    && is_one_of(&no.token, &["NO"])
                    && is_one_of(&others.token, &["OTHERS"]) =>
            {
                tokens.drain(at..at + 3);
                continue;
            }
            [] => break,
            _ => {}
        }
        at += 1;
    }
    tokens
}

/// Where `FOR n FROM m` is in the arguments of SUBSTRING, and how many tokens `FOR n` has.
fn length_first(inside: &[TokenWithSpan]) -> Option<(std::ops::Range<usize>, usize)> {
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
            word if depth == 0 && length.is_none() && is_one_of(word, &["FOR"]) => length = Some(at),
            word if depth == 0 && is_one_of(word, &["FROM"]) => {
                length?;
                start = Some(at);
            }
            _ => {}
        }
    }
    None
}

fn is_one_of(token: &Token, words: &[&str]) -> bool {
    matches!(token, Token::Word(found) if found.quote_style.is_none()
        && words.iter().any(|word| found.value.eq_ignore_ascii_case(word)))
}
