//! A catalog loaded from its store equals the one in memory, after any changes.

use crate::world::{column, new_store, new_table, open, shown};
use catalog::{CatalogCache, CatalogResult, NewDefault, NewTable, TableOid};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{Store, TableId};
use store_testkit::ModelStore;
use types::{DataType, Datum, Decimal};

#[derive(Clone, Debug)]
enum Op {
    CreateSchema(u8),
    DropSchema(u8, bool),
    Create { schema: u8, name: u8, key: bool, salt: bool },
    Drop(u8),
    Truncate(u8),
    AddColumn(u8, u8, u8),
    DropColumn(u8, u8),
    RenameColumn(u8, u8, u8),
    Rename(u8, u8),
    SetDefault(u8, u8),
    SetNotNull(u8, u8, bool),
    SetProperty(u8),
    Prepare(u8, bool),
}

fn op() -> impl Strategy<Value = Op> {
    let n = 0u8..4;
    prop_oneof![
        n.clone().prop_map(Op::CreateSchema),
        (n.clone(), any::<bool>()).prop_map(|(a, b)| Op::DropSchema(a, b)),
        (n.clone(), n.clone(), any::<bool>(), any::<bool>()).prop_map(|(schema, name, key, salt)| Op::Create {
            schema,
            name,
            key,
            salt
        }),
        (n.clone(), n.clone(), any::<bool>(), any::<bool>()).prop_map(|(schema, name, key, salt)| Op::Create {
            schema,
            name,
            key,
            salt
        }),
        any::<u8>().prop_map(Op::Drop),
        any::<u8>().prop_map(Op::Truncate),
        (any::<u8>(), n.clone(), 0u8..7).prop_map(|(a, b, c)| Op::AddColumn(a, b, c)),
        (any::<u8>(), n.clone()).prop_map(|(a, b)| Op::DropColumn(a, b)),
        (any::<u8>(), n.clone(), n.clone()).prop_map(|(a, b, c)| Op::RenameColumn(a, b, c)),
        (any::<u8>(), n.clone()).prop_map(|(a, b)| Op::Rename(a, b)),
        (any::<u8>(), n.clone()).prop_map(|(a, b)| Op::SetDefault(a, b)),
        (any::<u8>(), n.clone(), any::<bool>()).prop_map(|(a, b, c)| Op::SetNotNull(a, b, c)),
        any::<u8>().prop_map(Op::SetProperty),
        (n, any::<bool>()).prop_map(|(a, b)| Op::Prepare(a, b)),
    ]
}

/// Values that plain JSON would not preserve.
fn missing(n: u8) -> (DataType, Datum) {
    match n {
        0 => (DataType::Double, Datum::Float8(f64::NAN)),
        1 => (DataType::Double, Datum::Float8(0.1 + 0.2)),
        2 => (DataType::Real, Datum::Float4(f32::NEG_INFINITY)),
        3 => {
            let unscaled = -99_999_999_999_999_999_999_999_999_999_999_999_999;
            (DataType::Numeric(Some((38, 10))), Datum::Numeric(Decimal { unscaled, scale: 10 }))
        }
        4 => (DataType::Bytea, Datum::Bytes(vec![0, 255, 7])),
        5 => (DataType::Text, Datum::Text("\u{0}\"ü\\".into())),
        _ => (DataType::Timestamp(None), Datum::Timestamp(i64::MIN)),
    }
}

fn schema_name(n: u8) -> String {
    if n == 0 { "public".into() } else { format!("s{n}") }
}

fn column_name(n: u8) -> &'static str {
    ["k1", "a", "b", "c"][n as usize]
}

/// The `n`th existing table, so that most steps apply to one.
fn pick(cache: &CatalogCache, n: u8) -> TableOid {
    let catalog = cache.current();
    let count = catalog.tables().count();
    catalog.tables().nth(n as usize % count.max(1)).map_or(TableOid(0), |table| table.oid)
}

