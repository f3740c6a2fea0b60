//! In-memory tables that `CREATE TABLE` statements define.

use bind::{BindError, ComputedColumn, ComputedRelation, Environment, Found, Relations};
use builtins::{Ty, TypeId};
use catalog::{Column, ColumnId, KeyColumn, SchemaId, Table, TableOid, View, ViewColumn, ViewRead};
use sql::{AlterAction, Statement};
use std::collections::BTreeMap;
use std::sync::Arc;
use types::temporal::Utc;
use types::{DataType, Datum};

/// Relations that [`Tables`] does not have.
pub(crate) const UNREADABLE: [&str; 2] = ["another schema", "a relation of this kind"];

#[derive(Default)]
pub(crate) struct Tables {
    found: BTreeMap<String, Found>,
    next_oid: u32,
}

impl Relations for Tables {
    fn find(&self, _: Option<&[String]>, schema: Option<&str>, name: &str) -> Option<Found> {
        match schema {
            None if name.starts_with("pg_") => return catalog("pg_catalog", name),
            None | Some("public") => {}
            Some(schema @ ("pg_catalog" | "information_schema" | "bennu")) => return catalog(schema, name),
            Some(_) => return Some(Found::Other(UNREADABLE[0])),
        }
        self.found.get(name).cloned()
    }

    fn has_schema(&self, name: &str) -> bool {
        !name.starts_with("no_such")
    }

    fn schema_of(&self, _: &Table) -> Option<String> {
        Some("public".to_owned())
    }

    /// Functions of Phoenix that are refused by name.
    fn hint_for_missing(&self, name: &str) -> Option<&'static str> {
        const REFUSED: [&str; 10] = [
            "bson_value",
            "collation_key",
            "decode_view_index_id",
            "invert",
            "json_value",
            "partition_id",
            "phoenix_row_timestamp",
            "row_size",
            "rowkey_bytes_string",
            "sqltypename",
        ];
        REFUSED.contains(&name).then_some("It is not here.")
    }
}

