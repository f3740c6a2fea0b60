//! The stored form of types with digits of a second: `"Timestamp"` without digits, or `{"Timestamp": 3}`.
//!
//! The first form keeps catalogs without such columns readable for every build.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! stored {
    ($module:ident, $name:ident) => {
        /// The stored form of one type.
        pub(crate) mod $module {
            use super::*;

            #[derive(Serialize, Deserialize)]
            enum Plain {
                $name,
            }

            #[derive(Serialize, Deserialize)]
            enum WithDigits {
                $name(u8),
            }

            #[derive(Serialize, Deserialize)]
            #[serde(untagged)]
            enum Stored {
                Plain(Plain),
                WithDigits(WithDigits),
            }

            pub(crate) fn serialize<S: Serializer>(digits: &Option<u8>, to: S) -> Result<S::Ok, S::Error> {
                match digits {
                    None => Stored::Plain(Plain::$name),
                    Some(digits) => Stored::WithDigits(WithDigits::$name(*digits)),
                }
                .serialize(to)
            }

            pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u8>, D::Error> {
                Ok(match Stored::deserialize(from)? {
                    Stored::Plain(Plain::$name) => None,
                    Stored::WithDigits(WithDigits::$name(digits)) => Some(digits),
                })
            }
        }
    };
}

stored!(time, Time);
stored!(timestamp, Timestamp);
stored!(timestamptz, TimestampTz);
