//! Functions of PostgreSQL, Phoenix and others that do not exist here: the reason, or the alternative.

/// The hint for a function that does not exist here: the reason, or the alternative.
pub fn hint_for_missing_function(name: &str) -> Option<&'static str> {
    REFUSED.iter().find(|(names, _)| names.contains(&name)).map(|(_, hint)| *hint)
}

/// The names, and their hint.
const REFUSED: &[(&[&str], &str)] = &[
    (
        &[
            "json_value",
            "json_query",
            "json_exists",
            "json_modify",
            "array_to_json",
            "json_agg",
            "json_array_elements",
            "json_array_length",
            "json_each",
            "json_extract_path",
            "json_object",
            "json_object_agg",
            "json_object_keys",
            "json_strip_nulls",
            "json_typeof",
            "row_to_json",
        ],
        "JSON is made of values, not taken apart. Keep documents as text, and what queries look for in columns.",
    ),
    (
        &["bson_value", "bson_value_type", "bson_condition_expression", "bson_update_expression"],
        "There is no BSON type here. Keep documents as bytea, and what queries look for in columns.",
    ),
    (
        &["collation_key"],
        "Texts are compared by their bytes, in keys too. Keep a sort key of the locale's in a column of its own.",
    ),
    (&["invert"], "Say DESC behind a column in PRIMARY KEY or ORDER BY."),
    (&["phoenix_row_timestamp"], "A row's time of writing is not shown. Keep it in a column with DEFAULT now()."),
    (
        &["partition_id", "scan_start_key", "scan_end_key", "total_segments"],
        "Regions are read by conditions on key columns; EXPLAIN shows the key ranges of a query.",
    ),
    (
        &["row_size", "raw_row_size", "rowkey_bytes_string"],
        "The bytes of rows and keys are not shown to queries. Use octet_length() of columns.",
    ),
    (
        &[
            "decode_view_index_id",
            "sqltypename",
            "sqltabletype",
            "sqlindextype",
            "sqlviewtype",
            "externalsqltypeid",
            "indexstatename",
            "transactionprovidername",
        ],
        "It decodes Phoenix's system tables. Read pg_catalog or information_schema.",
    ),
    (&["setseed"], "random() has no seed. Generate repeatable numbers in the client."),
    (&["current_query"], "Plans are kept without their text. The client knows the statement that it sends."),
    (&["normalize", "is_normalized"], "There are no tables of Unicode here. Normalize texts in the client."),
    (&["pg_sleep_until"], "Use pg_sleep() with the seconds that are left."),
    (&["convert"], "Texts are UTF-8 here, and bytes have no encoding."),
    (&["to_ascii"], "It takes encodings of one byte, and texts are UTF-8 here."),
];
