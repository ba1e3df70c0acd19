-- Migrations 1 to 50, written by scripts/baseline.ts.

SET LOCAL check_function_bodies = false;

CREATE FUNCTION announce_events() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  PERFORM announce_ids(pg_get_serial_sequence('events', 'id')::regclass);
  RETURN NULL;
END $$;

CREATE FUNCTION announce_ids(sequence regclass) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
  drawn bigint := coalesce(pg_sequence_last_value(sequence), 0);
BEGIN
  PERFORM pg_advisory_xact_lock_shared(id_lock_class(sequence), ((drawn - id_base(drawn)) / 256)::integer);
END $$;

CREATE FUNCTION budget_changed_markup() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF OLD.markup_ppm IS DISTINCT FROM NEW.markup_ppm THEN
    UPDATE budget_periods SET counted_at = NULL, counts = counts + 1 WHERE budget_id IN (SELECT id FROM budgets WHERE measure = 'billed_amount');
    UPDATE revision SET value = value + 1;
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION budget_changed_project() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF (OLD.client_id, OLD.markup_ppm, OLD.billable) IS DISTINCT FROM (NEW.client_id, NEW.markup_ppm, NEW.billable) THEN
    UPDATE budget_periods SET counted_at = NULL, counts = counts + 1 WHERE budget_id IN
      (SELECT id FROM budgets WHERE measure = 'billed_amount' OR client_id IN (OLD.client_id, NEW.client_id));
    UPDATE revision SET value = value + 1;
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION budget_inserted_project() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM budgets WHERE archived_at IS NULL) THEN UPDATE revision SET value = value + 1; END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION follow_project_budget() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF NEW.budget IS NULL THEN
    DELETE FROM budgets WHERE project_id = NEW.id AND of_project;
    RETURN NULL;
  END IF;
  UPDATE budget_periods SET available = NEW.budget, alerted = 0, counted_at = NULL, counts = counts + 1 WHERE budget_id IN
    (SELECT id FROM budgets WHERE project_id = NEW.id AND of_project AND archived_at IS NULL AND amount <> NEW.budget);
  UPDATE budgets SET amount = NEW.budget, version = version + 1
  WHERE project_id = NEW.id AND of_project AND archived_at IS NULL AND amount <> NEW.budget;
  IF NOT EXISTS (SELECT 1 FROM budgets WHERE project_id = NEW.id AND of_project) THEN
    WITH added AS (
      INSERT INTO budgets
        (uid, name, project_id, measure, amount, period, roll_over, thresholds, of_project, version, created_at)
      VALUES (uuid_send(gen_random_uuid()), NEW.name, NEW.id, 'cost', NEW.budget, 'once', false,
        '[{"percent":50,"leads":true,"billing":true},{"percent":80,"leads":true,"billing":true},{"percent":100,"leads":true,"billing":true}]',
        true, 1, (extract(epoch FROM now()) * 1000)::bigint)
      RETURNING id, amount
    )
    INSERT INTO budget_periods
      (budget_id, first_day, starts_at, ends_at, billions, units, millionths, entries, unpriced_entries, available, alerted, counts)
    SELECT id, '0001-01-01', -62135596800000, 253402300800000, 0, 0, 0, 0, 0, amount, 0, 0 FROM added;
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION id_base(id bigint) RETURNS bigint
    LANGUAGE sql IMMUTABLE
    AS $$
  SELECT CASE WHEN id < 1000000000000000 THEN 0 ELSE id / 10000000000 * 10000000000 END
$$;

CREATE FUNCTION id_lock_class(sequence regclass) RETURNS integer
    LANGUAGE sql IMMUTABLE
    AS $$
  SELECT (sequence::oid::bigint % 2147483647)::integer
$$;

CREATE FUNCTION is_erasing() RETURNS boolean
    LANGUAGE sql STABLE
    AS $$SELECT EXISTS (SELECT 1 FROM erasures WHERE ended_at IS NULL)$$;

CREATE FUNCTION keep_audit() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION keep_bill() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF OLD.state = 'preparing' THEN
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
  END IF;
  IF TG_OP = 'DELETE' OR OLD.state = 'void' OR (OLD.state = 'paid' AND NEW.state = 'void') OR NEW.state = 'preparing'
    OR NEW.number <> OLD.number OR NEW.document <> OLD.document OR NEW.total <> OLD.total
    OR (OLD.released_by_id IS NOT NULL
      AND (NEW.released_by_id IS DISTINCT FROM OLD.released_by_id OR NEW.state = 'void'))
  THEN
    RAISE EXCEPTION 'a bill is kept as it was sent' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END
$$;

CREATE FUNCTION keep_history() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF (is_erasing() OR (SELECT retention_texts FROM organization) IS NOT NULL)
    AND (NEW.id, NEW.entry_id, NEW.at, NEW.action, NEW.user_id, NEW.token_id)
    IS NOT DISTINCT FROM (OLD.id, OLD.entry_id, OLD.at, OLD.action, OLD.user_id, OLD.token_id)
  THEN RETURN NEW;
  END IF;
  RAISE EXCEPTION '% rows are kept as they are', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END
$$;

CREATE FUNCTION keep_payment() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF TG_OP = 'DELETE' OR OLD.reversed_at IS NOT NULL OR NEW.bill_id <> OLD.bill_id OR NEW.number <> OLD.number
    OR NEW.amount <> OLD.amount OR NEW.paid_on <> OLD.paid_on OR NEW.reference IS DISTINCT FROM OLD.reference
    OR NEW.offset_id IS DISTINCT FROM OLD.offset_id OR NEW.created_at <> OLD.created_at
    OR NEW.created_by IS DISTINCT FROM OLD.created_by
  THEN
    RAISE EXCEPTION 'a payment is only reversed' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END
$$;

CREATE FUNCTION lead_project_budget() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    UPDATE projects SET budget = NULL WHERE id = OLD.project_id AND budget IS NOT NULL;
  ELSE
    UPDATE projects SET budget = NEW.amount WHERE id = NEW.project_id AND budget IS DISTINCT FROM NEW.amount;
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION mark_deleted_hours() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO stale_hours SELECT DISTINCT started_at / 3600000 FROM removed;
  RETURN NULL;
END
$$;

CREATE FUNCTION mark_inserted_hours() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO stale_hours SELECT DISTINCT started_at / 3600000 FROM added;
  RETURN NULL;
END
$$;

CREATE FUNCTION mark_updated_hours() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  INSERT INTO stale_hours
  SELECT DISTINCT hours.hour
  FROM removed
  JOIN added ON added.id = removed.id
  CROSS JOIN LATERAL (VALUES (removed.started_at / 3600000), (added.started_at / 3600000)) AS hours (hour)
  WHERE (
    removed.manager_id, removed.source, removed.status, removed.harness_id, removed.agent_id, removed.model_id,
    removed.provider_id, removed.started_at, removed.ended_at, removed.input, removed.output, removed.cache_read,
    removed.cache_write, removed.cache_write_1h, removed.reported_cost, removed.list_value, removed.project_id,
    removed.ticket_id, removed.placed_by, removed.label_set_id, removed.superseded, removed.possible_duplicate_id
  ) IS DISTINCT FROM (
    added.manager_id, added.source, added.status, added.harness_id, added.agent_id, added.model_id,
    added.provider_id, added.started_at, added.ended_at, added.input, added.output, added.cache_read,
    added.cache_write, added.cache_write_1h, added.reported_cost, added.list_value, added.project_id,
    added.ticket_id, added.placed_by, added.label_set_id, added.superseded, added.possible_duplicate_id
  );
  RETURN NULL;
END
$$;

CREATE FUNCTION move_revision() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  UPDATE revision SET value = value + 1;
  RETURN NULL;
END
$$;

CREATE FUNCTION note_changed_entries() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  PERFORM announce_ids(pg_get_serial_sequence('entry_changes', 'id')::regclass);
  INSERT INTO entry_changes (entry_id, changed_at)
  SELECT id, extract(epoch FROM now())::bigint FROM changed ORDER BY id
  ON CONFLICT (entry_id) DO UPDATE SET id = excluded.id, changed_at = excluded.changed_at;
  RETURN NULL;
END $$;

CREATE FUNCTION note_deleted_entries() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  PERFORM announce_ids(pg_get_serial_sequence('entry_changes', 'id')::regclass);
  DELETE FROM entry_changes WHERE entry_id IN (SELECT id FROM changed);
  INSERT INTO entry_changes (changed_at, deleted_uid, manager_id, project_id)
  SELECT extract(epoch FROM now())::bigint, uid, manager_id, project_id FROM changed ORDER BY id;
  RETURN NULL;
END $$;

CREATE FUNCTION note_draft() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  PERFORM announce_ids(pg_get_serial_sequence('entry_changes', 'id')::regclass);
  INSERT INTO entry_changes (entry_id, changed_at) VALUES (NEW.id, extract(epoch FROM now())::bigint);
  RETURN NULL;
END $$;

CREATE FUNCTION owe_valuation() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN
  INSERT INTO owed_work AS owed (kind, since, changes)
  VALUES ('valuation', (extract(epoch FROM clock_timestamp()) * 1000)::bigint, 1)
  ON CONFLICT (kind) DO UPDATE SET changes = owed.changes + 1;
  RETURN NULL;
END $$;

CREATE FUNCTION refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  RAISE EXCEPTION '% rows are kept as they are', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END
$$;

CREATE FUNCTION refuse_loss_of_history() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION refuse_misfit_of_sheet() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  IF (TG_OP = 'UPDATE' AND NEW.sheet_id IS DISTINCT FROM OLD.sheet_id) OR NOT EXISTS (
    SELECT 1 FROM sheets WHERE id = NEW.sheet_id AND manager_id = NEW.manager_id AND (
      (NEW.status = 'draft' AND status IN ('open', 'returned'))
      OR (NEW.status = 'pending' AND status = 'submitted')
      OR (NEW.status IN ('approved', 'billed') AND status = 'approved')))
  THEN
    RAISE EXCEPTION 'an entry is as far as its sheet is' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END
$$;

CREATE FUNCTION refuse_moved() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  RAISE EXCEPTION 'this database is moved to another one' USING ERRCODE = 'TY001';
END $$;

CREATE FUNCTION replace_project_budget() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
  DELETE FROM budgets WHERE project_id = NEW.project_id AND of_project;
  RETURN NEW;
END $$;

CREATE FUNCTION settled_id(of_table text) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
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

CREATE TABLE audit (
    id bigint NOT NULL,
    at bigint NOT NULL,
    user_id bigint,
    token_id bigint,
    origin text NOT NULL COLLATE pg_catalog."C",
    action text NOT NULL COLLATE pg_catalog."C",
    object_id text COLLATE pg_catalog."C",
    object_name text COLLATE pg_catalog."C",
    before text COLLATE pg_catalog."C",
    after text COLLATE pg_catalog."C",
    for_id bigint
);

ALTER TABLE audit ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME audit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE backup_timeline (
    id bigint NOT NULL,
    timeline text NOT NULL COLLATE pg_catalog."C",
    backed_up_at bigint,
    CONSTRAINT backup_timeline_id_check CHECK ((id = 1)),
    CONSTRAINT backup_timeline_timeline_check CHECK ((length(timeline) = 8))
);

CREATE TABLE bill_deliveries (
    id bigint NOT NULL,
    bill_id bigint NOT NULL,
    notice text NOT NULL COLLATE pg_catalog."C",
    recipient text NOT NULL COLLATE pg_catalog."C",
    message text COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    attempts bigint DEFAULT 0 NOT NULL,
    next_attempt_at bigint,
    answer text COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    created_by bigint,
    sent_at bigint,
    CONSTRAINT bill_deliveries_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT bill_deliveries_check CHECK (((next_attempt_at IS NOT NULL) = (state = 'queued'::text))),
    CONSTRAINT bill_deliveries_check1 CHECK (((sent_at IS NOT NULL) = (state = 'sent'::text))),
    CONSTRAINT bill_deliveries_notice_check CHECK ((notice = ANY (ARRAY['sent'::text, 'void'::text, 'reminder'::text]))),
    CONSTRAINT bill_deliveries_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'sent'::text, 'failed'::text])))
);

ALTER TABLE bill_deliveries ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME bill_deliveries_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE bill_documents (
    bill_id bigint NOT NULL,
    format text NOT NULL COLLATE pg_catalog."C",
    bytes bytea NOT NULL
);

CREATE TABLE bill_drafts (
    id bigint NOT NULL,
    uid bytea NOT NULL,
    form text NOT NULL COLLATE pg_catalog."C",
    revision bigint NOT NULL,
    created_at bigint NOT NULL,
    created_by bigint NOT NULL,
    updated_at bigint NOT NULL,
    updated_by bigint NOT NULL,
    CONSTRAINT bill_drafts_revision_check CHECK ((revision >= 1)),
    CONSTRAINT bill_drafts_uid_check CHECK ((octet_length(uid) = 16))
);

ALTER TABLE bill_drafts ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME bill_drafts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE bill_entries (
    bill_id bigint NOT NULL,
    entry_id bigint NOT NULL,
    line bigint NOT NULL,
    status_before text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT bill_entries_line_check CHECK ((line >= 1)),
    CONSTRAINT bill_entries_status_before_check CHECK ((status_before = ANY (ARRAY['submitted'::text, 'approved'::text])))
);

CREATE TABLE bill_keys (
    user_id bigint NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    body_hash bytea NOT NULL,
    bill_id bigint NOT NULL,
    CONSTRAINT bill_keys_body_hash_check CHECK ((octet_length(body_hash) = 32))
);

