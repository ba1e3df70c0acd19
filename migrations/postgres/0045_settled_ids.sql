-- Ids of partitioned entries begin with the month (202612 0000000001): a key of an advisory lock has 32 bits, so the lock shows
-- the number within the month. A month begins while no transaction has drawn ids, so all that do are in the last one.
CREATE FUNCTION id_base(id bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN id < 1000000000000000 THEN 0 ELSE id / 10000000000 * 10000000000 END
$$;
CREATE OR REPLACE FUNCTION announce_ids(sequence regclass) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  drawn bigint := coalesce(pg_sequence_last_value(sequence), 0);
BEGIN
  PERFORM pg_advisory_xact_lock_shared(id_lock_class(sequence), ((drawn - id_base(drawn)) / 256)::integer);
END $$;
CREATE OR REPLACE FUNCTION settled_id(of_table text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  sequence regclass := pg_get_serial_sequence(of_table, 'id');
  drawn bigint := coalesce(pg_sequence_last_value(sequence), 0);
BEGIN
  RETURN least(drawn, id_base(drawn) + (
    SELECT min(objid::bigint) * 256 FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 2 AND classid::bigint = id_lock_class(sequence)
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  ));
END $$;
