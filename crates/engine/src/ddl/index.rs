//! CREATE INDEX, DROP INDEX, ALTER INDEX, REINDEX, and UNIQUE constraints.

use super::create_table::property;
use super::materialized::interval;
use crate::Session;
use crate::error::{EngineResult, Fault, fail};
use crate::search_path::before_look_up;
use bind::Clause;
use catalog::{Catalog, CatalogError, Index, IndexRefresh, NewIndex, NewIndexPart, NewPartOf, Table};
use sql::{
    CreateIndex, CreateTable, IndexPartDef, IndexPartOf, KeyPartDef, ObjectName, PrimaryKeyDef, Reindex, TableOption,
    UniqueDef,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use txn::{LockMode, LockOwner};
use types::DataType;

/// Why there is no such index.
pub(super) const UNIQUE_REFRESHED: &str =
    "a UNIQUE index cannot be refreshed by a job: between two refreshes nothing would keep its values unique";

/// As PostgreSQL has it.
const MAX_COLUMNS: usize = 32;

impl Session {
    pub(super) async fn create_index(&mut self, create: &CreateIndex) -> EngineResult<()> {
        let mut locks = self.own_locks();
        let table = self.lock_indexed(&mut locks, &create.table, LockMode::Exclusive).await?;
        match self.wanted_index(&table, create).await? {
            Some(new) => self.add_index(&table, new).await,
            None => Ok(()),
        }
    }

    /// The table or materialized view that gets an index.
    pub(super) async fn lock_indexed(
        &self,
        locks: &mut LockOwner,
        name: &ObjectName,
        mode: LockMode,
    ) -> EngineResult<Arc<Table>> {
        let found = self.lock_stored_by_name(locks, name, mode).await;
        found.map_err(|error| match error.code() {
            "42809" => Fault::NotIndexable { name: name.name.clone(), kind: self.kind_of(name) }.into(),
            _ => error,
        })
    }

    /// The index that is to be made; `None`: there is one of its name, and that is fine.
    pub(super) async fn wanted_index(
        &mut self,
        table: &Arc<Table>,
        create: &CreateIndex,
    ) -> EngineResult<Option<NewIndex>> {
        if let Some(name) = create.name.as_ref().filter(|_| create.if_not_exists)
            && is_relation(&self.engine.catalog().current(), table, name)
        {
            self.skipped("42P07", &format!("relation \"{name}\" already exists"));
            return Ok(None);
        }
        let column = |part: &'_ IndexPartDef| match &part.of {
            IndexPartOf::Column(column) => Some(column.clone()),
            IndexPartOf::Expression(_) => None,
        };
        for column in create.parts.iter().filter_map(column).chain(create.include.iter().cloned()) {
            if table.column_by_name(&column).is_none_or(|column| column.hidden) {
                return fail(Fault::NoIndexedColumn { column });
            }
        }
        let new = self.new_index(table, create).await?;
        Ok(Some(new))
    }

    async fn new_index(&mut self, table: &Arc<Table>, create: &CreateIndex) -> EngineResult<NewIndex> {
        let (salt_buckets, every) = self.check_options(&create.options)?;
        check_method(create.method.as_deref())?;
        self.tablespace_without_effect(create.tablespace.as_deref());
        let mut parts = Vec::with_capacity(create.parts.len());
        for part in &create.parts {
            let of = match &part.of {
                IndexPartOf::Column(column) => NewPartOf::Column(column.clone()),
                IndexPartOf::Expression(def) => {
                    NewPartOf::Expression(self.new_index_expr(table, def, Clause::IndexExpression).await?)
                }
            };
            if let (Some(class), Some(ty)) = (&part.class, type_of(table, &of)) {
                check_operator_class(class, ty)?;
            }
            let nulls_first = part.nulls_first.unwrap_or(part.descending);
            parts.push(NewIndexPart { of, descending: part.descending, nulls_first });
        }
        let predicate = match &create.predicate {
            Some(def) => Some(self.new_index_expr(table, def, Clause::IndexPredicate).await?),
            None => None,
        };
        let salted = salt_buckets.is_some();
        let message = match (create.local, create.unique && salted, salted, !create.split_on.is_empty()) {
            (true, _, true, _) | (true, _, _, true) => {
                "a LOCAL index has the salt and the regions of its table: SALT_BUCKETS and SPLIT ON cannot be given"
            }
            (_, true, ..) => "a UNIQUE index cannot be salted: equal values would be in several buckets",
            (_, _, true, true) => "split points cannot be given for a salted index: each of its buckets is a region",
            _ => "",
        };
        if !message.is_empty() {
            return fail(Fault::InvalidDefinition { message: message.to_string() });
        }
        let types: Vec<DataType> = parts.iter().filter_map(|part| type_of(table, &part.of)).collect();
        let splits = create.split_on.iter().map(|point| self.split_point(point, &types));
        let new = NewIndex {
            name: create.name.clone(),
            unique: create.unique,
            nulls_not_distinct: create.nulls_not_distinct,
            constraint: false,
            parts,
            include: create.include.clone(),
            salt_buckets,
            predicate,
            local: create.local,
            splits: splits.collect::<EngineResult<_>>()?,
            refresh: every.map(|every| IndexRefresh { every: Some(every), ..IndexRefresh::default() }),
            ..NewIndex::default()
        };
        check_width(new)
    }

    /// ALTER TABLE … ADD UNIQUE. The caller keeps writers off the table.
    pub(super) async fn add_unique(&mut self, table: &Table, unique: &UniqueDef) -> EngineResult<()> {
        let is_column = |name: &str| table.visible_columns().any(|column| column.name == name);
        self.no_salt(unique)?;
        self.add_index(table, new_unique(unique, is_column)?).await
    }

    /// The UNIQUE constraints of a new table, those left out that its key or another one of them is already.
    pub(super) fn new_uniques(&mut self, create: &CreateTable) -> EngineResult<Vec<NewIndex>> {
        let is_column = |name: &str| create.columns.iter().any(|column| column.name == name);
        let key: Vec<&String> = create.key.iter().flat_map(|key| &key.parts).map(|part| &part.column).collect();
        let mut made: Vec<(&UniqueDef, NewIndex)> = Vec::new();
        for unique in create.columns.iter().flat_map(|column| &column.uniques).chain(&create.uniques) {
            self.no_salt(unique)?;
            let new = new_unique(unique, is_column)?;
            let is_key =
                !unique.nulls_not_distinct && unique.include.is_empty() && unique.columns().eq(key.iter().copied());
            let same = |known: &&mut (&UniqueDef, NewIndex)| {
                known.0.primary == unique.primary
                    && known.0.parts == unique.parts
                    && known.0.include == unique.include
                    && known.0.nulls_not_distinct == unique.nulls_not_distinct
            };
            match made.iter_mut().find(same) {
                _ if is_key => {}
                // As in PostgreSQL: the first one gets the name of the second, if it has none.
                Some((_, known)) => known.name = known.name.take().or(new.name),
                None => made.push((unique, new)),
            }
        }
        Ok(made.into_iter().map(|(_, new)| new).collect())
    }

    /// `table`: Phoenix names the table of the index.
    pub(super) async fn drop_indexes(
        &mut self,
        names: &[ObjectName],
        table: Option<&ObjectName>,
        if_exists: bool,
    ) -> EngineResult<()> {
        let mut locks = self.own_locks();
        let mut found = Vec::new();
        for name in names {
            let found_index = match table {
                Some(table) => {
                    let table = self.lock_stored_by_name(&mut locks, table, LockMode::Exclusive).await?;
                    table.index(&name.name).cloned().map(|index| (table, index))
                }
                None => self.lock_index(&mut locks, name).await?,
            };
            match found_index {
                Some((table, index)) => {
                    if index.constraint.is_some() {
                        return Err(required(&index.name, &index.name, &table).into());
                    }
                    found.push((table.oid, index.oid));
                }
                None if if_exists => self.skipped("00000", &format!("index \"{}\" does not exist", name.name)),
                None => return fail(Fault::NoSuchIndex { name: super::view::shown(name) }),
            }
        }
        self.change_catalog(|draft| {
            found.iter().try_for_each(|(table, index)| draft.drop_index(*table, *index).map(drop))
        })
        .await
    }

    pub(super) async fn rename_index(&mut self, name: &ObjectName, if_exists: bool, to: &str) -> EngineResult<()> {
        let mut locks = self.own_locks();
        if let Some((table, key)) = self.find_key(&self.engine.catalog().current(), name)? {
            // The index of a primary key is the table itself: what is called so is the constraint.
            let table = self.lock_stored_by_name(&mut locks, &table, LockMode::Exclusive).await?;
            if is_relation(&self.engine.catalog().current(), &table, to) {
                return Err(CatalogError::DuplicateTable { name: to.to_string() }.into());
            }
            return self.change_catalog(|draft| draft.rename_constraint(table.oid, &key, to).map(drop)).await;
        }
        let Some((table, index)) = self.lock_index(&mut locks, name).await? else {
            if if_exists {
                self.skipped("00000", &format!("relation \"{}\" does not exist", name.name));
                return Ok(());
            }
            return fail(Fault::NoSuchObject { kind: "relation", name: super::view::shown(name) });
        };
        if index.constraint.is_some() && index.name != to && table.is_constraint(to) {
            let (table, constraint) = (table.name.clone(), to.to_string());
            return Err(CatalogError::DuplicateConstraint { table, constraint }.into());
        }
        self.change_catalog(|draft| draft.rename_index(table.oid, index.oid, to).map(drop)).await
    }

    /// ALTER INDEX … SET and RESET: what parameters there are means nothing to entries.
    pub(super) fn set_index_options(
        &mut self,
        name: &ObjectName,
        if_exists: bool,
        options: &[TableOption],
        tablespace: Option<&str>,
    ) -> EngineResult<()> {
        let catalog = self.engine.catalog().current();
        if self.find_key(&catalog, name)?.is_none() && self.find_index(&catalog, name)?.is_none() {
            if if_exists {
                self.skipped("00000", &format!("relation \"{}\" does not exist", name.name));
                return Ok(());
            }
            return fail(Fault::NoSuchObject { kind: "relation", name: super::view::shown(name) });
        }
        for option in options {
            match option.family {
                None if PARAMETERS.contains(&option.name.as_str()) => self.kept_in_no_pages(&option.name),
                _ if option.name == "refresh" || option.name == "salt_buckets" => {
                    let feature = format!("changing \"{}\" of an index that is there", option.name);
                    return fail(Fault::Unsupported { feature });
                }
                _ => return fail(Fault::NoSuchIndexParameter { name: option.name.clone() }),
            }
        }
        self.tablespace_without_effect(tablespace);
        Ok(())
    }

    /// The table whose primary key has that name, and its name.
    fn find_key(&self, catalog: &Catalog, name: &ObjectName) -> EngineResult<Option<(ObjectName, String)>> {
        super::check_database(name)?;
        for schema in self.schemas_of(catalog, name).iter() {
            if catalog.index(schema, &name.name).is_some() {
                return Ok(None);
            }
            let keyed = |table: &&Arc<Table>| table.key_name.as_ref() == Some(&name.name);
            if let Some(table) = catalog.tables_in(schema).find(keyed) {
                let of = ObjectName { database: None, schema: Some(schema.clone()), name: table.name.clone() };
                return Ok(Some((of, name.name.clone())));
            }
        }
        Ok(None)
    }

    /// The tables of REINDEX SCHEMA, or of REINDEX DATABASE, by their names.
    pub(super) fn reindexed_tables(&self, kind: Reindex, name: &ObjectName) -> EngineResult<Vec<ObjectName>> {
        let catalog = self.engine.catalog().current();
        let schema = match kind {
            Reindex::Schema => Some(catalog.must_get_schema(&name.name)?.name.clone()),
            _ => {
                let of = ObjectName { database: Some(name.name.clone()), ..name.clone() };
                super::check_database(&of)?;
                None
            }
        };
        let tables = catalog.tables().map(|table| (catalog.schema_name(table).to_string(), table));
        let wanted =
            tables.filter(|(of, table)| schema.as_ref().is_none_or(|schema| schema == of) && !table.indexes.is_empty());
        Ok(wanted
            .map(|(of, table)| ObjectName { database: None, schema: Some(of), name: table.name.clone() })
            .collect())
    }

    pub(super) async fn reindex(&mut self, kind: Reindex, name: &ObjectName) -> EngineResult<()> {
        if matches!(kind, Reindex::Schema | Reindex::Database) {
            for table in self.reindexed_tables(kind, name)? {
                match Box::pin(self.reindex(Reindex::Table, &table)).await {
                    // It was dropped meanwhile.
                    Err(error) if error.is_undefined_table() => {}
                    done => done?,
                }
            }
            return Ok(());
        }
        let mut locks = self.own_locks();
        if kind == Reindex::Table {
            let table = self.lock_stored_by_name(&mut locks, name, LockMode::Exclusive).await?;
            if table.indexes.is_empty() && table.has_hidden_row_id() {
                let message = format!("table \"{}\" has no indexes to reindex", table.name);
                self.notices.info("00000", message);
            }
            // One that is being built is made anew as it is.
            for index in table.indexes.iter().filter(|index| index.state.is_public() || index.refresh.is_some()) {
                self.rebuild_index(&table, index).await?;
            }
            return Ok(());
        }
        match self.lock_index(&mut locks, name).await {
            Ok(Some((_, index))) if !index.state.is_public() && index.refresh.is_none() => {
                fail(Fault::IndexNotBuilt { name: index.name })
            }
            Ok(Some((table, index))) => self.rebuild_index(&table, &index).await,
            Ok(None) => fail(Fault::NoSuchObject { kind: "relation", name: super::view::shown(name) }),
            // The index of a primary key is the table itself.
            Err(error) if error.code() == "2BP01" => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The index of that name, and its table, which is locked against writers.
    async fn lock_index(&self, locks: &mut LockOwner, name: &ObjectName) -> EngineResult<Option<(Arc<Table>, Index)>> {
        self.lock_index_in(locks, name, LockMode::Exclusive).await
    }

    /// The same in another mode.
    pub(super) async fn lock_index_in(
        &self,
        locks: &mut LockOwner,
        name: &ObjectName,
        mode: LockMode,
    ) -> EngineResult<Option<(Arc<Table>, Index)>> {
        loop {
            let catalog = self.engine.catalog().current();
            let Some((table, index)) = self.find_index(&catalog, name)? else { return Ok(None) };
            let schema = Some(catalog.schema_name(&table).to_string());
            let of_table = ObjectName { database: None, schema, name: table.name.clone() };
            let locked = self.lock_stored_by_name(locks, &of_table, mode).await?;
            if let Some(now) = locked.indexes.iter().find(|it| it.oid == index.oid) {
                return Ok(Some((Arc::clone(&locked), now.clone())));
            }
        }
    }

    pub(crate) fn find_index(&self, catalog: &Catalog, name: &ObjectName) -> EngineResult<Option<(Arc<Table>, Index)>> {
        super::check_database(name)?;
        let schemas = self.schemas_of(catalog, name);
        before_look_up(schemas.len())?;
        for schema in schemas.iter() {
            if let Some((table, index)) = catalog.index(schema, &name.name) {
                return Ok(Some((Arc::clone(table), index.clone())));
            }
            if let Some(table) = catalog.tables_in(schema).find(|table| table.key_name.as_ref() == Some(&name.name)) {
                return Err(required(&name.name, &name.name, table).into());
            }
            let hint = if let Some(table) = catalog.table(schema, &name.name) {
                match table.materialized {
                    Some(_) => "Use DROP MATERIALIZED VIEW to remove a materialized view.",
                    None => "Use DROP TABLE to remove a table.",
                }
            } else if catalog.view(schema, &name.name).is_some() {
                "Use DROP VIEW to remove a view."
            } else if catalog.sequence(schema, &name.name).is_some() {
                "Use DROP SEQUENCE to remove a sequence."
            } else {
                continue;
            };
            return fail(Fault::WrongObject {
                message: format!("\"{}\" is not an index", name.name),
                hint: Some(hint),
            });
        }
        Ok(None)
    }

    /// The parameters of a constraint's index.
    pub(super) fn no_salt(&mut self, unique: &UniqueDef) -> EngineResult<()> {
        self.tablespace_without_effect(unique.tablespace.as_deref());
        self.no_salt_in(&unique.options)
    }

    /// What a primary key says about its index, which is the table itself.
    pub(super) fn key_storage(&mut self, key: &PrimaryKeyDef) -> EngineResult<()> {
        self.tablespace_without_effect(key.tablespace.as_deref());
        self.no_salt_in(&key.options)
    }

    fn no_salt_in(&mut self, options: &[TableOption]) -> EngineResult<()> {
        let message = match self.check_options(options)? {
            (None, None) => return Ok(()),
            (Some(_), _) => "a UNIQUE index cannot be salted: equal values would be in several buckets",
            (None, Some(_)) => UNIQUE_REFRESHED,
        };
        fail(Fault::InvalidDefinition { message: message.to_string() })
    }

    /// Parameters of storage, which entries here do not have, and Phoenix's properties as tables take them. The salt
    /// buckets, and how often entries are made anew, in microseconds.
    fn check_options(&mut self, options: &[TableOption]) -> EngineResult<(Option<u16>, Option<i64>)> {
        let (mut properties, mut every) = (BTreeMap::new(), None);
        for option in options {
            match option.name.as_str() {
                name if option.family.is_none() && PARAMETERS.contains(&name) => self.kept_in_no_pages(name),
                "consistency" if option.family.is_none() => check_consistency(option)?,
                name if name == catalog::GUIDE_POSTS_WIDTH => {
                    let message =
                        "guide_posts_width is given for the table, and is that of its indexes too".to_string();
                    return fail(Fault::InvalidDefinition { message });
                }
                "refresh" if option.family.is_none() => {
                    every = property(option)?.1.as_deref().map(interval).transpose()?;
                }
                _ => {
                    let (name, value) = property(option)?;
                    properties.insert(name, value.unwrap_or_default());
                }
            }
        }
        match catalog::check_properties(properties) {
            Ok((salt_buckets, _)) => Ok((salt_buckets, every)),
            Err(CatalogError::UnknownProperty { name }) => fail(Fault::NoSuchIndexParameter { name }),
            Err(error) => Err(error.into()),
        }
    }
}

/// Parameters of PostgreSQL's indexes, which are kept in pages.
const PARAMETERS: &[&str] = &["fillfactor", "deduplicate_items"];

/// Phoenix's CONSISTENCY: entries are written with their rows.
fn check_consistency(option: &TableOption) -> EngineResult<()> {
    match property(option)?.1.map(|value| value.to_ascii_lowercase()).as_deref() {
        Some("strong") => Ok(()),
        Some("eventual") => {
            let feature = "an index with CONSISTENCY = EVENTUAL (WITH (refresh = '…') makes one that a job keeps)";
            fail(Fault::Unsupported { feature: feature.to_string() })
        }
        other => {
            let (value, expected) = (other.unwrap_or_default().to_string(), "STRONG or EVENTUAL");
            fail(Fault::BadParameter { name: "consistency", value, expected })
        }
    }
}

/// Entries are kept in order, which clients know as `btree`.
fn check_method(method: Option<&str>) -> EngineResult<()> {
    match method {
        None | Some("btree") => Ok(()),
        Some(name @ ("hash" | "gist" | "gin" | "spgist" | "brin")) => {
            fail(Fault::Unsupported { feature: format!("access method \"{name}\" of an index") })
        }
        Some(name) => fail(Fault::NoAccessMethod { name: name.to_string() }),
    }
}

/// Those that mean the order that a type has, and the types. `…_pattern_ops` are for the order of bytes, which text has here
/// anyway.
fn accepts(class: &str, ty: DataType) -> Option<bool> {
    use DataType as Of;
    Some(match class {
        "bool_ops" => ty == Of::Boolean,
        "bpchar_ops" | "bpchar_pattern_ops" => matches!(ty, Of::Char(_)),
        "bytea_ops" => matches!(ty, Of::Bytea | Of::Binary(_) | Of::Varbinary(_)),
        "date_ops" => ty == Of::Date,
        "float4_ops" => ty == Of::Real,
        "float8_ops" => ty == Of::Double,
        "int2_ops" => ty == Of::SmallInt,
        "int4_ops" => ty == Of::Integer,
        "int8_ops" => ty == Of::BigInt,
        "numeric_ops" => matches!(ty, Of::Numeric(_)),
        "text_ops" | "varchar_ops" | "text_pattern_ops" | "varchar_pattern_ops" => {
            matches!(ty, Of::Text | Of::Varchar(_))
        }
        "time_ops" => matches!(ty, Of::Time(_)),
        "timestamp_ops" => matches!(ty, Of::Timestamp(_)),
        "timestamptz_ops" => matches!(ty, Of::TimestampTz(_)),
        "uuid_ops" => ty == Of::Uuid,
        _ => return None,
    })
}

/// Operator classes of PostgreSQL for types that no index has here.
const OTHER_CLASSES: &[&str] = &[
    "array_ops",
    "bit_ops",
    "char_ops",
    "cidr_ops",
    "enum_ops",
    "inet_ops",
    "interval_ops",
    "jsonb_ops",
    "macaddr_ops",
    "money_ops",
    "name_ops",
    "oid_ops",
    "range_ops",
    "record_ops",
    "timetz_ops",
    "tsvector_ops",
];

fn check_operator_class(class: &str, ty: DataType) -> EngineResult<()> {
    match accepts(class, ty) {
        Some(true) => Ok(()),
        Some(false) => fail(Fault::UnfitOperatorClass { name: class.to_string(), ty: ty.column_name() }),
        None if OTHER_CLASSES.contains(&class) => {
            fail(Fault::Unsupported { feature: format!("operator class \"{class}\" of an index") })
        }
        None => fail(Fault::NoOperatorClass { name: class.to_string() }),
    }
}

/// Has a relation that name in the table's schema?
fn is_relation(catalog: &Catalog, table: &Table, name: &str) -> bool {
    let schema = catalog.schema_name(table);
    catalog.index(schema, name).is_some()
        || catalog.table(schema, name).is_some()
        || catalog.view(schema, name).is_some()
        || catalog.sequence(schema, name).is_some()
}

pub(super) fn required(index: &str, constraint: &str, table: &Table) -> CatalogError {
    let by = format!("constraint {constraint} on table {}", table.name);
    CatalogError::RequiredBy { what: format!("index {index}"), by }
}

fn type_of(table: &Table, of: &NewPartOf) -> Option<DataType> {
    match of {
        NewPartOf::Column(column) => table.column_by_name(column).map(|column| column.ty),
        NewPartOf::Expression(expression) => Some(expression.ty),
    }
}

pub(super) fn new_unique(unique: &UniqueDef, is_column: impl Fn(&str) -> bool) -> EngineResult<NewIndex> {
    for (at, column) in unique.columns().enumerate() {
        if !is_column(column) {
            return fail(Fault::NoKeyColumn { column: column.clone() });
        }
        if unique.columns().take(at).any(|before| before == column) {
            if unique.primary {
                return Err(CatalogError::DuplicateKeyColumn { column: column.clone() }.into());
            }
            return fail(Fault::UniqueTwice { column: column.clone() });
        }
    }
    if let Some(column) = unique.include.iter().find(|column| !is_column(column)) {
        return fail(Fault::NoKeyColumn { column: column.clone() });
    }
    let part = |part: &KeyPartDef| {
        let of = NewPartOf::Column(part.column.clone());
        let nulls_first = part.nulls_first.unwrap_or(part.descending);
        NewIndexPart { of, descending: part.descending, nulls_first }
    };
    let new = NewIndex {
        name: unique.name.clone(),
        primary: unique.primary,
        unique: true,
        nulls_not_distinct: unique.nulls_not_distinct,
        constraint: true,
        parts: unique.parts.iter().map(part).collect(),
        include: unique.include.clone(),
        deferrable: unique.deferrable,
        deferred: unique.deferred,
        ..NewIndex::default()
    };
    check_width(new)
}

fn check_width(new: NewIndex) -> EngineResult<NewIndex> {
    if new.parts.len() + new.include.len() > MAX_COLUMNS {
        return fail(Fault::TooManyIndexColumns { limit: MAX_COLUMNS });
    }
    Ok(new)
}
