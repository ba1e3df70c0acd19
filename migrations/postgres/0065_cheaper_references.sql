-- A foreign key runs a query that locks the row that it refers to, for each row and column: with ten of them, entries took
-- twice the processor time. Rows of the following tables are never removed, which triggers ensure from now on. So nobody
-- needs to lock them: a row that is visible once stays, and each statement looks for all of its references together.
-- `CHECKED_REFERENCES` in src/database/engines/postgres/references.ts lists them.
DO $$
DECLARE referred text;
BEGIN
  FOREACH referred IN ARRAY ARRAY['names', 'users', 'tokens', 'sessions', 'label_sets', 'placement_rule_versions'] LOOP
    EXECUTE format('CREATE OR REPLACE TRIGGER %1$s_referred BEFORE DELETE ON %1$s FOR EACH ROW EXECUTE FUNCTION refuse_change()', referred);
    EXECUTE format('CREATE OR REPLACE TRIGGER %1$s_kept BEFORE TRUNCATE ON %1$s FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', referred);
    EXECUTE format('CREATE OR REPLACE TRIGGER %1$s_numbered BEFORE UPDATE OF id ON %1$s FOR EACH ROW
      WHEN (OLD.id <> NEW.id) EXECUTE FUNCTION refuse_change()', referred);
  END LOOP;
END $$;

CREATE OR REPLACE FUNCTION refuse_missing_reference(of_table text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% refers to a row that does not exist', of_table USING ERRCODE = 'foreign_key_violation';
END $$;

-- The subqueries are looked up in an index for each key, whatever the planner knows of the tables.
CREATE OR REPLACE FUNCTION check_inserted_entries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (
    SELECT FROM (
      SELECT harness_id FROM added UNION SELECT agent_id FROM added UNION SELECT model_id FROM added
      UNION SELECT provider_id FROM added UNION SELECT chain_model_id FROM added
    ) AS used (key) WHERE used.key IS DISTINCT FROM (SELECT id FROM names WHERE id = used.key)
  ) OR EXISTS (
    SELECT FROM (SELECT DISTINCT manager_id AS key FROM added) AS used
    WHERE used.key IS DISTINCT FROM (SELECT id FROM users WHERE id = used.key)
  ) OR EXISTS (
    SELECT FROM (SELECT DISTINCT token_id AS key FROM added) AS used
    WHERE used.key IS DISTINCT FROM (SELECT id FROM tokens WHERE id = used.key)
  ) OR EXISTS (
    SELECT FROM (SELECT DISTINCT session_id AS key FROM added) AS used
    WHERE used.key IS DISTINCT FROM (SELECT id FROM sessions WHERE id = used.key)
  ) OR EXISTS (
    SELECT FROM (SELECT DISTINCT label_set_id AS key FROM added) AS used
    WHERE used.key IS DISTINCT FROM (SELECT id FROM label_sets WHERE id = used.key)
  ) OR EXISTS (
    SELECT FROM (SELECT DISTINCT rule_version_id AS key FROM added) AS used
    WHERE used.key IS DISTINCT FROM (SELECT id FROM placement_rule_versions WHERE id = used.key)
  ) THEN
    PERFORM refuse_missing_reference(TG_TABLE_NAME);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION check_updated_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.harness_id IS DISTINCT FROM (SELECT id FROM names WHERE id = NEW.harness_id)
    OR NEW.agent_id IS DISTINCT FROM (SELECT id FROM names WHERE id = NEW.agent_id)
    OR NEW.model_id IS DISTINCT FROM (SELECT id FROM names WHERE id = NEW.model_id)
    OR NEW.provider_id IS DISTINCT FROM (SELECT id FROM names WHERE id = NEW.provider_id)
    OR NEW.chain_model_id IS DISTINCT FROM (SELECT id FROM names WHERE id = NEW.chain_model_id)
    OR NEW.manager_id IS DISTINCT FROM (SELECT id FROM users WHERE id = NEW.manager_id)
    OR NEW.token_id IS DISTINCT FROM (SELECT id FROM tokens WHERE id = NEW.token_id)
    OR NEW.session_id IS DISTINCT FROM (SELECT id FROM sessions WHERE id = NEW.session_id)
    OR NEW.label_set_id IS DISTINCT FROM (SELECT id FROM label_sets WHERE id = NEW.label_set_id)
    OR NEW.rule_version_id IS DISTINCT FROM (SELECT id FROM placement_rule_versions WHERE id = NEW.rule_version_id)
  THEN
    PERFORM refuse_missing_reference(TG_TABLE_NAME);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION check_inserted_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (
    SELECT FROM (SELECT DISTINCT harness_id AS key FROM added) AS used
    WHERE used.key IS DISTINCT FROM (SELECT id FROM names WHERE id = used.key)
  ) OR EXISTS (
    SELECT FROM (SELECT DISTINCT manager_id AS key FROM added) AS used
    WHERE used.key IS DISTINCT FROM (SELECT id FROM users WHERE id = used.key)
  ) THEN
    PERFORM refuse_missing_reference(TG_TABLE_NAME);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION check_updated_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.harness_id IS DISTINCT FROM (SELECT id FROM names WHERE id = NEW.harness_id)
    OR NEW.manager_id IS DISTINCT FROM (SELECT id FROM users WHERE id = NEW.manager_id)
  THEN
    PERFORM refuse_missing_reference(TG_TABLE_NAME);
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER entries_referring_updated AFTER UPDATE OF harness_id, agent_id, model_id, provider_id, chain_model_id, manager_id,
  token_id, session_id, label_set_id, rule_version_id
ON entries FOR EACH ROW WHEN (
  OLD.harness_id <> NEW.harness_id OR OLD.agent_id <> NEW.agent_id OR OLD.model_id <> NEW.model_id
  OR OLD.provider_id IS DISTINCT FROM NEW.provider_id OR OLD.chain_model_id IS DISTINCT FROM NEW.chain_model_id
  OR OLD.manager_id <> NEW.manager_id OR OLD.token_id IS DISTINCT FROM NEW.token_id
  OR OLD.session_id IS DISTINCT FROM NEW.session_id OR OLD.label_set_id IS DISTINCT FROM NEW.label_set_id
  OR OLD.rule_version_id IS DISTINCT FROM NEW.rule_version_id
) EXECUTE FUNCTION check_updated_entry();
CREATE OR REPLACE TRIGGER sessions_referring_inserted AFTER INSERT ON sessions REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION check_inserted_sessions();
CREATE OR REPLACE TRIGGER sessions_referring_updated AFTER UPDATE OF harness_id, manager_id ON sessions FOR EACH ROW
  WHEN (OLD.harness_id <> NEW.harness_id OR OLD.manager_id <> NEW.manager_id) EXECUTE FUNCTION check_updated_session();

-- Triggers of a statement are those of the table that it names: a partition has one of its own.
DO $$
DECLARE part regclass;
BEGIN
  FOR part IN SELECT 'entries'::regclass UNION ALL SELECT inhrelid FROM pg_inherits WHERE inhparent = 'entries'::regclass LOOP
    EXECUTE format('CREATE OR REPLACE TRIGGER entries_referring_inserted AFTER INSERT ON %s REFERENCING NEW TABLE AS added
      FOR EACH STATEMENT EXECUTE FUNCTION check_inserted_entries()', part);
  END LOOP;
END $$;

ALTER TABLE entries
  DROP CONSTRAINT IF EXISTS entries_harness_id_fkey, DROP CONSTRAINT IF EXISTS entries_agent_id_fkey, DROP CONSTRAINT IF EXISTS entries_model_id_fkey,
  DROP CONSTRAINT IF EXISTS entries_provider_id_fkey, DROP CONSTRAINT IF EXISTS entries_chain_model_id_fkey, DROP CONSTRAINT IF EXISTS entries_manager_id_fkey,
  DROP CONSTRAINT IF EXISTS entries_token_id_fkey, DROP CONSTRAINT IF EXISTS entries_session_id_fkey, DROP CONSTRAINT IF EXISTS entries_label_set_id_fkey,
  DROP CONSTRAINT IF EXISTS entries_rule_version_id_fkey;
ALTER TABLE sessions DROP CONSTRAINT IF EXISTS sessions_harness_id_fkey, DROP CONSTRAINT IF EXISTS sessions_manager_id_fkey;
