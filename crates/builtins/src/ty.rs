//! A type of an expression: its name, and the type of its values.

use crate::lists::{PgType, format_type};
use types::DataType;

/// A type by its oid in `pg_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub u32);

/// A type with its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ty {
    /// The type.
    pub id: TypeId,
    /// PostgreSQL's `typmod`: length, digits, precision and scale; -1 for none. For `varbinary(n)`, which is `bytea` in
    /// PostgreSQL, n + 4, and for `binary(n)` -(n + 4).
    pub typmod: i32,
    /// Precision and scale of a numeric while a statement runs, by one rule for both executors: two numerics of one SQL
    /// type may print with different numbers of zeros.
    pub digits: Option<(u8, u8)>,
}

/// Constants for the types that rules and bodies use.
#[expect(missing_docs, reason = "each is the type of its name in pg_type")]
impl TypeId {
    pub const BOOL: Self = Self(16);
    pub const BYTEA: Self = Self(17);
    pub const CHAR: Self = Self(18);
    pub const NAME: Self = Self(19);
    pub const INT8: Self = Self(20);
    pub const INT2: Self = Self(21);
    pub const INT2VECTOR: Self = Self(22);
    pub const INT4: Self = Self(23);
    pub const REGPROC: Self = Self(24);
    pub const TEXT: Self = Self(25);
    pub const OID: Self = Self(26);
    pub const TID: Self = Self(27);
    pub const XID: Self = Self(28);
    pub const CID: Self = Self(29);
    pub const OIDVECTOR: Self = Self(30);
    pub const JSON: Self = Self(114);
    pub const PG_NODE_TREE: Self = Self(194);
    pub const FLOAT4: Self = Self(700);
    pub const FLOAT8: Self = Self(701);
    pub const UNKNOWN: Self = Self(705);
    pub const INT2_ARRAY: Self = Self(1005);
    pub const INT4_ARRAY: Self = Self(1007);
    pub const TEXT_ARRAY: Self = Self(1009);
    pub const OID_ARRAY: Self = Self(1028);
    pub const ACLITEM: Self = Self(1033);
    pub const BPCHAR: Self = Self(1042);
    pub const VARCHAR: Self = Self(1043);
    pub const DATE: Self = Self(1082);
    pub const TIME: Self = Self(1083);
    pub const TIMESTAMP: Self = Self(1114);
    pub const TIMESTAMPTZ: Self = Self(1184);
    pub const INTERVAL: Self = Self(1186);
    pub const NUMERIC: Self = Self(1700);
    pub const REGPROCEDURE: Self = Self(2202);
    pub const REGCLASS: Self = Self(2205);
    pub const REGTYPE: Self = Self(2206);
    pub const RECORD: Self = Self(2249);
    pub const CSTRING: Self = Self(2275);
    pub const ANY: Self = Self(2276);
    pub const ANYARRAY: Self = Self(2277);
    pub const VOID: Self = Self(2278);
    pub const ANYELEMENT: Self = Self(2283);
    pub const RECORD_ARRAY: Self = Self(2287);
    pub const ANYNONARRAY: Self = Self(2776);
    pub const UUID: Self = Self(2950);
    pub const PG_LSN: Self = Self(3220);
    pub const REGNAMESPACE: Self = Self(4089);
    pub const REGROLE: Self = Self(4096);
    pub const ANYCOMPATIBLE: Self = Self(5077);
    pub const ANYCOMPATIBLEARRAY: Self = Self(5078);
    pub const ANYCOMPATIBLENONARRAY: Self = Self(5079);
}

impl TypeId {
    /// Returns the category in `pg_type`; `U` (user-defined) for an unknown oid.
    pub fn category(self) -> &'static str {
        match self {
            Self::RECORD_ARRAY => "A",
            _ => PgType::by_oid(self.0).map_or("U", |ty| ty.category),
        }
    }

    /// Returns whether it is the preferred type of its category.
    pub fn is_preferred(self) -> bool {
        PgType::by_oid(self.0).is_some_and(|ty| ty.preferred)
    }

    /// Returns the type of an array's elements; `None` for other types, such as `name`, which only has subscripts.
    pub fn element(self) -> Option<Self> {
        match self {
            Self::RECORD_ARRAY => Some(Self::RECORD),
            _ => PgType::by_oid(self.0).filter(|ty| ty.category == "A" && ty.element != 0).map(|ty| Self(ty.element)),
        }
    }

    /// Returns the type of its arrays.
    pub fn array(self) -> Option<Self> {
        match self {
            Self::RECORD => Some(Self::RECORD_ARRAY),
            _ => PgType::by_oid(self.0).filter(|ty| ty.array != 0).map(|ty| Self(ty.array)),
        }
    }

    /// Returns whether a call determines the type: `anyelement` and the like, but not `"any"`.
    pub fn is_polymorphic(self) -> bool {
        self.is_any_element() || self.is_any_compatible()
    }

    /// Returns whether it is of the family in which all arguments have one type.
    pub(crate) fn is_any_element(self) -> bool {
        matches!(self, Self::ANYELEMENT | Self::ANYARRAY | Self::ANYNONARRAY)
    }

    /// Returns whether it is of the family in which arguments are cast to a common type.
    pub(crate) fn is_any_compatible(self) -> bool {
        matches!(self, Self::ANYCOMPATIBLE | Self::ANYCOMPATIBLEARRAY | Self::ANYCOMPATIBLENONARRAY)
    }

    /// Returns the name without modifiers, as messages show it.
    pub fn sql_name(self) -> String {
        Ty::plain(self).sql_name()
    }
}

