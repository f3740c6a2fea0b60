//! Names features of Phoenix and other databases inside queries, where sqlparser only reports a syntax error.
//!
//! Searched only after an error, around the unexpected token, so that valid statements cost nothing.

use sqlparser::tokenizer::Token;
use types::DataType;

/// Runs of words and the names of their features. `#` stands for a number.
const RUNS: &[(&[&str], &str)] = &[
    (&["NEXT", "#", "VALUES", "FOR"], "NEXT … VALUES FOR a sequence"),
    (&["AS", "OF", "SYSTEM", "TIME"], "AS OF SYSTEM TIME"),
    (&["FOR", "SYSTEM_TIME"], "FOR SYSTEM_TIME"),
    (&["FOR", "NO", "KEY", "UPDATE"], "FOR NO KEY UPDATE"),
    (&["FOR", "KEY", "SHARE"], "FOR KEY SHARE"),
    (&["ROWS", "FROM"], "ROWS FROM"),
    (&["VARIADIC"], "VARIADIC"),
    (&["SEARCH", "DEPTH", "FIRST"], "SEARCH DEPTH FIRST"),
    (&["SEARCH", "BREADTH", "FIRST"], "SEARCH BREADTH FIRST"),
    (&["EXCLUDE", "CURRENT", "ROW"], "EXCLUDE in a window's frame"),
    (&["EXCLUDE", "GROUP"], "EXCLUDE in a window's frame"),
    (&["EXCLUDE", "TIES"], "EXCLUDE in a window's frame"),
];

/// Returns the name of the feature around the unexpected token `at`, and its first token.
pub(crate) fn name(tokens: &[&Token], at: usize) -> Option<(&'static str, usize)> {
    for (run, feature) in RUNS {
        // The unexpected token is inside the run or directly after it.
        let begin = at.saturating_sub(run.len());
        if let Some(start) = (begin..=at).find(|start| run_at(tokens, *start, run)) {
            return Some((feature, start));
        }
    }
    dynamic_column(tokens, at).map(|start| ("a dynamic column (a column with its type in a statement)", start))
}

fn run_at(tokens: &[&Token], start: usize, run: &[&str]) -> bool {
    run.iter().enumerate().all(|(n, word)| match tokens.get(start + n) {
        Some(Token::Number(..)) => *word == "#",
        Some(Token::Word(found)) => found.quote_style.is_none() && found.value.eq_ignore_ascii_case(word),
        _ => false,
    })
}

/// Finds a dynamic column, `FROM t (name TYPE, …)`: the type's name is the unexpected token.
fn dynamic_column(tokens: &[&Token], at: usize) -> Option<usize> {
    let Token::Word(type_name) = tokens.get(at)? else { return None };
    let name = at.checked_sub(1)?;
    let opens = tokens.get(name.checked_sub(1)?)?;
    let column = matches!(tokens.get(name)?, Token::Word(_)) && matches!(opens, Token::LParen | Token::Comma);
    let known = DataType::from_name(&type_name.value, &[]).is_ok();
    (column && known).then_some(name)
}