CREATE TABLE bill_payments (
    bill_id bigint NOT NULL,
    number bigint NOT NULL,
    amount bigint NOT NULL,
    paid_on text NOT NULL COLLATE pg_catalog."C",
    reference text COLLATE pg_catalog."C",
    offset_id bigint,
    created_at bigint NOT NULL,
    created_by bigint,
    reversed_at bigint,
    reversed_by bigint,
    reverse_reason text COLLATE pg_catalog."C",
    CONSTRAINT bill_payments_check CHECK (((reversed_by IS NULL) OR (reversed_at IS NOT NULL))),
    CONSTRAINT bill_payments_check1 CHECK (((reverse_reason IS NOT NULL) = (reversed_at IS NOT NULL))),
    CONSTRAINT bill_payments_number_check CHECK ((number > 0)),
    CONSTRAINT bill_payments_paid_on_check CHECK ((length(paid_on) = 10))
);

CREATE TABLE bill_sequences (
    scope text NOT NULL COLLATE pg_catalog."C",
    last bigint NOT NULL,
    CONSTRAINT bill_sequences_last_check CHECK ((last >= 0))
);

CREATE TABLE billing_lease (
    id bigint NOT NULL,
    version bigint NOT NULL,
    bill_id bigint,
    expires_at bigint,
    CONSTRAINT billing_lease_check CHECK (((expires_at IS NULL) = (bill_id IS NULL))),
    CONSTRAINT billing_lease_id_check CHECK ((id = 1))
);

CREATE TABLE bills (
    id bigint NOT NULL,
    uid bytea NOT NULL,
    number text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    client_id bigint,
    project_id bigint,
    period_from text NOT NULL COLLATE pg_catalog."C",
    period_to text NOT NULL COLLATE pg_catalog."C",
    issued_on text NOT NULL COLLATE pg_catalog."C",
    due_on text NOT NULL COLLATE pg_catalog."C",
    currency text NOT NULL COLLATE pg_catalog."C",
    subtotal bigint NOT NULL,
    tax bigint NOT NULL,
    total bigint NOT NULL,
    cost bigint NOT NULL,
    list_value bigint NOT NULL,
    entries bigint NOT NULL,
    document text NOT NULL COLLATE pg_catalog."C",
    replaces_id bigint,
    corrects_id bigint,
    created_at bigint NOT NULL,
    created_by bigint,
    paid_on text COLLATE pg_catalog."C",
    paid_reference text COLLATE pg_catalog."C",
    voided_at bigint,
    void_reason text COLLATE pg_catalog."C",
    paid_amount bigint DEFAULT 0 NOT NULL,
    released_by_id bigint,
    reminded_on text COLLATE pg_catalog."C",
    CONSTRAINT bills_check CHECK (((length(period_to) = 10) AND (period_to >= period_from))),
    CONSTRAINT bills_check1 CHECK ((total = (subtotal + tax))),
    CONSTRAINT bills_check2 CHECK (((corrects_id IS NOT NULL) = (kind = 'credit_note'::text))),
    CONSTRAINT bills_check3 CHECK (((length(paid_on) = 10) AND ((paid_on IS NOT NULL) = (state = 'paid'::text)))),
    CONSTRAINT bills_check4 CHECK (((voided_at IS NOT NULL) = (state = 'void'::text))),
    CONSTRAINT bills_check5 CHECK (((void_reason IS NOT NULL) = (state = 'void'::text))),
    CONSTRAINT bills_check6 CHECK (((client_id IS NULL) OR (project_id IS NULL))),
    CONSTRAINT bills_check7 CHECK (((paid_amount = 0) OR (state = ANY (ARRAY['sent'::text, 'paid'::text])))),
    CONSTRAINT bills_currency_check CHECK ((length(currency) = 3)),
    CONSTRAINT bills_due_on_check CHECK ((length(due_on) = 10)),
    CONSTRAINT bills_entries_check CHECK ((entries >= 0)),
    CONSTRAINT bills_issued_on_check CHECK ((length(issued_on) = 10)),
    CONSTRAINT bills_kind_check CHECK ((kind = ANY (ARRAY['bill'::text, 'credit_note'::text]))),
    CONSTRAINT bills_period_from_check CHECK ((length(period_from) = 10)),
    CONSTRAINT bills_reminded_on_check CHECK ((length(reminded_on) = 10)),
    CONSTRAINT bills_state_check CHECK ((state = ANY (ARRAY['preparing'::text, 'sent'::text, 'paid'::text, 'void'::text]))),
    CONSTRAINT bills_uid_check CHECK ((octet_length(uid) = 16))
);

ALTER TABLE bills ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME bills_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE budget_alerts (
    id bigint NOT NULL,
    uid bytea NOT NULL,
    budget_id bigint NOT NULL,
    version bigint NOT NULL,
    first_day text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    percent bigint NOT NULL,
    spent text NOT NULL COLLATE pg_catalog."C",
    available text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL,
    notified_at bigint,
    CONSTRAINT budget_alerts_kind_check CHECK ((kind = ANY (ARRAY['spent'::text, 'forecast'::text]))),
    CONSTRAINT budget_alerts_uid_check CHECK ((length(uid) = 16))
);

ALTER TABLE budget_alerts ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME budget_alerts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE budget_changes (
    id bigint NOT NULL,
    sign bigint NOT NULL,
    started_at bigint NOT NULL,
    manager_id bigint NOT NULL,
    project_id bigint,
    ticket_id bigint,
    agent_id bigint NOT NULL,
    model_id bigint NOT NULL,
    label_set_id bigint,
    rejected boolean NOT NULL,
    cost bigint,
    tokens bigint NOT NULL,
    CONSTRAINT budget_changes_sign_check CHECK ((sign = ANY (ARRAY[('-1'::integer)::bigint, (1)::bigint])))
);

ALTER TABLE budget_changes ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME budget_changes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE budget_periods (
    id bigint NOT NULL,
    budget_id bigint NOT NULL,
    first_day text NOT NULL COLLATE pg_catalog."C",
    starts_at bigint NOT NULL,
    ends_at bigint NOT NULL,
    billions bigint NOT NULL,
    units bigint NOT NULL,
    millionths bigint NOT NULL,
    entries bigint NOT NULL,
    unpriced_entries bigint NOT NULL,
    available bigint NOT NULL,
    alerted bigint NOT NULL,
    counted_at bigint,
    counts bigint NOT NULL,
    recount_at bigint,
    CONSTRAINT budget_periods_check CHECK ((ends_at > starts_at))
);

ALTER TABLE budget_periods ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME budget_periods_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE budgets (
    id bigint NOT NULL,
    uid bytea NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    client_id bigint,
    project_id bigint,
    ticket_id bigint,
    manager_id bigint,
    agent_name text COLLATE pg_catalog."C",
    model text COLLATE pg_catalog."C",
    label_name text COLLATE pg_catalog."C",
    label_value text COLLATE pg_catalog."C",
    measure text NOT NULL COLLATE pg_catalog."C",
    amount bigint NOT NULL,
    period text NOT NULL COLLATE pg_catalog."C",
    first_day text COLLATE pg_catalog."C",
    last_day text COLLATE pg_catalog."C",
    roll_over boolean NOT NULL,
    thresholds text NOT NULL COLLATE pg_catalog."C",
    of_project boolean NOT NULL,
    version bigint NOT NULL,
    created_at bigint NOT NULL,
    created_by bigint,
    archived_at bigint,
    CONSTRAINT budgets_amount_check CHECK ((amount >= 0)),
    CONSTRAINT budgets_check CHECK (((label_name IS NULL) = (label_value IS NULL))),
    CONSTRAINT budgets_check1 CHECK ((first_day <= last_day)),
    CONSTRAINT budgets_check2 CHECK (((of_project = false) OR (project_id IS NOT NULL))),
    CONSTRAINT budgets_measure_check CHECK ((measure = ANY (ARRAY['cost'::text, 'billed_amount'::text, 'tokens'::text]))),
    CONSTRAINT budgets_period_check CHECK ((period = ANY (ARRAY['day'::text, 'week'::text, 'month'::text, 'quarter'::text, 'year'::text, 'once'::text]))),
    CONSTRAINT budgets_uid_check CHECK ((length(uid) = 16))
);

ALTER TABLE budgets ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME budgets_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE client_approvers (
    client_id bigint NOT NULL,
    user_id bigint NOT NULL
);

CREATE TABLE client_leads (
    client_id bigint NOT NULL,
    user_id bigint NOT NULL
);

CREATE TABLE clients (
    id bigint NOT NULL,
    uid bytea NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    name_folded text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    archived_at bigint,
    email text COLLATE pg_catalog."C",
    address text COLLATE pg_catalog."C",
    tax_id text COLLATE pg_catalog."C",
    currency text COLLATE pg_catalog."C",
    markup_ppm bigint,
    reminders boolean DEFAULT true NOT NULL,
    tax_ppm bigint,
    tax_name text COLLATE pg_catalog."C",
    CONSTRAINT clients_currency_check CHECK ((length(currency) = 3)),
    CONSTRAINT clients_markup_ppm_check CHECK (((markup_ppm >= '-1000000'::integer) AND (markup_ppm <= 100000000))),
    CONSTRAINT clients_tax_ppm_check CHECK (((tax_ppm >= 0) AND (tax_ppm <= 1000000))),
    CONSTRAINT clients_uid_check CHECK ((octet_length(uid) = 16))
);

ALTER TABLE clients ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME clients_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE database_identity (
    id bigint NOT NULL,
    signing_key bytea NOT NULL,
    CONSTRAINT database_identity_id_check CHECK ((id = 1)),
    CONSTRAINT database_identity_signing_key_check CHECK ((length(signing_key) = 32))
);

CREATE TABLE deputies (
    id bigint NOT NULL,
    uid bytea NOT NULL,
    person_id bigint NOT NULL,
    deputy_id bigint NOT NULL,
    first_day text NOT NULL COLLATE pg_catalog."C",
    last_day text NOT NULL COLLATE pg_catalog."C",
    starts_at bigint NOT NULL,
    ends_at bigint NOT NULL,
    created_at bigint NOT NULL,
    CONSTRAINT deputies_check CHECK (((person_id <> deputy_id) AND (starts_at < ends_at))),
    CONSTRAINT deputies_uid_check CHECK ((octet_length(uid) = 16))
);

ALTER TABLE deputies ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME deputies_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE entries (
    id bigint NOT NULL,
    uid bytea NOT NULL,
    manager_id bigint NOT NULL,
    token_id bigint,
    source text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    harness_id bigint NOT NULL,
    agent_id bigint NOT NULL,
    model_id bigint NOT NULL,
    provider_id bigint,
    started_at bigint NOT NULL,
    ended_at bigint NOT NULL,
    input bigint NOT NULL,
    output bigint NOT NULL,
    cache_read bigint NOT NULL,
    cache_write bigint NOT NULL,
    cache_write_1h bigint NOT NULL,
    requests bigint,
    reported_cost bigint,
    list_value bigint,
    price_id bigint,
    price_step bigint,
    price_note text COLLATE pg_catalog."C",
    project_id bigint,
    ticket_id bigint,
    placed_by text COLLATE pg_catalog."C",
    placement_note text COLLATE pg_catalog."C",
    named_project text COLLATE pg_catalog."C",
    named_ticket text COLLATE pg_catalog."C",
    summary text COLLATE pg_catalog."C",
    label_set_id bigint,
    session_id bigint,
    chain_model_id bigint,
    part bigint,
    continues_id bigint,
    superseded boolean DEFAULT false NOT NULL,
    fingerprint bigint,
    possible_duplicate_id bigint,
    bill_id bigint,
    created_at bigint NOT NULL,
    updated_at bigint,
    rule_version_id bigint,
    sheet_id bigint,
    manager_by text DEFAULT 'token'::text NOT NULL COLLATE pg_catalog."C",
    usage_details text COLLATE pg_catalog."C",
    corrected text COLLATE pg_catalog."C",
    amendment text COLLATE pg_catalog."C",
    divided_from_id bigint,
    CONSTRAINT entries_amendment_check CHECK (((amendment IS NULL) OR ((amendment)::json IS NOT NULL))),
    CONSTRAINT entries_cache_read_check CHECK (((cache_read >= 0) AND (cache_read <= '1000000000000'::bigint))),
    CONSTRAINT entries_cache_write_1h_check CHECK (((cache_write_1h >= 0) AND (cache_write_1h <= '1000000000000'::bigint))),
    CONSTRAINT entries_cache_write_check CHECK (((cache_write >= 0) AND (cache_write <= '1000000000000'::bigint))),
    CONSTRAINT entries_check CHECK ((ended_at >= started_at)),
    CONSTRAINT entries_check10 CHECK (((placed_by <> 'rule'::text) OR (rule_version_id IS NOT NULL))),
    CONSTRAINT entries_check11 CHECK (((sheet_id IS NOT NULL) = (source = 'sheet'::text))),
    CONSTRAINT entries_check12 CHECK (((sheet_id IS NULL) OR (status = ANY (ARRAY['draft'::text, 'pending'::text, 'approved'::text, 'billed'::text])))),
    CONSTRAINT entries_check14 CHECK (((sheet_id IS NULL) OR (session_id IS NULL))),
    CONSTRAINT entries_check6 CHECK ((((list_value IS NULL) = (price_id IS NULL)) AND ((price_id IS NULL) = (price_step IS NULL)))),
    CONSTRAINT entries_check7 CHECK ((((session_id IS NULL) = (part IS NULL)) AND ((session_id IS NULL) = (chain_model_id IS NULL)))),
    CONSTRAINT entries_check8 CHECK (((status = 'billed'::text) = (bill_id IS NOT NULL))),
    CONSTRAINT entries_check9 CHECK (((placed_by IS NOT NULL) OR ((project_id IS NULL) AND (ticket_id IS NULL)))),
    CONSTRAINT entries_corrected_check CHECK (((corrected IS NULL) OR ((corrected)::json IS NOT NULL))),
    CONSTRAINT entries_input_check CHECK (((input >= 0) AND (input <= '1000000000000'::bigint))),
    CONSTRAINT entries_list_value_check CHECK ((list_value >= 0)),
    CONSTRAINT entries_manager_by_check CHECK ((manager_by = ANY (ARRAY['token'::text, 'email'::text]))),
    CONSTRAINT entries_off_sheet_check CHECK (((sheet_id IS NOT NULL) OR (status = ANY (ARRAY['submitted'::text, 'approved'::text, 'rejected'::text, 'billed'::text, 'held'::text, 'discarded'::text, 'voided'::text])))),
    CONSTRAINT entries_output_check CHECK (((output >= 0) AND (output <= '1000000000000'::bigint))),
    CONSTRAINT entries_part_check CHECK ((part >= 1)),
    CONSTRAINT entries_placed_by_check CHECK ((placed_by = ANY (ARRAY['named'::text, 'rule'::text, 'manual'::text]))),
    CONSTRAINT entries_price_step_check CHECK (((price_step >= 1) AND (price_step <= 7))),
    CONSTRAINT entries_reported_cost_check CHECK ((reported_cost >= 0)),
    CONSTRAINT entries_requests_check CHECK ((requests >= 0)),
    CONSTRAINT entries_source_check CHECK ((source = ANY (ARRAY['report'::text, 'log'::text, 'span'::text, 'metric'::text, 'sheet'::text]))),
    CONSTRAINT entries_status_check CHECK ((status = ANY (ARRAY['submitted'::text, 'draft'::text, 'pending'::text, 'approved'::text, 'rejected'::text, 'billed'::text, 'held'::text, 'discarded'::text, 'voided'::text]))),
    CONSTRAINT entries_uid_check CHECK ((octet_length(uid) = 16)),
    CONSTRAINT entries_usage_details_check CHECK (((usage_details IS NULL) OR ((usage_details)::json IS NOT NULL)))
);

