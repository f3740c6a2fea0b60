//! Functions that read the definitions or the session. One list: [`ALL`].

mod describe;
mod listed;
mod names;
mod privileges;
mod routines;
mod session;
mod size;
mod udf;

use crate::rows::Cell;
use crate::source::Source;
use builtins::Reason;
use datafusion::common::{DataFusionError, Result};
use datafusion::logical_expr::ScalarUDF;

/// A function: rows of arguments to values.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: &'static str,
    /// Oids of the arguments' types.
    pub(crate) arguments: &'static [u32],
    /// How many of the last ones may be left out.
    pub(crate) optional: usize,
    pub(crate) returns: Returns,
    /// Is it called for NULLs? Else they give NULL.
    pub(crate) takes_null: bool,
    /// Does it do something? Then it is called once for each row, and never while a statement is planned.
    pub(crate) acts: bool,
    pub(crate) body: fn(&Source, &Arguments<'_>) -> Result<Cell>,
}

/// The type of a function's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Returns {
    Bool,
    Int,
    BigInt,
    Oid,
    Text,
    Texts,
}

/// Argument types.
const BOOL: u32 = 16;
const INT: u32 = 23;
const TEXT: u32 = 25;
const OID: u32 = 26;
/// An oid, or the name of a relation.
const REGCLASS: u32 = 2205;
/// Whatever it is.
const ANY: u32 = 2276;

/// The values of one call's arguments for one row. Those left out are NULL.
pub(crate) struct Arguments<'a>(pub(crate) &'a [Cell]);

impl Arguments<'_> {
    fn cell(&self, number: usize) -> &Cell {
        self.0.get(number).unwrap_or(&Cell::Null)
    }

    fn text(&self, number: usize) -> Option<&str> {
        if let Cell::Text(text) = self.cell(number) { Some(text) } else { None }
    }

    fn int(&self, number: usize) -> Option<i64> {
        if let Cell::Int(value) = self.cell(number) { Some(*value) } else { None }
    }

    /// An oid; `None` also for a number that is none.
    fn oid(&self, number: usize) -> Option<u32> {
        self.int(number).and_then(|oid| u32::try_from(oid).ok())
    }

    fn bool(&self, number: usize) -> Option<bool> {
        if let Cell::Bool(value) = self.cell(number) { Some(*value) } else { None }
    }

    fn count(&self) -> usize {
        self.0.len()
    }
}

