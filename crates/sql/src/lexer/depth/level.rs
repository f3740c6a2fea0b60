//! One level of a statement: the content of one pair of parentheses or of one CASE.

use sqlparser::tokenizer::Token;

/// Depths without (`balanced`) and with (`raw`) the chains of AND and OR.
#[derive(Clone, Copy, Default)]
pub(super) struct Depth {
    pub(super) balanced: usize,
    pub(super) raw: usize,
}

impl Depth {
    pub(super) fn max(self, other: Self) -> Self {
        Self { balanced: self.balanced.max(other.balanced), raw: self.raw.max(other.raw) }
    }

    pub(super) fn plus(self, balanced: usize, raw: usize) -> Self {
        Self { balanced: self.balanced + balanced, raw: self.raw + raw }
    }
}

/// One open parenthesis or CASE, or the statement itself.
#[derive(Clone, Copy, Default)]
pub(super) struct Level {
    /// The depth of the deepest finished part.
    finished: Depth,
    /// The part that is being read: its operators on top of the deepest parenthesis in it.
    pub(super) part: Depth,
    /// Length of the chain of AND and OR, which joins several parts.
    logical: usize,
    /// BETWEENs whose AND is still expected.
    betweens: usize,
    /// Set operations, which chain SELECTs.
    sets: usize,
    /// Tables of the FROM that is being read, after its first.
    pub(super) tables: usize,
    /// CTEs of a WITH.
    pub(super) withs: usize,
    /// Do commas separate tables?
    in_from: bool,
    pub(super) last: Last,
}

/// The kind of the last token, as far as the meaning of the next one depends on it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Last {
    #[default]
    Other,
    /// A FROM after it belongs to the operator IS DISTINCT FROM.
    Distinct,
    /// A parenthesis after it contains a CTE.
    As,
    /// A word after it is a column, even if it is a keyword.
    Period,
}

impl Level {
    pub(super) fn depth(&self) -> Depth {
        self.finished.max(self.part).plus(self.sets, self.logical + self.sets)
    }

    /// Ends the part; the next one is beside it.
    fn end_part(&mut self) {
        self.finished = self.finished.max(self.part);
        self.part = Depth::default();
    }

    /// Starts or ends a FROM.
    fn from(&mut self, begins: bool) {
        self.in_from = begins;
        self.tables = 0;
    }

    /// Counts tables and CTEs.
    fn count(&mut self, token: &Token) {
        let last = std::mem::take(&mut self.last);
        let word = match token {
            Token::Word(word) if word.quote_style.is_none() => word.value.as_str(),
            Token::Comma => {
                self.tables += usize::from(self.in_from);
                return;
            }
            Token::Period => {
                self.last = Last::Period;
                return;
            }
            _ => return,
        };
        let is = |words: &[&str]| words.iter().any(|w| word.eq_ignore_ascii_case(w));
        if is(&["FROM"]) {
            self.from(last != Last::Distinct);
        } else if is(&["USING"]) && !self.in_from {
            self.from(true);
        } else if is(&["SELECT", "WHERE", "BY", "HAVING", "VALUES", "SET", "RETURNING"]) {
            self.from(false);
        } else if is(&["JOIN"]) {
            self.tables += 1;
        } else if is(&["DISTINCT"]) {
            self.last = Last::Distinct;
        } else if is(&["AS", "MATERIALIZED"]) {
            self.last = Last::As;
        }
    }

    pub(super) fn see(&mut self, token: &Token) {
        self.count(token);
        match Link::of(token) {
            Link::None => {}
            Link::Operator => self.part = self.part.plus(1, 1),
            Link::Between => {
                self.betweens += 1;
                self.part = self.part.plus(1, 1);
            }
            Link::And if self.betweens > 0 => self.betweens -= 1,
            Link::And | Link::Or => {
                self.end_part();
                self.logical += 1;
            }
            Link::Set => {
                self.end_part();
                self.sets += 1;
            }
            Link::Break => {
                self.end_part();
                // The chain of AND and OR ends, too: its length stays in the finished depth.
                self.finished.raw += self.logical;
                self.logical = 0;
                self.betweens = 0;
            }
        }
    }
}

/// The effect of a token on the depth.
enum Link {
    None,
    Operator,
    Between,
    And,
    Or,
    Set,
    Break,
}

impl Link {
    fn of(token: &Token) -> Self {
        match token {
            Token::Word(word) if word.quote_style.is_none() => Self::of_word(&word.value),
            Token::Comma => Self::Break,
            Token::Word(_)
            | Token::Number(..)
            | Token::SingleQuotedString(_)
            | Token::EscapedStringLiteral(_)
            | Token::DollarQuotedString(_)
            | Token::Placeholder(_)
            | Token::Period
            | Token::EOF => Self::None,
            _ => Self::Operator,
        }
    }

    fn of_word(word: &str) -> Self {
        let is = |words: &[&str]| words.iter().any(|w| word.eq_ignore_ascii_case(w));
        if is(&["AND"]) {
            Self::And
        } else if is(&["OR"]) {
            Self::Or
        } else if is(&["BETWEEN"]) {
            Self::Between
        } else if is(&["UNION", "EXCEPT", "INTERSECT"]) {
            Self::Set
        } else if is(&[
            "NOT", "IS", "ISNULL", "NOTNULL", "LIKE", "ILIKE", "SIMILAR", "IN", "COLLATE", "AT", "OVERLAPS", "EXPLAIN",
            "INTERVAL",
        ]) {
            Self::Operator
        } else if is(&[
            "SELECT",
            "FROM",
            "WHERE",
            "ON",
            "BY",
            "HAVING",
            "VALUES",
            "SET",
            "RETURNING",
            "JOIN",
            "WHEN",
            "THEN",
            "ELSE",
        ]) {
            Self::Break
        } else {
            Self::None
        }
    }
}
