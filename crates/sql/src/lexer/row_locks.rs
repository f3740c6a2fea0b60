//! Locking clauses in the form that sqlparser parses: `FOR NO KEY UPDATE OF a, b NOWAIT` becomes `FOR UPDATE OF "for no
//! key update".a.b NOWAIT`, since sqlparser has two strengths and one table. A clause in front of LIMIT, OFFSET or
//! FETCH is moved after them.
//!
//! The first part of that name is the strength; `parser/row_locks.rs` splits the name. Subqueries keep this form, also
//! when they are printed, so a clause in this form stays as it is.

use super::word::{is_one_of, is_word};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

/// Stands for the dot of a qualified name, which PostgreSQL refuses there.
pub(crate) const DOT: &str = ".";

/// Strengths: their keywords, and the first part of the name after OF.
pub(crate) const STRENGTHS: [(&[&str], &str); 4] = [
    (&["NO", "KEY", "UPDATE"], "for no key update"),
    (&["KEY", "SHARE"], "for key share"),
    (&["UPDATE"], "for update"),
    (&["SHARE"], "for share"),
];

/// Converts every locking clause to this form.
pub(super) fn replace(mut tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    if !tokens.iter().any(|token| is_word(&token.token, "FOR")) {
        return tokens;
    }
    let mut at = 0;
    while at < tokens.len() {
        let Some((clause, length)) = tokens.get(at..).and_then(clause) else {
            at += 1;
            continue;
        };
        let written = clause.len();
        tokens.splice(at..at + length, clause);
        let next = at + written;
        let more = tokens.get(next).is_some_and(|token| is_word(&token.token, "FOR"));
        if !more && tokens.get(next).is_some_and(|token| is_one_of(&token.token, &["LIMIT", "OFFSET", "FETCH"])) {
            // Adjacent clauses in front of it are moved together.
            let begin = first_of(&tokens, at);
            let end = end_of_query(&tokens, next);
            if let Some(part) = tokens.get_mut(begin..end) {
                part.rotate_left(next - begin);
            }
            at = end;
            continue;
        }
        at = next;
    }
    tokens
}

/// Converts the locking clause at the start of `tokens`; also returns its number of tokens before that.
fn clause(tokens: &[TokenWithSpan]) -> Option<(Vec<TokenWithSpan>, usize)> {
    let first = tokens.first().filter(|token| is_word(&token.token, "FOR"))?;
    let begins = |words: &[&str]| {
        words.iter().enumerate().all(|(n, word)| tokens.get(n + 1).is_some_and(|token| is_word(&token.token, word)))
    };
    let (words, strength) = STRENGTHS.iter().find(|(words, _)| begins(words))?;
    let mut length = 1 + words.len();
    if is_written(tokens, length) {
        return None;
    }
    let kind = if strength.ends_with("share") { "SHARE" } else { "UPDATE" };
    let span = tokens.get(1)?.span;
    let new = |token| TokenWithSpan::new(token, span);
    let mut clause =
        vec![first.clone(), new(Token::make_keyword(kind)), new(Token::make_keyword("OF")), new(name(strength))];
    if tokens.get(length).is_some_and(|token| is_word(&token.token, "OF")) {
        length += 1;
        loop {
            let part = tokens.get(length).filter(|token| matches!(token.token, Token::Word(_)))?;
            clause.extend([TokenWithSpan::new(Token::Period, part.span), part.clone()]);
            length += 1;
            match tokens.get(length).map(|token| &token.token) {
                Some(Token::Period) => {
                    clause.extend([
                        TokenWithSpan::new(Token::Period, part.span),
                        TokenWithSpan::new(name(DOT), part.span),
                    ]);
                }
                Some(Token::Comma) => {}
                _ => break,
            }
            length += 1;
        }
    }
    for words in [&["NOWAIT"][..], &["SKIP", "LOCKED"]] {
        let here = |(n, word): (usize, &&str)| tokens.get(length + n).is_some_and(|token| is_word(&token.token, word));
        if words.iter().enumerate().all(here) {
            clause.extend(tokens.get(length..length + words.len())?.iter().cloned());
            length += words.len();
        }
    }
    Some((clause, length))
}

/// Does the name after OF begin with the strength already?
fn is_written(tokens: &[TokenWithSpan], of: usize) -> bool {
    let is_strength = |token: &TokenWithSpan| match &token.token {
        Token::Word(word) => word.quote_style.is_some() && STRENGTHS.iter().any(|(_, name)| *name == word.value),
        _ => false,
    };
    tokens.get(of).is_some_and(|token| is_word(&token.token, "OF")) && tokens.get(of + 1).is_some_and(is_strength)
}

/// Returns the index of the first of the adjacent clauses up to the one at `at`.
fn first_of(tokens: &[TokenWithSpan], at: usize) -> usize {
    let mut first = at;
    for begin in (0..at).rev().filter(|begin| tokens.get(*begin).is_some_and(|token| is_word(&token.token, "FOR"))) {
        match tokens.get(begin..).and_then(clause_written) {
            Some(length) if begin + length == first => first = begin,
            _ => break,
        }
    }
    first
}

/// Returns the number of tokens of a converted clause.
fn clause_written(tokens: &[TokenWithSpan]) -> Option<usize> {
    let [_, _, of, ..] = tokens else { return None };
    if !is_word(&of.token, "OF") {
        return None;
    }
    let mut length = 4;
    while matches!(tokens.get(length).map(|token| &token.token), Some(Token::Period)) {
        length += 2;
    }
    if tokens.get(length).is_some_and(|token| is_word(&token.token, "NOWAIT")) {
        length += 1;
    } else if tokens.get(length).is_some_and(|token| is_word(&token.token, "SKIP")) {
        length += 2;
    }
    Some(length)
}

/// Returns the end of the query that continues at `from`: its closing parenthesis, or the end of the statement.
fn end_of_query(tokens: &[TokenWithSpan], from: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(from) {
        match token.token {
            Token::LParen => depth += 1,
            Token::RParen if depth == 0 => return at,
            Token::RParen => depth -= 1,
            _ => {}
        }
    }
    tokens.len()
}

fn name(value: &str) -> Token {
    Token::Word(Word { value: value.to_owned(), quote_style: Some('"'), keyword: Keyword::NoKeyword })
}
