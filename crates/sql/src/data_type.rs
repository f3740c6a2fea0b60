//! Types inside expressions (`x::int`, `CAST(x AS …)`): converts sqlparser's form to ours.

use crate::dialect::BennuDialect;
use crate::lexer;
use crate::parser::{Cursor, data_type as read};
use crate::{SqlError, ast};
use types::DataType;

/// Returns the type that a cast names.
///
/// # Errors
/// [`SqlError::Type`] and [`SqlError::Unsupported`] as for a column's type. Their positions count within the type's own
/// text, so callers that know the position of the cast should prefer that.
pub fn data_type(data_type: &ast::DataType) -> Result<DataType, SqlError> {
    let text = data_type.to_string();
    let mut pieces = lexer::cut(&text)?;
    let Some(piece) = pieces.pop() else {
        return Err(SqlError::Syntax { near: None, expected: None, position: lexer::end_of(&text) });
    };
    let dialect = BennuDialect::for_tokens(&piece.tokens);
    let mut cursor = Cursor::new(&text, &dialect, piece);
    let span = cursor.span();
    read(&mut cursor).and_then(|ty| cursor.end().map(|()| ty)).map_err(|fault| fault.at_position(&text, span))
}
