//! Tables of kinds of schema objects that cannot be made here: always empty.

use crate::definition::{Definition, Kind};

pub(super) static PG_ENUM: Definition =
    Definition::empty(3501, "pg_enum", Kind::Table, "oid:oid! enumtypid:oid! enumsortorder:float4! enumlabel:name!");

pub(super) static PG_EVENT_TRIGGER: Definition = Definition::empty(
    3466,
    "pg_event_trigger",
    Kind::Table,
    "oid:oid! evtname:name! evtevent:name! evtowner:oid! evtfoid:oid! evtenabled:char! evttags:_text",
);

pub(super) static PG_FOREIGN_DATA_WRAPPER: Definition = Definition::empty(
    2328,
    "pg_foreign_data_wrapper",
    Kind::Table,
    "oid:oid! fdwname:name! fdwowner:oid! fdwhandler:oid! fdwvalidator:oid! fdwacl:_aclitem fdwoptions:_text",
);

pub(super) static PG_FOREIGN_SERVER: Definition = Definition::empty(
    1417,
    "pg_foreign_server",
    Kind::Table,
    "oid:oid! srvname:name! srvowner:oid! srvfdw:oid! srvtype:text srvversion:text srvacl:_aclitem srvoptions:_text",
);

pub(super) static PG_FOREIGN_TABLE: Definition =
    Definition::empty(3118, "pg_foreign_table", Kind::Table, "ftrelid:oid! ftserver:oid! ftoptions:_text");

pub(super) static PG_INHERITS: Definition = Definition::empty(
    2611,
    "pg_inherits",
    Kind::Table,
    "inhrelid:oid! inhparent:oid! inhseqno:int4! inhdetachpending:bool!",
);

pub(super) static PG_PARTITIONED_TABLE: Definition = Definition::empty(
    3350,
    "pg_partitioned_table",
    Kind::Table,
    "partrelid:oid! partstrat:char! partnatts:int2! partdefid:oid! partattrs:int2vector! partclass:oidvector! \
    partcollation:oidvector! partexprs:pg_node_tree",
);

pub(super) static PG_POLICIES: Definition = Definition::empty(
    12018,
    "pg_policies",
    Kind::View,
    "schemaname:name tablename:name policyname:name permissive:text roles:_name cmd:text qual:text with_check:text",
);

pub(super) static PG_POLICY: Definition = Definition::empty(
    3256,
    "pg_policy",
    Kind::Table,
    "oid:oid! polname:name! polrelid:oid! polcmd:char! polpermissive:bool! polroles:_oid! polqual:pg_node_tree \
    polwithcheck:pg_node_tree",
);

pub(super) static PG_RANGE: Definition = Definition::empty(
    3541,
    "pg_range",
    Kind::Table,
    "rngtypid:oid! rngsubtype:oid! rngmultitypid:oid! rngcollation:oid! rngsubopc:oid! rngcanonical:regproc! \
    rngsubdiff:regproc!",
);

pub(super) static PG_RULES: Definition =
    Definition::empty(12023, "pg_rules", Kind::View, "schemaname:name tablename:name rulename:name definition:text");

pub(super) static PG_STATISTIC_EXT: Definition = Definition::empty(
    3381,
    "pg_statistic_ext",
    Kind::Table,
    "oid:oid! stxrelid:oid! stxname:name! stxnamespace:oid! stxowner:oid! stxstattarget:int4! stxkeys:int2vector! \
    stxkind:_char! stxexprs:pg_node_tree",
);

/// Its functions are numbers as in PostgreSQL, since they are compared with those of `pg_proc`.
pub(super) static PG_TRANSFORM: Definition = Definition::empty(
    3576,
    "pg_transform",
    Kind::Table,
    "oid:oid! trftype:oid! trflang:oid! trffromsql:oid! trftosql:oid!",
);

pub(super) static PG_TRIGGER: Definition = Definition::empty(
    2620,
    "pg_trigger",
    Kind::Table,
    "oid:oid! tgrelid:oid! tgparentid:oid! tgname:name! tgfoid:oid! tgtype:int2! tgenabled:char! tgisinternal:bool! \
    tgconstrrelid:oid! tgconstrindid:oid! tgconstraint:oid! tgdeferrable:bool! tginitdeferred:bool! tgnargs:int2! \
    tgattr:int2vector! tgargs:bytea! tgqual:pg_node_tree tgoldtable:name tgnewtable:name",
);

pub(super) static PG_USER_MAPPING: Definition =
    Definition::empty(1418, "pg_user_mapping", Kind::Table, "oid:oid! umuser:oid! umserver:oid! umoptions:_text");

pub(super) static PG_USER_MAPPINGS: Definition = Definition::empty(
    12327,
    "pg_user_mappings",
    Kind::View,
    "umid:oid srvid:oid srvname:name umuser:oid usename:name umoptions:_text",
);
