-- Until when a price applies, exclusively; null if it has no end.
ALTER TABLE prices ADD COLUMN effective_until INTEGER;
CREATE TRIGGER prices_ended AFTER UPDATE OF effective_until ON prices BEGIN UPDATE revision SET value = value + 1; END;
