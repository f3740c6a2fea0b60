//! A table of the catalog as a DataFusion `TableProvider`.
//!
//! A plan is built over an unbound table and can be cached. For execution, every table in it is bound to the
//! statement's read view ([`RegionTable::bind`]); only a bound table can be scanned.

use crate::access_path::{AccessPath, Filters, pushdown};
use crate::bound_index::BoundIndex;
use crate::choose_path::{Asked, Chosen, FirstRows, columns_of};
use crate::convert::expr_to_condition::Mode;
use crate::convert::{RowDecoder, table_schema};
use crate::error::{QueryError, QueryResult};
use crate::exec::intersection::{Merged, OtherIndex};
use crate::exec::narrowing::Finder;
use crate::exec::row_checks::{RowCheck, RowChecks};
use crate::exec::scan::{FAMILY, RegionScanExec, ScanParts};
use crate::intersected::Partner;
use crate::key_partitions::{Partitions, partition_count};
use crate::sample::{Estimate, Sampling};
use crate::scan_source::{ScanSource, TableIndex};
use crate::scan_statistics;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use catalog::row_codec::{Place, RowCodec};
use catalog::{Index, Table};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{Constraint, Constraints, DFSchema, Result};
use datafusion::datasource::{DefaultTableSource, TableType};
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableScan};
use datafusion::physical_plan::ExecutionPlan;
use index::{IndexChoice, ScanHints, ScanRules};
use std::any::Any;
use std::sync::Arc;
use txn::ReadView;
use types::interrupt;

/// A table, bound to a read view for execution.
#[derive(Clone, Debug)]
pub struct RegionTable {
    codec: Arc<RowCodec>,
    indexes: Vec<Arc<TableIndex>>,
    /// Refreshed indexes, each with the time of its last refresh.
    refreshed: Vec<(i64, Arc<TableIndex>)>,
    schema: SchemaRef,
    constraints: Constraints,
    reader: Option<ReadView>,
    sampled: bool,
    rules: ScanRules,
    first: Option<FirstRows>,
    /// Is each distinct combination of the columns that are read needed only once?
    groups: bool,
    /// The columns by which joins look up rows, each with the number of values.
    lookups: Vec<(usize, f64)>,
}

impl RegionTable {
    /// An unbound table.
    ///
    /// # Errors
    /// As [`RowCodec::new`].
    pub fn new(table: &Arc<Table>) -> QueryResult<Self> {
        let codec = RowCodec::new(table)?;
        let schema = table_schema(table);
        let nullable = codec.key_schema().parts.iter().any(|part| part.nullable);
        // A key with NULLs is unique here, but DataFusion infers NOT NULL from a primary key.
        let key = if nullable {
            Constraint::Unique(codec.key_columns().to_vec())
        } else {
            Constraint::PrimaryKey(codec.key_columns().to_vec())
        };
        let constraints = Constraints::new_unverified(vec![key]);
        let bound = |index: &Index| {
            let computed = BoundIndex::of(table, index)?;
            Some(TableIndex::new(table, index, computed).map(Arc::new))
        };
        let refreshed = table.indexes.iter().filter_map(|index| {
            let refreshed = index.refresh?.refreshed;
            Some(bound(index)?.map(|bound| (refreshed, bound)))
        });
        Ok(Self {
            codec: Arc::new(codec),
            indexes: table.public_indexes().filter_map(bound).collect::<QueryResult<_>>()?,
            refreshed: refreshed.collect::<QueryResult<_>>()?,
            schema,
            constraints,
            reader: None,
            sampled: false,
            rules: ScanRules::default(),
            first: None,
            groups: false,
            lookups: Vec::new(),
        })
    }

    /// The table, bound to `reader`; `sampled` if the plan can benefit from sampling its rows.
    #[must_use]
    pub fn bind(&self, reader: &ReadView, sampled: bool, choice: IndexChoice, hints: &ScanHints) -> Self {
        let rules = hints.rules(&self.codec.table().name, choice);
        Self { reader: Some(reader.clone()), sampled, rules, ..self.clone() }
    }

    /// The table, also read by indexes that were refreshed at `fresh_since` or later.
    #[must_use]
    pub(crate) fn with_refreshed(mut self, fresh_since: Option<i64>) -> Self {
        self.refreshed.retain(|(refreshed, _)| fresh_since.is_some_and(|since| *refreshed >= since));
        self
    }

    /// The table, of which only the first rows in some order are needed.
    #[must_use]
    pub(crate) fn with_first(&self, first: FirstRows) -> Self {
        Self { first: Some(first), ..self.clone() }
    }

