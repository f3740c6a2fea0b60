-- 336,776 departures from New York in 2013, kept by carrier, flight and newest departure first,
-- spread over eight salt buckets.
DROP TABLE IF EXISTS flights;

CREATE TABLE flights (
    carrier varchar NOT NULL, flight integer NOT NULL, departed timestamp NOT NULL,
    origin char(3), dest char(3), tailnum varchar, dep_delay integer, arr_delay integer, distance integer,
    CONSTRAINT pk PRIMARY KEY (carrier, flight, departed DESC)
) SALT_BUCKETS = 8;

\copy flights FROM 'flights.csv' CSV HEADER

\d flights
\dt
\l
\dn

-- A prefix of the key: eight short range scans, merged in order.
SELECT departed, dest, dep_delay FROM flights
WHERE carrier = 'UA' AND flight = 1545 ORDER BY departed DESC LIMIT 5;

EXPLAIN SELECT departed, dest, dep_delay FROM flights
WHERE carrier = 'UA' AND flight = 1545 ORDER BY departed DESC LIMIT 5;

-- The whole key: one bucket, one row.
EXPLAIN SELECT * FROM flights WHERE carrier = 'UA' AND flight = 1545 AND departed = '2013-01-01 05:15';

-- A gap in the key: a skip scan.
EXPLAIN SELECT count(*) FROM flights WHERE carrier IN ('UA', 'DL') AND flight IN (1, 15, 1545);

-- Columns that are not named keep their values.
UPSERT INTO flights (carrier, flight, departed, dest) VALUES ('UA', 1545, '2013-01-01 05:15', 'IAH');
UPDATE flights SET dep_delay = dep_delay + 1 WHERE carrier = 'UA' AND flight = 1545;
DELETE FROM flights WHERE origin = 'JFK' AND departed < '2013-02-01';

SELECT origin, count(*) AS departures, round(avg(dep_delay), 1) AS delay
FROM flights GROUP BY origin ORDER BY origin;
