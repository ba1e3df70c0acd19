-- Whether rules that leads propose take effect without an admin.
ALTER TABLE organization ADD COLUMN lead_rules boolean NOT NULL DEFAULT false;

-- Of a rule that a lead made without an admin, the repository to whose entries it is limited. It comes after all others.
ALTER TABLE placement_rules ADD COLUMN lead_repository text COLLATE "C";

-- Such a rule is skipped while the repository is not one of the project's.
CREATE TRIGGER project_repositories_inserted AFTER INSERT ON project_repositories EXECUTE FUNCTION move_revision();
CREATE TRIGGER project_repositories_deleted AFTER DELETE ON project_repositories EXECUTE FUNCTION move_revision();
