//! Statements, in one form for the syntax of PostgreSQL and of Phoenix.
//!
//! Names are already folded (`Foo` is `foo`, `"Foo"` is `Foo`) and types resolved. Queries and expressions
//! stay in sqlparser's form ([`crate::ast`]): the binder reads them, and folds their names itself.

mod absent;
mod comment;
mod copy;
mod cursor;
mod ddl;
mod dml;
mod foreign_key;
mod hint;
mod index;
mod job;
mod like;
mod lock;
pub(crate) mod names;
mod owner;
mod row_lock;
mod sequence;
mod session;
mod view;
pub(crate) mod walk;

pub(crate) use absent::ABSENT_KINDS;
pub use absent::{AbsentKind, AbsentObject, CreateExtension, DropAbsent, Naming};
pub use comment::{Comment, Commented, RelationKind};
pub use copy::{Copy, CopyColumns, CopyDirection, CopyFormat, CopyHeader, CopyOptions, CopyTarget};
pub use cursor::{DeclareCursor, FetchCursor};
pub use ddl::{
    AlterAction, AlterTable, AsQuery, CheckDef, ColumnDef, CreateTable, KeyPartDef, OptionValue, PrimaryKeyDef,
    StorageHint, TableOption, WrittenExpr,
};
pub use dml::{
    Assignment, Conflict, ConflictAction, ConflictTarget, Delete, Insert, InsertSource, InsertValue, OnDuplicate,
    Update,
};
pub use foreign_key::{ForeignKeyDef, ReferentialAction};
pub use hint::Hint;
pub use index::{CheckIndexes, CreateIndex, IndexChange, IndexPartDef, IndexPartOf, Reindex, ReindexOf, UniqueDef};
pub use job::{ControlJob, JobAction};
pub use like::{LikeOption, TableLike};
pub use lock::{LockTables, TableLockMode};
pub use names::{ColumnName, ObjectName, Place};
pub use owner::{ChangeOwner, OwnedObject};
pub use row_lock::{LockingSelect, RowLock, RowLockStrength, RowLockWait};
pub use sequence::{
    AlterSequence, CreateSequence, Generated, IdentityChange, Overriding, SequenceChange, SequenceOptions,
};
pub use session::{
    Discard, Explain, ExplainFormat, Isolation, SettingName, SettingValue, StatisticsOf, TransactionModes,
    UpdateStatistics, VacuumOptions,
};
pub use view::{CreateMaterializedView, CreateView, RefreshMaterializedView};

use crate::ast;
use types::DataType;

