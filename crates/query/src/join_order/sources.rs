//! The tables of a plan that have statistics.

use crate::error::QueryResult;
use crate::exec::scan::FAMILY;
use crate::provider::RegionTable;
use catalog::{TableOid, TableStatistics};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::logical_expr::{LogicalPlan, TableScan};
use index::TableEstimator;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::KeyRange;

/// By table OID: the statistics, and the store's current row estimate.
#[derive(Debug, Default)]
pub(super) struct Sources(BTreeMap<TableOid, Source>);

#[derive(Debug)]
pub(super) struct Source {
    pub(super) table: RegionTable,
    statistics: Arc<TableStatistics>,
    rows: u64,
}

impl Sources {
    pub(super) async fn of(plan: &LogicalPlan) -> QueryResult<Self> {
        let mut tables: BTreeMap<TableOid, RegionTable> = BTreeMap::new();
        plan.apply_with_subqueries(|node| {
            if let LogicalPlan::TableScan(scan) = node
                && let Some(table) = RegionTable::of(scan)
            {
                tables.entry(table.codec().table().oid).or_insert_with(|| table.clone());
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        let mut all = Self::default();
        for (oid, table) in tables {
            let definition = table.codec().table();
            let (Some(statistics), Some(reader)) = (definition.statistics(), table.reader()) else { continue };
            let rows = reader.estimate(definition.storage_id(), FAMILY, &[KeyRange::all()]).await?.rows;
            all.0.insert(oid, Source { table, statistics, rows });
        }
        Ok(all)
    }

    pub(super) fn are_none(&self) -> bool {
        self.0.is_empty()
    }

    /// The source of a scan.
    pub(super) fn get(&self, scan: &TableScan) -> Option<&Source> {
        self.0.get(&RegionTable::of(scan)?.codec().table().oid)
    }
}

impl Source {
    pub(super) fn judged(&self) -> TableEstimator<'_> {
        TableEstimator::new(self.table.codec().table(), &self.statistics, self.rows)
    }

    /// Is the column the first part of the rowkey, or of an index that is not partial?
    pub(super) fn is_led_by(&self, name: &str) -> bool {
        let codec = self.table.codec();
        let columns = &codec.table().columns;
        let is = |column: Option<&usize>| {
            column.and_then(|column| columns.get(*column)).is_some_and(|column| column.name == name)
        };
        let by_index = self.table.indexes().iter().filter(|index| index.left_of(&[]).is_some());
        is(codec.key_columns().first())
            || by_index.into_iter().any(|index| is(index.key_columns().first().and_then(Option::as_ref)))
    }
}
