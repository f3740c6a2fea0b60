//! Finds out whether a query can be refreshed incrementally, that is, whether its groups can be recomputed one by one.
//!
//! ```text
//!   [Project, Filter: HAVING]  over  Aggregate by keys  over  [Project, Filter: WHERE]  over  Scan of one table
//! ```
//! The checks use the bound tree, in which names, ordinals and aliases of GROUP BY are resolved. A refresh finds a
//! group in the view by its grouping keys, so each key must be an output column of the view.

use crate::Session;
use crate::error::{EngineError, EngineResult, Fault, fail};
use crate::statement::Source;
use bind::tree::{Body, Bound, ColId, Kind, Query, Rel, Scalar};
use builtins::{FuncId, Volatility};
use catalog::{Catalog, ColumnId, Incremental, Table};
use sql::ast::{Expr, SelectItem, SetExpr, TableFactor};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Aggregates whose result does not depend on the order of rows, apart from floating-point rounding.
const AGGREGATES: [&str; 20] = [
    "count",
    "sum",
    "avg",
    "min",
    "max",
    "bool_and",
    "bool_or",
    "every",
    "bit_and",
    "bit_or",
    "bit_xor",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "variance",
    "var_pop",
    "var_samp",
    "regr_count",
    "covar_pop",
    "covar_samp",
];

/// The parts of an incremental view's query.
#[derive(Debug)]
pub(in crate::ddl::materialized) struct Shape {
    /// The base table.
    pub(in crate::ddl::materialized) base: Arc<Table>,
    /// Positions of the grouping keys among the outputs.
    pub(in crate::ddl::materialized) keys: Vec<usize>,
    /// Columns of the base table that the query reads.
    pub(in crate::ddl::materialized) reads: Vec<ColumnId>,
    /// Columns that the grouping expressions reference.
    pub(in crate::ddl::materialized) groups: Vec<ColumnId>,
}

impl Shape {
    /// The catalog's description of the view, which has no rows yet.
    pub(in crate::ddl::materialized) fn made_of(&self, query: &sql::ast::Query) -> Incremental {
        let Self { base, keys, reads, groups } = self;
        Incremental {
            base: base.oid,
            query: sql::printed(query),
            keys: keys.clone(),
            reads: reads.clone(),
            groups: groups.clone(),
            of_storage: 0,
        }
    }
}

impl Session {
    /// Checks that a query can be refreshed incrementally and returns its shape.
    ///
    /// # Errors
    /// 0A000 with the reason why it cannot be refreshed incrementally; errors of the query.
    pub(in crate::ddl::materialized) fn incremental_shape(
        &self,
        catalog: &Catalog,
        query: &sql::ast::Query,
    ) -> EngineResult<Shape> {
        let bound = self.bound_statement(catalog, &Source::of_query(query))?;
        check_names(query)?;
        check_functions(&bound)?;
        let Body::Query(query) = &bound.body else {
            return fail(Fault::Internal { detail: "a view of no query".to_string() });
        };
        shape_of(query)
    }
}

fn refused(reason: &str, fix: &'static str) -> EngineError {
    Fault::NotIncremental { reason: reason.to_string(), fix }.into()
}

/// Checks the syntax tree: the refresh builds its queries from the SELECT list and the table name in FROM.
fn check_names(query: &sql::ast::Query) -> EngineResult<()> {
    let fix = "Write SELECT … FROM one table [WHERE …] GROUP BY … [HAVING …].";
    let SetExpr::Select(select) = query.body.as_ref() else {
        return Err(refused("it is no plain SELECT", fix));
    };
    let qualified = sql::ast::visit_expressions(query, |part| match part {
        Expr::CompoundIdentifier(parts) if parts.len() > 2 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    if qualified.is_break() {
        return Err(refused("a column is named with its schema", "Write table.column, or column alone."));
    }
    let is_star = |item: &SelectItem| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..));
    if select.projection.iter().any(is_star) {
        return Err(refused("its list has a *", "Write the columns out."));
    }
    let [from] = select.from.as_slice() else { return Err(refused("it does not read one table", fix)) };
    match &from.relation {
        TableFactor::Table { alias, args: None, .. } if from.joins.is_empty() => match alias {
            Some(alias) if !alias.columns.is_empty() => {
                Err(refused("FROM gives columns other names", "Use the names that the table has."))
            }
            _ => Ok(()),
        },
        _ => Err(refused("it reads more than one table", fix)),
    }
}

/// Refuses functions whose results can change while the rows of a group stay the same.
fn check_functions(bound: &Bound) -> EngineResult<()> {
    if bound.facts.catalogs {
        return Err(refused("it reads catalogs", "Leave incremental out."));
    }
    if bound.facts.volatility != Volatility::Immutable || bound.needs.own_functions {
        let reason = "it calls functions that are not IMMUTABLE, whose values may change while rows stay the same";
        return Err(refused(reason, "Compute with values of the rows alone, or leave incremental out."));
    }
    if bound.facts.session_bound {
        let reason = "its meaning depends on settings of the session, such as its time zone";
        return Err(refused(reason, "Name the time zone with AT TIME ZONE, or leave incremental out."));
    }
    Ok(())
}

