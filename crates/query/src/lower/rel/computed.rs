//! Computed relations: catalog views and sequences.

use crate::context::QueryContext;
use crate::error::QueryResult;
use crate::lower::Lowering;
use crate::lower::error::{LowerResult, internal};
use crate::lower::rel::computed;
use crate::lower::scalar::constant::constant;
use ::bind::ComputedRelation;
use ::bind::tree::{Body, Bound, ColId, CteBody, Kind, Query, Rel, Scalar};
use builtins::{Ty, TypeId};
use datafusion::catalog::TableProvider;
use datafusion::common::Column;
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Projection};
use std::collections::HashMap;
use std::sync::Arc;
use types::Datum;

/// The table providers of a statement's computed relations, by schema and name.
pub(in crate::lower) type Providers = HashMap<(String, String), Arc<dyn TableProvider>>;

/// Looks up the computed relations of a statement. The lookup is asynchronous, lowering is not.
///
/// # Errors
/// Errors of a schema.
pub(in crate::lower) async fn providers(cx: &QueryContext, bound: &Bound) -> QueryResult<Providers> {
    let mut relations = Vec::new();
    if let Body::Query(query) = &bound.body {
        in_query(query, &mut relations);
    }
    let mut found = Providers::new();
    for relation in relations {
        let Some(schema) = cx.computed_schema(&relation.schema) else { continue };
        if let Some(table) = schema.table(&relation.name).await? {
            found.insert((relation.schema.clone(), relation.name.clone()), table);
        }
    }
    Ok(found)
}

fn in_query<'b>(query: &'b Query, into: &mut Vec<&'b ComputedRelation>) {
    for cte in &query.ctes {
        match &cte.body {
            CteBody::Inline(rel) | CteBody::Either(rel) | CteBody::Materialized(rel) => in_rel(rel, into),
            CteBody::Recursive { base, step, .. } => {
                in_rel(base, into);
                in_rel(step, into);
            }
        }
    }
    in_rel(&query.rel, into);
}

fn in_rel<'b>(rel: &'b Rel, into: &mut Vec<&'b ComputedRelation>) {
    if let Rel::Computed { relation, .. } = rel {
        into.push(relation);
    }
    rel.each_scalar(&mut |value| in_scalar(value, into));
    rel.each_input(&mut |input| in_rel(input, into));
}

fn in_scalar<'b>(value: &'b Scalar, into: &mut Vec<&'b ComputedRelation>) {
    if let Kind::Subquery(subquery) = &value.kind {
        in_rel(&subquery.rel, into);
    }
    value.each_operand(&mut |operand| in_scalar(operand, into));
}

impl Lowering<'_> {
    pub(in crate::lower) fn computed_scan(
        &mut self,
        relation: &ComputedRelation,
        cols: &[ColId],
        oid: Option<ColId>,
    ) -> LowerResult<LogicalPlan> {
        let key = (relation.schema.clone(), relation.name.clone());
        let Some(provider) = self.providers.get(&key).cloned() else {
            return internal(format!("relation {}.{} in this place", relation.schema, relation.name));
        };
        // Its rows depend on the session and the current state, so the plan must not be shared.
        self.calls_bound = true;
        let qualifier = self.columns.qualifier(&relation.name);
        for (id, column) in cols.iter().zip(&relation.columns) {
            self.columns.of_table(*id, &qualifier, &column.name);
        }
        let plan = LogicalPlanBuilder::scan(qualifier, provider_as_source(provider), None)?.build()?;
        match oid {
            Some(id) => self.with_oid(plan, relation.oid, id),
            None => Ok(plan),
        }
    }

    /// Adds `tableoid` to the columns.
    fn with_oid(&mut self, plan: LogicalPlan, oid: u32, id: ColId) -> LowerResult<LogicalPlan> {
        let mut exprs: Vec<Expr> = plan.schema().columns().into_iter().map(Expr::Column).collect();
        let Column { name, .. } = self.columns.computed(id, "tableoid");
        let oid = constant(&Datum::Int8(i64::from(oid)), Ty::plain(TypeId::OID))?;
        exprs.push(oid.alias_qualified(computed(), name));
        Ok(LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(plan))?))
    }
}
