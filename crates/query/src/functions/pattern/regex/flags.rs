//! Flags of regular expressions.

use crate::Refusal;
use crate::error::{QueryError, QueryResult};

/// The options of a regular expression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags {
    pub(super) global: bool,
    pub(super) ignore_case: bool,
    /// `^` and `$` match at line ends.
    pub(super) anchors: bool,
    /// `.` and negated brackets such as `[^a]` do not match line ends.
    pub(super) dots: bool,
    pub(super) literal: bool,
    pub(super) expanded: bool,
    /// The pattern already has the syntax of the `regex` crate.
    pub(super) spelled: bool,
}

impl Flags {
    pub(super) fn parse(flags: &str, function: &str, global_allowed: bool) -> QueryResult<Self> {
        let mut all = Self::default();
        for flag in flags.chars() {
            match flag {
                'g' if global_allowed => all.global = true,
                'g' => {
                    let message = format!("{function}() does not support the \"global\" option");
                    return Err(Refusal::Argument.because(message));
                }
                flag if all.set(flag)? => {}
                other => {
                    let message = format!("invalid regular expression option: \"{other}\"");
                    return Err(Refusal::Argument.because(message));
                }
            }
        }
        Ok(all)
    }

    /// Sets the option of a letter; returns false for an unknown letter.
    pub(super) fn set(&mut self, letter: char) -> QueryResult<bool> {
        match letter {
            'i' => self.ignore_case = true,
            'c' => self.ignore_case = false,
            'n' | 'm' => (self.anchors, self.dots) = (true, true),
            's' => (self.anchors, self.dots) = (false, false),
            'w' => (self.anchors, self.dots) = (true, false),
            'p' => (self.anchors, self.dots) = (false, true),
            'q' => self.literal = true,
            'x' => self.expanded = true,
            't' => self.expanded = false,
            'e' => {}
            'b' => return Err(QueryError::Unsupported { feature: "a basic regular expression".to_owned() }),
            _ => return Ok(false),
        }
        Ok(true)
    }
}
