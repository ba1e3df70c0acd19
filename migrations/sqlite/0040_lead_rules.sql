-- Whether rules that leads propose take effect without an admin.
ALTER TABLE organization ADD COLUMN lead_rules INTEGER NOT NULL DEFAULT 0 CHECK (lead_rules IN (0, 1));

-- Of a rule that a lead made without an admin, the repository to whose entries it is limited. It comes after all others.
ALTER TABLE placement_rules ADD COLUMN lead_repository TEXT;

-- Such a rule is skipped while the repository is not one of the project's.
CREATE TRIGGER project_repositories_inserted AFTER INSERT ON project_repositories
BEGIN
  UPDATE revision SET value = value + 1;
END;
CREATE TRIGGER project_repositories_deleted AFTER DELETE ON project_repositories
BEGIN
  UPDATE revision SET value = value + 1;
END;
