//! Views: where a query names one, the view's own query stands in its place.

use super::output::Fitting;
use super::parameters::Parameters;
use super::stop::step;
use super::{OutputColumn, Planner, guarded, names, output};
use crate::context::QueryContext;
use crate::convert::{ORIGIN_KEY, TYPE_KEY};
use crate::error::{QueryError, QueryResult};
use crate::optimizer;
use catalog::{ColumnId, TableOid, View, ViewRead};
use datafusion::catalog::TableProvider;
use datafusion::common::metadata::FieldMetadata;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Column, Result};
use datafusion::datasource::ViewTable;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use sql::ast;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// What a view is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewDefinition {
    /// The columns of its query.
    pub columns: Vec<OutputColumn>,
    /// Tables, views and columns that it reads.
    pub reads: Vec<ViewRead>,
}

impl Planner {
    /// Looks a view's query through.
    ///
    /// # Errors
    /// As [`Planner::plan`].
    pub async fn view_definition(&self, cx: &QueryContext, query: &ast::Query) -> QueryResult<ViewDefinition> {
        guarded(Box::pin(async {
            let statement = self.prepared(cx, query)?;
            let mut parameters = Parameters::new(0, &[]);
            let logical = self.logical(cx, &statement, &mut parameters, &[]).await?;
            let reads = reads(cx, &logical.plan, &logical.relations)?;
            let (_, columns) = output::settle_output(
                logical.plan,
                self.state.config_options(),
                &optimizer::interruptible_analyzer(self.state.analyzer()),
                &Fitting::of(cx),
            )?;
            Ok(ViewDefinition { columns, reads })
        }))
        .await
    }

    /// The view as a table, and whether it reads computed tables.
    pub(super) async fn view_table(
        &self,
        cx: &QueryContext,
        view: &View,
    ) -> QueryResult<(Arc<dyn TableProvider>, bool)> {
        let query = sql::parse_query(&view.query)
            .map_err(|error| QueryError::internal(format!("the query of view {}: {error}", view.name)))?;
        let cx = QueryContext { search_path: view.search_path.clone(), ..cx.clone() };
        let mut parameters = Parameters::new(0, &[]);
        let logical = self.logical(&cx, &self.prepared(&cx, &query)?, &mut parameters, &[]).await?;
        let columns = columns(view, &logical.plan, &Fitting::of(&cx))?;
        let plan = LogicalPlanBuilder::from(logical.plan).project(columns)?.build()?;
        Ok((Arc::new(ViewTable::new(plan, None)), logical.computed))
    }
}

/// The view's columns over those of its query. A `*` in it may have more of them now than when the view was made:
/// then they are found by their names.
fn columns(view: &View, plan: &LogicalPlan, fitting: &Fitting) -> QueryResult<Vec<Expr>> {
    let schema = plan.schema();
    let by_place = schema.fields().len() == view.columns.len();
    let mut found = Vec::with_capacity(view.columns.len());
    for (place, column) in view.columns.iter().enumerate() {
        let fits = |(at, (_, field)): &(usize, (_, &Arc<arrow::datatypes::Field>))| match by_place {
            true => *at == place,
            false => names::shown(field.name()) == column.name,
        };
        let Some((_, (qualifier, field))) = schema.iter().enumerate().find(fits) else {
            return Err(QueryError::internal(format!("view {} lost its column {}", view.name, column.name)));
        };
        let expr = fitting.fit(Expr::Column(Column::new(qualifier.cloned(), field.name())), field, &column.ty);
        let origin = format!("{}.{}", view.oid.0, place + 1);
        let metadata =
            BTreeMap::from([(TYPE_KEY.to_owned(), column.ty.column_name()), (ORIGIN_KEY.to_owned(), origin)]);
        found.push(expr.alias_with_metadata(column.name.clone(), Some(FieldMetadata::from(metadata))));
    }
    Ok(found)
}

/// What the query reads. Of tables, each column of a name that stands in the query: one too many does no harm.
fn reads(cx: &QueryContext, plan: &LogicalPlan, relations: &[TableOid]) -> Result<Vec<ViewRead>> {
    let mut named: HashSet<String> = HashSet::new();
    plan.apply_with_subqueries(|node| {
        step()?;
        node.apply_expressions(|expr| {
            named.extend(expr.column_refs().into_iter().map(|column| column.name.clone()));
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    let mut reads: Vec<ViewRead> = Vec::new();
    for relation in relations {
        if reads.iter().any(|read| read.relation == *relation) {
            continue;
        }
        let table = cx.catalog.table_by_oid(*relation);
        let columns = table.into_iter().flat_map(|table| &table.columns).filter(|column| named.contains(&column.name));
        let columns: Vec<ColumnId> = columns.map(|column| column.id).collect();
        reads.push(ViewRead { relation: *relation, columns });
    }
    Ok(reads)
}
