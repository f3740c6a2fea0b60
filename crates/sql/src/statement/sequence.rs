//! CREATE SEQUENCE, ALTER SEQUENCE, and sequences of identity columns.

use super::ObjectName;
use types::DataType;

/// CREATE SEQUENCE.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateSequence {
    /// No error if it exists.
    pub if_not_exists: bool,
    /// Its name.
    pub name: ObjectName,
    /// Its options.
    pub options: SequenceOptions,
}

/// ALTER SEQUENCE.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterSequence {
    /// The sequence.
    pub name: ObjectName,
    /// No error when it is absent.
    pub if_exists: bool,
    /// The change.
    pub change: SequenceChange,
}

/// A change by ALTER SEQUENCE.
#[derive(Clone, Debug, PartialEq)]
pub enum SequenceChange {
    /// Its options.
    Options(Box<SequenceOptions>),
    /// RENAME TO.
    Rename {
        /// Its new name.
        to: String,
    },
}

/// Options of a sequence; `None` if not given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SequenceOptions {
    /// SEQUENCE NAME, for an identity column.
    pub name: Option<ObjectName>,
    /// AS: smallint, integer or bigint.
    pub data_type: Option<DataType>,
    /// INCREMENT BY.
    pub increment: Option<i64>,
    /// MINVALUE; `Some(None)` is NO MINVALUE.
    pub min: Option<Option<i64>>,
    /// MAXVALUE; `Some(None)` is NO MAXVALUE.
    pub max: Option<Option<i64>>,
    /// START WITH.
    pub start: Option<i64>,
    /// RESTART WITH; `Some(None)` is RESTART alone.
    pub restart: Option<Option<i64>>,
    /// CACHE.
    pub cache: Option<i64>,
    /// CYCLE, NO CYCLE.
    pub cycle: Option<bool>,
    /// OWNED BY; `Some(None)` is OWNED BY NONE.
    pub owned_by: Option<Option<(ObjectName, String)>>,
}

/// A column whose values come from a sequence of its own.
#[derive(Clone, Debug, PartialEq)]
pub enum Generated {
    /// `serial` and its variants: an ordinary default.
    Serial,
    /// GENERATED … AS IDENTITY.
    Identity {
        /// ALWAYS: other values only with OVERRIDING SYSTEM VALUE.
        always: bool,
        /// The options of its sequence.
        options: Box<SequenceOptions>,
    },
}

/// A change of an identity column by ALTER TABLE.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IdentityChange {
    /// SET GENERATED: ALWAYS or BY DEFAULT.
    pub always: Option<bool>,
    /// SET of options, RESTART.
    pub options: SequenceOptions,
}

/// OVERRIDING … VALUE of INSERT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overriding {
    /// Given values are stored in identity columns.
    System,
    /// Values given for identity columns are ignored.
    User,
}
