-- How fees are shared, and which periods are to be calculated.

-- Whether all people share the fee and the allowance of all seats.
ALTER TABLE plan_versions ADD COLUMN pooled INTEGER NOT NULL DEFAULT 0 CHECK (pooled IN (0, 1));
ALTER TABLE plan_versions ADD COLUMN weight TEXT NOT NULL DEFAULT 'list_value' CHECK (
  weight = 'list_value' OR weight = 'tokens' OR weight = 'active_time' OR weight = 'active_days');

-- Grows with each change since the last calculation; that many are subtracted when one that has seen them is done.
ALTER TABLE plan_periods ADD COLUMN changes INTEGER NOT NULL DEFAULT 0;
-- The calculation that is being written, and until when nobody else begins one.
ALTER TABLE plan_periods ADD COLUMN building_id INTEGER;
ALTER TABLE plan_periods ADD COLUMN building_until INTEGER;
-- Of a closed period: for how many persons, projects and tickets shares and corrections differ from what they should be.
ALTER TABLE plan_periods ADD COLUMN unsettled INTEGER NOT NULL DEFAULT 0;

CREATE TRIGGER plans_change_shares AFTER UPDATE OF ends_on, end_prorates ON plans BEGIN
  UPDATE plan_periods SET changes = changes + 1 WHERE plan_id = NEW.id;
END;
CREATE TRIGGER plan_versions_inserted_change_shares AFTER INSERT ON plan_versions BEGIN
  UPDATE plan_periods SET changes = changes + 1 WHERE plan_id = NEW.plan_id;
END;
CREATE TRIGGER plan_versions_updated_change_shares AFTER UPDATE ON plan_versions BEGIN
  UPDATE plan_periods SET changes = changes + 1 WHERE plan_id = NEW.plan_id;
END;
CREATE TRIGGER plan_versions_deleted_change_shares AFTER DELETE ON plan_versions BEGIN
  UPDATE plan_periods SET changes = changes + 1 WHERE plan_id = OLD.plan_id;
END;
CREATE TRIGGER organization_changes_shares AFTER UPDATE OF time_zone ON organization
WHEN OLD.time_zone <> NEW.time_zone
BEGIN
  UPDATE plan_periods SET changes = changes + 1;
END;
