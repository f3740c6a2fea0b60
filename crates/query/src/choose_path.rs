//! Chooses the access path of a scan: collects the candidates, estimates each, and calls `index::choose`.
//!
//! The choice is made when a statement is bound, with the values of its parameters. A table without indexes has one
//! access path, and needs no choice.

use crate::access_path::{AccessPath, Checked};
use crate::bound_index::bare;
use crate::convert::expr_to_condition::{ConditionBuilder, Mode};
use crate::convert::expr_to_ranges::{range_limits, to_store_ranges};
use crate::convert::table_schema;
use crate::error::QueryResult;
use crate::exec::order::KeyOrder;
use crate::exec::scan::FAMILY;
use crate::intersected::Partner;
use crate::scan_source::{ScanSource, TableIndex};
use catalog::TableStatistics;
use catalog::row_codec::RowCodec;
use datafusion::common::{Column, DFSchema};
use datafusion::execution::context::ExecutionProps;
use datafusion::logical_expr::Expr;
use datafusion::physical_expr::expressions::Column as PhysicalColumn;
use datafusion::physical_expr::{PhysicalExpr, PhysicalSortExpr, create_physical_expr};
use index::{
    CandidatePath, Cost, EstimatorPath, Expected, IndexChoice, Lookups, Reach, ScanRules, Source, TableEstimator,
    choose,
};
use rowkey::range::{Access, Condition, RangeLimits};
use std::collections::BTreeSet;
use std::sync::Arc;
use store::{KeyRange, TableSize};
use txn::ReadView;
use types::interrupt;

/// The cost of a seek in the table, in rows of a sequential scan.
const ROWS_OF_A_SEEK: u64 = 16;

/// The first rows in some order, as required by ORDER BY and LIMIT.
#[derive(Clone, Debug)]
pub(crate) struct FirstRows {
    /// Over the columns of the table.
    pub(crate) order: Vec<PhysicalSortExpr>,
    pub(crate) fetch: usize,
}

impl FirstRows {
    /// Is a sort key an expression?
    pub(crate) fn is_computed(&self) -> bool {
        self.order.iter().any(|sort| !sort.expr.is::<PhysicalColumn>())
    }
}

/// The physical expression over the columns of a table, for comparison: equal expressions compare equal.
pub(crate) fn computed_over(table: &RowCodec, expr: &Expr) -> Option<Arc<dyn PhysicalExpr>> {
    let schema = DFSchema::try_from(table_schema(table.table()).as_ref().clone()).ok()?;
    create_physical_expr(&bare(expr.clone()), &schema, &ExecutionProps::new(), &Default::default()).ok()
}

/// The requirements of a scan.
pub(crate) struct Asked<'a> {
    pub(crate) table: &'a Arc<RowCodec>,
    pub(crate) indexes: &'a [Arc<TableIndex>],
    /// Refreshed indexes that may be read, each with the time of its refresh.
    pub(crate) refreshed: &'a [(i64, Arc<TableIndex>)],
    pub(crate) reader: &'a ReadView,
    pub(crate) rules: &'a ScanRules,
    /// The output columns.
    pub(crate) projection: &'a [usize],
    pub(crate) filters: &'a [Expr],
    /// The limit, without an order.
    pub(crate) fetch: Option<usize>,
    pub(crate) first: Option<&'a FirstRows>,
    /// Is each distinct combination of the columns that are read needed only once?
    pub(crate) groups: bool,
    /// The columns by which joins look up rows, each with the number of values.
    pub(crate) lookups: &'a [(usize, f64)],
}

/// The chosen access path, or a candidate.
#[derive(Clone)]
pub(crate) struct Chosen {
    pub(crate) source: ScanSource,
    pub(crate) path: AccessPath,
    pub(crate) ranges: Vec<KeyRange>,
    /// The estimated size of the ranges.
    pub(crate) size: TableSize,
    /// The filters of the scan, without those that a partial index implies.
    pub(crate) left: Vec<Expr>,
    /// The other index of an intersection.
    pub(crate) partner: Option<Partner>,
    /// The estimated cost and number of rows.
    pub(crate) cost: Cost,
    /// Is the number of rows estimated from statistics of single columns alone?
    pub(crate) is_known: bool,
    pub(crate) knowledge: Option<Knowledge>,
    /// Leading key parts: one row is enough per group of rows equal in these.
    pub(crate) skips: Option<usize>,
}

