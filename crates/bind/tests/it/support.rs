//! Tables of `CREATE TABLE` statements in memory.

use bind::{BindError, BindErrorKind, Environment, Found, Relations};
use builtins::Ty;
use catalog::{Column, ColumnId, KeyColumn, SchemaId, Table, TableOid, View, ViewColumn};
use sql::Statement;
use std::collections::BTreeMap;
use std::sync::Arc;
use types::temporal::Utc;
use types::{DataType, Datum};

#[derive(Default)]
pub(crate) struct Tables {
    found: BTreeMap<String, Found>,
    next_oid: u32,
    /// After ALTER TABLE nothing is known of any relation.
    altered: bool,
}

impl Relations for Tables {
    fn find(&self, _: Option<&[String]>, schema: Option<&str>, name: &str) -> Option<Found> {
        match schema {
            None => {}
            Some("public") => {}
            Some(_) => return Some(Found::Other("another schema")),
        }
        if self.altered {
            return Some(Found::Other("a table that was altered"));
        }
        if name.starts_with("pg_") {
            return Some(Found::Other("a catalog"));
        }
        self.found.get(name).cloned()
    }

    fn schema_of(&self, _: &Table) -> Option<String> {
        Some("public".to_owned())
    }

    /// Some that read catalogs, and Phoenix's that are refused by name.
    fn has_function(&self, name: &str) -> bool {
        const KNOWN: [&str; 15] = [
            "bson_value",
            "collation_key",
            "decode_view_index_id",
            "has_function_privilege",
            "invert",
            "json_value",
            "partition_id",
            "pg_get_expr",
            "pg_terminate_backend",
            "phoenix_row_timestamp",
            "row_size",
            "rowkey_bytes_string",
            "sqltypename",
            "to_regproc",
            "to_regprocedure",
        ];
        KNOWN.contains(&name)
    }
}

impl Tables {
    /// Runs CREATE TABLE statements.
    pub(crate) fn of(text: &str) -> Self {
        let mut tables = Self::default();
        for parsed in sql::parse(text).unwrap() {
            tables.apply(&parsed.statement);
        }
        tables
    }

    /// What a statement does to relations. What is not understood makes them unreadable.
    pub(crate) fn apply(&mut self, statement: &Statement) {
        let unreadable = Found::Other("a relation of this kind");
        match statement {
            Statement::CreateTable(create) => {
                self.next_oid += 1;
                let found = match create.as_query {
                    None if create.likes.is_empty() => Found::Table(Arc::new(table(create, self.next_oid))),
                    _ => unreadable,
                };
                if !(create.if_not_exists && self.found.contains_key(&create.name.name)) {
                    self.found.insert(create.name.name.clone(), found);
                }
            }
            Statement::CreateView(create) => {
                let found = self.view(create).map_or(unreadable, |view| Found::View(Arc::new(view)));
                self.found.insert(create.name.name.clone(), found);
            }
            Statement::CreateSequence(create) => {
                self.found.insert(create.name.name.clone(), unreadable);
            }
            Statement::CreateMaterializedView(create) => {
                self.found.insert(create.name.name.clone(), unreadable);
            }
            Statement::DropTable { names, .. }
            | Statement::DropView { names, .. }
            | Statement::DropMaterializedView { names, .. } => {
                for name in names {
                    self.found.remove(&name.name);
                }
            }
            Statement::AlterTable(_) => self.altered = true,
            _ => {}
        }
    }

    fn view(&mut self, create: &sql::CreateView) -> Option<View> {
        let query = create.query.to_string();
        let bound = self.bind_statement(&Statement::Query(create.query.clone()), "").ok()?;
        let bind::tree::Body::Query(body) = &bound.body else { return None };
        let columns = body.outputs.iter().enumerate().map(|(at, output)| {
            let name = create.columns.get(at).unwrap_or(&output.name).clone();
            Some(ViewColumn { name, ty: bound.col(output.col)?.ty.data_type()? })
        });
        let columns = columns.collect::<Option<Vec<_>>>()?;
        self.next_oid += 1;
        let search_path = vec!["public".to_owned()];
        let (oid, name) = (TableOid(self.next_oid), create.name.name.clone());
        Some(View { oid, schema: SchemaId(2200), name, columns, query, search_path, reads: Vec::new(), version: 0 })
    }

