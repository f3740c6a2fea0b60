//! The output ordering of a scan, as DataFusion's properties.

use crate::key_partitions::Aligned;
use crate::scan_source::ScanSource;
use arrow::compute::SortOptions;
use arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{
    AcrossPartitions, ConstExpr, EquivalenceProperties, LexOrdering, Partitioning, PhysicalExpr, PhysicalSortExpr,
    RangePartitioning,
};
use std::sync::Arc;

/// The key parts of a scan's output.
#[derive(Clone, Debug)]
pub(crate) struct KeyOrder {
    parts: Vec<OrderPart>,
    /// The number of leading parts with one value in all rows.
    equal_parts: usize,
}

#[derive(Clone, Debug)]
struct OrderPart {
    /// The index of its column in the output, if it is there.
    output: Option<usize>,
    /// The expression of an expression key part, over the output.
    computed: Option<Arc<dyn PhysicalExpr>>,
    name: String,
    descending: bool,
    nulls_first: bool,
    nullable: bool,
}

impl KeyOrder {
    /// The key parts of the scanned table or index, mapped to `projection`. `computed` has for each part its expression
    /// over the output, if the part is an expression whose columns are all in the output.
    pub(crate) fn new(
        source: &ScanSource,
        projection: &[usize],
        equal_parts: usize,
        computed: Vec<Option<Arc<dyn PhysicalExpr>>>,
    ) -> Self {
        let computed = computed.into_iter().chain(std::iter::repeat(None));
        let columns = &source.table_codec().table().columns;
        let key = source.key_columns();
        let parts = key.iter().zip(&source.scanned().key_schema().parts).zip(computed).map(|((of, part), computed)| {
            let column = of.and_then(|of| columns.get(of));
            OrderPart {
                computed,
                output: of.and_then(|of| projection.iter().position(|index| *index == of)),
                name: column.map(|column| column.name.clone()).unwrap_or_default(),
                descending: part.descending,
                nulls_first: part.nulls_first,
                // A key part of an index is nullable even if its column is NOT NULL.
                nullable: part.nullable && column.is_none_or(|column| !column.not_null),
            }
        });
        Self { parts: parts.collect(), equal_parts }
    }

    /// The properties that DataFusion may rely on: the key order as far as its columns are in the output, and
    /// constants.
    pub(crate) fn properties(&self, schema: &SchemaRef, ordered: bool, reverse: bool) -> Result<EquivalenceProperties> {
        let order = if ordered { self.sort_exprs(reverse) } else { Vec::new() };
        let mut properties =
            EquivalenceProperties::new_with_orderings(Arc::clone(schema), (!order.is_empty()).then_some(order));
        let constants: Vec<ConstExpr> = self
            .parts
            .iter()
            .take(self.equal_parts)
            .filter_map(OrderPart::column)
            .map(|column| ConstExpr::new(column, AcrossPartitions::Uniform(None)))
            .collect();
        properties.add_constants(constants)?;
        Ok(properties)
    }

    /// The range partitioning by a key part; `None` if the output lacks the part's column.
    pub(crate) fn partitioning(&self, aligned: &Aligned) -> Option<Partitioning> {
        let part = self.parts.get(aligned.part)?;
        let key = LexOrdering::new([PhysicalSortExpr::new(part.column()?, part.options(false))])?;
        RangePartitioning::try_new(key, aligned.points.clone()).ok().map(Partitioning::Range)
    }

    /// The order as expressions over the output.
    pub(crate) fn sort_exprs(&self, reverse: bool) -> Vec<PhysicalSortExpr> {
        let mut order = Vec::new();
        for (number, part) in self.parts.iter().enumerate() {
            match part.column() {
                Some(column) => order.push(PhysicalSortExpr::new(column, part.options(reverse))),
                // The part is constant, so the next part's order is the order of the rows.
                None if number < self.equal_parts => {}
                None => break,
            }
        }
        order
    }

    /// The scan direction that gives the `wanted` order; `None` if neither does.
    pub(crate) fn direction_for(&self, wanted: &[PhysicalSortExpr]) -> Option<bool> {
        [false, true].into_iter().find(|reverse| self.gives(wanted, *reverse))
    }

    fn gives(&self, wanted: &[PhysicalSortExpr], reverse: bool) -> bool {
        let mut parts = self.parts.iter().enumerate();
        wanted.iter().all(|sort| {
            if self.parts.iter().take(self.equal_parts).any(|part| part.is(&sort.expr)) {
                return true;
            }
            let next = parts.by_ref().find(|(number, _)| *number >= self.equal_parts);
            next.is_some_and(|(_, part)| part.is(&sort.expr) && part.fits(sort.options, reverse))
        })
    }
}

impl OrderPart {
    /// Does the part have the values of an expression over the output?
    fn is(&self, expr: &Arc<dyn PhysicalExpr>) -> bool {
        match (expr.downcast_ref::<Column>(), &self.computed) {
            (Some(column), _) => self.output == Some(column.index()),
            (None, Some(computed)) => computed == expr,
            (None, None) => false,
        }
    }

    fn column(&self) -> Option<Arc<dyn PhysicalExpr>> {
        if let Some(computed) = &self.computed {
            return Some(Arc::clone(computed));
        }
        Some(Arc::new(Column::new(&self.name, self.output?)))
    }

    fn options(&self, reverse: bool) -> SortOptions {
        SortOptions { descending: self.descending != reverse, nulls_first: self.nulls_first != reverse }
    }

    fn fits(&self, wanted: SortOptions, reverse: bool) -> bool {
        let given = self.options(reverse);
        given.descending == wanted.descending && (!self.nullable || given.nulls_first == wanted.nulls_first)
    }
}
