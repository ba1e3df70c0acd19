-- The same as ../sqlite/0054_telemetry_calls.sql.
CREATE TABLE telemetry_calls (
  identity bytea NOT NULL PRIMARY KEY CHECK (octet_length(identity) = 16),
  day bigint NOT NULL
);
CREATE INDEX telemetry_calls_by_day ON telemetry_calls (day);
