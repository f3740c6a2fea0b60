//! The extended query protocol: prepared statements, portals and row limits.

use crate::backend::RowTag;
use crate::connection::Connection;
use crate::encode::{BadParameter, decode_parameter};
use crate::end::Failure;
use crate::frontend::{Bind, Target};
use crate::portals::Portals;
use crate::rows::RowSource;
use engine::{Answer, ClientFault, ColumnDesc, CursorStep, Prepared, RowStream, Script, TimeZone, TransactionStatus};
use std::pin::pin;
use std::sync::Arc;
use types::{DataType, Datum};

/// `unknown`: sent by a driver that leaves the type to the server.
const OID_UNKNOWN: u32 = 705;
const OID_BPCHAR: u32 = 1042;
/// `"char"` and `name`: catalog types, which are text here.
const OIDS_OF_TEXT: [u32; 2] = [18, 19];

/// The unnamed statement and the portals of a connection. The session holds the named statements.
#[derive(Default)]
pub(crate) struct Extended {
    unnamed: Option<Arc<Prepared>>,
    portals: Portals<Portal>,
}

/// A bound statement.
struct Portal {
    prepared: Arc<Prepared>,
    params: Vec<Datum>,
    results: Vec<i16>,
    /// `None` for a statement that returns no rows.
    columns: Option<Arc<Vec<ColumnDesc>>>,
    state: PortalState,
    /// Creation order among the portals and cursors of the transaction block.
    number: u64,
}

enum PortalState {
    Fresh,
    Open(Box<RowSource>),
    /// Run to completion: a query returns no more rows, with this tag; any other statement cannot run again.
    Finished(Option<RowTag>),
    /// An empty statement, which may run again.
    Empty,
}

impl Extended {
    /// Drops all portals when no transaction is open: a portal lives as long as its transaction.
    pub(crate) fn end_of_transaction(&mut self, status: TransactionStatus) {
        if status == TransactionStatus::Idle {
            self.portals.clear();
        }
    }

    /// Drops the portals created after a savepoint, on ROLLBACK TO.
    pub(crate) fn undo(&mut self, last: u64) {
        self.portals.retain(|portal| portal.number <= last);
    }

    /// Drops the unnamed statement and portal, as a simple query does.
    pub(crate) fn drop_unnamed(&mut self) {
        self.unnamed = None;
        self.portals.remove("");
    }
}

impl Connection {
    pub(crate) async fn parse(&mut self, name: String, text: String, types: Vec<u32>) -> Result<(), Failure> {
        if !name.is_empty() && self.session.prepared(&name).is_some() {
            return Err(ClientFault::DuplicatePrepared(name).into());
        }
        let types = types.into_iter().map(parameter_type).collect::<Result<Vec<_>, _>>()?;
        if name.is_empty() {
            self.extended.unnamed = None;
        }
        let prepared = self.wire.watch(Box::pin(self.session.prepare(&text, &types))).await??;
        match name.as_str() {
            "" => self.extended.unnamed = Some(prepared),
            _ => self.session.keep_prepared(name, prepared)?,
        }
        self.wire.out.parse_complete();
        Ok(())
    }

    pub(crate) fn bind(&mut self, bind: Bind) -> Result<(), Failure> {
        let prepared = self.statement(&bind.statement)?;
        if !prepared.ends_block() {
            self.session.check_block()?;
        }
        let taken = self.extended.portals.contains(&bind.portal) || self.session.cursor_columns(&bind.portal).is_some();
        if !bind.portal.is_empty() && taken {
            return Err(portal_exists(&bind.portal));
        }
        let params = parameters(&prepared.parameters, &bind, self.session.time_zone())?;
        let columns = self.session.columns_now(&prepared);
        check_results(columns.as_ref().map_or(0, |columns| columns.len()), &bind.results)?;
        let number = self.session.number_portal();
        let portal = Portal { prepared, params, results: bind.results, columns, state: PortalState::Fresh, number };
        self.extended.portals.insert(&bind.portal, portal);
        self.wire.out.bind_complete();
        Ok(())
    }

