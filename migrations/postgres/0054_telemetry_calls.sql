-- The same as ../sqlite/0054_telemetry_calls.sql.
CREATE TABLE telemetry_calls (
  user_id bigint NOT NULL REFERENCES users (id),
  identity bytea NOT NULL CHECK (octet_length(identity) = 16),
  day bigint NOT NULL,
  PRIMARY KEY (user_id, identity)
);
CREATE INDEX telemetry_calls_by_day ON telemetry_calls (day);
