-- Whose rights a webhook has: those of a person, or of one of their API tokens. NULL for the command line of the server.
ALTER TABLE webhook_endpoints ADD COLUMN owner_id bigint REFERENCES users (id);
ALTER TABLE webhook_endpoints ADD COLUMN owner_token_id bigint REFERENCES tokens (id)
  CHECK (owner_token_id IS NULL OR owner_id IS NOT NULL);
-- Since when its events wait, because its owner may not be sent them any more.
ALTER TABLE webhook_endpoints ADD COLUMN suspended_at bigint;
ALTER TABLE webhook_endpoints ADD COLUMN suspended_reason text COLLATE "C"
  CHECK (suspended_reason IN ('owner_disabled', 'owner_role', 'token_revoked', 'token_expired', 'token_scopes', 'api_tokens_off'))
  CHECK ((suspended_at IS NULL) = (suspended_reason IS NULL));
CREATE INDEX webhook_endpoints_by_owner ON webhook_endpoints (owner_id);
CREATE INDEX webhook_endpoints_by_owner_token ON webhook_endpoints (owner_token_id);

-- Whoever added one or last changed its address, by the audit log: a person whom the command line named with --as decides
-- nothing there. Where retention has removed these records, the person who added it.
UPDATE webhook_endpoints SET owner_id = created_by;
UPDATE webhook_endpoints SET (owner_id, owner_token_id) = (
  SELECT CASE WHEN origin LIKE 'command line of %' THEN NULL ELSE user_id END, token_id FROM audit
  WHERE object_id = 'whk_' || encode(uid, 'hex')
    AND (action = 'webhook.added' OR (action = 'webhook.changed' AND after::json ->> 'url' IS NOT NULL))
  ORDER BY id DESC LIMIT 1
)
WHERE EXISTS (
  SELECT 1 FROM audit
  WHERE object_id = 'whk_' || encode(uid, 'hex')
    AND (action = 'webhook.added' OR (action = 'webhook.changed' AND after::json ->> 'url' IS NOT NULL))
);
