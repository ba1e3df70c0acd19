-- Whose rights a webhook has: those of a person, or of one of their API tokens. NULL for the command line of the server.
ALTER TABLE webhook_endpoints ADD COLUMN owner_id INTEGER REFERENCES users (id);
ALTER TABLE webhook_endpoints ADD COLUMN owner_token_id INTEGER REFERENCES tokens (id)
  CHECK (owner_token_id IS NULL OR owner_id IS NOT NULL);
-- Since when its events wait, because its owner may not be sent them any more.
ALTER TABLE webhook_endpoints ADD COLUMN suspended_at INTEGER;
ALTER TABLE webhook_endpoints ADD COLUMN suspended_reason TEXT
  CHECK (suspended_reason IN ('owner_disabled', 'owner_role', 'token_revoked', 'token_expired', 'token_scopes', 'api_tokens_off'))
  CHECK ((suspended_at IS NULL) = (suspended_reason IS NULL));
CREATE INDEX webhook_endpoints_by_owner ON webhook_endpoints (owner_id);
CREATE INDEX webhook_endpoints_by_owner_token ON webhook_endpoints (owner_token_id);

-- Who added one is in the audit log. A person whom the command line named with --as decides nothing there.
UPDATE webhook_endpoints SET
  owner_id = created_by,
  owner_token_id = (
    SELECT token_id FROM audit WHERE action = 'webhook.added' AND object_id = 'whk_' || lower(hex(uid)) ORDER BY id LIMIT 1
  )
WHERE created_by IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM audit
  WHERE action = 'webhook.added' AND object_id = 'whk_' || lower(hex(uid)) AND origin LIKE 'command line of %'
);