/// A catalog relation: `pg-catalog`, which depends on this crate, keeps the list.
fn catalog(schema: &str, name: &str) -> Option<Found> {
    let lines = include_str!("../catalogs.txt").lines();
    let mut words = lines.map(|line| line.split(' ')).find_map(|mut words| {
        let found = words.next() == Some(schema) && words.next() == Some(name);
        found.then_some(words)
    })?;
    let oid = words.next()?.parse().ok()?;
    let column = |word: &str| {
        let (name, ty) = word.split_once(':')?;
        let nullable = !ty.ends_with('!');
        let ty = Ty::plain(TypeId(ty.trim_end_matches('!').parse().ok()?));
        Some(ComputedColumn { name: name.to_owned(), ty, nullable })
    };
    let columns = words.map(column).collect::<Option<_>>()?;
    let (schema, name) = (schema.to_owned(), name.to_owned());
    Some(Found::Computed(Arc::new(ComputedRelation { schema, name, oid, columns })))
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

    /// Applies a statement to the relations. A relation whose statement is not supported becomes unreadable.
    pub(crate) fn apply(&mut self, statement: &Statement) {
        let unreadable = Found::Other(UNREADABLE[1]);
        match statement {
            Statement::CreateTable(create) => {
                self.next_oid += 1;
                let found = match &create.as_query {
                    None if create.likes.is_empty() => Found::Table(Arc::new(table(create, self.next_oid))),
                    Some(made) => self.made(create, made).map_or(unreadable, |table| Found::Table(Arc::new(table))),
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
            Statement::AlterTable(alter) => {
                let renames = |action: &AlterAction| {
                    matches!(
                        action,
                        AlterAction::RenameTable { .. }
                            | AlterAction::RenameColumn { .. }
                            | AlterAction::SetSchema { .. }
                    )
                };
                if alter.actions.iter().any(renames) {
                    self.lose_views();
                }
                self.alter(alter);
            }
            Statement::RenameView { name, to, .. } => {
                self.lose_views();
                if let Some(found) = self.found.remove(&name.name) {
                    self.found.insert(to.clone(), found);
                }
            }
            _ => {}
        }
    }

    /// The engine rewrites the queries of views that read a relation with a new name.
    fn lose_views(&mut self) {
        for found in self.found.values_mut().filter(|found| matches!(found, Found::View(_))) {
            *found = Found::Other(UNREADABLE[1]);
        }
    }

    /// Applies ALTER TABLE to a table. A table that moves to another schema is removed.
    fn alter(&mut self, alter: &sql::AlterTable) {
        for action in &alter.actions {
            let name = &alter.name.name;
            if let (AlterAction::RenameTable { to }, Some(Found::Other(_) | Found::View(_))) =
                (action, self.found.get(name))
            {
                let found = self.found.remove(name).unwrap();
                self.found.insert(to.clone(), found);
                return;
            }
            let Some(Found::Table(table)) = self.found.get_mut(name) else { return };
            let table = Arc::make_mut(table);
            match action {
                AlterAction::AddColumn { def, .. } => {
                    let at = usize::from(table.next_column);
                    table.next_column += 1;
                    let hidden = table.columns.iter().position(|column| column.hidden);
                    let added = column(at, &def.name, def.data_type, def.not_null, false);
                    table.columns.insert(hidden.unwrap_or(table.columns.len()), added);
                }
                AlterAction::DropColumn { column, .. } => table.columns.retain(|known| known.name != column.name),
                AlterAction::RenameColumn { from, to } => {
                    let renamed = table.columns.iter_mut().find(|column| column.name == *from);
                    renamed.into_iter().for_each(|column| column.name.clone_from(to));
                }
                AlterAction::RenameTable { to } => {
                    table.name.clone_from(to);
                    let (to, found) = (to.clone(), self.found.remove(name).unwrap());
                    self.found.insert(to, found);
                    return;
                }
                AlterAction::SetType { column, data_type, .. } => {
                    let changed = table.columns.iter_mut().find(|known| known.name == *column);
                    changed.into_iter().for_each(|column| column.ty = *data_type);
                }
                AlterAction::SetSchema { .. } => {
                    self.found.remove(name);
                    return;
                }
                _ => {}
            }
        }
    }

    /// CREATE TABLE AS.
    fn made(&mut self, create: &sql::CreateTable, made: &sql::AsQuery) -> Option<Table> {
        let bound = self.bind_statement(&Statement::Query(made.query.clone()), "").ok()?;
        let bind::tree::Body::Query(body) = &bound.body else { return None };
        let mut made_table = table(create, self.next_oid);
        let row_id = made_table.columns.pop()?;
        for (at, output) in body.outputs.iter().enumerate() {
            let name = made.columns.get(at).unwrap_or(&output.name);
            made_table.columns.push(column(at + 1, name, bound.col(output.col)?.ty.data_type()?, false, false));
        }
        made_table.columns.push(row_id);
        Some(made_table)
    }

    fn view(&mut self, create: &sql::CreateView) -> Option<View> {
        let query = create.query.to_string();
        let bound = self.bind_statement(&Statement::Query(create.query.clone()), "").ok()?;
        let bind::tree::Body::Query(body) = &bound.body else { return None };
        let columns = body.outputs.iter().enumerate().map(|(at, output)| {
            let name = create.columns.get(at).unwrap_or(&output.name).clone();
            Some(ViewColumn { name, ty: bound.col(output.col)?.ty.answer_type()? })
        });
        let columns = columns.collect::<Option<Vec<_>>>()?;
        self.next_oid += 1;
        let search_path = vec!["public".to_owned()];
        let (oid, name) = (TableOid(self.next_oid), create.name.name.clone());
        // A view stores the names of its columns, as the engine writes them into its query.
        let quoted = |name: &String| format!("\"{}\"", name.replace('"', "\"\""));
        let query = match create.columns.as_slice() {
            [] => query,
            names => {
                let names: Vec<String> = names.iter().map(quoted).collect();
                format!("SELECT * FROM ({query}) AS {} ({})", quoted(&name), names.join(", "))
            }
        };
        let reads = self.reads(&bound);
        Some(View { oid, schema: SchemaId(2200), name, columns, query, search_path, reads, version: 0 })
    }

    /// What a view of this query records.
    fn reads(&self, bound: &bind::tree::Bound) -> Vec<ViewRead> {
        let table = |oid| {
            self.found.values().find_map(|found| match found {
                Found::Table(table) if table.oid == oid => Some(table),
                _ => None,
            })
        };
        let direct = bound.needs.relations.iter().filter(|(_, used)| used.direct);
        let read = direct.map(|(oid, used)| {
            let column = |at: &usize| Some(table(*oid)?.columns.get(*at)?.id);
            ViewRead { relation: *oid, columns: used.selected.iter().filter_map(column).collect() }
        });
        read.collect()
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

    /// Returns the tree of a statement.
    pub(crate) fn tree(&self, text: &str) -> String {
        self.bind(text).map_or_else(|error| format!("{}\n", shown(text, &error)), |bound| bound.to_string())
    }

    /// Returns the error of a statement: SQLSTATE, message, hint, and the position as ¶ in the text.
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
    format!("{} {error}{place}{hint}", error.sqlstate())
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
        change_logs: Vec::new(),
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
        default_sequences: Vec::new(),
        identity: None,
        generated: None,
        hidden,
    }
}
