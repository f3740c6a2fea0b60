//! `/*+ INDEX(t i) NO_CACHE */` after SELECT, UPSERT, INSERT, UPDATE or DELETE: Phoenix's hints.
//!
//! A hint applies to the whole statement, and after the SELECT of a subquery to the tables in its FROM. Unknown hints
//! are kept: the execution of the statement reports them. Elsewhere such a comment is a plain comment.

use crate::ast::{Select, TableFactor, Visitor};
use crate::lexer::Piece;
use crate::name::folded;
use crate::statement::walk;
use crate::{Hint, Statement};
use sqlparser::tokenizer::{Location, Token, TokenWithSpan, Whitespace};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// The text of a hint.
#[derive(Clone, Debug)]
pub(crate) struct HintText {
    place: Location,
    text: String,
    /// Location of the SELECT of the subquery that contains it.
    subquery: Option<Location>,
}

/// Finds the texts of hints.
pub(crate) fn find(tokens: &[TokenWithSpan]) -> Vec<HintText> {
    // The preceding verb, and the number of open parentheses.
    let (mut verb, mut depth): (Option<Location>, usize) = (None, 0);
    let mut found = Vec::new();
    for token in tokens {
        match &token.token {
            Token::Whitespace(Whitespace::MultiLineComment(comment)) if comment.starts_with('+') => {
                let text = comment.trim_start_matches('+').trim().to_owned();
                let hint =
                    |verb| HintText { place: token.span.start, text, subquery: Some(verb).filter(|_| depth > 0) };
                found.extend(verb.map(hint));
            }
            Token::Whitespace(_) => {}
            Token::Word(word) => {
                let is_verb = is_verb(&word.value) && word.quote_style.is_none();
                verb = is_verb.then_some(token.span.start);
            }
            other => {
                verb = None;
                match other {
                    Token::LParen => depth += 1,
                    Token::RParen => depth = depth.saturating_sub(1),
                    _ => {}
                }
            }
        }
    }
    found
}

fn is_verb(word: &str) -> bool {
    ["SELECT", "UPSERT", "INSERT", "UPDATE", "DELETE"].iter().any(|verb| word.eq_ignore_ascii_case(verb))
}

impl HintText {
    /// Converts its locations.
    pub(crate) fn move_places(&mut self, moved: impl Fn(Location) -> Location) {
        self.place = moved(self.place);
        self.subquery = self.subquery.map(moved);
    }
}

impl Piece {
    /// Adds the hints inside the statement.
    pub(crate) fn with_hints(mut self, all: &[HintText]) -> Self {
        if let (Some(first), Some(last)) = (self.tokens.first(), self.tokens.last()) {
            let inside = |place: &Location| (first.span.start..last.span.end).contains(place);
            self.hints = all.iter().filter(|hint| inside(&hint.place)).cloned().collect();
        }
        self
    }
}

/// Parses the hints of a statement. Aliases of tables in them are replaced by the tables' names.
pub(crate) fn read(texts: &[HintText], statement: &Statement) -> Vec<Hint> {
    if texts.is_empty() {
        return Vec::new();
    }
    let mut names = Names::default();
    names.target(statement);
    let _ = walk::shared::statement(statement, &mut names);
    let mut hints = Vec::new();
    for text in texts {
        let subquery = text.subquery.and_then(|select| names.subqueries.get(&select));
        for mut hint in one(&text.text) {
            // A name is resolved in the subquery of the hint first.
            let here = hint.table.as_ref().and_then(|table| subquery?.get(table));
            let anywhere = hint.table.as_ref().and_then(|table| names.aliases.get(table));
            if let Some(name) = here.or(anywhere) {
                hint.table = Some(name.clone());
            }
            hint.tables = subquery.map(|tables| tables.values().cloned().collect());
            hints.push(hint);
        }
    }
    hints
}

/// Parses `NAME`, `NAME(table word …)`, separated by blanks or commas.
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
        // The table may be qualified by its schema.
        let table = words.next().map(|table| table.rsplit('.').next().unwrap_or_default().to_owned());
        hints.push(Hint { name: name.to_ascii_uppercase(), table, words: words.collect(), tables: None });
        rest = after;
    }
}

/// Splits names: quoted ones as they are, others in lower case.
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

/// The tables that names refer to.
#[derive(Default)]
struct Names {
    /// Tables by their aliases.
    aliases: BTreeMap<String, String>,
    /// For each SELECT, by its location, the tables in its FROM by their names there.
    subqueries: BTreeMap<Location, BTreeMap<String, String>>,
}

impl Names {
    fn target(&mut self, statement: &Statement) {
        let (table, alias) = match statement {
            Statement::Update(it) => (&it.table, &it.alias),
            Statement::Delete(it) => (&it.table, &it.alias),
            Statement::Explain(it) => return self.target(&it.statement),
            Statement::Prepare { statement, .. } => return self.target(statement),
            _ => return,
        };
        if let Some(alias) = alias {
            self.aliases.insert(alias.clone(), table.name.clone());
        }
    }
}

impl Visitor for Names {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        if let Some((table, Some(alias))) = named(factor) {
            self.aliases.insert(alias, table);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        let tables = self.subqueries.entry(select.select_token.0.span.start).or_default();
        for from in &select.from {
            let joined = from.joins.iter().map(|join| &join.relation);
            for (table, alias) in std::iter::once(&from.relation).chain(joined).filter_map(named) {
                tables.insert(alias.unwrap_or_else(|| table.clone()), table);
            }
        }
        ControlFlow::Continue(())
    }
}

/// Returns the name of a table in FROM, without its schema, and its alias.
fn named(factor: &TableFactor) -> Option<(String, Option<String>)> {
    let TableFactor::Table { name, alias, .. } = factor else { return None };
    let table = name.0.last().and_then(|part| part.as_ident())?;
    Some((folded(table), alias.as_ref().map(|alias| folded(&alias.name))))
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
        Hint { name: name.to_owned(), table: table.map(str::to_owned), words, tables: None }
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
        assert_eq!(found, [Hint { tables: Some(vec!["orders".to_owned()]), ..hint("INDEX", Some("orders"), &["i"]) }]);
        assert_eq!(hints("UPDATE /*+ INDEX(o i) */ orders o SET a = 1"), [hint("INDEX", Some("orders"), &["i"])]);
    }

    #[test]
    fn a_hint_of_a_subquery_knows_the_tables_of_its_from() {
        let text = "SELECT /*+ SERIAL */ 1 FROM a WHERE x IN (SELECT /*+ NO_INDEX */ y FROM b JOIN c z ON true)";
        let found = hints(text);
        let tables: Vec<_> = found.iter().map(|hint| (hint.name.as_str(), hint.tables.clone())).collect();
        let of_subquery = Some(vec!["b".to_owned(), "c".to_owned()]);
        assert_eq!(tables, [("SERIAL", None), ("NO_INDEX", of_subquery)]);
        // The same alias twice: each hint refers to its own table.
        let found = hints("SELECT (SELECT /*+ INDEX(x i) */ 1 FROM a x), (SELECT /*+ INDEX(x i) */ 1 FROM b x)");
        let tables: Vec<_> = found.iter().map(|hint| hint.table.as_deref()).collect();
        assert_eq!(tables, [Some("a"), Some("b")]);
    }
}
