//! DataFusion's and Arrow's errors to ours: sorted by variant, and by their words only where kernels have no variant.

use crate::error::{QueryError, Refusal};
use arrow::error::ArrowError;
use datafusion::common::DataFusionError;
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
            DataFusionError::ResourcesExhausted(detail) => Self::Resources { detail: first_line(&detail) },
            DataFusionError::NotImplemented(feature) => from_not_built(&feature),
            DataFusionError::Execution(message) => from_execution(&message),
            DataFusionError::ExecutionJoin(join) if join.is_cancelled() => Self::Cancelled,
            DataFusionError::Internal(message) if message.contains("Cannot run range queries on datatype") => {
                Self::Unsupported { feature: "RANGE with a distance over values of this type".to_owned() }
            }
            other => QueryError::unexpected(&first_line(&other.to_string())),
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
    let inner = match inner.downcast::<builtins::EvalError>() {
        Ok(own) => return QueryError::from(*own),
        Err(other) => other,
    };
    match inner.downcast::<DataFusionError>() {
        Ok(nested) => QueryError::from(*nested),
        Err(other) => QueryError::unexpected(&other.to_string()),
    }
}

/// An error that several receivers hold, so that it cannot be taken apart.
fn shared(error: &DataFusionError) -> QueryError {
    match error.find_root() {
        DataFusionError::External(inner) => match inner.downcast_ref::<QueryError>() {
            Some(own) => own.clone(),
            None => match (inner.downcast_ref::<store::StoreError>(), inner.downcast_ref::<catalog::CatalogError>()) {
                (Some(own), _) => QueryError::Store(own.clone()),
                (_, Some(own)) => QueryError::Catalog(own.clone()),
                (None, None) => QueryError::internal(inner.to_string()),
            },
        },
        DataFusionError::ArrowError(inner, _) => arrow_by_ref(inner),
        DataFusionError::ResourcesExhausted(detail) => QueryError::Resources { detail: first_line(detail) },
        DataFusionError::NotImplemented(feature) => from_not_built(feature),
        DataFusionError::Execution(message) => from_execution(message),
        other => QueryError::unexpected(&first_line(&other.to_string())),
    }
}

impl QueryError {
    /// What no variant tells, as the end of a task in a panic. Arrow panics where the texts of a batch, as a constant repeated
    /// for each row, are longer than its offsets reach.
    #[must_use]
    pub fn unexpected(text: &str) -> Self {
        if text.contains("offset overflow") { too_large_batch() } else { Self::internal(text.to_owned()) }
    }
}

/// More bytes of text than one column of a batch takes.
pub(crate) fn too_large_batch() -> QueryError {
    Refusal::Size.because("the texts of one column are larger than 2 GB in one batch of rows")
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
        ArrowError::OffsetOverflowError(_) => too_large_batch(),
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

/// What the planner or Arrow has not, without its words for "not built".
fn from_not_built(feature: &str) -> QueryError {
    let line = first_line(feature);
    let words = line.strip_prefix("Unsupported ").unwrap_or(&line);
    let words = [" is not yet supported", " not yet supported", " is not supported", " not supported"]
        .iter()
        .find_map(|end| words.trim_end_matches('.').strip_suffix(end))
        .unwrap_or(words);
    let operator = words.split_once("Custom(\"").and_then(|(before, rest)| Some((before, rest.strip_suffix("\")")?)));
    let feature = operator.map_or_else(|| words.to_owned(), |(_, operator)| format!("operator {operator}"));
    QueryError::Unsupported { feature }
}

fn from_execution(message: &str) -> QueryError {
    let line = first_line(message);
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

/// Messages may carry a backtrace and valid fields on further lines.
fn first_line(message: &str) -> String {
    message.lines().next().unwrap_or_default().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

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
