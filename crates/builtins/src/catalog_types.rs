//! Types that only columns of catalogs have: how their values are held while a statement runs, and how clients receive
//! them.
//!
//! Oid aliases (`regclass` and the like) are numbers until they are printed; `name`, `"char"`, `pg_node_tree` and
//! `aclitem` are texts; vectors are arrays whose subscripts start at 0.

use crate::{Ty, TypeId};
use types::{DataType, ElementType};

impl TypeId {
    /// Returns the name of an oid alias: a type whose values are oids that print as names.
    pub fn oid_alias(self) -> Option<&'static str> {
        Some(match self {
            Self::REGPROC => "regproc",
            Self::REGPROCEDURE => "regprocedure",
            Self::REGCLASS => "regclass",
            Self::REGTYPE => "regtype",
            Self::REGNAMESPACE => "regnamespace",
            Self::REGROLE => "regrole",
            _ => return None,
        })
    }

    /// Returns whether values of the type are oids, including oid aliases.
    pub fn is_oid(self) -> bool {
        self == Self::OID || self.oid_alias().is_some()
    }

    /// Returns whether the type is an array that prints without braces and whose subscripts start at 0.
    pub fn is_vector(self) -> bool {
        matches!(self, Self::INT2VECTOR | Self::OIDVECTOR)
    }

    /// Returns whether the type is one of catalogs whose values are texts.
    pub fn is_catalog_text(self) -> bool {
        matches!(
            self,
            Self::NAME
                | Self::CHAR
                | Self::PG_NODE_TREE
                | Self::ACLITEM
                | Self::ANYARRAY
                | Self::PG_LSN
                | Self::CSTRING
                | Self::TID
        )
    }
}

impl Ty {
    /// Returns the type in which values are held while a statement runs; `None` if there are no such values.
    pub fn runtime_type(&self) -> Option<DataType> {
        if let Some(known) = self.data_type() {
            return Some(known);
        }
        match self.id {
            id if id.is_catalog_text() => Some(DataType::Text),
            id if id.is_oid() => Some(DataType::Oid),
            TypeId::XID | TypeId::CID => Some(DataType::BigInt),
            id => {
                let element = Self::plain(id.element()?).runtime_type()?;
                ElementType::of(&element).map(DataType::Array)
            }
        }
    }

    /// Returns the type of values in results, and in tables that are created from results.
    pub fn answer_type(&self) -> Option<DataType> {
        match self.id {
            id if id.oid_alias().is_some() || id.is_vector() => Some(DataType::Text),
            id if id.element().is_some_and(|element| element.oid_alias().is_some()) => {
                Some(DataType::Array(ElementType::Text))
            }
            _ => self.runtime_type(),
        }
    }

    /// Returns the type of a parameter as clients send it: names of objects with an oid are texts.
    pub fn parameter_type(&self) -> Option<DataType> {
        if self.id.is_vector() { None } else { self.answer_type() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oids_with_names_are_held_as_numbers_and_shown_as_texts() {
        let of = |id| (Ty::plain(id).runtime_type(), Ty::plain(id).answer_type());
        assert_eq!(of(TypeId::REGCLASS), (Some(DataType::Oid), Some(DataType::Text)));
        assert_eq!(of(TypeId::OID), (Some(DataType::Oid), Some(DataType::Oid)));
        assert_eq!(of(TypeId::NAME), (Some(DataType::Text), Some(DataType::Text)));
        let (oids, texts) = (DataType::Array(ElementType::Oid), DataType::Array(ElementType::Text));
        // regtype[]
        assert_eq!(of(TypeId(2211)), (Some(oids), Some(texts)));
        assert_eq!(of(TypeId::INT2VECTOR), (Some(DataType::Array(ElementType::SmallInt)), Some(DataType::Text)));
        assert_eq!(of(TypeId::RECORD), (None, None));
    }
}