ALTER TABLE entries ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME entries_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE entry_changes (
    id bigint NOT NULL,
    entry_id bigint,
    changed_at bigint NOT NULL,
    deleted_uid bytea,
    manager_id bigint,
    project_id bigint,
    CONSTRAINT entry_changes_check CHECK (((entry_id IS NULL) = (deleted_uid IS NOT NULL)))
);

ALTER TABLE entry_changes ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME entry_changes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE entry_history (
    id bigint NOT NULL,
    entry_id bigint NOT NULL,
    at bigint NOT NULL,
    action text NOT NULL COLLATE pg_catalog."C",
    user_id bigint,
    token_id bigint,
    details text NOT NULL COLLATE pg_catalog."C"
);

ALTER TABLE entry_history ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME entry_history_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE erasures (
    user_id bigint NOT NULL,
    words text COLLATE pg_catalog."C",
    counts text NOT NULL COLLATE pg_catalog."C",
    started_at bigint NOT NULL,
    ended_at bigint,
    CONSTRAINT erasures_check CHECK (((words IS NULL) = (ended_at IS NOT NULL)))
);

CREATE TABLE event_occurrences (
    key text NOT NULL COLLATE pg_catalog."C",
    at bigint NOT NULL
);

CREATE TABLE events (
    id bigint NOT NULL,
    at bigint NOT NULL,
    type text NOT NULL COLLATE pg_catalog."C",
    object_id text COLLATE pg_catalog."C",
    object_name text COLLATE pg_catalog."C",
    entry_id bigint,
    manager_id bigint,
    project_id bigint,
    user_id bigint,
    token_id bigint,
    details text COLLATE pg_catalog."C"
);

ALTER TABLE events ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE failed_attempts (
    key bytea NOT NULL,
    account bytea,
    count bigint NOT NULL,
    forgiven_at bigint NOT NULL,
    failed_at bigint NOT NULL,
    pauses bigint NOT NULL,
    paused_until bigint NOT NULL,
    reported boolean NOT NULL,
    ends_at bigint NOT NULL,
    CONSTRAINT failed_attempts_account_check CHECK ((length(account) = 32)),
    CONSTRAINT failed_attempts_count_check CHECK ((count >= 0)),
    CONSTRAINT failed_attempts_key_check CHECK ((length(key) = 32)),
    CONSTRAINT failed_attempts_pauses_check CHECK ((pauses >= 0))
);

CREATE TABLE idempotency_keys (
    manager_id bigint NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    body_hash bytea NOT NULL,
    entry_id bigint NOT NULL,
    CONSTRAINT idempotency_keys_body_hash_check CHECK ((octet_length(body_hash) = 32))
);

CREATE TABLE label_pairs (
    name text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL COLLATE pg_catalog."C",
    label_set_id bigint NOT NULL
);

CREATE TABLE label_sets (
    id bigint NOT NULL,
    labels text NOT NULL COLLATE pg_catalog."C"
);

ALTER TABLE label_sets ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME label_sets_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE moves (
    id bigint NOT NULL,
    move text NOT NULL COLLATE pg_catalog."C",
    direction text NOT NULL COLLATE pg_catalog."C",
    place text NOT NULL COLLATE pg_catalog."C",
    restores text NOT NULL COLLATE pg_catalog."C",
    started_at bigint NOT NULL,
    ended_at bigint,
    CONSTRAINT moves_direction_check CHECK ((direction = ANY (ARRAY['from'::text, 'to'::text]))),
    CONSTRAINT moves_id_check CHECK ((id = 1))
);

CREATE TABLE names (
    id bigint NOT NULL,
    text text NOT NULL COLLATE pg_catalog."C",
    canonical_id bigint
);

ALTER TABLE names ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME names_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE notification_emails (
    id bigint NOT NULL,
    recipient text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    attempts bigint NOT NULL,
    next_attempt_at bigint,
    answer text COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    ended_at bigint,
    CONSTRAINT notification_emails_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'sent'::text, 'failed'::text])))
);

ALTER TABLE notification_emails ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME notification_emails_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE notifications (
    id bigint NOT NULL,
    user_id bigint,
    recipient text NOT NULL COLLATE pg_catalog."C",
    topic text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    subject text NOT NULL COLLATE pg_catalog."C",
    body text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    email_id bigint,
    CONSTRAINT notifications_topic_check CHECK ((topic = ANY (ARRAY['budget_alerts'::text, 'attention'::text, 'weekly_summary'::text, 'anomalies'::text])))
);

ALTER TABLE notifications ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME notifications_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE one_time_links (
    id bigint NOT NULL,
    purpose text NOT NULL COLLATE pg_catalog."C",
    hash bytea NOT NULL,
    user_id bigint,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    used_at bigint,
    CONSTRAINT one_time_links_hash_check CHECK ((octet_length(hash) = 32)),
    CONSTRAINT one_time_links_purpose_check CHECK ((purpose = ANY (ARRAY['set_up'::text, 'invitation'::text, 'password'::text])))
);

ALTER TABLE one_time_links ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME one_time_links_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE organization (
    id bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    time_zone text NOT NULL COLLATE pg_catalog."C",
    currency text NOT NULL COLLATE pg_catalog."C",
    unknown_projects text NOT NULL COLLATE pg_catalog."C",
    set_up_at bigint,
    approval_required boolean DEFAULT false NOT NULL,
    email text COLLATE pg_catalog."C",
    address text COLLATE pg_catalog."C",
    tax_id text COLLATE pg_catalog."C",
    markup_ppm bigint,
    due_days bigint DEFAULT 30 NOT NULL,
    bill_number_format text DEFAULT '{year}-{sequence:4}'::text NOT NULL COLLATE pg_catalog."C",
    bill_footer text COLLATE pg_catalog."C",
    logo bytea,
    logo_type text COLLATE pg_catalog."C",
    telemetry_by_email boolean DEFAULT false NOT NULL,
    demo_at bigint,
    same_session text DEFAULT 'hold'::text NOT NULL COLLATE pg_catalog."C",
    week_start text DEFAULT 'monday'::text NOT NULL COLLATE pg_catalog."C",
    reminder_days bigint,
    api_tokens boolean DEFAULT false NOT NULL,
    share_links boolean DEFAULT false NOT NULL,
    retention_texts bigint,
    retention_session_ids bigint,
    retention_history bigint,
    retention_audit bigint,
    hashed_session_ids boolean DEFAULT false NOT NULL,
    interned_version bigint DEFAULT 0 NOT NULL,
    compacted_at bigint,
    retention_events bigint DEFAULT 3,
    events_removed_to bigint DEFAULT 0 NOT NULL,
    sheet_required_fields text DEFAULT '[]'::text NOT NULL COLLATE pg_catalog."C",
    lead_rules boolean DEFAULT false NOT NULL,
    public_url text COLLATE pg_catalog."C",
    CONSTRAINT organization_check CHECK (((logo IS NULL) = (logo_type IS NULL))),
    CONSTRAINT organization_currency_check CHECK ((length(currency) = 3)),
    CONSTRAINT organization_due_days_check CHECK (((due_days >= 0) AND (due_days <= 365))),
    CONSTRAINT organization_id_check CHECK ((id = 1)),
    CONSTRAINT organization_markup_ppm_check CHECK (((markup_ppm >= '-1000000'::integer) AND (markup_ppm <= 100000000))),
    CONSTRAINT organization_reminder_days_check CHECK (((reminder_days >= 1) AND (reminder_days <= 90))),
    CONSTRAINT organization_retention_audit_check CHECK ((retention_audit >= 12)),
    CONSTRAINT organization_retention_events_check CHECK ((retention_events >= 1)),
    CONSTRAINT organization_retention_history_check CHECK ((retention_history >= 12)),
    CONSTRAINT organization_retention_session_ids_check CHECK ((retention_session_ids >= 1)),
    CONSTRAINT organization_retention_texts_check CHECK ((retention_texts >= 1)),
    CONSTRAINT organization_same_session_check CHECK ((same_session = ANY (ARRAY['hold'::text, 'count'::text]))),
    CONSTRAINT organization_unknown_projects_check CHECK ((unknown_projects = ANY (ARRAY['create'::text, 'hold'::text]))),
    CONSTRAINT organization_week_start_check CHECK ((week_start = ANY (ARRAY['monday'::text, 'tuesday'::text, 'wednesday'::text, 'thursday'::text, 'friday'::text, 'saturday'::text, 'sunday'::text])))
);

CREATE TABLE owed_work (
    kind text NOT NULL COLLATE pg_catalog."C",
    since bigint NOT NULL,
    changes bigint NOT NULL,
    CONSTRAINT owed_work_changes_check CHECK ((changes > 0)),
    CONSTRAINT owed_work_kind_check CHECK ((kind = 'valuation'::text))
);

CREATE TABLE placement_rule_versions (
    id bigint NOT NULL,
    rule_id bigint NOT NULL,
    version bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    conditions text NOT NULL COLLATE pg_catalog."C",
    project_id bigint NOT NULL,
    ticket text COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    created_by bigint,
    CONSTRAINT placement_rule_versions_version_check CHECK ((version >= 1))
);

ALTER TABLE placement_rule_versions ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME placement_rule_versions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE placement_rules (
    id bigint NOT NULL,
    uid bytea NOT NULL,
    "position" bigint NOT NULL,
    enabled boolean NOT NULL,
    created_at bigint NOT NULL,
    removed_at bigint,
    lead_repository text COLLATE pg_catalog."C",
    CONSTRAINT placement_rules_uid_check CHECK ((octet_length(uid) = 16))
);

ALTER TABLE placement_rules ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME placement_rules_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE preferences (
    user_id bigint NOT NULL,
    chosen text NOT NULL COLLATE pg_catalog."C"
);

CREATE TABLE price_aliases (
    id bigint NOT NULL,
    alias text NOT NULL COLLATE pg_catalog."C",
    provider text COLLATE pg_catalog."C",
    model text NOT NULL COLLATE pg_catalog."C",
    source text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    created_by bigint,
    load_id bigint
);

ALTER TABLE price_aliases ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME price_aliases_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE price_loads (
    id bigint NOT NULL,
    uid bytea NOT NULL,
    format text NOT NULL COLLATE pg_catalog."C",
    name text COLLATE pg_catalog."C",
    digest text COLLATE pg_catalog."C",
    as_of bigint NOT NULL,
    counts text NOT NULL COLLATE pg_catalog."C",
    replaced_aliases text COLLATE pg_catalog."C",
    loaded_at bigint NOT NULL,
    loaded_by bigint,
    undone_at bigint,
    undone_by bigint,
    notice text COLLATE pg_catalog."C",
    notice_due_at bigint,
    CONSTRAINT price_loads_check CHECK (((notice_due_at IS NULL) OR (notice IS NOT NULL))),
    CONSTRAINT price_loads_uid_check CHECK ((octet_length(uid) = 16))
);

ALTER TABLE price_loads ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME price_loads_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE price_updates (
    id bigint NOT NULL,
    source text COLLATE pg_catalog."C",
    attempted_at bigint,
    succeeded_at bigint,
    error text COLLATE pg_catalog."C",
    failures bigint NOT NULL,
    CONSTRAINT price_updates_id_check CHECK ((id = 1))
);

