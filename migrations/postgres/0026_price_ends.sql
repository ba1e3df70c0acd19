-- Until when a price applies, exclusively; null if it has no end.
ALTER TABLE prices ADD COLUMN effective_until bigint;
CREATE TRIGGER prices_ended AFTER UPDATE OF effective_until ON prices EXECUTE FUNCTION move_revision();
