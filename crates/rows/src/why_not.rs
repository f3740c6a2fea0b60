//! Why a statement is no row program: EXPLAIN VERBOSE says it.

/// The first thing found that row programs do not do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WhyNot {
    /// A statement that is no query.
    #[error("not a query")]
    NotAQuery,
    /// A table that no condition narrows.
    #[error("full scan of {table}")]
    FullScan {
        /// The table.
        table: String,
    },
    /// A node that only DataFusion runs.
    #[error("{what}")]
    Node {
        /// Its SQL name.
        what: &'static str,
    },
    /// A function without a body, or an aggregate without an accumulator.
    #[error("function {name}")]
    Function {
        /// Its name, or its oid.
        name: String,
    },
    /// An expression that only DataFusion computes.
    #[error("{what}")]
    Expression {
        /// What it is.
        what: &'static str,
    },
    /// Volatile calls over rows whose number is not bounded by keys.
    #[error("volatile function")]
    Volatile,
    /// A column that nothing in reach makes: a defect of the tree.
    #[error("column {index} is out of scope")]
    Scope {
        /// Its index in `Bound::cols`.
        index: usize,
    },
    /// A table that the catalog would not have made.
    #[error("{detail}")]
    Table {
        /// What is wrong with it.
        detail: String,
    },
}
