//! Names, folded.

use sqlparser::tokenizer::Span as SourceSpan;
use std::fmt;
use types::ident;

/// A table name with an optional schema. It is folded, as names in the catalog are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ObjectName {
    /// `d` of `d.s.t`; PostgreSQL allows only the current database here.
    pub database: Option<String>,
    /// `s` of `s.t`; `None` means by `search_path`.
    pub schema: Option<String>,
    /// `t`.
    pub name: String,
    /// Its position, from its first part on.
    pub place: Place,
}

impl ObjectName {
    /// A name without schema.
    #[must_use]
    pub fn bare(name: impl Into<String>) -> Self {
        Self { database: None, schema: None, name: name.into(), place: Place::default() }
    }
}

/// A column that a statement names as a target, with an optional column family (`a.v`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ColumnName {
    /// `a` of `a.v`.
    pub family: Option<String>,
    /// `v`.
    pub name: String,
    /// Its position.
    pub place: Place,
}

impl ColumnName {
    /// A name without family and position.
    #[must_use]
    pub fn bare(name: impl Into<String>) -> Self {
        Self { family: None, name: name.into(), place: Place::default() }
    }
}

/// The position of a part in the text of its statement. It does not affect equality: all positions are equal.
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

/// Returns the name as SQL text, quoted if necessary, that reads back as the same name.
pub(crate) fn quote(name: &str) -> String {
    let mut bytes = name.bytes();
    let plain = bytes.next().is_some_and(|b| b.is_ascii_lowercase() || b == b'_')
        && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && !crate::lexer::is_keyword(name);
    if plain { name.to_owned() } else { ident::quote_always(name) }
}
