//! `client_encoding`: text is UTF8, and other encodings are rejected as not supported.

use super::bad;
use crate::error::{EngineResult, Fault, fail};

/// Accepts UTF8, and SQL_ASCII, which means no conversion.
pub(super) fn encoding(name: &str, value: &str) -> EngineResult<String> {
    let plain: String = value.chars().filter(char::is_ascii_alphanumeric).collect();
    match plain.to_ascii_lowercase().as_str() {
        "utf8" | "unicode" => Ok("UTF8".to_string()),
        "sqlascii" => Ok("SQL_ASCII".to_string()),
        known if OTHER_ENCODINGS.split(' ').any(|other| other == known) => {
            fail(Fault::Unsupported { feature: format!("client_encoding \"{value}\" (text is UTF8)") })
        }
        _ => bad(name, value, None),
    }
}

/// PostgreSQL's other encodings and their aliases, reduced to letters and digits.
const OTHER_ENCODINGS: &str = "abc alt big5 euccn eucjis2004 eucjp euckr euctw gb18030 gbk iso88591 iso885910 iso885913 iso885914 iso885915 \
    iso885916 iso88592 iso88593 iso88594 iso88595 iso88596 iso88597 iso88598 iso88599 johab koi8 koi8r koi8u \
    latin1 latin10 latin2 latin3 latin4 latin5 latin6 latin7 latin8 latin9 mskanji muleinternal shiftjis \
    shiftjis2004 sjis tcvn tcvn5712 uhc vscii win win1250 win1251 win1252 win1253 win1254 win1255 win1256 win1257 \
    win1258 win866 win874 win932 win936 win949 win950 windows1250 windows1251 windows1252 windows1253 windows1254 \
    windows1255 windows1256 windows1257 windows1258 windows866 windows874 windows932 windows936 windows949 \
    windows950";
