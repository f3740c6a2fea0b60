//! `\d` and related commands: queries over pg_catalog.

/// Query for user objects of these kinds that match the pattern, if there is one.
fn list(kinds: &str, pattern: &str, sizes: bool) -> String {
    let size = if sizes { ", pg_size_pretty(pg_catalog.pg_table_size(c.oid)) AS \"Size\"" } else { "" };
    let like = like("c.relname", pattern);
    format!(
        "SELECT n.nspname AS \"Schema\", c.relname AS \"Name\",
                CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'S' THEN 'sequence'
                               WHEN 'i' THEN 'index' ELSE c.relkind::text END AS \"Type\"{size}
         FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
         WHERE c.relkind IN ({kinds}) AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast'){like}
         ORDER BY 1, 2"
    )
}

/// A predicate on names and schemas; empty without a pattern.
fn like(name: &str, pattern: &str) -> String {
    if pattern.is_empty() {
        return String::new();
    }
    let (schema, wanted) = split(pattern);
    let schema = schema.map(|schema| format!(" AND n.nspname ~ {}", literal(&regex(&schema))));
    format!("{} AND {name} ~ {}", schema.unwrap_or_default(), literal(&regex(&wanted)))
}

/// Restricts to user schemas. Not applied with a pattern, which finds system objects too.
const OF_USERS: &str = " AND n.nspname NOT IN ('pg_catalog', 'information_schema')";

fn functions(pattern: &str) -> String {
    let which = if pattern.is_empty() { OF_USERS.to_owned() } else { like("p.proname", pattern) };
    format!(
        "SELECT n.nspname AS \"Schema\", p.proname AS \"Name\",
                pg_catalog.pg_get_function_result(p.oid) AS \"Result data type\",
                pg_catalog.pg_get_function_arguments(p.oid) AS \"Argument data types\"
         FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
         WHERE true{which} ORDER BY 1, 2, 4"
    )
}

/// Query for types, which match by either name, `int4` or `integer`. Row and array types are not listed.
fn types(pattern: &str) -> String {
    let which = match pattern {
        "" => OF_USERS.to_owned(),
        pattern => format!(
            " AND (true{} OR true{})",
            like("t.typname", pattern),
            like("pg_catalog.format_type(t.oid, NULL)", pattern)
        ),
    };
    format!(
        "SELECT n.nspname AS \"Schema\", pg_catalog.format_type(t.oid, NULL) AS \"Name\"
         FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
         WHERE t.typrelid = 0 AND t.typname !~ '^_'{which} ORDER BY 1, 2"
    )
}

/// Query for the schemas and names of tables, views and sequences that match a pattern.
pub(super) fn matching(pattern: &str) -> String {
    format!(
        "SELECT n.nspname::text, c.relname::text
         FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
         WHERE c.relkind IN ('r', 'v', 'S') AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast'){}
         ORDER BY 1, 2",
        like("c.relname", pattern)
    )
}

/// Converts psql's pattern, `*` for any characters and `?` for one, to a regular expression.
fn regex(pattern: &str) -> String {
    let letters = pattern.chars().map(|letter| match letter {
        '*' => ".*".to_owned(),
        '?' => ".".to_owned(),
        letter if letter.is_alphanumeric() || letter == '_' => letter.to_string(),
        letter => format!("\\{letter}"),
    });
    format!("^{}$", letters.collect::<String>())
}

/// The query of a command with its pattern; `None` for an unknown command.
pub(super) fn lists(command: &str, pattern: &str) -> Option<String> {
    let (command, more) = command.strip_suffix('+').map_or((command, false), |command| (command, true));
    Some(match command {
        "d" => list("'r', 'v', 'S'", pattern, more),
        "dt" => list("'r'", pattern, more),
        "dv" => list("'v'", pattern, more),
        "ds" => list("'S'", pattern, more),
        "di" => list("'i'", pattern, more),
        "df" => functions(pattern),
        "dT" => types(pattern),
        "dx" => {
            "SELECT extname AS \"Name\", extversion AS \"Version\" FROM pg_catalog.pg_extension ORDER BY 1".to_owned()
        }
        "dn" => "SELECT nspname AS \"Name\" FROM pg_catalog.pg_namespace
                 WHERE nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema' ORDER BY 1"
            .to_owned(),
        "l" => "SELECT datname AS \"Name\" FROM pg_catalog.pg_database ORDER BY 1".to_owned(),
        "du" => "SELECT rolname AS \"Role name\" FROM pg_catalog.pg_roles ORDER BY 1".to_owned(),
        _ => return None,
    })
}

/// Query for the statement that creates a view.
pub(super) fn view(name: &str) -> String {
    let name = literal(name);
    format!(
        "SELECT 'CREATE OR REPLACE VIEW ' || v.oid::regclass || E' AS\\n' || pg_catalog.pg_get_viewdef(v.oid) AS \"View\"
         FROM pg_catalog.pg_class v WHERE v.oid = {name}::regclass AND v.relkind = 'v'"
    )
}

/// Queries for the columns of a table and for its indexes.
pub(super) fn table(name: &str) -> [String; 2] {
    let (schema, table) = split(name);
    let in_schema = match schema {
        Some(schema) => format!("n.nspname = {}", literal(&schema)),
        None => "pg_catalog.pg_table_is_visible(c.oid)".to_owned(),
    };
    let the_table = format!(
        "pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND {in_schema}
         AND c.relname = {}",
        literal(&table)
    );
    let columns = format!(
        "SELECT a.attname AS \"Column\", pg_catalog.format_type(a.atttypid, a.atttypmod) AS \"Type\",
                CASE WHEN a.attnotnull THEN 'not null' ELSE '' END AS \"Nullable\",
                coalesce(pg_catalog.pg_get_expr(d.adbin, d.adrelid), '') AS \"Default\"
         FROM {the_table} JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
              LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
         WHERE NOT a.attisdropped ORDER BY a.attnum"
    );
    let key = format!(
        "SELECT i.relname AS \"Key\", pg_catalog.pg_get_indexdef(x.indexrelid) AS \"Definition\"
         FROM {the_table} JOIN pg_catalog.pg_index x ON x.indrelid = c.oid
              JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid ORDER BY 1"
    );
    [columns, key]
}

/// Splits `schema.table`; each part is folded to lower case unless in double quotes.
fn split(name: &str) -> (Option<String>, String) {
    let mut parts = vec![String::new()];
    let mut quoted = false;
    for c in name.trim_end_matches(';').chars() {
        match c {
            '"' => quoted = !quoted,
            '.' if !quoted => parts.push(String::new()),
            c => {
                if let Some(part) = parts.last_mut() {
                    part.push(if quoted { c } else { c.to_ascii_lowercase() });
                }
            }
        }
    }
    let table = parts.pop().unwrap_or_default();
    (parts.pop(), table)
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::{regex, split};

    #[test]
    fn patterns_know_two_signs() {
        assert_eq!(regex("t*_?.b"), "^t.*_.\\.b$");
    }

    #[test]
    fn names_are_folded_outside_of_quotes() {
        assert_eq!(split("Flights;"), (None, "flights".into()));
        assert_eq!(split("S.\"My.Table\""), (Some("s".into()), "My.Table".into()));
    }
}
