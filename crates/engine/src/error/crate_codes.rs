//! SQLSTATEs for the errors of lower crates: one match per error type.

use catalog::CatalogError;
use fragment::FragmentError;
use rowkey::KeyError;
use sql::SqlError;
use std::io::ErrorKind;
use store::StoreError;
use txn::TxnError;

pub(super) fn sql_code(error: &SqlError) -> &'static str {
    match error {
        SqlError::Syntax { .. } | SqlError::Invalid { .. } | SqlError::Advised { .. } => "42601",
        SqlError::Unsupported { .. } | SqlError::NotAllowed { .. } => "0A000",
        SqlError::InvalidTable { .. } => "42P16",
        SqlError::InvalidParameter { .. } => "22023",
        SqlError::Type { source, .. } => source.sqlstate(),
        SqlError::TooDeep { .. } => "54001",
        SqlError::TooLong { .. } => "54000",
        SqlError::Stopped => "57014",
    }
}

pub(super) fn catalog_code(error: &CatalogError) -> &'static str {
    match error {
        CatalogError::Stopped => "57014",
        CatalogError::DuplicateSchema { .. } => "42P06",
        CatalogError::DuplicateTable { .. } => "42P07",
        CatalogError::DuplicateColumn { .. }
        | CatalogError::ColumnTwice { .. }
        | CatalogError::DuplicateKeyColumn { .. } => "42701",
        CatalogError::DuplicateConstraint { .. } | CatalogError::DuplicateCheck { .. } => "42710",
        CatalogError::NoSuchConstraint { .. } | CatalogError::NoPrimaryKey { .. } => "42704",
        CatalogError::InvalidForeignKey { .. } => "42830",
        CatalogError::GeneratedKeyAction { .. } => "42601",
        CatalogError::DeferrableParent { .. } => "55000",
        CatalogError::IndexChanged { .. } => "55006",
        CatalogError::IncompatibleKeys { .. } => "42804",
        CatalogError::NoSuchSchema { .. } => "3F000",
        CatalogError::NoSuchTable { .. } => "42P01",
        CatalogError::NoSuchColumn { .. } | CatalogError::NoForeignKeyColumn { .. } => "42703",
        CatalogError::DependentObjects { .. } | CatalogError::KeyColumn { .. } | CatalogError::RequiredBy { .. } => {
            "2BP01"
        }
        CatalogError::SequenceExhausted { .. } => "2200H",
        CatalogError::SequenceBounds { .. } => "22003",
        CatalogError::ReservedName { .. } => "42939",
        CatalogError::TooManyColumns { .. } => "54011",
        CatalogError::TooManyChanges { .. } => "54000",
        CatalogError::InKey { .. } | CatalogError::InvalidTable { .. } | CatalogError::SecondPrimaryKey { .. } => {
            "42P16"
        }
        CatalogError::InvalidSplit { .. }
        | CatalogError::InvalidSalt { .. }
        | CatalogError::UnknownProperty { .. }
        | CatalogError::InvalidProperty { .. } => "22023",
        CatalogError::Unsupported { .. } | CatalogError::AlteredColumnUsed { .. } => "0A000",
        CatalogError::ChangedElsewhere => "40001",
        CatalogError::Corrupted { .. } => "XX001",
        CatalogError::NewerFormat { .. } | CatalogError::Aborted { .. } => "XX000",
        CatalogError::Store(error) => store_code(error),
    }
}

pub(super) fn store_code(error: &StoreError) -> &'static str {
    match error {
        // The table was dropped or truncated after the statement looked it up.
        StoreError::NoSuchTable { .. } => "42P01",
        StoreError::NoSuchFamily { .. } | StoreError::TableExists { .. } => "XX000",
        // Failed conditions of the engine's own statements are converted before they get here.
        StoreError::ConditionFailed { .. } | StoreError::TableChanged { .. } => "40001",
        StoreError::DuplicateKey { .. } => "23505",
        StoreError::TooLarge { .. } => "54000",
        StoreError::NoMemory { .. } => "53200",
        StoreError::SnapshotTooOld { .. } | StoreError::OlderThanTable { .. } => "72000",
        StoreError::DiskFull { .. } | StoreError::ReadOnly { disk_full: true, .. } => "53100",
        StoreError::ReadOnly { disk_full: false, .. } => "58030",
        StoreError::Corrupted { .. } => "XX001",
        StoreError::Locked { .. } => "55006",
        StoreError::Foreign { .. } => "58000",
        StoreError::Io { .. } => "58030",
        StoreError::Unsupported { .. } => "0A000",
        StoreError::Closed => "57P01",
    }
}

fn out_of_space(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge)
}

pub(super) fn txn_code(error: &TxnError) -> &'static str {
    match error {
        TxnError::Deadlock { .. } => "40P01",
        TxnError::LockNotAvailable { .. } => "55P03",
        TxnError::TooManyWrites { .. } | TxnError::NoMemory { .. } => "53200",
        TxnError::Spill { kind, .. } if out_of_space(*kind) => "53100",
        TxnError::Spill { .. } => "58030",
        TxnError::RowChanged { .. } => "40001",
        TxnError::PartlyCommitted { .. } => "40003",
        TxnError::Store(error) => store_code(error),
    }
}

pub(super) fn key_code(error: &KeyError) -> &'static str {
    match error {
        KeyError::Truncated { .. }
        | KeyError::BadEscape { .. }
        | KeyError::BadNullMark { .. }
        | KeyError::BadValue { .. }
        | KeyError::TrailingBytes { .. }
        | KeyError::BadWidth { .. } => "XX001",
        KeyError::WrongType { .. } | KeyError::WrongArity { .. } | KeyError::NoSuchPart { .. } => "XX000",
        KeyError::NullPart { .. } => "23502",
        KeyError::Dimensions { .. } => "0A000",
        KeyError::Uneven => "2202E",
        KeyError::IntervalRange => "22008",
        KeyError::TooLong { .. } => "54000",
    }
}

pub(super) fn fragment_code(error: &FragmentError) -> &'static str {
    match error {
        FragmentError::TooLarge { .. } => "54000",
        FragmentError::CellCount { .. } | FragmentError::CellWidth { .. } => "XX000",
        FragmentError::Truncated { .. }
        | FragmentError::TrailingBytes { .. }
        | FragmentError::UnknownFormat { .. }
        | FragmentError::UnknownFlags { .. }
        | FragmentError::WrongForm { .. }
        | FragmentError::WrongLayout { .. }
        | FragmentError::BadOffset { .. }
        | FragmentError::QualifierOrder { .. } => "XX001",
    }
}
