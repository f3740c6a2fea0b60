//! The SQLSTATE of each error of the binder, in one match.

use crate::error::{BindError, BindErrorKind};

impl BindError {
    /// Returns the SQLSTATE that the client receives.
    pub fn sqlstate(&self) -> &'static str {
        of_kind(&self.kind)
    }
}

/// The SQLSTATE of each kind.
fn of_kind(kind: &BindErrorKind) -> &'static str {
    use BindErrorKind as K;
    match kind {
        K::SetOperationOrder => "0A000",
        K::UndefinedColumn { .. } | K::UndefinedUsing { .. } => "42703",
        K::AmbiguousColumn { .. } | K::AmbiguousOutput { .. } | K::AmbiguousUsing { .. } => "42702",
        K::CannotAssign { .. } => "42804",
        K::NoParameter { .. } => "42P02",
        K::RowLock { .. } | K::SubqueryNotAllowed { .. } => "0A000",
        K::LockedNotInFrom { .. } => "42P01",
        K::LockedView { .. } => "42809",
        K::UndefinedTable { .. } | K::MissingFrom { .. } | K::InvalidFromReference { .. } => "42P01",
        K::InvalidLateral { .. }
        | K::TooManyAliases { .. }
        | K::TooManyCteAliases { .. }
        | K::NoSuchPosition { .. }
        | K::DistinctOrder
        | K::DistinctOnOrder
        | K::Variables { .. } => "42P10",
        K::AmbiguousTable { .. } => "42P09",
        K::DuplicateAlias { .. } | K::DuplicateCte { .. } => "42712",
        K::RepeatedUsing { .. } => "42701",
        K::UndefinedFunction { .. } | K::UndefinedOperator { .. } | K::NoOrdering { .. } | K::NoEquality { .. } => {
            "42883"
        }
        K::AmbiguousFunction { .. } | K::AmbiguousOperator { .. } => "42725",
        K::NotAggregate { .. } | K::AnyWithoutArray => "42809",
        K::CannotCast { .. } | K::CannotConvert { .. } => "42846",
        K::WrongType { .. }
        | K::NoCommonType { .. }
        | K::RecursiveType { .. }
        | K::NoSubscripts { .. }
        | K::SubscriptType
        | K::SetReturned { .. }
        | K::AnyNotBoolean => "42804",
        K::UntypedParameter { .. } | K::EmptyArray => "42P18",
        K::InconsistentParameter { .. } => "42P08",
        K::Ungrouped { .. }
        | K::UngroupedOuter { .. }
        | K::AggregateNotAllowed { .. }
        | K::NestedAggregate
        | K::GroupingArguments => "42803",
        K::ConstantKey { .. }
        | K::UnequalColumns { .. }
        | K::UnequalValues
        | K::UnequalRows
        | K::SubqueryColumns
        | K::SubqueryWidth { .. }
        | K::StarWithoutTables
        | K::Syntax { .. } => "42601",
        K::TooManyColumns => "54000",
        K::DottedNames { .. } | K::ArgumentTwice { .. } => "42601",
        K::Internal { .. } => "XX000",
        K::TooManyEntries { .. } => "54011",
        K::Value(error) => error.sqlstate(),
        K::Window(error) => error.sqlstate(),
        K::Set(_) | K::Unsupported { .. } | K::NotSupported { .. } => "0A000",
        K::Aggregate(error) => error.sqlstate(),
        K::CubeElements { .. } => "54011",
        K::TooManySets { .. } | K::TooDeep { .. } | K::TooManyCopies { .. } => "54001",
        K::OtherDatabase { .. } => "0A000",
        K::UndefinedSchema { .. } => "3F000",
        K::NoField { .. } => "42703",
        K::NotComposite { .. } => "42809",
        K::UnlikeElements { .. } => "2202E",
        K::UndeterminedType => "42P18",
        K::Recursion { wrong, .. } => wrong.sqlstate(),
        K::TooManyGroupingArguments => "54023",
        K::GroupingNotAllowed { .. } => "42803",
        K::LateParameter { .. } => "42P08",
        K::RowOperator { .. } => "42804",
        K::UndefinedTarget { .. } => "42703",
        K::ColumnTwice { .. } => "42701",
        K::InsertWidth { .. } | K::AssignmentWidth | K::AssignedTwice { .. } => "42601",
        K::NotAssignable { .. } | K::DefaultNotAssignable { .. } => "42804",
        K::GivenAlways { .. } | K::UpdatedAlways { .. } => "428C9",
    }
}
