//! DataFusion's and Arrow's errors to ours: sorted by variant, and by their words only where no variant says it.

use crate::error::{QueryError, Refusal};
use crate::plan::is_of_several;
use arrow::error::ArrowError;
use datafusion::common::{Column, DataFusionError, SchemaError};
use types::TypeError;

impl From<DataFusionError> for QueryError {
    fn from(error: DataFusionError) -> Self {
        match error {
            DataFusionError::External(inner) => external(inner),
            DataFusionError::Context(_, inner) | DataFusionError::Diagnostic(_, inner) => Self::from(*inner),
            DataFusionError::Shared(inner) => shared(&inner),
            DataFusionError::Collection(errors) => match errors.into_iter().next() {
                Some(first) => Self::from(first),
                None => Self::internal("an empty collection of errors"),
            },
            DataFusionError::ArrowError(inner, _) => from_arrow(*inner),
            DataFusionError::SchemaError(inner, _) => from_schema(&inner),
            DataFusionError::ResourcesExhausted(detail) => Self::Resources { detail: first_line(&detail) },
            DataFusionError::NotImplemented(feature) => from_not_built(&feature),
            DataFusionError::Plan(message) => from_plan(&message),
            DataFusionError::Execution(message) => from_execution(&message),
            DataFusionError::ExecutionJoin(join) if join.is_cancelled() => Self::Cancelled,
            DataFusionError::Internal(message) if message.contains("Cannot run range queries on datatype") => {
                Self::Unsupported { feature: "RANGE with a distance over values of this type".to_owned() }
            }
            other => Self::internal(first_line(&other.to_string())),
        }
    }
}

impl From<ArrowError> for QueryError {
    fn from(error: ArrowError) -> Self {
        from_arrow(error)
    }
}

/// One of ours that travelled through a plan.
fn external(inner: Box<dyn std::error::Error + Send + Sync>) -> QueryError {
    let inner = match inner.downcast::<QueryError>() {
        Ok(own) => return *own,
        Err(other) => other,
    };
    let inner = match inner.downcast::<store::StoreError>() {
        Ok(own) => return QueryError::Store(*own),
        Err(other) => other,
    };
    let inner = match inner.downcast::<catalog::CatalogError>() {
        Ok(own) => return QueryError::Catalog(*own),
        Err(other) => other,
    };
    match inner.downcast::<DataFusionError>() {
        Ok(nested) => QueryError::from(*nested),
        Err(other) => QueryError::internal(other.to_string()),
    }
}

/// An error that several receivers hold, so that it cannot be taken apart.
fn shared(error: &DataFusionError) -> QueryError {
    match error.find_root() {
        DataFusionError::External(inner) => match inner.downcast_ref::<QueryError>() {
            Some(own) => own.clone(),
            None => match inner.downcast_ref::<catalog::CatalogError>() {
                Some(own) => QueryError::Catalog(own.clone()),
                None => QueryError::internal(inner.to_string()),
            },
        },
        DataFusionError::ArrowError(inner, _) => arrow_by_ref(inner),
        DataFusionError::ResourcesExhausted(detail) => QueryError::Resources { detail: first_line(detail) },
        DataFusionError::NotImplemented(feature) => from_not_built(feature),
        DataFusionError::Plan(message) => from_plan(message),
        DataFusionError::Execution(message) => from_execution(message),
        DataFusionError::SchemaError(inner, _) => from_schema(inner),
        other => QueryError::internal(first_line(&other.to_string())),
    }
}

fn from_arrow(error: ArrowError) -> QueryError {
    match error {
        ArrowError::ExternalError(inner) => external(inner),
        other => arrow_by_ref(&other),
    }
}

fn arrow_by_ref(error: &ArrowError) -> QueryError {
    match error {
        ArrowError::DivideByZero => QueryError::DivisionByZero,
        ArrowError::ArithmeticOverflow(_) => QueryError::OutOfRange { what: "value".to_owned() },
        ArrowError::CastError(message) | ArrowError::ParseError(message) => from_cast(message),
        ArrowError::InvalidArgumentError(message) if overflows(message) => {
            QueryError::OutOfRange { what: "value".to_owned() }
        }
        ArrowError::InvalidArgumentError(message) | ArrowError::ComputeError(message) => from_execution(message),
        ArrowError::MemoryError(detail) => QueryError::Resources { detail: detail.clone() },
        ArrowError::NotYetImplemented(feature) => from_not_built(feature),
        other => QueryError::internal(other.to_string()),
    }
}

/// `Cannot cast string 'x' to value of Int64 type`, `Cannot parse value ... `, and the like.
fn from_cast(message: &str) -> QueryError {
    if let Some(input) = quoted(message) {
        let ty = arrow_name_in(message).unwrap_or("value");
        return QueryError::Type(TypeError::InvalidText { ty: ty.to_owned(), input });
    }
    if overflows(message) || message.starts_with("Can't cast value") {
        return QueryError::OutOfRange { what: arrow_name_in(message).unwrap_or("value").to_owned() };
    }
    QueryError::Type(TypeError::InvalidText { ty: "value".to_owned(), input: first_line(message) })
}

