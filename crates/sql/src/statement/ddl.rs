//! CREATE TABLE and ALTER TABLE.

use super::{ColumnName, ForeignKeyDef, Generated, IdentityChange, ObjectName, TableLike, UniqueDef};
use crate::ast;
use types::DataType;

/// CREATE TABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTable {
    /// No error when it is there.
    pub if_not_exists: bool,
    /// Its name.
    pub name: ObjectName,
    /// Columns in order; empty with AS.
    pub columns: Vec<ColumnDef>,
    /// LIKE, in order.
    pub likes: Vec<TableLike>,
    /// The primary key, however it was written; `None` means a hidden row id.
    pub key: Option<PrimaryKeyDef>,
    /// CHECK constraints of the table; those of columns are in [`ColumnDef::checks`].
    pub checks: Vec<CheckDef>,
    /// UNIQUE constraints of the table; those of columns are in [`ColumnDef::uniques`].
    pub uniques: Vec<UniqueDef>,
    /// Foreign keys of the table; those of columns are in [`ColumnDef::foreign_keys`].
    pub foreign_keys: Vec<ForeignKeyDef>,
    /// `SALT_BUCKETS = 8` and `WITH (salt_buckets = 8)`.
    pub options: Vec<TableOption>,
    /// What PostgreSQL is told about storage, and what is the same here whatever is said.
    pub hints: Vec<StorageHint>,
    /// SPLIT ON: region boundaries, each the first parts of a key.
    pub split_on: Vec<Vec<ast::Expr>>,
    /// AS.
    pub as_query: Option<AsQuery>,
}

/// Where and how a table is to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StorageHint {
    /// UNLOGGED.
    Unlogged,
    /// TABLESPACE.
    Tablespace(String),
}

/// CREATE TABLE … AS.
#[derive(Clone, Debug, PartialEq)]
pub struct AsQuery {
    /// Names of the first columns; the rest are named by the query.
    pub columns: Vec<String>,
    /// The query.
    pub query: Box<ast::Query>,
    /// WITH NO DATA makes it false.
    pub with_data: bool,
}

/// A column of CREATE TABLE or ALTER TABLE ADD.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnDef {
    /// Its column family (`a.v`).
    pub family: Option<String>,
    /// Its name.
    pub name: String,
    /// Its type.
    pub data_type: DataType,
    /// NULL, said out loud: a key column that may hold it.
    pub null: bool,
    /// NOT NULL. Inline PRIMARY KEY does not set it; the key does.
    pub not_null: bool,
    /// DEFAULT.
    pub default: Option<WrittenExpr>,
    /// A sequence of its own gives its values.
    pub generated: Option<Generated>,
    /// GENERATED ALWAYS AS (expression) STORED.
    pub computed: Option<WrittenExpr>,
    /// CHECK constraints.
    pub checks: Vec<CheckDef>,
    /// UNIQUE constraints.
    pub uniques: Vec<UniqueDef>,
    /// REFERENCES.
    pub foreign_keys: Vec<ForeignKeyDef>,
}

/// A CHECK constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckDef {
    /// CONSTRAINT name.
    pub name: Option<String>,
    /// What must not be false.
    pub expr: ast::Expr,
    /// As the user wrote it; [`crate::parse_expr`] reads it again.
    pub text: String,
    /// NOT VALID: rows that are there may break it.
    pub not_valid: bool,
}

/// An expression of a definition: a DEFAULT, an index, a generated column.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenExpr {
    /// The expression.
    pub expr: ast::Expr,
    /// As the user wrote it; [`crate::parse_expr`] reads it again.
    pub text: String,
}

impl WrittenExpr {
    /// Without parentheses around the whole: they come back where it is shown.
    pub(crate) fn without_parentheses(self) -> Self {
        let Self { expr, text } = self;
        match expr {
            ast::Expr::Nested(inner) => {
                let bare = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).map(str::trim);
                let text = bare.map_or_else(|| inner.to_string(), str::to_owned);
                Self { expr: *inner, text }.without_parentheses()
            }
            expr => Self { expr, text },
        }
    }
}

/// A primary key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrimaryKeyDef {
    /// CONSTRAINT name.
    pub name: Option<String>,
    /// In key order.
    pub parts: Vec<KeyPartDef>,
    /// WITH (…).
    pub options: Vec<TableOption>,
    /// USING INDEX TABLESPACE.
    pub tablespace: Option<String>,
}

/// One part of a primary key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPartDef {
    /// The column.
    pub column: String,
    /// DESC.
    pub descending: bool,
    /// NULLS FIRST or NULLS LAST, where written.
    pub nulls_first: Option<bool>,
}

/// A property of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableOption {
    /// `a` of `a.VERSIONS = 5`.
    pub family: Option<String>,
    /// In lower case.
    pub name: String,
    /// Its value.
    pub value: OptionValue,
}

/// The value of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// A bare word, as written.
    Word(String),
    /// `'text'`.
    Text(String),
    /// A number with its sign, as written.
    Number(String),
    /// TRUE, FALSE.
    Bool(bool),
    /// NULL: back to the default.
    Null,
}

