//! Utility statements: settings, prepared statements, maintenance.

use crate::error::{EngineResult, Fault, fail};
use crate::statement::Source;
use crate::statement::stream;
use crate::{Answer, ColumnDesc, Prepared, Session};
use bind::{AssignedTo, Clause};
use catalog::Catalog;
use sql::{Discard, Hint, ObjectName, SettingValue, Statement, ast};
use std::sync::Arc;
use txn::ReadView;
use types::{DataType, Datum};

/// A computed column of type text.
pub(crate) fn text_column(name: &str) -> ColumnDesc {
    ColumnDesc { name: name.to_string(), ty: DataType::Text, table_oid: 0, column_number: 0 }
}

/// Result columns of a statement without a plan.
pub(crate) fn columns(session: &Session, statement: &Statement) -> Option<Arc<Vec<ColumnDesc>>> {
    let names: &[&str] = match statement {
        Statement::Show(None) => &["name", "setting", "description"],
        Statement::Show(Some(name)) => return Some(Arc::new(vec![text_column(name)])),
        Statement::Explain(explain) => return Some(Arc::new(super::explain::columns(explain.format))),
        Statement::CheckIndexes(_) => return Some(crate::check_indexes::columns()),
        Statement::ShowJobs => return Some(crate::jobs::columns()),
        Statement::Fetch(fetch) if !fetch.moves => return session.cursor_columns(&fetch.name),
        Statement::Execute { name, .. } => return session.prepared(name).and_then(|p| p.columns.clone()),
        _ => return None,
    };
    Some(Arc::new(names.iter().map(|name| text_column(name)).collect()))
}

impl Session {
    pub(crate) async fn utility(
        &mut self,
        statement: &Statement,
        whole: &Arc<str>,
        hints: &[Hint],
    ) -> EngineResult<Answer> {
        let tag = match statement {
            Statement::Set { name, value, local } => self.set(name, value, *local)?,
            Statement::SetTransaction { modes, session } => self.set_transaction(*modes, *session)?,
            Statement::SetTransactionSnapshot(id) => self.import_snapshot(id)?,
            Statement::CheckIndexes(check) => return self.check_indexes(check).await,
            Statement::ShowJobs => return Ok(self.show_jobs()),
            Statement::ControlJob(control) => self.control_job(control).await?,
            Statement::Show(name) => return self.show(name.as_deref()),
            Statement::Reset(name) => {
                match name {
                    Some(name) => self.settings.reset(name, false)?,
                    None => self.settings.reset_all()?,
                }
                "RESET".to_string()
            }
            Statement::Begin(modes) => self.begin(*modes)?,
            Statement::Savepoint(name) => self.savepoint(name)?,
            Statement::Release(name) => self.release(name)?,
            Statement::Lock(lock) => self.lock_tables(lock).await?,
            Statement::DropAbsent(drop) => self.drop_absent(drop).await?,
            Statement::CreateExtension(create) => self.create_extension(create)?,
            Statement::SetConstraints { names, deferred } => self.set_constraints(names, *deferred).await?,
            Statement::CloseCursor(name) => self.close_named(name)?,
            Statement::Prepare { name, types, statement, text } => {
                let source = Source {
                    text: Arc::from(text.as_str()),
                    written: self.written.clone(),
                    statement: statement.as_ref().clone(),
                    types: types.iter().copied().map(Some).collect(),
                    hints: hints.to_vec(),
                };
                self.prepare_named(name, source, whole).await?
            }
            Statement::Execute { name, arguments } => return self.execute_named(name, arguments).await,
            Statement::Deallocate(name) => self.deallocate(name.as_deref())?,
            Statement::Discard(what) => self.discard(*what)?,
            Statement::Analyze { tables, verbose } => self.analyze(tables, *verbose).await?,
            Statement::UpdateStatistics(update) => self.update_statistics(update).await?,
            Statement::Vacuum { tables, options } => {
                let tag = self.vacuum(tables).await?;
                if options.analyze {
                    let tables: Vec<_> = tables.iter().map(|table| (table.clone(), Vec::new())).collect();
                    self.analyze(&tables, options.verbose).await?;
                }
                tag
            }
            other => return fail(Fault::Internal { detail: format!("no way to run {other:?}") }),
        };
        Ok(Answer::Done(tag))
    }

    fn set(&mut self, name: &str, value: &SettingValue, local: bool) -> EngineResult<String> {
        if local && matches!(self.block, crate::block::Block::Idle) {
            let message = "SET LOCAL can only be used in transaction blocks";
            self.notices.warning("25P01", message);
            return Ok("SET".to_string());
        }
        match value {
            SettingValue::Default => self.settings.reset(name, local)?,
            SettingValue::Values(values) => self.settings.set(name, values, local)?,
        }
        Ok("SET".to_string())
    }

    fn show(&mut self, name: Option<&str>) -> EngineResult<Answer> {
        let text = |value: &str| Datum::Text(value.to_string());
        let Some(name) = name else {
            let line = |(name, value, about): (String, String, &str)| vec![text(&name), text(&value), text(about)];
            let rows = self.settings.all().into_iter().map(line).collect();
            let names = ["name", "setting", "description"].map(text_column);
            return Ok(Answer::Rows(stream::uncounted(Arc::new(names.to_vec()), rows, "SHOW")));
        };
        let value = text(self.settings.get(name)?);
        let columns = Arc::new(vec![text_column(name)]);
        Ok(Answer::Rows(stream::uncounted(columns, vec![vec![value]], "SHOW")))
    }

