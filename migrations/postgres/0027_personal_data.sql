-- Erasure of people: their account becomes a pseudonym, and a job replaces their names in texts.
ALTER TABLE users ADD COLUMN erased_at bigint;

CREATE TABLE erasures (
  user_id bigint PRIMARY KEY REFERENCES users (id),
  -- JSON: the names and addresses that are replaced; forgotten when that is done.
  words text COLLATE "C",
  -- JSON: the number of changed rows by table.
  counts text COLLATE "C" NOT NULL,
  started_at bigint NOT NULL,
  ended_at bigint,
  CHECK ((words IS NULL) = (ended_at IS NOT NULL))
);

-- Months after which texts, session ids, history and the audit log are removed; NULL to keep them.
ALTER TABLE organization ADD COLUMN retention_texts bigint CHECK (retention_texts >= 1);
ALTER TABLE organization ADD COLUMN retention_session_ids bigint CHECK (retention_session_ids >= 1);
ALTER TABLE organization ADD COLUMN retention_history bigint CHECK (retention_history >= 12);
ALTER TABLE organization ADD COLUMN retention_audit bigint CHECK (retention_audit >= 12);
-- Whether some sessions have the hash of their id instead of the id.
ALTER TABLE organization ADD COLUMN hashed_session_ids boolean NOT NULL DEFAULT false;
-- Changes when rows of names or label_sets change or go, whose keys servers hold in memory.
ALTER TABLE organization ADD COLUMN interned_version bigint NOT NULL DEFAULT 0;
-- When the space of removed content was last overwritten.
ALTER TABLE organization ADD COLUMN compacted_at bigint;

-- Texts in the audit log and in history change only while a person is being erased, and rows go only once they are older
-- than any retention period may be.
CREATE FUNCTION is_erasing() RETURNS boolean LANGUAGE sql STABLE AS
'SELECT EXISTS (SELECT 1 FROM erasures WHERE ended_at IS NULL)';

CREATE FUNCTION keep_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF (SELECT retention_audit FROM organization) IS NOT NULL
      AND OLD.at <= (extract(epoch FROM now()) - 31536000) * 1000
    THEN RETURN OLD; END IF;
  ELSIF is_erasing() AND (NEW.id, NEW.at, NEW.action, NEW.user_id, NEW.token_id, NEW.object_id, NEW.for_id)
    IS NOT DISTINCT FROM (OLD.id, OLD.at, OLD.action, OLD.user_id, OLD.token_id, OLD.object_id, OLD.for_id)
  THEN RETURN NEW;
  END IF;
  RAISE EXCEPTION '% rows are kept as they are', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END
$$;
DROP TRIGGER audit_updated ON audit;
CREATE TRIGGER audit_updated BEFORE UPDATE ON audit FOR EACH ROW EXECUTE FUNCTION keep_audit();
DROP TRIGGER audit_deleted ON audit;
CREATE TRIGGER audit_deleted BEFORE DELETE ON audit FOR EACH ROW EXECUTE FUNCTION keep_audit();

CREATE FUNCTION keep_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (is_erasing() OR (SELECT retention_texts FROM organization) IS NOT NULL)
    AND (NEW.id, NEW.entry_id, NEW.at, NEW.action, NEW.user_id, NEW.token_id)
    IS NOT DISTINCT FROM (OLD.id, OLD.entry_id, OLD.at, OLD.action, OLD.user_id, OLD.token_id)
  THEN RETURN NEW;
  END IF;
  RAISE EXCEPTION '% rows are kept as they are', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END
$$;
DROP TRIGGER entry_history_updated ON entry_history;
CREATE TRIGGER entry_history_updated BEFORE UPDATE ON entry_history FOR EACH ROW EXECUTE FUNCTION keep_history();

CREATE OR REPLACE FUNCTION refuse_loss_of_history() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT status FROM entries WHERE id = OLD.entry_id) IS DISTINCT FROM 'draft'
    AND ((SELECT retention_history FROM organization) IS NULL
      OR OLD.at > (extract(epoch FROM now()) - 31536000) * 1000)
  THEN
    RAISE EXCEPTION '% rows are kept as they are', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN OLD;
END
$$;
