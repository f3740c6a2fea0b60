//! ALTER COLUMN … ADD GENERATED AS IDENTITY, DROP IDENTITY, and changes of an identity's sequence.

use super::step::Step;
use crate::Session;
use crate::ddl::generated::OwnSequence;
use crate::error::{EngineResult, Fault, fail};
use catalog::{Identity, Table};
use sql::{Generated, IdentityChange};

impl Session {
    /// ADD GENERATED AS IDENTITY: the new sequence of the column.
    pub(super) fn own_sequence(&self, table: &Table, name: &str, generated: &Generated) -> EngineResult<OwnSequence> {
        let column = table.must_get_column(name)?;
        let what = format!("column \"{name}\" of relation \"{}\"", table.name);
        let catalog = self.engine.catalog().current();
        let sequence = OwnSequence::new(name, column.ty, generated, catalog.schema_name(table))?;
        let message = if !column.not_null {
            format!("{what} must be declared NOT NULL before identity can be added")
        } else if column.identity.is_some() {
            format!("{what} is already an identity column")
        } else if column.default.is_some() {
            format!("{what} already has a default value")
        } else {
            return Ok(sequence);
        };
        fail(Fault::Refused { message })
    }

    /// DROP IDENTITY. `None` if the column is not an identity and IF EXISTS is given.
    pub(super) fn dropped_identity(
        &mut self,
        table: &Table,
        column: &str,
        if_exists: bool,
    ) -> EngineResult<Option<Step>> {
        if table.must_get_column(column)?.identity.is_some() {
            return Ok(Some(Step::DropIdentity(column.to_string())));
        }
        let what = format!("column \"{column}\" of relation \"{}\" is not an identity column", table.name);
        self.skipped_if(if_exists, what)
    }

    /// SET GENERATED, SET of a sequence option, RESTART.
    pub(super) async fn changed_identity(
        &self,
        table: &Table,
        name: &str,
        change: &IdentityChange,
    ) -> EngineResult<Step> {
        let column = table.must_get_column(name)?;
        let catalog = self.engine.catalog().current();
        let sequence = column.identity.and(column.sequence).and_then(|oid| catalog.sequence_by_oid(oid));
        let Some(sequence) = sequence else {
            let message = format!("column \"{name}\" of relation \"{}\" is not an identity column", table.name);
            return fail(Fault::Refused { message });
        };
        let mut options = change.options.clone();
        if sequence.ty != column.ty {
            // A preceding SET DATA TYPE of the same statement changes the sequence's type too.
            options.data_type = Some(column.ty);
        }
        let counting = self.recounted(&options, sequence).await?;
        let identity = change.always.map(|always| if always { Identity::Always } else { Identity::ByDefault });
        let restart = options.restart.map(|at| at.unwrap_or(counting.start));
        Ok(Step::ChangeIdentity { column: name.to_string(), sequence: sequence.oid, identity, counting, restart })
    }
}
