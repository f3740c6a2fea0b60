//! Errors of definitions. Each variant carries data; SQLSTATEs are chosen in `engine` (the comment of each variant has
//! its code).

use store::StoreError;

/// Result of a catalog call.
pub type CatalogResult<T> = Result<T, CatalogError>;

/// A definition that is refused, or a catalog that cannot be read or written.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CatalogError {
    /// 57014: the change was cancelled before anything was written.
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
    /// 42701: in CREATE TABLE.
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
        /// The table.
        table: String,
        /// The requested name.
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
        /// The referenced table.
        table: String,
    },
    /// 42830.
    #[error("{reason}")]
    InvalidForeignKey {
        /// The error message.
        reason: String,
    },
    /// 42601.
    #[error("invalid ON {event} action for foreign key constraint containing generated column")]
    GeneratedKeyAction {
        /// DELETE or UPDATE.
        event: &'static str,
    },
    /// 42804.
    #[error("foreign key constraint \"{constraint}\" cannot be implemented")]
    IncompatibleKeys {
        /// The foreign key.
        constraint: String,
        /// The referencing column.
        column: String,
        /// The referenced column.
        parent_column: String,
        /// The type of the referencing column.
        ty: String,
        /// The type of the referenced column.
        parent_ty: String,
    },
    /// 3F000.
    #[error("schema \"{name}\" does not exist")]
    NoSuchSchema {
        /// The requested name.
        name: String,
    },
    /// 42P01.
    #[error("relation \"{}\" does not exist", qualified(.schema.as_deref(), .name))]
    NoSuchTable {
        /// The schema, if the statement named one.
        schema: Option<String>,
        /// The requested name.
        name: String,
    },
    /// 42703.
    #[error("column \"{column}\" of relation \"{table}\" does not exist")]
    NoSuchColumn {
        /// The table.
        table: String,
        /// The requested name.
        column: String,
    },
    /// 2BP01.
    #[error("cannot drop {what} because other objects depend on it")]
    DependentObjects {
        /// The object to be dropped, kind and name.
        what: String,
        /// The dependents, kind and name.
        dependents: Vec<String>,
    },
    /// 2BP01: a column of a primary key.
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
        /// The object that it is part of.
        by: String,
    },
    /// 2200H.
    #[error("nextval: reached {which} value of sequence \"{name}\" ({limit})")]
    SequenceExhausted {
        /// The sequence.
        name: String,
        /// `maximum` or `minimum`.
        which: &'static str,
        /// Its maximum or minimum.
        limit: i64,
    },
    /// 22003.
    #[error("setval: value {value} is out of bounds for sequence \"{name}\" ({min}..{max})")]
    SequenceBounds {
        /// The sequence.
        name: String,
        /// The given value.
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
        /// Why it is reserved.
        reason: &'static str,
    },
    /// 54011.
    #[error("tables can have at most {limit} columns")]
    TooManyColumns {
        /// [`crate::MAX_COLUMNS`].
        limit: usize,
    },
    /// 54000: the ids of layouts or columns are exhausted after very many ALTER TABLEs.
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
        /// `unique constraint`, or `primary key` if the foreign key names no columns of its parent.
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
    /// 0A000: ALTER COLUMN … TYPE of a column that another object is computed from.
    #[error("cannot alter type of a column used by a {by}")]
    AlteredColumnUsed {
        /// `view or rule`, `generated column`.
        by: &'static str,
        /// The object that uses the column.
        detail: String,
    },
    /// 42P16: a column of a primary key cannot change between NULL and NOT NULL.
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
        /// The reason.
        reason: String,
    },
    /// 22023: a split point that is not a key, or is out of order.
    #[error("invalid split point {number} of table \"{table}\": {reason}")]
    InvalidSplit {
        /// The table.
        table: String,
        /// Counted from 1.
        number: usize,
        /// The reason.
        reason: String,
    },
    /// 22023.
    #[error("salt buckets must be 2 to 256, not {given}")]
    InvalidSalt {
        /// The given value.
        given: String,
    },
    /// 22023.
    #[error("unrecognized table property \"{name}\"")]
    UnknownProperty {
        /// The given name.
        name: String,
    },
    /// 22023.
    #[error("invalid value \"{value}\" for table property \"{name}\": {expected}")]
    InvalidProperty {
        /// The property.
        name: String,
        /// The given value.
        value: String,
        /// The accepted values.
        expected: String,
    },
    /// 0A000.
    #[error("{feature} is not supported")]
    Unsupported {
        /// Names the feature, with the reason where there is one.
        feature: String,
    },
    /// The definition of an index was changed while it was rebuilt.
    #[error("index \"{name}\" was changed while it was rebuilt")]
    IndexChanged {
        /// Its name.
        name: String,
    },
    /// 40001: another process changed the catalog at the same time; the statement can be retried.
    #[error("the catalog was changed by another process at the same time")]
    ChangedElsewhere,
    /// XX001: unreadable rows of the system table.
    #[error("catalog corrupted: {detail}")]
    Corrupted {
        /// The row and the reason.
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
    /// XX000: the task that made a change durable was aborted; its outcome is unknown until the store is reopened.
    #[error("the catalog change broke off: {reason}")]
    Aborted {
        /// The reason.
        reason: String,
    },
    /// The store's failure, with its own code.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl CatalogError {
    /// The error of a relation that was dropped since the caller looked it up.
    pub(crate) fn dropped(oid: u32) -> Self {
        Self::NoSuchTable { schema: None, name: format!("of oid {oid}") }
    }

    /// The error of a sequence without further values.
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
