//! Table properties: their names and accepted values.
//!
//! A property is accepted only if its value holds. HBase and Phoenix properties that ask for a missing feature are
//! refused by name with the reason, never silently stored. PostgreSQL storage parameters for pages and vacuum are
//! stored without effect, and the statement reports that ([`without_effect`]).

use crate::{CatalogError, CatalogResult};
use std::collections::BTreeMap;

/// The property that is part of the key schema and is not stored among the properties.
const SALT_BUCKETS: &str = "salt_buckets";

/// Bytes between two guideposts.
pub const GUIDE_POSTS_WIDTH: &str = "guide_posts_width";
/// Whether automatic ANALYZE is enabled.
pub const AUTO_ANALYZE: &str = "autovacuum_enabled";
/// Automatic ANALYZE runs after this number of changed rows ...
pub const ANALYZE_THRESHOLD: &str = "autovacuum_analyze_threshold";
/// ... plus this fraction of the table's rows.
pub const ANALYZE_SCALE_FACTOR: &str = "autovacuum_analyze_scale_factor";

/// The accepted values of a property.
enum Rule {
    /// Only this value, also in its other spellings; any other valid value is an unsupported feature.
    Only { value: &'static str, same: &'static [&'static str], expected: &'static str, valid: fn(&str) -> bool },
    /// No value, for this reason.
    Refused(&'static str),
    /// Any valid value.
    Kept { valid: fn(&str) -> bool, expected: &'static str },
    /// Any valid value, without effect for this reason.
    Hint { valid: fn(&str) -> bool, expected: &'static str, reason: &'static str },
}

const FALSE: &[&str] = &["off", "no", "0"];

const fn only_false() -> Rule {
    Rule::Only { value: "false", same: FALSE, expected: "a boolean", valid: is_boolean }
}

const PAGES: &str = "rows are not kept in pages";
const NO_VACUUM: &str = "old versions of rows are removed when the store merges its files";
const WORKERS: &str = "scans are split by the size of what they read";

const fn number(reason: &'static str) -> Rule {
    Rule::Hint { valid: is_decimal, expected: "a number", reason }
}

const fn boolean(reason: &'static str) -> Rule {
    Rule::Hint { valid: is_either, expected: "a boolean", reason }
}

/// All names, in lower case.
const RULES: &[(&str, Rule)] = &[
    ("versions", Rule::Only { value: "1", same: &[], expected: "a number from 1 on", valid: is_positive }),
    ("min_versions", Rule::Only { value: "0", same: &[], expected: "a number", valid: is_number }),
    ("ttl", Rule::Only { value: "forever", same: &["none"], expected: "seconds or FOREVER", valid: is_positive }),
    ("keep_deleted_cells", Rule::Only { value: "false", same: FALSE, expected: "TRUE, FALSE or TTL", valid: is_keep }),
    ("immutable_rows", only_false()),
    ("append_only_schema", only_false()),
    ("multi_tenant", only_false()),
    ("transactional", only_false()),
    ("disable_wal", only_false()),
    ("store_nulls", only_false()),
    ("cell_layout", Rule::Refused("a row and family is one cell so far")),
    ("default_column_family", Rule::Refused("families can be named column by column")),
    ("update_cache_frequency", Rule::Refused("every statement sees the newest definitions")),
    (GUIDE_POSTS_WIDTH, Rule::Kept { valid: is_number, expected: "a number of bytes" }),
    ("column_encoded_bytes", Rule::Refused("columns are always kept by a number of their own")),
    ("immutable_storage_scheme", Rule::Refused("all rows are kept in one form")),
    ("encoding_scheme", Rule::Refused("columns are always kept by a number of their own")),
    ("compression", Rule::Refused("blocks are always compressed with LZ4")),
    ("data_block_encoding", Rule::Refused("the store chooses its block format")),
    ("bloomfilter", Rule::Refused("the store always keeps bloom filters")),
    ("blocksize", Rule::Refused("the store chooses its block size")),
    ("blockcache", Rule::Refused("the block cache is shared by all tables")),
    ("in_memory", Rule::Refused("the block cache is shared by all tables")),
    ("replication_scope", Rule::Refused("there is no replication")),
    ("fillfactor", Rule::Hint { valid: is_percentage, expected: "a number of 10 to 100", reason: PAGES }),
    ("toast_tuple_target", number(PAGES)),
    ("parallel_workers", number(WORKERS)),
    ("vacuum_truncate", boolean(NO_VACUUM)),
    ("vacuum_index_cleanup", Rule::Hint { valid: is_cleanup, expected: "a boolean or auto", reason: NO_VACUUM }),
    (AUTO_ANALYZE, Rule::Kept { valid: is_either, expected: "a boolean" }),
    ("autovacuum_vacuum_threshold", number(NO_VACUUM)),
    ("autovacuum_vacuum_scale_factor", number(NO_VACUUM)),
    ("autovacuum_vacuum_insert_threshold", number(NO_VACUUM)),
    ("autovacuum_vacuum_insert_scale_factor", number(NO_VACUUM)),
    ("autovacuum_vacuum_cost_delay", number(NO_VACUUM)),
    ("autovacuum_vacuum_cost_limit", number(NO_VACUUM)),
    (ANALYZE_THRESHOLD, Rule::Kept { valid: is_amount, expected: "a number from 0 on" }),
    (ANALYZE_SCALE_FACTOR, Rule::Kept { valid: is_amount, expected: "a number from 0 on" }),
    ("autovacuum_freeze_min_age", number(NO_VACUUM)),
    ("autovacuum_freeze_max_age", number(NO_VACUUM)),
    ("autovacuum_freeze_table_age", number(NO_VACUUM)),
    ("log_autovacuum_min_duration", number(NO_VACUUM)),
];

/// Checks the properties of a new table. Returns its salt buckets, and the other properties with normalized names and
/// values.
///
/// # Errors
/// [`CatalogError::UnknownProperty`], [`CatalogError::InvalidProperty`], [`CatalogError::InvalidSalt`],
/// [`CatalogError::Unsupported`].
pub fn check_new(given: BTreeMap<String, String>) -> CatalogResult<(Option<u16>, BTreeMap<String, String>)> {
    let mut salt = None;
    let mut properties = BTreeMap::new();
    for (name, value) in given {
        let name = name.to_lowercase();
        if name == SALT_BUCKETS {
            salt = check_salt(&value)?;
        } else {
            let value = check(&name, &value)?;
            properties.insert(name, value);
        }
    }
    Ok((salt, properties))
}

/// Returns the properties among `names` (in any case) that have no effect, and the reason.
pub fn without_effect<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<(&'a str, &'static str)> {
    let reason = |name: &'a str| match rule(&name.to_lowercase()) {
        Ok(Rule::Hint { reason, .. }) => Some((name, *reason)),
        _ => None,
    };
    names.into_iter().filter_map(reason).collect()
}

/// Checks changes of a table's properties; `None` removes one.
///
/// # Errors
/// As [`check_new`]; salt buckets cannot be changed.
pub(crate) fn check_changes(given: &BTreeMap<String, Option<String>>) -> CatalogResult<Vec<(String, Option<String>)>> {
    let change = |(name, value): (&String, &Option<String>)| {
        let name = name.to_lowercase();
        if name == SALT_BUCKETS {
            let feature = "changing the salt buckets of a table".to_string();
            return Err(CatalogError::Unsupported { feature });
        }
        let value = match value {
            Some(value) => Some(check(&name, value)?),
            None => {
                rule(&name)?;
                None
            }
        };
        Ok((name, value))
    };
    given.iter().map(change).collect()
}

/// Parses salt buckets: 2 to 256; 0 means none, as in Phoenix.
pub(crate) fn check_salt(given: &str) -> CatalogResult<Option<u16>> {
    match given.trim().parse() {
        Ok(0) => Ok(None),
        Ok(buckets @ 2..=256) => Ok(Some(buckets)),
        _ => Err(CatalogError::InvalidSalt { given: given.to_string() }),
    }
}

fn rule(name: &str) -> CatalogResult<&'static Rule> {
    let found = RULES.iter().find(|(known, _)| *known == name);
    found.map(|(_, rule)| rule).ok_or_else(|| CatalogError::UnknownProperty { name: name.to_string() })
}

fn check(name: &str, given: &str) -> CatalogResult<String> {
    let plain = given.trim().to_lowercase();
    let (value, same, expected, valid) = match rule(name)? {
        Rule::Only { value, same, expected, valid } => (value, same, expected, valid),
        Rule::Hint { valid, .. } | Rule::Kept { valid, .. } if valid(&plain) => return Ok(plain),
        Rule::Hint { expected, .. } | Rule::Kept { expected, .. } => return Err(invalid(name, given, expected)),
        Rule::Refused(reason) => {
            let feature = format!("table property \"{name}\" ({reason})");
            return Err(CatalogError::Unsupported { feature });
        }
    };
    if plain == *value || same.contains(&plain.as_str()) {
        return Ok((*value).to_string());
    }
    if valid(&plain) {
        let feature = format!("table property \"{name}\" with a value other than {}", value.to_uppercase());
        return Err(CatalogError::Unsupported { feature });
    }
    Err(invalid(name, given, expected))
}

fn invalid(name: &str, given: &str, expected: &str) -> CatalogError {
    let (name, value) = (name.to_string(), given.to_string());
    CatalogError::InvalidProperty { name, value, expected: format!("it takes {expected}") }
}

fn is_percentage(text: &str) -> bool {
    text.parse::<u32>().is_ok_and(|number| (10..=100).contains(&number))
}

fn is_decimal(text: &str) -> bool {
    text.parse::<f64>().is_ok_and(f64::is_finite)
}

fn is_amount(text: &str) -> bool {
    text.parse::<f64>().is_ok_and(|number| number.is_finite() && number >= 0.0)
}

fn is_either(text: &str) -> bool {
    is_boolean(text) || text == "false" || FALSE.contains(&text)
}

fn is_cleanup(text: &str) -> bool {
    is_either(text) || text == "auto"
}

fn is_number(text: &str) -> bool {
    text.parse::<u32>().is_ok()
}

fn is_positive(text: &str) -> bool {
    text.parse::<u32>().is_ok_and(|number| number > 0)
}

fn is_boolean(text: &str) -> bool {
    ["true", "on", "yes", "1"].contains(&text)
}

fn is_keep(text: &str) -> bool {
    is_boolean(text) || text == "ttl"
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn new(name: &str, value: &str) -> CatalogResult<(Option<u16>, BTreeMap<String, String>)> {
        check_new(BTreeMap::from([(name.to_string(), value.to_string())]))
    }

    #[test]
    fn salt_buckets_may_stand_among_the_properties() {
        assert_eq!(new("SALT_BUCKETS", "8").unwrap().0, Some(8));
        assert_eq!(new("salt_buckets", "256").unwrap().0, Some(256));
        assert_eq!(new("salt_buckets", "0").unwrap().0, None);
        for bad in ["1", "257", "-3", "many", ""] {
            assert_eq!(new("salt_buckets", bad), Err(CatalogError::InvalidSalt { given: bad.to_string() }));
        }
    }

    #[test]
    fn what_holds_anyway_is_kept_in_one_spelling() {
        assert_eq!(new("TTL", "NONE").unwrap().1, BTreeMap::from([("ttl".to_string(), "forever".to_string())]));
        assert_eq!(new("Immutable_Rows", "off").unwrap().1.get("immutable_rows").unwrap(), "false");
    }

    #[test]
    fn what_has_no_effect_is_kept_and_told() {
        assert_eq!(new("FillFactor", "70").unwrap().1.get("fillfactor").unwrap(), "70");
        assert_eq!(without_effect(["FILLFACTOR", "ttl", "autovacuum_enabled", "vacuum_truncate"]).len(), 2);
        for bad in [("fillfactor", "5"), ("autovacuum_enabled", "7"), ("parallel_workers", "many")] {
            assert!(matches!(new(bad.0, bad.1), Err(CatalogError::InvalidProperty { .. })), "{bad:?}");
        }
    }

    #[test]
    fn what_is_not_built_is_refused_by_name() {
        for (name, value) in [("versions", "3"), ("ttl", "86400"), ("immutable_rows", "true"), ("compression", "GZ")] {
            let Err(CatalogError::Unsupported { feature }) = new(name, value) else { panic!("{name} was taken") };
            assert!(feature.contains(name), "{feature}");
        }
    }

    #[test]
    fn nonsense_is_an_invalid_value_and_an_unknown_name_is_named() {
        assert!(matches!(new("versions", "0"), Err(CatalogError::InvalidProperty { .. })));
        assert!(matches!(new("multi_tenant", "maybe"), Err(CatalogError::InvalidProperty { .. })));
        assert_eq!(new("colour", "red"), Err(CatalogError::UnknownProperty { name: "colour".to_string() }));
    }

    #[test]
    fn rules_are_in_lower_case_and_named_once() {
        for (at, (name, _)) in RULES.iter().enumerate() {
            assert_eq!(*name, name.to_lowercase());
            assert!(!RULES[at + 1..].iter().any(|(other, _)| other == name), "{name} twice");
        }
    }
}
