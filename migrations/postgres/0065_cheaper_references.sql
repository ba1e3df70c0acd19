-- A foreign key runs a query that locks the row that it refers to, for each row and column: with ten of them, entries took
-- twice the processor time. Rows of the tables that the following columns refer to are never removed, which triggers ensure
-- from now on. So nobody needs to lock them: a row that is visible once stays, and each statement looks for all of its
-- references together. `CHECKED_REFERENCES` in src/database/engines/postgres/references.ts is the same list.

CREATE OR REPLACE FUNCTION refuse_missing_reference(of_table text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% refers to a row that does not exist', of_table USING ERRCODE = 'foreign_key_violation';
END $$;

DO $migration$
DECLARE
  -- By table: its name, the conditions that a reference of added rows or of a changed row is missing, whether one has changed,
  -- and the columns and the tables that they refer to.
  checked record;
  referred text;
  key text;
  part regclass;
BEGIN
  FOR checked IN
    WITH referring (of_table, key, referred) AS (VALUES
      ('entries', 'harness_id', 'names'),
      ('entries', 'agent_id', 'names'),
      ('entries', 'model_id', 'names'),
      ('entries', 'provider_id', 'names'),
      ('entries', 'chain_model_id', 'names'),
      ('entries', 'manager_id', 'users'),
      ('entries', 'token_id', 'tokens'),
      ('entries', 'session_id', 'sessions'),
      ('entries', 'label_set_id', 'label_sets'),
      ('entries', 'rule_version_id', 'placement_rule_versions'),
      ('sessions', 'harness_id', 'names'),
      ('sessions', 'manager_id', 'users')
    ), by_referred AS (
      -- The subqueries are looked up in an index for each key, whatever the planner knows of the tables.
      SELECT of_table, referring.referred,
        format(
          'EXISTS (SELECT FROM (SELECT DISTINCT key FROM (%s) AS every (key)) AS used
            WHERE used.key IS DISTINCT FROM (SELECT id FROM %I WHERE id = used.key))',
          string_agg(format('SELECT %I FROM added', referring.key), ' UNION ALL '), referring.referred
        ) AS missing
      FROM referring GROUP BY of_table, referring.referred
    )
    SELECT of_table,
      (SELECT string_agg(missing, ' OR ') FROM by_referred WHERE by_referred.of_table = referring.of_table) AS missing_added,
      string_agg(format('NEW.%1$I IS DISTINCT FROM (SELECT id FROM %2$I WHERE id = NEW.%1$I)', referring.key, referring.referred), ' OR ')
        AS missing_changed,
      string_agg(format('OLD.%1$I IS DISTINCT FROM NEW.%1$I', referring.key), ' OR ') AS is_changed,
      array_agg(referring.key) AS keys,
      array_agg(DISTINCT referring.referred) AS tables
    FROM referring GROUP BY of_table
  LOOP
    FOREACH referred IN ARRAY checked.tables LOOP
      EXECUTE format('CREATE OR REPLACE TRIGGER %1$s_referred BEFORE DELETE ON %1$s
        FOR EACH ROW EXECUTE FUNCTION refuse_change()', referred);
      EXECUTE format('CREATE OR REPLACE TRIGGER %1$s_kept BEFORE TRUNCATE ON %1$s
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', referred);
      EXECUTE format('CREATE OR REPLACE TRIGGER %1$s_numbered BEFORE UPDATE OF id ON %1$s
        FOR EACH ROW WHEN (OLD.id <> NEW.id) EXECUTE FUNCTION refuse_change()', referred);
    END LOOP;

    EXECUTE format('CREATE OR REPLACE FUNCTION check_inserted_%s() RETURNS trigger LANGUAGE plpgsql AS $check$
      BEGIN IF %s THEN PERFORM refuse_missing_reference(TG_TABLE_NAME); END IF; RETURN NULL; END $check$',
      checked.of_table, checked.missing_added);
    EXECUTE format('CREATE OR REPLACE FUNCTION check_updated_%s() RETURNS trigger LANGUAGE plpgsql AS $check$
      BEGIN IF %s THEN PERFORM refuse_missing_reference(TG_TABLE_NAME); END IF; RETURN NULL; END $check$',
      checked.of_table, checked.missing_changed);

    EXECUTE format('CREATE OR REPLACE TRIGGER %1$s_referring_updated AFTER UPDATE OF %2$s ON %1$s
      FOR EACH ROW WHEN (%3$s) EXECUTE FUNCTION check_updated_%1$s()',
      checked.of_table, array_to_string(checked.keys, ', '), checked.is_changed);
    -- Triggers of a statement are those of the table that it names: a partition has one of its own.
    FOR part IN
      SELECT checked.of_table::regclass UNION ALL SELECT inhrelid FROM pg_inherits WHERE inhparent = checked.of_table::regclass
    LOOP
      EXECUTE format('CREATE OR REPLACE TRIGGER %2$s_referring_inserted AFTER INSERT ON %1$s REFERENCING NEW TABLE AS added
        FOR EACH STATEMENT EXECUTE FUNCTION check_inserted_%2$s()', part, checked.of_table);
    END LOOP;

    FOREACH key IN ARRAY checked.keys LOOP
      EXECUTE format('ALTER TABLE %1$s DROP CONSTRAINT IF EXISTS %1$s_%2$s_fkey', checked.of_table, key);
    END LOOP;
  END LOOP;
END $migration$;
