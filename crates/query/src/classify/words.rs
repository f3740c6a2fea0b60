//! What the planner says in words only, in PostgreSQL's.

use super::signature::{arrow_name_in, function_in};
use crate::error::{QueryError, Refusal};

/// What a line about a plan says; `None` if it is not known.
pub(super) fn plan_fault(line: &str) -> Option<QueryError> {
    let known = function_fault(line).or_else(|| name_fault(line)).or_else(|| type_fault(line));
    known.or_else(|| place_fault(line)).or_else(|| other_fault(line))
}

/// What the planner says of functions in words of its own.
pub(super) fn function_fault(line: &str) -> Option<QueryError> {
    if let Some(rest) = line.strip_prefix("Percentile value must be between 0.0 and 1.0 inclusive, ") {
        let value = rest.split(' ').next().unwrap_or_default();
        return Some(Refusal::Range.because(format!("percentile value {value} is not between 0 and 1")));
    }
    if line.starts_with("Argument ") && line.contains(" to grouping function is not in grouping columns") {
        let message = "arguments to GROUPING must be grouping expressions of the associated query level".to_owned();
        return Some(QueryError::Grouping { message });
    }
    if line.starts_with("In an aggregate with DISTINCT, ORDER BY expressions") {
        let message = "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list";
        return Some(Refusal::Position.because(message));
    }
    if line.starts_with("Invalid escape character in LIKE") || line.starts_with("Invalid escape character in SIMILAR") {
        return Some(Refusal::Escape.because("invalid escape string"));
    }
    if line.starts_with("unnest() can only be applied to") || line.starts_with("unnest() requires exactly one") {
        return Some(QueryError::NoSuchFunction { signature: "unnest()".to_owned() });
    }
    if line.starts_with("NTILE requires a positive integer") {
        return Some(Refusal::Ntile.because("argument of ntile must be greater than zero"));
    }
    line.strip_prefix("Invalid qualifier ").map(|name| QueryError::MissingFrom { name: name.to_owned(), entry: None })
}

/// Functions that are not there, and columns that are neither grouped nor aggregated.
fn name_fault(line: &str) -> Option<QueryError> {
    if let Some(rest) = line.strip_prefix("Invalid function '") {
        let name = rest.split('\'').next().unwrap_or_default();
        return Some(QueryError::NoSuchFunction { signature: format!("{name}()") });
    }
    let grouping = ["must appear in the GROUP BY clause", "could not be resolved from available columns"];
    if grouping.iter().any(|words| line.contains(words)) {
        return Some(QueryError::Grouping { message: grouping_message(line) });
    }
    None
}

/// Conditions that are none, and operators that a type has not.
fn type_fault(line: &str) -> Option<QueryError> {
    if let Some((_, ty)) =
        line.split_once("non-boolean predicate").and_then(|(_, rest)| rest.rsplit_once(" returning "))
    {
        let ty = arrow_name_in(ty).unwrap_or("text");
        return Some(QueryError::TypeMismatch {
            message: format!("argument of WHERE must be type boolean, not type {ty}"),
        });
    }
    if let Some(ty) = line.strip_prefix("Join condition must be boolean type, but got ") {
        let ty = arrow_name_in(ty).unwrap_or("text");
        return Some(QueryError::TypeMismatch {
            message: format!("argument of JOIN/ON must be type boolean, not type {ty}"),
        });
    }
    if let Some((name, _)) = line.strip_prefix('\'').and_then(|rest| rest.split_once("' does not support zero")) {
        return Some(QueryError::NoSuchFunction { signature: format!("{name}()") });
    }
    if let Some((operator, rest)) = line.strip_prefix("Unary operator '").and_then(|rest| rest.split_once("' ")) {
        let ty = rest.rsplit_once(", got ").and_then(|(_, ty)| arrow_name_in(ty)).unwrap_or("text");
        if operator == "NOT" {
            let message = format!("argument of NOT must be type boolean, not type {ty}");
            return Some(QueryError::TypeMismatch { message });
        }
        return Some(QueryError::NoSuchPrefixOperator { operator: operator.to_owned(), right: ty.to_owned() });
    }
    None
}

