//! Constants that depend on the session, such as `'1/2/2003'::date`, in texts that the catalog stores: as in
//! PostgreSQL they keep the value that they have when the object is created.

use crate::Session;
use crate::dml::RowTable;
use crate::error::{EngineError, EngineResult, Fault, fail};
use crate::row_program::Names;
use crate::statement::Source;
use bind::{AssignedTo, Clause, Environment, NamedRow, RowExpressions};
use catalog::Catalog;
use sql::{Statement, WrittenExpr, ast};
use std::slice::from_ref;

impl Session {
    /// The query of a view with fixed constants.
    ///
    /// # Errors
    /// Errors of the binder.
    pub(super) fn fixed_query(&self, catalog: &Catalog, source: &Source) -> EngineResult<Box<ast::Query>> {
        let Statement::Query(query) = &source.statement else {
            return fail(Fault::Internal { detail: "a view without a query".to_string() });
        };
        let (rules, path) = (self.time_zone(), self.search_path());
        let env = Environment { text: &source.written.text, rules: &rules };
        let relations = self.relations(catalog, Names::in_path(&path));
        let constants = bind::session_constants(&source.statement, &relations, &env);
        let constants = constants.map_err(|error| EngineError::of_bind(&error, &source.written))?;
        let mut query = query.clone();
        bind::fix_constants(query.as_mut(), &source.written.text, &constants);
        Ok(query)
    }

    /// A column default with fixed constants.
    ///
    /// # Errors
    /// As [`Self::fixed_expr`].
    pub(super) fn fixed_default(&self, default: &WrittenExpr, column: AssignedTo<'_>) -> EngineResult<WrittenExpr> {
        let (exprs, assigned_to) = (from_ref(&default.expr), from_ref(&column));
        let over = RowExpressions { rows: &[], exprs, clause: Clause::Default, assigned_to };
        self.fixed_expr((&default.text, &default.expr), &over)
    }

    /// An expression over the rows of a table with fixed constants.
    ///
    /// # Errors
    /// As [`Self::fixed_expr`].
    pub(super) fn fixed_over(
        &self,
        row: &RowTable,
        (text, expr): (&str, &ast::Expr),
        clause: Clause,
    ) -> EngineResult<WrittenExpr> {
        let rows = [NamedRow { name: &row.name, columns: &row.columns }];
        let over = RowExpressions { rows: &rows, exprs: from_ref(expr), clause, assigned_to: &[] };
        self.fixed_expr((text, expr), &over)
    }

    /// # Errors
    /// Errors of the binder; 0A000 for an expression that does not round-trip through its text.
    fn fixed_expr(&self, (text, expr): (&str, &ast::Expr), over: &RowExpressions<'_>) -> EngineResult<WrittenExpr> {
        let (rules, path) = (self.time_zone(), self.search_path());
        let env = Environment { text: &self.written.text, rules: &rules };
        let catalog = self.engine.catalog().current();
        let relations = self.relations(&catalog, Names::in_path(&path));
        let constants = bind::session_constants_over_rows(over, &relations, &env);
        let constants = constants.map_err(|error| EngineError::of_bind(&error, &self.written))?;
        let mut expr = expr.clone();
        if !bind::fix_constants(&mut expr, &self.written.text, &constants) {
            return Ok(WrittenExpr { expr, text: text.to_string() });
        }
        let text = sql::printed(&expr);
        match sql::parse_expr(&text) {
            Ok(read) if read == expr => Ok(WrittenExpr { expr, text }),
            _ => fail(Fault::Unsupported { feature: format!("a constant that depends on the session in ({text})") }),
        }
    }
}
