//! DROP … IF EXISTS of kinds of objects that Bennu does not have: dumps and migrations begin with it.

use super::ObjectName;
use super::names::quote;
use std::fmt::{self, Display, Formatter};

/// A kind of object that PostgreSQL has and Bennu does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbsentKind {
    /// The keywords after DROP.
    pub words: &'static [&'static str],
    /// Its name in messages.
    pub noun: &'static str,
    /// How such an object is named.
    pub naming: Naming,
    /// The catalog that lists such objects, and its name column.
    pub catalog: Option<(&'static str, &'static str)>,
}

/// How an object is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// By a plain name.
    Plain,
    /// As tables and views.
    Relation,
    /// With its argument types.
    Arguments,
    /// Within a table: `x ON t`.
    OfTable,
}

/// DROP … IF EXISTS of such objects.
#[derive(Clone, Debug, PartialEq)]
pub struct DropAbsent {
    /// Their kind.
    pub kind: &'static AbsentKind,
    /// The objects.
    pub objects: Vec<AbsentObject>,
}

/// One of the objects.
#[derive(Clone, Debug, PartialEq)]
pub struct AbsentObject {
    /// Its name.
    pub name: ObjectName,
    /// Its arguments as written, including parentheses.
    pub arguments: String,
    /// The table that it belongs to.
    pub table: Option<ObjectName>,
}

const fn kind(
    words: &'static [&'static str],
    noun: &'static str,
    naming: Naming,
    catalog: Option<(&'static str, &'static str)>,
) -> AbsentKind {
    AbsentKind { words, noun, naming, catalog }
}

/// All such kinds. A kind names its catalog if the system has objects of that kind.
pub(crate) const ABSENT_KINDS: &[AbsentKind] = &[
    kind(&["AGGREGATE"], "aggregate", Naming::Arguments, Some(("pg_proc", "proname"))),
    kind(&["COLLATION"], "collation", Naming::Plain, Some(("pg_collation", "collname"))),
    kind(&["DATABASE"], "database", Naming::Plain, Some(("pg_database", "datname"))),
    kind(&["DOMAIN"], "type", Naming::Plain, Some(("pg_type", "typname"))),
    kind(&["EVENT", "TRIGGER"], "event trigger", Naming::Plain, None),
    kind(&["EXTENSION"], "extension", Naming::Plain, Some(("pg_extension", "extname"))),
    kind(&["FOREIGN", "TABLE"], "foreign table", Naming::Relation, None),
    kind(&["FUNCTION"], "function", Naming::Arguments, Some(("pg_proc", "proname"))),
    kind(&["LANGUAGE"], "language", Naming::Plain, Some(("pg_language", "lanname"))),
    kind(&["POLICY"], "policy", Naming::OfTable, None),
    kind(&["PROCEDURE"], "procedure", Naming::Arguments, Some(("pg_proc", "proname"))),
    kind(&["PUBLICATION"], "publication", Naming::Plain, None),
    kind(&["ROLE"], "role", Naming::Plain, Some(("pg_roles", "rolname"))),
    kind(&["GROUP"], "role", Naming::Plain, Some(("pg_roles", "rolname"))),
    kind(&["USER"], "role", Naming::Plain, Some(("pg_roles", "rolname"))),
    kind(&["RULE"], "rule", Naming::OfTable, None),
    kind(&["SERVER"], "server", Naming::Plain, None),
    kind(&["STATISTICS"], "statistics object", Naming::Plain, None),
    kind(&["SUBSCRIPTION"], "subscription", Naming::Plain, None),
    kind(&["TABLESPACE"], "tablespace", Naming::Plain, Some(("pg_tablespace", "spcname"))),
    kind(&["TRIGGER"], "trigger", Naming::OfTable, None),
    kind(&["TYPE"], "type", Naming::Plain, Some(("pg_type", "typname"))),
];

impl AbsentKind {
    /// Returns the command, such as `DROP TRIGGER`.
    pub fn command(&self) -> String {
        format!("DROP {}", self.words.join(" "))
    }
}

impl Display for DropAbsent {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let objects: Vec<String> = self.objects.iter().map(ToString::to_string).collect();
        write!(f, "{} IF EXISTS {}", self.kind.command(), objects.join(", "))
    }
}

impl Display for AbsentObject {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.name, self.arguments)?;
        self.table.as_ref().map_or(Ok(()), |table| write!(f, " ON {table}"))
    }
}

/// CREATE EXTENSION.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateExtension {
    /// Its name.
    pub name: String,
    /// No error if it exists.
    pub if_not_exists: bool,
}

impl Display for CreateExtension {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let if_not_exists = if self.if_not_exists { "IF NOT EXISTS " } else { "" };
        write!(f, "CREATE EXTENSION {if_not_exists}{}", quote(&self.name))
    }
}
