-- The same as ../sqlite/0033_budget_recounts.sql, whose comments hold here too.

ALTER TABLE budget_periods ADD COLUMN recount_at bigint;
UPDATE budget_periods SET recount_at = counted_at;

CREATE OR REPLACE FUNCTION follow_project_budget() RETURNS trigger LANGUAGE plpgsql AS $$
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
