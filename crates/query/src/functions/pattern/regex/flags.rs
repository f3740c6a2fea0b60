//! Flags of regular expressions.

use crate::Refusal;
use crate::error::{QueryError, QueryResult};

/// What flags say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags {
    pub(super) global: bool,
    pub(super) ignore_case: bool,
    /// Do `^` and `$` stand at the ends of lines?
    pub(super) anchors: bool,
    /// Do `.` and brackets such as `[^a]` stop at line ends?
    pub(super) dots: bool,
    pub(super) literal: bool,
    pub(super) expanded: bool,
    /// Is the pattern in the library's spelling already?
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

    /// Sets what a letter says; false: it says nothing.
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
