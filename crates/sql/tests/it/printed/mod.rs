//! Prints a statement as SQL text: parsing it again gives the same statement, which shows that no part of the text was
//! dropped.

mod copy;
mod ddl;
mod dml;
mod foreign_key;
mod index;
mod sequence;
mod session;

use crate::sql::{ColumnName, ObjectName, Statement, ast};
use std::fmt::{self, Display, Formatter};

/// A statement or a part of one, for printing.
pub(crate) struct Printed<'a, T: ?Sized>(pub(crate) &'a T);

impl<T: ?Sized> Display for Printed<'_, Box<T>>
where
    for<'a> Printed<'a, T>: Display,
{
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Printed(self.0.as_ref()).fmt(f)
    }
}

/// Prints types by their own `Display`.
macro_rules! prints_itself {
    ($($ty:ty),*) => {
        $(impl Display for Printed<'_, $ty> {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        })*
    };
}

prints_itself!(String, &str, ObjectName, ColumnName, ast::Expr, ast::SelectItem, ast::TableWithJoins, ast::OrderByExpr);

/// Returns a name as SQL text that reads back as the same name.
fn quote(name: &str) -> String {
    ObjectName::bare(name).to_string()
}

impl Display for Printed<'_, Statement> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Statement::Query(query) => query.fmt(f),
            Statement::LockingSelect(it) => Printed(it).fmt(f),
            Statement::Insert(it) => Printed(it).fmt(f),
            Statement::Update(it) => Printed(it).fmt(f),
            Statement::Delete(it) => Printed(it).fmt(f),
            Statement::CreateTable(it) => Printed(it).fmt(f),
            Statement::AlterTable(it) => Printed(it).fmt(f),
            Statement::Copy(it) => Printed(it).fmt(f),
            Statement::Explain(it) => Printed(it).fmt(f),
            Statement::DropAbsent(it) => it.fmt(f),
            Statement::CreateExtension(it) => it.fmt(f),
            Statement::CreateSchema { .. }
            | Statement::DropTable { .. }
            | Statement::DropSchema { .. }
            | Statement::RenameSchema { .. }
            | Statement::ChangeOwner(_)
            | Statement::Comment(_)
            | Statement::Truncate { .. } => ddl::write_short(self.0, f),
            Statement::CreateIndex(_)
            | Statement::DropIndex { .. }
            | Statement::RenameIndex { .. }
            | Statement::SetIndexOptions { .. }
            | Statement::AlterIndex { .. }
            | Statement::Reindex(_)
            | Statement::CheckIndexes(_) => index::write(self.0, f),
            Statement::CreateView(_)
            | Statement::RenameView { .. }
            | Statement::DropView { .. }
            | Statement::CreateMaterializedView(_)
            | Statement::DropMaterializedView { .. }
            | Statement::RefreshMaterializedView(_)
            | Statement::CreateSequence(_)
            | Statement::AlterSequence(_)
            | Statement::DropSequence { .. } => sequence::write(self.0, f),
            Statement::Set { .. }
            | Statement::SetConstraints { .. }
            | Statement::SetTransaction { .. }
            | Statement::SetTransactionSnapshot(_)
            | Statement::Show(_)
            | Statement::ShowJobs
            | Statement::ControlJob(_)
            | Statement::Reset(_)
            | Statement::Begin(_)
            | Statement::Commit { .. }
            | Statement::Rollback { .. }
            | Statement::Savepoint(_)
            | Statement::Release(_)
            | Statement::RollbackTo(_)
            | Statement::Lock(_)
            | Statement::DeclareCursor(_)
            | Statement::Fetch(_)
            | Statement::CloseCursor(_)
            | Statement::Prepare { .. }
            | Statement::Execute { .. }
            | Statement::Deallocate(_)
            | Statement::Discard(_)
            | Statement::Analyze { .. }
            | Statement::UpdateStatistics(_)
            | Statement::Vacuum { .. } => session::write(self.0, f),
        }
    }
}

/// `a, b, c`.
struct List<'a, T>(&'a [T]);

impl<T> Display for List<'_, T>
where
    for<'a> Printed<'a, T>: Display,
{
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (at, item) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            Printed(item).fmt(f)?;
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

/// Returns `word` if the condition holds.
fn when(condition: bool, word: &'static str) -> &'static str {
    if condition { word } else { "" }
}
