//! SQL types to Arrow types and back.
//!
//! Arrow's types are coarser: `text`, `varchar(10)` and `char(3)` are all Utf8. The field of a table's column or of a
//! cast has the SQL name under [`TYPE_KEY`], so that results can tell the types apart.

use arrow::datatypes::{DataType as ArrowType, Field, FieldRef, IntervalUnit, Schema, SchemaRef, TimeUnit};
use catalog::{Column, Table};
use std::collections::HashMap;
use std::sync::Arc;
use types::{DataType, ElementType, NUMERIC_MAX_SCALE};

/// Metadata key of a field's SQL type name.
pub const TYPE_KEY: &str = "bennu.type";

/// Metadata key of a column's origin: the oid of its table, a dot, and the column's id, which is not used again after
/// the column is dropped.
pub const ORIGIN_KEY: &str = "bennu.origin";

/// Precision of the Arrow type of `numeric` without precision.
pub const NUMERIC_PRECISION: u8 = 76;
/// Scale of the Arrow type of `numeric` without precision.
pub const NUMERIC_SCALE: i8 = NUMERIC_MAX_SCALE as i8;

/// Returns the Arrow type of a SQL type.
pub fn arrow_type(ty: &DataType) -> ArrowType {
    match ty {
        DataType::Boolean => ArrowType::Boolean,
        DataType::SmallInt => ArrowType::Int16,
        DataType::Integer => ArrowType::Int32,
        DataType::BigInt | DataType::Oid => ArrowType::Int64,
        DataType::Real => ArrowType::Float32,
        DataType::Double => ArrowType::Float64,
        DataType::Numeric(Some((precision, scale))) => ArrowType::Decimal128(*precision, *scale as i8),
        DataType::Numeric(None) => ArrowType::Decimal256(NUMERIC_PRECISION, NUMERIC_SCALE),
        DataType::Text | DataType::Varchar(_) | DataType::Char(_) | DataType::Json => ArrowType::Utf8,
        DataType::Bytea | DataType::Varbinary(_) | DataType::Binary(_) => ArrowType::Binary,
        DataType::Date => ArrowType::Date32,
        DataType::Time(_) => ArrowType::Time64(TimeUnit::Microsecond),
        DataType::Timestamp(_) => ArrowType::Timestamp(TimeUnit::Microsecond, None),
        DataType::TimestampTz(_) => ArrowType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        DataType::Uuid => ArrowType::FixedSizeBinary(16),
        DataType::Interval | DataType::LimitedInterval(_) => ArrowType::Interval(IntervalUnit::MonthDayNano),
        DataType::Array(element) => ArrowType::new_list(arrow_type(&element.data_type()), true),
        DataType::LimitedArray(limits) => {
            let list = |item, _| ArrowType::new_list(item, true);
            (0..limits.dimensions()).fold(arrow_type(&limits.item()), list)
        }
    }
}

/// Creates a field of a SQL type, with the type in its metadata.
pub fn field(name: &str, ty: &DataType, nullable: bool) -> Field {
    let metadata = HashMap::from([(TYPE_KEY.to_owned(), ty.column_name())]);
    Field::new(name, arrow_type(ty), nullable).with_metadata(metadata)
}

/// Creates the field of an expression of a SQL type. Its metadata has the type only if the Arrow type does not
/// determine it: DataFusion requires equal metadata in all rows of VALUES, for example, and most expressions have none.
pub fn expression_field(ty: &DataType) -> Field {
    let plain = Field::new("", arrow_type(ty), true);
    if sql_type_of(&plain) == Some(*ty) { plain } else { field("", ty, true) }
}

/// Returns the schema of a result, whose columns may all be NULL.
pub fn answer_schema<'a>(columns: impl Iterator<Item = (&'a str, &'a DataType)>) -> SchemaRef {
    Arc::new(Schema::new(columns.map(|(name, ty)| field(name, ty, true)).collect::<Vec<_>>()))
}

/// Returns the fields of a table's columns, in order of declaration.
pub fn table_schema(table: &Table) -> SchemaRef {
    let fields: Vec<FieldRef> = table.columns.iter().map(|column| Arc::new(table_field(table, column))).collect();
    Arc::new(Schema::new(fields))
}

fn table_field(table: &Table, column: &Column) -> Field {
    let mut field = field(&column.name, &column.ty, !column.not_null);
    field.metadata_mut().insert(ORIGIN_KEY.to_owned(), format!("{}.{}", table.oid.0, column.id.0));
    field
}

/// Returns the oid of a field's table and the number of its column; zeros for a computed field.
pub fn origin_of(field: &Field) -> (u32, i16) {
    let origin = field.metadata().get(ORIGIN_KEY).and_then(|origin| origin.split_once('.'));
    let read = |(oid, number): (&str, &str)| Some((oid.parse().ok()?, number.parse().ok()?));
    origin.and_then(read).unwrap_or((0, 0))
}

/// Returns the SQL type of a column that is created from a field. Only columns have limits of arrays and intervals.
pub fn column_type_of(field: &Field) -> Option<DataType> {
    let named = field.metadata().get(TYPE_KEY).and_then(|name| parse_type_name(name));
    let limited = named.filter(|ty| *ty != ty.of_expressions() && arrow_type(ty) == *field.data_type());
    limited.or_else(|| match sql_type_of(field)? {
        DataType::Array(element) => DataType::array_of(&element.data_type(), depth(field.data_type()).max(1)),
        ty => Some(ty),
    })
}

