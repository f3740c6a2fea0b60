//! What can go wrong in the engine itself. Variants carry data; their SQLSTATEs are in `sqlstate.rs`.

/// A foreign key that a row breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BrokenReference {
    /// The schema of the table that refers.
    pub schema: String,
    /// The table that refers.
    pub table: String,
    /// The foreign key.
    pub constraint: String,
    /// Its columns: those of the table that refers if the parent is missing, else those that it refers to.
    pub columns: String,
    /// The values in those columns.
    pub values: String,
    /// The table that is referred to.
    pub parent: String,
}

/// A failure that no crate below knows of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    /// A feature that is not built.
    #[error("{feature} is not supported")]
    Unsupported { feature: String },
    /// An isolation level that is not built, or what a level does not do.
    #[error("{feature} is not supported")]
    Isolation { feature: String },
    /// Another session's state is for blocks that keep to one.
    #[error("a snapshot-importing transaction must have isolation level SERIALIZABLE or REPEATABLE READ")]
    SnapshotNeedsRepeatableRead,
    /// A prepared statement would answer other columns than the client was told.
    #[error("cached plan must not change result type")]
    ResultTypeChanged,
    /// Connecting to another database, or naming one.
    #[error("database \"{name}\" does not exist")]
    NoSuchDatabase { name: String },
    /// A name with another database in front.
    #[error("cross-database references are not implemented: \"{name}\"")]
    CrossDatabase { name: String },

    // Settings.
    #[error("unrecognized configuration parameter \"{name}\"")]
    NoSuchSetting { name: String },
    #[error("invalid value for parameter \"{name}\": \"{value}\"")]
    BadSetting { name: String, value: String, hint: Option<String>, detail: Option<String> },
    #[error("parameter \"{name}\" requires a Boolean value")]
    NotBoolean { name: String },
    #[error("{value} is outside the valid range for parameter \"{name}\" ({low} .. {high})")]
    SettingOutOfRange { name: String, value: String, low: i64, high: i64 },
    #[error("SET {name} takes only one argument")]
    ListSetting { name: String },
    #[error("parameter \"{name}\" cannot be changed")]
    ReadOnlySetting { name: String },

    // Statements and their parameters.
    #[error("cannot insert multiple commands into a prepared statement")]
    SeveralStatements,
    #[error("prepared statement \"{name}\" does not exist")]
    NoSuchPrepared { name: String },
    #[error("prepared statement \"{name}\" already exists")]
    DuplicatePrepared { name: String },
    #[error("wrong number of parameters for prepared statement \"{name}\"")]
    ParameterCount { name: String, expected: usize, given: usize },
    #[error("there is no parameter ${number}")]
    NoSuchParameter { number: usize },
    #[error("LIMIT must not be negative")]
    NegativeLimit,
    #[error("OFFSET must not be negative")]
    NegativeOffset,
    #[error("could not obtain lock on row in relation \"{table}\"")]
    RowLocked { table: String },

    // Rows.
    #[error("duplicate key value violates unique constraint \"{constraint}\"")]
    DuplicateKey { schema: String, table: String, constraint: String, columns: String, values: String },
    #[error("null value in column \"{column}\" of relation \"{table}\" violates not-null constraint")]
    NotNull { schema: String, table: String, column: String, row: String },
    #[error("new row for relation \"{table}\" violates check constraint \"{constraint}\"")]
    CheckFailed { schema: String, table: String, constraint: String, row: String },
    #[error("check constraint \"{constraint}\" of relation \"{table}\" is violated by some row")]
    CheckFailsRow { schema: String, table: String, constraint: String },
    #[error("insert or update on table \"{}\" violates foreign key constraint \"{}\"", .0.table, .0.constraint)]
    NoParent(Box<BrokenReference>),
    /// As [`Self::NoParent`], of MATCH FULL.
    #[error("insert or update on table \"{table}\" violates foreign key constraint \"{constraint}\"")]
    MixedNulls { schema: String, table: String, constraint: String },
    #[error(
        "update or delete on table \"{}\" violates foreign key constraint \"{}\" on table \"{}\"",
        .0.parent, .0.constraint, .0.table
    )]
    HasChildren(Box<BrokenReference>),
    #[error("cannot truncate a table referenced in a foreign key constraint")]
    TruncatesParent { table: String, parent: String },
    #[error("column \"{column}\" of relation \"{table}\" contains null values")]
    ContainsNulls { schema: String, table: String, column: String },
    #[error("ON CONFLICT DO UPDATE command cannot affect row a second time")]
    RowTwice,
    #[error("there is no unique or exclusion constraint matching the ON CONFLICT specification")]
    NoSuchUniqueness,
    #[error("constraint \"{constraint}\" for table \"{table}\" does not exist")]
    NoSuchConstraint { table: String, constraint: String },
    #[error("constraint \"{constraint}\" does not exist")]
    NoSuchConstraintAnywhere { constraint: String },
    #[error("extension \"{name}\" is not available")]
    NoSuchExtension { name: String },
    #[error("INSERT has more {more} than {fewer}")]
    InsertWidth { more: &'static str, fewer: &'static str },
    #[error("column \"{column}\" specified more than once")]
    ColumnTwice { column: String },
    #[error("column \"{column}\" of relation \"{table}\" does not exist")]
    NoSuchColumn { table: String, column: String },
    #[error("primary key column \"{column}\" cannot be assigned by ON DUPLICATE KEY UPDATE")]
    KeyAssigned { column: String },
    #[error("column \"{column}\" is of type {wanted} but expression is of type {given}")]
    NotAssignable { column: String, wanted: String, given: String },
    #[error("cannot execute {command} in a read-only transaction")]
    ReadOnlyTransaction { command: &'static str },
    #[error("cannot change \"{schema}.{table}\": it belongs to the system")]
    SystemTable { schema: String, table: String },
    #[error("{message}")]
    Invalid { message: String },

    // Definitions.
    #[error("column \"{column}\" does not exist")]
    NoIndexedColumn { column: String },
    #[error("column \"{column}\" named in key does not exist")]
    NoKeyColumn { column: String },
    #[error("column \"{column}\" appears twice in unique constraint")]
    UniqueTwice { column: String },
    #[error("cannot use more than {limit} columns in an index")]
    TooManyIndexColumns { limit: usize },
    #[error("index \"{name}\" does not exist")]
    NoSuchIndex { name: String },
    #[error("unrecognized parameter \"{name}\"")]
    NoSuchIndexParameter { name: String },
    #[error("access method \"{name}\" does not exist")]
    NoAccessMethod { name: String },
    #[error("operator class \"{name}\" does not exist for access method \"btree\"")]
    NoOperatorClass { name: String },
    #[error("cannot create index on relation \"{name}\"")]
    NotIndexable { name: String, kind: &'static str },
    #[error("operator class \"{name}\" does not accept data type {ty}")]
    UnfitOperatorClass { name: String, ty: String },
    #[error("ON CONFLICT does not support deferrable unique constraints/exclusion constraints as arbiters")]
    DeferrableArbiter { schema: String, table: String, constraint: String },
    #[error("invalid value for parameter \"{name}\": \"{value}\"")]
    BadParameter { name: &'static str, value: String, expected: &'static str },
    #[error("{message}")]
    TooLarge { message: String },
    #[error("no schema has been selected to create in")]
    NoCreationSchema,
    #[error("function {name}() is there already")]
    DuplicateFunction { name: String },
    #[error("{message}")]
    InvalidDefinition { message: String },
    /// A DEFAULT that reads what it may not (0A000).
    #[error("cannot use {what} in DEFAULT expression")]
    InDefault { what: &'static str },
    #[error("{message}")]
    UnfitIndex { message: String },
    #[error("functions in {} must be marked IMMUTABLE", .clause.singular())]
    NotImmutable { clause: bind::Clause },

    #[error("{message}")]
    WrongObject { message: String, hint: Option<&'static str> },
    /// ALTER TABLE of a store that other processes write to.
    #[error("table \"{table}\" was written to by another process while its rows were written anew")]
    WrittenElsewhere { table: String },
    /// What materialized views cannot have or do.
    #[error("{message}")]
    NotOfMaterialized { message: String },
    /// REFRESH MATERIALIZED VIEW of what cannot be refreshed so.
    #[error("{message}")]
    NotRefreshable { message: String },
    #[error("materialized view cannot be refreshed incrementally: {reason}")]
    NotIncremental { reason: String, fix: &'static str },
    #[error("cannot refresh materialized view \"{view}\" concurrently")]
    NotConcurrently { view: String },
    #[error("new data for materialized view \"{view}\" contains duplicate rows without any null columns")]
    DoubledRows { view: String, row: String },
    #[error("{kind} \"{name}\" does not exist")]
    NoSuchObject { kind: &'static str, name: String },
    #[error("infinite recursion detected in rules for relation \"{view}\"")]
    ViewReadsItself { view: String },
    #[error("role \"{name}\" does not exist")]
    NoSuchRole { name: String },
    #[error("role \"{name}\" does not exist")]
    NoSuchUser { name: String },
    #[error("{what} has not made progress for {seconds} s")]
    NoProgress { what: String, seconds: u64 },

    // Sequences.
    #[error("{message}")]
    BadSequence { message: String },
    #[error("{message}")]
    Refused { message: String },
    #[error("generation expression is not immutable")]
    GenerationNotImmutable,
    #[error("cannot use generated column \"{column}\" in column generation expression")]
    NestedGenerated { column: String },
    #[error("column \"{column}\" is a generated column")]
    CopyOfGenerated { column: String },
    /// ALTER COLUMN … TYPE.
    #[error("{message}")]
    NoCastToType { message: String, hint: Option<String> },

    // Transactions.
    #[error("current transaction is aborted, commands ignored until end of transaction block")]
    InFailedTransaction,
    #[error("{command} cannot run inside a transaction block")]
    InsideBlock { command: String },
    #[error("{command} can only be used in transaction blocks")]
    OutsideBlock { command: &'static str },
    #[error("savepoint \"{name}\" does not exist")]
    NoSuchSavepoint { name: String },
    #[error("cursor \"{name}\" does not exist")]
    NoSuchCursor { name: String },
    #[error("{message}")]
    CursorPosition { message: String },
    #[error("cursor \"{name}\" already exists")]
    DuplicateCursor { name: String },
    #[error("SET TRANSACTION {what} must be called before any query")]
    TooLate { what: &'static str },

    #[error("invalid snapshot identifier: \"{id}\"")]
    NoSuchSnapshot { id: String },

    // Ends before time.
    #[error("canceling statement due to user request")]
    Canceled,
    #[error("canceling statement due to statement timeout")]
    StatementTimeout,
    // Jobs.
    #[error("index \"{name}\" is not built yet")]
    IndexNotBuilt { name: String },
    #[error("DROP INDEX CONCURRENTLY does not support {what}")]
    DropConcurrently { what: &'static str },
    #[error("job {id} does not exist")]
    NoSuchJob { id: u64 },
    #[error("{action} {id} is not possible: the job is {state}")]
    JobState { id: u64, action: &'static str, state: &'static str },
    #[error("job {id} was cancelled")]
    JobCancelled { id: u32 },
    #[error("job {id} has ended: {why}")]
    JobEnded { id: u32, why: String },

    #[error("the engine is shutting down")]
    ShuttingDown,
    #[error("terminating connection due to administrator command")]
    Terminated,

    // COPY.
    #[error("incorrect binary data format")]
    BadBinary,
    #[error("insufficient data left in message")]
    ShortBinary,
    #[error("{message}")]
    BadCopy { message: String },
    #[error("a line of COPY data is longer than {limit} bytes")]
    LongCopyLine { limit: usize },
    #[error("{message}")]
    BadCopyOption { message: String },
    /// Options of COPY that PostgreSQL has not built to go together.
    #[error("{message}")]
    CopyOptionsClash { message: String },
    #[error("{message}")]
    BadCopyColumn { message: String },
    #[error("COPY from stdin failed: {reason}")]
    CopyAborted { reason: String },

    #[error("SET requires parameter name")]
    SettingName,

    /// What must not happen. Names what did, for a report.
    #[error("internal error: {detail}")]
    Internal { detail: String },
}

impl Fault {
    pub(super) fn detail(&self) -> Option<String> {
        match self {
            Self::BadSetting { detail, .. } => detail.clone(),
            Self::DuplicateKey { columns, values, .. } => Some(format!("Key ({columns})=({values}) already exists.")),
            Self::UnfitIndex { .. } => {
                Some("Cannot create a primary key or unique constraint using such an index.".to_string())
            }
            Self::NotIndexable { kind, .. } => Some(format!("This operation is not supported for {kind}.")),
            Self::NotOfMaterialized { .. } => {
                Some("This operation is not supported for materialized views.".to_string())
            }
            Self::BadParameter { expected, .. } => Some(format!("It takes {expected}.")),
            Self::DoubledRows { row, .. } => Some(format!("Row: ({row})")),
            Self::NoParent(broken) => {
                let BrokenReference { columns, values, parent, .. } = broken.as_ref();
                Some(format!("Key ({columns})=({values}) is not present in table \"{parent}\"."))
            }
            Self::MixedNulls { .. } => {
                Some("MATCH FULL does not allow mixing of null and nonnull key values.".to_string())
            }
            Self::HasChildren(broken) => {
                let BrokenReference { columns, values, table, .. } = broken.as_ref();
                Some(format!("Key ({columns})=({values}) is still referenced from table \"{table}\"."))
            }
            Self::TruncatesParent { table, parent } => Some(format!("Table \"{table}\" references \"{parent}\".")),
            Self::NotNull { row, .. } | Self::CheckFailed { row, .. } => Some(format!("Failing row contains ({row}).")),
            Self::ParameterCount { expected, given, .. } => {
                Some(format!("Expected {expected} parameters but got {given}."))
            }
            Self::NestedGenerated { .. } => {
                Some("A generated column cannot reference another generated column.".to_string())
            }
            Self::CopyOfGenerated { .. } => Some("Generated columns cannot be used in COPY.".to_string()),
            _ => None,
        }
    }

    pub(super) fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::TruncatesParent { table, .. } => {
                return Some(format!("Truncate table \"{table}\" at the same time, or use TRUNCATE ... CASCADE."));
            }
            Self::BadSetting { hint, .. } => return hint.clone(),
            Self::NoCastToType { hint, .. } => return hint.clone(),
            Self::NoSuchDatabase { .. } => "The only database is \"bennu\".",
            Self::RowTwice => {
                "Ensure that no rows proposed for insertion within the same command have duplicate constrained values."
            }
            Self::WrongObject { hint, .. } => return hint.map(str::to_owned),
            Self::WrittenElsewhere { .. } => "Run the statement again.",
            Self::NotIncremental { fix, .. } => return Some((*fix).to_owned()),
            Self::NotConcurrently { .. } => {
                "Create a unique index with no WHERE clause on one or more columns of the materialized view."
            }
            Self::NotAssignable { .. } => "You will need to rewrite or cast the expression.",
            Self::NoCreationSchema => "SET search_path to a schema that exists, or write the schema before the name.",
            Self::InsideBlock { .. } => {
                "Run it outside of BEGIN and COMMIT, as a statement of its own; in a driver, turn autocommit on."
            }
            Self::Isolation { .. } => {
                "Blocks that write are READ COMMITTED; REPEATABLE READ is for blocks that begin READ ONLY."
            }
            Self::IndexNotBuilt { .. } => "SHOW JOBS tells how far it is; CANCEL JOB gives it up.",
            Self::NoSuchJob { .. } => "SHOW JOBS lists those that there are.",
            Self::NoSuchUniqueness => "Name all columns of the primary key, or of a unique index, and no others.",
            _ => return None,
        };
        Some(hint.to_string())
    }
}
