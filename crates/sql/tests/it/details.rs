//! Details that the fixtures do not show: spans, parameters, and fields that print alike.

use crate::one;
use crate::printed::Printed;
use crate::sql::{self, ast, *};
use types::DataType;

#[test]
fn spans_are_exact_and_empty_statements_are_left_out() {
    let text = "  ;; -- first\n SELECT 'ä;' /* ; */ ;\n\nINSERT INTO t VALUES ($$;$$) -- end\n; ;COMMIT";
    let parsed = sql::parse(text).unwrap();
    let spans: Vec<&str> = parsed.iter().map(|statement| &text[statement.span.clone()]).collect();
    assert_eq!(spans, ["SELECT 'ä;'", "INSERT INTO t VALUES ($$;$$)", "COMMIT"]);
    assert!(sql::parse(" ; /* nothing */ -- here").unwrap().is_empty());
    assert!(sql::parse("").unwrap().is_empty());
}

#[test]
fn question_marks_are_numbered_in_each_statement_anew() {
    let parsed = sql::parse("SELECT ?, '?', \"?\" FROM t WHERE a=? -- ?\n; UPDATE t SET a=? WHERE k IN (?,?)").unwrap();
    assert_eq!(Printed(&parsed[0].statement).to_string(), "SELECT $1, '?', \"?\" FROM t WHERE a = $2");
    assert_eq!(Printed(&parsed[1].statement).to_string(), "UPDATE t SET a = $1 WHERE k IN ($2, $3)");
}

#[test]
fn placeholders_are_found_wherever_they_stand() {
    for (text, expected) in [
        ("SELECT 1", 0),
        ("SELECT $2 FROM t WHERE a = $1", 2),
        ("INSERT INTO t VALUES (1) ON CONFLICT (k) WHERE a > $2 DO NOTHING", 2),
        ("INSERT INTO t VALUES (1, $3) ON CONFLICT (k) DO UPDATE SET a = $4 WHERE $5 RETURNING $6", 6),
        ("UPSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = $7", 7),
        ("UPDATE t SET (a, b) = ($1, $8)", 8),
        ("UPDATE t SET (a, b) = (SELECT 1, $9)", 9),
        ("WITH w AS (SELECT $10) DELETE FROM t USING w WHERE true", 10),
        ("DELETE FROM t ORDER BY $2 LIMIT $11", 11),
        ("EXPLAIN SELECT $12", 12),
        ("EXECUTE p ($3)", 3),
        ("PREPARE p AS SELECT $5", 0),
        ("COPY (SELECT $2) TO STDOUT", 2),
        ("CREATE TABLE t AS SELECT $1", 1),
    ] {
        assert_eq!(sql::placeholders(&one(text)), expected, "{text}");
    }
}

#[test]
fn an_inline_key_keeps_its_direction() {
    let Statement::CreateTable(table) = one("CREATE TABLE t (k BIGINT CONSTRAINT p PRIMARY KEY DESC)") else {
        panic!()
    };
    let key = table.key.unwrap();
    assert_eq!(key.name.as_deref(), Some("p"));
    assert_eq!(key.parts, [KeyPartDef { column: "k".into(), descending: true, nulls_first: None }]);
    assert!(!table.columns[0].not_null);
}

#[test]
fn a_default_ends_where_its_column_goes_on() {
    let text = "CREATE TABLE t (a int DEFAULT (1 + 2) * 3 NOT NULL, b bool DEFAULT 1 IS NOT NULL, c text DEFAULT 'x' || \
                'y' CONSTRAINT pk PRIMARY KEY (a))";
    let Statement::CreateTable(table) = one(text) else { panic!() };
    let defaults: Vec<&str> = table.columns.iter().map(|c| c.default.as_ref().unwrap().text.as_str()).collect();
    assert_eq!(defaults, ["(1 + 2) * 3", "1 IS NOT NULL", "'x' || 'y'"]);
    assert!(table.columns[0].not_null && !table.columns[1].not_null);
    for column in &table.columns {
        let default = column.default.as_ref().unwrap();
        assert_eq!(sql::parse_expr(&default.text).unwrap(), default.expr);
    }
    assert!(table.key.is_some());
}

#[test]
fn stored_expressions_are_read_whole_or_not_at_all() {
    assert_eq!(sql::parse_expr("upper('x') || 'ä'").unwrap().to_string(), "upper('x') || 'ä'");
    for wrong in ["", "1 2", "1;", "1; 2", "SELECT 1", "(1", "x COLLATE \"de\""] {
        let result = sql::parse_expr(wrong);
        assert!(wrong == "1;" && result.is_ok() || wrong != "1;" && result.is_err(), "{wrong}: {result:?}");
    }
}

