//! A computed table. Its rows are computed when a scan is planned, at the start of the statement's execution.

use crate::definition::{Definition, Kind};
use crate::rows::Rows;
use crate::source::Source;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::memory::MemorySourceConfig;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DFSchemaRef, Result, ToDFSchema};
use datafusion::datasource::TableType;
use datafusion::logical_expr::{EmptyRelation, Expr, LogicalPlan};
use datafusion::physical_plan::ExecutionPlan;
use std::borrow::Cow;
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct ComputedTable {
    definition: &'static Definition,
    schema: SchemaRef,
    source: Source,
    /// The schema of a table that is always empty.
    empty: Option<DFSchemaRef>,
}

impl ComputedTable {
    /// # Errors
    /// An invalid definition.
    pub(crate) fn new(definition: &'static Definition, source: Source) -> Result<Self> {
        let schema = definition.schema()?;
        let empty = if definition.is_empty() { Some(Arc::new(Arc::clone(&schema).to_dfschema()?)) } else { None };
        Ok(Self { definition, schema, source, empty })
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

    fn get_logical_plan(&self) -> Option<Cow<'_, LogicalPlan>> {
        // DataFusion eliminates joins with an empty relation.
        let schema = self.empty.as_ref()?;
        let nothing = EmptyRelation { produce_one_row: false, schema: Arc::clone(schema) };
        Some(Cow::Owned(LogicalPlan::EmptyRelation(nothing)))
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let mut rows = Rows::new(self.definition)?;
        if let Some(fill) = self.definition.rows {
            fill(&self.source, &mut rows);
        }
        let batch = rows.finish(&self.schema)?;
        Ok(MemorySourceConfig::try_new_exec(&[vec![batch]], Arc::clone(&self.schema), projection.cloned())?)
    }
}