CREATE TABLE prices (
    id bigint NOT NULL,
    uid bytea NOT NULL,
    provider text NOT NULL COLLATE pg_catalog."C",
    model text NOT NULL COLLATE pg_catalog."C",
    input bigint,
    output bigint,
    cache_read bigint,
    cache_write bigint,
    cache_write_1h bigint,
    tiers text COLLATE pg_catalog."C",
    effective_from bigint,
    source text NOT NULL COLLATE pg_catalog."C",
    loaded_at bigint NOT NULL,
    loaded_by bigint,
    extras text COLLATE pg_catalog."C",
    load_id bigint,
    as_of bigint,
    withdrawn_at bigint,
    effective_until bigint,
    CONSTRAINT prices_cache_read_check CHECK ((cache_read >= 0)),
    CONSTRAINT prices_cache_write_1h_check CHECK ((cache_write_1h >= 0)),
    CONSTRAINT prices_cache_write_check CHECK ((cache_write >= 0)),
    CONSTRAINT prices_extras_check CHECK (((extras IS NULL) OR ((extras)::json IS NOT NULL))),
    CONSTRAINT prices_input_check CHECK ((input >= 0)),
    CONSTRAINT prices_output_check CHECK ((output >= 0)),
    CONSTRAINT prices_uid_check CHECK ((octet_length(uid) = 16))
);

ALTER TABLE prices ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME prices_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE project_approvers (
    project_id bigint NOT NULL,
    user_id bigint NOT NULL
);

CREATE TABLE project_leads (
    project_id bigint NOT NULL,
    user_id bigint NOT NULL
);

CREATE TABLE project_names (
    folded text NOT NULL COLLATE pg_catalog."C",
    project_id bigint NOT NULL,
    text text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    kind text DEFAULT 'key'::text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT project_names_kind_check CHECK ((kind = ANY (ARRAY['key'::text, 'name'::text, 'alias'::text])))
);

CREATE TABLE project_repositories (
    project_id bigint NOT NULL,
    repository text NOT NULL COLLATE pg_catalog."C"
);

CREATE TABLE projects (
    id bigint NOT NULL,
    uid bytea NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    client_id bigint,
    created_at bigint NOT NULL,
    archived_at bigint,
    billable boolean DEFAULT true NOT NULL,
    markup_ppm bigint,
    budget bigint,
    merged_into_id bigint,
    CONSTRAINT projects_budget_check CHECK ((budget >= 0)),
    CONSTRAINT projects_markup_ppm_check CHECK (((markup_ppm >= '-1000000'::integer) AND (markup_ppm <= 100000000))),
    CONSTRAINT projects_uid_check CHECK ((octet_length(uid) = 16))
);

ALTER TABLE projects ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME projects_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE report_views (
    id bigint NOT NULL,
    uid bytea NOT NULL,
    owner_id bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    parameters text NOT NULL COLLATE pg_catalog."C",
    shared boolean DEFAULT false NOT NULL,
    pinned boolean DEFAULT false NOT NULL,
    created_at bigint NOT NULL,
    CONSTRAINT report_views_uid_check CHECK ((octet_length(uid) = 16))
);

ALTER TABLE report_views ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME report_views_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE revision (
    id bigint NOT NULL,
    value bigint NOT NULL,
    oldest_schema bigint DEFAULT 0 NOT NULL,
    CONSTRAINT revision_id_check CHECK ((id = 1))
);

CREATE TABLE rollup_columns (
    period_id bigint NOT NULL,
    grain bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    data bytea NOT NULL
);
ALTER TABLE ONLY rollup_columns ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE rollup_periods (
    id bigint NOT NULL,
    zone text NOT NULL COLLATE pg_catalog."C",
    level text NOT NULL COLLATE pg_catalog."C",
    starts_at bigint NOT NULL,
    ends_at bigint NOT NULL,
    state text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    CONSTRAINT rollup_periods_check CHECK ((ends_at > starts_at)),
    CONSTRAINT rollup_periods_level_check CHECK ((level = ANY (ARRAY['day'::text, 'month'::text]))),
    CONSTRAINT rollup_periods_state_check CHECK ((state = ANY (ARRAY['stale'::text, 'building'::text, 'clean'::text, 'old'::text])))
);

ALTER TABLE rollup_periods ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME rollup_periods_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE rollup_zones (
    zone text NOT NULL COLLATE pg_catalog."C",
    ready boolean NOT NULL
);

CREATE TABLE rule_proposals (
    id bigint NOT NULL,
    uid bytea NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    repository text NOT NULL COLLATE pg_catalog."C",
    conditions text NOT NULL COLLATE pg_catalog."C",
    project_id bigint NOT NULL,
    ticket text COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    proposed_by bigint NOT NULL,
    created_at bigint NOT NULL,
    decided_by bigint,
    decided_at bigint,
    reason text COLLATE pg_catalog."C",
    rule_id bigint,
    CONSTRAINT rule_proposals_check CHECK (((state = 'open'::text) = (decided_at IS NULL))),
    CONSTRAINT rule_proposals_check1 CHECK (((state = 'accepted'::text) = (rule_id IS NOT NULL))),
    CONSTRAINT rule_proposals_state_check CHECK ((state = ANY (ARRAY['open'::text, 'accepted'::text, 'declined'::text, 'withdrawn'::text]))),
    CONSTRAINT rule_proposals_uid_check CHECK ((octet_length(uid) = 16))
);

ALTER TABLE rule_proposals ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME rule_proposals_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE session_sources (
    session_id bigint NOT NULL,
    chain_model_id bigint NOT NULL,
    source text NOT NULL COLLATE pg_catalog."C",
    totals text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT session_sources_source_check CHECK ((source = ANY (ARRAY['report'::text, 'log'::text, 'span'::text, 'metric'::text])))
);

CREATE TABLE sessions (
    id bigint NOT NULL,
    session_key text NOT NULL COLLATE pg_catalog."C",
    harness_id bigint NOT NULL,
    manager_id bigint NOT NULL,
    source text NOT NULL COLLATE pg_catalog."C",
    contested boolean DEFAULT false NOT NULL,
    manager_by text DEFAULT 'token'::text NOT NULL COLLATE pg_catalog."C",
    unidentified boolean DEFAULT false NOT NULL,
    by_organization boolean DEFAULT false NOT NULL,
    duplicate text COLLATE pg_catalog."C",
    CONSTRAINT sessions_duplicate_check CHECK (((duplicate IS NULL) OR (duplicate = 'held'::text) OR (duplicate = 'released'::text) OR (duplicate = 'discarded'::text))),
    CONSTRAINT sessions_manager_by_check CHECK ((manager_by = ANY (ARRAY['token'::text, 'email'::text]))),
    CONSTRAINT sessions_source_check CHECK ((source = ANY (ARRAY['report'::text, 'log'::text, 'span'::text, 'metric'::text])))
);

ALTER TABLE sessions ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME sessions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE share_links (
    id bigint NOT NULL,
    uid bytea NOT NULL,
    hash bytea NOT NULL,
    created_by bigint NOT NULL,
    report text COLLATE pg_catalog."C",
    bill_id bigint,
    money text NOT NULL COLLATE pg_catalog."C",
    shows_people boolean NOT NULL,
    note text COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    revoked_at bigint,
    last_used_at bigint,
    uses bigint DEFAULT 0 NOT NULL,
    CONSTRAINT share_links_check CHECK (((report IS NULL) <> (bill_id IS NULL))),
    CONSTRAINT share_links_check1 CHECK (((bill_id IS NOT NULL) = (money = 'amounts'::text))),
    CONSTRAINT share_links_hash_check CHECK ((octet_length(hash) = 32)),
    CONSTRAINT share_links_money_check CHECK ((money = ANY (ARRAY['amounts'::text, 'cost'::text, 'none'::text]))),
    CONSTRAINT share_links_uid_check CHECK ((octet_length(uid) = 16))
);

ALTER TABLE share_links ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME share_links_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE sheets (
    id bigint NOT NULL,
    uid bytea NOT NULL,
    manager_id bigint NOT NULL,
    first_day text NOT NULL COLLATE pg_catalog."C",
    last_day text NOT NULL COLLATE pg_catalog."C",
    starting_at bigint NOT NULL,
    ending_at bigint NOT NULL,
    note text COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    reason text COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    submitted_at bigint,
    decided_at bigint,
    decided_by bigint,
    updated_at bigint,
    CONSTRAINT sheets_check CHECK (((length(last_day) = 10) AND (last_day >= first_day))),
    CONSTRAINT sheets_check1 CHECK ((ending_at > starting_at)),
    CONSTRAINT sheets_check2 CHECK (((status = 'returned'::text) = (reason IS NOT NULL))),
    CONSTRAINT sheets_check3 CHECK (((status = 'open'::text) OR (submitted_at IS NOT NULL))),
    CONSTRAINT sheets_check4 CHECK (((status <> ALL (ARRAY['approved'::text, 'returned'::text])) OR (decided_at IS NOT NULL))),
    CONSTRAINT sheets_first_day_check CHECK ((length(first_day) = 10)),
    CONSTRAINT sheets_status_check CHECK ((status = ANY (ARRAY['open'::text, 'submitted'::text, 'approved'::text, 'returned'::text]))),
    CONSTRAINT sheets_uid_check CHECK ((octet_length(uid) = 16))
);

ALTER TABLE sheets ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME sheets_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE sign_ins (
    id bigint NOT NULL,
    user_id bigint NOT NULL,
    hash bytea NOT NULL,
    created_at bigint NOT NULL,
    last_seen_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    ended_at bigint,
    CONSTRAINT sign_ins_hash_check CHECK ((octet_length(hash) = 32))
);

ALTER TABLE sign_ins ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME sign_ins_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE stale_hours (
    hour bigint NOT NULL
);

CREATE TABLE telemetry_channels (
    harness text NOT NULL COLLATE pg_catalog."C",
    version text NOT NULL COLLATE pg_catalog."C",
    channel text NOT NULL COLLATE pg_catalog."C",
    first_seen_at bigint NOT NULL,
    last_seen_at bigint NOT NULL,
    counted bigint NOT NULL,
    repeated bigint NOT NULL,
    late bigint NOT NULL,
    shrunk bigint NOT NULL,
    tokens bigint NOT NULL
);

CREATE TABLE telemetry_pushes (
    token_id bigint NOT NULL,
    requests bigint NOT NULL,
    records bigint NOT NULL,
    last_seen_at bigint NOT NULL
);

CREATE TABLE telemetry_seen (
    session_id bigint NOT NULL,
    identity bytea NOT NULL,
    CONSTRAINT telemetry_seen_identity_check CHECK ((octet_length(identity) = 16))
);

CREATE TABLE telemetry_sessions (
    session_id bigint NOT NULL,
    facts text NOT NULL COLLATE pg_catalog."C",
    email text COLLATE pg_catalog."C",
    last_seen_at bigint NOT NULL,
    forgotten_to bigint,
    remembers boolean NOT NULL
);

CREATE TABLE telemetry_streams (
    session_id bigint NOT NULL,
    stream bytea NOT NULL,
    time_nanos bigint NOT NULL,
    value bigint NOT NULL,
    CONSTRAINT telemetry_streams_stream_check CHECK ((octet_length(stream) = 16))
);

CREATE TABLE telemetry_totals (
    session_id bigint NOT NULL,
    chain_model_id bigint NOT NULL,
    source text NOT NULL COLLATE pg_catalog."C",
    totals text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT telemetry_totals_source_check CHECK ((source = ANY (ARRAY['log'::text, 'span'::text, 'metric'::text])))
);

CREATE TABLE telemetry_uncounted (
    kind text NOT NULL COLLATE pg_catalog."C",
    what text NOT NULL COLLATE pg_catalog."C",
    records bigint NOT NULL,
    last_seen_at bigint NOT NULL,
    CONSTRAINT telemetry_uncounted_kind_check CHECK ((kind = ANY (ARRAY['ignored'::text, 'rejected'::text])))
);

CREATE TABLE ticket_assumptions (
    ticket_id bigint NOT NULL,
    user_id bigint NOT NULL,
    project_id bigint
);

CREATE TABLE tickets (
    id bigint NOT NULL,
    uid bytea NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    key_folded text NOT NULL COLLATE pg_catalog."C",
    project_id bigint,
    created_at bigint NOT NULL,
    archived_at bigint,
    title text COLLATE pg_catalog."C",
    reported boolean DEFAULT false NOT NULL,
    CONSTRAINT tickets_uid_check CHECK ((octet_length(uid) = 16))
);

ALTER TABLE tickets ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME tickets_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE token_calls (
    token_id bigint NOT NULL,
    full_at bigint NOT NULL
);

CREATE TABLE tokens (
    id bigint NOT NULL,
    uid bytea NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    hash bytea NOT NULL,
    hint text NOT NULL COLLATE pg_catalog."C",
    created_by bigint NOT NULL,
    allow_bills boolean DEFAULT false NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    last_used_at bigint,
    revoked_at bigint,
    scopes text COLLATE pg_catalog."C",
    networks text COLLATE pg_catalog."C",
    CONSTRAINT tokens_check CHECK (((NOT allow_bills) OR (kind = 'svc'::text))),
    CONSTRAINT tokens_check1 CHECK (((scopes IS NOT NULL) = (kind = 'api'::text))),
    CONSTRAINT tokens_check2 CHECK (((networks IS NULL) OR (kind = 'api'::text))),
    CONSTRAINT tokens_hash_check CHECK ((octet_length(hash) = 32)),
    CONSTRAINT tokens_kind_check CHECK ((kind = ANY (ARRAY['svc'::text, 'read'::text, 'org'::text, 'api'::text]))),
    CONSTRAINT tokens_uid_check CHECK ((octet_length(uid) = 16))
);

ALTER TABLE tokens ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME tokens_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE user_emails (
    email text NOT NULL COLLATE pg_catalog."C",
    user_id bigint NOT NULL
);

