//! Reads the tokens of one statement. Words are matched by their text, so that Phoenix's need not be keywords of
//! sqlparser.

mod faults;

use super::fault::{FaultKind, Parse};
use crate::dialect::BennuDialect;
use crate::lexer::{self, Piece, keyword};
use crate::statement::{ColumnName, ObjectName, Place, WrittenExpr};
use sqlparser::ast::{Expr, Query};
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Token, TokenWithSpan, Word};
use std::ops::Range;

/// A position among the tokens of one statement.
pub(crate) struct Cursor<'t> {
    parser: Parser<'t>,
    text: &'t str,
    span: Range<usize>,
}

impl<'t> Cursor<'t> {
    /// Starts at the first token of the piece, whose own text is `text`.
    pub(crate) fn new(text: &'t str, dialect: &'t BennuDialect, piece: Piece) -> Self {
        let parser =
            Parser::new(dialect).with_recursion_limit(lexer::MAX_PARSER_DEPTH).with_tokens_with_locations(piece.tokens);
        Self { parser, text, span: piece.span }
    }

    /// Returns the statement's byte range in the text.
    pub(crate) fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    // ---- looking

    /// Returns the next token.
    pub(crate) fn peek(&self) -> &Token {
        &self.parser.peek_token_ref().token
    }

    /// Returns the token `n` after the next one.
    pub(crate) fn peek_nth(&self, n: usize) -> &Token {
        &self.parser.peek_nth_token_ref(n).token
    }

    /// Is the next token this unquoted word (upper case)?
    pub(crate) fn at(&self, word: &str) -> bool {
        self.at_nth(0, word)
    }

    /// Is the token `n` after the next one this unquoted word?
    pub(crate) fn at_nth(&self, n: usize, word: &str) -> bool {
        is_word(self.peek_nth(n), word)
    }

