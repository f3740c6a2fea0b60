//! The computed schemas for DataFusion.

use crate::functions;
use crate::live_state::LiveState;
use crate::relation::{COMPUTED, Relation, definition, definitions};
use crate::sequence_table::SequenceTable;
use crate::source::Source;
use crate::table::ComputedTable;
use async_trait::async_trait;
use catalog::{Catalog, Sequence};
use datafusion::catalog::{SchemaProvider, TableProvider};
use datafusion::common::{DataFusionError, Result};
use datafusion::logical_expr::ScalarUDF;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The computed tables and functions for one catalog version and one session.
#[derive(Clone, Debug)]
pub struct PgCatalog {
    source: Source,
}

impl PgCatalog {
    /// For a catalog version and a session.
    pub fn new(catalog: Arc<Catalog>, live: Arc<dyn LiveState>) -> Self {
        Self { source: Source { catalog, live } }
    }

    /// The computed schemas by name, and schemas with sequences.
    pub fn schemas(&self) -> Vec<(String, Arc<dyn SchemaProvider>)> {
        let with_sequences = self.source.catalog.sequences().filter_map(|it| self.source.schema_name(it.schema.0));
        let names: BTreeSet<&str> = COMPUTED.into_iter().chain(with_sequences).collect();
        let schema = |name: &str| -> (String, Arc<dyn SchemaProvider>) {
            (name.to_owned(), Arc::new(ShownSchema { name: name.to_owned(), source: self.source.clone() }))
        };
        names.into_iter().map(schema).collect()
    }

    /// The function of that name, bound to the catalog version and session.
    pub fn function(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        functions::find(name, &self.source).map(Arc::new)
    }

    /// The relation of that name in a computed schema.
    pub fn relation(schema: &str, name: &str) -> Option<Relation> {
        Relation::find(schema, name)
    }

    /// A sequence as a relation of one row.
    pub fn sequence_relation(schema: &str, sequence: &Sequence) -> Relation {
        Relation::of_sequence(schema, sequence)
    }
}

/// The computed tables of a schema, and its sequences.
#[derive(Debug)]
struct ShownSchema {
    name: String,
    source: Source,
}

#[async_trait]
impl SchemaProvider for ShownSchema {
    fn table_names(&self) -> Vec<String> {
        definitions(&self.name).map(|table| table.name.to_owned()).collect()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        let source = self.source.clone();
        if let Some(definition) = definition(&self.name, name) {
            return Ok(Some(Arc::new(ComputedTable::new(definition, source)?)));
        }
        let sequence = self.source.catalog.sequence(&self.name, name);
        Ok(sequence
            .map(|sequence| Arc::new(SequenceTable::new(Arc::clone(sequence), source)) as Arc<dyn TableProvider>))
    }

    fn table_exist(&self, name: &str) -> bool {
        definition(&self.name, name).is_some() || self.source.catalog.sequence(&self.name, name).is_some()
    }
}
