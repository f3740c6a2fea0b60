//! Locking clauses as sqlparser reads them: `FOR NO KEY UPDATE OF a, b NOWAIT` is `FOR UPDATE OF "for no key update".a.b NOWAIT`,
//! since sqlparser knows two strengths and one table. A clause in front of LIMIT, OFFSET or FETCH goes behind them.
//!
//! The first part of that name is the strength; `parser/row_locks.rs` takes it apart. Subqueries keep that form, also where they
//! are printed; so it is read as it is.

use super::word::{is_one_of, is_word};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

/// In the place of a dot of a qualified name, which PostgreSQL refuses there.
pub(crate) const DOT: &str = ".";

/// Strengths as they are written, and as the first part of the name behind OF.
pub(crate) const STRENGTHS: [(&[&str], &str); 4] = [
    (&["NO", "KEY", "UPDATE"], "for no key update"),
    (&["KEY", "SHARE"], "for key share"),
    (&["UPDATE"], "for update"),
    (&["SHARE"], "for share"),
];

/// Puts every locking clause into that form.
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
            // Clauses that stand side by side before it go together.
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

/// A locking clause at the begin of `tokens` as it becomes, and how many tokens it has now.
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

/// Stands the strength behind OF already?
fn is_written(tokens: &[TokenWithSpan], of: usize) -> bool {
    let is_strength = |token: &TokenWithSpan| match &token.token {
        Token::Word(word) => word.quote_style.is_some() && STRENGTHS.iter().any(|(_, name)| *name == word.value),
        _ => false,
    };
    tokens.get(of).is_some_and(|token| is_word(&token.token, "OF")) && tokens.get(of + 1).is_some_and(is_strength)
}

/// Where the first of the clauses begins that stand side by side up to `at`.
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

/// The length of a clause that was put into its form.
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

/// Where the query ends that goes on at `from`: at its closing parenthesis, or with the statement.
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
