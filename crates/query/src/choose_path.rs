//! Which access path a scan takes to its rows: those that there are, what is known of each, and the choice
//! (`index::choose`).
//!
//! The choice is made when a statement is bound, with the values of its parameters. A table without indexes has one access
//! path, and nothing is asked for it here.

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
    CandidatePath, Cost, Expected, IndexChoice, Judged, JudgedPath, Lookups, Reach, ScanRules, Source, choose,
};
use rowkey::range::{Access, Condition, RangeLimits};
use std::collections::BTreeSet;
use std::sync::Arc;
use store::{KeyRange, TableSize};
use txn::ReadView;
use types::interrupt;

/// Going to a place in the table takes as long as reading so many rows that lie side by side.
const ROWS_OF_A_SEEK: u64 = 16;

/// The first rows in some order, as a statement wants them.
#[derive(Clone, Debug)]
pub(crate) struct FirstRows {
    /// Over the columns of the table.
    pub(crate) order: Vec<PhysicalSortExpr>,
    pub(crate) fetch: usize,
}

impl FirstRows {
    /// Are they in the order of what is computed of columns?
    pub(crate) fn is_computed(&self) -> bool {
        self.order.iter().any(|sort| !sort.expr.is::<PhysicalColumn>())
    }
}

/// An expression over columns of a table, for comparing: two that are equal look alike.
pub(crate) fn computed_over(table: &RowCodec, expr: &Expr) -> Option<Arc<dyn PhysicalExpr>> {
    let schema = DFSchema::try_from(table_schema(table.table()).as_ref().clone()).ok()?;
    create_physical_expr(&bare(expr.clone()), &schema, &ExecutionProps::new(), &Default::default()).ok()
}

/// What is asked of a table.
pub(crate) struct Asked<'a> {
    pub(crate) table: &'a Arc<RowCodec>,
    pub(crate) indexes: &'a [Arc<TableIndex>],
    /// Those that are refreshed and may be read, with the time when that was.
    pub(crate) refreshed: &'a [(i64, Arc<TableIndex>)],
    pub(crate) reader: &'a ReadView,
    pub(crate) rules: &'a ScanRules,
    /// Columns of the output.
    pub(crate) projection: &'a [usize],
    pub(crate) filters: &'a [Expr],
    /// Any so many rows.
    pub(crate) fetch: Option<usize>,
    pub(crate) first: Option<&'a FirstRows>,
    /// Is each combination of the columns that are read wanted once?
    pub(crate) groups: bool,
    /// Columns by which joins look rows up, each with the number of values.
    pub(crate) lookups: &'a [(usize, f64)],
}

/// An access path to the rows.
#[derive(Clone)]
pub(crate) struct Chosen {
    pub(crate) source: ScanSource,
    pub(crate) path: AccessPath,
    pub(crate) ranges: Vec<KeyRange>,
    /// What the ranges hold, about.
    pub(crate) size: TableSize,
    /// The filters that it is about: what a partial index says by itself is left out.
    pub(crate) left: Vec<Expr>,
    /// Another index, of which only those rowkeys count that both have.
    pub(crate) partner: Option<Partner>,
    /// What it costs and gives.
    pub(crate) cost: Cost,
    /// Are the rows that it gives told by statistics alone?
    pub(crate) is_known: bool,
    pub(crate) knowledge: Option<Knowledge>,
    /// Leading parts of the key: of rows that are equal in these one is enough.
    pub(crate) skips: Option<usize>,
}

/// What is known of the table.
#[derive(Clone, Debug)]
pub(crate) struct Knowledge {
    pub(crate) statistics: Arc<TableStatistics>,
    /// Rows, as the store says.
    pub(crate) rows: u64,
}

