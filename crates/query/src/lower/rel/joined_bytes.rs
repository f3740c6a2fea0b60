//! `string_agg` of bytes, which DataFusion lacks: of their hexadecimal texts, which have the same order.

use crate::lower::Lowering;
use crate::lower::error::LowerResult;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Expr;
use types::DataType;

const HEX: &str = "hex";

/// Does the aggregate join bytes?
pub(super) fn joins_bytes(aggregate: &str, ty: Option<DataType>) -> bool {
    aggregate == "string_agg" && ty.is_some_and(|ty| ty.is_bytes())
}

impl Lowering<'_> {
    /// The texts of bytes. A constant stays one, as DataFusion wants the delimiter.
    pub(super) fn in_hex(&self, args: Vec<Expr>) -> LowerResult<Vec<Expr>> {
        let in_hex = |arg| match arg {
            Expr::Literal(ScalarValue::Binary(bytes) | ScalarValue::BinaryView(bytes), metadata) => {
                let digits = |bytes: Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
                Ok(Expr::Literal(ScalarValue::Utf8(bytes.map(digits)), metadata))
            }
            arg => self.sql_call("encode", &[DataType::Bytea, DataType::Text], vec![arg, hex()]),
        };
        args.into_iter().map(in_hex).collect()
    }

    /// The bytes of a text.
    pub(super) fn decoded_hex(&self, text: Expr) -> LowerResult<Expr> {
        self.sql_call("decode", &[DataType::Text, DataType::Text], vec![text, hex()])
    }
}

fn hex() -> Expr {
    Expr::Literal(ScalarValue::Utf8(Some(HEX.to_owned())), None)
}
