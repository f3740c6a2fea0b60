//! Runs statements over a socket in the extended protocol. Results are in binary format and printed here.

use crate::FrontError;
use crate::answer::{self, Output};
use async_trait::async_trait;
use sqllogictest::{AsyncDB, DBOutput, DefaultColumnType};
use std::error::Error;
use tokio_postgres::types::{FromSql, Type};
use tokio_postgres::{Client, Row};
use types::{DataType, Datum, Decimal, ElementType, Interval};

pub(crate) struct Extended {
    pub(crate) client: Client,
    pub(crate) engine: &'static str,
}

/// The raw bytes of a value of any type.
struct Raw<'a>(&'a [u8]);

impl<'a> FromSql<'a> for Raw<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(raw))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

#[async_trait]
impl AsyncDB for Extended {
    type Error = FrontError;
    type ColumnType = DefaultColumnType;

    async fn run(&mut self, sql: &str) -> Result<Output, FrontError> {
        super::refuse_copy_in(sql)?;
        let statement = self.client.prepare(sql).await?;
        if statement.columns().is_empty() {
            return Ok(DBOutput::StatementComplete(self.client.execute(&statement, &[]).await?));
        }
        let found = self.client.query(&statement, &[]).await?;
        let rows = found.iter().map(text_row).collect::<Result<Vec<_>, _>>()?;
        Ok(answer::rows(statement.columns().len(), rows))
    }

    async fn shutdown(&mut self) {}

    fn engine_name(&self) -> &str {
        self.engine
    }

    fn error_sql_state(error: &FrontError) -> Option<String> {
        Some(error.code.clone())
    }
}

fn text_row(row: &Row) -> Result<Vec<String>, FrontError> {
    let cell = |(i, column): (usize, &tokio_postgres::Column)| -> Result<String, FrontError> {
        let Some(Raw(bytes)) = row.try_get::<_, Option<Raw<'_>>>(i)? else { return Ok(answer::cell(None)) };
        let wrong = || {
            let message = format!("column {}: bytes {bytes:02x?} are not of type {}", column.name(), column.type_());
            FrontError::new("22P03", message)
        };
        let modifier = column.type_modifier();
        let ty = DataType::from_oid(column.type_().oid(), modifier).ok_or_else(wrong)?;
        let value = decode(&ty, bytes).ok_or_else(wrong)?;
        let mut text = String::new();
        types::text::print(&ty, &value, &mut text);
        Ok(answer::cell(Some(&text)))
    };
    row.columns().iter().enumerate().map(cell).collect()
}

