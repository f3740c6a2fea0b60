//! Views of kinds of objects that cannot be made here: always empty.

use crate::definition::{Definition, Kind};

pub(super) static ROUTINES: Definition = Definition::empty(
    13377,
    "routines",
    Kind::View,
    "specific_catalog:name specific_schema:name specific_name:name routine_catalog:name routine_schema:name \
    routine_name:name routine_type:varchar module_catalog:name module_schema:name module_name:name udt_catalog:name \
    udt_schema:name udt_name:name data_type:varchar character_maximum_length:int4 character_octet_length:int4 \
    character_set_catalog:name character_set_schema:name character_set_name:name collation_catalog:name \
    collation_schema:name collation_name:name numeric_precision:int4 numeric_precision_radix:int4 numeric_scale:int4 \
    datetime_precision:int4 interval_type:varchar interval_precision:int4 type_udt_catalog:name type_udt_schema:name \
    type_udt_name:name scope_catalog:name scope_schema:name scope_name:name maximum_cardinality:int4 \
    dtd_identifier:name routine_body:varchar routine_definition:varchar external_name:varchar \
    external_language:varchar parameter_style:varchar is_deterministic:varchar sql_data_access:varchar \
    is_null_call:varchar sql_path:varchar schema_level_routine:varchar max_dynamic_result_sets:int4 \
    is_user_defined_cast:varchar is_implicitly_invocable:varchar security_type:varchar to_sql_specific_catalog:name \
    to_sql_specific_schema:name to_sql_specific_name:name as_locator:varchar created:timestamptz \
    last_altered:timestamptz new_savepoint_level:varchar is_udt_dependent:varchar result_cast_from_data_type:varchar \
    result_cast_as_locator:varchar result_cast_char_max_length:int4 result_cast_char_octet_length:int4 \
    result_cast_char_set_catalog:name result_cast_char_set_schema:name result_cast_char_set_name:name \
    result_cast_collation_catalog:name result_cast_collation_schema:name result_cast_collation_name:name \
    result_cast_numeric_precision:int4 result_cast_numeric_precision_radix:int4 result_cast_numeric_scale:int4 \
    result_cast_datetime_precision:int4 result_cast_interval_type:varchar result_cast_interval_precision:int4 \
    result_cast_type_udt_catalog:name result_cast_type_udt_schema:name result_cast_type_udt_name:name \
    result_cast_scope_catalog:name result_cast_scope_schema:name result_cast_scope_name:name \
    result_cast_maximum_cardinality:int4 result_cast_dtd_identifier:name",
);

pub(super) static TRIGGERS: Definition = Definition::empty(
    13440,
    "triggers",
    Kind::View,
    "trigger_catalog:name trigger_schema:name trigger_name:name event_manipulation:varchar event_object_catalog:name \
    event_object_schema:name event_object_table:name action_order:int4 action_condition:varchar \
    action_statement:varchar action_orientation:varchar action_timing:varchar action_reference_old_table:name \
    action_reference_new_table:name action_reference_old_row:name action_reference_new_row:name created:timestamptz",
);

pub(super) static PARAMETERS: Definition = Definition::empty(
    13334,
    "parameters",
    Kind::View,
    "specific_catalog:name specific_schema:name specific_name:name ordinal_position:int4 parameter_mode:varchar \
    is_result:varchar as_locator:varchar parameter_name:name data_type:varchar character_maximum_length:int4 \
    character_octet_length:int4 character_set_catalog:name character_set_schema:name character_set_name:name \
    collation_catalog:name collation_schema:name collation_name:name numeric_precision:int4 \
    numeric_precision_radix:int4 numeric_scale:int4 datetime_precision:int4 interval_type:varchar \
    interval_precision:int4 udt_catalog:name udt_schema:name udt_name:name scope_catalog:name scope_schema:name \
    scope_name:name maximum_cardinality:int4 dtd_identifier:name parameter_default:varchar",
);

pub(super) static DOMAINS: Definition = Definition::empty(
    13320,
    "domains",
    Kind::View,
    "domain_catalog:name domain_schema:name domain_name:name data_type:varchar character_maximum_length:int4 \
    character_octet_length:int4 character_set_catalog:name character_set_schema:name character_set_name:name \
    collation_catalog:name collation_schema:name collation_name:name numeric_precision:int4 \
    numeric_precision_radix:int4 numeric_scale:int4 datetime_precision:int4 interval_type:varchar \
    interval_precision:int4 domain_default:varchar udt_catalog:name udt_schema:name udt_name:name scope_catalog:name \
    scope_schema:name scope_name:name maximum_cardinality:int4 dtd_identifier:name",
);

pub(super) static ELEMENT_TYPES: Definition = Definition::empty(
    13493,
    "element_types",
    Kind::View,
    "object_catalog:name object_schema:name object_name:name object_type:varchar collection_type_identifier:name \
    data_type:varchar character_maximum_length:int4 character_octet_length:int4 character_set_catalog:name \
    character_set_schema:name character_set_name:name collation_catalog:name collation_schema:name \
    collation_name:name numeric_precision:int4 numeric_precision_radix:int4 numeric_scale:int4 \
    datetime_precision:int4 interval_type:varchar interval_precision:int4 domain_default:varchar udt_catalog:name \
    udt_schema:name udt_name:name scope_catalog:name scope_schema:name scope_name:name maximum_cardinality:int4 \
    dtd_identifier:name",
);

/// The one role is a member of no other.
pub(super) static APPLICABLE_ROLES: Definition =
    Definition::empty(13236, "applicable_roles", Kind::View, "grantee:name role_name:name is_grantable:varchar");

pub(super) static UDT_PRIVILEGES: Definition = Definition::empty(
    13445,
    "udt_privileges",
    Kind::View,
    "grantor:name grantee:name udt_catalog:name udt_schema:name udt_name:name privilege_type:varchar \
    is_grantable:varchar",
);
