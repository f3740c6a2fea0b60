import java.io.StringReader;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.UUID;
import org.postgresql.PGConnection;
import org.postgresql.PGStatement;
import org.postgresql.copy.CopyManager;
import org.postgresql.util.PGInterval;

/** What a program does with pgjdbc, each step as one line: {@code step | result}. Arguments: host and port. */
public final class Main {
    private interface Work {
        Object run() throws Exception;
    }

    private static String url;

    public static void main(String[] arguments) throws Exception {
        url = "jdbc:postgresql://" + arguments[0] + ":" + arguments[1] + "/bennu";
        try (Connection connection = connect()) {
            tables(connection);
            types(connection);
            prepared(connection);
            cursors(connection);
            batches(connection);
            copies(connection);
            arrays(connection);
            metadata(connection);
            failures(connection);
            session(connection);
        }
    }

    private static Connection connect() throws SQLException {
        Properties properties = new Properties();
        properties.setProperty("user", "clients");
        return DriverManager.getConnection(url, properties);
    }

    /** Prints what {@code work} gives, or the SQLSTATE of what it throws. */
    private static void step(String name, Work work) {
        Object result;
        try {
            result = work.run();
        } catch (SQLException e) {
            result = "SQLException " + e.getSQLState();
        } catch (Exception e) {
            result = "!" + e;
        }
        System.out.println(name + " | " + result);
    }

    private static List<String> rows(ResultSet set) throws SQLException {
        List<String> rows = new ArrayList<>();
        int columns = set.getMetaData().getColumnCount();
        while (set.next()) {
            List<String> row = new ArrayList<>();
            for (int i = 1; i <= columns; i++) {
                row.add(set.getString(i));
            }
            rows.add(String.join(",", row.stream().map(String::valueOf).toList()));
        }
        return rows;
    }

