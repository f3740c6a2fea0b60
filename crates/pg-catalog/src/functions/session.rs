//! The session and its server.

use super::{BOOL, Function, INT, OID, Returns, TEXT, refused, strict};
use crate::rows::Cell;
use builtins::Reason;

pub(super) static CURRENT_SCHEMAS: Function = strict("current_schemas", &[BOOL], Returns::Texts, |source, args| {
    let named = source.live.search_path();
    let implicit = args.bool(0) == Some(true) && !named.iter().any(|schema| schema == "pg_catalog");
    let known = named.iter().filter(|schema| source.schema_oid(schema).is_some()).cloned();
    Ok(implicit.then(|| "pg_catalog".to_owned()).into_iter().chain(known).collect::<Vec<String>>().into())
});

/// `current_setting` of a name that is no constant.
pub(super) static SETTING_OF: Function = strict("setting_of", &[TEXT, BOOL], Returns::Text, |source, args| {
    let name = args.text(0).unwrap_or_default();
    match source.live.setting(name) {
        Some(value) => Ok(value.into()),
        None if args.bool(1) == Some(true) => Ok(Cell::Null),
        None => refused(Reason::NoSuchObject, format!("unrecognized configuration parameter \"{name}\"")),
    }
})
.optional(1);

pub(super) static PG_BACKEND_PID: Function =
    strict("pg_backend_pid", &[], Returns::Int, |source, _| Ok(source.live.process_id().into()));

pub(super) static PG_CANCEL_BACKEND: Function = strict("pg_cancel_backend", &[INT], Returns::Bool, |source, args| {
    let process = args.int(0).and_then(|process| i32::try_from(process).ok());
    Ok(process.is_some_and(|process| source.live.stop_session(process, false)).into())
})
.acting();

pub(super) static PG_TERMINATE_BACKEND: Function =
    strict("pg_terminate_backend", &[INT], Returns::Bool, |source, args| {
        let process = args.int(0).and_then(|process| i32::try_from(process).ok());
        Ok(process.is_some_and(|process| source.live.stop_session(process, true)).into())
    })
    .acting();

pub(super) static PG_EXPORT_SNAPSHOT: Function =
    strict("pg_export_snapshot", &[], Returns::Text, |source, _| Ok(source.live.export_snapshot()?.into())).acting();

/// There are no standby servers.
pub(super) static PG_IS_IN_RECOVERY: Function =
    strict("pg_is_in_recovery", &[], Returns::Bool, |_, _| Ok(false.into()));

pub(super) static PG_IS_WAL_REPLAY_PAUSED: Function = strict("pg_is_wal_replay_paused", &[], Returns::Bool, |_, _| {
    refused(Reason::WrongState, "recovery is not in progress")
});

pub(super) static PG_CLIENT_ENCODING: Function =
    strict("pg_client_encoding", &[], Returns::Text, |source, _| Ok(source.live.setting("client_encoding").into()));

/// There are no triggers.
pub(super) static PG_TRIGGER_DEPTH: Function = strict("pg_trigger_depth", &[], Returns::Int, |_, _| Ok(0.into()));

/// Nothing is compiled to machine code.
pub(super) static PG_JIT_AVAILABLE: Function = strict("pg_jit_available", &[], Returns::Bool, |_, _| Ok(false.into()));

/// There are no temporary tables.
pub(super) static PG_MY_TEMP_SCHEMA: Function = strict("pg_my_temp_schema", &[], Returns::Oid, |_, _| Ok(0_u32.into()));
pub(super) static PG_IS_OTHER_TEMP_SCHEMA: Function =
    strict("pg_is_other_temp_schema", &[OID], Returns::Bool, |_, _| Ok(false.into()));

/// There are no advisory locks, so none is left.
pub(super) static PG_ADVISORY_UNLOCK_ALL: Function =
    strict("pg_advisory_unlock_all", &[], Returns::Text, |_, _| Ok("".into()));