CREATE TABLE users (
    id bigint NOT NULL,
    uid bytea NOT NULL,
    email text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    role text NOT NULL COLLATE pg_catalog."C",
    password_hash text COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    last_signed_in_at bigint,
    disabled_at bigint,
    erased_at bigint,
    notifications text COLLATE pg_catalog."C",
    CONSTRAINT users_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'member'::text, 'billing'::text, 'admin'::text]))),
    CONSTRAINT users_uid_check CHECK ((octet_length(uid) = 16))
);

ALTER TABLE users ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME users_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE viewer_grants (
    id bigint NOT NULL,
    user_id bigint NOT NULL,
    client_id bigint,
    project_id bigint,
    money text NOT NULL COLLATE pg_catalog."C",
    shows_people boolean NOT NULL,
    shows_bills boolean NOT NULL,
    created_at bigint NOT NULL,
    CONSTRAINT viewer_grants_check CHECK (((client_id IS NULL) <> (project_id IS NULL))),
    CONSTRAINT viewer_grants_check1 CHECK (((NOT shows_bills) OR ((client_id IS NOT NULL) AND (money = 'amounts'::text)))),
    CONSTRAINT viewer_grants_money_check CHECK ((money = ANY (ARRAY['amounts'::text, 'cost'::text, 'none'::text])))
);

ALTER TABLE viewer_grants ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME viewer_grants_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE webhook_deliveries (
    id bigint NOT NULL,
    endpoint_id bigint NOT NULL,
    event_id bigint,
    type text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    attempt bigint NOT NULL,
    at bigint NOT NULL,
    status bigint,
    latency_ms bigint NOT NULL,
    body text NOT NULL COLLATE pg_catalog."C",
    response text NOT NULL COLLATE pg_catalog."C",
    error text COLLATE pg_catalog."C",
    CONSTRAINT webhook_deliveries_attempt_check CHECK ((attempt >= 1)),
    CONSTRAINT webhook_deliveries_kind_check CHECK ((kind = ANY (ARRAY['event'::text, 'resend'::text, 'test'::text])))
);

ALTER TABLE webhook_deliveries ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME webhook_deliveries_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE webhook_endpoints (
    id bigint NOT NULL,
    uid bytea NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    url text NOT NULL COLLATE pg_catalog."C",
    format text NOT NULL COLLATE pg_catalog."C",
    types text NOT NULL COLLATE pg_catalog."C",
    client_id bigint,
    project_id bigint,
    secret bytea NOT NULL,
    previous_secret bytea,
    previous_until bigint,
    created_by bigint,
    created_at bigint NOT NULL,
    disabled_at bigint,
    disabled_reason text COLLATE pg_catalog."C",
    cursor bigint NOT NULL,
    attempts bigint DEFAULT 0 NOT NULL,
    failing_since bigint,
    next_attempt_at bigint,
    lease_holder text COLLATE pg_catalog."C",
    leased_until bigint,
    notice_due_at bigint,
    owner_id bigint,
    owner_token_id bigint,
    suspended_at bigint,
    suspended_reason text COLLATE pg_catalog."C",
    CONSTRAINT webhook_endpoints_attempts_check CHECK ((attempts >= 0)),
    CONSTRAINT webhook_endpoints_check CHECK (((client_id IS NULL) OR (project_id IS NULL))),
    CONSTRAINT webhook_endpoints_check1 CHECK (((previous_secret IS NULL) = (previous_until IS NULL))),
    CONSTRAINT webhook_endpoints_check2 CHECK (((disabled_at IS NULL) = (disabled_reason IS NULL))),
    CONSTRAINT webhook_endpoints_check3 CHECK (((attempts = 0) = (failing_since IS NULL))),
    CONSTRAINT webhook_endpoints_check4 CHECK (((lease_holder IS NULL) = (leased_until IS NULL))),
    CONSTRAINT webhook_endpoints_check5 CHECK (((owner_token_id IS NULL) OR (owner_id IS NOT NULL))),
    CONSTRAINT webhook_endpoints_check6 CHECK (((suspended_at IS NULL) = (suspended_reason IS NULL))),
    CONSTRAINT webhook_endpoints_disabled_reason_check CHECK ((disabled_reason = ANY (ARRAY['person'::text, 'failing'::text, 'gone'::text]))),
    CONSTRAINT webhook_endpoints_format_check CHECK ((format = ANY (ARRAY['standard'::text, 'slack'::text, 'teams'::text, 'discord'::text, 'chat'::text]))),
    CONSTRAINT webhook_endpoints_previous_secret_check CHECK ((octet_length(previous_secret) = 32)),
    CONSTRAINT webhook_endpoints_secret_check CHECK ((octet_length(secret) = 32)),
    CONSTRAINT webhook_endpoints_suspended_reason_check CHECK ((suspended_reason = ANY (ARRAY['owner_disabled'::text, 'owner_role'::text, 'token_revoked'::text, 'token_expired'::text, 'token_scopes'::text, 'api_tokens_off'::text]))),
    CONSTRAINT webhook_endpoints_uid_check CHECK ((octet_length(uid) = 16))
);

ALTER TABLE webhook_endpoints ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME webhook_endpoints_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

INSERT INTO billing_lease VALUES (1, 0, NULL, NULL);

INSERT INTO organization VALUES (1, 'Tally', 'UTC', 'USD', 'create', NULL, false, NULL, NULL, NULL, NULL, 30, '{year}-{sequence:4}', NULL, NULL, NULL, false, NULL, 'hold', 'monday', NULL, false, false, NULL, NULL, NULL, NULL, false, 0, NULL, 3, 0, '[]', false, NULL);

INSERT INTO price_updates VALUES (1, NULL, NULL, NULL, NULL, 0);

INSERT INTO revision VALUES (1, 1, 49);

ALTER TABLE ONLY audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (id);

ALTER TABLE ONLY backup_timeline
    ADD CONSTRAINT backup_timeline_pkey PRIMARY KEY (id);

ALTER TABLE ONLY bill_deliveries
    ADD CONSTRAINT bill_deliveries_pkey PRIMARY KEY (id);

ALTER TABLE ONLY bill_documents
    ADD CONSTRAINT bill_documents_pkey PRIMARY KEY (bill_id, format);

ALTER TABLE ONLY bill_drafts
    ADD CONSTRAINT bill_drafts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY bill_drafts
    ADD CONSTRAINT bill_drafts_uid_key UNIQUE (uid);

ALTER TABLE ONLY bill_entries
    ADD CONSTRAINT bill_entries_pkey PRIMARY KEY (bill_id, entry_id);

ALTER TABLE ONLY bill_keys
    ADD CONSTRAINT bill_keys_pkey PRIMARY KEY (user_id, key);

ALTER TABLE ONLY bill_payments
    ADD CONSTRAINT bill_payments_pkey PRIMARY KEY (bill_id, number);

ALTER TABLE ONLY bill_sequences
    ADD CONSTRAINT bill_sequences_pkey PRIMARY KEY (scope);

ALTER TABLE ONLY billing_lease
    ADD CONSTRAINT billing_lease_pkey PRIMARY KEY (id);

ALTER TABLE ONLY bills
    ADD CONSTRAINT bills_number_key UNIQUE (number);

ALTER TABLE ONLY bills
    ADD CONSTRAINT bills_pkey PRIMARY KEY (id);

ALTER TABLE ONLY bills
    ADD CONSTRAINT bills_uid_key UNIQUE (uid);

ALTER TABLE ONLY budget_alerts
    ADD CONSTRAINT budget_alerts_budget_id_version_first_day_kind_percent_key UNIQUE (budget_id, version, first_day, kind, percent);

ALTER TABLE ONLY budget_alerts
    ADD CONSTRAINT budget_alerts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY budget_alerts
    ADD CONSTRAINT budget_alerts_uid_key UNIQUE (uid);

ALTER TABLE ONLY budget_changes
    ADD CONSTRAINT budget_changes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY budget_periods
    ADD CONSTRAINT budget_periods_budget_id_first_day_key UNIQUE (budget_id, first_day);

ALTER TABLE ONLY budget_periods
    ADD CONSTRAINT budget_periods_pkey PRIMARY KEY (id);

ALTER TABLE ONLY budgets
    ADD CONSTRAINT budgets_pkey PRIMARY KEY (id);

ALTER TABLE ONLY budgets
    ADD CONSTRAINT budgets_uid_key UNIQUE (uid);

ALTER TABLE ONLY client_approvers
    ADD CONSTRAINT client_approvers_pkey PRIMARY KEY (client_id, user_id);

ALTER TABLE ONLY client_leads
    ADD CONSTRAINT client_leads_pkey PRIMARY KEY (client_id, user_id);

ALTER TABLE ONLY clients
    ADD CONSTRAINT clients_name_folded_key UNIQUE (name_folded);

ALTER TABLE ONLY clients
    ADD CONSTRAINT clients_pkey PRIMARY KEY (id);

ALTER TABLE ONLY clients
    ADD CONSTRAINT clients_uid_key UNIQUE (uid);

ALTER TABLE ONLY database_identity
    ADD CONSTRAINT database_identity_pkey PRIMARY KEY (id);

ALTER TABLE ONLY deputies
    ADD CONSTRAINT deputies_pkey PRIMARY KEY (id);

ALTER TABLE ONLY deputies
    ADD CONSTRAINT deputies_uid_key UNIQUE (uid);

ALTER TABLE ONLY entries
    ADD CONSTRAINT entries_pkey PRIMARY KEY (id);

ALTER TABLE ONLY entries
    ADD CONSTRAINT entries_uid_key UNIQUE (uid);

ALTER TABLE ONLY entry_changes
    ADD CONSTRAINT entry_changes_entry_id_key UNIQUE (entry_id);

ALTER TABLE ONLY entry_changes
    ADD CONSTRAINT entry_changes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY entry_history
    ADD CONSTRAINT entry_history_pkey PRIMARY KEY (id);

ALTER TABLE ONLY erasures
    ADD CONSTRAINT erasures_pkey PRIMARY KEY (user_id);

ALTER TABLE ONLY event_occurrences
    ADD CONSTRAINT event_occurrences_pkey PRIMARY KEY (key);

ALTER TABLE ONLY events
    ADD CONSTRAINT events_pkey PRIMARY KEY (id);

ALTER TABLE ONLY failed_attempts
    ADD CONSTRAINT failed_attempts_pkey PRIMARY KEY (key);

ALTER TABLE ONLY idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (manager_id, key);

ALTER TABLE ONLY label_pairs
    ADD CONSTRAINT label_pairs_pkey PRIMARY KEY (name, value, label_set_id);

ALTER TABLE ONLY label_sets
    ADD CONSTRAINT label_sets_labels_excl EXCLUDE USING hash (labels WITH =);

ALTER TABLE ONLY label_sets
    ADD CONSTRAINT label_sets_pkey PRIMARY KEY (id);

ALTER TABLE ONLY moves
    ADD CONSTRAINT moves_pkey PRIMARY KEY (id);

ALTER TABLE ONLY names
    ADD CONSTRAINT names_pkey PRIMARY KEY (id);

ALTER TABLE ONLY names
    ADD CONSTRAINT names_text_key UNIQUE (text);

ALTER TABLE ONLY notification_emails
    ADD CONSTRAINT notification_emails_pkey PRIMARY KEY (id);

ALTER TABLE ONLY notifications
    ADD CONSTRAINT notifications_pkey PRIMARY KEY (id);

ALTER TABLE ONLY notifications
    ADD CONSTRAINT notifications_recipient_topic_key_key UNIQUE (recipient, topic, key);

ALTER TABLE ONLY one_time_links
    ADD CONSTRAINT one_time_links_hash_key UNIQUE (hash);

ALTER TABLE ONLY one_time_links
    ADD CONSTRAINT one_time_links_pkey PRIMARY KEY (id);

ALTER TABLE ONLY organization
    ADD CONSTRAINT organization_pkey PRIMARY KEY (id);

ALTER TABLE ONLY owed_work
    ADD CONSTRAINT owed_work_pkey PRIMARY KEY (kind);

ALTER TABLE ONLY placement_rule_versions
    ADD CONSTRAINT placement_rule_versions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY placement_rule_versions
    ADD CONSTRAINT placement_rule_versions_rule_id_version_key UNIQUE (rule_id, version);

ALTER TABLE ONLY placement_rules
    ADD CONSTRAINT placement_rules_pkey PRIMARY KEY (id);

ALTER TABLE ONLY placement_rules
    ADD CONSTRAINT placement_rules_uid_key UNIQUE (uid);

ALTER TABLE ONLY preferences
    ADD CONSTRAINT preferences_pkey PRIMARY KEY (user_id);

ALTER TABLE ONLY price_aliases
    ADD CONSTRAINT price_aliases_alias_source_provider_key UNIQUE (alias, source, provider);

ALTER TABLE ONLY price_aliases
    ADD CONSTRAINT price_aliases_pkey PRIMARY KEY (id);

ALTER TABLE ONLY price_loads
    ADD CONSTRAINT price_loads_pkey PRIMARY KEY (id);

ALTER TABLE ONLY price_loads
    ADD CONSTRAINT price_loads_uid_key UNIQUE (uid);

ALTER TABLE ONLY price_updates
    ADD CONSTRAINT price_updates_pkey PRIMARY KEY (id);

ALTER TABLE ONLY prices
    ADD CONSTRAINT prices_pkey PRIMARY KEY (id);

ALTER TABLE ONLY prices
    ADD CONSTRAINT prices_uid_key UNIQUE (uid);

ALTER TABLE ONLY project_approvers
    ADD CONSTRAINT project_approvers_pkey PRIMARY KEY (project_id, user_id);

ALTER TABLE ONLY project_leads
    ADD CONSTRAINT project_leads_pkey PRIMARY KEY (project_id, user_id);

ALTER TABLE ONLY project_names
    ADD CONSTRAINT project_names_pkey PRIMARY KEY (folded);