    pub(crate) fn describe(&mut self, target: &Target) -> Result<(), Failure> {
        match target {
            Target::Statement(name) => {
                let prepared = self.statement(name)?;
                self.check_describable(&prepared)?;
                self.wire.out.parameter_description(&prepared.parameters);
                match &prepared.columns {
                    Some(columns) => self.wire.out.row_description(columns, |_| 0),
                    None => self.wire.out.no_data(),
                }
            }
            Target::Portal(name) => match self.extended.portals.get(name) {
                Some(portal) => {
                    self.check_describable(&portal.prepared)?;
                    match &portal.columns {
                        Some(columns) => self.wire.out.row_description(columns, |i| format_of(&portal.results, i)),
                        None => self.wire.out.no_data(),
                    }
                }
                // A SQL cursor is a portal too.
                None => {
                    let columns = self.session.cursor_columns(name).ok_or_else(|| no_portal(name))?;
                    self.wire.out.row_description(&columns, |_| 0);
                }
            },
        }
        Ok(())
    }

    /// Refuses to describe a query in a failed block: its columns may depend on tables, which a failed block does not
    /// read.
    fn check_describable(&self, prepared: &Prepared) -> Result<(), Failure> {
        if prepared.columns.is_some() {
            self.session.check_block()?;
        }
        Ok(())
    }

    /// Closes a statement or portal; a missing one is not an error.
    pub(crate) fn close(&mut self, target: &Target) {
        match target {
            Target::Statement(name) if name.is_empty() => self.extended.unnamed = None,
            Target::Statement(name) => drop(self.session.close_prepared(name)),
            Target::Portal(name) => {
                if self.extended.portals.remove(name).is_none() {
                    self.session.close_cursor(name);
                }
            }
        }
        self.wire.out.close_complete();
    }

    pub(crate) async fn execute(&mut self, name: &str, max_rows: i32) -> Result<(), Failure> {
        // Removed while it runs: after an error the portal stays closed, like PostgreSQL's failed portals.
        let Some(mut portal) = self.extended.portals.remove(name) else {
            return self.execute_cursor(name, max_rows).await;
        };
        let closed = match portal.state {
            PortalState::Fresh => self.portal_step(portal.prepared.cursor_step())?,
            PortalState::Empty => false,
            _ => self.session.check_block().map(|()| false)?,
        };
        if closed {
            portal.state = PortalState::Finished(None);
        } else if let PortalState::Fresh = portal.state {
            // Statements up to the next Sync are one transaction; a single one needs no explicit transaction.
            if self.session.status() == TransactionStatus::Idle && !self.wire.sync_is_next().await? {
                self.session.begin_pipeline();
            }
            let live = self.session.live_notices();
            let answer = {
                let run = pin!(self.session.execute(&portal.prepared, &portal.params));
                self.wire.watch_statement(&live, run).await??
            };
            portal.state = PortalState::Finished(None);
            match answer {
                Answer::Empty => {
                    self.wire.out.empty_query();
                    portal.state = PortalState::Empty;
                }
                Answer::Done(tag) => {
                    self.write_side_effects();
                    self.wire.out.complete(&tag);
                    if portal.prepared.ends_transaction() {
                        // The end of the transaction closes all portals, this one included.
                        self.extended.portals.clear();
                        return Ok(());
                    }
                }
                Answer::Rows(stream) => portal.state = PortalState::Open(Box::new(self.row_source(stream))),
                Answer::CopyIn(copy) => Box::pin(self.copy_in(copy)).await?,
                Answer::CopyOut(copy) => Box::pin(self.copy_out(copy)).await?,
            }
        } else {
            match &portal.state {
                PortalState::Open(rows) => rows.resume(&self.session),
                PortalState::Finished(Some(tag)) => self.wire.out.complete_rows(*tag, 0),
                PortalState::Finished(None) => return Err(ClientFault::PortalDone(name.to_string()).into()),
                PortalState::Empty => self.wire.out.empty_query(),
                PortalState::Fresh => {}
            }
        }
        if let PortalState::Open(rows) = &mut portal.state {
            let limit = usize::try_from(max_rows).unwrap_or(0);
            let results = &portal.results;
            let before = rows.sent();
            if rows.send(&mut self.wire, &|i| format_of(results, i) == 1, limit).await? {
                self.write_side_effects();
                // The rows of this Execute only: earlier Executes reported their own.
                self.wire.out.complete_rows(rows.tag(), rows.sent() - before);
                portal.state = PortalState::Finished(Some(rows.tag()));
            } else {
                rows.pause();
                self.wire.out.portal_suspended();
            }
        }
        self.extended.portals.insert(name, portal);
        Ok(self.wire.flush_if_full().await?)
    }