/// One statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// SELECT, VALUES, TABLE, WITH.
    Query(Box<ast::Query>),
    /// SELECT … FOR UPDATE and other locking clauses.
    LockingSelect(Box<LockingSelect>),
    /// INSERT, UPSERT.
    Insert(Box<Insert>),
    /// UPDATE.
    Update(Box<Update>),
    /// DELETE.
    Delete(Box<Delete>),
    /// CREATE TABLE, also with AS.
    CreateTable(Box<CreateTable>),
    /// CREATE SCHEMA.
    CreateSchema {
        /// Its name.
        name: String,
        /// No error if it exists.
        if_not_exists: bool,
    },
    /// CREATE VIEW.
    CreateView(Box<CreateView>),
    /// DROP VIEW.
    DropView {
        /// The views.
        names: Vec<ObjectName>,
        /// No error when one is absent.
        if_exists: bool,
        /// CASCADE: also drops dependent objects.
        cascade: bool,
    },
    /// CREATE MATERIALIZED VIEW.
    CreateMaterializedView(Box<CreateMaterializedView>),
    /// REFRESH MATERIALIZED VIEW.
    RefreshMaterializedView(RefreshMaterializedView),
    /// DROP MATERIALIZED VIEW.
    DropMaterializedView {
        /// The views.
        names: Vec<ObjectName>,
        /// No error when one is absent.
        if_exists: bool,
        /// CASCADE: also drops dependent objects.
        cascade: bool,
    },
    /// CREATE SEQUENCE.
    CreateSequence(Box<CreateSequence>),
    /// ALTER SEQUENCE.
    AlterSequence(Box<AlterSequence>),
    /// DROP SEQUENCE.
    DropSequence {
        /// The sequences.
        names: Vec<ObjectName>,
        /// No error when one is absent.
        if_exists: bool,
        /// CASCADE: also drops dependent objects.
        cascade: bool,
    },
    /// DROP TABLE.
    DropTable {
        /// The tables.
        names: Vec<ObjectName>,
        /// No error when one is absent.
        if_exists: bool,
        /// CASCADE: also drops dependent objects.
        cascade: bool,
    },
    /// CREATE INDEX.
    CreateIndex(Box<CreateIndex>),
    /// DROP INDEX.
    DropIndex {
        /// The indexes.
        names: Vec<ObjectName>,
        /// Phoenix: the table of the named index, which is in the same schema.
        table: Option<ObjectName>,
        /// No error when one is absent.
        if_exists: bool,
        /// CASCADE: also drops dependent objects.
        cascade: bool,
        /// CONCURRENTLY: the table can be written meanwhile.
        concurrently: bool,
    },
    /// ALTER INDEX … RENAME TO ….
    RenameIndex {
        /// Its name.
        name: ObjectName,
        /// No error when it is absent.
        if_exists: bool,
        /// Its new name.
        to: String,
    },
    /// ALTER INDEX … SET (…), RESET (…) and SET TABLESPACE.
    SetIndexOptions {
        /// Its name.
        name: ObjectName,
        /// No error when it is absent.
        if_exists: bool,
        /// The parameters; those of RESET have no value.
        options: Vec<TableOption>,
        /// SET TABLESPACE.
        tablespace: Option<String>,
    },
    /// Phoenix's ALTER INDEX … ON ….
    AlterIndex {
        /// Its name, in the schema of its table.
        name: String,
        /// Its table.
        table: ObjectName,
        /// No error when it is absent.
        if_exists: bool,
        /// The change.
        change: IndexChange,
    },
    /// REINDEX.
    Reindex(Reindex),
    /// SHOW JOBS.
    ShowJobs,
    /// PAUSE JOB, RESUME JOB, CANCEL JOB.
    ControlJob(ControlJob),
    /// CHECK INDEX, CHECK TABLE.
    CheckIndexes(CheckIndexes),
    /// DROP SCHEMA.
    DropSchema {
        /// The schemas.
        names: Vec<String>,
        /// No error when one is absent.
        if_exists: bool,
        /// CASCADE: also drops the tables in them.
        cascade: bool,
    },
    /// DROP … IF EXISTS of a kind of object that Bennu does not have.
    DropAbsent(DropAbsent),
    /// CREATE EXTENSION.
    CreateExtension(CreateExtension),
    /// ALTER TABLE.
    AlterTable(Box<AlterTable>),
    /// ALTER VIEW … RENAME TO ….
    RenameView {
        /// Its name.
        name: ObjectName,
        /// No error when it is absent.
        if_exists: bool,
        /// Its new name.
        to: String,
    },
    /// ALTER SCHEMA … RENAME TO ….
    RenameSchema {
        /// Its name.
        name: String,
        /// Its new name.
        to: String,
    },
    /// ALTER … OWNER TO ….
    ChangeOwner(ChangeOwner),
    /// COMMENT ON.
    Comment(Box<Comment>),
    /// TRUNCATE.
    Truncate {
        /// The tables.
        names: Vec<ObjectName>,
        /// RESTART IDENTITY.
        restart_identity: bool,
        /// CASCADE.
        cascade: bool,
    },
    /// EXPLAIN.
    Explain(Box<Explain>),
    /// SET of a setting.
    Set {
        /// The setting.
        name: SettingName,
        /// Its new value.
        value: SettingValue,
        /// SET LOCAL: until the end of the transaction.
        local: bool,
    },
    /// SET CONSTRAINTS; no names means ALL.
    SetConstraints {
        /// The constraints.
        names: Vec<ObjectName>,
        /// DEFERRED.
        deferred: bool,
    },
    /// SET TRANSACTION (this block) or SET SESSION CHARACTERISTICS (all later ones).
    SetTransaction {
        /// The modes.
        modes: TransactionModes,
        /// SESSION CHARACTERISTICS.
        session: bool,
    },
    /// SET TRANSACTION SNAPSHOT: the id of a snapshot that another session exported.
    SetTransactionSnapshot(String),
    /// SHOW; `None` is ALL.
    Show(Option<SettingName>),
    /// RESET; `None` is ALL.
    Reset(Option<SettingName>),
    /// BEGIN, START TRANSACTION.
    Begin(TransactionModes),
    /// COMMIT, END.
    Commit {
        /// AND CHAIN: starts another block with the same modes.
        chain: bool,
    },
    /// ROLLBACK, ABORT.
    Rollback {
        /// AND CHAIN.
        chain: bool,
    },
    /// SAVEPOINT.
    Savepoint(String),
    /// RELEASE SAVEPOINT.
    Release(String),
    /// ROLLBACK TO SAVEPOINT.
    RollbackTo(String),
    /// LOCK TABLE.
    Lock(LockTables),
    /// DECLARE … CURSOR.
    DeclareCursor(Box<DeclareCursor>),
    /// FETCH and MOVE.
    Fetch(FetchCursor),
    /// CLOSE; of all cursors it is [`Discard::Cursors`].
    CloseCursor(String),
    /// COPY from and to the client.
    Copy(Box<Copy>),
    /// PREPARE.
    Prepare {
        /// Name of the prepared statement.
        name: String,
        /// Declared types of `$1`, `$2`, …; the rest is inferred.
        types: Vec<DataType>,
        /// The statement to prepare: a query, INSERT, UPDATE or DELETE.
        statement: Box<Statement>,
        /// Its text.
        text: String,
    },
    /// EXECUTE.
    Execute {
        /// Name of the prepared statement.
        name: String,
        /// Values of its parameters.
        arguments: Vec<ast::Expr>,
    },
    /// DEALLOCATE; `None` is ALL.
    Deallocate(Option<String>),
    /// DISCARD.
    Discard(Discard),
    /// ANALYZE; no tables means all.
    Analyze {
        /// The tables, each with the columns asked for (none means all).
        tables: Vec<(ObjectName, Vec<String>)>,
        /// VERBOSE.
        verbose: bool,
    },
    /// UPDATE STATISTICS.
    UpdateStatistics(UpdateStatistics),
    /// VACUUM; no tables means all.
    Vacuum {
        /// The tables.
        tables: Vec<ObjectName>,
        /// FULL, ANALYZE, ….
        options: VacuumOptions,
    },
}
