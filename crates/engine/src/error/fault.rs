//! Errors of the engine itself. Variants carry data.

/// A violated foreign key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BrokenReference {
    /// The schema of the referencing table.
    pub schema: String,
    /// The referencing table.
    pub table: String,
    /// The foreign key.
    pub constraint: String,
    /// The key columns in the error detail: the referencing ones if the parent is missing, else the referenced ones.
    pub columns: String,
    /// The values of those columns.
    pub values: String,
    /// The referenced table.
    pub parent: String,
}

/// Declares the variants, each followed by its SQLSTATE.
macro_rules! faults {
    ($($(#[$attribute:meta])* $name:ident $({ $($field:ident: $ty:ty),* })? => $sqlstate:literal,)*) => {
        /// An error that the engine itself raises.
        #[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
        pub(crate) enum Fault {
            $($(#[$attribute])* $name $({ $($field: $ty),* })?,)*
        }

        impl Fault {
            pub(super) fn sqlstate(&self) -> &'static str {
                match self {
                    $(Self::$name { .. } => $sqlstate,)*
                }
            }
        }
    };
}

faults! {
    /// A feature that is not implemented.
    #[error("{feature} is not supported")]
    Unsupported { feature: String } => "0A000",
    /// An isolation level that is not implemented, or a feature that an isolation level lacks.
    #[error("{feature} is not supported")]
    Isolation { feature: String } => "0A000",
    /// SET TRANSACTION SNAPSHOT outside a repeatable read transaction.
    #[error("a snapshot-importing transaction must have isolation level SERIALIZABLE or REPEATABLE READ")]
    SnapshotNeedsRepeatableRead => "0A000",
    /// A prepared statement whose result columns have changed since they were described to the client.
    #[error("cached plan must not change result type")]
    ResultTypeChanged => "0A000",
    /// Connecting to another database, or naming one.
    #[error("database \"{name}\" does not exist")]
    NoSuchDatabase { name: String } => "3D000",
    /// A name qualified by another database.
    #[error("cross-database references are not implemented: \"{name}\"")]
    CrossDatabase { name: String } => "0A000",

    // Settings.
    #[error("unrecognized configuration parameter \"{name}\"")]
    NoSuchSetting { name: String } => "42704",
    #[error("invalid value for parameter \"{name}\": \"{value}\"")]
    BadSetting { name: String, value: String, hint: Option<String>, detail: Option<String> } => "22023",
    #[error("parameter \"{name}\" requires a Boolean value")]
    NotBoolean { name: String } => "22023",
    #[error("{value} is outside the valid range for parameter \"{name}\" ({low} .. {high})")]
    SettingOutOfRange { name: String, value: String, low: i64, high: i64 } => "22023",
    #[error("SET {name} takes only one argument")]
    ListSetting { name: String } => "22023",
    #[error("parameter \"{name}\" cannot be changed")]
    ReadOnlySetting { name: String } => "55P02",

    // Statements and their parameters.
    #[error("cannot insert multiple commands into a prepared statement")]
    SeveralStatements => "42601",
    #[error("prepared statement \"{name}\" does not exist")]
    NoSuchPrepared { name: String } => "26000",
    #[error("prepared statement \"{name}\" already exists")]
    DuplicatePrepared { name: String } => "42P05",
    #[error("wrong number of parameters for prepared statement \"{name}\"")]
    ParameterCount { name: String, expected: usize, given: usize } => "42601",
    #[error("there is no parameter ${number}")]
    NoSuchParameter { number: usize } => "42P02",
    #[error("LIMIT must not be negative")]
    NegativeLimit => "2201W",
    #[error("OFFSET must not be negative")]
    NegativeOffset => "2201X",
    #[error("could not obtain lock on row in relation \"{table}\"")]
    RowLocked { table: String } => "55P03",

    // Rows.
    #[error("duplicate key value violates unique constraint \"{constraint}\"")]
    DuplicateKey { schema: String, table: String, constraint: String, columns: String, values: String } => "23505",
    #[error("null value in column \"{column}\" of relation \"{table}\" violates not-null constraint")]
    NotNull { schema: String, table: String, column: String, row: String } => "23502",
    #[error("new row for relation \"{table}\" violates check constraint \"{constraint}\"")]
    CheckFailed { schema: String, table: String, constraint: String, row: String } => "23514",
    #[error("check constraint \"{constraint}\" of relation \"{table}\" is violated by some row")]
    CheckFailsRow { schema: String, table: String, constraint: String } => "23514",
    #[error("insert or update on table \"{}\" violates foreign key constraint \"{}\"", .broken.table, .broken.constraint)]
    NoParent { broken: Box<BrokenReference> } => "23503",
    /// As [`Self::NoParent`], for NULLs that MATCH FULL does not allow.
    #[error("insert or update on table \"{table}\" violates foreign key constraint \"{constraint}\"")]
    MixedNulls { schema: String, table: String, constraint: String } => "23503",
    #[error(
        "update or delete on table \"{}\" violates foreign key constraint \"{}\" on table \"{}\"",
        .broken.parent, .broken.constraint, .broken.table
    )]
    HasChildren { broken: Box<BrokenReference> } => "23503",
    #[error("cannot truncate a table referenced in a foreign key constraint")]
    TruncatesParent { table: String, parent: String } => "0A000",
    #[error("cannot TRUNCATE \"{table}\" because it has pending trigger events")]
    ChecksPending { table: String } => "55006",
    #[error("column \"{column}\" of relation \"{table}\" contains null values")]
    ContainsNulls { schema: String, table: String, column: String } => "23502",
    #[error("ON CONFLICT DO UPDATE command cannot affect row a second time")]
    RowTwice => "21000",
    #[error("there is no unique or exclusion constraint matching the ON CONFLICT specification")]
    NoSuchUniqueness => "42P10",
    #[error("constraint \"{constraint}\" for table \"{table}\" does not exist")]
    NoSuchConstraint { table: String, constraint: String } => "42704",
    #[error("constraint \"{constraint}\" does not exist")]
    NoSuchConstraintAnywhere { constraint: String } => "42704",
    #[error("extension \"{name}\" is not available")]
    NoSuchExtension { name: String } => "0A000",
    #[error("INSERT has more {more} than {fewer}")]
    InsertWidth { more: &'static str, fewer: &'static str } => "42601",
    #[error("column \"{column}\" specified more than once")]
    ColumnTwice { column: String } => "42701",
    #[error("column \"{column}\" of relation \"{table}\" does not exist")]
    NoSuchColumn { table: String, column: String } => "42703",
    #[error("primary key column \"{column}\" cannot be assigned by ON DUPLICATE KEY UPDATE")]
    KeyAssigned { column: String } => "428C9",
    #[error("column \"{column}\" is of type {wanted} but expression is of type {given}")]
    NotAssignable { column: String, wanted: String, given: String } => "42804",
    #[error("cannot execute {command} in a read-only transaction")]
    ReadOnlyTransaction { command: &'static str } => "25006",
    #[error("cannot change \"{schema}.{table}\": it belongs to the system")]
    SystemTable { schema: String, table: String } => "42501",
    #[error("{message}")]
    Invalid { message: String } => "42601",

    // Definitions.
    #[error("column \"{column}\" does not exist")]
    NoIndexedColumn { column: String } => "42703",
    #[error("column \"{column}\" named in key does not exist")]
    NoKeyColumn { column: String } => "42703",
    #[error("column \"{column}\" appears twice in unique constraint")]
    UniqueTwice { column: String } => "42701",
    #[error("cannot use more than {limit} columns in an index")]
    TooManyIndexColumns { limit: usize } => "54011",
    #[error("index \"{name}\" does not exist")]
    NoSuchIndex { name: String } => "42704",
    #[error("unrecognized parameter \"{name}\"")]
    NoSuchIndexParameter { name: String } => "22023",
    #[error("access method \"{name}\" does not exist")]
    NoAccessMethod { name: String } => "42704",
    #[error("operator class \"{name}\" does not exist for access method \"btree\"")]
    NoOperatorClass { name: String } => "42704",
    #[error("cannot create index on relation \"{name}\"")]
    NotIndexable { name: String, kind: &'static str } => "42809",
    #[error("operator class \"{name}\" does not accept data type {ty}")]
    UnfitOperatorClass { name: String, ty: String } => "42804",
    #[error("ON CONFLICT does not support deferrable unique constraints/exclusion constraints as arbiters")]
    DeferrableArbiter { schema: String, table: String, constraint: String } => "55000",
    #[error("invalid value for parameter \"{name}\": \"{value}\"")]
    BadParameter { name: &'static str, value: String, expected: &'static str } => "22023",
    #[error("{message}")]
    TooLarge { message: String } => "54000",
    #[error("no schema has been selected to create in")]
    NoCreationSchema => "3F000",
    #[error("function {name}() is there already")]
    DuplicateFunction { name: String } => "42723",
    #[error("{message}")]
    InvalidDefinition { message: String } => "42P16",
    /// A DEFAULT expression with a construct that is not allowed there (0A000).
    #[error("cannot use {what} in DEFAULT expression")]
    InDefault { what: &'static str } => "0A000",
    #[error("{message}")]
    UnfitIndex { message: String } => "42809",
    #[error("functions in {} must be marked IMMUTABLE", .clause.singular())]
    NotImmutable { clause: bind::Clause } => "42P17",

    #[error("{message}")]
    WrongObject { message: String, hint: Option<&'static str> } => "42809",
    /// ALTER TABLE that rewrites a table, on a store to which other processes write.
    #[error("table \"{table}\" was written to by another process while its rows were written anew")]
    WrittenElsewhere { table: String } => "40001",
    /// An operation that materialized views do not support.
    #[error("{message}")]
    NotOfMaterialized { message: String } => "42809",
    /// REFRESH MATERIALIZED VIEW of a view that it does not support.
    #[error("{message}")]
    NotRefreshable { message: String } => "0A000",
    #[error("materialized view cannot be refreshed incrementally: {reason}")]
    NotIncremental { reason: String, fix: &'static str } => "0A000",
    #[error("cannot refresh materialized view \"{view}\" concurrently")]
    NotConcurrently { view: String } => "55000",
    #[error("new data for materialized view \"{view}\" contains duplicate rows without any null columns")]
    DoubledRows { view: String, row: String } => "21000",
    #[error("{kind} \"{name}\" does not exist")]
    NoSuchObject { kind: &'static str, name: String } => "42P01",
    #[error("infinite recursion detected in rules for relation \"{view}\"")]
    ViewReadsItself { view: String } => "42P17",
    #[error("role \"{name}\" does not exist")]
    NoSuchRole { name: String } => "42704",
    #[error("role \"{name}\" does not exist")]
    NoSuchUser { name: String } => "22023",
    #[error("{what} has not made progress for {seconds} s")]
    NoProgress { what: String, seconds: u64 } => "57P03",

    // Sequences.
    #[error("{message}")]
    BadSequence { message: String } => "22023",
    #[error("{message}")]
    Refused { message: String } => "55000",
    #[error("generation expression is not immutable")]
    GenerationNotImmutable => "42P17",
    #[error("cannot use generated column \"{column}\" in column generation expression")]
    NestedGenerated { column: String } => "42P17",
    #[error("column \"{column}\" is a generated column")]
    CopyOfGenerated { column: String } => "42P10",
    /// ALTER COLUMN … TYPE.
    #[error("{message}")]
    NoCastToType { message: String, hint: Option<String> } => "42804",

    // Transactions.
    #[error("current transaction is aborted, commands ignored until end of transaction block")]
    InFailedTransaction => "25P02",
    #[error("{command} cannot run inside a transaction block")]
    InsideBlock { command: String } => "0A000",
    #[error("{command} can only be used in transaction blocks")]
    OutsideBlock { command: &'static str } => "25P01",
    #[error("savepoint \"{name}\" does not exist")]
    NoSuchSavepoint { name: String } => "3B001",
    #[error("cursor \"{name}\" does not exist")]
    NoSuchCursor { name: String } => "34000",
    #[error("{message}")]
    CursorPosition { message: String } => "24000",
    #[error("cursor \"{name}\" already exists")]
    DuplicateCursor { name: String } => "42P03",
    #[error("SET TRANSACTION {what} must be called before any query")]
    TooLate { what: &'static str } => "25001",

    #[error("invalid snapshot identifier: \"{id}\"")]
    NoSuchSnapshot { id: String } => "22023",

    // Cancellation.
    #[error("canceling statement due to user request")]
    Canceled => "57014",
    #[error("canceling statement due to statement timeout")]
    StatementTimeout => "57014",

    // Jobs.
    #[error("index \"{name}\" is not built yet")]
    IndexNotBuilt { name: String } => "55000",
    #[error("DROP INDEX CONCURRENTLY does not support {what}")]
    DropConcurrently { what: &'static str } => "0A000",
    #[error("job {id} does not exist")]
    NoSuchJob { id: u64 } => "42704",
    #[error("{action} {id} is not possible: the job is {state}")]
    JobState { id: u64, action: &'static str, state: &'static str } => "55000",
    #[error("job {id} was cancelled")]
    JobCancelled { id: u32 } => "57014",
    #[error("job {id} has ended: {why}")]
    JobEnded { id: u32, why: String } => "55000",

    #[error("the engine is shutting down")]
    ShuttingDown => "57P01",
    #[error("terminating connection due to administrator command")]
    Terminated => "57P01",

    // COPY.
    #[error("incorrect binary data format")]
    BadBinary => "22P03",
    #[error("insufficient data left in message")]
    ShortBinary => "08P01",
    #[error("{message}")]
    BadCopy { message: String } => "22P04",
    #[error("a line of COPY data is longer than {limit} bytes")]
    LongCopyLine { limit: usize } => "54000",
    #[error("{message}")]
    BadCopyOption { message: String } => "22023",
    /// Options of COPY that PostgreSQL does not support together.
    #[error("{message}")]
    CopyOptionsClash { message: String } => "0A000",
    #[error("{message}")]
    BadCopyColumn { message: String } => "42P10",
    #[error("COPY from stdin failed: {reason}")]
    CopyAborted { reason: String } => "57014",

    #[error("SET requires parameter name")]
    SettingName => "22004",

    /// A bug: a state that should be impossible. `detail` describes it for a report.
    #[error("internal error: {detail}")]
    Internal { detail: String } => "XX000",
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
            Self::NoParent { broken } => {
                let BrokenReference { columns, values, parent, .. } = broken.as_ref();
                Some(format!("Key ({columns})=({values}) is not present in table \"{parent}\"."))
            }
            Self::MixedNulls { .. } => {
                Some("MATCH FULL does not allow mixing of null and nonnull key values.".to_string())
            }
            Self::HasChildren { broken } => {
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
