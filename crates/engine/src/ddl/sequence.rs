//! CREATE, ALTER and DROP SEQUENCE.

use crate::Session;
use crate::error::{EngineResult, Fault, fail};
use crate::session::search_path::before_look_up;
use catalog::{Catalog, CatalogError, Counting, NewSequence, Sequence, SequenceOwner};
use sql::{AlterSequence, CreateSequence, ObjectName, SequenceChange, SequenceOptions};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use types::DataType;

impl Session {
    pub(super) async fn create_sequence(&mut self, create: &CreateSequence) -> EngineResult<()> {
        let catalog = self.engine.catalog().current();
        let schema = self.schema_for(&catalog, &create.name)?;
        let name = create.name.name.clone();
        let counting = counting(&create.options, None)?;
        let owner = match &create.options.owned_by {
            Some(Some((table, column))) => Some(self.owner(&catalog, &schema, table, column)?),
            _ => None,
        };
        let new = NewSequence { schema, name: name.clone(), counting, owner };
        let turn = self.catalog_turn().await?;
        match self.engine.catalog().change_in(turn, |draft| draft.create_sequence(new)).await {
            Err(CatalogError::DuplicateTable { .. }) if create.if_not_exists => {
                self.skipped("42P07", &format!("relation \"{name}\" already exists"));
                Ok(())
            }
            done => Ok(done.map(drop)?),
        }
    }

    pub(super) async fn alter_sequence(&mut self, alter: &AlterSequence) -> EngineResult<()> {
        let options = match &alter.change {
            SequenceChange::Rename { to } => return self.rename_sequence(&alter.name, alter.if_exists, to).await,
            SequenceChange::Options(options) => options,
        };
        while !self.change_sequence(alter, options).await? {
            self.running().check()?;
        }
        Ok(())
    }

    /// Changes the options of a sequence. False if another session has changed the sequence meanwhile.
    async fn change_sequence(&mut self, alter: &AlterSequence, options: &SequenceOptions) -> EngineResult<bool> {
        let catalog = self.engine.catalog().current();
        let Some(old) = self.find_sequence(&catalog, &alter.name)? else {
            self.relation_is_missing(&alter.name, alter.if_exists)?;
            return Ok(true);
        };
        let counting = self.recounted(options, &old).await?;
        let schema = catalog.schema_by_id(old.schema).map(|schema| schema.name.clone()).unwrap_or_default();
        let owner = match &options.owned_by {
            None => old.owner,
            Some(_) if old.owner.is_some_and(|owner| owner.identity) => {
                let message = "cannot change ownership of identity sequence".to_string();
                return fail(Fault::Refused { message });
            }
            Some(None) => None,
            Some(Some((table, column))) => Some(self.owner(&catalog, &schema, table, column)?),
        };
        let restart = options.restart.map(|at| at.unwrap_or(counting.start));
        let is_stale = AtomicBool::new(false);
        let change = |it: &mut Sequence| {
            if it.version != old.version {
                is_stale.store(true, Ordering::Relaxed);
                return Err(CatalogError::ChangedElsewhere);
            }
            it.count_as(counting, restart);
            it.owner = owner;
            Ok(())
        };
        match self.change_catalog(|draft| draft.alter_sequence(old.oid, change)).await {
            Err(_) if is_stale.load(Ordering::Relaxed) => Ok(false),
            changed => changed.map(|_| true),
        }
    }

    /// The new options of an existing sequence. Without RESTART, its last value must lie within the new bounds.
    pub(super) async fn recounted(&self, options: &SequenceOptions, old: &Sequence) -> EngineResult<Counting> {
        let counting = counting(options, Some(old))?;
        if options.restart.is_none() {
            let (last, _) = self.engine.catalog().sequence_values().position(old).await;
            // The position lies beyond the bounds if a table rewrite used all values.
            check_value("RESTART", last.clamp(old.min, old.max), (counting.min, counting.max))?;
        }
        Ok(counting)
    }

    /// ALTER SEQUENCE … RENAME TO.
    pub(super) async fn rename_sequence(&mut self, name: &ObjectName, if_exists: bool, to: &str) -> EngineResult<()> {
        let catalog = self.engine.catalog().current();
        let Some(old) = self.find_sequence(&catalog, name)? else {
            return self.relation_is_missing(name, if_exists);
        };
        let rename = |it: &mut Sequence| {
            it.name = to.to_string();
            Ok(())
        };
        self.change_catalog(|draft| draft.alter_sequence(old.oid, rename).map(drop)).await
    }

    pub(super) async fn drop_sequences(
        &mut self,
        names: &[ObjectName],
        if_exists: bool,
        cascade: bool,
    ) -> EngineResult<()> {
        let catalog = self.engine.catalog().current();
        let found = |name| Ok((name, self.find_sequence(&catalog, name)?.map(|it| it.oid)));
        let found = names.iter().map(found).collect::<EngineResult<Vec<_>>>()?;
        self.drop_named("sequence", found, if_exists, cascade).await
    }

