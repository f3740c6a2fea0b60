//! The reason why a statement is not a row program, as EXPLAIN VERBOSE shows it.

/// The first unsupported feature that was found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WhyNot {
    /// A statement that is not a query.
    #[error("not a query")]
    NotAQuery,
    /// A table that no condition narrows.
    #[error("full scan of {table}")]
    FullScan {
        /// The table.
        table: String,
    },
    /// A node that only DataFusion executes.
    #[error("{what}")]
    Node {
        /// Its SQL name.
        what: &'static str,
    },
    /// A function without an implementation, or an aggregate without an accumulator.
    #[error("function {name}")]
    Function {
        /// Its name, or its OID.
        name: String,
    },
    /// An expression that only DataFusion evaluates.
    #[error("{what}")]
    Expression {
        /// The kind of expression.
        what: &'static str,
    },
    /// A volatile function over a number of rows that keys do not bound.
    #[error("volatile function")]
    Volatile,
    /// A column that no visible node outputs: a defect of the tree.
    #[error("column {index} is out of scope")]
    Scope {
        /// Its index in `Bound::cols`.
        index: usize,
    },
    /// An inconsistent table definition.
    #[error("{detail}")]
    Table {
        /// The inconsistency.
        detail: String,
    },
}
