//! Hints: `/*+ … */` behind the first word of a statement, or of a query in it.

/// One hint. Names of tables and indexes are folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// In upper case, whether there is such a hint or not.
    pub name: String,
    /// The table that it is about, without its schema.
    pub table: Option<String>,
    /// What stands behind the table: names of indexes.
    pub words: Vec<String>,
    /// Of a hint that stands in a subquery: the tables in its FROM, which it is about.
    pub tables: Option<Vec<String>>,
}