    /// Executes a cursor that DECLARE opened: such a cursor is a portal, too.
    async fn execute_cursor(&mut self, name: &str, max_rows: i32) -> Result<(), Failure> {
        if self.session.cursor_columns(name).is_none() {
            return Err(no_portal(name));
        }
        let limit = usize::try_from(max_rows).unwrap_or(0);
        let rows = (limit > 0).then_some(limit as u64);
        let stream = self.session.execute_cursor(name, rows).await?;
        let mut source = self.row_source(stream);
        match source.send(&mut self.wire, &|_| false, limit).await? {
            true => self.wire.out.complete_rows(source.tag(), source.sent()),
            false => self.wire.out.portal_suspended(),
        }
        Ok(self.wire.flush_if_full().await?)
    }

    /// The rows of the statement that just began.
    fn row_source(&self, stream: RowStream) -> RowSource {
        RowSource::new(stream, self.session.time_zone(), self.session.statement_timer())
    }

    /// Runs DECLARE and CLOSE of a name that a protocol portal has. False leaves the statement to the session.
    fn portal_step(&mut self, step: Option<CursorStep<'_>>) -> Result<bool, Failure> {
        let portals = &mut self.extended.portals;
        match step.filter(|_| self.session.status() != TransactionStatus::Failed) {
            Some(CursorStep::Declare { name }) if portals.contains(name) => Err(portal_exists(name)),
            Some(CursorStep::Close { name }) if portals.remove(name).is_some() => {
                self.wire.out.complete("CLOSE CURSOR");
                Ok(true)
            }
            Some(CursorStep::CloseAll) => {
                portals.clear();
                Ok(false)
            }
            _ => Ok(false),
        }
    }

    /// Runs a simple query's statement about a protocol portal. False leaves the statement to the session.
    pub(crate) async fn cursor_statement(&mut self, statement: &Script) -> Result<bool, Failure> {
        let step = statement.cursor_step();
        let Some(CursorStep::Fetch { name, count, moves }) = step else { return self.portal_step(step) };
        if self.session.status() == TransactionStatus::Failed {
            return Ok(false);
        }
        let Some(mut portal) = self.extended.portals.remove(name) else { return Ok(false) };
        let Some(columns) = portal.columns.clone() else { return Err(without_rows(name)) };
        if let PortalState::Fresh = portal.state {
            let live = self.session.live_notices();
            let answer = {
                let run = pin!(self.session.execute(&portal.prepared, &portal.params));
                self.wire.watch_statement(&live, run).await??
            };
            let Answer::Rows(stream) = answer else { return Err(without_rows(name)) };
            portal.state = PortalState::Open(Box::new(self.row_source(stream)));
        } else if let PortalState::Open(source) = &portal.state {
            source.resume(&self.session);
        }
        let limit = count.map_or(0, |count| usize::try_from(count).unwrap_or(usize::MAX));
        if !moves {
            self.wire.out.row_description(&columns, |_| 0);
        }
        let mut rows = 0;
        if let PortalState::Open(source) = &mut portal.state {
            let before = source.sent();
            let ended = match moves {
                true => source.pass(&mut self.wire, limit).await?,
                false => source.send(&mut self.wire, &|_| false, limit).await?,
            };
            rows = source.sent() - before;
            source.pause();
            if ended {
                portal.state = PortalState::Finished(Some(source.tag()));
            }
        }
        self.wire.out.complete(&format!("{} {rows}", if moves { "MOVE" } else { "FETCH" }));
        self.extended.portals.insert(name, portal);
        Ok(true)
    }