    pub(crate) fn bind_statement(&self, statement: &Statement, text: &str) -> Result<bind::tree::Bound, BindError> {
        self.bind_declared(statement, text, &[])
    }

    pub(crate) fn bind_declared(
        &self,
        statement: &Statement,
        text: &str,
        declared: &[Option<Ty>],
    ) -> Result<bind::tree::Bound, BindError> {
        bind::bind(statement, self, &Environment { text, rules: &Utc }, declared)
    }

    /// Binds one statement; panics on text that is not SQL.
    pub(crate) fn bind(&self, text: &str) -> Result<bind::tree::Bound, BindError> {
        let parsed = sql::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        self.bind_statement(&parsed[0].statement, text)
    }

    /// The tree of a statement.
    pub(crate) fn tree(&self, text: &str) -> String {
        self.bind(text).map_or_else(|error| format!("{}\n", shown(text, &error)), |bound| bound.to_string())
    }

    /// The error of a statement: SQLSTATE, message, hint, and the place as ¶ in the text.
    pub(crate) fn error(&self, text: &str) -> String {
        self.bind(text).map_or_else(|error| shown(text, &error), |bound| format!("bound: {bound}"))
    }
}

fn shown(text: &str, error: &BindError) -> String {
    let mut place = String::new();
    if error.span.start != error.span.end {
        let at = error.span.start as usize;
        place = format!(" at {}", text[at..].split_whitespace().next().unwrap_or_default());
    }
    let hint = error.hint.as_ref().map(|hint| format!(" [{hint}]")).unwrap_or_default();
    format!("{} {error}{place}{hint}", code(error))
}

/// The SQLSTATE of an error, as each kind documents it.
pub(crate) fn code(error: &BindError) -> &'static str {
    use BindErrorKind as K;
    match error.kind.as_ref() {
        K::NotBuilt { .. } | K::SetOperationOrder => "0A000",
        K::UndefinedColumn { .. } | K::UndefinedUsing { .. } => "42703",
        K::AmbiguousColumn { .. } | K::AmbiguousOutput { .. } | K::AmbiguousUsing { .. } => "42702",
        K::UndefinedTable { .. } | K::MissingFrom { .. } | K::InvalidFromReference { .. } => "42P01",
        K::InvalidLateral { .. }
        | K::TooManyAliases { .. }
        | K::TooManyCteAliases { .. }
        | K::NoSuchPosition { .. }
        | K::DistinctOrder
        | K::DistinctOnOrder
        | K::Variables { .. } => "42P10",
        K::AmbiguousTable { .. } => "42P09",
        K::DuplicateAlias { .. } | K::DuplicateCte { .. } => "42712",
        K::RepeatedUsing { .. } => "42701",
        K::UndefinedFunction { .. } | K::UndefinedOperator { .. } | K::NoOrdering { .. } | K::NoEquality { .. } => {
            "42883"
        }
        K::AmbiguousFunction { .. } | K::AmbiguousOperator { .. } => "42725",
        K::NotAggregate { .. } | K::AnyWithoutArray => "42809",
        K::CannotCast { .. } | K::CannotConvert { .. } => "42846",
        K::WrongType { .. }
        | K::NoCommonType { .. }
        | K::RecursiveType { .. }
        | K::NoSubscripts { .. }
        | K::SubscriptType
        | K::SetReturned { .. }
        | K::AnyNotBoolean => "42804",
        K::UntypedParameter { .. } | K::EmptyArray => "42P18",
        K::InconsistentParameter { .. } => "42P08",
        K::Ungrouped { .. }
        | K::UngroupedOuter { .. }
        | K::AggregateNotAllowed { .. }
        | K::NestedAggregate
        | K::GroupingArguments => "42803",
        K::ConstantKey { .. }
        | K::UnequalColumns { .. }
        | K::UnequalValues
        | K::UnequalRows
        | K::SubqueryColumns
        | K::SubqueryWidth { .. }
        | K::StarWithoutTables
        | K::Syntax { .. } => "42601",
        K::TooManyColumns => "54000",
        K::TooManyEntries { .. } => "54011",
        K::Value(error) => value_code(error),
        K::UndefinedTarget { .. } => "42703",
        K::ColumnTwice { .. } => "42701",
        K::InsertWidth { .. } | K::AssignmentWidth | K::AssignedTwice { .. } => "42601",
        K::NotAssignable { .. } => "42804",
        K::GivenAlways { .. } | K::UpdatedAlways { .. } => "428C9",
    }
}

