//! A statement as SQL text: parsing it again gives the same statement. EXPLAIN of INSERT, UPDATE and DELETE shows it.

mod copy;
mod ddl;
mod dml;
mod foreign_key;
mod index;
mod sequence;
mod session;

use crate::Statement;
use crate::statement::names::quote;
use std::fmt::{self, Display, Formatter};

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Query(query) => write!(f, "{query}"),
            Self::LockingSelect(it) => write!(f, "{it}"),
            Self::Insert(it) => write!(f, "{it}"),
            Self::Update(it) => write!(f, "{it}"),
            Self::Delete(it) => write!(f, "{it}"),
            Self::CreateTable(it) => write!(f, "{it}"),
            Self::AlterTable(it) => write!(f, "{it}"),
            Self::Copy(it) => write!(f, "{it}"),
            Self::Explain(it) => write!(f, "{it}"),
            Self::DropAbsent(it) => write!(f, "{it}"),
            Self::CreateExtension(it) => write!(f, "{it}"),
            Self::CreateSchema { .. }
            | Self::DropTable { .. }
            | Self::DropSchema { .. }
            | Self::RenameSchema { .. }
            | Self::ChangeOwner(_)
            | Self::Comment(_)
            | Self::Truncate { .. } => ddl::write_short(self, f),
            Self::CreateIndex(_)
            | Self::DropIndex { .. }
            | Self::RenameIndex { .. }
            | Self::AlterIndex { .. }
            | Self::Reindex { .. }
            | Self::CheckIndexes(_) => index::write(self, f),
            Self::CreateView(_)
            | Self::DropView { .. }
            | Self::CreateMaterializedView(_)
            | Self::DropMaterializedView { .. }
            | Self::RefreshMaterializedView(_)
            | Self::CreateSequence(_)
            | Self::AlterSequence(_)
            | Self::DropSequence { .. } => sequence::write(self, f),
            Self::Set { .. }
            | Self::SetConstraints { .. }
            | Self::SetTransaction { .. }
            | Self::SetTransactionSnapshot(_)
            | Self::Show(_)
            | Self::ShowJobs
            | Self::ControlJob(_)
            | Self::Reset(_)
            | Self::Begin(_)
            | Self::Commit
            | Self::Rollback
            | Self::Savepoint(_)
            | Self::Release(_)
            | Self::RollbackTo(_)
            | Self::Lock(_)
            | Self::DeclareCursor(_)
            | Self::Fetch(_)
            | Self::CloseCursor(_)
            | Self::Prepare { .. }
            | Self::Execute { .. }
            | Self::Deallocate(_)
            | Self::Discard(_)
            | Self::Analyze { .. }
            | Self::UpdateStatistics(_)
            | Self::Vacuum { .. } => session::write(self, f),
        }
    }
}

/// `a, b, c`.
struct List<'a, T>(&'a [T]);

impl<T: Display> Display for List<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (at, item) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            item.fmt(f)?;
        }
        Ok(())
    }
}

/// `(a, b)`, of names.
fn names(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| quote(name)).collect();
    format!("({})", quoted.join(", "))
}

/// `'text'`.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// `word` when the condition holds.
fn when(condition: bool, word: &'static str) -> &'static str {
    if condition { word } else { "" }
}