    fn statement(&self, name: &str) -> Result<Arc<Prepared>, Failure> {
        let found = if name.is_empty() { self.extended.unnamed.clone() } else { self.session.prepared(name) };
        found.ok_or_else(|| ClientFault::NoPrepared(name.to_string()).into())
    }
}

fn no_portal(name: &str) -> Failure {
    ClientFault::NoPortal(name.to_string()).into()
}

fn without_rows(name: &str) -> Failure {
    ClientFault::PortalWithoutRows(name.to_string()).into()
}

fn portal_exists(name: &str) -> Failure {
    ClientFault::DuplicatePortal(name.to_string()).into()
}

fn parameter_type(oid: u32) -> Result<Option<DataType>, Failure> {
    match oid {
        // A value declared as bpchar is of the char(n) that it is compared with or assigned to.
        0 | OID_UNKNOWN | OID_BPCHAR => Ok(None),
        _ if OIDS_OF_TEXT.contains(&oid) => Ok(Some(DataType::Text)),
        _ => match DataType::from_oid(oid, -1) {
            Some(ty) => Ok(Some(ty)),
            None => Err(ClientFault::Unsupported(format!("parameters of the type with OID {oid} are")).into()),
        },
    }
}

/// The format code of a column or parameter: one code applies to all, no code means text.
fn format_of(formats: &[i16], index: usize) -> i16 {
    match formats {
        [] => 0,
        [all] => *all,
        each => each.get(index).copied().unwrap_or(0),
    }
}

fn check_results(columns: usize, results: &[i16]) -> Result<(), Failure> {
    if results.len() > 1 && results.len() != columns {
        let message = format!("bind message has {} result formats but query has {columns} columns", results.len());
        return Err(ClientFault::Protocol(message).into());
    }
    match results.iter().find(|f| !matches!(f, 0 | 1)) {
        Some(format) => Err(ClientFault::FormatCode(*format).into()),
        None => Ok(()),
    }
}

fn parameters(types: &[DataType], bind: &Bind, zone: TimeZone) -> Result<Vec<Datum>, Failure> {
    if bind.values.len() != types.len() {
        let (got, want) = (bind.values.len(), types.len());
        let message = format!(
            "bind message supplies {got} parameters, but prepared statement \"{}\" requires {want}",
            bind.statement
        );
        return Err(ClientFault::Protocol(message).into());
    }
    if bind.formats.len() > 1 && bind.formats.len() != bind.values.len() {
        let message =
            format!("bind message has {} parameter formats but {} parameters", bind.formats.len(), bind.values.len());
        return Err(ClientFault::Protocol(message).into());
    }
    let value = |(i, (ty, value)): (usize, (&DataType, &Option<bytes::Bytes>))| match value {
        None => Ok(Datum::Null),
        Some(bytes) => {
            decode_parameter(ty, format_of(&bind.formats, i), bytes, zone).map_err(|bad| bad_parameter(i, bad))
        }
    };
    types.iter().zip(&bind.values).enumerate().map(value).collect()
}

fn bad_parameter(index: usize, bad: BadParameter) -> Failure {
    let number = index + 1;
    match bad {
        BadParameter::Type(error) => Failure::Statement(EngineErrorFromParameter::build(error, number)),
        BadParameter::Short => ClientFault::Protocol("insufficient data left in message".to_string()).into(),
        BadParameter::Binary => ClientFault::BinaryParameter(number).into(),
        BadParameter::Format(code) => ClientFault::FormatCode(code).into(),
    }
}

/// Builds the error of an invalid parameter value: SQLSTATE from the engine, parameter number as context.
struct EngineErrorFromParameter;

impl EngineErrorFromParameter {
    fn build(error: types::TypeError, number: usize) -> engine::EngineError {
        engine::EngineError::from(error).with_context(format!("unnamed portal parameter ${number}"))
    }
}
