//! Errors at the cursor: their position is a token of the statement.

use super::{Cursor, is_word, location_of};
use crate::lexer;
use crate::parser::fault::{Fault, FaultKind, from_sqlparser};
use crate::phoenix::refused;
use crate::reject::{Place, Refusal};
use sqlparser::parser::ParserError;
use sqlparser::tokenizer::{Location, Token, TokenWithSpan};

impl Cursor<'_> {
    /// Returns the error for an unexpected token, the next one.
    pub(crate) fn syntax(&self) -> Box<Fault> {
        self.syntax_at(self.parser.peek_token_ref(), None)
    }

    /// As [`Cursor::syntax`], with what is expected instead.
    pub(crate) fn expected(&self, what: &str) -> Box<Fault> {
        self.syntax_at(self.parser.peek_token_ref(), Some(what.to_owned()))
    }

    /// Returns the error for an unsupported feature, at the next token.
    pub(crate) fn unsupported(&self, feature: impl Into<String>) -> Box<Fault> {
        self.fault(FaultKind::Unsupported { feature: feature.into(), hint: None })
    }

    /// As [`Cursor::unsupported`], with a hint.
    pub(crate) fn unsupported_hint(&self, feature: impl Into<String>, hint: &'static str) -> Box<Fault> {
        self.fault(FaultKind::Unsupported { feature: feature.into(), hint: Some(hint) })
    }

    /// Returns an error at the next token.
    pub(crate) fn fault(&self, kind: FaultKind) -> Box<Fault> {
        Box::new(Fault { kind, location: self.location() })
    }

    /// As [`Cursor::unsupported`], at an earlier token.
    pub(crate) fn unsupported_at(&self, location: Option<Location>, feature: impl Into<String>) -> Box<Fault> {
        Box::new(Fault { kind: FaultKind::Unsupported { feature: feature.into(), hint: None }, location })
    }

    /// Returns the error for a feature that PostgreSQL does not have either, at an earlier token.
    pub(crate) fn not_allowed_at(&self, location: Option<Location>, message: &str) -> Box<Fault> {
        Box::new(Fault { kind: FaultKind::NotAllowed(message.to_owned()), location })
    }

    /// Returns the error for a violated rule, at the next token.
    pub(crate) fn invalid(&self, message: &str) -> Box<Fault> {
        self.fault(FaultKind::Invalid(message.to_owned()))
    }

    /// As [`Cursor::invalid`], at an earlier token.
    pub(crate) fn invalid_at(&self, location: Option<Location>, message: &str) -> Box<Fault> {
        Box::new(Fault { kind: FaultKind::Invalid(message.to_owned()), location })
    }

    /// As [`Cursor::invalid_at`], with a hint.
    pub(crate) fn invalid_hint_at(&self, location: Option<Location>, message: &str, hint: &'static str) -> Box<Fault> {
        Box::new(Fault { kind: FaultKind::Advised { message: message.to_owned(), hint }, location })
    }

    /// Returns the error for an invalid value of an option or parameter.
    pub(crate) fn parameter_at(&self, location: Option<Location>, message: &str) -> Box<Fault> {
        Box::new(Fault { kind: FaultKind::InvalidParameter(message.to_owned()), location })
    }

    /// Returns the error for an invalid table definition.
    pub(crate) fn table_at(&self, location: Option<Location>, message: &str) -> Box<Fault> {
        Box::new(Fault { kind: FaultKind::InvalidTable(message.to_owned()), location })
    }

    /// As [`Cursor::syntax`], for the token `n` after the next one.
    pub(crate) fn syntax_nth(&self, n: usize) -> Box<Fault> {
        self.syntax_at(self.parser.peek_nth_token_ref(n), None)
    }

    /// Returns the error for a refused part of a finished tree.
    pub(crate) fn refused(&self, refusal: Refusal) -> Box<Fault> {
        let first = self.parser.token_at(0).span.start;
        let location = match refusal.place {
            Place::At(location) if location.line > 0 => location,
            Place::At(_) => first,
            Place::Words(words) => self.find(words).unwrap_or(first),
        };
        Box::new(Fault { kind: refusal.kind, location: Some(location) })
    }

    /// Returns the first position of these adjacent words in the statement.
    fn find(&self, words: &[&str]) -> Option<Location> {
        let mut start = 0;
        while self.parser.token_at(start).token != Token::EOF {
            let here = |(n, word): (usize, &&str)| is_word(&self.parser.token_at(start + n).token, word);
            if words.iter().enumerate().all(here) {
                return Some(self.parser.token_at(start).span.start);
            }
            start += 1;
        }
        None
    }

    /// Replaces a syntax error by the name of the unsupported feature that causes it, if that is a known one.
    pub(crate) fn named(&self, fault: Box<Fault>) -> Box<Fault> {
        if !matches!(fault.kind, FaultKind::Syntax { .. }) {
            return fault;
        }
        let all = (0..).map(|index| self.parser.token_at(index)).take_while(|token| token.token != Token::EOF);
        let tokens: Vec<&TokenWithSpan> = all.collect();
        let at = fault.location.and_then(|location| tokens.iter().position(|token| token.span.start == location));
        let plain: Vec<&Token> = tokens.iter().map(|token| &token.token).collect();
        let Some((feature, start)) = refused::name(&plain, at.unwrap_or(plain.len())) else { return fault };
        let location = tokens.get(start).map(|token| token.span.start);
        let kind = FaultKind::Unsupported { feature: feature.to_owned(), hint: None };
        Box::new(Fault { kind, location })
    }

    fn syntax_at(&self, token: &TokenWithSpan, expected: Option<String>) -> Box<Fault> {
        let location = location_of(token);
        let near = location.is_some().then(|| lexer::token_text(self.text, token));
        Box::new(Fault { kind: FaultKind::Syntax { near, expected }, location })
    }

    /// Converts an error of sqlparser.
    pub(super) fn translated(&self, error: ParserError) -> Box<Fault> {
        let Some(said) = from_sqlparser(error) else {
            let kind = FaultKind::TooDeep { what: "nested levels", limit: lexer::MAX_PARSER_DEPTH };
            return self.fault(kind);
        };
        if said.at_end {
            let kind = FaultKind::Syntax { near: None, expected: said.expected };
            return Box::new(Fault { kind, location: None });
        }
        let found = said.location.and_then(|location| self.token_from(location));
        self.syntax_at(found.unwrap_or_else(|| self.parser.peek_token_ref()), said.expected)
    }

    /// Returns the token at a location. sqlparser may have backtracked, so all tokens are searched.
    fn token_from(&self, location: Location) -> Option<&TokenWithSpan> {
        (0..)
            .map(|index| self.parser.token_at(index))
            .take_while(|token| token.token != Token::EOF)
            .find(|token| token.span.start == location)
    }
}
