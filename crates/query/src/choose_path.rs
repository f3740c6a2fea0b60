//! Which way a scan takes to its rows: the ways there are, what is known of each, and the choice (`index::choose`).
//!
//! The choice is made when a statement is bound, with the values of its parameters. A table without indexes has one way,
//! and nothing is asked for it here.

use crate::access_path::AccessPath;
use crate::convert::expr_to_ranges::to_store_ranges;
use crate::error::QueryResult;
use crate::exec::order::KeyOrder;
use crate::exec::scan::FAMILY;
use crate::scan_source::{ScanSource, TableIndex};
use catalog::row_codec::RowCodec;
use datafusion::logical_expr::Expr;
use datafusion::physical_expr::PhysicalSortExpr;
use index::{IndexChoice, Reach, Source, Way, choose};
use rowkey::range::Access;
use std::collections::BTreeSet;
use std::sync::Arc;
use store::{KeyRange, TableSize};
use txn::ReadView;

/// The first rows in some order, as a statement wants them.
#[derive(Clone, Debug)]
pub(crate) struct FirstRows {
    /// Over the columns of the table.
    pub(crate) order: Vec<PhysicalSortExpr>,
    pub(crate) fetch: usize,
}

/// What is asked of a table.
pub(crate) struct Asked<'a> {
    pub(crate) table: &'a Arc<RowCodec>,
    pub(crate) indexes: &'a [Arc<TableIndex>],
    pub(crate) reader: &'a ReadView,
    pub(crate) choice: IndexChoice,
    /// Columns of the output.
    pub(crate) projection: &'a [usize],
    pub(crate) filters: &'a [Expr],
    /// Any so many rows.
    pub(crate) fetch: Option<usize>,
    pub(crate) first: Option<&'a FirstRows>,
}

/// A way to the rows.
pub(crate) struct Chosen {
    pub(crate) source: ScanSource,
    pub(crate) path: AccessPath,
    pub(crate) ranges: Vec<KeyRange>,
    /// What the ranges hold, about.
    pub(crate) size: TableSize,
}

impl Asked<'_> {
    /// The way to take.
    ///
    /// # Errors
    /// Those of the store when it is asked for sizes.
    pub(crate) async fn choose(&self) -> QueryResult<Chosen> {
        let source = ScanSource::table(self.table);
        let path = AccessPath::of(&source, self.filters, &|_| true);
        let whole = self.with_size(source, path).await?;
        if !self.has_choice(&whole.path) {
            return Ok(whole);
        }
        let mut ways = vec![self.way(&whole)];
        let mut all = vec![whole];
        for index in self.indexes {
            if let Some((source, path)) = self.by_index(index) {
                let found = self.with_size(source, path).await?;
                ways.push(self.way(&found));
                all.push(found);
            }
        }
        let fetch = self.first.map_or(self.fetch, |first| Some(first.fetch));
        let best = choose(self.choice, &ways, fetch);
        Ok(all.swap_remove(best.min(all.len() - 1)))
    }

    /// Is there anything to be gained by an index?
    fn has_choice(&self, whole: &AccessPath) -> bool {
        let counted = self.projection.is_empty() && self.filters.is_empty();
        match whole.ranges.access {
            _ if self.indexes.is_empty() || self.choice == IndexChoice::Off => false,
            // The store counts the rows of a whole table without reading them.
            _ if counted => self.choice == IndexChoice::Force,
            Access::Empty => false,
            Access::Points(points) => points > 1 || self.choice == IndexChoice::Force,
            _ => true,
        }
    }

    /// The path by an index, if it leads to the rows in a way that could be a good one.
    fn by_index(&self, index: &Arc<TableIndex>) -> Option<(ScanSource, AccessPath)> {
        let left = index.left_of(self.filters)?;
        let in_entries = |filter: &Expr| index.has_all(&columns_of(self.table, filter));
        let fetching = ScanSource::index(self.table, index, false);
        let path = AccessPath::of(&fetching, &left, &in_entries);
        let is_left = |filters: &crate::access_path::Filters| !filters.rows.is_empty() || !filters.bytes.is_empty();
        let covers = index.has_all(self.projection) && !is_left(&path.fetched);
        let narrows = path.ranges.parts_used > 0 && path.ranges.access != Access::Full;
        let sorts = self.first.is_some() && self.gives_order(&fetching, &path);
        (narrows || covers || sorts).then(|| (ScanSource::index(self.table, index, covers), path))
    }

    async fn with_size(&self, source: ScanSource, path: AccessPath) -> QueryResult<Chosen> {
        let ranges = to_store_ranges(&path.ranges.ranges);
        let size = match path.ranges.access {
            Access::Empty => TableSize::default(),
            Access::Points(points) => TableSize { rows: points as u64, bytes: 0 },
            _ => self.reader.estimate(source.scanned().table().storage_id(), FAMILY, &ranges).await?,
        };
        Ok(Chosen { source, path, ranges, size })
    }

    fn way(&self, found: &Chosen) -> Way {
        let Chosen { source, path, ranges, size } = found;
        let own_parts = source.used_index().filter(|index| index.codec.index().unique).map(|index| index.own_parts());
        Way {
            source: match (source.used_index(), source.fetched_by()) {
                (None, _) => Source::Table,
                (Some(_), None) => Source::Covering,
                (Some(_), Some(_)) => Source::Fetching,
            },
            reach: match path.ranges.access {
                Access::Empty => Reach::Nothing,
                Access::Points(points) => Reach::Points(points as u64),
                Access::Range | Access::SkipScan => Reach::Ranges(ranges.len() as u64),
                Access::Full => Reach::All,
            },
            parts_used: path.ranges.parts_used,
            unique: own_parts.is_some_and(|parts| path.ranges.equal_parts >= parts),
            rows: size.rows,
            bytes: size.bytes,
            exact: path.checks_nothing(),
            ordered: self.first.is_none() || self.gives_order(source, path),
        }
    }

    /// Do the rows come in the order of the first rows that are wanted?
    fn gives_order(&self, source: &ScanSource, path: &AccessPath) -> bool {
        let all: Vec<usize> = (0..self.table.table().columns.len()).collect();
        let order = KeyOrder::new(source, &all, path.ranges.equal_parts);
        self.first.is_some_and(|first| order.direction_for(&first.order).is_some())
    }
}

/// The columns of a table that an expression names.
pub(crate) fn columns_of(table: &RowCodec, expr: &Expr) -> Vec<usize> {
    let names: BTreeSet<&str> = expr.column_refs().iter().map(|column| column.name.as_str()).collect();
    let columns = table.table().columns.iter().enumerate();
    columns.filter(|(_, column)| names.contains(column.name.as_str())).map(|(at, _)| at).collect()
}
