-- What was done is only ever added to, also past the triggers on UPDATE and DELETE: each engine has one statement that
-- does not ask them. Here it is INSERT OR REPLACE, so that a key that is taken is refused.
CREATE TRIGGER audit_kept BEFORE INSERT ON audit WHEN EXISTS (SELECT 1 FROM audit WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'audit rows are kept as they are'); END;
CREATE TRIGGER entry_history_kept BEFORE INSERT ON entry_history
WHEN EXISTS (SELECT 1 FROM entry_history WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'history rows are kept as they are'); END;
