//! CREATE TABLE and ALTER TABLE.

use super::{ColumnName, ForeignKeyDef, Generated, IdentityChange, ObjectName, TableLike, UniqueDef};
use crate::ast;
use types::DataType;

/// CREATE TABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTable {
    /// No error if it exists.
    pub if_not_exists: bool,
    /// Its name.
    pub name: ObjectName,
    /// Columns in order; empty with AS.
    pub columns: Vec<ColumnDef>,
    /// LIKE, in order.
    pub likes: Vec<TableLike>,
    /// The primary key, of a column or of the table; `None` means a hidden row id.
    pub key: Option<PrimaryKeyDef>,
    /// CHECK constraints of the table; those of columns are in [`ColumnDef::checks`].
    pub checks: Vec<CheckDef>,
    /// UNIQUE constraints of the table; those of columns are in [`ColumnDef::uniques`].
    pub uniques: Vec<UniqueDef>,
    /// Foreign keys of the table; those of columns are in [`ColumnDef::foreign_keys`].
    pub foreign_keys: Vec<ForeignKeyDef>,
    /// `SALT_BUCKETS = 8` and `WITH (salt_buckets = 8)`.
    pub options: Vec<TableOption>,
    /// Storage clauses of PostgreSQL, which have no effect.
    pub hints: Vec<StorageHint>,
    /// SPLIT ON: region boundaries, each with values of the first key columns.
    pub split_on: Vec<Vec<ast::Expr>>,
    /// AS.
    pub as_query: Option<AsQuery>,
}

/// A storage clause without effect.
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
    /// Names of the first columns; the query names the others.
    pub columns: Vec<String>,
    /// The query.
    pub query: Box<ast::Query>,
    /// False for WITH NO DATA.
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
    /// Explicit NULL: a key column that may be NULL.
    pub null: bool,
    /// NOT NULL. Inline PRIMARY KEY does not set it; the key does.
    pub not_null: bool,
    /// DEFAULT.
    pub default: Option<WrittenExpr>,
    /// Its values come from its own sequence.
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
    /// The condition, which must not be false.
    pub expr: ast::Expr,
    /// The text as written; [`crate::parse_expr`] reads it again.
    pub text: String,
    /// NOT VALID: existing rows may violate it.
    pub not_valid: bool,
}

/// An expression of a definition: of a DEFAULT, an index or a generated column.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenExpr {
    /// The expression.
    pub expr: ast::Expr,
    /// The text as written; [`crate::parse_expr`] reads it again.
    pub text: String,
}

impl WrittenExpr {
    /// Removes the parentheses around the whole expression; printing adds them again.
    pub fn without_parentheses(self) -> Self {
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
    /// The key columns, in key order.
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
    /// NULLS FIRST or NULLS LAST, if given.
    pub nulls_first: Option<bool>,
}

/// A property of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableOption {
    /// `a` of `a.VERSIONS = 5`.
    pub family: Option<String>,
    /// Its name, in lower case.
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
    /// NULL: resets to the default.
    Null,
}

/// ALTER TABLE and ALTER MATERIALIZED VIEW.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterTable {
    /// The table.
    pub name: ObjectName,
    /// No error when it is absent.
    pub if_exists: bool,
    /// Is the statement ALTER MATERIALIZED VIEW?
    pub materialized: bool,
    /// The changes, all or nothing, in this order.
    pub actions: Vec<AlterAction>,
}

/// One change of ALTER TABLE.
#[derive(Clone, Debug, PartialEq)]
pub enum AlterAction {
    /// ADD `[COLUMN]`.
    AddColumn {
        /// No error if it exists.
        if_not_exists: bool,
        /// The column.
        def: Box<ColumnDef>,
    },
    /// Phoenix's CASCADE INDEX, after added columns.
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
        /// CASCADE: also drops dependent objects.
        cascade: bool,
    },
    /// DROP `[COLUMN]`.
    DropColumn {
        /// No error when it is absent.
        if_exists: bool,
        /// The column.
        column: ColumnName,
        /// CASCADE: also drops dependent objects.
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
        /// Always [`Generated::Identity`].
        generated: Generated,
    },
    /// ALTER COLUMN … SET GENERATED, SET of a sequence's option, RESTART.
    ChangeIdentity {
        /// The column.
        column: String,
        /// The changes.
        change: Box<IdentityChange>,
    },
    /// A clause about storage or replication, which has no effect.
    WithoutEffect {
        /// The column that it applies to.
        column: Option<String>,
        /// The index that it names.
        index: Option<String>,
        /// The clause as written.
        words: String,
        /// Why it has no effect.
        reason: &'static str,
    },
    /// ALTER COLUMN … DROP IDENTITY.
    DropIdentity {
        /// The column.
        column: String,
        /// No error if it is not an identity column.
        if_exists: bool,
    },
    /// ALTER COLUMN … DROP EXPRESSION.
    DropExpression {
        /// The column.
        column: String,
        /// No error if it is not generated.
        if_exists: bool,
    },
    /// ALTER COLUMN … TYPE.
    SetType {
        /// The column.
        column: String,
        /// Its new type.
        data_type: DataType,
        /// USING: the expression of the new values; `None` keeps the values.
        using: Option<Box<WrittenExpr>>,
    },
    /// SET k = v, … and SET (k = v, …).
    SetOptions(Vec<TableOption>),
    /// RESET (k, …): names in lower case.
    ResetOptions(Vec<String>),
}