ALTER TABLE ONLY project_repositories
    ADD CONSTRAINT project_repositories_pkey PRIMARY KEY (project_id, repository);

ALTER TABLE ONLY projects
    ADD CONSTRAINT projects_pkey PRIMARY KEY (id);

ALTER TABLE ONLY projects
    ADD CONSTRAINT projects_uid_key UNIQUE (uid);

ALTER TABLE ONLY report_views
    ADD CONSTRAINT report_views_pkey PRIMARY KEY (id);

ALTER TABLE ONLY report_views
    ADD CONSTRAINT report_views_uid_key UNIQUE (uid);

ALTER TABLE ONLY revision
    ADD CONSTRAINT revision_pkey PRIMARY KEY (id);

ALTER TABLE ONLY rollup_columns
    ADD CONSTRAINT rollup_columns_period_id_grain_name_key UNIQUE (period_id, grain, name);

ALTER TABLE ONLY rollup_periods
    ADD CONSTRAINT rollup_periods_pkey PRIMARY KEY (id);

ALTER TABLE ONLY rollup_zones
    ADD CONSTRAINT rollup_zones_pkey PRIMARY KEY (zone);

ALTER TABLE ONLY rule_proposals
    ADD CONSTRAINT rule_proposals_pkey PRIMARY KEY (id);

ALTER TABLE ONLY rule_proposals
    ADD CONSTRAINT rule_proposals_uid_key UNIQUE (uid);

ALTER TABLE ONLY session_sources
    ADD CONSTRAINT session_sources_pkey PRIMARY KEY (session_id, chain_model_id, source);

ALTER TABLE ONLY sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY sessions
    ADD CONSTRAINT sessions_session_key_harness_id_manager_id_key UNIQUE (session_key, harness_id, manager_id);

ALTER TABLE ONLY share_links
    ADD CONSTRAINT share_links_hash_key UNIQUE (hash);

ALTER TABLE ONLY share_links
    ADD CONSTRAINT share_links_pkey PRIMARY KEY (id);

ALTER TABLE ONLY share_links
    ADD CONSTRAINT share_links_uid_key UNIQUE (uid);

ALTER TABLE ONLY sheets
    ADD CONSTRAINT sheets_pkey PRIMARY KEY (id);

ALTER TABLE ONLY sheets
    ADD CONSTRAINT sheets_uid_key UNIQUE (uid);

ALTER TABLE ONLY sign_ins
    ADD CONSTRAINT sign_ins_hash_key UNIQUE (hash);

ALTER TABLE ONLY sign_ins
    ADD CONSTRAINT sign_ins_pkey PRIMARY KEY (id);

ALTER TABLE ONLY telemetry_channels
    ADD CONSTRAINT telemetry_channels_pkey PRIMARY KEY (harness, version, channel);

ALTER TABLE ONLY telemetry_pushes
    ADD CONSTRAINT telemetry_pushes_pkey PRIMARY KEY (token_id);

ALTER TABLE ONLY telemetry_seen
    ADD CONSTRAINT telemetry_seen_pkey PRIMARY KEY (session_id, identity);

ALTER TABLE ONLY telemetry_sessions
    ADD CONSTRAINT telemetry_sessions_pkey PRIMARY KEY (session_id);

ALTER TABLE ONLY telemetry_streams
    ADD CONSTRAINT telemetry_streams_pkey PRIMARY KEY (session_id, stream);

ALTER TABLE ONLY telemetry_totals
    ADD CONSTRAINT telemetry_totals_pkey PRIMARY KEY (session_id, chain_model_id, source);

ALTER TABLE ONLY telemetry_uncounted
    ADD CONSTRAINT telemetry_uncounted_pkey PRIMARY KEY (kind, what);

ALTER TABLE ONLY ticket_assumptions
    ADD CONSTRAINT ticket_assumptions_pkey PRIMARY KEY (ticket_id, user_id);

ALTER TABLE ONLY tickets
    ADD CONSTRAINT tickets_key_folded_key UNIQUE (key_folded);

ALTER TABLE ONLY tickets
    ADD CONSTRAINT tickets_pkey PRIMARY KEY (id);

ALTER TABLE ONLY tickets
    ADD CONSTRAINT tickets_uid_key UNIQUE (uid);

ALTER TABLE ONLY token_calls
    ADD CONSTRAINT token_calls_pkey PRIMARY KEY (token_id);

ALTER TABLE ONLY tokens
    ADD CONSTRAINT tokens_hash_key UNIQUE (hash);

ALTER TABLE ONLY tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (id);

ALTER TABLE ONLY tokens
    ADD CONSTRAINT tokens_uid_key UNIQUE (uid);

ALTER TABLE ONLY user_emails
    ADD CONSTRAINT user_emails_pkey PRIMARY KEY (email);

ALTER TABLE ONLY users
    ADD CONSTRAINT users_email_key UNIQUE (email);

ALTER TABLE ONLY users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);

ALTER TABLE ONLY users
    ADD CONSTRAINT users_uid_key UNIQUE (uid);

ALTER TABLE ONLY viewer_grants
    ADD CONSTRAINT viewer_grants_pkey PRIMARY KEY (id);

ALTER TABLE ONLY webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id);

ALTER TABLE ONLY webhook_endpoints
    ADD CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (id);

ALTER TABLE ONLY webhook_endpoints
    ADD CONSTRAINT webhook_endpoints_uid_key UNIQUE (uid);

CREATE INDEX audit_by_object ON audit USING btree (object_id) WHERE (object_id IS NOT NULL);

CREATE INDEX audit_by_user ON audit USING btree (user_id);

CREATE INDEX bill_deliveries_by_bill ON bill_deliveries USING btree (bill_id);

CREATE INDEX bill_deliveries_due ON bill_deliveries USING btree (next_attempt_at) WHERE (state = 'queued'::text);

CREATE INDEX bill_entries_by_entry ON bill_entries USING btree (entry_id);

CREATE INDEX bill_payments_by_offset ON bill_payments USING btree (offset_id) WHERE (offset_id IS NOT NULL);

CREATE INDEX bills_by_client ON bills USING btree (client_id);

CREATE INDEX bills_by_project ON bills USING btree (project_id);

CREATE INDEX bills_unpaid ON bills USING btree (due_on) WHERE (state = 'sent'::text);

CREATE INDEX budget_alerts_unnotified ON budget_alerts USING btree (id) WHERE (notified_at IS NULL);

CREATE INDEX budget_periods_uncounted ON budget_periods USING btree (id) WHERE (counted_at IS NULL);

CREATE INDEX budgets_active ON budgets USING btree (id) WHERE (archived_at IS NULL);

CREATE INDEX budgets_of_client ON budgets USING btree (client_id);

CREATE UNIQUE INDEX budgets_of_projects ON budgets USING btree (project_id) WHERE of_project;

CREATE INDEX budgets_of_ticket ON budgets USING btree (ticket_id);

CREATE INDEX client_approvers_by_user ON client_approvers USING btree (user_id);

CREATE INDEX client_leads_by_user ON client_leads USING btree (user_id);

CREATE INDEX deputies_by_deputy ON deputies USING btree (deputy_id);

CREATE INDEX deputies_by_person ON deputies USING btree (person_id);

CREATE INDEX entries_by_bill ON entries USING btree (bill_id) WHERE (bill_id IS NOT NULL);

CREATE INDEX entries_by_division ON entries USING btree (divided_from_id) WHERE (divided_from_id IS NOT NULL);

CREATE INDEX entries_by_manager ON entries USING btree (manager_id, started_at, fingerprint);

CREATE INDEX entries_by_named_project ON entries USING btree (named_project) WHERE (named_project IS NOT NULL);

CREATE INDEX entries_by_project ON entries USING btree (project_id, started_at);

CREATE INDEX entries_by_rule ON entries USING btree (rule_version_id) WHERE (rule_version_id IS NOT NULL);

CREATE UNIQUE INDEX entries_by_session ON entries USING btree (session_id, chain_model_id, part) WHERE (session_id IS NOT NULL);

CREATE INDEX entries_by_sheet ON entries USING btree (sheet_id) WHERE (sheet_id IS NOT NULL);

CREATE INDEX entries_by_start ON entries USING btree (started_at);

CREATE INDEX entries_by_ticket ON entries USING btree (ticket_id, started_at) WHERE (ticket_id IS NOT NULL);

CREATE INDEX entries_cost_mismatches ON entries USING btree (started_at, id, status, superseded, reported_cost, list_value, manager_id, project_id) WHERE ((abs((reported_cost - list_value)) > 1000000000) AND (((((reported_cost - 1) / 10) - list_value) >= 0) OR ((((list_value - 1) / 10) - reported_cost) >= 0)));

CREATE INDEX entries_held ON entries USING btree (manager_id) WHERE (status = 'held'::text);

CREATE INDEX entries_possible_duplicates ON entries USING btree (started_at, id, status, superseded, reported_cost, list_value, manager_id, project_id, possible_duplicate_id) WHERE (possible_duplicate_id IS NOT NULL);

CREATE INDEX entries_unattributed ON entries USING btree (started_at, id, status, superseded, reported_cost, list_value, manager_id, project_id, placed_by) WHERE (placed_by IS NULL);

CREATE INDEX entries_unpriced ON entries USING btree (model_id, provider_id, id) WHERE ((list_value IS NULL) AND (reported_cost IS NULL));

CREATE INDEX entry_history_by_entry ON entry_history USING btree (entry_id);

CREATE INDEX events_of_removed ON events USING btree (entry_id) WHERE (type = 'entry.removed'::text);

CREATE INDEX failed_attempts_account ON failed_attempts USING btree (account);

CREATE INDEX failed_attempts_ends_at ON failed_attempts USING btree (ends_at);

CREATE INDEX notification_emails_due ON notification_emails USING btree (next_attempt_at) WHERE (state = 'queued'::text);

CREATE INDEX notification_emails_of_recipient ON notification_emails USING btree (recipient, created_at);

CREATE INDEX notifications_of_email ON notifications USING btree (email_id);

CREATE INDEX notifications_of_user ON notifications USING btree (user_id);

CREATE INDEX notifications_waiting ON notifications USING btree (recipient) WHERE (email_id IS NULL);

CREATE UNIQUE INDEX price_aliases_of_admin ON price_aliases USING btree (alias) WHERE (source = 'admin'::text);

CREATE UNIQUE INDEX price_loads_of_embedded ON price_loads USING btree (name) WHERE (format = 'default'::text);

CREATE INDEX price_loads_to_notify ON price_loads USING btree (notice_due_at) WHERE (notice_due_at IS NOT NULL);

CREATE INDEX prices_by_load ON prices USING btree (load_id) WHERE (load_id IS NOT NULL);

CREATE INDEX prices_by_model ON prices USING btree (model, provider);

CREATE INDEX project_approvers_by_user ON project_approvers USING btree (user_id);

CREATE INDEX project_leads_by_user ON project_leads USING btree (user_id);

CREATE INDEX project_names_by_project ON project_names USING btree (project_id);

CREATE UNIQUE INDEX project_names_key ON project_names USING btree (project_id, kind) WHERE (kind <> 'alias'::text);

CREATE INDEX projects_by_client ON projects USING btree (client_id);

CREATE INDEX report_views_by_owner ON report_views USING btree (owner_id);

CREATE INDEX report_views_shared ON report_views USING btree (id) WHERE shared;

CREATE INDEX rollup_periods_by_state ON rollup_periods USING btree (state, level, starts_at);

CREATE INDEX rule_proposals_by_person ON rule_proposals USING btree (proposed_by);

CREATE INDEX rule_proposals_by_project ON rule_proposals USING btree (project_id);

CREATE INDEX share_links_by_bill ON share_links USING btree (bill_id);

CREATE INDEX share_links_by_creator ON share_links USING btree (created_by);

CREATE INDEX sheets_by_manager ON sheets USING btree (manager_id, starting_at);

CREATE INDEX sheets_by_status ON sheets USING btree (status, starting_at);

CREATE INDEX sign_ins_by_user ON sign_ins USING btree (user_id);

CREATE INDEX stale_hours_by_hour ON stale_hours USING btree (hour);

CREATE INDEX telemetry_sessions_by_email ON telemetry_sessions USING btree (email) WHERE (email IS NOT NULL);

CREATE INDEX telemetry_sessions_to_forget ON telemetry_sessions USING btree (remembers, last_seen_at);

CREATE INDEX ticket_assumptions_by_project ON ticket_assumptions USING btree (project_id, ticket_id) WHERE (project_id IS NOT NULL);

CREATE INDEX tickets_by_project ON tickets USING btree (project_id);

CREATE INDEX tokens_by_creator ON tokens USING btree (created_by);

CREATE INDEX user_emails_by_user ON user_emails USING btree (user_id);

CREATE UNIQUE INDEX viewer_grants_by_client ON viewer_grants USING btree (user_id, client_id) WHERE (client_id IS NOT NULL);

CREATE UNIQUE INDEX viewer_grants_by_project ON viewer_grants USING btree (user_id, project_id) WHERE (project_id IS NOT NULL);

CREATE INDEX viewer_grants_of_client ON viewer_grants USING btree (client_id);

CREATE INDEX viewer_grants_of_project ON viewer_grants USING btree (project_id);

CREATE INDEX webhook_deliveries_by_endpoint ON webhook_deliveries USING btree (endpoint_id, id);

CREATE INDEX webhook_deliveries_by_time ON webhook_deliveries USING btree (at);

CREATE INDEX webhook_endpoints_by_client ON webhook_endpoints USING btree (client_id);

CREATE INDEX webhook_endpoints_by_creator ON webhook_endpoints USING btree (created_by);

