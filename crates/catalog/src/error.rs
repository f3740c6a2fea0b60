//! What can be wrong with a definition. Each variant carries data; SQLSTATEs are chosen in `engine`
//! (the code that each variant stands for is in its comment).

use store::StoreError;

/// Result of a catalog call.
pub type CatalogResult<T> = Result<T, CatalogError>;

/// A definition that is refused, or a catalog that cannot be read or written.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CatalogError {
    /// The change was stopped by whom it is made for, before anything was written (57014).
    #[error("the statement was stopped")]
    Stopped,
    /// 42P06.
    #[error("schema \"{name}\" already exists")]
    DuplicateSchema {
        /// Its name.
        name: String,
    },
    /// 42P07.
    #[error("relation \"{name}\" already exists")]
    DuplicateTable {
        /// Its name.
        name: String,
    },
    /// 42701, of a table that is made.
    #[error("column \"{column}\" specified more than once")]
    ColumnTwice {
        /// Its name.
        column: String,
    },
    /// 42701.
    #[error("column \"{column}\" of relation \"{table}\" already exists")]
    DuplicateColumn {
        /// Its table.
        table: String,
        /// Its name.
        column: String,
    },
    /// 42701.
    #[error("column \"{column}\" appears twice in primary key constraint")]
    DuplicateKeyColumn {
        /// Its name.
        column: String,
    },
    /// 42710.
    #[error("constraint \"{constraint}\" for relation \"{table}\" already exists")]
    DuplicateConstraint {
        /// The table.
        table: String,
        /// The constraint's name.
        constraint: String,
    },
    /// 42710: twice in one definition.
    #[error("check constraint \"{constraint}\" already exists")]
    DuplicateCheck {
        /// Its name.
        constraint: String,
    },
    /// 42704.
    #[error("constraint \"{constraint}\" of relation \"{table}\" does not exist")]
    NoSuchConstraint {
        /// The table looked into.
        table: String,
        /// The name asked for.
        constraint: String,
    },
    /// 42703.
    #[error("column \"{column}\" referenced in foreign key constraint does not exist")]
    NoForeignKeyColumn {
        /// Its name.
        column: String,
    },
    /// 42704.
    #[error("there is no primary key for referenced table \"{table}\"")]
    NoPrimaryKey {
        /// The table that is referred to.
        table: String,
    },
    /// 42830.
    #[error("{reason}")]
    InvalidForeignKey {
        /// What is wrong.
        reason: String,
    },
    /// 42804.
    #[error("foreign key constraint \"{constraint}\" cannot be implemented")]
    IncompatibleKeys {
        /// The foreign key.
        constraint: String,
        /// A column of it.
        column: String,
        /// What it refers to.
        parent_column: String,
        /// The column's type.
        ty: String,
        /// The type of what it refers to.
        parent_ty: String,
    },
    /// 3F000.
    #[error("schema \"{name}\" does not exist")]
    NoSuchSchema {
        /// The name asked for.
        name: String,
    },
    /// 42P01.
    #[error("relation \"{}\" does not exist", qualified(.schema.as_deref(), .name))]
    NoSuchTable {
        /// The schema, when one was named.
        schema: Option<String>,
        /// The name asked for.
        name: String,
    },
    /// 42703.
    #[error("column \"{column}\" of relation \"{table}\" does not exist")]
    NoSuchColumn {
        /// The table looked into.
        table: String,
        /// The name asked for.
        column: String,
    },
    /// 2BP01.
    #[error("cannot drop {what} because other objects depend on it")]
    DependentObjects {
        /// The object to be dropped, kind and name.
        what: String,
        /// What depends on it, kind and name.
        dependents: Vec<String>,
    },
    /// 2BP01: a column of a primary key, which stays as it is.
    #[error("cannot drop {what} because other objects depend on it")]
    KeyColumn {
        /// The column, kind and name.
        what: String,
        /// The primary key.
        key: String,
    },
    /// 2BP01: part of another object.
    #[error("cannot drop {what} because {by} requires it")]
    RequiredBy {
        /// The object to be dropped, kind and name.
        what: String,
        /// What it is part of.
        by: String,
    },
    /// 2200H.
    #[error("nextval: reached {which} value of sequence \"{name}\" ({limit})")]
    SequenceExhausted {
        /// The sequence.
        name: String,
        /// `maximum` or `minimum`.
        which: &'static str,
        /// Its bound.
        limit: i64,
    },
    /// 22003.
    #[error("setval: value {value} is out of bounds for sequence \"{name}\" ({min}..{max})")]
    SequenceBounds {
        /// The sequence.
        name: String,
        /// As given.
        value: i64,
        /// Its smallest value.
        min: i64,
        /// Its largest value.
        max: i64,
    },
    /// 42939.
    #[error("unacceptable {what} name \"{name}\": {reason}")]
    ReservedName {
        /// `schema`, `column` or `table`.
        what: &'static str,
        /// The name.
        name: String,
        /// Why it is not free.
        reason: &'static str,
    },
    /// 54011.
    #[error("tables can have at most {limit} columns")]
    TooManyColumns {
        /// [`crate::MAX_COLUMNS`].
        limit: usize,
    },
    /// 54000: layouts or column ids are used up by very many ALTER TABLEs.
    #[error("table \"{table}\" was altered too often: its {what} are used up")]
    TooManyChanges {
        /// The table.
        table: String,
        /// `layouts` or `column ids`.
        what: &'static str,
    },
    /// 55000.
    #[error("cannot use a deferrable {kind} for referenced table \"{table}\"")]
    DeferrableParent {
        /// `unique constraint`; `primary key`, where that is meant by naming no columns.
        kind: &'static str,
        /// The table.
        table: String,
    },
    /// 42P16.
    #[error("multiple primary keys for table \"{table}\" are not allowed")]
    SecondPrimaryKey {
        /// The table.
        table: String,
    },
    /// 0A000: the type of a column changes, and something is made of its values.
    #[error("cannot alter type of a column used by a {by}")]
    AlteredColumnUsed {
        /// `view or rule`, `generated column`.
        by: &'static str,
        /// Which one.
        detail: String,
    },
    /// 42P16: whether it may be NULL cannot be changed.
    #[error("column \"{column}\" is in a primary key")]
    InKey {
        /// The column.
        column: String,
    },
    /// 42P16.
    #[error("invalid definition of table \"{table}\": {reason}")]
    InvalidTable {
        /// The table.
        table: String,
        /// What is wrong.
        reason: String,
    },
    /// 22023: a split point that is not a key, or out of order.
    #[error("invalid split point {number} of table \"{table}\": {reason}")]
    InvalidSplit {
        /// The table.
        table: String,
        /// Counted from 1.
        number: usize,
        /// What is wrong.
        reason: String,
    },
    /// 22023.
    #[error("salt buckets must be 2 to 256, not {given}")]
    InvalidSalt {
        /// As given.
        given: String,
    },
    /// 22023.
    #[error("unrecognized table property \"{name}\"")]
    UnknownProperty {
        /// As given.
        name: String,
    },
    /// 22023.
    #[error("invalid value \"{value}\" for table property \"{name}\": {expected}")]
    InvalidProperty {
        /// The property.
        name: String,
        /// As given.
        value: String,
        /// What it takes.
        expected: String,
    },
    /// 0A000.
    #[error("{feature} is not supported")]
    Unsupported {
        /// Names the feature, with the reason where there is one.
        feature: String,
    },
    /// 40001: another process changed the catalog at the same time; the statement can be run again.
    #[error("the catalog was changed by another process at the same time")]
    ChangedElsewhere,
    /// XX001: rows of the system table that cannot be read.
    #[error("catalog corrupted: {detail}")]
    Corrupted {
        /// Which row, and what is wrong.
        detail: String,
    },
    /// XX000: written by a newer build.
    #[error("the catalog has format {found}, this build reads up to {readable}: use a newer build")]
    NewerFormat {
        /// In the store.
        found: u32,
        /// [`crate::FORMAT`].
        readable: u32,
    },
    /// XX000: the task that made a change durable broke off; its outcome is unknown until the store is reopened.
    #[error("the catalog change broke off: {reason}")]
    Aborted {
        /// What happened to it.
        reason: String,
    },
    /// The store's failure, with its own code.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl CatalogError {
    /// There are no more values of a sequence.
    pub fn exhausted(sequence: &crate::Sequence) -> Self {
        let (which, limit) = if sequence.increment > 0 { ("maximum", sequence.max) } else { ("minimum", sequence.min) };
        Self::SequenceExhausted { name: sequence.name.clone(), which, limit }
    }
}

fn qualified(schema: Option<&str>, name: &str) -> String {
    schema.map_or_else(|| name.to_string(), |schema| format!("{schema}.{name}"))
}

impl From<types::interrupt::Interrupted> for CatalogError {
    fn from(_: types::interrupt::Interrupted) -> Self {
        Self::Stopped
    }
}
