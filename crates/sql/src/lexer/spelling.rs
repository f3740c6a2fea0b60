//! Spellings that sqlparser does not parse correctly, replaced before it sees them.
//!
//! - `TABLE t` as a query is `SELECT * FROM t` (sqlparser's form of it loses quotes).
//! - `FROM ONLY t` is `FROM t`, since no table inherits from another.
//! - `ORDER BY x USING <` is `ORDER BY x ASC`, with `>` it is `DESC`.
//! - `x ISNULL` and `x NOTNULL` are `x IS NULL` and `x IS NOT NULL`.

use super::keyword::{is_keyword, is_reserved};
use super::word::{is_one_of, is_word};
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// Replaces the spellings; the new tokens have the locations of the old ones.
pub(super) fn expand(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    if !tokens.iter().any(|token| is_one_of(&token.token, &["TABLE", "ISNULL", "NOTNULL", "ONLY", "USING"])) {
        return tokens;
    }
    let mut out: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len() + 4);
    for (at, token) in tokens.iter().enumerate() {
        // One null test may follow another, which has been replaced by then.
        let test = || null_test(&token.token, &out.last()?.token);
        match long_form(&tokens, at).or_else(test) {
            Some(words) => out.extend(words.iter().map(|word| TokenWithSpan { token: word.clone(), span: token.span })),
            None => out.push(token.clone()),
        }
    }
    out
}

fn long_form(tokens: &[TokenWithSpan], at: usize) -> Option<Vec<Token>> {
    let token = &tokens.get(at)?.token;
    let before = at.checked_sub(1).and_then(|before| tokens.get(before)).map(|token| &token.token);
    if is_word(token, "TABLE") {
        // In REINDEX, the kind of object follows the options.
        let reindex = tokens.first().is_some_and(|first| is_word(&first.token, "REINDEX"));
        let begins = begins_query(before) || follows_target(tokens, at);
        return (!reindex && begins && names_table(tokens.get(at + 1)))
            .then(|| vec![Token::make_keyword("SELECT"), Token::Mul, Token::make_keyword("FROM")]);
    }
    if is_word(token, "ONLY") {
        let relation = matches!(before, Some(Token::Comma | Token::LParen))
            || before.is_some_and(|word| is_one_of(word, &["FROM", "JOIN"]));
        return (relation && names_table(tokens.get(at + 1))).then(Vec::new);
    }
    if is_word(token, "USING") {
        let direction = direction_of(tokens.get(at + 1))?;
        return Some(vec![Token::make_keyword(direction)]);
    }
    if direction_of(Some(tokens.get(at)?)).is_some() && before.is_some_and(|word| is_word(word, "USING")) {
        return Some(Vec::new());
    }
    None
}

/// Expands null tests after an operand; elsewhere the words may be names.
fn null_test(token: &Token, before: &Token) -> Option<Vec<Token>> {
    let words: &[&str] = match () {
        () if !ends_operand(before) => return None,
        () if is_word(token, "ISNULL") => &["IS", "NULL"],
        () if is_word(token, "NOTNULL") => &["IS", "NOT", "NULL"],
        () => return None,
    };
    Some(words.iter().map(|word| Token::make_keyword(word)).collect())
}

fn names_table(next: Option<&TokenWithSpan>) -> bool {
    next.is_some_and(|next| match &next.token {
        Token::Word(word) => word.quote_style.is_some() || !is_reserved(&word.value),
        _ => false,
    })
}

/// Returns the direction for `USING` and this operator. No other USING precedes an operator.
fn direction_of(operator: Option<&TokenWithSpan>) -> Option<&'static str> {
    match operator?.token {
        Token::Lt => Some("ASC"),
        Token::Gt => Some("DESC"),
        _ => None,
    }
}

fn begins_query(before: Option<&Token>) -> bool {
    let starts = ["UNION", "ALL", "DISTINCT", "EXCEPT", "INTERSECT", "AS", "EXPLAIN", "ANALYZE", "VERBOSE"];
    match before {
        None | Some(Token::LParen | Token::RParen) => true,
        Some(token) => is_one_of(token, &starts),
    }
}

/// Maximum number of tokens of `INSERT INTO d.s.t AS x OVERRIDING SYSTEM VALUE`.
const TARGET: usize = 12;

/// Does the target of an INSERT end in front of that token? `INSERT INTO t TABLE u`.
fn follows_target(tokens: &[TokenWithSpan], at: usize) -> bool {
    let before = tokens.get(at.saturating_sub(TARGET)..at).unwrap_or_default();
    let Some(into) = before.iter().rposition(|token| is_word(&token.token, "INTO")) else { return false };
    let verb = into.checked_sub(1).and_then(|verb| before.get(verb));
    verb.is_some_and(|verb| is_one_of(&verb.token, &["INSERT", "UPSERT"]))
        && into + 1 < before.len()
        && before.iter().skip(into + 1).all(|token| matches!(token.token, Token::Word(_) | Token::Period))
}

fn ends_operand(token: &Token) -> bool {
    match token {
        Token::Word(word) => {
            word.quote_style.is_some()
                || !is_keyword(&word.value)
                || is_one_of(token, &["NULL", "TRUE", "FALSE", "END"])
        }
        Token::Number(..) | Token::SingleQuotedString(_) | Token::RParen | Token::RBracket | Token::Placeholder(_) => {
            true
        }
        _ => false,
    }
}
