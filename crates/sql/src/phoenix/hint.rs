//! `/*+ INDEX(t i) NO_CACHE */` behind SELECT, UPSERT, INSERT, UPDATE or DELETE: Phoenix's hints.
//!
//! They are about the whole statement. A name that is unknown is kept as such: whoever runs the statement says so. Elsewhere such
//! a comment is a comment.

use crate::ast::{TableFactor, Visitor};
use crate::lexer::Piece;
use crate::statement::walk;
use crate::{Hint, Statement};
use sqlparser::tokenizer::{Location, Token, TokenWithSpan, Whitespace};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// The texts of hints, with their places.
pub(crate) fn find(tokens: &[TokenWithSpan]) -> Vec<(Location, String)> {
    let mut after_verb = false;
    let mut found = Vec::new();
    for token in tokens {
        match &token.token {
            Token::Whitespace(Whitespace::MultiLineComment(comment)) if after_verb && comment.starts_with('+') => {
                found.push((token.span.start, comment.trim_start_matches('+').trim().to_owned()));
            }
            Token::Whitespace(_) => {}
            Token::Word(word) => after_verb = is_verb(&word.value) && word.quote_style.is_none(),
            _ => after_verb = false,
        }
    }
    found
}

fn is_verb(word: &str) -> bool {
    ["SELECT", "UPSERT", "INSERT", "UPDATE", "DELETE"].iter().any(|verb| word.eq_ignore_ascii_case(verb))
}

impl Piece {
    /// Takes over the hints that stand in it.
    pub(crate) fn with_hints(mut self, all: &[(Location, String)]) -> Self {
        if let (Some(first), Some(last)) = (self.tokens.first(), self.tokens.last()) {
            let inside = |place: &Location| (first.span.start..last.span.end).contains(place);
            self.hints = all.iter().filter(|(place, _)| inside(place)).map(|(_, text)| text.clone()).collect();
        }
        self
    }
}

/// The hints of a statement. Aliases of tables in them become the tables' names.
pub(crate) fn read(texts: &[String], statement: &Statement) -> Vec<Hint> {
    let mut hints: Vec<Hint> = texts.iter().flat_map(|text| one(text)).collect();
    if hints.is_empty() {
        return hints;
    }
    let mut aliases = Aliases::default();
    aliases.target(statement);
    let _ = walk::shared::statement(statement, &mut aliases);
    for hint in &mut hints {
        if let Some(name) = hint.table.as_ref().and_then(|table| aliases.0.get(table)) {
            hint.table = Some(name.clone());
        }
    }
    hints
}

/// `NAME`, `NAME(table word …)`, with blanks or commas in between.
fn one(text: &str) -> Vec<Hint> {
    let mut hints = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        if rest.is_empty() {
            return hints;
        }
        let end = rest.find(|c: char| c.is_whitespace() || c == ',' || c == '(').unwrap_or(rest.len());
        let (name, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let arguments = after.trim_start().strip_prefix('(');
        let (words, after) = match arguments {
            Some(inside) => {
                let (inside, after) = inside.split_once(')').unwrap_or((inside, ""));
                (words(inside), after)
            }
            None => (Vec::new(), after),
        };
        let mut words = words.into_iter();
        // In front of a table may stand its schema.
        let table = words.next().map(|table| table.rsplit('.').next().unwrap_or_default().to_owned());
        hints.push(Hint { name: name.to_ascii_uppercase(), table, words: words.collect() });
        rest = after;
    }
}

/// Names: in quotes as they are, others in lower case.
fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut quoted = false;
    for letter in text.chars() {
        match letter {
            '"' => quoted = !quoted,
            _ if !quoted && (letter.is_whitespace() || letter == ',') => found.push(std::mem::take(&mut word)),
            _ if quoted => word.push(letter),
            _ => word.extend(letter.to_lowercase()),
        }
    }
    found.push(word);
    found.retain(|word| !word.is_empty());
    found
}

/// The tables that aliases stand for.
#[derive(Default)]
struct Aliases(BTreeMap<String, String>);

impl Aliases {
    fn target(&mut self, statement: &Statement) {
        let (table, alias) = match statement {
            Statement::Update(it) => (&it.table, &it.alias),
            Statement::Delete(it) => (&it.table, &it.alias),
            Statement::Explain(it) => return self.target(&it.statement),
            Statement::Prepare { statement, .. } => return self.target(statement),
            _ => return,
        };
        if let Some(alias) = alias {
            self.0.insert(alias.clone(), table.name.clone());
        }
    }
}

impl Visitor for Aliases {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, alias: Some(alias), .. } = factor
            && let Some(table) = name.0.last().and_then(|part| part.as_ident())
        {
            self.0.insert(folded(&alias.name), folded(table));
        }
        ControlFlow::Continue(())
    }
}

fn folded(ident: &crate::ast::Ident) -> String {
    if ident.quote_style.is_some() { ident.value.clone() } else { ident.value.to_lowercase() }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn hints(text: &str) -> Vec<Hint> {
        crate::parse(text).unwrap().pop().unwrap().hints
    }

    fn hint(name: &str, table: Option<&str>, words: &[&str]) -> Hint {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        Hint { name: name.to_owned(), table: table.map(str::to_owned), words }
    }

    #[test]
    fn hints_stand_behind_a_verb_and_are_read_with_their_arguments() {
        let found = hints("SELECT /*+ INDEX(s.T I1, \"I 2\") no_cache,SERIAL */ 1");
        let index = hint("INDEX", Some("t"), &["i1", "I 2"]);
        assert_eq!(found, [index, hint("NO_CACHE", None, &[]), hint("SERIAL", None, &[])]);
        assert!(hints("SELECT 1 /*+ NO_INDEX */ + 2").is_empty());
        assert!(hints("/*+ NO_INDEX */ SELECT /* + NO_INDEX */ 1").is_empty());
        assert_eq!(hints("SELECT 1; DELETE /*+ NO_INDEX */ FROM t").len(), 1);
        assert!(hints("DELETE /*+ NO_INDEX */ FROM t; SELECT 1").is_empty());
    }

    #[test]
    fn an_alias_stands_for_its_table() {
        let found = hints("SELECT * FROM (SELECT /*+ INDEX(x i) */ * FROM orders x) y");
        assert_eq!(found, [hint("INDEX", Some("orders"), &["i"])]);
        assert_eq!(hints("UPDATE /*+ INDEX(o i) */ orders o SET a = 1"), [hint("INDEX", Some("orders"), &["i"])]);
    }
}
