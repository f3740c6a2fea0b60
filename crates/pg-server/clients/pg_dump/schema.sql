DROP SCHEMA IF EXISTS dumped CASCADE;
CREATE SCHEMA dumped;
CREATE TABLE dumped.orders (
    customer integer NOT NULL, number bigint NOT NULL, placed timestamptz DEFAULT now(), state char(2) DEFAULT 'ne' NOT NULL,
    total numeric(12,2), note varchar(40), body text, raw bytea, day date, hour time, stamp timestamp, tag uuid,
    paid boolean DEFAULT false, ratio double precision, weight real, level smallint,
    CONSTRAINT orders_key PRIMARY KEY (customer, number));
CREATE TABLE dumped."Quoted name" ("Column A" integer, "select" text);
CREATE TABLE dumped.counted (id serial PRIMARY KEY, name text NOT NULL);
CREATE TABLE dumped.identified (id bigint GENERATED ALWAYS AS IDENTITY, name text);
CREATE SEQUENCE dumped.tickets START WITH 5 INCREMENT BY 2;
CREATE VIEW dumped.large AS SELECT customer, number FROM dumped.orders WHERE (total > 100);
INSERT INTO dumped.orders (customer, number, placed, total, note) VALUES (1, 1, '2020-01-01 00:00+00', 5, 'tab	');
INSERT INTO dumped.counted (name) VALUES ('one'), ('two');
