//! A table of the catalog as the planner sees it.
//!
//! A plan is made over an unbound table and can be kept. When it runs, every table in it is bound to the statement's
//! view ([`RegionTable::bind`]); only a bound table can be scanned.

use crate::access_path::{AccessPath, pushdown};
use crate::convert::expr_to_ranges::to_store_ranges;
use crate::convert::{RowDecoder, table_schema};
use crate::error::{QueryError, QueryResult};
use crate::exec::row_checks::RowCheck;
use crate::exec::scan::{FAMILY, RegionScanExec, ScanParts};
use crate::sample::{Estimate, Sampling};
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use catalog::Table;
use catalog::row_codec::{Place, RowCodec};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{Column, Constraint, Constraints, DFSchema, Result};
use datafusion::datasource::TableType;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use rowkey::range::Access;
use std::sync::Arc;
use store::{KeyRange, TableSize};
use txn::ReadView;
use types::interrupt;

/// Below this many rows a scan is not worth splitting.
const ROWS_WORTH_SPLITTING: u64 = 20_000;
/// A limit below this is read by one task.
const SMALL_LIMIT: usize = 1_000;

/// A table, bound to a view when a statement runs.
#[derive(Debug)]
pub struct RegionTable {
    codec: Arc<RowCodec>,
    schema: SchemaRef,
    constraints: Constraints,
    reader: Option<ReadView>,
    sampled: bool,
}

impl RegionTable {
    /// The table, for planning.
    ///
    /// # Errors
    /// As [`RowCodec::new`].
    pub fn new(table: &Arc<Table>) -> QueryResult<Self> {
        let codec = RowCodec::new(table)?;
        let schema = table_schema(table);
        let nullable = codec.key_schema().parts.iter().any(|part| part.nullable);
        // A key with NULLs is unique for us, but the planner takes a primary key for not null.
        let key = if nullable {
            Constraint::Unique(codec.key_columns().to_vec())
        } else {
            Constraint::PrimaryKey(codec.key_columns().to_vec())
        };
        let constraints = Constraints::new_unverified(vec![key]);
        Ok(Self { codec: Arc::new(codec), schema, constraints, reader: None, sampled: false })
    }

    /// The same table, read from `reader`; `sampled` if a look at its rows is worth while for a better plan.
    #[must_use]
    pub fn bind(&self, reader: &ReadView, sampled: bool) -> Self {
        Self {
            codec: Arc::clone(&self.codec),
            schema: Arc::clone(&self.schema),
            constraints: self.constraints.clone(),
            reader: Some(reader.clone()),
            sampled,
        }
    }

    /// The table's rows to bytes and back.
    pub fn codec(&self) -> &Arc<RowCodec> {
        &self.codec
    }

    async fn plan_scan(
        &self,
        session: &dyn Session,
        projection: Vec<usize>,
        filters: &[Expr],
        fetch: Option<usize>,
    ) -> QueryResult<RegionScanExec> {
        // Plans of very many tables are made without a pause.
        interrupt::check()?;
        let reader = self.reader.clone().ok_or_else(|| QueryError::internal("a scan of a table without a view"))?;
        let path = AccessPath::new(&self.codec, filters);
        let ranges = to_store_ranges(&path.ranges.ranges);
        let size = self.estimate(&reader, &path, &ranges).await?;
        // Rows that are only counted are not read: whole tables of the store say how many they hold, cut ones do not.
        let counted = projection.is_empty() && path.checks_nothing();
        let pieces = if counted { 1 } else { self.pieces(session, &path, size, fetch) };
        let table = self.codec.table().storage_id();
        let partitions = match (ranges.is_empty(), pieces) {
            (true, _) => Vec::new(),
            (false, 1) => vec![ranges.clone()],
            (false, pieces) => reader.split(table, FAMILY, &ranges, pieces).await?,
        };
        let decoder = RowDecoder::new(&self.codec, &projection)?;
        let row_check = self.check(session, &path.row_filters)?;
        let recheck = self.check(session, &path.byte_filters)?;
        let checks = [recheck.as_ref(), row_check.as_ref()];
        let codec = &self.codec;
        let sampling = Sampling {
            codec,
            reader: &reader,
            ranges: &ranges,
            size,
            checks,
            decoder: &decoder,
            projection: &projection,
        };
        let unsampled = Estimate { rows: size.rows, columns: None };
        // A filter may fail on a row that the statement never comes to.
        let estimate = if self.sampled { sampling.estimate().await.unwrap_or(unsampled) } else { unsampled };
        let codec = Arc::clone(&self.codec);
        let parts =
            ScanParts { codec, reader, path, projection, decoder, row_check, recheck, partitions, fetch, estimate };
        RegionScanExec::new(parts)
    }

    async fn estimate(&self, reader: &ReadView, path: &AccessPath, ranges: &[KeyRange]) -> QueryResult<TableSize> {
        match path.ranges.access {
            Access::Empty => Ok(TableSize::default()),
            Access::Points(points) => Ok(TableSize { rows: points as u64, bytes: 0 }),
            _ => Ok(reader.estimate(self.codec.table().storage_id(), FAMILY, ranges).await?),
        }
    }

    fn pieces(&self, session: &dyn Session, path: &AccessPath, size: TableSize, fetch: Option<usize>) -> usize {
        let small = matches!(path.ranges.access, Access::Points(_) | Access::Empty)
            || size.rows < ROWS_WORTH_SPLITTING
            || (path.checks_nothing() && fetch.is_some_and(|fetch| fetch < SMALL_LIMIT));
        if small { 1 } else { session.config().target_partitions().max(1) }
    }

    /// All of `filters` as one check of rows.
    fn check(&self, session: &dyn Session, filters: &[Expr]) -> QueryResult<Option<RowCheck>> {
        let Some(filter) = conjunction(filters.iter().cloned()) else { return Ok(None) };
        let columns = self.columns_of(&filter);
        let decoder = RowDecoder::new(&self.codec, &columns)?;
        let schema = DFSchema::try_from(self.schema.project(&columns)?)?;
        let predicate = session.create_physical_expr(filter, &schema)?;
        Ok(Some(RowCheck { predicate, decoder }))
    }

    /// Indexes of the columns that an expression names, in ascending order.
    fn columns_of(&self, expr: &Expr) -> Vec<usize> {
        let index = |column: &&Column| self.schema.index_of(&column.name).ok();
        let mut columns: Vec<usize> = expr.column_refs().iter().filter_map(index).collect();
        columns.sort_unstable();
        columns
    }

    /// Is the column part of the key?
    pub fn is_key(&self, index: usize) -> bool {
        matches!(self.codec.places().get(index), Some(Place::Key(_)))
    }
}

#[async_trait]
impl TableProvider for RegionTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn constraints(&self) -> Option<&Constraints> {
        Some(&self.constraints)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(filters.iter().map(|filter| pushdown(&self.codec, filter)).collect())
    }

    async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let all = || (0..self.schema.fields().len()).collect();
        let projection = projection.cloned().unwrap_or_else(all);
        Ok(Arc::new(self.plan_scan(session, projection, filters, limit).await?))
    }
}