#[test]
fn options_keep_their_kind() {
    let Statement::CreateTable(table) =
        one("CREATE TABLE t (k int PRIMARY KEY) A=8, b.B=-1.5, C='x', D=SNAPPY, E=true, F=NULL, \"g H\"=\"True\"")
    else {
        panic!()
    };
    let values: Vec<_> =
        table.options.iter().map(|o| (o.family.as_deref(), o.name.as_str(), o.value.clone())).collect();
    assert_eq!(
        values,
        [
            (None, "a", OptionValue::Number("8".into())),
            (Some("b"), "b", OptionValue::Number("-1.5".into())),
            (None, "c", OptionValue::Text("x".into())),
            (None, "d", OptionValue::Word("SNAPPY".into())),
            (None, "e", OptionValue::Bool(true)),
            (None, "f", OptionValue::Null),
            (None, "g h", OptionValue::Word("True".into())),
        ]
    );
}

#[test]
fn names_fold_like_postgres() {
    let Statement::DropTable { names, .. } = one("DROP TABLE Ärger.\"Q\"\"x\", DB.S.T") else { panic!() };
    assert_eq!(names[0], ObjectName { schema: Some("Ärger".into()), ..ObjectName::bare("Q\"x") });
    assert_eq!(names[1], ObjectName { database: Some("db".into()), schema: Some("s".into()), ..ObjectName::bare("t") });
}

#[test]
fn row_comparisons_stay() {
    let Statement::Query(query) = one("SELECT * FROM t WHERE (a, b) > (1, 2)") else { panic!() };
    let ast::SetExpr::Select(select) = *query.body else { panic!() };
    let Some(ast::Expr::BinaryOp { left, op: ast::BinaryOperator::Gt, right }) = select.selection else { panic!() };
    assert!(matches!((*left, *right), (ast::Expr::Tuple(a), ast::Expr::Tuple(b)) if a.len() == 2 && b.len() == 2));
}

#[test]
fn strings_are_decoded() {
    let Statement::Insert(insert) =
        one("INSERT INTO t VALUES ('it''s \\n', E'a\\tb\\'c\\x41', $q$a'b$q$, 'a'\n 'b', U&'\\00e4')")
    else {
        panic!()
    };
    let InsertSource::Values(rows) = insert.source else { panic!() };
    let strings: Vec<String> = rows[0]
        .iter()
        .map(|value| match value {
            InsertValue::Expr(ast::Expr::Value(value)) => value.value.clone().into_string().unwrap(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(strings, ["it's \\n", "a\tb'cA", "a'b", "ab", "ä"]);
}

#[test]
fn operators_need_no_blanks() {
    for (text, printed) in [
        ("SELECT a=-1, a<=-1, b=?, c>=$1::int", None),
        ("SELECT a=-1,a<>-b,a<-1", Some("SELECT a = -1, a <> -b, a < -1")),
        ("SELECT*FROM t WHERE a=?AND b=?", Some("SELECT * FROM t WHERE a = $1 AND b = $2")),
        ("SELECT a ISNULL, b NOTNULL", Some("SELECT a IS NULL, b IS NOT NULL")),
    ] {
        match printed {
            Some(printed) => assert_eq!(Printed(&one(text)).to_string(), printed),
            None => assert!(sql::parse(text).is_err(), "? and $1 do not mix"),
        }
    }
}

#[test]
fn types_of_casts_resolve() {
    for (text, expected) in [
        ("x::int", DataType::Integer),
        ("x::pg_catalog.text", DataType::Text),
        ("CAST(x AS double precision)", DataType::Double),
        ("x::numeric(10,2)", DataType::Numeric(Some((10, 2)))),
        ("x::timestamp with time zone", DataType::TimestampTz(None)),
        ("x::character varying(5)", DataType::Varchar(Some(5))),
        ("x::uuid", DataType::Uuid),
        ("x::bytea", DataType::Bytea),
        ("x::varbinary(3)", DataType::Varbinary(3)),
    ] {
        let ast::Expr::Cast { data_type, .. } = sql::parse_expr(text).unwrap() else { panic!("{text}") };
        assert_eq!(sql::data_type(&data_type).unwrap(), expected, "{text}");
    }
    for text in ["x::nosuch", "x::nosuch[]", "x::jsonb"] {
        let ast::Expr::Cast { data_type, .. } = sql::parse_expr(text).unwrap() else { panic!("{text}") };
        assert!(sql::data_type(&data_type).is_err(), "{text}");
    }
}

#[test]
fn what_psql_sends_prints_and_reads_back() {
    let parsed = sql::parse(include_str!("../../fixtures/psql.sql")).unwrap();
    assert_eq!(parsed.len(), 12);
    for one in &parsed {
        let printed = Printed(&one.statement).to_string();
        assert!(!printed.contains("COLLATE"), "{printed}");
        assert_eq!(Printed(&crate::one(&printed)).to_string(), printed);
    }
}

#[test]
fn functions_in_from_keep_their_schema() {
    let text = "SELECT * FROM pg_catalog.generate_series(1, 2) AS g, LATERAL pg_catalog.f(g) AS h, pg_catalog.pg_class";
    assert_eq!(Printed(&one(text)).to_string(), text);
}