CREATE INDEX webhook_endpoints_by_owner ON webhook_endpoints USING btree (owner_id);

CREATE INDEX webhook_endpoints_by_owner_token ON webhook_endpoints USING btree (owner_token_id);

CREATE INDEX webhook_endpoints_by_project ON webhook_endpoints USING btree (project_id);

CREATE TRIGGER audit_deleted BEFORE DELETE ON audit FOR EACH ROW EXECUTE FUNCTION keep_audit();

CREATE TRIGGER audit_kept BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER audit_updated BEFORE UPDATE ON audit FOR EACH ROW EXECUTE FUNCTION keep_audit();

CREATE TRIGGER bill_payments_deleted BEFORE DELETE ON bill_payments FOR EACH ROW EXECUTE FUNCTION keep_payment();

CREATE TRIGGER bill_payments_updated BEFORE UPDATE ON bill_payments FOR EACH ROW EXECUTE FUNCTION keep_payment();

CREATE TRIGGER bills_deleted BEFORE DELETE ON bills FOR EACH ROW EXECUTE FUNCTION keep_bill();

CREATE TRIGGER bills_updated BEFORE UPDATE ON bills FOR EACH ROW EXECUTE FUNCTION keep_bill();

CREATE TRIGGER budget_periods_deleted AFTER DELETE ON budget_periods FOR EACH STATEMENT EXECUTE FUNCTION move_revision();

CREATE TRIGGER budget_periods_inserted AFTER INSERT ON budget_periods FOR EACH STATEMENT EXECUTE FUNCTION move_revision();

CREATE TRIGGER budgets_deleted AFTER DELETE ON budgets FOR EACH STATEMENT EXECUTE FUNCTION move_revision();

CREATE TRIGGER budgets_inserted AFTER INSERT ON budgets FOR EACH STATEMENT EXECUTE FUNCTION move_revision();

CREATE TRIGGER budgets_of_projects_deleted AFTER DELETE ON budgets FOR EACH ROW WHEN (old.of_project) EXECUTE FUNCTION lead_project_budget();

CREATE TRIGGER budgets_of_projects_inserted AFTER INSERT ON budgets FOR EACH ROW WHEN (new.of_project) EXECUTE FUNCTION lead_project_budget();

CREATE TRIGGER budgets_of_projects_replaced BEFORE INSERT ON budgets FOR EACH ROW WHEN (new.of_project) EXECUTE FUNCTION replace_project_budget();

CREATE TRIGGER budgets_of_projects_updated AFTER UPDATE OF amount ON budgets FOR EACH ROW WHEN ((new.of_project AND (old.amount <> new.amount))) EXECUTE FUNCTION lead_project_budget();

CREATE TRIGGER budgets_updated AFTER UPDATE ON budgets FOR EACH STATEMENT EXECUTE FUNCTION move_revision();

CREATE TRIGGER clients_budgeted AFTER UPDATE OF markup_ppm ON clients FOR EACH ROW EXECUTE FUNCTION budget_changed_markup();

CREATE TRIGGER deputies_deleted AFTER DELETE ON deputies FOR EACH STATEMENT EXECUTE FUNCTION move_revision();

CREATE TRIGGER deputies_inserted AFTER INSERT ON deputies FOR EACH STATEMENT EXECUTE FUNCTION move_revision();

CREATE TRIGGER entries_changes_deleted AFTER DELETE ON entries REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_deleted_entries();

CREATE TRIGGER entries_changes_inserted AFTER INSERT ON entries FOR EACH ROW WHEN ((new.source = 'sheet'::text)) EXECUTE FUNCTION note_draft();

CREATE TRIGGER entries_changes_updated AFTER UPDATE ON entries REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_changed_entries();

CREATE TRIGGER entries_deleted BEFORE DELETE ON entries FOR EACH ROW WHEN ((old.status <> 'draft'::text)) EXECUTE FUNCTION refuse_change();

CREATE TRIGGER entries_inserted_on_sheet BEFORE INSERT ON entries FOR EACH ROW WHEN ((new.sheet_id IS NOT NULL)) EXECUTE FUNCTION refuse_misfit_of_sheet();

CREATE TRIGGER entries_marked_deleted AFTER DELETE ON entries REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION mark_deleted_hours();

CREATE TRIGGER entries_marked_inserted AFTER INSERT ON entries REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION mark_inserted_hours();

CREATE TRIGGER entries_marked_updated AFTER UPDATE ON entries REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION mark_updated_hours();

CREATE TRIGGER entries_moved_on_sheet BEFORE UPDATE OF status, sheet_id, manager_id ON entries FOR EACH ROW WHEN (((new.sheet_id IS NOT NULL) OR (old.sheet_id IS NOT NULL))) EXECUTE FUNCTION refuse_misfit_of_sheet();

CREATE TRIGGER entry_history_deleted BEFORE DELETE ON entry_history FOR EACH ROW EXECUTE FUNCTION refuse_loss_of_history();

CREATE TRIGGER entry_history_kept BEFORE TRUNCATE ON entry_history FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TRIGGER entry_history_updated BEFORE UPDATE ON entry_history FOR EACH ROW EXECUTE FUNCTION keep_history();

CREATE TRIGGER events_announced BEFORE INSERT ON events FOR EACH STATEMENT EXECUTE FUNCTION announce_events();

CREATE TRIGGER organization_budgeted AFTER UPDATE OF markup_ppm ON organization FOR EACH ROW EXECUTE FUNCTION budget_changed_markup();

CREATE TRIGGER organization_updated AFTER UPDATE ON organization FOR EACH STATEMENT EXECUTE FUNCTION move_revision();

CREATE TRIGGER placement_rule_versions_inserted AFTER INSERT ON placement_rule_versions FOR EACH STATEMENT EXECUTE FUNCTION move_revision();

CREATE TRIGGER placement_rules_inserted AFTER INSERT ON placement_rules FOR EACH STATEMENT EXECUTE FUNCTION move_revision();

CREATE TRIGGER placement_rules_updated AFTER UPDATE ON placement_rules FOR EACH STATEMENT EXECUTE FUNCTION move_revision();

CREATE TRIGGER price_aliases_changed_owe_valuation AFTER UPDATE ON price_aliases FOR EACH STATEMENT EXECUTE FUNCTION owe_valuation();

CREATE TRIGGER price_aliases_deleted AFTER DELETE ON price_aliases FOR EACH STATEMENT EXECUTE FUNCTION move_revision();

CREATE TRIGGER price_aliases_inserted AFTER INSERT ON price_aliases FOR EACH STATEMENT EXECUTE FUNCTION move_revision();

CREATE TRIGGER price_aliases_owe_valuation AFTER INSERT ON price_aliases FOR EACH STATEMENT EXECUTE FUNCTION owe_valuation();

CREATE TRIGGER price_aliases_removed_owe_valuation AFTER DELETE ON price_aliases FOR EACH STATEMENT EXECUTE FUNCTION owe_valuation();

CREATE TRIGGER price_aliases_updated AFTER UPDATE ON price_aliases FOR EACH STATEMENT EXECUTE FUNCTION move_revision();

CREATE TRIGGER prices_changed_owe_valuation AFTER UPDATE OF withdrawn_at, effective_until ON prices FOR EACH STATEMENT EXECUTE FUNCTION owe_valuation();

CREATE TRIGGER prices_ended AFTER UPDATE OF effective_until ON prices FOR EACH STATEMENT EXECUTE FUNCTION move_revision();

CREATE TRIGGER prices_inserted AFTER INSERT ON prices FOR EACH STATEMENT EXECUTE FUNCTION move_revision();

CREATE TRIGGER prices_owe_valuation AFTER INSERT ON prices FOR EACH STATEMENT EXECUTE FUNCTION owe_valuation();

CREATE TRIGGER prices_withdrawn AFTER UPDATE OF withdrawn_at ON prices FOR EACH STATEMENT EXECUTE FUNCTION move_revision();

CREATE TRIGGER project_repositories_deleted AFTER DELETE ON project_repositories FOR EACH STATEMENT EXECUTE FUNCTION move_revision();

CREATE TRIGGER project_repositories_inserted AFTER INSERT ON project_repositories FOR EACH STATEMENT EXECUTE FUNCTION move_revision();

CREATE TRIGGER projects_budget_inserted AFTER INSERT ON projects FOR EACH ROW WHEN ((new.budget IS NOT NULL)) EXECUTE FUNCTION follow_project_budget();

CREATE TRIGGER projects_budget_updated AFTER UPDATE OF budget ON projects FOR EACH ROW WHEN ((old.budget IS DISTINCT FROM new.budget)) EXECUTE FUNCTION follow_project_budget();

CREATE TRIGGER projects_budgeted AFTER UPDATE OF client_id, markup_ppm, billable ON projects FOR EACH ROW EXECUTE FUNCTION budget_changed_project();

CREATE TRIGGER projects_budgeted_inserted AFTER INSERT ON projects FOR EACH ROW WHEN (((new.client_id IS NOT NULL) OR (new.markup_ppm IS NOT NULL) OR (NOT new.billable))) EXECUTE FUNCTION budget_inserted_project();

CREATE TRIGGER projects_updated AFTER UPDATE OF key, name, archived_at, merged_into_id ON projects FOR EACH STATEMENT EXECUTE FUNCTION move_revision();

CREATE TRIGGER sign_ins_ended AFTER UPDATE OF ended_at ON sign_ins FOR EACH STATEMENT EXECUTE FUNCTION move_revision();

CREATE TRIGGER tokens_deleted AFTER DELETE ON tokens FOR EACH STATEMENT EXECUTE FUNCTION move_revision();

CREATE TRIGGER tokens_inserted AFTER INSERT ON tokens FOR EACH STATEMENT EXECUTE FUNCTION move_revision();

CREATE TRIGGER tokens_updated AFTER UPDATE OF kind, hash, created_by, allow_bills, expires_at, revoked_at ON tokens FOR EACH STATEMENT EXECUTE FUNCTION move_revision();

CREATE TRIGGER user_emails_deleted AFTER DELETE ON user_emails FOR EACH STATEMENT EXECUTE FUNCTION move_revision();

CREATE TRIGGER user_emails_inserted AFTER INSERT ON user_emails FOR EACH STATEMENT EXECUTE FUNCTION move_revision();

CREATE TRIGGER users_deleted AFTER DELETE ON users FOR EACH STATEMENT EXECUTE FUNCTION move_revision();

CREATE TRIGGER users_inserted AFTER INSERT ON users FOR EACH STATEMENT EXECUTE FUNCTION move_revision();

CREATE TRIGGER users_updated AFTER UPDATE OF email, name, role, disabled_at ON users FOR EACH STATEMENT EXECUTE FUNCTION move_revision();

ALTER TABLE ONLY audit
    ADD CONSTRAINT audit_for_id_fkey FOREIGN KEY (for_id) REFERENCES users(id);

ALTER TABLE ONLY audit
    ADD CONSTRAINT audit_token_id_fkey FOREIGN KEY (token_id) REFERENCES tokens(id);

ALTER TABLE ONLY audit
    ADD CONSTRAINT audit_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

ALTER TABLE ONLY bill_deliveries
    ADD CONSTRAINT bill_deliveries_bill_id_fkey FOREIGN KEY (bill_id) REFERENCES bills(id);

ALTER TABLE ONLY bill_deliveries
    ADD CONSTRAINT bill_deliveries_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id);

ALTER TABLE ONLY bill_documents
    ADD CONSTRAINT bill_documents_bill_id_fkey FOREIGN KEY (bill_id) REFERENCES bills(id);

ALTER TABLE ONLY bill_drafts
    ADD CONSTRAINT bill_drafts_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id);

ALTER TABLE ONLY bill_drafts
    ADD CONSTRAINT bill_drafts_updated_by_fkey FOREIGN KEY (updated_by) REFERENCES users(id);

ALTER TABLE ONLY bill_entries
    ADD CONSTRAINT bill_entries_bill_id_fkey FOREIGN KEY (bill_id) REFERENCES bills(id);

ALTER TABLE ONLY bill_entries
    ADD CONSTRAINT bill_entries_entry_id_fkey FOREIGN KEY (entry_id) REFERENCES entries(id);

ALTER TABLE ONLY bill_keys
    ADD CONSTRAINT bill_keys_bill_id_fkey FOREIGN KEY (bill_id) REFERENCES bills(id);

ALTER TABLE ONLY bill_keys
    ADD CONSTRAINT bill_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

ALTER TABLE ONLY bill_payments
    ADD CONSTRAINT bill_payments_bill_id_fkey FOREIGN KEY (bill_id) REFERENCES bills(id);

ALTER TABLE ONLY bill_payments
    ADD CONSTRAINT bill_payments_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id);

ALTER TABLE ONLY bill_payments
    ADD CONSTRAINT bill_payments_offset_id_fkey FOREIGN KEY (offset_id) REFERENCES bills(id);

ALTER TABLE ONLY bill_payments
    ADD CONSTRAINT bill_payments_reversed_by_fkey FOREIGN KEY (reversed_by) REFERENCES users(id);

ALTER TABLE ONLY billing_lease
    ADD CONSTRAINT billing_lease_bill_id_fkey FOREIGN KEY (bill_id) REFERENCES bills(id);

ALTER TABLE ONLY bills
    ADD CONSTRAINT bills_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id);

ALTER TABLE ONLY bills
    ADD CONSTRAINT bills_corrects_id_fkey FOREIGN KEY (corrects_id) REFERENCES bills(id);

ALTER TABLE ONLY bills
    ADD CONSTRAINT bills_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id);

ALTER TABLE ONLY bills
    ADD CONSTRAINT bills_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id);

