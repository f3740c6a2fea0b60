//! Hints: `/*+ … */` after the first word of a statement, or of a query in it.

/// One hint. Names of tables and indexes are folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// Its name in upper case, whether such a hint exists or not.
    pub name: String,
    /// The table that it applies to, without its schema.
    pub table: Option<String>,
    /// The words after the table: names of indexes.
    pub words: Vec<String>,
    /// For a hint in a subquery: the tables in its FROM, to which it applies.
    pub tables: Option<Vec<String>>,
}