    /// Do these words come next?
    pub(crate) fn at_all(&self, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(n, word)| self.at_nth(n, word))
    }

    /// Is nothing left?
    pub(crate) fn at_end(&self) -> bool {
        matches!(self.peek(), Token::EOF)
    }

    /// Returns the start of the next token; `None` at the end.
    pub(crate) fn location(&self) -> Option<Location> {
        location_of(self.parser.peek_token_ref())
    }

    // ---- taking

    /// Takes the next token.
    pub(crate) fn next(&mut self) -> Token {
        self.parser.next_token().token
    }

    /// Takes the next token if it is this word.
    pub(crate) fn eat(&mut self, word: &str) -> bool {
        let found = self.at(word);
        if found {
            self.parser.advance_token();
        }
        found
    }

    /// Takes all of these words, or none.
    pub(crate) fn eat_all(&mut self, words: &[&str]) -> bool {
        let found = self.at_all(words);
        if found {
            words.iter().for_each(|_| self.parser.advance_token());
        }
        found
    }

    /// Takes the next token if it is this one.
    pub(crate) fn eat_token(&mut self, token: &Token) -> bool {
        self.parser.consume_token(token)
    }

    /// Takes this word; any other token is an error.
    pub(crate) fn need(&mut self, word: &str) -> Parse<()> {
        if self.eat(word) { Ok(()) } else { Err(self.expected(word)) }
    }

    /// Takes these words; any other token is an error.
    pub(crate) fn need_all(&mut self, words: &[&str]) -> Parse<()> {
        words.iter().try_for_each(|word| self.need(word))
    }

    /// Takes this token; any other one is an error.
    pub(crate) fn need_token(&mut self, token: &Token) -> Parse<()> {
        if self.eat_token(token) { Ok(()) } else { Err(self.expected(&format!("\"{token}\""))) }
    }

    /// Checks that no token is left.
    pub(crate) fn end(&self) -> Parse<()> {
        if self.at_end() { Ok(()) } else { Err(self.syntax()) }
    }

    /// Takes `IF EXISTS`, if it comes next.
    pub(crate) fn if_exists(&mut self) -> bool {
        self.eat_all(&["IF", "EXISTS"])
    }

    /// Takes `IF NOT EXISTS`, if it comes next.
    pub(crate) fn if_not_exists(&mut self) -> bool {
        self.eat_all(&["IF", "NOT", "EXISTS"])
    }

    // ---- names

    /// Reads a string constant.
    pub(crate) fn string(&mut self) -> Parse<String> {
        let text = match self.peek() {
            Token::SingleQuotedString(text) | Token::EscapedStringLiteral(text) => text.clone(),
            Token::DollarQuotedString(quoted) => quoted.value.clone(),
            _ => return Err(self.expected("a string")),
        };
        self.next();
        Ok(text)
    }

    /// Reads a name and folds it. Reserved words must be quoted.
    pub(crate) fn name(&mut self) -> Parse<String> {
        match self.peek() {
            Token::Word(word) if word.quote_style.is_some() || !keyword::is_reserved(&word.value) => self.any_word(),
            _ => Err(self.expected("a name")),
        }
    }

    /// Reads a word of any kind and folds it: for labels, where reserved words are allowed, too.
    pub(crate) fn any_word(&mut self) -> Parse<String> {
        let Token::Word(word) = self.peek() else { return Err(self.expected("a name")) };
        if word.quote_style.is_some() && word.value.is_empty() {
            return Err(self.fault(FaultKind::Invalid("zero-length delimited identifier".into())));
        }
        let name = fold(word);
        self.parser.advance_token();
        Ok(name)
    }

    /// Reads `t`, `s.t`, `d.s.t`.
    pub(crate) fn object_name(&mut self) -> Parse<ObjectName> {
        let begin = self.parser.peek_token_ref().span;
        let mut name = ObjectName::bare(self.name()?);
        while self.eat_token(&Token::Period) {
            if name.database.is_some() {
                return Err(self.fault(FaultKind::Invalid("improper qualified name (too many dotted names)".into())));
            }
            let next = self.any_word()?;
            name.database = name.schema.take();
            name.schema = Some(std::mem::replace(&mut name.name, next));
        }
        name.place = Place(begin.union(&self.parser.get_current_token().span));
        Ok(name)
    }

    /// Reads `v`, or `a.v` with a column family.
    pub(crate) fn column_name(&mut self) -> Parse<ColumnName> {
        let begin = self.parser.peek_token_ref().span;
        let first = self.name()?;
        let (family, name) = match self.eat_token(&Token::Period) {
            true => (Some(first), self.any_word()?),
            false => (None, first),
        };
        let place = Place(begin.union(&self.parser.get_current_token().span));
        Ok(ColumnName { family, name, place })
    }

    // ---- lists

    /// Reads `item, item, …`, at least one.
    pub(crate) fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat_token(&Token::Comma) {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// Reads `( item, item, … )`, at least one.
    pub(crate) fn parenthesised<T>(&mut self, item: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        self.need_token(&Token::LParen)?;
        let items = self.list(item)?;
        self.need_token(&Token::RParen)?;
        Ok(items)
    }

    // ---- parsed by sqlparser

    /// Parses an expression.
    pub(crate) fn expr(&mut self) -> Parse<Expr> {
        self.with_parser(Parser::parse_expr)
    }

    /// Parses an expression and keeps its text. It ends before NOT NULL and other constraints of a column.
    pub(crate) fn written_expr(&mut self) -> Parse<WrittenExpr> {
        let from = self.parser.peek_token_ref().span.start;
        let expr = self.with_parser(Parser::parse_expr)?;
        let to = self.parser.get_current_token().span.end;
        let range = lexer::byte_of(self.text, from)..lexer::byte_of(self.text, to);
        let text = self.text.get(range).map_or_else(|| expr.to_string(), str::to_owned);
        Ok(WrittenExpr { expr, text })
    }

    /// Parses a query.
    pub(crate) fn query(&mut self) -> Parse<Box<Query>> {
        self.with_parser(Parser::parse_query)
    }

    /// Runs a function of sqlparser's parser and converts its errors.
    pub(crate) fn with_parser<T>(&mut self, read: impl FnOnce(&mut Parser<'t>) -> Result<T, ParserError>) -> Parse<T> {
        read(&mut self.parser).map_err(|error| self.translated(error))
    }

    /// Runs `read`, and goes back to the start if it returns `None`.
    pub(crate) fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Parse<Option<T>>) -> Parse<Option<T>> {
        let before = self.parser.index();
        let result = read(self)?;
        if result.is_none() {
            while self.parser.index() > before {
                self.parser.prev_token();
            }
        }
        Ok(result)
    }

    /// Returns the text from `from` to the end of the last token taken.
    pub(crate) fn text_since(&self, from: Option<Location>) -> String {
        let Some(from) = from else { return String::new() };
        let to = self.parser.get_current_token().span.end;
        let range = lexer::byte_of(self.text, from)..lexer::byte_of(self.text, to);
        self.text.get(range).unwrap_or_default().to_owned()
    }
}

/// Folds a name as PostgreSQL does: ASCII letters of unquoted names become lower case.
pub(crate) fn fold(word: &Word) -> String {
    if word.quote_style.is_some() { word.value.clone() } else { word.value.to_ascii_lowercase() }
}

fn is_word(token: &Token, word: &str) -> bool {
    matches!(token, Token::Word(w) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case(word))
}

fn location_of(token: &TokenWithSpan) -> Option<Location> {
    (token.token != Token::EOF).then_some(token.span.start)
}
