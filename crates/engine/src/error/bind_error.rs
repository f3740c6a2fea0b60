//! Errors of the binder: SQLSTATE, words, and the place that each names itself.

use super::crate_codes::type_code;
use super::{EngineError, Report};
use crate::statement::Source;
use bind::{BindError, BindErrorKind};

impl EngineError {
    /// What the binder found wrong with a statement.
    pub(crate) fn of_bind(error: &BindError, source: &Source) -> Self {
        let report = Report {
            code: bind_code(&error.kind),
            message: error.to_string(),
            detail: error.detail(),
            hint: hint(error),
            position: position(error, source),
            ..Report::default()
        };
        Self { report: Box::new(report) }
    }
}

fn hint(error: &BindError) -> Option<String> {
    if let BindErrorKind::UndefinedFunction { name, .. } = error.kind.as_ref()
        && let Some(instead) = query::hint_for_missing_function(name)
    {
        return Some(instead.to_owned());
    }
    error.hint.as_ref().map(|hint| hint.clone().into_owned())
}

/// The character, from 1, at which the error stands in the text that the client sent.
fn position(error: &BindError, source: &Source) -> Option<usize> {
    if error.span.is_empty() {
        return None;
    }
    let before = source.text.get(..usize::try_from(error.span.start).ok()?)?;
    Some(source.before + before.chars().count() + 1)
}

/// The SQLSTATE of each kind.
pub(super) fn bind_code(kind: &BindErrorKind) -> &'static str {
    use BindErrorKind as K;
    match kind {
        K::NotBuilt { .. } | K::SetOperationOrder => "0A000",
        K::UndefinedColumn { .. } | K::UndefinedUsing { .. } => "42703",
        K::AmbiguousColumn { .. } | K::AmbiguousOutput { .. } | K::AmbiguousUsing { .. } => "42702",
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
        K::TooManyEntries { .. } => "54011",
        K::Value(error) => type_code(error),
        K::UndefinedTarget { .. } => "42703",
        K::ColumnTwice { .. } => "42701",
        K::InsertWidth { .. } | K::AssignmentWidth | K::AssignedTwice { .. } => "42601",
        K::NotAssignable { .. } => "42804",
        K::GivenAlways { .. } | K::UpdatedAlways { .. } => "428C9",
    }
}
