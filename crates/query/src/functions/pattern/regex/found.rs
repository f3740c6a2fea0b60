//! A match and its groups, from either kind of search.

use super::steps::Slots;
use regex::Captures;

/// Groups of a match; the whole match is the first.
pub(super) enum Found<'t> {
    /// Found by the `regex` crate.
    AtOnce(Captures<'t>),
    /// Found step by step (`steps.rs`) in this text.
    InSteps(&'t str, Slots),
}

/// A part of the text that was searched.
#[derive(Clone, Copy)]
pub(super) struct Part<'t> {
    text: &'t str,
    start: usize,
}

impl<'t> Part<'t> {
    pub(super) fn as_str(&self) -> &'t str {
        self.text
    }

    pub(super) fn start(&self) -> usize {
        self.start
    }

    pub(super) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

impl<'t> Found<'t> {
    /// Returns the number of groups, including the whole match.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::AtOnce(captures) => captures.len(),
            Self::InSteps(_, slots) => slots.len() / 2,
        }
    }

    /// Returns the text that a group matched.
    pub(super) fn get(&self, group: usize) -> Option<Part<'t>> {
        match self {
            Self::AtOnce(captures) => {
                captures.get(group).map(|found| Part { text: found.as_str(), start: found.start() })
            }
            Self::InSteps(text, slots) => {
                let slot = |at: usize| slots.get(at).copied().flatten();
                let start = slot(group.checked_mul(2)?)?;
                Some(Part { text: text.get(start..slot(2 * group + 1)?)?, start })
            }
        }
    }
}
