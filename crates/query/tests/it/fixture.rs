//! A model store with a catalog, test tables, and functions that run queries.

use bind::tree::Bound;
use bind::{BindError, Environment, Found, Relations};
use builtins::{TimeZone, Ty};
use catalog::{Catalog, CatalogCache, NewColumn, NewIndex, NewIndexPart, NewKeyPart, NewPartOf, NewTable, Table};
use futures::StreamExt;
use index::IndexCodec;
use query::convert::batch_to_rows;
use query::{Plan, Planner, PlannerOptions, QueryContext, QueryError, Reader, RowCodec, Settings};
use std::sync::Arc;
use store::{Bytes, CommitNo, Durability, FamilyId, KeyRange, Mutation, ScanRequest, Store, TableId, WriteBatch};
use store_testkit::{ModelStore, RecordingStore};
use types::{DataType, Datum, text};

/// 2024-03-01 12:30:00 UTC.
pub const NOW: i64 = 1_709_296_200_000_000;

pub struct Fixture {
    pub store: Arc<RecordingStore>,
    pub catalog: Arc<CatalogCache>,
    pub planner: Arc<Planner>,
}

/// Settings with a fixed `bennu.index_choice`.
struct Choice(&'static str);

#[derive(Debug)]
struct NeverStops;

impl query::Stop for NeverStops {
    fn is_stopped(&self) -> bool {
        false
    }
}

impl Settings for Choice {
    fn get(&self, name: &str) -> Option<String> {
        match name {
            "server_version" => Some("15.0".to_owned()),
            "bennu.index_choice" => Some(self.0.to_owned()),
            _ => None,
        }
    }
}

impl Fixture {
    pub async fn new() -> Self {
        Self::with(PlannerOptions { partitions: 2, batch_rows: 100, ..PlannerOptions::default() }).await
    }

    pub async fn with(options: PlannerOptions) -> Self {
        Self::made_of(Arc::new(ModelStore::new()), options).await
    }

    /// Over another store.
    pub async fn over(store: Arc<dyn Store>) -> Self {
        Self::made_of(store, PlannerOptions { partitions: 2, batch_rows: 100, ..PlannerOptions::default() }).await
    }

    async fn made_of(store: Arc<dyn Store>, options: PlannerOptions) -> Self {
        let store = Arc::new(RecordingStore::new(store));
        let catalog = CatalogCache::open(store.clone()).await.unwrap();
        Self { store, catalog, planner: Planner::new(options).unwrap() }
    }

    /// `flights (carrier varchar, flight int, departed timestamp DESC; dest char(3), delay int, price numeric(10,2),
    /// note text)` with 4 carriers, 25 flights each, 3 departures each: 300 rows.
    pub async fn flights(&self, salt: Option<u16>) {
        let columns = "carrier varchar!, flight integer!, departed timestamp!, dest char(3), delay integer, \
                       price numeric(10,2), note text";
        self.table("flights", columns, "carrier, flight, departed desc", salt).await;
        let mut rows = Vec::new();
        for (c, carrier) in ["AA", "B6", "DL", "UA"].into_iter().enumerate() {
            for flight in 0..25 {
                for day in 1..=3 {
                    let delay = if flight == 7 { "".to_owned() } else { format!("{}", flight * day - 10) };
                    let dest = ["JFK", "LA", "ORD"][(flight as usize + c) % 3];
                    rows.push(format!(
                        "{carrier}|{flight}|2013-01-0{day} 08:00|{dest}|{delay}|{}.5|note {carrier}{flight}",
                        flight * 10
                    ));
                }
            }
        }
        self.insert("flights", &rows.iter().map(String::as_str).collect::<Vec<_>>()).await;
    }

    /// Creates a table. Columns are `name type`, with `!` for NOT NULL; key columns are names, with `desc`.
    pub async fn table(&self, name: &str, columns: &str, key: &str, salt: Option<u16>) -> Arc<Table> {
        let mut new = NewTable::new("public", name);
        new.salt_buckets = salt;
        for column in split_columns(columns) {
            let (name, ty) = column.trim().split_once(' ').unwrap();
            let (ty, not_null) = match ty.strip_suffix('!') {
                Some(ty) => (ty, Some(true)),
                None => (ty, None),
            };
            new.columns.push(NewColumn { not_null, ..NewColumn::new(name, type_of(ty)) });
        }
        for part in key.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (column, descending) = match part.strip_suffix(" desc") {
                Some(column) => (column, true),
                None => (part, false),
            };
            new.key.push(NewKeyPart { column: column.to_owned(), descending, nulls_first: None });
        }
        self.catalog.change(|draft| draft.create_table(new)).await.unwrap()
    }

    /// Inserts rows, given as text with values separated by `|`; an empty value is NULL.
    pub async fn insert(&self, table: &str, rows: &[&str]) {
        let table = self.catalog.current().must_get_table("public", table).unwrap().clone();
        let codec = RowCodec::new(&table).unwrap();
        let mut batch = WriteBatch::default();
        for row in rows {
            let values: Vec<Datum> = table
                .columns
                .iter()
                .zip(row.split('|'))
                .map(|(column, value)| match value {
                    "" => Datum::Null,
                    value => text::parse(&column.ty, value).unwrap(),
                })
                .collect();
            let fragment = codec.encode_fragment(&values).unwrap();
            batch.mutations.push(replace(table.storage_id(), codec.encode_key(&values).unwrap().into(), fragment));
            for index in &table.indexes {
                let entry = IndexCodec::new(&table, index).unwrap().entry(&values).unwrap().unwrap();
                batch.mutations.push(replace(index.storage_id(), entry.key, entry.fragment.to_vec()));
            }
        }
        self.write(batch).await;
    }

    /// Creates an index and its entries. `parts` are columns with `desc`, `nulls first`, `nulls last`.
    pub async fn index(&self, table: &str, name: &str, parts: &str, include: &[&str], salt: Option<u16>) {
        let mut new = NewIndex { name: Some(name.to_owned()), salt_buckets: salt, ..NewIndex::default() };
        new.unique = name.starts_with("unique");
        new.include = include.iter().map(|&column| column.to_owned()).collect();
        for part in parts.split(',') {
            let descending = part.contains(" desc");
            let nulls_first = part.contains(" nulls first") || descending && !part.contains(" nulls last");
            let column = part.split_whitespace().next().unwrap().to_owned();
            new.parts.push(NewIndexPart { of: NewPartOf::Column(column), descending, nulls_first });
        }
        let old = self.catalog.current().must_get_table("public", table).unwrap().clone();
        let prepared = self.catalog.change(|draft| draft.prepare_index(old.oid, new)).await.unwrap();
        let codec = IndexCodec::new(prepared.table(), prepared.index()).unwrap();
        let mut batch = WriteBatch::default();
        for row in self.stored(&old).await {
            let entry = codec.entry(&row).unwrap().unwrap();
            batch.mutations.push(replace(prepared.index().storage_id(), entry.key, entry.fragment.to_vec()));
        }
        self.write(batch).await;
        self.catalog.change(|draft| draft.publish_index(&prepared)).await.unwrap();
    }

    /// All rows of a table.
    async fn stored(&self, table: &Arc<Table>) -> Vec<Vec<Datum>> {
        let codec = RowCodec::new(table).unwrap();
        let request = ScanRequest::new(table.storage_id(), FamilyId(0), vec![KeyRange::all()]);
        let snapshot = self.store.snapshot(CommitNo(0)).await.unwrap();
        let mut scan = self.store.scan(request, &snapshot).await.unwrap();
        let mut rows = Vec::new();
        while let Some(batch) = scan.next().await.unwrap() {
            let all = batch.keys().zip(batch.fragments());
            rows.extend(all.map(|(key, fragment)| codec.decode_full(key, fragment).unwrap()));
        }
        rows
    }

    async fn write(&self, batch: WriteBatch) {
        let commit = self.store.apply(batch, Durability::Sync).await.unwrap();
        self.store.sync(commit).await.unwrap();
    }

    /// A context with this index choice.
    pub async fn context_that(&self, choice: &'static str) -> QueryContext {
        QueryContext { settings: Arc::new(Choice(choice)), ..self.context().await }
    }

    pub async fn context(&self) -> QueryContext {
        let snapshot = self.store.snapshot(CommitNo(0)).await.unwrap();
        QueryContext {
            catalog: self.catalog.current(),
            reader: Reader::plain(self.store.clone(), snapshot),
            search_path: vec!["public".to_owned()],
            user: "ada".to_owned(),
            database: "bennu".to_owned(),
            statement_time: NOW,
            transaction_time: NOW,
            time_zone: TimeZone::UTC,
            zone_name: "UTC".into(),
            schemas: Vec::new(),
            functions: Arc::new(|_| None),
            stop: Arc::new(NeverStops),
            settings: Arc::new(Choice("auto")),
            hints: Arc::default(),
            fresh_since: None,
        }
    }

    pub async fn plan(&self, query: &str, types: &[Option<DataType>]) -> Result<Plan, Failure> {
        self.plan_in(&self.context().await, query, types).await
    }

    pub async fn plan_in(&self, cx: &QueryContext, query: &str, types: &[Option<DataType>]) -> Result<Plan, Failure> {
        let bound = bound(&cx.catalog, query, types)?;
        let said = |at: usize| types.get(at).copied().flatten();
        let of = |(at, ty): (usize, &Ty)| said(at).or_else(|| ty.data_type()).or_else(|| ty.parameter_type());
        let parameters = bound.params.iter().enumerate().map(of).collect::<Option<_>>().unwrap();
        Ok(self.planner.plan_bound(cx, &bound, parameters).await?)
    }

    pub async fn run(&self, plan: &Plan, params: &[Datum]) -> Result<Vec<String>, Failure> {
        self.run_in(&self.context().await, plan, params).await
    }

    pub async fn run_in(&self, cx: &QueryContext, plan: &Plan, params: &[Datum]) -> Result<Vec<String>, Failure> {
        let mut running = self.planner.execute(cx, plan, params).await?;
        let types: Vec<DataType> = running.columns.iter().map(|column| column.ty).collect();
        let mut rows = Vec::new();
        while let Some(batch) = running.stream.next().await {
            for row in batch_to_rows(&batch.map_err(QueryError::from)?, &types)? {
                rows.push(line(&types, &row));
            }
        }
        Ok(rows)
    }

    /// Runs a query; rows are text with values separated by `|`.
    pub async fn query(&self, query: &str) -> Vec<String> {
        self.try_query(query).await.unwrap_or_else(|error| panic!("{query}: {error:?}"))
    }

    pub async fn try_query(&self, query: &str) -> Result<Vec<String>, Failure> {
        let plan = self.plan(query, &[]).await?;
        self.run(&plan, &[]).await
    }

    pub async fn error(&self, query: &str) -> Failure {
        match self.try_query(query).await {
            Ok(rows) => panic!("{query}: {rows:?}"),
            Err(error) => error,
        }
    }
}

