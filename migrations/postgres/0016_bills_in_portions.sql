-- The entries of a large bill are claimed, and those of a voided one released, in several short transactions.

-- A bill is being prepared until it is sent. Until then its public id is in the place of its number, and its document is
-- empty.
ALTER TABLE bills DROP CONSTRAINT bills_state_check;
ALTER TABLE bills ADD CONSTRAINT bills_state_check CHECK (state IN ('preparing', 'sent', 'paid', 'void'));

-- A sent bill is never edited: only its state moves, from sent to paid or void. One that is being prepared has not been
-- sent to anybody.
CREATE OR REPLACE FUNCTION keep_bill() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.state = 'preparing' THEN
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
  END IF;
  IF TG_OP = 'DELETE' OR OLD.state <> 'sent' OR NEW.state = 'preparing' OR NEW.number <> OLD.number
    OR NEW.document <> OLD.document OR NEW.total <> OLD.total
  THEN
    RAISE EXCEPTION 'a bill is kept as it was sent' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END
$$;

-- The bill whose entries are being claimed or released, at most one at a time, and until when the process that does it
-- may rely on being the only one. The version grows when a process takes or returns the lease.
CREATE TABLE billing_lease (
  id bigint PRIMARY KEY CHECK (id = 1),
  version bigint NOT NULL,
  bill_id bigint REFERENCES bills (id),
  expires_at bigint CHECK ((expires_at IS NULL) = (bill_id IS NULL))
);
INSERT INTO billing_lease VALUES (1, 0, NULL, NULL);