/// ALTER TABLE and ALTER MATERIALIZED VIEW.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterTable {
    /// The table.
    pub name: ObjectName,
    /// No error when it is absent.
    pub if_exists: bool,
    /// Was it called a materialized view?
    pub materialized: bool,
    /// What changes, all or nothing, in this order.
    pub actions: Vec<AlterAction>,
}

/// One change of ALTER TABLE.
#[derive(Clone, Debug, PartialEq)]
pub enum AlterAction {
    /// ADD `[COLUMN]`.
    AddColumn {
        /// No error when it is there.
        if_not_exists: bool,
        /// The column.
        def: Box<ColumnDef>,
    },
    /// CASCADE INDEX of Phoenix, behind columns that are added.
    CascadeIndex {
        /// The columns.
        columns: Vec<String>,
        /// The indexes that include them; `None` means ALL.
        indexes: Option<Vec<String>>,
    },
    /// ADD `[CONSTRAINT name]` PRIMARY KEY (…).
    AddKey(PrimaryKeyDef),
    /// ADD `[CONSTRAINT name]` CHECK (…).
    AddCheck(Box<CheckDef>),
    /// ADD `[CONSTRAINT name]` UNIQUE (…).
    AddUnique(UniqueDef),
    /// ADD [CONSTRAINT name] UNIQUE USING INDEX.
    UniqueUsingIndex {
        /// CONSTRAINT name.
        name: Option<String>,
        /// The index.
        index: String,
        /// DEFERRABLE.
        deferrable: bool,
        /// INITIALLY DEFERRED.
        deferred: bool,
    },
    /// ADD [CONSTRAINT name] PRIMARY KEY USING INDEX.
    KeyUsingIndex {
        /// CONSTRAINT name.
        name: Option<String>,
        /// The index.
        index: String,
        /// DEFERRABLE.
        deferrable: bool,
        /// INITIALLY DEFERRED.
        deferred: bool,
    },
    /// ADD `[CONSTRAINT name]` FOREIGN KEY (…).
    AddForeignKey(Box<ForeignKeyDef>),
    /// ALTER CONSTRAINT: when a foreign key is checked.
    AlterConstraint {
        /// The constraint.
        name: String,
        /// DEFERRABLE.
        deferrable: bool,
        /// INITIALLY DEFERRED.
        deferred: bool,
    },
    /// VALIDATE CONSTRAINT.
    ValidateConstraint {
        /// The constraint.
        name: String,
    },
    /// DROP CONSTRAINT.
    DropConstraint {
        /// No error when it is absent.
        if_exists: bool,
        /// The constraint.
        name: String,
        /// Also what depends on it.
        cascade: bool,
    },
    /// DROP `[COLUMN]`.
    DropColumn {
        /// No error when it is absent.
        if_exists: bool,
        /// The column.
        column: ColumnName,
        /// Also what depends on it.
        cascade: bool,
    },
    /// RENAME `[COLUMN]` a TO b.
    RenameColumn {
        /// Old name.
        from: String,
        /// New name.
        to: String,
    },
    /// RENAME TO.
    RenameTable {
        /// New name.
        to: String,
    },
    /// RENAME CONSTRAINT a TO b.
    RenameConstraint {
        /// Old name.
        from: String,
        /// New name.
        to: String,
    },
    /// SET SCHEMA.
    SetSchema {
        /// The schema that it moves to.
        schema: String,
    },
    /// ALTER COLUMN … SET DEFAULT.
    SetDefault {
        /// The column.
        column: String,
        /// The default.
        default: Box<WrittenExpr>,
    },
    /// ALTER COLUMN … DROP DEFAULT.
    DropDefault {
        /// The column.
        column: String,
    },
    /// ALTER COLUMN … SET NOT NULL.
    SetNotNull {
        /// The column.
        column: String,
    },
    /// ALTER COLUMN … DROP NOT NULL.
    DropNotNull {
        /// The column.
        column: String,
    },
    /// ALTER COLUMN … ADD GENERATED … AS IDENTITY.
    AddIdentity {
        /// The column.
        column: String,
        /// Always an identity.
        generated: Generated,
    },
    /// ALTER COLUMN … SET GENERATED, SET of a sequence's option, RESTART.
    ChangeIdentity {
        /// The column.
        column: String,
        /// What changes.
        change: Box<IdentityChange>,
    },
    /// What is told about storage and replication, and is the same here whatever is said.
    WithoutEffect {
        /// The column that it is about.
        column: Option<String>,
        /// The index that it names.
        index: Option<String>,
        /// As it was written.
        words: String,
        /// Why nothing changes.
        reason: &'static str,
    },
    /// ALTER COLUMN … DROP IDENTITY.
    DropIdentity {
        /// The column.
        column: String,
        /// No error when it is none.
        if_exists: bool,
    },
    /// ALTER COLUMN … DROP EXPRESSION.
    DropExpression {
        /// The column.
        column: String,
        /// No error when it is not generated.
        if_exists: bool,
    },
    /// ALTER COLUMN … TYPE.
    SetType {
        /// The column.
        column: String,
        /// Its new type.
        data_type: DataType,
        /// What becomes of its values; `None` is themselves.
        using: Option<Box<WrittenExpr>>,
    },
    /// SET k = v, … and SET (k = v, …).
    SetOptions(Vec<TableOption>),
    /// RESET (k, …): names in lower case.
    ResetOptions(Vec<String>),
}