    /// The table, of which one row is enough per combination of the columns that are read.
    #[must_use]
    pub(crate) fn with_groups(&self) -> Self {
        Self { groups: true, ..self.clone() }
    }

    /// The table, in which joins look up rows by about `values` values of a column.
    #[must_use]
    pub(crate) fn with_lookups(&self, column: usize, values: f64) -> Self {
        let mut with_lookup = self.clone();
        with_lookup.lookups.push((column, values));
        with_lookup
    }

    /// The table of a scan, if it is a catalog table.
    pub(crate) fn of(scan: &TableScan) -> Option<&Self> {
        let source = (scan.source.as_ref() as &dyn Any).downcast_ref::<DefaultTableSource>()?;
        (source.table_provider.as_ref() as &dyn Any).downcast_ref::<Self>()
    }

    pub(crate) fn table(&self) -> &Table {
        self.codec.table()
    }

    /// The read view, if the table is bound.
    pub(crate) fn reader(&self) -> Option<&ReadView> {
        self.reader.as_ref()
    }

    /// Its indexes.
    pub(crate) fn indexes(&self) -> &[Arc<TableIndex>] {
        &self.indexes
    }

    /// Has it a readable index?
    pub(crate) fn is_indexed(&self) -> bool {
        !self.indexes.is_empty()
    }

