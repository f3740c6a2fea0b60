//! Tables of features that are not here (grants, extensions, replication, comments): always empty.

use crate::definition::{Definition, Kind};

pub(super) static PG_AUTH_MEMBERS: Definition =
    Definition::empty(1261, "pg_auth_members", Kind::Table, "roleid:oid! member:oid! grantor:oid! admin_option:bool!");

pub(super) static PG_AVAILABLE_EXTENSION_VERSIONS: Definition = Definition::empty(
    12085,
    "pg_available_extension_versions",
    Kind::View,
    "name:name version:text installed:bool superuser:bool trusted:bool relocatable:bool schema:name requires:_name \
    comment:text",
);

pub(super) static PG_AVAILABLE_EXTENSIONS: Definition = Definition::empty(
    12081,
    "pg_available_extensions",
    Kind::View,
    "name:name default_version:text installed_version:text comment:text",
);

pub(super) static PG_DB_ROLE_SETTING: Definition =
    Definition::empty(2964, "pg_db_role_setting", Kind::Table, "setdatabase:oid! setrole:oid! setconfig:_text");

pub(super) static PG_DEFAULT_ACL: Definition = Definition::empty(
    826,
    "pg_default_acl",
    Kind::Table,
    "oid:oid! defaclrole:oid! defaclnamespace:oid! defaclobjtype:char! defaclacl:_aclitem!",
);

pub(super) static PG_EXTENSION: Definition = Definition::empty(
    3079,
    "pg_extension",
    Kind::Table,
    "oid:oid! extname:name! extowner:oid! extnamespace:oid! extrelocatable:bool! extversion:text! extconfig:_oid \
    extcondition:_text",
);

pub(super) static PG_INIT_PRIVS: Definition = Definition::empty(
    3394,
    "pg_init_privs",
    Kind::Table,
    "objoid:oid! classoid:oid! objsubid:int4! privtype:char! initprivs:_aclitem!",
);

pub(super) static PG_LARGEOBJECT: Definition =
    Definition::empty(2613, "pg_largeobject", Kind::Table, "loid:oid! pageno:int4! data:bytea!");

pub(super) static PG_LARGEOBJECT_METADATA: Definition =
    Definition::empty(2995, "pg_largeobject_metadata", Kind::Table, "oid:oid! lomowner:oid! lomacl:_aclitem");

pub(super) static PG_PARAMETER_ACL: Definition =
    Definition::empty(6243, "pg_parameter_acl", Kind::Table, "oid:oid! parname:text! paracl:_aclitem");

pub(super) static PG_PREPARED_XACTS: Definition = Definition::empty(
    12090,
    "pg_prepared_xacts",
    Kind::View,
    "transaction:xid gid:text prepared:timestamptz owner:name database:name",
);

pub(super) static PG_PUBLICATION: Definition = Definition::empty(
    6104,
    "pg_publication",
    Kind::Table,
    "oid:oid! pubname:name! pubowner:oid! puballtables:bool! pubinsert:bool! pubupdate:bool! pubdelete:bool! \
    pubtruncate:bool! pubviaroot:bool!",
);

pub(super) static PG_PUBLICATION_NAMESPACE: Definition =
    Definition::empty(6237, "pg_publication_namespace", Kind::Table, "oid:oid! pnpubid:oid! pnnspid:oid!");

pub(super) static PG_PUBLICATION_REL: Definition = Definition::empty(
    6106,
    "pg_publication_rel",
    Kind::Table,
    "oid:oid! prpubid:oid! prrelid:oid! prqual:pg_node_tree prattrs:int2vector",
);

pub(super) static PG_PUBLICATION_TABLES: Definition = Definition::empty(
    12068,
    "pg_publication_tables",
    Kind::View,
    "pubname:name schemaname:name tablename:name attnames:_name rowfilter:text",
);

pub(super) static PG_REPLICATION_ORIGIN: Definition =
    Definition::empty(6000, "pg_replication_origin", Kind::Table, "roident:oid! roname:text!");

pub(super) static PG_REPLICATION_SLOTS: Definition = Definition::empty(
    12257,
    "pg_replication_slots",
    Kind::View,
    "slot_name:name plugin:name slot_type:text datoid:oid database:name temporary:bool active:bool active_pid:int4 \
    xmin:xid catalog_xmin:xid restart_lsn:text confirmed_flush_lsn:text wal_status:text safe_wal_size:int8 \
    two_phase:bool",
);

pub(super) static PG_SECLABEL: Definition = Definition::empty(
    3596,
    "pg_seclabel",
    Kind::Table,
    "objoid:oid! classoid:oid! objsubid:int4! provider:text! label:text!",
);

pub(super) static PG_SECLABELS: Definition = Definition::empty(
    12099,
    "pg_seclabels",
    Kind::View,
    "objoid:oid classoid:oid objsubid:int4 objtype:text objnamespace:oid objname:text provider:text label:text",
);

/// What databases share does not depend on anything.
pub(super) static PG_SHDEPEND: Definition = Definition::empty(
    1214,
    "pg_shdepend",
    Kind::Table,
    "dbid:oid! classid:oid! objid:oid! objsubid:int4! refclassid:oid! refobjid:oid! deptype:char!",
);

/// There is no replication.
pub(super) static PG_STAT_REPLICATION: Definition = Definition::empty(
    12227,
    "pg_stat_replication",
    Kind::View,
    "pid:int4 usesysid:oid usename:name application_name:text client_addr:text client_hostname:text client_port:int4 \
    backend_start:timestamptz backend_xmin:xid state:text sent_lsn:text write_lsn:text flush_lsn:text replay_lsn:text \
    write_lag:text flush_lag:text replay_lag:text sync_priority:int4 sync_state:text reply_time:timestamptz",
);

pub(super) static PG_SHSECLABEL: Definition =
    Definition::empty(3592, "pg_shseclabel", Kind::Table, "objoid:oid! classoid:oid! provider:text! label:text!");

pub(super) static PG_SUBSCRIPTION: Definition = Definition::empty(
    6100,
    "pg_subscription",
    Kind::Table,
    "oid:oid! subdbid:oid! subskiplsn:text! subname:name! subowner:oid! subenabled:bool! subbinary:bool! \
    substream:bool! subtwophasestate:char! subdisableonerr:bool! subconninfo:text! subslotname:name \
    subsynccommit:text! subpublications:_text!",
);

pub(super) static PG_SUBSCRIPTION_REL: Definition = Definition::empty(
    6102,
    "pg_subscription_rel",
    Kind::Table,
    "srsubid:oid! srrelid:oid! srsubstate:char! srsublsn:text",
);
