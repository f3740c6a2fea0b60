//! What names in a query mean: tables by search path, functions by the registry.

use super::derived::SoundRelations;
use super::row_exprs::RowTable;
use crate::context::QueryContext;
use crate::error::{QueryError, QueryResult};
use crate::functions;
use crate::provider::RegionTable;
use arrow::datatypes::{DataType as ArrowType, SchemaRef};
use catalog::{Table, TableOid, View};
use datafusion::catalog::cte_worktable::CteWorkTable;
use datafusion::catalog::{TableFunctionArgs, TableProvider};
use datafusion::common::config::ConfigOptions;
use datafusion::common::{DFSchema, Result, TableReference};
use datafusion::datasource::{ViewTable, provider_as_source};
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::builder::LogicalTableSource;
use datafusion::logical_expr::planner::{ContextProvider, ExprPlanner, RelationPlanner, TypePlanner};
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{
    AggregateUDF, Expr, HigherOrderUDF, LogicalPlanBuilder, ScalarUDF, TableSource, WindowUDF,
};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};

/// As the database of a table's name it asks for all columns, the hidden row id too. For statements that the engine
/// makes to find the rows that it writes.
pub const WITH_ROW_IDS: &str = "_bennu_with_row_ids";

/// As the database of a table's name it stands for a row that is at hand: the n-th is the table `rn`.
pub(super) const ROWS: &str = "_bennu_rows";

/// Resolves the names of one statement.
pub(super) struct Names<'a> {
    state: &'a SessionState,
    cx: &'a QueryContext,
    types: Arc<dyn TypePlanner>,
    rows: &'a [RowTable],
    /// Tables of computed schemas, looked up beforehand since that may wait.
    computed: HashMap<(String, String), Arc<dyn TableSource>>,
    /// Views as tables, planned beforehand.
    views: HashMap<(String, String), Arc<dyn TableSource>>,
    /// Tables and views that were asked for.
    found: RefCell<Vec<TableOid>>,
    /// Was a function asked for that is bound to this statement?
    calls_bound: Cell<bool>,
    /// A function that is known not to be there: a call of it fails with the types of its arguments.
    missing: RefCell<Option<(String, functions::Told)>>,
}