/// The statistics of the table.
#[derive(Clone, Debug)]
pub(crate) struct Knowledge {
    pub(crate) statistics: Arc<TableStatistics>,
    /// The store's current estimate of its rows.
    pub(crate) rows: u64,
}

impl Asked<'_> {
    /// Chooses the access path.
    ///
    /// # Errors
    /// Errors of the store's size estimates.
    pub(crate) async fn choose(&self) -> QueryResult<Chosen> {
        let whole = self.by_rowkey().await?;
        let knowledge = self.knowledge(&whole).await?;
        let (mut all, mut both) = (vec![whole], Vec::new());
        if all.first().is_some_and(|whole| self.has_choice(&whole.path)) {
            for index in self.indexes {
                if let Some((source, path, left)) = self.by_index(index) {
                    all.push(self.with_size(source, path, left).await?);
                }
            }
            both = self.intersections(&all, knowledge.as_ref());
            // Entries of an earlier refresh are a consistent state only without current rows, so only covering indexes
            // qualify.
            for (_, index) in self.refreshed {
                if let Some((source, path, left)) = self.by_index(index).filter(|found| found.0.fetched_by().is_none())
                {
                    all.push(self.with_size(source, path, left).await?);
                }
            }
        }
        let mut candidates: Vec<CandidatePath> =
            all.iter().map(|found| self.candidate(found, knowledge.as_ref())).collect();
        // The statement's own conditions on an index are more reliable than the estimated lookups of joins.
        if !all.iter().any(|found| found.source.used_index().is_some() && found.path.narrows()) {
            for (candidate, found) in candidates.iter_mut().zip(&all) {
                candidate.lookups = self.lookups(&found.source, knowledge.as_ref());
            }
        }
        for (found, candidate) in both {
            all.push(found);
            candidates.push(candidate);
        }
        let fetch = self.first.map_or(self.fetch, |first| Some(first.fetch));
        let best = choose(self.rules.choice, &candidates, fetch).min(all.len() - 1);
        let mut chosen = all.swap_remove(best);
        if let Some(candidate) = candidates.get(best) {
            chosen.cost = candidate.estimate(fetch);
            chosen.is_known = candidate.expected.is_some() && self.of_columns(&chosen.left).iter().all(is_judgeable);
        }
        chosen.knowledge = knowledge;
        Ok(chosen)
    }

    /// The access path by the rowkey. If the conditions list more values than pays off for the size of the table, it
    /// gets the wider ranges of other conditions.
    async fn by_rowkey(&self) -> QueryResult<Chosen> {
        let source = ScanSource::table(self.table);
        let path_of = |limits: &RangeLimits| AccessPath::of(&source, self.filters, &|_| Checked::OnScanned, limits);
        let limits = range_limits(self.table, self.rules.one_range);
        let mut path = path_of(&limits);
        let ranges = path.ranges.ranges.len();
        if ranges > limits.max_ranges {
            let all = self.reader.estimate(self.table.table().storage_id(), FAMILY, &[KeyRange::all()]).await?;
            if all.rows / ROWS_OF_A_SEEK < ranges as u64 {
                path = path_of(&RangeLimits::of(limits.max_ranges));
            }
        }
        self.with_size(source, path, self.filters.to_vec()).await
    }

    /// The statistics, and the current number of rows.
    async fn knowledge(&self, whole: &Chosen) -> QueryResult<Option<Knowledge>> {
        let table = self.table.table();
        let Some(statistics) = table.statistics() else { return Ok(None) };
        let rows = match whole.path.ranges.access {
            Access::Full | Access::Empty => whole.size.rows,
            _ => self.reader.estimate(table.storage_id(), FAMILY, &[KeyRange::all()]).await?.rows,
        };
        Ok(Some(Knowledge { statistics, rows }))
    }

    /// The conditions of the filters on the columns of the table, by column index.
    fn of_columns(&self, filters: &[Expr]) -> Vec<Condition> {
        let table = self.table.table();
        let part_of = |column: &Column| {
            let place = table.columns.iter().position(|own| own.name == column.name)?;
            Some((place, table.columns.get(place)?.ty))
        };
        let builder = ConditionBuilder::new(Mode::Values, &part_of);
        filters.iter().map(|filter| builder.condition(filter)).collect()
    }

    /// Can an index be better than the rowkey?
    fn has_choice(&self, whole: &AccessPath) -> bool {
        let counted = self.projection.is_empty() && self.filters.is_empty();
        match whole.ranges.access {
            _ if self.rules.choice == IndexChoice::Off || (self.indexes.is_empty() && self.refreshed.is_empty()) => {
                false
            }
            // The store counts the rows of a whole table without reading them.
            _ if counted => self.rules.choice == IndexChoice::Force,
            Access::Empty => false,
            Access::Points(points) => points > 1 || self.rules.choice == IndexChoice::Force || self.rules.has_hint(),
            _ => true,
        }
    }

    /// The path by an index, if it could be useful.
    fn by_index(&self, index: &Arc<TableIndex>) -> Option<(ScanSource, AccessPath, Vec<Expr>)> {
        let left = index.left_of(self.filters)?;
        let in_entries = |filter: &Expr| match index.has_all(&columns_of(self.table, filter)) {
            true => Checked::OnScanned,
            false => Checked::OnRows,
        };
        let fetching = ScanSource::index(self.table, index, false);
        let limits = range_limits(&index.entries, self.rules.one_range);
        let path = AccessPath::of(&fetching, &left, &in_entries, &limits);
        let is_left = |filters: &crate::access_path::Filters| !filters.rows.is_empty() || !filters.bytes.is_empty();
        let covers = index.has_all(self.projection) && !is_left(&path.fetched);
        let narrows = path.narrows();
        let sorts = self.first.is_some() && self.gives_order(&fetching, &path);
        let hinted = self.preferred(index).is_some();
        (narrows || covers || sorts || hinted).then(|| (ScanSource::index(self.table, index, covers), path, left))
    }

    /// The position of an index in a hint.
    fn preferred(&self, index: &TableIndex) -> Option<usize> {
        self.rules.place_of(&index.codec.index().name)
    }

    async fn with_size(&self, source: ScanSource, path: AccessPath, left: Vec<Expr>) -> QueryResult<Chosen> {
        // Conditions may list very many values, and each index derives its own ranges from them.
        interrupt::check()?;
        let ranges = to_store_ranges(&path.ranges.ranges);
        let size = match path.ranges.access {
            Access::Empty => TableSize::default(),
            Access::Points(points) => TableSize { rows: points as u64, bytes: 0 },
            _ => self.reader.estimate(source.scanned().table().storage_id(), FAMILY, &ranges).await?,
        };
        let cost = Cost { cost: 0.0, rows: size.rows as f64 };
        let skips = self.skips(&source, &path, &left);
        let (partner, knowledge) = (None, None);
        Ok(Chosen { source, path, ranges, size, left, partner, cost, is_known: false, knowledge, skips })
    }

    /// The number of leading key parts that contain all columns read: rows equal in these parts are equal for the
    /// statement.
    fn skips(&self, source: &ScanSource, path: &AccessPath, filters: &[Expr]) -> Option<usize> {
        let reads_ranges = matches!(path.ranges.access, Access::Range | Access::SkipScan | Access::Full);
        if !self.groups || self.fetch.is_some() || source.fetched_by().is_some() || !reads_ranges {
            return None;
        }
        // Equal numerics may have different scales, which expressions can observe.
        let keeps = |column: usize| {
            let column = self.table.table().columns.get(column);
            column.is_some_and(|column| catalog::key_preserves_value(column.ty))
        };
        let filtered = filters.iter().flat_map(|filter| columns_of(self.table, filter));
        let places = self
            .projection
            .iter()
            .copied()
            .chain(filtered)
            .map(|column| source.part_of(column).filter(|_| keeps(column)));
        let last = places.collect::<Option<Vec<usize>>>()?.into_iter().max()?;
        (last + 1 < source.scanned().key_schema().parts.len()).then_some(last + 1)
    }

    /// The estimated number of groups of rows that are equal in the first key parts.
    fn groups(&self, found: &Chosen, knowledge: Option<&Knowledge>) -> Option<f64> {
        let (parts, knowledge) = (found.skips?, knowledge?);
        let judged = TableEstimator::new(self.table.table(), &knowledge.statistics, knowledge.rows);
        let key = found.source.key_columns();
        let distinct = |column: &Option<usize>| judged.column((*column)?)?.distinct_of(judged.rows());
        key.iter().take(parts).map(distinct).try_fold(1.0, |all, distinct| Some(all * distinct?))
    }

    /// The estimates of an access path, for the choice.
    pub(crate) fn candidate(&self, found: &Chosen, knowledge: Option<&Knowledge>) -> CandidatePath {
        let Chosen { source, path, ranges, size, .. } = found;
        let own_parts = source.used_index().filter(|index| index.codec.index().unique).map(|index| index.own_parts());
        let kind = match (source.used_index(), source.fetched_by()) {
            (None, _) => Source::Table,
            (Some(_), None) => Source::Covering,
            (Some(_), Some(_)) => Source::Fetching,
        };
        let reach = Reach::of(path.ranges.access, ranges.len());
        CandidatePath {
            unique: own_parts.is_some_and(|parts| path.ranges.equal_parts >= parts),
            exact: path.checks_nothing(),
            ordered: self.first.is_none() || self.gives_order(source, path),
            expected: knowledge.map(|knowledge| self.expected(found, knowledge)),
            groups: self.groups(found, knowledge),
            preferred: source.used_index().and_then(|index| self.preferred(index)),
            ..CandidatePath::new(kind, reach, path.ranges.parts_used, *size)
        }
    }

    /// The join lookups that the path serves: by its own key, or by the key of an index that only the lookups use.
    fn lookups(&self, source: &ScanSource, knowledge: Option<&Knowledge>) -> Option<Lookups> {
        let knowledge = knowledge.filter(|_| !self.lookups.is_empty() && source.fetched_by().is_none())?;
        let judged = TableEstimator::new(self.table.table(), &knowledge.statistics, knowledge.rows);
        let finders =
            self.indexes.iter().filter(|index| source.used_index().is_none() && index.left_of(self.filters).is_some());
        let by_index = finders.map(|index| (index.key_columns().first().copied().flatten(), true));
        let own = (source.key_columns().first().copied().flatten(), false);
        let of = |(column, fetches): (Option<usize>, bool)| {
            let (column, keys) = self.lookups.iter().copied().find(|(asked, _)| Some(*asked) == column)?;
            let distinct = judged.column(column)?.distinct_of(judged.rows())?;
            Some(Lookups { keys, rows_of_each: judged.rows() / distinct.max(1.0), fetches })
        };
        std::iter::once(own).chain(by_index).find_map(of)
    }

    fn expected(&self, found: &Chosen, knowledge: &Knowledge) -> Expected {
        let Chosen { source, path, left, .. } = found;
        let index = source.used_index();
        let on_entries = |at: usize| {
            let Some((index, filter)) = index.zip(left.get(at)) else { return index.is_none() };
            index.has_all(&columns_of(self.table, filter)) || found.partner.is_some() && !path.leaves(filter)
        };
        let candidate = EstimatorPath {
            index: index.map(|index| (index.codec.index(), index.entries.table().as_ref())),
            key: &source.key_columns(),
            conditions: &path.conditions,
            parts_used: path.ranges.parts_used,
            columns: &self.of_columns(left),
            on_entries: &on_entries,
        };
        TableEstimator::new(self.table.table(), &knowledge.statistics, knowledge.rows).expect(&candidate)
    }

    /// Are the rows in the required order?
    fn gives_order(&self, source: &ScanSource, path: &AccessPath) -> bool {
        self.direction(source, path).is_some()
    }

    /// The scan direction that gives the required order.
    pub(crate) fn direction(&self, source: &ScanSource, path: &AccessPath) -> Option<bool> {
        let first = self.first?;
        let all: Vec<usize> = (0..self.table.table().columns.len()).collect();
        let computed = match first.is_computed() {
            true => source.computed_key(|expr| computed_over(self.table, expr)),
            false => Vec::new(),
        };
        KeyOrder::new(source, &all, path.ranges.equal_parts, computed).direction_for(&first.order)
    }
}

/// Can column statistics estimate the condition?
fn is_judgeable(condition: &Condition) -> bool {
    match condition {
        Condition::And(all) | Condition::Or(all) => all.iter().all(is_judgeable),
        Condition::Unknown => false,
        _ => true,
    }
}

/// The columns of a table that an expression references.
pub(crate) fn columns_of(table: &RowCodec, expr: &Expr) -> Vec<usize> {
    let names: BTreeSet<&str> = expr.column_refs().iter().map(|column| column.name.as_str()).collect();
    let columns = table.table().columns.iter().enumerate();
    columns.filter(|(_, column)| names.contains(column.name.as_str())).map(|(at, _)| at).collect()
}
