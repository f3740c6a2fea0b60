//! Types that only catalogs' columns have: how their values are held while a statement runs, and as what clients get them.
//!
//! Oids with a name (`regclass` and its like) are numbers until they are shown; `name`, `"char"`, `pg_node_tree` and
//! `aclitem` are texts; vectors are arrays whose subscripts begin with 0.

use crate::{Ty, TypeId};
use types::{DataType, ElementType};

impl TypeId {
    /// The name of a type whose values are oids that are shown as names.
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

    /// An oid, with a name or without?
    pub fn is_oid(self) -> bool {
        self == Self::OID || self.oid_alias().is_some()
    }

    /// An array that is shown without braces and whose subscripts begin with 0?
    pub fn is_vector(self) -> bool {
        matches!(self, Self::INT2VECTOR | Self::OIDVECTOR)
    }

    /// A type of catalogs whose values are texts?
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
    /// The type in which values are held while a statement runs; `None`: such values there are not.
    pub fn held_type(&self) -> Option<DataType> {
        if let Some(known) = self.data_type() {
            return Some(known);
        }
        match self.id {
            id if id.is_catalog_text() => Some(DataType::Text),
            id if id.is_oid() => Some(DataType::Oid),
            TypeId::XID | TypeId::CID => Some(DataType::BigInt),
            id => {
                let element = Self::plain(id.element()?).held_type()?;
                ElementType::of(&element).map(DataType::Array)
            }
        }
    }

    /// The type of values as clients get them, and as tables that are made of them have them.
    pub fn answer_type(&self) -> Option<DataType> {
        match self.id {
            id if id.oid_alias().is_some() || id.is_vector() => Some(DataType::Text),
            id if id.element().is_some_and(|element| element.oid_alias().is_some()) => {
                Some(DataType::Array(ElementType::Text))
            }
            _ => self.held_type(),
        }
    }

    /// The type of a parameter as clients send it: names of what has an oid are texts.
    pub fn parameter_type(&self) -> Option<DataType> {
        if self.id.is_vector() { None } else { self.answer_type() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oids_with_names_are_held_as_numbers_and_shown_as_texts() {
        let of = |id| (Ty::plain(id).held_type(), Ty::plain(id).answer_type());
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