ALTER TABLE ONLY bills
    ADD CONSTRAINT bills_released_by_id_fkey FOREIGN KEY (released_by_id) REFERENCES bills(id);

ALTER TABLE ONLY bills
    ADD CONSTRAINT bills_replaces_id_fkey FOREIGN KEY (replaces_id) REFERENCES bills(id);

ALTER TABLE ONLY budget_alerts
    ADD CONSTRAINT budget_alerts_budget_id_fkey FOREIGN KEY (budget_id) REFERENCES budgets(id) ON DELETE CASCADE;

ALTER TABLE ONLY budget_periods
    ADD CONSTRAINT budget_periods_budget_id_fkey FOREIGN KEY (budget_id) REFERENCES budgets(id) ON DELETE CASCADE;

ALTER TABLE ONLY budgets
    ADD CONSTRAINT budgets_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id) ON DELETE CASCADE;

ALTER TABLE ONLY budgets
    ADD CONSTRAINT budgets_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id);

ALTER TABLE ONLY budgets
    ADD CONSTRAINT budgets_manager_id_fkey FOREIGN KEY (manager_id) REFERENCES users(id);

ALTER TABLE ONLY budgets
    ADD CONSTRAINT budgets_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id) ON DELETE CASCADE;

ALTER TABLE ONLY budgets
    ADD CONSTRAINT budgets_ticket_id_fkey FOREIGN KEY (ticket_id) REFERENCES tickets(id) ON DELETE CASCADE;

ALTER TABLE ONLY client_approvers
    ADD CONSTRAINT client_approvers_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id);

ALTER TABLE ONLY client_approvers
    ADD CONSTRAINT client_approvers_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

ALTER TABLE ONLY client_leads
    ADD CONSTRAINT client_leads_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id);

ALTER TABLE ONLY client_leads
    ADD CONSTRAINT client_leads_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

ALTER TABLE ONLY deputies
    ADD CONSTRAINT deputies_deputy_id_fkey FOREIGN KEY (deputy_id) REFERENCES users(id);

ALTER TABLE ONLY deputies
    ADD CONSTRAINT deputies_person_id_fkey FOREIGN KEY (person_id) REFERENCES users(id);

ALTER TABLE ONLY entries
    ADD CONSTRAINT entries_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES names(id);

ALTER TABLE ONLY entries
    ADD CONSTRAINT entries_bill_id_fkey FOREIGN KEY (bill_id) REFERENCES bills(id);

ALTER TABLE ONLY entries
    ADD CONSTRAINT entries_chain_model_id_fkey FOREIGN KEY (chain_model_id) REFERENCES names(id);

ALTER TABLE ONLY entries
    ADD CONSTRAINT entries_continues_id_fkey FOREIGN KEY (continues_id) REFERENCES entries(id);

ALTER TABLE ONLY entries
    ADD CONSTRAINT entries_divided_from_id_fkey FOREIGN KEY (divided_from_id) REFERENCES entries(id);

ALTER TABLE ONLY entries
    ADD CONSTRAINT entries_harness_id_fkey FOREIGN KEY (harness_id) REFERENCES names(id);

ALTER TABLE ONLY entries
    ADD CONSTRAINT entries_label_set_id_fkey FOREIGN KEY (label_set_id) REFERENCES label_sets(id);

ALTER TABLE ONLY entries
    ADD CONSTRAINT entries_manager_id_fkey FOREIGN KEY (manager_id) REFERENCES users(id);

ALTER TABLE ONLY entries
    ADD CONSTRAINT entries_model_id_fkey FOREIGN KEY (model_id) REFERENCES names(id);

ALTER TABLE ONLY entries
    ADD CONSTRAINT entries_possible_duplicate_id_fkey FOREIGN KEY (possible_duplicate_id) REFERENCES entries(id);

ALTER TABLE ONLY entries
    ADD CONSTRAINT entries_price_id_fkey FOREIGN KEY (price_id) REFERENCES prices(id);

ALTER TABLE ONLY entries
    ADD CONSTRAINT entries_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id);

ALTER TABLE ONLY entries
    ADD CONSTRAINT entries_provider_id_fkey FOREIGN KEY (provider_id) REFERENCES names(id);

ALTER TABLE ONLY entries
    ADD CONSTRAINT entries_rule_version_id_fkey FOREIGN KEY (rule_version_id) REFERENCES placement_rule_versions(id);

ALTER TABLE ONLY entries
    ADD CONSTRAINT entries_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id);

ALTER TABLE ONLY entries
    ADD CONSTRAINT entries_sheet_id_fkey FOREIGN KEY (sheet_id) REFERENCES sheets(id);

ALTER TABLE ONLY entries
    ADD CONSTRAINT entries_ticket_id_fkey FOREIGN KEY (ticket_id) REFERENCES tickets(id);

ALTER TABLE ONLY entries
    ADD CONSTRAINT entries_token_id_fkey FOREIGN KEY (token_id) REFERENCES tokens(id);

ALTER TABLE ONLY entry_history
    ADD CONSTRAINT entry_history_entry_id_fkey FOREIGN KEY (entry_id) REFERENCES entries(id);

ALTER TABLE ONLY entry_history
    ADD CONSTRAINT entry_history_token_id_fkey FOREIGN KEY (token_id) REFERENCES tokens(id);

ALTER TABLE ONLY entry_history
    ADD CONSTRAINT entry_history_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

ALTER TABLE ONLY erasures
    ADD CONSTRAINT erasures_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

ALTER TABLE ONLY idempotency_keys
    ADD CONSTRAINT idempotency_keys_entry_id_fkey FOREIGN KEY (entry_id) REFERENCES entries(id);

ALTER TABLE ONLY idempotency_keys
    ADD CONSTRAINT idempotency_keys_manager_id_fkey FOREIGN KEY (manager_id) REFERENCES users(id);

ALTER TABLE ONLY label_pairs
    ADD CONSTRAINT label_pairs_label_set_id_fkey FOREIGN KEY (label_set_id) REFERENCES label_sets(id);

ALTER TABLE ONLY names
    ADD CONSTRAINT names_canonical_id_fkey FOREIGN KEY (canonical_id) REFERENCES names(id);

ALTER TABLE ONLY notifications
    ADD CONSTRAINT notifications_email_id_fkey FOREIGN KEY (email_id) REFERENCES notification_emails(id);

ALTER TABLE ONLY notifications
    ADD CONSTRAINT notifications_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

ALTER TABLE ONLY one_time_links
    ADD CONSTRAINT one_time_links_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

ALTER TABLE ONLY placement_rule_versions
    ADD CONSTRAINT placement_rule_versions_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id);

ALTER TABLE ONLY placement_rule_versions
    ADD CONSTRAINT placement_rule_versions_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id);

ALTER TABLE ONLY placement_rule_versions
    ADD CONSTRAINT placement_rule_versions_rule_id_fkey FOREIGN KEY (rule_id) REFERENCES placement_rules(id);

ALTER TABLE ONLY preferences
    ADD CONSTRAINT preferences_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

ALTER TABLE ONLY price_aliases
    ADD CONSTRAINT price_aliases_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id);

ALTER TABLE ONLY price_aliases
    ADD CONSTRAINT price_aliases_load_id_fkey FOREIGN KEY (load_id) REFERENCES price_loads(id);

ALTER TABLE ONLY price_loads
    ADD CONSTRAINT price_loads_loaded_by_fkey FOREIGN KEY (loaded_by) REFERENCES users(id);

ALTER TABLE ONLY price_loads
    ADD CONSTRAINT price_loads_undone_by_fkey FOREIGN KEY (undone_by) REFERENCES users(id);

ALTER TABLE ONLY prices
    ADD CONSTRAINT prices_load_id_fkey FOREIGN KEY (load_id) REFERENCES price_loads(id);

ALTER TABLE ONLY prices
    ADD CONSTRAINT prices_loaded_by_fkey FOREIGN KEY (loaded_by) REFERENCES users(id);

ALTER TABLE ONLY project_approvers
    ADD CONSTRAINT project_approvers_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id);

ALTER TABLE ONLY project_approvers
    ADD CONSTRAINT project_approvers_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

ALTER TABLE ONLY project_leads
    ADD CONSTRAINT project_leads_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id);

ALTER TABLE ONLY project_leads
    ADD CONSTRAINT project_leads_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

ALTER TABLE ONLY project_names
    ADD CONSTRAINT project_names_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id);

ALTER TABLE ONLY project_repositories
    ADD CONSTRAINT project_repositories_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id);

ALTER TABLE ONLY projects
    ADD CONSTRAINT projects_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id);

ALTER TABLE ONLY projects
    ADD CONSTRAINT projects_merged_into_id_fkey FOREIGN KEY (merged_into_id) REFERENCES projects(id);

ALTER TABLE ONLY report_views
    ADD CONSTRAINT report_views_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES users(id);

ALTER TABLE ONLY rule_proposals
    ADD CONSTRAINT rule_proposals_decided_by_fkey FOREIGN KEY (decided_by) REFERENCES users(id);

ALTER TABLE ONLY rule_proposals
    ADD CONSTRAINT rule_proposals_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id);

ALTER TABLE ONLY rule_proposals
    ADD CONSTRAINT rule_proposals_proposed_by_fkey FOREIGN KEY (proposed_by) REFERENCES users(id);

ALTER TABLE ONLY rule_proposals
    ADD CONSTRAINT rule_proposals_rule_id_fkey FOREIGN KEY (rule_id) REFERENCES placement_rules(id);

ALTER TABLE ONLY session_sources
    ADD CONSTRAINT session_sources_chain_model_id_fkey FOREIGN KEY (chain_model_id) REFERENCES names(id);

ALTER TABLE ONLY session_sources
    ADD CONSTRAINT session_sources_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id);

ALTER TABLE ONLY sessions
    ADD CONSTRAINT sessions_harness_id_fkey FOREIGN KEY (harness_id) REFERENCES names(id);

ALTER TABLE ONLY sessions
    ADD CONSTRAINT sessions_manager_id_fkey FOREIGN KEY (manager_id) REFERENCES users(id);

ALTER TABLE ONLY share_links
    ADD CONSTRAINT share_links_bill_id_fkey FOREIGN KEY (bill_id) REFERENCES bills(id);

ALTER TABLE ONLY share_links
    ADD CONSTRAINT share_links_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id);

ALTER TABLE ONLY sheets
    ADD CONSTRAINT sheets_decided_by_fkey FOREIGN KEY (decided_by) REFERENCES users(id);

ALTER TABLE ONLY sheets
    ADD CONSTRAINT sheets_manager_id_fkey FOREIGN KEY (manager_id) REFERENCES users(id);

ALTER TABLE ONLY sign_ins
    ADD CONSTRAINT sign_ins_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

ALTER TABLE ONLY telemetry_pushes
    ADD CONSTRAINT telemetry_pushes_token_id_fkey FOREIGN KEY (token_id) REFERENCES tokens(id);

ALTER TABLE ONLY telemetry_seen
    ADD CONSTRAINT telemetry_seen_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id);

ALTER TABLE ONLY telemetry_sessions
    ADD CONSTRAINT telemetry_sessions_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id);

ALTER TABLE ONLY telemetry_streams
    ADD CONSTRAINT telemetry_streams_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id);

ALTER TABLE ONLY telemetry_totals
    ADD CONSTRAINT telemetry_totals_chain_model_id_fkey FOREIGN KEY (chain_model_id) REFERENCES names(id);

ALTER TABLE ONLY telemetry_totals
    ADD CONSTRAINT telemetry_totals_session_id_fkey FOREIGN KEY (session_id) REFERENCES sessions(id);

ALTER TABLE ONLY ticket_assumptions
    ADD CONSTRAINT ticket_assumptions_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id);

ALTER TABLE ONLY ticket_assumptions
    ADD CONSTRAINT ticket_assumptions_ticket_id_fkey FOREIGN KEY (ticket_id) REFERENCES tickets(id);

ALTER TABLE ONLY ticket_assumptions
    ADD CONSTRAINT ticket_assumptions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

ALTER TABLE ONLY tickets
    ADD CONSTRAINT tickets_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id);

ALTER TABLE ONLY token_calls
    ADD CONSTRAINT token_calls_token_id_fkey FOREIGN KEY (token_id) REFERENCES tokens(id);

ALTER TABLE ONLY tokens
    ADD CONSTRAINT tokens_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id);

ALTER TABLE ONLY user_emails
    ADD CONSTRAINT user_emails_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

ALTER TABLE ONLY viewer_grants
    ADD CONSTRAINT viewer_grants_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id);

ALTER TABLE ONLY viewer_grants
    ADD CONSTRAINT viewer_grants_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id);

ALTER TABLE ONLY viewer_grants
    ADD CONSTRAINT viewer_grants_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id);

ALTER TABLE ONLY webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoints(id);

ALTER TABLE ONLY webhook_endpoints
    ADD CONSTRAINT webhook_endpoints_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id);

ALTER TABLE ONLY webhook_endpoints
    ADD CONSTRAINT webhook_endpoints_created_by_fkey FOREIGN KEY (created_by) REFERENCES users(id);

ALTER TABLE ONLY webhook_endpoints
    ADD CONSTRAINT webhook_endpoints_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES users(id);

ALTER TABLE ONLY webhook_endpoints
    ADD CONSTRAINT webhook_endpoints_owner_token_id_fkey FOREIGN KEY (owner_token_id) REFERENCES tokens(id);

ALTER TABLE ONLY webhook_endpoints
    ADD CONSTRAINT webhook_endpoints_project_id_fkey FOREIGN KEY (project_id) REFERENCES projects(id);

INSERT INTO database_identity (id, signing_key)
VALUES (1, sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())));

INSERT INTO backup_timeline (id, timeline) VALUES (1, left(gen_random_uuid()::text, 8));