/// Does a statement name a relation of `pg_catalog`?
pub(super) fn reads_catalogs(statement: &sql::ast::Statement, cx: &QueryContext) -> bool {
    let Some(catalog) = cx.computed_schema("pg_catalog") else { return false };
    let found = sql::ast::visit_relations(statement, |name| {
        let folded = |ident: &sql::ast::Ident| match ident.quote_style {
            None => types::ident::fold(&ident.value),
            Some(_) => ident.value.clone(),
        };
        let parts: Vec<String> = name.0.iter().filter_map(|part| part.as_ident()).map(folded).collect();
        let is_one = match parts.as_slice() {
            [name] => catalog.table_exist(name),
            [.., schema, _] => schema == "pg_catalog",
            [] => false,
        };
        if is_one { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    found.is_break()
}

impl<'a> Names<'a> {
    pub(super) fn new(
        state: &'a SessionState,
        cx: &'a QueryContext,
        types: Arc<dyn TypePlanner>,
        rows: &'a [RowTable],
    ) -> Self {
        Self {
            state,
            cx,
            types,
            rows,
            computed: HashMap::new(),
            views: HashMap::new(),
            found: RefCell::default(),
            calls_bound: Cell::new(false),
            missing: RefCell::default(),
        }
    }

    /// Lets the next plan tell of which types a function is not there.
    pub(super) fn expect_missing(&self, name: &str) -> functions::Told {
        let told = functions::Told::default();
        self.missing.replace(Some((name.to_owned(), told.clone())));
        told
    }

    /// Looks up those of `tables` that computed schemas have.
    ///
    /// # Errors
    /// What the schema says.
    pub(super) async fn look_up(&mut self, tables: &[TableReference]) -> QueryResult<()> {
        for table in tables {
            let path: Vec<String> = match table.schema() {
                Some(schema) => vec![schema.to_owned()],
                None => self.cx.lookup_path().map(str::to_owned).collect(),
            };
            for schema in path {
                let Some(provider) = self.cx.computed_schema(&schema) else { continue };
                if let Some(found) = provider.table(table.table()).await? {
                    self.computed.insert((schema, table.table().to_owned()), provider_as_source(found));
                }
            }
        }
        Ok(())
    }

    /// Views that `tables` name, with the names of their schemas.
    pub(super) fn views_of(&self, tables: &[TableReference]) -> Vec<(String, Arc<View>)> {
        let mut views: Vec<(String, Arc<View>)> = Vec::new();
        for table in tables.iter().filter(|table| table.catalog() != Some(ROWS)) {
            let path: Vec<&str> = match table.schema() {
                Some(schema) => vec![schema],
                None => self.cx.lookup_path().collect(),
            };
            let first = path.into_iter().find(|schema| {
                self.cx.catalog.table(schema, table.table()).is_some() || self.view(schema, table.table()).is_some()
            });
            let Some(schema) = first else { continue };
            if let Some(view) = self.view(schema, table.table())
                && !views.iter().any(|(_, known)| known.oid == view.oid)
            {
                views.push((schema.to_owned(), Arc::clone(view)));
            }
        }
        views
    }

    /// Tables that `tables` name.
    pub(super) fn tables_of(&self, tables: &[TableReference]) -> Vec<Arc<Table>> {
        let found = tables.iter().filter(|table| table.catalog() != Some(ROWS)).filter_map(|table| {
            let find = |schema: &str| self.cx.catalog.table(schema, table.table());
            match table.schema() {
                Some(schema) => find(schema),
                None => self.cx.lookup_path().find_map(find),
            }
        });
        found.cloned().collect()
    }

    fn view(&self, schema: &str, name: &str) -> Option<&Arc<View>> {
        self.cx.catalog.view(schema, name)
    }

    pub(super) fn add_view(&mut self, schema: String, view: &View, table: Arc<dyn TableProvider>, computed: bool) {
        self.views.insert((schema, view.name.clone()), provider_as_source(table));
        if computed {
            self.calls_bound.set(true);
        }
    }

    /// Tables and views that were asked for.
    pub(super) fn relations(&self) -> Vec<TableOid> {
        self.found.borrow().clone()
    }

    /// Does the statement read a table, or call a function, that is bound to its session?
    pub(super) fn reads_computed(&self) -> bool {
        !self.computed.is_empty() || self.calls_bound.get()
    }

    fn find(&self, name: &TableReference) -> QueryResult<Arc<dyn TableSource>> {
        if name.catalog() == Some(ROWS)
            && let Some(row) = name.table().strip_prefix('r').and_then(|n| self.rows.get(n.parse::<usize>().ok()?))
        {
            return Ok(Arc::new(LogicalTableSource::new(row.schema())));
        }
        let with_row_ids = name.catalog() == Some(WITH_ROW_IDS);
        if let Some(catalog) = name.catalog()
            && catalog != self.cx.database
            && !with_row_ids
        {
            return Err(QueryError::Unsupported { feature: format!("a reference to database \"{catalog}\"") });
        }
        let path: Vec<&str> = match name.schema() {
            Some(schema) => vec![schema],
            None => self.cx.lookup_path().collect(),
        };
        for schema in &path {
            if let Some(found) = self.computed.get(&((*schema).to_owned(), name.table().to_owned())) {
                return Ok(Arc::clone(found));
            }
            if let Some(table) = self.cx.catalog.table(schema, name.table()) {
                self.found.borrow_mut().push(table.oid);
                return table_source(table, with_row_ids);
            }
            if let Some(view) = self.views.get(&((*schema).to_owned(), name.table().to_owned())) {
                self.found.borrow_mut().extend(self.view(schema, name.table()).map(|view| view.oid));
                return Ok(Arc::clone(view));
            }
        }
        if let Some(sequence) = path.iter().find_map(|schema| self.cx.catalog.sequence(schema, name.table())) {
            let feature = format!("reading sequence \"{}\" as a table", sequence.name);
            return Err(QueryError::Unsupported { feature });
        }
        let names = path.iter().flat_map(|schema| self.cx.catalog.tables_in(schema)).map(|table| table.name.as_str());
        let close = types::close_name(name.table(), names).map(str::to_owned);
        let shown = match name.schema() {
            Some(schema) => format!("{schema}.{}", name.table()),
            None => name.table().to_owned(),
        };
        Err(QueryError::NoSuchTable { name: shown, close })
    }
}

/// The table; one with a hidden row id is a view of the columns that it was declared with, unless the row ids are
/// asked for.
fn table_source(table: &Arc<Table>, with_row_ids: bool) -> QueryResult<Arc<dyn TableSource>> {
    let whole = provider_as_source(Arc::new(RegionTable::new(table)?));
    if with_row_ids || !table.has_hidden_row_id() {
        return Ok(whole);
    }
    let declared: Vec<usize> =
        table.columns.iter().enumerate().filter(|(_, column)| !column.hidden).map(|(at, _)| at).collect();
    let plan = LogicalPlanBuilder::scan(TableReference::bare(table.name.as_str()), whole, Some(declared))?.build()?;
    Ok(provider_as_source(Arc::new(ViewTable::new(plan, None))))
}

impl ContextProvider for Names<'_> {
    fn get_table_source(&self, name: TableReference) -> Result<Arc<dyn TableSource>> {
        Ok(self.find(&name)?)
    }

    fn get_table_function_source(&self, name: &str, args: Vec<Expr>) -> Result<Arc<dyn TableSource>> {
        let function = self
            .state
            .table_functions()
            .get(name)
            .ok_or_else(|| QueryError::NoSuchFunction { signature: format!("{name}()") })?;
        let context = SimplifyContext::builder().with_config_options(Arc::clone(self.state.config_options())).build();
        let simplifier = ExprSimplifier::new(context);
        let schema = DFSchema::empty();
        let args = args.into_iter().map(|arg| simplifier.coerce(arg, &schema).and_then(|arg| simplifier.simplify(arg)));
        let args = args.collect::<Result<Vec<_>>>()?;
        Ok(provider_as_source(function.create_table_provider_with_args(TableFunctionArgs::new(&args, self.state))?))
    }

    fn create_cte_work_table(&self, name: &str, schema: SchemaRef) -> Result<Arc<dyn TableSource>> {
        Ok(provider_as_source(Arc::new(CteWorkTable::new(name, schema))))
    }

    fn get_expr_planners(&self) -> &[Arc<dyn ExprPlanner>] {
        self.state.expr_planners()
    }

    fn get_relation_planners(&self) -> &[Arc<dyn RelationPlanner>] {
        static PLANNERS: LazyLock<[Arc<dyn RelationPlanner>; 1]> = LazyLock::new(|| [Arc::new(SoundRelations)]);
        PLANNERS.as_slice()
    }

    fn get_type_planner(&self) -> Option<Arc<dyn TypePlanner>> {
        Some(Arc::clone(&self.types))
    }

    fn get_function_meta(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        if let Some(function) = self.state.scalar_functions().get(name) {
            return Some(Arc::clone(function));
        }
        if let Some((missing, told)) = self.missing.borrow().as_ref()
            && missing == name
        {
            return Some(functions::missing_function(name, told.clone()));
        }
        let bound = (self.cx.functions)(name);
        if bound.is_some() {
            self.calls_bound.set(true);
        }
        bound
    }

    fn get_higher_order_meta(&self, name: &str) -> Option<Arc<HigherOrderUDF>> {
        self.state.higher_order_functions().get(name).cloned()
    }

    fn get_aggregate_meta(&self, name: &str) -> Option<Arc<AggregateUDF>> {
        self.state.aggregate_functions().get(name).cloned()
    }

    fn get_window_meta(&self, name: &str) -> Option<Arc<WindowUDF>> {
        self.state.window_functions().get(name).cloned()
    }

    fn get_variable_type(&self, _: &[String]) -> Option<ArrowType> {
        None
    }

    fn options(&self) -> &ConfigOptions {
        self.state.config_options()
    }

    fn udf_names(&self) -> Vec<String> {
        self.state.scalar_functions().keys().cloned().collect()
    }

    fn higher_order_function_names(&self) -> Vec<String> {
        self.state.higher_order_functions().keys().cloned().collect()
    }

    fn udaf_names(&self) -> Vec<String> {
        self.state.aggregate_functions().keys().cloned().collect()
    }

    fn udwf_names(&self) -> Vec<String> {
        self.state.window_functions().keys().cloned().collect()
    }
}