/// Numbers of columns, and columns that must be in the list.
fn place_fault(line: &str) -> Option<QueryError> {
    if let Some(rest) = line.strip_prefix("Order by column out of bounds, specified: ") {
        let position = rest.split(',').next().unwrap_or_default();
        return Some(Refusal::Position.because(format!("ORDER BY position {position} is not in select list")));
    }
    if let Some(position) = line.strip_prefix("Cannot find column with position ") {
        let position = position.split(' ').next().unwrap_or_default();
        return Some(Refusal::Position.because(format!("GROUP BY position {position} is not in select list")));
    }
    if line.starts_with("Order by index starts at 1") {
        return Some(Refusal::Position.because("ORDER BY position 0 is not in select list"));
    }
    if line.starts_with("For SELECT DISTINCT, ORDER BY expressions") {
        return Some(Refusal::Position.because("for SELECT DISTINCT, ORDER BY expressions must appear in select list"));
    }
    if line.starts_with("SELECT DISTINCT ON expressions must match") {
        return Some(Refusal::Position.because(line));
    }
    if let Some((available, specified)) = line
        .strip_prefix("Source table contains ")
        .and_then(|rest| rest.strip_suffix(" names given as column alias"))
        .and_then(|rest| rest.split_once(" columns but only "))
    {
        return Some(
            Refusal::Position
                .because(format!("table has {available} columns available but {specified} columns specified")),
        );
    }
    None
}

/// What the planner says in several words.
fn other_fault(line: &str) -> Option<QueryError> {
    // Two outputs of one name below a name for each of them.
    if let Some((_, rest)) = line.split_once("Projections require unique expression names but the expression \"") {
        let alias = rest.split('"').next().and_then(|expr| expr.rsplit_once(" AS ")).map(|(_, name)| name);
        let name = alias.unwrap_or_default().trim_matches('"').to_owned();
        return Some(QueryError::AmbiguousColumn { name });
    }
    if line.starts_with("Too many columns! The subquery should only return one column") {
        return Some(QueryError::Invalid { message: "subquery has too many columns".to_owned() });
    }
    if let Some(refusal) = refused_name(line) {
        return Some(refusal.because(line));
    }
    if line == "Step cannot be zero" {
        return Some(Refusal::Argument.because("step size cannot equal zero"));
    }
    if line.contains("Aggregate function calls cannot be nested") {
        return Some(QueryError::Grouping { message: "aggregate function calls cannot be nested".to_owned() });
    }
    if line.contains("regex parse error") || line.contains("Regular expression did not compile") {
        return Some(Refusal::Pattern.because(format!("invalid regular expression: {line}")));
    }
    if line.contains("nested aggregate") || line.contains("Aggregate functions are not allowed") {
        return Some(QueryError::Grouping { message: line.to_owned() });
    }
    if line.contains("Cannot get result type") {
        return Some(QueryError::Unsupported { feature: line.to_owned() });
    }
    if line.contains("does not match signature")
        || line.contains("coercion from")
        || line.contains("Failed to coerce arguments")
        || line.contains("expected zero argument")
        || line.contains("Function '")
    {
        return Some(QueryError::NoSuchFunction { signature: function_in(line) });
    }
    if line.contains("Cannot infer common argument type")
        || line.contains("Cannot coerce")
        || line.contains("annot be coerced")
        || line.contains("to coerce")
    {
        return Some(QueryError::TypeMismatch { message: line.to_owned() });
    }
    None
}

/// What functions of catalogs say of a name that they are called with.
fn refused_name(line: &str) -> Option<Refusal> {
    let starts = |start: &str| line.starts_with(start);
    Some(match () {
        () if starts("unrecognized privilege type:") => Refusal::Argument,
        () if starts("more than one function named ") => Refusal::AmbiguousFunction,
        () if starts("expected a left parenthesis") || starts("expected a right parenthesis") => Refusal::Signature,
        () if starts("unrecognized configuration parameter ") => Refusal::NoSuchObject,
        () if (starts("type \"") || starts("role \"")) && line.ends_with("\" does not exist") => Refusal::NoSuchObject,
        () => return None,
    })
}

/// PostgreSQL's words for a column that is neither grouped nor aggregated.
fn grouping_message(line: &str) -> String {
    let column = line.split_once("column \"").and_then(|(_, rest)| rest.split_once('"')).map(|(column, _)| column);
    let column = column.or_else(|| line.strip_prefix("HAVING clause references: ").and_then(bare_column));
    match column {
        Some(column) => {
            format!("column \"{column}\" must appear in the GROUP BY clause or be used in an aggregate function")
        }
        None => line.to_owned(),
    }
}

/// The first column of a condition that no call is around. (The planner shows the condition as a whole.)
fn bare_column(condition: &str) -> Option<&str> {
    let mut depth = 0_i32;
    condition.split(' ').find(|word| {
        let bare = depth == 0 && !word.contains(['(', '\'', '"']) && word.contains('.');
        depth += word.matches('(').count() as i32 - word.matches(')').count() as i32;
        bare && word.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
    })
}