/// The error of a query that cannot be bound, or failed.
#[derive(Debug)]
pub enum Failure {
    Bind(BindError),
    Query(QueryError),
}

impl From<BindError> for Failure {
    fn from(error: BindError) -> Self {
        Self::Bind(error)
    }
}

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Self {
        Self::Query(error)
    }
}

impl Failure {
    /// The SQLSTATE of an error of the binder.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Bind(error) => error.sqlstate(),
            Self::Query(error) => panic!("{error:?}"),
        }
    }
}

/// The tables of `public`.
struct Names<'a>(&'a Catalog);

impl Relations for Names<'_> {
    fn find(&self, _: Option<&[String]>, schema: Option<&str>, name: &str) -> Option<Found> {
        self.0.table(schema.unwrap_or("public"), name).map(|table| Found::Table(Arc::clone(table)))
    }

    fn schema_of(&self, table: &Table) -> Option<String> {
        Some(self.0.schema_name(table).to_owned())
    }
}

fn bound(catalog: &Catalog, query: &str, types: &[Option<DataType>]) -> Result<Bound, BindError> {
    let parsed = sql::parse(query).unwrap();
    let declared: Vec<Option<Ty>> = types.iter().map(|ty| ty.as_ref().map(Ty::of)).collect();
    let env = Environment { text: query, rules: &types::temporal::Utc };
    bind::bind(&parsed[0].statement, &Names(catalog), &env, &declared)
}

fn replace(table: TableId, key: Bytes, fragment: Vec<u8>) -> Mutation {
    Mutation::Replace { table, family: FamilyId(0), key, fragment }
}

fn line(types: &[DataType], row: &[Datum]) -> String {
    let show = |(ty, value): (&DataType, &Datum)| {
        let mut out = String::new();
        if !value.is_null() {
            text::print(ty, value, &mut out);
        }
        out
    };
    types.iter().zip(row).map(show).collect::<Vec<_>>().join("|")
}

/// Splits at commas outside of parentheses.
fn split_columns(columns: &str) -> Vec<String> {
    let mut list = vec![String::new()];
    let mut depth = 0;
    for letter in columns.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                list.push(String::new());
                continue;
            }
            _ => {}
        }
        list.last_mut().unwrap().push(letter);
    }
    list
}

fn type_of(text: &str) -> DataType {
    let (base, params) = match text.trim().split_once('(') {
        None => (text.trim(), Vec::new()),
        Some((base, params)) => {
            (base, params.trim_end_matches(')').split(',').map(|p| p.trim().parse().unwrap()).collect())
        }
    };
    DataType::from_name(base, &params).unwrap()
}
