//! Visits all queries and expressions of a statement with sqlparser's visitors.

/// Generates the walk for `&` and for `&mut`.
macro_rules! walker {
    ($module:ident, $visit:ident, $visitor:ident $(, $mutability:tt)?) => {
        pub(crate) mod $module {
            use crate::statement::*;
            use sqlparser::ast::{$visit, $visitor};
            use std::ops::ControlFlow;

            /// Visits the queries and expressions of a statement in the order of its text.
            pub(crate) fn statement<V: $visitor>(
                statement: & $($mutability)? Statement,
                v: &mut V,
            ) -> ControlFlow<V::Break> {
                match statement {
                    Statement::Query(query) => query.visit(v),
                    Statement::LockingSelect(it) => it.query.visit(v),
                    Statement::Insert(it) => insert(it, v),
                    Statement::Update(it) => update(it, v),
                    Statement::Delete(it) => delete(it, v),
                    Statement::CreateTable(it) => create_table(it, v),
                    Statement::CreateView(it) => it.query.visit(v),
                    Statement::CreateMaterializedView(it) => it.query.visit(v),
                    Statement::AlterTable(it) => alter_table(it, v),
                    Statement::DeclareCursor(it) => it.query.visit(v),
                    Statement::Explain(it) => self::statement(& $($mutability)? it.statement, v),
                    Statement::Prepare { statement, .. } => self::statement(statement, v),
                    Statement::Execute { arguments, .. } => arguments.visit(v),
                    Statement::Copy(it) => {
                        match & $($mutability)? it.target {
                            CopyTarget::Query(query) => query.visit(v)?,
                            CopyTarget::Statement(statement) => self::statement(statement, v)?,
                            CopyTarget::Table { .. } => {}
                        }
                        it.selection.visit(v)
                    }
                    Statement::CreateSchema { .. }
                    | Statement::DropTable { .. }
                    | Statement::DropView { .. }
                    | Statement::DropMaterializedView { .. }
                    | Statement::RefreshMaterializedView(_)
                    | Statement::DropAbsent(_)
                    | Statement::CreateExtension(_)
                    | Statement::CreateSequence(_)
                    | Statement::AlterSequence(_)
                    | Statement::DropSequence { .. }
                    | Statement::CreateIndex(_)
                    | Statement::DropIndex { .. }
                    | Statement::RenameIndex { .. }
                    | Statement::SetIndexOptions { .. }
                    | Statement::AlterIndex { .. }
                    | Statement::Reindex(_)
                    | Statement::CheckIndexes(_)
                    | Statement::DropSchema { .. }
                    | Statement::RenameView { .. }
                    | Statement::RenameSchema { .. }
                    | Statement::ChangeOwner(_)
                    | Statement::Comment(_)
                    | Statement::Truncate { .. }
                    | Statement::Set { .. }
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
                    | Statement::Fetch(_)
                    | Statement::CloseCursor(_)
                    | Statement::Deallocate(_)
                    | Statement::Discard(_)
                    | Statement::Analyze { .. }
                    | Statement::UpdateStatistics(_)
                    | Statement::Vacuum { .. } => ControlFlow::Continue(()),
                }
            }

            fn insert<V: $visitor>(it: & $($mutability)? Insert, v: &mut V) -> ControlFlow<V::Break> {
                it.with.visit(v)?;
                match & $($mutability)? it.source {
                    InsertSource::Values(rows) => {
                        for row in rows {
                            values(row, v)?;
                        }
                    }
                    InsertSource::Query(query) => query.visit(v)?,
                    InsertSource::DefaultValues => {}
                }
                if let Some(Conflict { target, action }) = & $($mutability)? it.on_conflict {
                    if let Some(ConflictTarget::Columns { exprs, predicate, .. }) = target {
                        exprs.visit(v)?;
                        predicate.visit(v)?;
                    }
                    if let ConflictAction::DoUpdate { assignments: them, selection } = action {
                        assignments(them, v)?;
                        selection.visit(v)?;
                    }
                }
                if let Some(OnDuplicate::Update(them)) = & $($mutability)? it.on_duplicate {
                    assignments(them, v)?;
                }
                it.returning.visit(v)
            }

            fn update<V: $visitor>(it: & $($mutability)? Update, v: &mut V) -> ControlFlow<V::Break> {
                it.with.visit(v)?;
                assignments(& $($mutability)? it.assignments, v)?;
                it.from.visit(v)?;
                it.selection.visit(v)?;
                it.returning.visit(v)
            }

            fn delete<V: $visitor>(it: & $($mutability)? Delete, v: &mut V) -> ControlFlow<V::Break> {
                it.with.visit(v)?;
                it.using.visit(v)?;
                it.selection.visit(v)?;
                it.order_by.visit(v)?;
                it.limit.visit(v)?;
                it.returning.visit(v)
            }

            fn assignments<V: $visitor>(
                them: & $($mutability)? [Assignment],
                v: &mut V,
            ) -> ControlFlow<V::Break> {
                for assignment in them {
                    match assignment {
                        Assignment::One { value: it, .. } => value(it, v)?,
                        Assignment::Element { places, value: it, .. } => {
                            places.visit(v)?;
                            value(it, v)?;
                        }
                        Assignment::Row { values: them, .. } => values(them, v)?,
                        Assignment::Subquery { query, .. } => query.visit(v)?,
                    }
                }
                ControlFlow::Continue(())
            }

            fn values<V: $visitor>(them: & $($mutability)? [InsertValue], v: &mut V) -> ControlFlow<V::Break> {
                for it in them {
                    value(it, v)?;
                }
                ControlFlow::Continue(())
            }

            fn value<V: $visitor>(it: & $($mutability)? InsertValue, v: &mut V) -> ControlFlow<V::Break> {
                match it {
                    InsertValue::Default => ControlFlow::Continue(()),
                    InsertValue::Expr(expr) => expr.visit(v),
                }
            }

            fn create_table<V: $visitor>(it: & $($mutability)? CreateTable, v: &mut V) -> ControlFlow<V::Break> {
                for column in & $($mutability)? it.columns {
                    column_def(column, v)?;
                }
                checks(& $($mutability)? it.checks, v)?;
                it.split_on.visit(v)?;
                match & $($mutability)? it.as_query {
                    Some(it) => it.query.visit(v),
                    None => ControlFlow::Continue(()),
                }
            }

            fn column_def<V: $visitor>(it: & $($mutability)? ColumnDef, v: &mut V) -> ControlFlow<V::Break> {
                if let Some(default) = & $($mutability)? it.default {
                    default.expr.visit(v)?;
                }
                if let Some(computed) = & $($mutability)? it.computed {
                    computed.expr.visit(v)?;
                }
                checks(& $($mutability)? it.checks, v)
            }

            fn checks<V: $visitor>(them: & $($mutability)? [CheckDef], v: &mut V) -> ControlFlow<V::Break> {
                for check in them {
                    check.expr.visit(v)?;
                }
                ControlFlow::Continue(())
            }

            fn alter_table<V: $visitor>(it: & $($mutability)? AlterTable, v: &mut V) -> ControlFlow<V::Break> {
                for action in & $($mutability)? it.actions {
                    match action {
                        AlterAction::AddColumn { def, .. } => column_def(def, v)?,
                        AlterAction::SetDefault { default, .. } => default.expr.visit(v)?,
                        AlterAction::AddCheck(check) => check.expr.visit(v)?,
                        AlterAction::SetType { using, .. } => {
                            if let Some(using) = using {
                                using.expr.visit(v)?;
                            }
                        }
                        AlterAction::AddKey(_)
                        | AlterAction::CascadeIndex { .. }
                        | AlterAction::ChangeIdentity { .. }
                        | AlterAction::WithoutEffect { .. }
                        | AlterAction::AddUnique(_)
                        | AlterAction::UniqueUsingIndex { .. }
                        | AlterAction::KeyUsingIndex { .. }
                        | AlterAction::AddForeignKey(_)
                        | AlterAction::AlterConstraint { .. }
                        | AlterAction::ValidateConstraint { .. }
                        | AlterAction::DropConstraint { .. }
                        | AlterAction::DropColumn { .. }
                        | AlterAction::RenameColumn { .. }
                        | AlterAction::RenameTable { .. }
                        | AlterAction::RenameConstraint { .. }
                        | AlterAction::SetSchema { .. }
                        | AlterAction::DropDefault { .. }
                        | AlterAction::SetNotNull { .. }
                        | AlterAction::DropNotNull { .. }
                        | AlterAction::AddIdentity { .. }
                        | AlterAction::DropIdentity { .. }
                        | AlterAction::DropExpression { .. }
                        | AlterAction::SetOptions(_)
                        | AlterAction::ResetOptions(_) => {}
                    }
                }
                ControlFlow::Continue(())
            }
        }
    };
}

walker!(shared, Visit, Visitor);
walker!(mutable, VisitMut, VisitorMut, mut);