    /// Finds a sequence by name; another kind of relation is an error.
    pub(crate) fn find_sequence(&self, catalog: &Catalog, name: &ObjectName) -> EngineResult<Option<Arc<Sequence>>> {
        super::check_database(name)?;
        let schemas = self.schemas_of(catalog, name);
        before_look_up(schemas.len())?;
        find_sequence(catalog, &schemas, &name.name)
    }

    fn owner(&self, catalog: &Catalog, schema: &str, table: &ObjectName, column: &str) -> EngineResult<SequenceOwner> {
        let table = self.resolve(catalog, table)?;
        if catalog.schema_name(&table) != schema {
            let message = "sequence must be in same schema as table it is linked to".to_string();
            return fail(Fault::Refused { message });
        }
        Ok(SequenceOwner { table: table.oid, column: table.must_get_column(column)?.id, identity: false })
    }
}

/// Finds a sequence by name in the first of these schemas that has a relation of that name.
pub(crate) fn find_sequence(catalog: &Catalog, schemas: &[String], name: &str) -> EngineResult<Option<Arc<Sequence>>> {
    for schema in schemas {
        if let Some(sequence) = catalog.sequence(schema, name) {
            return Ok(Some(Arc::clone(sequence)));
        }
        if catalog.table(schema, name).is_some() || catalog.view(schema, name).is_some() {
            return fail(Fault::WrongObject { message: format!("\"{name}\" is not a sequence"), hint: None });
        }
    }
    Ok(None)
}

fn invalid<T>(message: String) -> EngineResult<T> {
    fail(Fault::BadSequence { message })
}

/// Resolves the options of a new sequence, or of the existing sequence `old`, and checks them.
pub(super) fn counting(options: &SequenceOptions, old: Option<&Sequence>) -> EngineResult<Counting> {
    let ty = options.data_type.or(old.map(|old| old.ty)).unwrap_or(DataType::BigInt);
    let increment = options.increment.or(old.map(|old| old.increment)).unwrap_or(1);
    let (min, max) = bounds(options, old, (ty, increment))?;
    let start = options.start.or(old.map(|old| old.start)).unwrap_or(if increment > 0 { min } else { max });
    let restart = options.restart.flatten().unwrap_or(start);
    check_value("START", start, (min, max))?;
    check_value("RESTART", restart, (min, max))?;
    let cache = options.cache.or(old.map(|old| old.cache)).unwrap_or(1);
    if cache < 1 {
        return invalid(format!("CACHE ({cache}) must be greater than zero"));
    }
    let cycle = options.cycle.or(old.map(|old| old.cycle)).unwrap_or(false);
    Ok(Counting { ty, start, increment, min, max, cache, cycle })
}

fn check_value(word: &str, value: i64, (min, max): (i64, i64)) -> EngineResult<()> {
    if value < min {
        return invalid(format!("{word} value ({value}) cannot be less than MINVALUE ({min})"));
    }
    if value > max {
        return invalid(format!("{word} value ({value}) cannot be greater than MAXVALUE ({max})"));
    }
    Ok(())
}

/// MINVALUE and MAXVALUE for a type and an increment.
fn bounds(
    options: &SequenceOptions,
    old: Option<&Sequence>,
    (ty, increment): (DataType, i64),
) -> EngineResult<(i64, i64)> {
    let (low, high) = range_of(ty)?;
    if increment == 0 {
        return invalid("INCREMENT must not be zero".to_string());
    }
    let (lowest, highest) = if increment > 0 { (1, high) } else { (low, -1) };
    // AS resets only the bounds that equal the old type's.
    let retyped = match old.filter(|_| options.data_type.is_some()) {
        Some(old) => Some((old, range_of(old.ty)?)),
        None => None,
    };
    let min = match retyped {
        Some((old, (old_low, _))) if old.min == old_low => bound(options.min, None, low),
        _ => bound(options.min, old.map(|old| old.min), lowest),
    };
    let max = match retyped {
        Some((old, (_, old_high))) if old.max == old_high => bound(options.max, None, high),
        _ => bound(options.max, old.map(|old| old.max), highest),
    };
    for (word, value) in [("MAXVALUE", max), ("MINVALUE", min)] {
        if !(low..=high).contains(&value) {
            return invalid(format!("{word} ({value}) is out of range for sequence data type {}", ty.sql_name()));
        }
    }
    match min < max {
        true => Ok((min, max)),
        false => invalid(format!("MINVALUE ({min}) must be less than MAXVALUE ({max})")),
    }
}

/// The given bound, else the old one, else the default, which NO MINVALUE and NO MAXVALUE mean too.
fn bound(written: Option<Option<i64>>, was: Option<i64>, default: i64) -> i64 {
    match written {
        Some(written) => written.unwrap_or(default),
        None => was.unwrap_or(default),
    }
}

/// The range of a sequence's data type.
fn range_of(ty: DataType) -> EngineResult<(i64, i64)> {
    match ty {
        DataType::SmallInt => Ok((i64::from(i16::MIN), i64::from(i16::MAX))),
        DataType::Integer => Ok((i64::from(i32::MIN), i64::from(i32::MAX))),
        DataType::BigInt => Ok((i64::MIN, i64::MAX)),
        _ => invalid("sequence type must be smallint, integer, or bigint".to_string()),
    }
}