    async fn prepare_named(&mut self, name: &str, source: Source, whole: &Arc<str>) -> EngineResult<String> {
        if self.prepared(name).is_some() {
            return fail(Fault::DuplicatePrepared { name: name.to_string() });
        }
        let prepared = self.prepare_source(Arc::new(source)).await?;
        self.name_prepared(name.to_string(), prepared, Arc::clone(whole), true)?;
        Ok("PREPARE".to_string())
    }

    async fn execute_named(&mut self, name: &str, arguments: &[ast::Expr]) -> EngineResult<Answer> {
        let (prepared, params) = self.prepared_with(name, arguments).await?;
        let Some(source) = prepared.source.clone() else { return Ok(Answer::Empty) };
        Box::pin(self.dispatch(&source.text, &source, Some(&prepared), &params)).await
    }

    /// The prepared statement of EXECUTE, and the values of its parameters.
    ///
    /// # Errors
    /// 26000 if it does not exist; 42601 for too many or too few arguments, and those of computing them.
    pub(crate) async fn prepared_with(
        &mut self,
        name: &str,
        arguments: &[ast::Expr],
    ) -> EngineResult<(Arc<Prepared>, Vec<Datum>)> {
        let Some(prepared) = self.prepared(name) else {
            return fail(Fault::NoSuchPrepared { name: name.to_string() });
        };
        let expected = prepared.parameters.len();
        if expected != arguments.len() {
            let given = arguments.len();
            return fail(Fault::ParameterCount { name: name.to_string(), expected, given });
        }
        let mut params = Vec::with_capacity(expected);
        for (argument, ty) in arguments.iter().zip(&prepared.parameters) {
            let target = AssignedTo { ty: *ty, column: None };
            params.push(self.value_now(argument, Clause::Execute, target).await?);
        }
        Ok((prepared, params))
    }

    fn deallocate(&mut self, name: Option<&str>) -> EngineResult<String> {
        match name {
            None => {
                self.prepared.clear();
                Ok("DEALLOCATE ALL".to_string())
            }
            Some(name) if self.close_prepared(name) => Ok("DEALLOCATE".to_string()),
            Some(name) => fail(Fault::NoSuchPrepared { name: name.to_string() }),
        }
    }

    fn discard(&mut self, what: Discard) -> EngineResult<String> {
        match what {
            Discard::All => {
                self.refuse_in_block("DISCARD ALL")?;
                self.settings.reset_all()?;
                self.prepared.clear();
                self.taken.forget();
                self.entry.release_advisory();
                Ok("DISCARD ALL".to_string())
            }
            Discard::Plans => {
                self.engine.plans().clear();
                Ok("DISCARD PLANS".to_string())
            }
            Discard::Sequences => {
                self.taken.forget();
                Ok("DISCARD SEQUENCES".to_string())
            }
            Discard::Cursors => {
                self.close_cursors();
                Ok("CLOSE CURSOR ALL".to_string())
            }
            // A session has none of these: there is nothing to discard.
            Discard::Temp => Ok("DISCARD TEMP".to_string()),
            Discard::Channels => Ok("UNLISTEN".to_string()),
        }
    }

    /// Compacts tables, which reclaims the space of overwritten data.
    async fn vacuum(&mut self, names: &[ObjectName]) -> EngineResult<String> {
        self.refuse_in_block("VACUUM")?;
        let catalog = self.engine.catalog().current();
        let tables: Vec<_> = match names {
            [] => catalog.tables().cloned().collect(),
            names => names.iter().map(|name| self.resolve_stored(&catalog, name)).collect::<EngineResult<_>>()?,
        };
        let guard = self.running();
        for table in tables {
            let flush = async { Ok(self.engine.store().flush(table.storage_id(), true).await?) };
            guard.stoppable(flush).await?;
        }
        Ok("VACUUM".to_string())
    }

    /// Runs an internal query and returns all rows.
    pub(crate) async fn own_query(&mut self, text: &str) -> EngineResult<Vec<Vec<Datum>>> {
        let (view, catalog) = self.read_state().await?;
        self.own_query_at(view, &catalog, text).await
    }

    /// As [`Self::own_query`], with a catalog that is not published yet. The caller has locked the tables that it
    /// reads.
    pub(crate) async fn own_query_in(&mut self, catalog: &Arc<Catalog>, text: &str) -> EngineResult<Vec<Vec<Datum>>> {
        let view = self.read_view().await?;
        self.own_query_at(view, catalog, text).await
    }

    async fn own_query_at(
        &mut self,
        view: ReadView,
        catalog: &Arc<Catalog>,
        text: &str,
    ) -> EngineResult<Vec<Vec<Datum>>> {
        let query = sql::parse_query(text)?;
        let plan = self.plan(catalog, &query).await?;
        self.collect(self.query_context(view), plan, Vec::new(), self.hold_rows()).await
    }
}
