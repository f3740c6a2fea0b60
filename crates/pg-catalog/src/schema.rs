//! The schemas as the planner sees them.

use crate::definition::Definition;
use crate::live_state::LiveState;
use crate::relation::Relation;
use crate::sequence_table::SequenceSchema;
use crate::source::Source;
use crate::table::ComputedTable;
use crate::{bennu, functions, information_schema, pg_catalog};
use async_trait::async_trait;
use catalog::{Catalog, Sequence};
use datafusion::catalog::{SchemaProvider, TableProvider};
use datafusion::common::{DataFusionError, Result};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;

/// All that this crate offers, for one version of the definitions and one session.
#[derive(Clone, Debug)]
pub struct PgCatalog {
    source: Source,
}

impl PgCatalog {
    /// For these definitions and this session.
    pub fn new(catalog: Arc<Catalog>, live: Arc<dyn LiveState>) -> Self {
        Self { source: Source { catalog, live } }
    }

    /// The computed schemas by name, and those with sequences.
    pub fn schemas(&self) -> Vec<(String, Arc<dyn SchemaProvider>)> {
        let schema = |name: &str, tables| {
            let sets = if name == "pg_catalog" { pg_catalog::SETS } else { &[] };
            let provider: Arc<dyn SchemaProvider> =
                Arc::new(ComputedSchema { tables, sets, source: self.source.clone() });
            (name.to_owned(), provider)
        };
        let fixed = [
            schema("pg_catalog", pg_catalog::TABLES),
            schema("information_schema", information_schema::TABLES),
            schema("bennu", bennu::TABLES),
        ];
        let mut all = Vec::from(fixed);
        for sequence in self.source.catalog.sequences() {
            let Some(name) = self.source.schema_name(sequence.schema.0) else { continue };
            if !all.iter().any(|(known, _)| known == name) {
                let provider = SequenceSchema { name: name.to_owned(), source: self.source.clone() };
                all.push((name.to_owned(), Arc::new(provider)));
            }
        }
        all
    }

    /// The function of that name, bound to this state.
    pub fn function(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        functions::find(name, &self.source).map(Arc::new)
    }

    /// The relation of that name in a computed schema.
    pub fn relation(schema: &str, name: &str) -> Option<Relation> {
        Relation::find(schema, name)
    }

    /// A sequence of a schema as a relation of one row.
    pub fn sequence_relation(schema: &str, sequence: &Sequence) -> Relation {
        Relation::of_sequence(schema, sequence)
    }
}

#[derive(Debug)]
struct ComputedSchema {
    tables: &'static [&'static Definition],
    /// Tables that only a query's text names.
    sets: &'static [&'static Definition],
    source: Source,
}

impl ComputedSchema {
    fn find(&self, name: &str) -> Option<&'static Definition> {
        self.tables.iter().chain(self.sets).find(|table| table.name == name).copied()
    }
}

#[async_trait]
impl SchemaProvider for ComputedSchema {
    fn table_names(&self) -> Vec<String> {
        self.tables.iter().map(|table| table.name.to_owned()).collect()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        match self.find(name) {
            None => Ok(None),
            Some(definition) => Ok(Some(Arc::new(ComputedTable::new(definition, self.source.clone())?))),
        }
    }

    fn table_exist(&self, name: &str) -> bool {
        self.find(name).is_some()
    }
}
