-- The same as ../sqlite/0059_allocation.sql.

ALTER TABLE plan_versions ADD COLUMN pooled boolean NOT NULL DEFAULT false;
ALTER TABLE plan_versions ADD COLUMN weight text COLLATE "C" NOT NULL DEFAULT 'list_value' CHECK (
  weight IN ('list_value', 'tokens', 'active_time', 'active_days'));

ALTER TABLE plan_periods ADD COLUMN changes bigint NOT NULL DEFAULT 0;
ALTER TABLE plan_periods ADD COLUMN building_id bigint;
ALTER TABLE plan_periods ADD COLUMN building_until bigint;
ALTER TABLE plan_periods ADD COLUMN unsettled bigint NOT NULL DEFAULT 0;

CREATE FUNCTION change_shares_of_plan() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE plan_periods SET changes = changes + 1 WHERE plan_id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER plans_change_shares AFTER UPDATE OF ends_on, end_prorates ON plans
  FOR EACH ROW EXECUTE FUNCTION change_shares_of_plan();

CREATE FUNCTION change_shares_of_version() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE plan_periods SET changes = changes + 1
  WHERE plan_id = CASE WHEN TG_OP = 'DELETE' THEN OLD.plan_id ELSE NEW.plan_id END;
  RETURN NULL;
END $$;
CREATE TRIGGER plan_versions_inserted_change_shares AFTER INSERT ON plan_versions
  FOR EACH ROW EXECUTE FUNCTION change_shares_of_version();
CREATE TRIGGER plan_versions_updated_change_shares AFTER UPDATE ON plan_versions
  FOR EACH ROW EXECUTE FUNCTION change_shares_of_version();
CREATE TRIGGER plan_versions_deleted_change_shares AFTER DELETE ON plan_versions
  FOR EACH ROW EXECUTE FUNCTION change_shares_of_version();

CREATE FUNCTION change_all_shares() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  UPDATE plan_periods SET changes = changes + 1;
  RETURN NULL;
END $$;
CREATE TRIGGER organization_changes_shares AFTER UPDATE OF time_zone ON organization
  FOR EACH ROW WHEN (OLD.time_zone <> NEW.time_zone) EXECUTE FUNCTION change_all_shares();
