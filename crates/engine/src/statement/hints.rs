//! Phoenix hints, `/*+ INDEX(t i) */`: the supported ones, and notices about the others.

use crate::Session;
use query::{IndexChoice, ScanHints};
use sql::{Hint, ObjectName};
use std::sync::Arc;

/// The support of a hint.
enum Meaning {
    /// Scans and joins obey it.
    Obeyed,
    /// It is always in effect.
    Holds,
    /// It has no effect, for this reason.
    WithoutEffect(&'static str),
    /// There is no such hint.
    Unknown,
}

fn meaning(name: &str) -> Meaning {
    match name {
        "INDEX"
        | "NO_INDEX"
        | "USE_DATA_OVER_INDEX_TABLE"
        | "USE_INDEX_OVER_DATA_TABLE"
        | "RANGE_SCAN"
        | "SERIAL"
        | "USE_SORT_MERGE_JOIN" => Meaning::Obeyed,
        "SKIP_SCAN" | "HASH_AGGREGATE" => Meaning::Holds,
        "NO_CACHE" => {
            Meaning::WithoutEffect("the block cache keeps what is read often, and a scan does not push that out")
        }
        "SMALL" => Meaning::WithoutEffect("short reads need no call of their own"),
        "FORWARD_SCAN" => Meaning::WithoutEffect("scans go the way that the order asks for"),
        "SEEK_TO_COLUMN" | "NO_SEEK_TO_COLUMN" => Meaning::WithoutEffect("the columns of a row are kept together"),
        "USE_PERSISTENT_CACHE" => Meaning::WithoutEffect("the rows of a join are kept for their statement only"),
        "NO_STAR_JOIN" | "NO_CHILD_PARENT_JOIN_OPTIMIZATION" => {
            Meaning::WithoutEffect("joins are chosen by the size of their sides")
        }
        "NO_INDEX_SERVER_MERGE" => Meaning::WithoutEffect("rows of entries are always fetched where the store is"),
        "CDC_INCLUDE" => Meaning::WithoutEffect("there are no change streams yet"),
        _ => Meaning::Unknown,
    }
}

/// The hints that scans and joins obey.
pub(crate) fn scan_hints(hints: &[Hint]) -> ScanHints {
    let mut found = ScanHints::default();
    for Hint { name, table, words, tables } in hints {
        let mut choose = |choice| match (table, tables) {
            // A hint of a subquery applies to the tables of that subquery.
            (None, Some(tables)) => {
                found.choices.extend(tables.iter().map(|table| (Some(table.clone()), choice)));
            }
            _ => found.choices.push((table.clone(), choice)),
        };
        match name.as_str() {
            "INDEX" => found.indexes.extend(table.clone().map(|table| (table, words.clone()))),
            "NO_INDEX" | "USE_DATA_OVER_INDEX_TABLE" => choose(IndexChoice::Off),
            "USE_INDEX_OVER_DATA_TABLE" => choose(IndexChoice::Force),
            "RANGE_SCAN" => found.one_range.extend(tables.as_deref()),
            "SERIAL" => found.serial.extend(tables.as_deref()),
            "USE_SORT_MERGE_JOIN" => found.sort_merge_joins = true,
            _ => {}
        }
    }
    found
}

impl Session {
    /// Sets the hints for the statement that is run or prepared next.
    pub(crate) fn take_hints(&mut self, hints: &[Hint]) {
        let mut found = scan_hints(hints);
        found.sort_merge_joins |= !self.settings.effective().hash_joins;
        if *self.hints != found {
            self.hints = Arc::new(found);
        }
    }

    /// Sends notices about hints that have no effect.
    pub(crate) fn notify_ignored_hints(&mut self, hints: &[Hint]) {
        for hint in hints {
            match meaning(&hint.name) {
                Meaning::Obeyed if hint.name == "INDEX" => self.tell_of_missing(hint),
                Meaning::Obeyed | Meaning::Holds => {}
                Meaning::WithoutEffect(reason) => self.without_effect(&format!("hint {}", hint.name), reason),
                Meaning::Unknown => {
                    let message = format!("hint {} is unknown and was passed over", hint.name);
                    self.notices.info("00000", message);
                }
            }
        }
    }

    /// Sends notices about INDEX hints whose table or index does not exist or cannot be read.
    fn tell_of_missing(&mut self, hint: &Hint) {
        let Some(name) = &hint.table else {
            let message = "hint INDEX names no table and was passed over";
            return self.notices.info("00000", message);
        };
        let catalog = self.engine.catalog().current();
        let table = ObjectName::bare(name.clone());
        let Ok(table) = self.resolve(&catalog, &table) else {
            let message = format!("hint INDEX: there is no table \"{name}\"");
            return self.notices.info("00000", message);
        };
        for word in hint.words.iter().filter(|word| !table.public_indexes().any(|index| index.name == **word)) {
            let message = format!("hint INDEX: table \"{name}\" has no index \"{word}\" that can be read");
            self.notices.info("00000", message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_about_a_table_counts() {
        let hint = |name: &str| Hint { name: name.to_owned(), table: None, words: Vec::new(), tables: None };
        let found =
            scan_hints(&[hint("NO_INDEX"), hint("USE_INDEX_OVER_DATA_TABLE"), hint("NO_CACHE"), hint("SERIAL")]);
        assert_eq!(found.rules("t", IndexChoice::Auto).choice, IndexChoice::Force);
        let rules = found.rules("t", IndexChoice::Auto);
        assert!(rules.serial && !rules.one_range && !found.sort_merge_joins);
    }

    #[test]
    fn a_hint_of_a_subquery_does_not_reach_the_tables_around_it() {
        let tables = Some(vec!["t".to_owned()]);
        let found = scan_hints(&[Hint { name: "NO_INDEX".to_owned(), table: None, words: Vec::new(), tables }]);
        assert_eq!(found.rules("t", IndexChoice::Auto).choice, IndexChoice::Off);
        assert_eq!(found.rules("u", IndexChoice::Auto).choice, IndexChoice::Auto);
    }

    #[test]
    fn every_hint_of_phoenix_is_known() {
        let all = "RANGE_SCAN SKIP_SCAN NO_CHILD_PARENT_JOIN_OPTIMIZATION NO_INDEX INDEX USE_DATA_OVER_INDEX_TABLE \
            USE_INDEX_OVER_DATA_TABLE NO_CACHE USE_SORT_MERGE_JOIN NO_STAR_JOIN USE_PERSISTENT_CACHE SEEK_TO_COLUMN \
            NO_SEEK_TO_COLUMN SMALL SERIAL FORWARD_SCAN HASH_AGGREGATE NO_INDEX_SERVER_MERGE CDC_INCLUDE";
        for name in all.split_whitespace() {
            assert!(!matches!(meaning(name), Meaning::Unknown), "{name}");
        }
        assert!(matches!(meaning("NO_SUCH"), Meaning::Unknown));
    }
}