/// Decodes a value. Independent of the server's encoder, so that each checks the other.
fn decode(ty: &DataType, bytes: &[u8]) -> Option<Datum> {
    const DAYS: i32 = 10_957;
    const MICROS: i64 = DAYS as i64 * 86_400_000_000;
    let micros = |bytes: &[u8]| {
        let value = i64::from_be_bytes(bytes.try_into().ok()?);
        Some(if value == i64::MIN || value == i64::MAX { value } else { value + MICROS })
    };
    Some(match ty {
        DataType::Boolean => Datum::Bool(*bytes.first()? == 1),
        DataType::SmallInt => Datum::Int2(i16::from_be_bytes(bytes.try_into().ok()?)),
        DataType::Integer => Datum::Int4(i32::from_be_bytes(bytes.try_into().ok()?)),
        DataType::BigInt => Datum::Int8(i64::from_be_bytes(bytes.try_into().ok()?)),
        DataType::Oid => Datum::Int8(i64::from(u32::from_be_bytes(bytes.try_into().ok()?))),
        DataType::Real => Datum::Float4(f32::from_be_bytes(bytes.try_into().ok()?)),
        DataType::Double => Datum::Float8(f64::from_be_bytes(bytes.try_into().ok()?)),
        DataType::Numeric(_) => Datum::Numeric(numeric(bytes)?),
        DataType::Text | DataType::Varchar(_) | DataType::Char(_) | DataType::Json => {
            Datum::Text(String::from_utf8(bytes.to_vec()).ok()?)
        }
        DataType::Bytea | DataType::Varbinary(_) | DataType::Binary(_) => Datum::Bytes(bytes.to_vec()),
        DataType::Date => {
            let days = i32::from_be_bytes(bytes.try_into().ok()?);
            Datum::Date(if days == i32::MIN || days == i32::MAX { days } else { days + DAYS })
        }
        DataType::Time(_) => Datum::Time(i64::from_be_bytes(bytes.try_into().ok()?)),
        DataType::Timestamp(_) => Datum::Timestamp(micros(bytes)?),
        DataType::TimestampTz(_) => Datum::TimestampTz(micros(bytes)?),
        DataType::Uuid => Datum::Uuid(bytes.try_into().ok()?),
        DataType::Interval => {
            let (micros, rest) = bytes.split_first_chunk()?;
            let (days, months) = rest.split_first_chunk()?;
            Datum::Interval(Interval {
                months: i32::from_be_bytes(months.try_into().ok()?),
                days: i32::from_be_bytes(*days),
                micros: i64::from_be_bytes(*micros),
            })
        }
        DataType::Array(element) => Datum::Array(array(*element, bytes)?),
        DataType::LimitedInterval(_) | DataType::LimitedArray(_) => return decode(&ty.of_expressions(), bytes),
    })
}

/// Decodes an array: the sizes of all dimensions, then all elements.
fn array(element: ElementType, bytes: &[u8]) -> Option<Vec<Datum>> {
    let mut rest = bytes;
    let mut word = || {
        let (word, tail) = rest.split_first_chunk()?;
        rest = tail;
        Some(i32::from_be_bytes(*word))
    };
    let dimensions = word()?;
    let (_, _) = (word()?, word()?);
    let mut sizes = Vec::new();
    for _ in 0..dimensions {
        sizes.push(usize::try_from(word()?).ok()?);
        word()?;
    }
    let mut items = Vec::new();
    while !rest.is_empty() {
        let (length, tail) = rest.split_first_chunk()?;
        let Ok(length) = usize::try_from(i32::from_be_bytes(*length)) else {
            items.push(Datum::Null);
            rest = tail;
            continue;
        };
        let (field, tail) = tail.split_at_checked(length)?;
        items.push(decode(&element.data_type(), field)?);
        rest = tail;
    }
    for size in sizes.iter().skip(1).rev() {
        items = items.chunks((*size).max(1)).map(|part| Datum::Array(part.to_vec())).collect();
    }
    Some(items)
}

/// Decodes a numeric: writes its digits as text and parses the text.
fn numeric(bytes: &[u8]) -> Option<Decimal> {
    let words: Vec<u16> = bytes.chunks_exact(2).map(|w| u16::from_be_bytes(w.try_into().unwrap_or_default())).collect();
    let [_, weight, sign, scale, digits @ ..] = words.as_slice() else { return None };
    let (weight, scale) = (i32::from(weight.cast_signed()), usize::from(*scale));
    let group = |at: i32| usize::try_from(at).ok().and_then(|i| digits.get(i)).copied().unwrap_or(0);
    let whole: String = (0..=weight.max(0)).map(|i| format!("{:04}", group(i))).collect();
    let whole = if weight < 0 { "0".into() } else { whole };
    let fraction: String = (0..scale.div_ceil(4) as i32).map(|i| format!("{:04}", group(weight + 1 + i))).collect();
    let fraction = fraction.get(..scale)?;
    let text = format!("{}{whole}.{fraction}", if *sign == 0x4000 { "-" } else { "" });
    match types::text::parse(&DataType::Numeric(Some((38, scale as u8))), text.trim_end_matches('.')).ok()? {
        Datum::Numeric(value) => Some(value),
        _ => None,
    }
}