/// All functions; a name may come more than once with other arguments only if [`find`] need not tell them apart.
pub(crate) static ALL: &[&Function] = &[
    &describe::FORMAT_TYPE,
    &describe::PG_GET_USERBYID,
    &describe::PG_GET_EXPR,
    &describe::PG_GET_INDEXDEF,
    &describe::PG_GET_CONSTRAINTDEF,
    &describe::PG_GET_VIEWDEF,
    &describe::PG_GET_RULEDEF,
    &describe::PG_GET_TRIGGERDEF,
    &describe::PG_GET_PARTKEYDEF,
    &describe::PG_PARTITION_ANCESTORS,
    &describe::PG_GET_STATISTICSOBJDEF_COLUMNS,
    &describe::PG_GET_SERIAL_SEQUENCE,
    &describe::OBJ_DESCRIPTION,
    &describe::SHOBJ_DESCRIPTION,
    &describe::COL_DESCRIPTION,
    &describe::PG_GET_FUNCTION_SQLBODY,
    &describe::PG_STAT_GET_NUMSCANS,
    &describe::PG_SEQUENCE_LAST_VALUE,
    &describe::PG_RELATION_FILENODE,
    &describe::ROW_SECURITY_ACTIVE,
    &describe::PG_RELATION_IS_PUBLISHABLE,
    &describe::PG_ENCODING_TO_CHAR,
    &describe::PG_CHAR_TO_ENCODING,
    &describe::GETDATABASEENCODING,
    &describe::PG_TABLESPACE_LOCATION,
    &describe::PG_SIZE_PRETTY,
    &names::PG_TABLE_IS_VISIBLE,
    &names::PG_TYPE_IS_VISIBLE,
    &names::PG_COLLATION_IS_VISIBLE,
    &names::PG_OPCLASS_IS_VISIBLE,
    &names::PG_CONVERSION_IS_VISIBLE,
    &names::PG_OPFAMILY_IS_VISIBLE,
    &names::PG_TS_CONFIG_IS_VISIBLE,
    &names::PG_TS_DICT_IS_VISIBLE,
    &names::PG_TS_PARSER_IS_VISIBLE,
    &names::PG_TS_TEMPLATE_IS_VISIBLE,
    &names::PG_STATISTICS_OBJ_IS_VISIBLE,
    &names::REGCLASS_OID,
    &names::REGCLASS_NAME,
    &names::REGTYPE_OID,
    &names::REGTYPE_NAME,
    &names::REGNAMESPACE_OID,
    &names::REGNAMESPACE_NAME,
    &names::REGROLE_OID,
    &names::REGROLE_NAME,
    &names::TO_REGCLASS_OID,
    &names::TO_REGTYPE_OID,
    &names::TO_REGNAMESPACE_OID,
    &names::QUOTE_IDENT,
    &privileges::HAS_TABLE_PRIVILEGE,
    &privileges::HAS_ANY_COLUMN_PRIVILEGE,
    &privileges::HAS_COLUMN_PRIVILEGE,
    &privileges::HAS_SEQUENCE_PRIVILEGE,
    &privileges::HAS_SCHEMA_PRIVILEGE,
    &privileges::HAS_DATABASE_PRIVILEGE,
    &privileges::PG_HAS_ROLE,
    &privileges::ACLDEFAULT,
    &routines::PG_GET_FUNCTION_RESULT,
    &routines::PG_GET_FUNCTION_ARGUMENTS,
    &routines::PG_GET_FUNCTION_IDENTITY_ARGUMENTS,
    &routines::PG_FUNCTION_IS_VISIBLE,
    &routines::PG_OPERATOR_IS_VISIBLE,
    &routines::REGPROC_OID,
    &routines::REGPROC_NAME,
    &routines::TO_REGPROC_OID,
    &routines::REGPROCEDURE_OID,
    &routines::REGPROCEDURE_NAME,
    &routines::TO_REGPROCEDURE_OID,
    &routines::HAS_FUNCTION_PRIVILEGE,
    &size::PG_RELATION_SIZE,
    &size::PG_TABLE_SIZE,
    &size::PG_TOTAL_RELATION_SIZE,
    &size::PG_INDEXES_SIZE,
    &size::PG_DATABASE_SIZE,
    &size::PG_TABLESPACE_SIZE,
    &session::CURRENT_SCHEMAS,
    &session::SETTING_OF,
    &session::PG_ADVISORY_UNLOCK_ALL,
    &session::PG_BACKEND_PID,
    &session::PG_CLIENT_ENCODING,
    &session::PG_EXPORT_SNAPSHOT,
    &session::PG_IS_IN_RECOVERY,
    &session::PG_IS_WAL_REPLAY_PAUSED,
    &session::PG_JIT_AVAILABLE,
    &session::PG_TRIGGER_DEPTH,
    &session::PG_MY_TEMP_SCHEMA,
    &session::PG_IS_OTHER_TEMP_SCHEMA,
    &session::PG_CANCEL_BACKEND,
    &session::PG_TERMINATE_BACKEND,
];

/// The function of that name, bound to `source`.
pub(crate) fn find(name: &str, source: &Source) -> Option<ScalarUDF> {
    if let Some(function) = ALL.iter().find(|function| function.name == name) {
        return Some(udf::bind(function, source.clone()));
    }
    // `regclass_names(list)` is `regclass_name(x)` of each element.
    let each = name.strip_suffix('s').filter(|each| each.starts_with("reg"))?;
    let function = ALL.iter().find(|function| function.name == each)?;
    Some(listed::of_each(name, udf::bind(function, source.clone())))
}

/// A function that gives NULL for NULLs.
const fn strict(
    name: &'static str,
    arguments: &'static [u32],
    returns: Returns,
    body: fn(&Source, &Arguments<'_>) -> Result<Cell>,
) -> Function {
    Function { name, arguments, optional: 0, returns, takes_null: false, acts: false, body }
}

impl Function {
    /// The last `count` arguments may be left out.
    const fn optional(mut self, count: usize) -> Self {
        self.optional = count;
        self
    }

    /// It does something.
    const fn acting(mut self) -> Self {
        self.acts = true;
        self
    }

    /// It is called for NULLs, too.
    const fn taking_null(mut self) -> Self {
        self.takes_null = true;
        self
    }
}

/// The error of a call, as DataFusion carries it.
fn refused<T>(reason: Reason, message: impl Into<String>) -> Result<T> {
    Err(DataFusionError::External(Box::new(reason.because(message))))
}

/// The value of a function about objects that cannot exist here: there is nothing to say.
fn nothing(_: &Source, _: &Arguments<'_>) -> Result<Cell> {
    Ok(Cell::Null)
}