fn shape_of(query: &Query) -> EngineResult<Shape> {
    if !query.ctes.is_empty() {
        return Err(refused("it has a WITH clause", "Write its queries into the query, or leave incremental out."));
    }
    let mut computed = BTreeMap::new();
    let aggregate = skip_projections(&query.rel, &mut computed, "it has no GROUP BY")?;
    let Rel::Aggregate { input, keys, sets, calls, groupings } = aggregate else {
        return Err(unsupported_node(aggregate, "it has no GROUP BY"));
    };
    if keys.is_empty() {
        let reason = "without GROUP BY all rows are one group, which would be made anew each time";
        return Err(refused(reason, "Add GROUP BY, or leave incremental out."));
    }
    if !sets.is_empty() || !groupings.is_empty() {
        return Err(refused("it has GROUPING SETS, ROLLUP or CUBE", "Make a view of each set of keys."));
    }
    for (_, call) in calls {
        check_aggregate(call.func)?;
    }
    let scan = skip_projections(input, &mut computed, "it reads no table")?;
    let Rel::Scan { table, cols, .. } = scan else { return Err(unsupported_node(scan, "it reads no table")) };
    check_base(table)?;
    let resolve = |col| origin(col, &computed);
    let places = keys.iter().map(|key| {
        let key = resolve(*key);
        query.outputs.iter().position(|output| resolve(output.col) == key).ok_or_else(|| {
            refused("an expression of GROUP BY is no column of the view", "Add each of them to the list of SELECT.")
        })
    });
    let id = |(at, _): &(usize, ColId)| table.columns.get(*at).map(|column| column.id);
    let mut named = BTreeSet::new();
    keys.iter().for_each(|key| columns_of(*key, &computed, &mut named));
    Ok(Shape {
        keys: places.collect::<EngineResult<_>>()?,
        reads: cols.iter().filter_map(id).collect(),
        groups: cols.iter().filter(|(_, col)| named.contains(col)).filter_map(id).collect(),
        base: Arc::clone(table),
    })
}

/// Descends through projections and filters. Collects the projected expressions in `computed`.
fn skip_projections<'t>(
    mut rel: &'t Rel,
    computed: &mut BTreeMap<ColId, &'t Scalar>,
    missing: &'static str,
) -> EngineResult<&'t Rel> {
    loop {
        let mut subquery = false;
        rel.each_scalar(&mut |value| subquery |= has_subquery(value));
        if subquery {
            return Err(refused("it has a subquery", "Write the condition without one, or leave incremental out."));
        }
        rel = match rel {
            Rel::Project { input, exprs } => {
                computed.extend(exprs.iter().map(|(col, value)| (*col, value)));
                input
            }
            Rel::Filter { input, .. } => input,
            Rel::Aggregate { .. } | Rel::Scan { .. } => return Ok(rel),
            other => return Err(unsupported_node(other, missing)),
        };
    }
}

/// The error for an unsupported node.
fn unsupported_node(rel: &Rel, missing: &'static str) -> EngineError {
    let out = "Leave incremental out.";
    match rel {
        Rel::Join { .. } => refused("it joins tables", "Group the rows of one table, or leave incremental out."),
        Rel::Apply { .. } => refused("it has a subquery", "Write the condition without one, or leave incremental out."),
        Rel::Window { .. } => refused("it has window functions", out),
        Rel::Unnest { .. } => refused("it calls functions that return sets", out),
        Rel::Distinct { .. } => refused("it has DISTINCT", "Use GROUP BY, or leave incremental out."),
        Rel::Sort { .. } => refused("it has ORDER BY", "Order the rows where the view is read."),
        Rel::Limit { .. } => refused("it has LIMIT or OFFSET", "Limit the rows where the view is read."),
        Rel::SetOp { .. } => refused("it combines queries (UNION, INTERSECT, EXCEPT)", "Make a view of each query."),
        Rel::CteScan { .. } => refused("it has a WITH clause", "Write its queries into the query."),
        Rel::Computed { .. } => refused("it reads a relation that is computed", out),
        _ => refused(missing, "Write SELECT … FROM one table [WHERE …] GROUP BY … [HAVING …]."),
    }
}

fn check_aggregate(func: FuncId) -> EngineResult<()> {
    let name = builtins::function(func).map_or("?", |function| function.name);
    match AGGREGATES.contains(&name) {
        true => Ok(()),
        false => {
            let reason = format!("the value of {name} can depend on the order of rows");
            Err(refused(&reason, "Use count, sum, avg, min, max and their like, or leave incremental out."))
        }
    }
}

fn check_base(table: &Table) -> EngineResult<()> {
    match table.materialized {
        None => Ok(()),
        Some(_) => Err(refused("it reads a materialized view", "Read the tables of that view.")),
    }
}

/// Resolves a column through projections that only rename it.
fn origin(mut col: ColId, computed: &BTreeMap<ColId, &Scalar>) -> ColId {
    while let Some(Scalar { kind: Kind::Col(other), .. }) = computed.get(&col) {
        col = other.id;
    }
    col
}

/// Collects the base table's columns from which a column is computed.
fn columns_of(col: ColId, computed: &BTreeMap<ColId, &Scalar>, found: &mut BTreeSet<ColId>) {
    match computed.get(&col) {
        Some(value) => {
            let mut named = Vec::new();
            columns_in(value, &mut named);
            named.into_iter().for_each(|col| columns_of(col, computed, found));
        }
        None => drop(found.insert(col)),
    }
}

fn columns_in(value: &Scalar, found: &mut Vec<ColId>) {
    if let Kind::Col(col) = &value.kind {
        found.push(col.id);
    }
    value.each_operand(&mut |operand| columns_in(operand, found));
}

fn has_subquery(value: &Scalar) -> bool {
    let mut found = matches!(value.kind, Kind::Subquery(_));
    value.each_operand(&mut |operand| found |= has_subquery(operand));
    found
}