fn overflows(message: &str) -> bool {
    ["verflow", "too large to store", "too small to store", "out of range", "is too large", "is too small"]
        .iter()
        .any(|word| message.contains(word))
}

/// What stands between the first two quotation marks.
fn quoted(message: &str) -> Option<String> {
    let (_, rest) = message.split_once('\'')?;
    let (input, _) = rest.split_once('\'')?;
    Some(input.to_owned())
}

/// The SQL name of the Arrow type that a message names.
fn arrow_name_in(message: &str) -> Option<&'static str> {
    let names = [
        ("Int16", "smallint"),
        ("Int32", "integer"),
        ("Int64", "bigint"),
        ("Float32", "real"),
        ("Float64", "double precision"),
        ("Decimal", "numeric"),
        ("Date32", "date"),
        ("Time64", "time without time zone"),
        ("Timestamp", "timestamp without time zone"),
        ("Boolean", "boolean"),
        ("boolean", "boolean"),
    ];
    names.iter().find(|(arrow, _)| message.contains(arrow)).map(|(_, sql)| *sql)
}

fn from_schema(error: &SchemaError) -> QueryError {
    match error {
        SchemaError::AmbiguousReference { field } => QueryError::AmbiguousColumn { name: field.name.clone() },
        SchemaError::DuplicateQualifiedField { qualifier, .. } => {
            QueryError::DuplicateAlias { name: qualifier.table().to_owned() }
        }
        SchemaError::DuplicateUnqualifiedField { name } => QueryError::AmbiguousColumn { name: name.clone() },
        SchemaError::FieldNotFound { field, valid_fields } => no_such_column(field, valid_fields),
    }
}

fn no_such_column(field: &Column, valid: &[Column]) -> QueryError {
    let table = |column: &Column| column.relation.as_ref().map(|relation| relation.table().to_owned());
    let there = valid.iter().filter(|column| field.relation.is_none() || table(field) == table(column));
    if let Some(name) = is_of_several(&field.name, there) {
        return QueryError::AmbiguousColumn { name: name.to_owned() };
    }
    if let Some(relation) = &field.relation {
        let known = valid.iter().any(|column| column.relation.as_ref().is_some_and(|r| r.table() == relation.table()));
        if !known && !valid.is_empty() {
            return QueryError::MissingFrom { name: relation.table().to_owned() };
        }
    }
    // PostgreSQL takes a table's name for its whole row where no column has it.
    let is_table = |column: &Column| column.relation.as_ref().is_some_and(|relation| relation.table() == field.name);
    if field.relation.is_none() && valid.iter().any(is_table) {
        return QueryError::Unsupported { feature: "a whole row of a table as a value".to_owned() };
    }
    let close = close_name(&field.name, valid.iter().map(|column| column.name.as_str()));
    let relation = field.relation.as_ref().map(|relation| relation.table().to_owned());
    QueryError::NoSuchColumn { relation, name: field.name.clone(), close: close.map(str::to_owned) }
}

/// What the planner says of functions in words of its own.
fn function_fault(line: &str) -> Option<QueryError> {
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
    if line.starts_with("unnest() can only be applied to") {
        return Some(QueryError::NoSuchFunction { signature: "unnest()".to_owned() });
    }
    if line.starts_with("unnest() requires exactly one") {
        return Some(QueryError::NoSuchFunction { signature: "unnest()".to_owned() });
    }
    if line.starts_with("NTILE requires a positive integer") {
        return Some(Refusal::Ntile.because("argument of ntile must be greater than zero"));
    }
    line.strip_prefix("Invalid qualifier ").map(|name| QueryError::MissingFrom { name: name.to_owned() })
}

/// What the planner or Arrow has not, without its words for "not built".
fn from_not_built(feature: &str) -> QueryError {
    let line = first_line(feature);
    if line.starts_with("Physical plan does not support logical expression AggregateFunction") {
        return QueryError::Grouping { message: "aggregate functions are not allowed in GROUP BY".to_owned() };
    }
    let words = line.strip_prefix("Unsupported ").unwrap_or(&line);
    let words = [" is not yet supported", " not yet supported", " is not supported", " not supported"]
        .iter()
        .find_map(|end| words.trim_end_matches('.').strip_suffix(end))
        .unwrap_or(words);
    let operator = words.split_once("Custom(\"").and_then(|(before, rest)| Some((before, rest.strip_suffix("\")")?)));
    let feature = operator.map_or_else(|| words.to_owned(), |(_, operator)| format!("operator {operator}"));
    QueryError::Unsupported { feature }
}

