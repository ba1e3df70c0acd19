-- What one person says places and changes that person's entries only.

-- Whether an organization token brought the session and nothing has said yet whose it is: its manager is the creator
-- of that token until a service token reports the session, or an administrator assigns it.
ALTER TABLE sessions ADD COLUMN unidentified boolean NOT NULL DEFAULT false;
UPDATE sessions SET unidentified = true
WHERE manager_by = 'token' AND source <> 'report'
  AND NOT EXISTS (SELECT 1 FROM session_sources s WHERE s.session_id = sessions.id AND s.source = 'report')
  AND EXISTS (
    SELECT 1 FROM entries e JOIN tokens t ON t.id = e.token_id WHERE e.session_id = sessions.id AND t.kind = 'org'
  )
  AND NOT EXISTS (
    SELECT 1 FROM entries e JOIN tokens t ON t.id = e.token_id WHERE e.session_id = sessions.id AND t.kind <> 'org'
  );

-- Whether an organization token's telemetry that identified nobody has joined it: what comes later stays with it, also
-- where somebody else uses the same id meanwhile.
ALTER TABLE sessions ADD COLUMN by_organization boolean NOT NULL DEFAULT false;
UPDATE sessions SET by_organization = true
WHERE EXISTS (SELECT 1 FROM telemetry_sessions s WHERE s.session_id = sessions.id);

-- project_id: from now on the project that somebody who manages tickets decided on, which binds everybody's entries.
-- reported: reports named the ticket, and nobody who manages tickets has confirmed that there is one.
ALTER TABLE tickets ADD COLUMN reported boolean NOT NULL DEFAULT false;

-- Where each person's reports put a ticket whose project is not decided; NULL where they found no project.
CREATE TABLE ticket_assumptions (
  ticket_id bigint NOT NULL REFERENCES tickets (id),
  user_id bigint NOT NULL REFERENCES users (id),
  project_id bigint REFERENCES projects (id),
  PRIMARY KEY (ticket_id, user_id)
);
CREATE INDEX ticket_assumptions_by_project ON ticket_assumptions (project_id, ticket_id) WHERE project_id IS NOT NULL;

-- Until now the first report decided for everybody. What people with the right did stays a decision: what the audit log
-- has, and what billing, an administrator or the command line placed by hand. Else it was the word of the person whose
-- report gave the ticket its project, and binds that person's reports only: others may never have meant it.
CREATE TABLE ticket_words AS
SELECT t.id AS ticket_id,
  EXISTS (
    SELECT 1 FROM audit a
    WHERE a.object_id = 'tkt_' || encode(t.uid, 'hex') AND a.action IN ('ticket.added', 'ticket.changed')
  ) OR EXISTS (
    SELECT 1 FROM entries e JOIN entry_history h ON h.entry_id = e.id LEFT JOIN users u ON u.id = h.user_id
    WHERE e.ticket_id = t.id AND h.details LIKE '%"because":"ticket_found_project"%'
      AND h.token_id IS NULL AND (h.user_id IS NULL OR u.role <> 'member')
  ) AS decided,
  coalesce(
    (
      SELECT min(h.user_id) FROM entries e JOIN entry_history h ON h.entry_id = e.id
      WHERE e.ticket_id = t.id AND h.details LIKE '%"because":"ticket_found_project"%'
    ),
    (SELECT e.manager_id FROM entries e WHERE e.id = (SELECT min(f.id) FROM entries f WHERE f.ticket_id = t.id))
  ) AS user_id
FROM tickets t WHERE t.project_id IS NOT NULL;
INSERT INTO ticket_assumptions (ticket_id, user_id, project_id)
SELECT t.id, w.user_id, t.project_id FROM tickets t JOIN ticket_words w ON w.ticket_id = t.id
WHERE NOT w.decided AND w.user_id IS NOT NULL;
INSERT INTO ticket_assumptions (ticket_id, user_id, project_id)
SELECT DISTINCT e.ticket_id, e.manager_id, CAST(NULL AS bigint)
FROM entries e JOIN tickets t ON t.id = e.ticket_id WHERE t.project_id IS NULL;
UPDATE tickets SET project_id = NULL
WHERE project_id IS NOT NULL AND EXISTS (SELECT 1 FROM ticket_assumptions a WHERE a.ticket_id = tickets.id);
DROP TABLE ticket_words;

-- What reports named and could not be used, by which an alias is compared with what others have named.
CREATE INDEX entries_by_named_project ON entries (named_project) WHERE named_project IS NOT NULL;
