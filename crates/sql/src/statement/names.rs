//! Names, folded.

use sqlparser::tokenizer::Span as SourceSpan;
use std::fmt;
use types::ident;

/// A table, perhaps with its schema. Folded: compare with the catalog as it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ObjectName {
    /// `d` of `d.s.t`; PostgreSQL allows only the current database here.
    pub database: Option<String>,
    /// `s` of `s.t`; `None` means by `search_path`.
    pub schema: Option<String>,
    /// `t`.
    pub name: String,
    /// Where it stands, from its first part on.
    pub place: Place,
}

impl ObjectName {
    /// A name without schema.
    #[must_use]
    pub fn bare(name: impl Into<String>) -> Self {
        Self { database: None, schema: None, name: name.into(), place: Place::default() }
    }
}

/// A column where a statement names it as a target, perhaps with its column family (`a.v`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ColumnName {
    /// `a` of `a.v`.
    pub family: Option<String>,
    /// `v`.
    pub name: String,
    /// Where it stands.
    pub place: Place,
}

impl ColumnName {
    /// A name without family, which stands nowhere.
    #[must_use]
    pub fn bare(name: impl Into<String>) -> Self {
        Self { family: None, name: name.into(), place: Place::default() }
    }
}

/// Where something stands in the text of its statement: no part of what it means, so that all places are equal.
#[derive(Clone, Copy, Debug)]
pub struct Place(pub SourceSpan);

impl Default for Place {
    fn default() -> Self {
        Self(SourceSpan::empty())
    }
}

impl PartialEq for Place {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Place {}

impl std::hash::Hash for Place {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in [&self.database, &self.schema].into_iter().flatten() {
            write!(f, "{}.", quote(part))?;
        }
        f.write_str(&quote(&self.name))
    }
}

impl fmt::Display for ColumnName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(family) = &self.family {
            write!(f, "{}.", quote(family))?;
        }
        f.write_str(&quote(&self.name))
    }
}

/// The name as SQL text that reads back as the same name.
pub(crate) fn quote(name: &str) -> String {
    let mut bytes = name.bytes();
    let plain = bytes.next().is_some_and(|b| b.is_ascii_lowercase() || b == b'_')
        && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && !crate::lexer::is_keyword(name);
    if plain { name.to_owned() } else { ident::quote_always(name) }
}