fn from_plan(message: &str) -> QueryError {
    if let Some(signature) = signature_in(message) {
        return QueryError::NoSuchFunction { signature };
    }
    let line = first_line(message);
    let known = function_fault(&line)
        .or_else(|| name_fault(&line))
        .or_else(|| type_fault(&line))
        .or_else(|| place_fault(&line));
    known.or_else(|| other_fault(&line)).unwrap_or(QueryError::Invalid { message: line })
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

/// A function with the SQL names of its arguments, where a message has it with Arrow's, or already as we say it.
fn signature_in(message: &str) -> Option<String> {
    if let Some((before, _)) = message.split_once(" does not exist")
        && let Some((_, ours)) = before.rsplit_once("function ")
        && ours.ends_with([')', '"'])
    {
        return Some(ours.to_owned());
    }
    let (_, rest) = message.split_once("given name and argument types '")?;
    let (name, types) = rest.split_once("'.")?.0.strip_suffix(')')?.split_once('(')?;
    let names: Vec<String> = split_types(types).into_iter().map(sql_name_of).collect();
    Some(format!("{name}({})", names.join(", ")))
}

/// Cuts at commas outside of parentheses.
fn split_types(types: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    let cut = |letter: char| {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        letter == ',' && depth == 0
    };
    types.split(cut).map(str::trim).filter(|ty| !ty.is_empty()).collect()
}

fn sql_name_of(ty: &str) -> String {
    if let Some(item) = ty.strip_prefix("List(").and_then(|rest| rest.strip_suffix(')')) {
        return format!("{}[]", sql_name_of(item));
    }
    let names = [
        ("Null", "unknown"),
        ("Utf8", "text"),
        ("LargeUtf8", "text"),
        ("Binary", "bytea"),
        ("FixedSizeBinary", "uuid"),
        ("UInt", "bigint"),
        ("Interval", "interval"),
        ("Struct", "record"),
    ];
    let zoned = ty.starts_with("Timestamp") && ty.contains('"');
    let known = names.iter().find(|(arrow, _)| ty.starts_with(arrow)).map(|(_, sql)| *sql);
    let name = if zoned { Some("timestamp with time zone") } else { known.or_else(|| arrow_name_in(ty)) };
    name.unwrap_or("record").to_owned()
}

/// The function that a message about arguments is about.
fn function_in(line: &str) -> String {
    let after = ["function call '", "Function '", "function '"].iter().find_map(|words| line.split_once(words));
    match after {
        Some((_, rest)) => rest.split('\'').next().unwrap_or_default().to_owned(),
        None => line.to_owned(),
    }
}

fn from_execution(message: &str) -> QueryError {
    let line = first_line(message);
    if let Some(known) = function_fault(&line) {
        return known;
    }
    let lower = line.to_lowercase();
    if lower.contains("divide by zero") || lower.contains("division by zero") {
        QueryError::DivisionByZero
    } else if lower.contains("more than one row") || lower.contains("returned more than one") {
        QueryError::SubqueryRows
    } else if lower.contains("regular expression") || lower.contains("regex") {
        Refusal::Pattern.because(format!("invalid regular expression: {line}"))
    } else if overflows(&line) {
        QueryError::OutOfRange { what: "value".to_owned() }
    } else if lower.starts_with("cannot cast") || lower.contains("error parsing") {
        from_cast(&line)
    } else {
        QueryError::BadArgument { message: line }
    }
}

/// Messages may carry a backtrace and valid fields on further lines.
fn first_line(message: &str) -> String {
    message.lines().next().unwrap_or_default().trim_end().to_owned()
}

/// The name that differs least from `name`, if it differs by no more than a third of its letters.
pub(crate) fn close_name<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).max(1);
    let near = names.map(|other| (distance(name, other), other)).filter(|(distance, _)| *distance <= limit);
    near.min_by_key(|(distance, _)| *distance).map(|(_, other)| other)
}

/// Letters to add, take away or change (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        let mut next = vec![left];
        for (y, above) in b.iter().zip(row.iter().skip(1)) {
            let cost = diagonal + usize::from(x != *y);
            left = cost.min(above + 1).min(left + 1);
            diagonal = *above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_names_are_found_and_far_ones_are_not() {
        let names = ["carrier", "flight", "departed"];
        assert_eq!(close_name("carier", names.into_iter()), Some("carrier"));
        assert_eq!(close_name("fligth", names.into_iter()), Some("flight"));
        assert_eq!(close_name("price", names.into_iter()), None);
    }

    #[test]
    fn our_errors_come_back_from_a_plan_as_they_went_in() {
        let sent = QueryError::OutOfRange { what: "bigint".to_owned() };
        let wrapped = DataFusionError::Context("scan".to_owned(), Box::new(DataFusionError::from(sent)));
        let shared = DataFusionError::Shared(std::sync::Arc::new(wrapped));
        assert!(matches!(QueryError::from(shared), QueryError::OutOfRange { what } if what == "bigint"));
    }

    #[test]
    fn arrow_errors_have_their_kind() {
        assert!(matches!(QueryError::from(ArrowError::DivideByZero), QueryError::DivisionByZero));
        let cast = ArrowError::CastError("Cannot cast string 'x1' to value of Int64 type".to_owned());
        let QueryError::Type(TypeError::InvalidText { ty, input }) = QueryError::from(cast) else { unreachable!() };
        assert_eq!((ty.as_str(), input.as_str()), ("bigint", "x1"));
    }
}
