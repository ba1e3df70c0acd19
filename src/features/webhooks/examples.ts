/** Requests and responses of webhooks, for the OpenAPI document. */
import type { CreatedWebhook, NewWebhook, WebhookBody, WebhookDelivery } from './schema.ts'

export const EXAMPLE_NEW_WEBHOOK: NewWebhook = {
  name: 'Billing bot',
  url: 'https://hooks.example.com/tally',
  types: ['bill.*', 'backup.failed'],
}

export const EXAMPLE_WEBHOOK: WebhookBody = {
  id: 'whk_01a1fa172a0277f3983322718874f2ea',
  name: 'Billing bot',
  url: 'https://hooks.example.com/tally',
  format: 'standard',
  types: ['bill.*', 'backup.failed'],
  client: null,
  project: null,
  state: 'active',
  disabled_at: null,
  disabled_reason: null,
  suspended_at: null,
  suspended_reason: null,
  failing_since: null,
  next_attempt_at: null,
  last_delivery: { at: '2026-11-20T17:53:04.000Z', delivered: true, status: 200, error: null },
  previous_secret_until: null,
  created_by: { id: 'usr_01a1fa172a0277f3983322718874f2e0', name: 'Ada' },
  created_at: '2026-11-20T17:53:04.000Z',
  owner: { user: { id: 'usr_01a1fa172a0277f3983322718874f2e0', name: 'Ada' }, token: null },
}

export const EXAMPLE_CREATED_WEBHOOK: CreatedWebhook = {
  ...EXAMPLE_WEBHOOK,
  last_delivery: null,
  secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
}

export const EXAMPLE_DELIVERY: WebhookDelivery = {
  event: 'evt_184467',
  type: 'bill.sent',
  kind: 'event',
  attempt: 1,
  at: '2026-11-20T17:53:04.000Z',
  delivered: false,
  status: 503,
  latency_ms: 231,
  error: 'The endpoint returned 503.',
  body: '{"id":"evt_184467","type":"bill.sent"}',
  response: 'Service unavailable',
  hidden: false,
}

export const EXAMPLE_TEST_DELIVERY: WebhookDelivery = {
  ...EXAMPLE_DELIVERY,
  event: null,
  type: 'webhook.test',
  kind: 'test',
  delivered: true,
  status: 200,
  error: null,
  body: '{"type":"webhook.test"}',
  response: 'ok',
}
