//! Stand-in for the planner's face until `query` has it: every query is refused by name.
#![allow(missing_docs, dead_code)]

use query::{QueryError, QueryResult, Reader};
use std::sync::Arc;
use types::{DataType, Datum};

#[derive(Debug)]
pub(crate) struct Planner;
pub(crate) struct PlannerOptions {
    pub(crate) memory_bytes: usize,
    pub(crate) spill_dir: Option<std::path::PathBuf>,
    pub(crate) partitions: usize,
}
#[derive(Clone, Debug)]
pub(crate) struct OutputColumn {
    pub(crate) name: String,
    pub(crate) ty: DataType,
    pub(crate) table_oid: u32,
    pub(crate) column_number: i16,
}
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) parameters: Vec<DataType>,
    pub(crate) columns: Vec<OutputColumn>,
    pub(crate) cacheable: bool,
}
pub(crate) struct QueryContext {
    pub(crate) reader: Reader,
}
pub(crate) struct Execution {
    pub(crate) stream: datafusion::execution::SendableRecordBatchStream,
}
#[derive(Debug)]
pub(crate) struct RowExprs;

fn not_yet<T>() -> QueryResult<T> {
    Err(QueryError::Unsupported { feature: "planning of queries".to_string() })
}

impl RowExprs {
    pub(crate) fn eval(&self, _: &[Datum], _: Option<&[Datum]>, _: &[Datum]) -> QueryResult<Vec<Datum>> {
        not_yet()
    }
    pub(crate) fn types(&self) -> &[DataType] {
        &[]
    }
    pub(crate) fn parameters(&self) -> &[DataType] {
        &[]
    }
}

impl Planner {
    pub(crate) fn new(_: PlannerOptions) -> QueryResult<Arc<Self>> {
        Ok(Arc::new(Self))
    }
    pub(crate) async fn plan(
        &self,
        _: &QueryContext,
        _: &sql::ast::Query,
        _: &[Option<DataType>],
    ) -> QueryResult<Plan> {
        not_yet()
    }
    pub(crate) async fn execute(&self, _: &QueryContext, _: &Plan, _: &[Datum]) -> QueryResult<Execution> {
        not_yet()
    }
    pub(crate) fn row_expr(
        &self,
        _: &QueryContext,
        _: &catalog::Table,
        _: Option<&str>,
        _: &[sql::ast::Expr],
        _: &[Option<DataType>],
    ) -> QueryResult<RowExprs> {
        not_yet()
    }
}

pub(crate) fn batch_to_rows(_: &arrow::record_batch::RecordBatch, _: &[DataType]) -> QueryResult<Vec<Vec<Datum>>> {
    not_yet()
}

pub(crate) fn from_datafusion(error: datafusion::error::DataFusionError) -> QueryError {
    QueryError::internal(error.to_string())
}