    /// The codec of the table's rows.
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
        // Physical planning of very many tables has no other check.
        interrupt::check()?;
        let reader = self.reader.clone().ok_or_else(|| QueryError::internal("a scan of a table without a view"))?;
        let asked = Asked {
            table: &self.codec,
            indexes: &self.indexes,
            refreshed: &self.refreshed,
            reader: &reader,
            rules: &self.rules,
            projection: &projection,
            filters,
            fetch,
            first: self.first.as_ref(),
            groups: self.groups,
            lookups: &self.lookups,
        };
        let chosen = asked.choose().await?;
        let direction = asked
            .direction(&chosen.source, &chosen.path)
            .filter(|_| self.first.as_ref().is_some_and(FirstRows::is_computed));
        let partitions = self.partitions(session, &reader, &chosen, &projection, fetch).await?;
        let decoder = chosen.source.decoder(&projection)?;
        let (checks, entry_checks) = self.all_checks(session, &chosen.source, &chosen.path)?;
        let estimate = self.estimate(&reader, &chosen, &checks, &decoder, &projection).await;
        let Chosen { source, path, partner, cost, skips, knowledge, .. } = chosen;
        let finders = self.finders(&source, filters);
        let handed_out = DFSchema::try_from(decoder.schema().as_ref().clone())?;
        // An index expression gives an output order only if all its columns are in the output.
        let computed = source.computed_key(|expr| session.create_physical_expr(expr.clone(), &handed_out).ok());
        let other = partner.map(|partner| self.other_index(session, &source, partner)).transpose()?;
        let scan = RegionScanExec::new(ScanParts {
            source,
            reader,
            path,
            projection,
            decoder,
            checks,
            entry_checks,
            other,
            partitions,
            fetch,
            estimate,
            cost: cost.cost,
            skips,
            finders,
            knowledge,
            computed,
        })?;
        // DataFusion does not push sorts by expressions down to a scan, so the scan takes that order itself.
        match direction {
            Some(reverse) => scan.ordered(reverse),
            None => Ok(scan),
        }
    }

    /// The key ranges of each partition.
    async fn partitions(
        &self,
        session: &dyn Session,
        reader: &ReadView,
        chosen: &Chosen,
        projection: &[usize],
        fetch: Option<usize>,
    ) -> QueryResult<Partitions> {
        let Chosen { source, path, ranges, size, partner, .. } = chosen;
        if ranges.is_empty() {
            return Ok(Partitions::default());
        }
        // Rows that are only counted are not read: the store counts whole tables, but not parts of them.
        let counted =
            projection.is_empty() && path.checks_nothing() && source.fetched_by().is_none() && partner.is_none();
        // A set of rowkeys is built for one task only.
        let is_alone = self.rules.serial || partner.as_ref().is_some_and(|partner| !partner.merges);
        let target = session.config().target_partitions();
        match if counted || is_alone { 1 } else { partition_count(target, source, path, *size, fetch) } {
            1 => Ok(Partitions::one(ranges.clone())),
            count => {
                let split = reader.split(source.scanned().table().storage_id(), FAMILY, ranges, count).await?;
                Partitions::of_split(split, (source, path), reader, size.rows).await
            }
        }
    }

    /// The estimated number of rows, and statistics of the output columns.
    async fn estimate(
        &self,
        reader: &ReadView,
        chosen: &Chosen,
        checks: &RowChecks,
        decoder: &RowDecoder,
        projection: &[usize],
    ) -> Estimate {
        let Chosen { source, ranges, size, partner, cost, is_known, knowledge, .. } = chosen;
        let unsampled = match knowledge {
            Some(knowledge) => scan_statistics::estimate(self.codec.table(), knowledge, projection, cost.rows),
            None => Estimate { rows: size.rows, columns: None },
        };
        // If a filter is about more than the values of single columns, a sample is more accurate than statistics.
        // Sampling may fail on a row that the statement never reads.
        if !self.sampled || *is_known || partner.is_some() {
            return unsampled;
        }
        let sampling = Sampling { source, reader, ranges, size: *size, checks, decoder, projection };
        sampling.estimate().await.unwrap_or(unsampled)
    }

    /// The checks on the table's rows, and those on entries before their rows are fetched.
    fn all_checks(
        &self,
        session: &dyn Session,
        source: &ScanSource,
        path: &AccessPath,
    ) -> QueryResult<(RowChecks, RowChecks)> {
        let here = self.checks(session, &path.scanned, &|columns| source.scanned_decoder(columns))?;
        Ok(match source.fetched_by() {
            Some(_) => (self.checks(session, &path.fetched, &|columns| source.decoder(columns))?, here),
            None => (here, RowChecks::default()),
        })
    }

    /// The other index of an intersection.
    fn other_index(
        &self,
        session: &dyn Session,
        source: &ScanSource,
        partner: Partner,
    ) -> QueryResult<(Partner, OtherIndex)> {
        let entries = ScanSource::index(&self.codec, &partner.index, false);
        let own = source.used_index().map(|index| index.own_parts());
        let own = own.ok_or_else(|| QueryError::internal("an intersection without an index"))?;
        let parts = partner.index.own_parts();
        let other = OtherIndex {
            codec: partner.index.codec.clone(),
            ranges: partner.ranges.clone(),
            filter: partner.path.scanned.store.clone(),
            checks: self.checks(session, &partner.path.scanned, &|columns| entries.scanned_decoder(columns))?,
            merged: partner.merges.then_some(Merged { own, other: parts }),
            begins_with_prefix: partner.path.ranges.parts_used == parts,
            kept: Arc::default(),
        };
        Ok((partner, other))
    }

    /// Indexes by which dynamic filters may find rows; none if the scan uses an index already.
    fn finders(&self, source: &ScanSource, filters: &[Expr]) -> Vec<Finder> {
        if self.rules.choice == IndexChoice::Off || source.used_index().is_some() {
            return Vec::new();
        }
        let finder = |index: &Arc<TableIndex>| {
            let condition = |filter: &Expr| index.key_condition(Mode::Values, filter);
            Finder { index: Arc::clone(index), conditions: filters.iter().map(condition).collect() }
        };
        self.indexes.iter().filter(|index| index.left_of(filters).is_some()).map(finder).collect()
    }

    /// Filters as row checks, each with a decoder of the columns that it references.
    fn checks(&self, session: &dyn Session, filters: &Filters, decoder: DecoderOf<'_>) -> QueryResult<RowChecks> {
        let filter = self.check(session, &filters.rows, decoder)?;
        let recheck = self.check(session, &filters.bytes, decoder)?;
        Ok(RowChecks { recheck, filter, dynamic: Vec::new() })
    }

    /// The conjunction of `filters` as one row check.
    fn check(&self, session: &dyn Session, filters: &[Expr], decoder: DecoderOf<'_>) -> QueryResult<Option<RowCheck>> {
        let Some(filter) = conjunction(filters.iter().cloned()) else { return Ok(None) };
        let columns = columns_of(&self.codec, &filter);
        let schema = DFSchema::try_from(self.schema.project(&columns)?)?;
        let predicate = session.create_physical_expr(filter, &schema)?;
        Ok(Some(RowCheck { predicate, decoder: decoder(&columns)? }))
    }

    /// Is the column part of the key?
    pub fn is_key(&self, index: usize) -> bool {
        matches!(self.codec.places().get(index), Some(Place::Key(_)))
    }
}

/// Creates a decoder of some columns of the table.
type DecoderOf<'a> = &'a dyn Fn(&[usize]) -> QueryResult<RowDecoder>;

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
        // Which refreshed indexes may be read is known only at execution.
        let refreshed = || self.refreshed.iter().map(|(_, index)| index);
        let taken = |filter: &&Expr| pushdown(&self.codec, self.indexes.iter().chain(refreshed()), filter);
        Ok(filters.iter().map(taken).collect())
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