impl Asked<'_> {
    /// The access path to take.
    ///
    /// # Errors
    /// Those of the store when it is asked for sizes.
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
            // Old entries are answers of a moment of their own only without rows of this one.
            for (_, index) in self.refreshed {
                if let Some((source, path, left)) = self.by_index(index).filter(|found| found.0.fetched_by().is_none())
                {
                    all.push(self.with_size(source, path, left).await?);
                }
            }
        }
        let mut candidates: Vec<CandidatePath> =
            all.iter().map(|found| self.candidate(found, knowledge.as_ref())).collect();
        // Conditions of the statement that narrow an index are surer than what joins may look up.
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

    /// The access path by the table's own key. Where conditions list more values than a table of that size is worth, it has the
    /// wider ranges that other conditions have.
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

    /// What statistics there are, and how many rows there are now.
    async fn knowledge(&self, whole: &Chosen) -> QueryResult<Option<Knowledge>> {
        let table = self.table.table();
        let Some(statistics) = table.statistics() else { return Ok(None) };
        let rows = match whole.path.ranges.access {
            Access::Full | Access::Empty => whole.size.rows,
            _ => self.reader.estimate(table.storage_id(), FAMILY, &[KeyRange::all()]).await?.rows,
        };
        Ok(Some(Knowledge { statistics, rows }))
    }

    /// What filters say about the columns of the table, each under its place.
    fn of_columns(&self, filters: &[Expr]) -> Vec<Condition> {
        let table = self.table.table();
        let part_of = |column: &Column| {
            let place = table.columns.iter().position(|own| own.name == column.name)?;
            Some((place, table.columns.get(place)?.ty))
        };
        let builder = ConditionBuilder::new(Mode::Values, &part_of);
        filters.iter().map(|filter| builder.condition(filter)).collect()
    }

    /// Is there anything to be gained by an index?
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

    /// The path by an index, if it leads to the rows in a way that could be a good one.
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

    /// The place of an index among those that a hint names.
    fn preferred(&self, index: &TableIndex) -> Option<usize> {
        self.rules.place_of(&index.codec.index().name)
    }

    async fn with_size(&self, source: ScanSource, path: AccessPath, left: Vec<Expr>) -> QueryResult<Chosen> {
        // Conditions may list very many values, and each index makes ranges of its own of them.
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

    /// The parts that all columns are in that are read: rows that are equal in them are equal in all that anybody sees.
    fn skips(&self, source: &ScanSource, path: &AccessPath, filters: &[Expr]) -> Option<usize> {
        let reads_ranges = matches!(path.ranges.access, Access::Range | Access::SkipScan | Access::Full);
        if !self.groups || self.fetch.is_some() || source.fetched_by().is_some() || !reads_ranges {
            return None;
        }
        // Equal numerics may be written differently, and what is computed of them may tell them apart.
        let keeps = |column: usize| {
            let column = self.table.table().columns.get(column);
            column.is_some_and(|column| catalog::key_keeps_value(column.ty))
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

    /// About how many groups there are of rows that are equal in the first parts.
    fn groups(&self, found: &Chosen, knowledge: Option<&Knowledge>) -> Option<f64> {
        let (parts, knowledge) = (found.skips?, knowledge?);
        let judged = Judged::new(self.table.table(), &knowledge.statistics, knowledge.rows);
        let key = found.source.key_columns();
        let distinct = |column: &Option<usize>| judged.column((*column)?)?.distinct_of(judged.rows());
        key.iter().take(parts).map(distinct).try_fold(1.0, |all, distinct| Some(all * distinct?))
    }

    /// What is known of an access path, for the choice.
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

    /// The look-ups of joins that lead to its rows: by its own key, or by that of an index that only they use.
    fn lookups(&self, source: &ScanSource, knowledge: Option<&Knowledge>) -> Option<Lookups> {
        let knowledge = knowledge.filter(|_| !self.lookups.is_empty() && source.fetched_by().is_none())?;
        let judged = Judged::new(self.table.table(), &knowledge.statistics, knowledge.rows);
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
        let candidate = JudgedPath {
            index: index.map(|index| (index.codec.index(), index.entries.table().as_ref())),
            key: &source.key_columns(),
            conditions: &path.conditions,
            parts_used: path.ranges.parts_used,
            columns: &self.of_columns(left),
            on_entries: &on_entries,
        };
        Judged::new(self.table.table(), &knowledge.statistics, knowledge.rows).expect(&candidate)
    }

    /// Do the rows come in the order of the first rows that are wanted?
    fn gives_order(&self, source: &ScanSource, path: &AccessPath) -> bool {
        self.direction(source, path).is_some()
    }

    /// The direction of a scan that gives that order.
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

/// Is a condition one that statistics of columns can judge?
fn is_judgeable(condition: &Condition) -> bool {
    match condition {
        Condition::And(all) | Condition::Or(all) => all.iter().all(is_judgeable),
        Condition::Unknown => false,
        _ => true,
    }
}

/// The columns of a table that an expression names.
pub(crate) fn columns_of(table: &RowCodec, expr: &Expr) -> Vec<usize> {
    let names: BTreeSet<&str> = expr.column_refs().iter().map(|column| column.name.as_str()).collect();
    let columns = table.table().columns.iter().enumerate();
    columns.filter(|(_, column)| names.contains(column.name.as_str())).map(|(at, _)| at).collect()
}