async fn run(cache: &CatalogCache, op: Op) -> CatalogResult<()> {
    let oid = match op {
        Op::Drop(n) | Op::Truncate(n) | Op::AddColumn(n, ..) | Op::DropColumn(n, _) | Op::Rename(n, _) => {
            pick(cache, n)
        }
        Op::RenameColumn(n, ..) | Op::SetDefault(n, _) | Op::SetNotNull(n, ..) | Op::SetProperty(n) => pick(cache, n),
        _ => TableOid(0),
    };
    if let Op::Prepare(name, publish) = op {
        let prepared = cache.prepare_table(new_table(&format!("p{name}"))).await?;
        return cache
            .change(|draft| match publish {
                true => draft.publish_table(&prepared).map(|_| ()),
                false => draft.discard_table(&prepared),
            })
            .await;
    }
    let change = |draft: &mut catalog::Draft| match op {
        Op::CreateSchema(n) => draft.create_schema(&schema_name(n)).map(|_| ()),
        Op::DropSchema(n, cascade) => draft.drop_schema(&schema_name(n), cascade),
        Op::Create { schema, name, key, salt } => {
            let mut new = NewTable { schema: schema_name(schema), ..new_table(&format!("t{name}")) };
            new.salt_buckets = salt.then_some(7);
            if !key {
                new.key.clear();
            }
            draft.create_table(new).map(|_| ())
        }
        Op::Drop(_) => draft.drop_table(oid),
        Op::Truncate(_) => draft.truncate(oid).map(|_| ()),
        Op::AddColumn(_, name, value) => {
            let (ty, value) = missing(value);
            draft.add_column(oid, column(column_name(name), ty), value).map(|_| ())
        }
        Op::DropColumn(_, name) => draft.drop_column(oid, column_name(name), false).map(|_| ()),
        Op::RenameColumn(_, name, to) => draft.rename_column(oid, column_name(name), column_name(to), &[]).map(|_| ()),
        Op::Rename(_, to) => draft.rename_table(oid, &format!("t{to}"), &[]).map(|_| ()),
        Op::SetDefault(_, name) => draft
            .set_default(oid, column_name(name), Some(NewDefault { text: "now()".into(), ..NewDefault::default() }))
            .map(|_| ()),
        Op::SetNotNull(_, name, true) => draft.set_not_null(oid, column_name(name)).map(|_| ()),
        Op::SetNotNull(_, name, false) => draft.drop_not_null(oid, column_name(name)).map(|_| ()),
        Op::SetProperty(_) => {
            let changes = BTreeMap::from([("versions".to_string(), Some("1".to_string()))]);
            draft.set_properties(oid, &changes).map(|_| ())
        }
        Op::Prepare(..) => Ok(()),
    };
    cache.change(change).await
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_catalog_reads_back_as_it_was(ops in prop::collection::vec(op(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let model = ModelStore::new();
            let store: Arc<dyn Store> = Arc::new(model.clone());
            let cache = open(&store).await;
            let mut storages = BTreeMap::new();
            let mut done = 0;
            for op in ops {
                let before = shown(&cache.current());
                match run(&cache, op).await {
                    Ok(()) => done += 1,
                    // A prepared table whose name is taken stays prepared: nothing must have changed.
                    Err(_) => prop_assert_eq!(before.contains("staged: {}"), shown(&cache.current()).contains("staged: {}")),
                }
                for table in cache.current().tables() {
                    let owner = *storages.entry(table.storage).or_insert(table.oid);
                    prop_assert_eq!(owner, table.oid, "storage was used again");
                }
            }
            let known = cache.current();
            let reopened = open(&store).await.current();
            prop_assert_eq!(shown(&reopened), shown(&known), "after {} changes", done);
            let crashed: Arc<dyn Store> = Arc::new(model.after_crash());
            prop_assert_eq!(shown(&open(&crashed).await.current()), shown(&known), "after a crash");
            for (storage, _) in storages {
                let id = TableId(storage);
                let used = known.tables().any(|table| table.storage_id() == id);
                prop_assert_eq!(store.regions(id).await.is_ok(), used, "storage {} leaks or is lost", id);
                prop_assert_eq!(known.orphans([id]).is_empty(), used);
            }
            Ok(())
        })?;
    }
}

#[tokio::test]
async fn a_reopened_catalog_goes_on_with_new_ids() {
    let store = new_store();
    let first = open(&store).await;
    let old = crate::world::create(&first, new_table("t")).await.unwrap();
    first.change(|draft| draft.drop_table(old.oid)).await.unwrap();
    drop(first);
    let second = open(&store).await;
    let new = crate::world::create(&second, new_table("t")).await.unwrap();
    assert!(new.oid > old.oid && new.storage > old.storage && new.version > old.version);
    let _: Arc<CatalogCache> = second;
}