impl From<TypeId> for Ty {
    fn from(id: TypeId) -> Self {
        Self::plain(id)
    }
}

impl Ty {
    /// A string literal or NULL whose type is not determined yet.
    pub const UNKNOWN: Self = Self::plain(TypeId::UNKNOWN);
    /// `boolean`.
    pub const BOOL: Self = Self::plain(TypeId::BOOL);
    /// `integer`.
    pub const INT4: Self = Self::plain(TypeId::INT4);
    /// `bigint`.
    pub const INT8: Self = Self::plain(TypeId::INT8);
    /// `text`.
    pub const TEXT: Self = Self::plain(TypeId::TEXT);

    /// Returns the type without modifiers.
    pub const fn plain(id: TypeId) -> Self {
        Self { id, typmod: -1, digits: None }
    }

    /// Returns the type of values of `ty`, without the dimensions that a column's type declares.
    pub fn of(ty: &DataType) -> Self {
        let limit = |bytes: u32| i32::try_from(bytes).map_or(-1, |bytes| bytes.saturating_add(4));
        let typmod = match *ty {
            DataType::Varbinary(limited) => limit(limited),
            DataType::Binary(length) => -limit(length),
            ref other => other.typmod(),
        };
        let digits = if let DataType::Numeric(parameters) = *ty { parameters } else { None };
        Self { id: TypeId(ty.oid()), typmod, digits }
    }

    /// Returns the type of its values; `None` if `types` has no such type: `name`, `regclass`, `"char"`, unknown,
    /// records and pseudo-types. A `bpchar` without length is `text`.
    pub fn data_type(&self) -> Option<DataType> {
        let bytes = |limit: i32| u32::try_from(limit.saturating_sub(4)).ok();
        match (self.id, self.typmod) {
            (TypeId::BYTEA, 4..) => bytes(self.typmod).map(DataType::Varbinary),
            (TypeId::BYTEA, ..=-4) => bytes(self.typmod.saturating_neg()).map(DataType::Binary),
            (TypeId(oid), typmod) => DataType::from_oid(oid, typmod),
        }
    }

    /// Returns the name as `format_type()` shows it.
    pub fn sql_name(&self) -> String {
        match (self.id, self.typmod) {
            (TypeId::RECORD_ARRAY, _) => "record[]".to_owned(),
            (TypeId::BYTEA, limit) if limit != -1 => {
                self.data_type().map_or_else(|| "bytea".to_owned(), |ty| ty.sql_name())
            }
            (TypeId(oid), -1) => format_type(oid, None),
            (TypeId(oid), typmod) => format_type(oid, Some(typmod)),
        }
    }

    /// Returns the type of the array's elements, with the modifiers of the array.
    pub fn element(&self) -> Option<Self> {
        self.id.element().map(|id| Self { id, ..*self })
    }

    /// Returns whether the type is not determined yet.
    pub fn is_unknown(&self) -> bool {
        self.id == TypeId::UNKNOWN
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn types_of_values_go_there_and_back() {
        use DataType::*;
        let mut all = vec![Boolean, SmallInt, Integer, BigInt, Real, Double, Numeric(None), Text, Varchar(None), Bytea];
        all.extend([Varchar(Some(3)), Char(4), Numeric(Some((10, 2))), Varbinary(5), Binary(6), Date, Uuid, Interval]);
        all.extend([Time(Some(0)), Timestamp(Some(3)), TimestampTz(None), Oid, Json]);
        all.extend(types::ElementType::ALL.map(Array));
        for ty in all {
            assert_eq!(Ty::of(&ty).data_type(), Some(ty));
            assert_eq!(Ty::of(&ty).sql_name(), ty.sql_name());
        }
        let absent = [TypeId::NAME, TypeId::CHAR, TypeId::REGCLASS, TypeId::UNKNOWN, TypeId::RECORD, TypeId::ANY];
        assert_eq!(absent.map(|id| Ty::plain(id).data_type()), [None; 6]);
    }

    #[test]
    fn a_name_has_subscripts_but_is_no_array() {
        assert_eq!(TypeId::NAME.element(), None);
        assert_eq!(TypeId::INT2VECTOR.element(), Some(TypeId::INT2));
        assert_eq!(TypeId::TEXT.array().unwrap().element(), Some(TypeId::TEXT));
    }
}