    private static List<String> query(Connection connection, String text) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            return rows(statement.executeQuery(text));
        }
    }

    private static void tables(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("DROP TABLE IF EXISTS numbers");
            statement.execute("CREATE TABLE numbers (n int PRIMARY KEY, s text NOT NULL DEFAULT 'x', d numeric(10,2))");
            statement.execute("DROP VIEW IF EXISTS paired_view");
            statement.execute("DROP TABLE IF EXISTS paired");
            statement.execute("CREATE TABLE paired (a int, \"B c\" text, d date, PRIMARY KEY (d, \"B c\"))");
            statement.execute("CREATE VIEW paired_view AS SELECT a FROM paired");
            statement.execute("INSERT INTO numbers SELECT n, 'n' || n, n FROM generate_series(0, 999) AS n");
        }
    }

    private static void types(Connection connection) {
        Object[][] values = {
            {"boolean", true}, {"smallint", (short) -7}, {"integer", 42}, {"bigint", Long.MIN_VALUE},
            {"real", 1.5f}, {"double precision", 1e-10}, {"numeric(12,3)", new BigDecimal("1.250")},
            {"numeric", new BigDecimal("12345678901234567890.5")}, {"text", "text ' ü"}, {"varchar(5)", "abc"},
            {"char(4)", "ab"}, {"bytea", new byte[] {0, 1, -1}}, {"date", LocalDate.of(2020, 2, 29)},
            {"time", LocalTime.of(12, 34, 56, 789_000_000)}, {"timestamp", LocalDateTime.of(2020, 2, 29, 12, 34, 56)},
            {"timestamptz", OffsetDateTime.of(2020, 2, 29, 12, 34, 56, 0, ZoneOffset.ofHours(2))},
            {"uuid", UUID.fromString("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")},
        };
        for (boolean binary : new boolean[] {false, true}) {
            for (Object[] value : values) {
                step((binary ? "binary " : "text ") + value[0], () -> {
                    String text = "SELECT ?::" + value[0] + ", NULL::" + value[0];
                    try (PreparedStatement statement = connection.prepareStatement(text)) {
                        // -1: everything in binary, at once.
                        statement.unwrap(PGStatement.class).setPrepareThreshold(binary ? -1 : 0);
                        statement.setObject(1, value[1]);
                        ResultSet set = statement.executeQuery();
                        set.next();
                        Object read = set.getObject(1);
                        String shown = read instanceof byte[] bytes ? Arrays.toString(bytes) : String.valueOf(read);
                        return shown + " " + read.getClass().getSimpleName() + " " + set.getObject(2)
                            + " " + set.getMetaData().getColumnTypeName(1);
                    }
                });
            }
        }
    }

    private static void arrays(Connection connection) {
        Object[][] values = {
            {"int4", new Integer[] {1, null, -3}}, {"int8", new Long[] {Long.MAX_VALUE}}, {"bool", new Boolean[] {true, false}},
            {"text", new String[] {"a", "with \" and \\", "", null}}, {"float8", new Double[] {0.5, -1e300}},
            {"numeric", new BigDecimal[] {new BigDecimal("1.25"), new BigDecimal("-3")}},
            {"int4", new Integer[][] {{1, 2}, {3, 4}}},
        };
        for (boolean binary : new boolean[] {false, true}) {
            for (Object[] value : values) {
                boolean flat = !(value[1] instanceof Integer[][]);
                step((binary ? "binary " : "text ") + value[0] + (flat ? "[]" : "[][]"), () -> {
                    try (PreparedStatement statement = connection.prepareStatement("SELECT ?::" + value[0] + "[]")) {
                        statement.unwrap(PGStatement.class).setPrepareThreshold(binary ? -1 : 0);
                        statement.setArray(1, connection.createArrayOf((String) value[0], (Object[]) value[1]));
                        ResultSet set = statement.executeQuery();
                        set.next();
                        return Arrays.deepToString((Object[]) set.getArray(1).getArray()) + " " + set.getArray(1).getBaseTypeName();
                    }
                });
            }
            step((binary ? "binary " : "text ") + "interval", () -> {
                try (PreparedStatement statement = connection.prepareStatement("SELECT ?::interval * 2")) {
                    statement.unwrap(PGStatement.class).setPrepareThreshold(binary ? -1 : 0);
                    statement.setObject(1, new PGInterval(1, 2, 3, 4, 5, 6.5));
                    ResultSet set = statement.executeQuery();
                    set.next();
                    return set.getObject(1) + " " + set.getObject(1).getClass().getSimpleName();
                }
            });
        }
    }

    private static void session(Connection connection) {
        step("warning", () -> {
            try (Statement statement = connection.createStatement()) {
                statement.execute("DROP TABLE IF EXISTS never_there");
                return statement.getWarnings().getSQLState() + " " + statement.getWarnings().getMessage();
            }
        });
        step("cancel", () -> {
            try (Statement statement = connection.createStatement()) {
                Thread other = new Thread(() -> {
                    try {
                        Thread.sleep(300);
                        statement.cancel();
                    } catch (Exception e) {
                        System.out.println("?cancel | " + e);
                    }
                });
                other.start();
                try {
                    return statement.executeQuery("SELECT count(*) FROM numbers a, numbers b, numbers c, numbers d");
                } finally {
                    other.join();
                }
            }
        });
        step("declared cursor", () -> {
            connection.setAutoCommit(false);
            try {
                query(connection, "SELECT 1");
                try (Statement statement = connection.createStatement()) {
                    statement.execute("DECLARE c CURSOR FOR SELECT n FROM numbers ORDER BY n");
                    statement.execute("MOVE 10 FROM c");
                }
                return query(connection, "FETCH 3 FROM c");
            } finally {
                connection.rollback();
                connection.setAutoCommit(true);
            }
        });
        step("goes on", () -> query(connection, "SELECT 1"));
    }

    private static void prepared(Connection connection) {
        step("named after five", () -> {
            List<String> found = new ArrayList<>();
            try (PreparedStatement statement = connection.prepareStatement("SELECT s FROM numbers WHERE n = ?")) {
                for (int n = 0; n < 8; n++) {
                    statement.setInt(1, n);
                    found.addAll(rows(statement.executeQuery()));
                }
            }
            return found;
        });
        step("limit", () -> {
            try (PreparedStatement statement = connection.prepareStatement("SELECT n FROM numbers ORDER BY n")) {
                statement.setMaxRows(3);
                return rows(statement.executeQuery());
            }
        });
        step("limit parameter", () -> {
            try (PreparedStatement statement = connection.prepareStatement("SELECT n FROM numbers ORDER BY n LIMIT ? OFFSET ?")) {
                statement.setInt(1, 2);
                statement.setInt(2, 5);
                return rows(statement.executeQuery());
            }
        });
        step("null", () -> {
            try (PreparedStatement statement = connection.prepareStatement("SELECT n FROM numbers WHERE s = ? OR n = ?")) {
                statement.setNull(1, java.sql.Types.VARCHAR);
                statement.setInt(2, 4);
                return rows(statement.executeQuery());
            }
        });
        step("parameters", () -> {
            try (PreparedStatement statement = connection.prepareStatement("UPDATE numbers SET s = ?, d = ? WHERE n = ?")) {
                var described = statement.getParameterMetaData();
                return described.getParameterTypeName(1) + " " + described.getParameterTypeName(2) + " " + described.getParameterTypeName(3);
            }
        });
        step("generated keys", () -> {
            try (PreparedStatement statement = connection.prepareStatement("INSERT INTO numbers (n) VALUES (5000)", new String[] {"n", "s"})) {
                statement.executeUpdate();
                return rows(statement.getGeneratedKeys());
            }
        });
        step("array", () -> {
            try (PreparedStatement statement = connection.prepareStatement("SELECT n FROM numbers WHERE n = ANY(?) ORDER BY n")) {
                statement.setArray(1, connection.createArrayOf("int4", new Object[] {3, 1}));
                return rows(statement.executeQuery());
            }
        });
    }

    private static void cursors(Connection connection) throws SQLException {
        connection.setAutoCommit(false);
        step("fetch size", () -> {
            try (Statement statement = connection.createStatement()) {
                statement.setFetchSize(100);
                ResultSet set = statement.executeQuery("SELECT n FROM numbers ORDER BY n");
                int count = 0;
                long sum = 0;
                while (set.next()) {
                    count++;
                    sum += set.getInt(1);
                }
                return count + " " + sum;
            }
        });
        step("rolled back", () -> {
            try (Statement statement = connection.createStatement()) {
                int deleted = statement.executeUpdate("DELETE FROM numbers WHERE n < 10");
                connection.rollback();
                return deleted + " " + query(connection, "SELECT count(*) FROM numbers WHERE n < 10");
            }
        });
        connection.commit();
        connection.setAutoCommit(true);
    }

    private static void batches(Connection connection) {
        step("batch", () -> {
            try (PreparedStatement statement = connection.prepareStatement("INSERT INTO numbers (n, s) VALUES (?, ?)")) {
                for (int n = 6000; n < 6100; n++) {
                    statement.setInt(1, n);
                    statement.setString(2, "b" + n);
                    statement.addBatch();
                }
                return Arrays.stream(statement.executeBatch()).sum();
            }
        });
        step("batch that fails", () -> {
            try (PreparedStatement statement = connection.prepareStatement("INSERT INTO numbers (n, s) VALUES (?, ?)")) {
                for (int n : new int[] {7000, 7001, 6000, 7002}) {
                    statement.setInt(1, n);
                    statement.setString(2, "b");
                    statement.addBatch();
                }
                return statement.executeBatch().length;
            }
        });
        step("all or nothing", () -> query(connection, "SELECT count(*) FROM numbers WHERE n >= 7000"));
    }

    private static void copies(Connection connection) throws SQLException {
        CopyManager copy = connection.unwrap(PGConnection.class).getCopyAPI();
        step("copy in", () -> copy.copyIn("COPY numbers (n, s) FROM STDIN", new StringReader("8000\teight\n8001\tnine\n")));
        step("copy csv in", () -> copy.copyIn("COPY numbers FROM STDIN (FORMAT csv)", new StringReader("8002,\"a,b\",1.5\n")));
        step("copy out", () -> {
            StringWriter out = new StringWriter();
            long count = copy.copyOut("COPY (SELECT * FROM numbers WHERE n >= 8000 ORDER BY n) TO STDOUT (FORMAT csv)", out);
            return count + " " + out.toString().replace("\n", ";");
        });
        step("copy of a bad row", () -> copy.copyIn("COPY numbers FROM STDIN", new StringReader("x\ty\tz\n")));
        step("after it", () -> query(connection, "SELECT 1"));
    }

    private static void metadata(Connection connection) throws SQLException {
        DatabaseMetaData metadata = connection.getMetaData();
        step("tables", () -> {
            List<String> found = new ArrayList<>();
            ResultSet set = metadata.getTables(null, "public", "num%", new String[] {"TABLE"});
            while (set.next()) {
                found.add(set.getString("TABLE_SCHEM") + "." + set.getString("TABLE_NAME") + " " + set.getString("TABLE_TYPE"));
            }
            return found;
        });
        step("columns", () -> {
            List<String> found = new ArrayList<>();
            ResultSet set = metadata.getColumns(null, "public", "numbers", null);
            while (set.next()) {
                found.add(set.getString("COLUMN_NAME") + " " + set.getString("TYPE_NAME") + " " + set.getInt("COLUMN_SIZE")
                    + " " + set.getInt("DECIMAL_DIGITS") + " " + set.getString("IS_NULLABLE") + " " + set.getString("COLUMN_DEF"));
            }
            return found;
        });
        step("primary key", () -> {
            List<String> found = new ArrayList<>();
            ResultSet set = metadata.getPrimaryKeys(null, "public", "numbers");
            while (set.next()) {
                found.add(set.getString("COLUMN_NAME") + " " + set.getShort("KEY_SEQ") + " " + set.getString("PK_NAME"));
            }
            return found;
        });
        step("indexes", () -> {
            List<String> found = new ArrayList<>();
            ResultSet set = metadata.getIndexInfo(null, "public", "numbers", false, false);
            while (set.next()) {
                found.add(set.getString("INDEX_NAME") + " " + set.getString("COLUMN_NAME") + " " + set.getBoolean("NON_UNIQUE"));
            }
            return found;
        });
        step("schemas", () -> {
            List<String> found = new ArrayList<>();
            ResultSet set = metadata.getSchemas(null, "p%c");
            while (set.next()) {
                found.add(set.getString(1));
            }
            return found;
        });
        step("imported keys", () -> rows(metadata.getImportedKeys(null, "public", "numbers")));
        step("exported keys", () -> rows(metadata.getExportedKeys(null, "public", "numbers")));
        step("cross reference", () -> rows(metadata.getCrossReference(null, "public", "numbers", null, "public", "paired")));
        step("paired key", () -> rows(metadata.getPrimaryKeys(null, "public", "paired")));
        step("paired indexes", () -> {
            List<String> found = new ArrayList<>();
            ResultSet set = metadata.getIndexInfo(null, "public", "paired", true, true);
            while (set.next()) {
                found.add(set.getString("INDEX_NAME") + " " + set.getShort("TYPE") + " " + set.getShort("ORDINAL_POSITION")
                    + " " + set.getString("COLUMN_NAME") + " " + set.getString("ASC_OR_DESC"));
            }
            return found;
        });
        step("best row", () -> rows(metadata.getBestRowIdentifier(null, "public", "paired", DatabaseMetaData.bestRowSession, true)));
        step("version columns", () -> rows(metadata.getVersionColumns(null, "public", "numbers")));
        step("catalogs", () -> rows(metadata.getCatalogs()).contains("bennu"));
        step("table types", () -> rows(metadata.getTableTypes()).size());
        step("views", () -> rows(metadata.getTables(null, null, "paired_view", null)));
        step("table privileges", () -> rows(metadata.getTablePrivileges(null, "public", "paired")).size() > 0);
        step("column privileges", () -> rows(metadata.getColumnPrivileges(null, "public", "paired", "a")).size() > 0);
        step("user types", () -> rows(metadata.getUDTs(null, "public", "%", null)));
        step("procedures", () -> rows(metadata.getProcedures(null, "public", "%")));
        step("functions", () -> rows(metadata.getFunctions(null, "public", "%")));
        step("function columns", () -> rows(metadata.getFunctionColumns(null, "public", "%", "%")));
        step("type info", () -> {
            ResultSet set = metadata.getTypeInfo();
            while (set.next()) {
                if (set.getString("TYPE_NAME").equals("timestamptz")) {
                    return set.getInt("DATA_TYPE") + " " + set.getShort("SEARCHABLE");
                }
            }
            return null;
        });
        step("name length", () -> metadata.getMaxColumnNameLength());
        step("index keys", () -> metadata.getMaxColumnsInIndex());
        step("isolation", () -> metadata.getDefaultTransactionIsolation());
        step("keywords", () -> metadata.getSQLKeywords().contains("ilike"));
        step("client info", () -> rows(metadata.getClientInfoProperties()));
        step("result", () -> {
            try (Statement statement = connection.createStatement()) {
                ResultSetMetaData result = statement.executeQuery("SELECT n, s, d, d + 1 AS more FROM numbers LIMIT 0").getMetaData();
                List<String> found = new ArrayList<>();
                for (int i = 1; i <= result.getColumnCount(); i++) {
                    found.add(result.getColumnName(i) + " " + result.getColumnTypeName(i) + " " + result.getPrecision(i)
                        + " " + result.getScale(i) + " " + result.isNullable(i) + " " + result.getTableName(i));
                }
                return found;
            }
        });
        step("version", () -> metadata.getDatabaseMajorVersion());
    }

    private static void failures(Connection connection) throws SQLException {
        String[][] statements = {
            {"syntax", "SELEC 1"}, {"no table", "SELECT * FROM nowhere"}, {"division", "SELECT 1 / 0"},
            {"duplicate key", "INSERT INTO numbers (n) VALUES (1)"}, {"not null", "INSERT INTO numbers (n) VALUES (NULL)"},
            {"numeric overflow", "INSERT INTO numbers (n, d) VALUES (9999, 1e10)"},
        };
        for (String[] statement : statements) {
            step("error: " + statement[0], () -> query(connection, statement[1]));
        }
        step("timeout", () -> {
            try (Statement statement = connection.createStatement()) {
                statement.setQueryTimeout(1);
                return rows(statement.executeQuery("SELECT count(*) FROM numbers a, numbers b, numbers c, numbers d"));
            }
        });
        step("goes on", () -> query(connection, "SELECT 'yes'"));
        step("time zone", () -> query(connection, "SHOW timezone").get(0).isEmpty());
        step("bytes", () -> new String(connection.unwrap(PGConnection.class).escapeLiteral("it's").getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8));
    }
}
