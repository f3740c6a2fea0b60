//! Step-by-step searches of long texts, so that a statement can be cancelled during a search.
//!
//! The `regex` crate searches a text in one call, and if its faster automata give up, it takes as many steps per byte
//! as the pattern has states. Here the same NFA is simulated byte by byte, with all threads at once in their order of
//! preference: the first thread that matches wins, as in the `regex` crate.

use crate::error::{QueryError, QueryResult};
use regex_automata::nfa::thompson::{NFA, State};
use regex_automata::util::primitives::StateID;
use std::rc::Rc;
use types::interrupt::spend;

/// The byte offsets at which groups start and end, by slot.
pub(super) type Slots = Rc<[Option<usize>]>;

/// A search at some byte of a text.
struct Search<'a> {
    nfa: &'a NFA,
    text: &'a str,
    /// Whether groups are wanted; otherwise slots stay empty.
    groups: bool,
    /// The round in which each state was last entered.
    entered: Vec<usize>,
    round: usize,
}

/// A state that waits for a byte or has matched, and the groups captured so far.
type Thread = (StateID, Slots);

/// Returns the slots of the first match from `start` on; without `groups`, only whether there is a match.
///
/// # Errors
/// If the statement is cancelled.
pub(super) fn search(nfa: &NFA, text: &str, start: usize, groups: bool) -> QueryResult<Option<Slots>> {
    let slots = if groups { nfa.group_info().slot_len() } else { 0 };
    let empty: Slots = vec![None; slots].into();
    let mut search = Search { nfa, text, groups, entered: vec![0; nfa.states().len()], round: 0 };
    let (mut threads, mut next, mut found) = (Vec::new(), Vec::new(), None);
    let begins_only = nfa.is_always_start_anchored();
    for at in start..=text.len() {
        // No match begins within a character, or after a match that was found.
        if found.is_none() && text.is_char_boundary(at) && (at == 0 || !begins_only) {
            if threads.is_empty() {
                search.round += 1;
            }
            search.enter(nfa.start_anchored(), &empty, at, &mut threads)?;
        }
        if threads.is_empty() && (found.is_some() || begins_only) {
            break;
        }
        search.round += 1;
        for (state, slots) in threads.drain(..) {
            match search.step(state, at) {
                Step::Match => {
                    if !groups {
                        return Ok(Some(slots));
                    }
                    found = Some(slots);
                    break;
                }
                Step::To(state) => search.enter(state, &slots, at + 1, &mut next)?,
                Step::End => {}
            }
        }
        spend(1).map_err(QueryError::from)?;
        std::mem::swap(&mut threads, &mut next);
    }
    Ok(found)
}

/// The effect of the current byte on a thread.
enum Step {
    Match,
    To(StateID),
    End,
}

impl Search<'_> {
    fn step(&self, state: StateID, at: usize) -> Step {
        let bytes = self.text.as_bytes();
        let to = match self.nfa.state(state) {
            State::Match { .. } => return Step::Match,
            State::ByteRange { trans } => trans.matches(bytes, at).then_some(trans.next),
            State::Sparse(sparse) => sparse.matches(bytes, at),
            State::Dense(dense) => dense.matches(bytes, at),
            _ => None,
        };
        to.map_or(Step::End, Step::To)
    }

    /// Enters a state and all states that it leads to without reading a byte; the first path to a state wins.
    fn enter(&mut self, state: StateID, slots: &Slots, at: usize, threads: &mut Vec<Thread>) -> QueryResult<()> {
        let mut open = vec![(state, Rc::clone(slots))];
        while let Some((state, mut slots)) = open.pop() {
            let Some(entered) = self.entered.get_mut(state.as_usize()).filter(|entered| **entered != self.round) else {
                continue;
            };
            *entered = self.round;
            spend(1).map_err(QueryError::from)?;
            match self.nfa.state(state) {
                State::Capture { next, slot, .. } => {
                    let slot = slot.as_usize();
                    if self.groups {
                        slots =
                            slots.iter().enumerate().map(|(i, own)| if i == slot { Some(at) } else { *own }).collect();
                    }
                    open.push((*next, slots));
                }
                State::Look { look, next } => {
                    if self.nfa.look_matcher().matches(*look, self.text.as_bytes(), at) {
                        open.push((*next, slots));
                    }
                }
                State::Union { alternates } => {
                    open.extend(alternates.iter().rev().map(|next| (*next, Rc::clone(&slots))));
                }
                State::BinaryUnion { alt1, alt2 } => {
                    open.push((*alt2, Rc::clone(&slots)));
                    open.push((*alt1, slots));
                }
                State::Fail => {}
                State::ByteRange { .. } | State::Sparse(_) | State::Dense(_) | State::Match { .. } => {
                    threads.push((state, slots));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use regex::Regex;

    fn in_steps(pattern: &str, text: &str, start: usize) -> Option<Vec<Option<(usize, usize)>>> {
        let nfa = NFA::new(pattern).unwrap();
        assert_eq!(
            search(&nfa, text, start, false).unwrap().is_some(),
            Regex::new(pattern).unwrap().is_match_at(text, start)
        );
        let slots = search(&nfa, text, start, true).unwrap()?;
        Some(slots.chunks(2).map(|pair| pair[0].zip(pair[1])).collect())
    }

    fn at_one_go(pattern: &str, text: &str, start: usize) -> Option<Vec<Option<(usize, usize)>>> {
        let captures = Regex::new(pattern).unwrap().captures_at(text, start)?;
        Some(captures.iter().map(|group| group.map(|group| (group.start(), group.end()))).collect())
    }

    proptest! {
        #[test]
        fn matches_and_groups_are_those_of_the_library(text in "[abcä\n ]{0,12}", start in 0_usize..4, which in 0_usize..16) {
            let patterns = [
                "", "a", "(a|ab)(c|bcd)?", "(a*)(b*)", "a*?", "(?:a|(b))*", "^a|b$", r"\ba", "(?s).", "(?s)(.*)b", "(?m)^b",
                "[^a]+", "(a+)(a+)", "ä|a", "(?i)A(B)?", "(|a)+",
            ];
            let start = (start..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
            prop_assert_eq!(in_steps(patterns[which], &text, start), at_one_go(patterns[which], &text, start), "{}", patterns[which]);
        }
    }
}