fn depth(ty: &ArrowType) -> u8 {
    match ty {
        ArrowType::List(item) => depth(item.data_type()).saturating_add(1),
        _ => 0,
    }
}

/// Returns the SQL type in a field's metadata, or the one closest to its Arrow type, without limits of columns.
pub fn sql_type_of(field: &Field) -> Option<DataType> {
    let plain = sql_type(field.data_type());
    let named = field.metadata().get(TYPE_KEY).and_then(|name| parse_type_name(name)).map(DataType::of_expressions);
    match (named, plain) {
        // Arithmetic sometimes keeps the metadata of an operand: the Arrow type takes precedence.
        (Some(named), Some(plain)) if arrow_type(&named) == arrow_type(&plain) => Some(named),
        (_, plain) => plain,
    }
}

/// Returns the SQL type closest to an Arrow type; `None` for structs and the like.
pub fn sql_type(ty: &ArrowType) -> Option<DataType> {
    Some(match ty {
        ArrowType::Boolean => DataType::Boolean,
        ArrowType::Int8 | ArrowType::UInt8 | ArrowType::Int16 => DataType::SmallInt,
        ArrowType::UInt16 | ArrowType::Int32 => DataType::Integer,
        ArrowType::UInt32 | ArrowType::Int64 | ArrowType::UInt64 => DataType::BigInt,
        ArrowType::Float16 | ArrowType::Float32 => DataType::Real,
        ArrowType::Float64 => DataType::Double,
        ArrowType::Decimal32(precision, scale)
        | ArrowType::Decimal64(precision, scale)
        | ArrowType::Decimal128(precision, scale) => match u8::try_from(*scale) {
            Ok(scale) if scale <= *precision && scale <= 38 => DataType::Numeric(Some((*precision, scale))),
            _ => DataType::Numeric(None),
        },
        ArrowType::Decimal256(..) => DataType::Numeric(None),
        // NULL without a type is text in a result, as in PostgreSQL.
        ArrowType::Utf8 | ArrowType::LargeUtf8 | ArrowType::Utf8View | ArrowType::Null => DataType::Text,
        ArrowType::Binary | ArrowType::LargeBinary | ArrowType::BinaryView => DataType::Bytea,
        ArrowType::FixedSizeBinary(16) => DataType::Uuid,
        ArrowType::FixedSizeBinary(_) => DataType::Bytea,
        ArrowType::Date32 | ArrowType::Date64 => DataType::Date,
        ArrowType::Time32(_) | ArrowType::Time64(_) => DataType::Time(None),
        ArrowType::Timestamp(_, None) => DataType::Timestamp(None),
        ArrowType::Timestamp(_, Some(_)) => DataType::TimestampTz(None),
        ArrowType::Interval(_) | ArrowType::Duration(_) => DataType::Interval,
        ArrowType::List(item) | ArrowType::LargeList(item) | ArrowType::FixedSizeList(item, _) => {
            match sql_type_of(item)? {
                // An array of arrays has several dimensions: its type is that of its innermost elements.
                array @ DataType::Array(_) => array,
                element => DataType::Array(ElementType::of(&element)?),
            }
        }
        ArrowType::Dictionary(_, value) => return sql_type(value),
        _ => return None,
    })
}

/// Parses a name that [`DataType::column_name`] returned.
fn parse_type_name(name: &str) -> Option<DataType> {
    let Some((base, rest)) = name.split_once('(') else { return DataType::of_column_name(name, &[]).ok() };
    let (params, tail) = rest.split_once(')')?;
    let params: Option<Vec<i64>> = params.split(',').map(|param| param.trim().parse().ok()).collect();
    DataType::of_column_name(&format!("{}{tail}", base.trim_end()), &params?).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_field_remembers_its_sql_type() {
        use DataType::*;
        let all = [Boolean, SmallInt, Integer, BigInt, Real, Double, Numeric(None), Text, Varchar(None), Bytea, Date];
        let more = [
            Time(None),
            Timestamp(Some(3)),
            TimestampTz(None),
            Uuid,
            Varchar(Some(10)),
            Char(1),
            Varbinary(4),
            Binary(3),
        ];
        for ty in
            all.into_iter().chain(more).chain([Numeric(Some((10, 2))), Interval, Json, Array(ElementType::Varchar)])
        {
            assert_eq!(sql_type_of(&field("c", &ty, true)), Some(ty), "{ty}");
        }
    }

    #[test]
    fn limits_are_of_columns() {
        let ty = DataType::array_of(&DataType::Numeric(Some((10, 2))), 2).unwrap();
        let field = field("c", &ty, true);
        assert_eq!(column_type_of(&field), Some(ty));
        assert_eq!(sql_type_of(&field), Some(DataType::Array(ElementType::Numeric)));
        let plain = Field::new("c", arrow_type(&ty), true);
        assert_eq!(column_type_of(&plain).map(|ty| ty.dimensions()), Some(2));
    }

    #[test]
    fn the_arrow_type_has_the_last_word() {
        let stale =
            Field::new("c", ArrowType::Int64, true).with_metadata(field("x", &DataType::Text, true).metadata().clone());
        assert_eq!(sql_type_of(&stale), Some(DataType::BigInt));
    }
}
