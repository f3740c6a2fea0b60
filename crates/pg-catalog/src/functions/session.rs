//! Functions about the session and the server.

use super::{BOOL, Function, INT, OID, Returns, TEXT, refused, strict};
use crate::rows::Cell;
use builtins::Reason;

pub(super) static FUNCTIONS: &[Function] = &[
    strict("current_schemas", &[BOOL], Returns::Texts, |source, args| {
        let named = source.live.search_path();
        let implicit = args.bool(0) == Some(true) && !named.iter().any(|schema| schema == "pg_catalog");
        let known = named.iter().filter(|schema| source.schema_oid(schema).is_some()).cloned();
        Ok(implicit.then(|| "pg_catalog".to_owned()).into_iter().chain(known).collect::<Vec<String>>().into())
    }),
    // `current_setting` with a name that is not a constant.
    strict("setting_of", &[TEXT, BOOL], Returns::Text, |source, args| {
        let name = args.text(0).unwrap_or_default();
        match source.live.setting(name) {
            Some(value) => Ok(value.into()),
            None if args.bool(1) == Some(true) => Ok(Cell::Null),
            None => refused(Reason::NoSuchObject, format!("unrecognized configuration parameter \"{name}\"")),
        }
    })
    .optional(1),
    strict("pg_backend_pid", &[], Returns::Int, |source, _| Ok(source.live.process_id().into())),
    strict("pg_cancel_backend", &[INT], Returns::Bool, |source, args| {
        let process = args.int(0).and_then(|process| i32::try_from(process).ok());
        Ok(process.is_some_and(|process| source.live.stop_session(process, false)).into())
    })
    .acting(),
    strict("pg_terminate_backend", &[INT], Returns::Bool, |source, args| {
        let process = args.int(0).and_then(|process| i32::try_from(process).ok());
        Ok(process.is_some_and(|process| source.live.stop_session(process, true)).into())
    })
    .acting(),
    strict("pg_export_snapshot", &[], Returns::Text, |source, _| Ok(source.live.export_snapshot()?.into())).acting(),
    // Replication is not supported.
    strict("pg_is_in_recovery", &[], Returns::Bool, |_, _| Ok(false.into())),
    strict("pg_is_wal_replay_paused", &[], Returns::Bool, |_, _| {
        refused(Reason::WrongState, "recovery is not in progress")
    }),
    strict("pg_client_encoding", &[], Returns::Text, |source, _| Ok(source.live.setting("client_encoding").into())),
    // Triggers are not supported.
    strict("pg_trigger_depth", &[], Returns::Int, |_, _| Ok(0.into())),
    // There is no JIT compilation.
    strict("pg_jit_available", &[], Returns::Bool, |_, _| Ok(false.into())),
    // Temporary tables are not supported.
    strict("pg_my_temp_schema", &[], Returns::Oid, |_, _| Ok(0_u32.into())),
    strict("pg_is_other_temp_schema", &[OID], Returns::Bool, |_, _| Ok(false.into())),
];
