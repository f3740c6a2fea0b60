//! Scan hints of a statement, and the session settings for scans.

use crate::IndexChoice;

/// The supported hints of a statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanHints {
    /// INDEX: tables, each with index names, the preferred one first.
    pub indexes: Vec<(String, Vec<String>)>,
    /// NO_INDEX, USE_DATA_OVER_INDEX_TABLE, USE_INDEX_OVER_DATA_TABLE: for one table, or for all.
    pub choices: Vec<(Option<String>, IndexChoice)>,
    /// RANGE_SCAN: one range instead of several.
    pub one_range: Scope,
    /// SERIAL: one task per scan.
    pub serial: Scope,
    /// USE_SORT_MERGE_JOIN.
    pub sort_merge_joins: bool,
}

/// The tables that a hint applies to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// No such hint.
    #[default]
    None,
    /// The tables of subqueries with the hint.
    Tables(Vec<String>),
    /// All tables of the statement.
    All,
}

impl Scope {
    /// Adds a hint: `tables` are the tables of its subquery, `None` for a hint of the whole statement.
    pub fn extend(&mut self, tables: Option<&[String]>) {
        match (&mut *self, tables) {
            (_, None) => *self = Self::All,
            (Self::All, _) => {}
            (Self::Tables(all), Some(more)) => all.extend_from_slice(more),
            (Self::None, Some(tables)) => *self = Self::Tables(tables.to_vec()),
        }
    }

    fn has(&self, table: &str) -> bool {
        match self {
            Self::None => false,
            Self::Tables(tables) => tables.iter().any(|of| of == table),
            Self::All => true,
        }
    }
}

/// The rules for scanning one table of a statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanRules {
    /// Whether indexes are used.
    pub choice: IndexChoice,
    /// Indexes named by a hint, the preferred one first.
    pub preferred: Vec<String>,
    /// Whether to read one range instead of several.
    pub one_range: bool,
    /// Whether one task reads the whole scan.
    pub serial: bool,
}

impl ScanHints {
    /// Whether any hint affects the access path.
    pub fn has_hint(&self) -> bool {
        !self.indexes.is_empty() || !self.choices.is_empty() || self.one_range != Scope::None
    }

    /// The rules for the table of that name, if the session's setting is `choice`.
    pub fn rules(&self, table: &str, choice: IndexChoice) -> ScanRules {
        let said = self.choices.iter().rev().find(|(of, _)| of.as_deref().is_none_or(|of| of == table));
        let preferred = self.indexes.iter().filter(|(of, _)| of == table).flat_map(|(_, names)| names);
        ScanRules {
            choice: match said {
                // Index entries that may not be complete are never read, regardless of hints.
                Some((_, said)) if choice != IndexChoice::Off => *said,
                _ => choice,
            },
            preferred: preferred.cloned().collect(),
            one_range: self.one_range.has(table),
            serial: self.serial.has(table),
        }
    }
}

impl ScanRules {
    /// Whether a hint names indexes.
    pub fn has_hint(&self) -> bool {
        !self.preferred.is_empty()
    }

    /// The position of an index in the hint.
    pub fn place_of(&self, index: &str) -> Option<usize> {
        self.preferred.iter().position(|name| name == index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_about_their_table_and_never_read_what_a_session_may_not() {
        let hints = ScanHints {
            indexes: vec![("t".to_owned(), vec!["i".to_owned(), "j".to_owned()])],
            choices: vec![(Some("u".to_owned()), IndexChoice::Off)],
            ..ScanHints::default()
        };
        let (t, u) = (hints.rules("t", IndexChoice::Auto), hints.rules("u", IndexChoice::Auto));
        assert_eq!((t.choice, t.place_of("j"), t.place_of("k")), (IndexChoice::Auto, Some(1), None));
        assert_eq!((u.choice, u.has_hint()), (IndexChoice::Off, false));
        assert_eq!(hints.rules("u", IndexChoice::Force).choice, IndexChoice::Off);
        let force = ScanHints { choices: vec![(None, IndexChoice::Force)], ..ScanHints::default() };
        assert_eq!(force.rules("t", IndexChoice::Off).choice, IndexChoice::Off);
        assert!(force.has_hint() && !ScanHints::default().has_hint());
    }

    #[test]
    fn a_hint_of_a_subquery_is_about_its_tables() {
        let mut hints = ScanHints::default();
        hints.one_range.extend(Some(&["t".to_owned()]));
        hints.serial.extend(Some(&["t".to_owned()]));
        hints.serial.extend(None);
        let (t, u) = (hints.rules("t", IndexChoice::Auto), hints.rules("u", IndexChoice::Auto));
        assert_eq!((t.one_range, t.serial, u.one_range, u.serial), (true, true, false, true));
    }
}
