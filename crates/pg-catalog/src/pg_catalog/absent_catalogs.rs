//! What PostgreSQL keeps of operators in indexes, conversions and text search in tables. Here nothing reads them and
//! nobody can add to them, and the tables are empty; clients ask them for what users have added.

use crate::definition::{Definition, Kind};

pub(super) static PG_AMOP: Definition = Definition::empty(
    2602,
    "pg_amop",
    Kind::Table,
    "oid:oid! amopfamily:oid! amoplefttype:oid! amoprighttype:oid! amopstrategy:int2! amoppurpose:char! \
    amopopr:oid! amopmethod:oid! amopsortfamily:oid!",
);

pub(super) static PG_AMPROC: Definition = Definition::empty(
    2603,
    "pg_amproc",
    Kind::Table,
    "oid:oid! amprocfamily:oid! amproclefttype:oid! amprocrighttype:oid! amprocnum:int2! amproc:regproc!",
);

pub(super) static PG_CONVERSION: Definition = Definition::empty(
    2607,
    "pg_conversion",
    Kind::Table,
    "oid:oid! conname:name! connamespace:oid! conowner:oid! conforencoding:int4! contoencoding:int4! \
    conproc:regproc! condefault:bool!",
);

pub(super) static PG_OPCLASS: Definition = Definition::empty(
    2616,
    "pg_opclass",
    Kind::Table,
    "oid:oid! opcmethod:oid! opcname:name! opcnamespace:oid! opcowner:oid! opcfamily:oid! opcintype:oid! \
    opcdefault:bool! opckeytype:oid!",
);

pub(super) static PG_OPFAMILY: Definition = Definition::empty(
    2753,
    "pg_opfamily",
    Kind::Table,
    "oid:oid! opfmethod:oid! opfname:name! opfnamespace:oid! opfowner:oid!",
);

pub(super) static PG_TS_CONFIG: Definition = Definition::empty(
    3602,
    "pg_ts_config",
    Kind::Table,
    "oid:oid! cfgname:name! cfgnamespace:oid! cfgowner:oid! cfgparser:oid!",
);

pub(super) static PG_TS_CONFIG_MAP: Definition = Definition::empty(
    3603,
    "pg_ts_config_map",
    Kind::Table,
    "mapcfg:oid! maptokentype:int4! mapseqno:int4! mapdict:oid!",
);

pub(super) static PG_TS_DICT: Definition = Definition::empty(
    3600,
    "pg_ts_dict",
    Kind::Table,
    "oid:oid! dictname:name! dictnamespace:oid! dictowner:oid! dicttemplate:oid! dictinitoption:text",
);

pub(super) static PG_TS_PARSER: Definition = Definition::empty(
    3601,
    "pg_ts_parser",
    Kind::Table,
    "oid:oid! prsname:name! prsnamespace:oid! prsstart:regproc! prstoken:regproc! prsend:regproc! \
    prsheadline:regproc! prslextype:regproc!",
);

pub(super) static PG_TS_TEMPLATE: Definition = Definition::empty(
    3764,
    "pg_ts_template",
    Kind::Table,
    "oid:oid! tmplname:name! tmplnamespace:oid! tmplinit:regproc! tmpllexize:regproc!",
);
