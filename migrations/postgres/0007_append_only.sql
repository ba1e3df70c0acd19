-- What was done is only ever added to, also past the triggers on UPDATE and DELETE: each engine has one statement that
-- does not ask them. Here it is TRUNCATE.
CREATE TRIGGER audit_kept BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER entry_history_kept BEFORE TRUNCATE ON entry_history FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