fn value_code(error: &types::TypeError) -> &'static str {
    use types::TypeError as T;
    match error {
        T::InvalidText { ty, .. } if ty.starts_with("time") || ty == "date" || ty == "interval" => "22007",
        T::InvalidText { .. } | T::BadArray { .. } | T::BadJson { .. } => "22P02",
        T::InvalidHex { .. } | T::BadTypeParameter { .. } => "22023",
        T::DateTimeRange { .. } | T::IntervalOverflow { .. } | T::MomentRange { .. } => "22008",
        T::IntervalRange { .. } => "22015",
        T::TooManyDimensions { .. } => "54000",
        T::TextOutOfRange { .. } | T::OutOfRange { .. } | T::NumericOverflow { .. } => "22003",
        T::TooLong { .. } => "22001",
        T::InvalidEncoding { .. } => "22021",
        T::NoCast { .. } => "42804",
        T::BadType { .. } => "42704",
        T::UnsupportedType { .. } => "0A000",
    }
}

fn table(create: &sql::CreateTable, oid: u32) -> Table {
    let key_parts = create.key.as_ref().map(|key| key.parts.as_slice()).unwrap_or_default();
    let mut columns: Vec<Column> = create
        .columns
        .iter()
        .enumerate()
        .map(|(at, def)| {
            let is_key = key_parts.iter().any(|part| part.column == def.name);
            column(at, &def.name, def.data_type, def.not_null || is_key && !def.null, false)
        })
        .collect();
    let mut key: Vec<KeyColumn> = key_parts
        .iter()
        .map(|part| {
            let column = columns.iter().find(|column| column.name == part.column).unwrap().id;
            KeyColumn { column, descending: part.descending, nulls_first: part.nulls_first.unwrap_or(part.descending) }
        })
        .collect();
    if key.is_empty() {
        let id = column(columns.len(), catalog::ROW_ID_COLUMN, DataType::BigInt, true, true);
        key.push(KeyColumn { column: id.id, descending: false, nulls_first: false });
        columns.push(id);
    }
    Table {
        oid: TableOid(oid),
        schema: SchemaId(2200),
        name: create.name.name.clone(),
        storage: oid,
        next_column: u16::try_from(columns.len()).unwrap(),
        columns,
        key,
        key_name: create.key.as_ref().map(|_| "key".to_owned()),
        key_oid: None,
        key_codec: catalog::KEY_CODEC,
        salt_hash: catalog::SALT_HASH,
        salt_buckets: None,
        splits: Vec::new(),
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        materialized: None,
        indexes: Vec::new(),
        layouts: Vec::new(),
        properties: BTreeMap::new(),
        version: 0,
        derived: catalog::Derived::default(),
        live: catalog::Live::default(),
    }
}

fn column(at: usize, name: &str, ty: DataType, not_null: bool, hidden: bool) -> Column {
    Column {
        id: ColumnId(u16::try_from(at).unwrap() + 1),
        name: name.to_owned(),
        ty,
        not_null,
        default: None,
        missing: Datum::Null,
        family: None,
        sequence: None,
        identity: None,
        generated: None,
        hidden,
    }
}
