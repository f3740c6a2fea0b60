//! A computed table: its rows are made when a scan is planned, which is when its statement starts to run.

use crate::definition::{Definition, Kind};
use crate::rows::Rows;
use crate::source::Source;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::memory::MemorySourceConfig;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Result;
use datafusion::datasource::TableType;
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::ExecutionPlan;
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct ComputedTable {
    definition: &'static Definition,
    schema: SchemaRef,
    source: Source,
}

impl ComputedTable {
    /// # Errors
    /// A definition with a fault.
    pub(crate) fn new(definition: &'static Definition, source: Source) -> Result<Self> {
        Ok(Self { definition, schema: definition.schema()?, source })
    }
}

#[async_trait]
impl TableProvider for ComputedTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        match self.definition.kind {
            Kind::Table => TableType::Base,
            Kind::View => TableType::View,
        }
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let mut rows = Rows::new(self.definition)?;
        (self.definition.rows)(&self.source, &mut rows);
        let batch = rows.finish(&self.schema)?;
        Ok(MemorySourceConfig::try_new_exec(&[vec![batch]], Arc::clone(&self.schema), projection.cloned())?)
    }
}
