//! LOCK TABLE: locks a table to the end of the transaction block.
//!
//! Tables have two lock modes: shared, which conflicts with DDL, and exclusive, which conflicts with writers too. Each
//! of PostgreSQL's modes maps to the weaker one that conflicts with everything it has to. ACCESS EXCLUSIVE is
//! unsupported, because readers take no lock.

use crate::Session;
use crate::block::Block;
use crate::error::{EngineResult, Fault, fail};
use sql::{LockTables, ObjectName, TableLockMode};
use txn::{LockMode, LockWait};

impl Session {
    /// LOCK TABLE.
    pub(crate) async fn lock_tables(&mut self, lock: &LockTables) -> EngineResult<String> {
        let Block::Open(open) = &mut self.block else {
            return fail(Fault::OutsideBlock { command: "LOCK TABLE" });
        };
        open.used = true;
        let mut txn = open.borrow()?;
        let mode = match lock.mode {
            TableLockMode::AccessShare | TableLockMode::RowShare | TableLockMode::RowExclusive => LockMode::Shared,
            TableLockMode::ShareUpdateExclusive
            | TableLockMode::Share
            | TableLockMode::ShareRowExclusive
            | TableLockMode::Exclusive => LockMode::Exclusive,
            TableLockMode::AccessExclusive => {
                return fail(Fault::Unsupported { feature: "LOCK TABLE in ACCESS EXCLUSIVE mode".to_string() });
            }
        };
        for name in &lock.names {
            self.refuse_view(name)?;
            if let Ok(table) = self.resolve_stored(&self.engine.catalog().current(), name)
                && table.materialized.is_some()
            {
                return fail(Fault::NotOfMaterialized { message: format!("cannot lock relation \"{}\"", table.name) });
            }
            let wait = if lock.no_wait { LockWait::Never } else { self.settings.effective().lock_wait };
            self.lock_named(txn.locks(), name, mode, wait).await?;
        }
        Ok("LOCK TABLE".to_string())
    }

    fn refuse_view(&self, name: &ObjectName) -> EngineResult<()> {
        let catalog = self.engine.catalog().current();
        match self.schemas_of(&catalog, name).iter().any(|schema| catalog.view(schema, &name.name).is_some()) {
            true => fail(Fault::Unsupported { feature: "LOCK TABLE of a view".to_string() }),
            false => Ok(()),
        }
    }
}
