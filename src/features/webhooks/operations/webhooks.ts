import { type Call, operation, result, several } from '../../../operations/operation.ts'
import { flagParameter, paging } from '../../../operations/parameters.ts'
import { readListPage } from '../../../schema/query.ts'
import {
  EXAMPLE_CREATED_WEBHOOK,
  EXAMPLE_DELIVERY,
  EXAMPLE_NEW_WEBHOOK,
  EXAMPLE_TEST_DELIVERY,
  EXAMPLE_WEBHOOK,
} from '../examples.ts'
import { readWebhookList } from '../query.ts'
import type { Manager } from '../rights.ts'
import {
  CreatedWebhook,
  NewWebhook,
  ResendSince,
  SecretRotation,
  WebhookBody,
  WebhookChange,
  WebhookDelivery,
  WebhookDeliveryList,
  WebhookEnabling,
  WebhookList,
} from '../schema.ts'
import type { WebhooksService } from '../service.ts'

interface Needs {
  webhooks: WebhooksService
}

/** For admins: who reads every event of a type, and where it is sent, is nothing that members decide. */
const managing = { tag: 'Webhooks', allow: { session: ['admin'] }, scope: 'webhooks:manage' } as const

const params = { id: 'Id of the webhook (whk_…).' }
const one = { object: 'whk', params } as const

const WEBHOOK = result('The webhook.', WebhookBody, EXAMPLE_WEBHOOK)

const managerOf = ({ principal, party }: Pick<Call, 'principal' | 'party'>): Manager => ({ principal, by: party.by })

export const listWebhooks = operation({
  ...managing,
  id: 'listWebhooks',
  method: 'GET',
  path: '/webhooks',
  summary: 'List webhooks',
  description: 'Newest first.',
  query: {
    failing: flagParameter(
      'Only webhooks that fail, are suspended, or were disabled because they failed; or only others.',
    ),
    ...paging('Webhooks'),
  },
  answer: several('A page of webhooks.', WebhookList, EXAMPLE_WEBHOOK),
  run: ({ webhooks }: Needs, { query }) => webhooks.listWebhooks(readWebhookList(query)),
})

export const addWebhook = operation({
  ...managing,
  id: 'addWebhook',
  method: 'POST',
  path: '/webhooks',
  summary: 'Add a webhook',
  description:
    'From now on, Tally sends the events of these types to the address, in order, at least once each, as long as and as far as you may read them: what `GET /events` shows the credential with which you add it. Messages are signed as Standard Webhooks defines it; the secret is shown only once. There can be 50 webhooks.',
  body: NewWebhook,
  example: EXAMPLE_NEW_WEBHOOK,
  answer: result('The webhook was added.', CreatedWebhook, EXAMPLE_CREATED_WEBHOOK, { status: 201 }),
  run: ({ webhooks }: Needs, call) => webhooks.addWebhook(call.body, managerOf(call)),
})

export const getWebhook = operation({
  ...managing,
  ...one,
  id: 'getWebhook',
  method: 'GET',
  path: '/webhooks/:id',
  summary: 'Get a webhook',
  answer: WEBHOOK,
  run: ({ webhooks }: Needs, { params }) => webhooks.getWebhook(params.id),
})

export const changeWebhook = operation({
  ...managing,
  ...one,
  id: 'changeWebhook',
  method: 'PATCH',
  path: '/webhooks/:id',
  summary: 'Update a webhook',
  description:
    'Absent fields stay unchanged. `client` and `project` replace each other; null clears them. With a new address, a failed delivery is repeated at once, and you, or the API token with which you call, are the owner. An API token changes only webhooks that are sent nothing that it may not read.',
  body: WebhookChange,
  example: { types: ['bill.*'] },
  answer: WEBHOOK,
  run: ({ webhooks }: Needs, call) => webhooks.changeWebhook(call.params.id, call.body, managerOf(call)),
})

export const removeWebhook = operation({
  ...managing,
  ...one,
  id: 'removeWebhook',
  method: 'DELETE',
  path: '/webhooks/:id',
  summary: 'Remove a webhook',
  description: 'With the record of its deliveries. It gets no more events.',
  answer: { status: 204, description: 'The webhook was removed.' },
  run: ({ webhooks }: Needs, { params, party }) => webhooks.removeWebhook(params.id, party.by),
})

export const enableWebhook = operation({
  ...managing,
  ...one,
  id: 'enableWebhook',
  method: 'POST',
  path: '/webhooks/:id/enable',
  summary: 'Enable a webhook',
  description:
    'It gets events from now on, and with `send_missed` also those that it missed, in order. Nothing changes if it is not disabled.',
  body: WebhookEnabling,
  example: { send_missed: true },
  answer: WEBHOOK,
  run: ({ webhooks }: Needs, call) =>
    webhooks.enableWebhook(call.params.id, { sendMissed: call.body.send_missed }, managerOf(call)),
})

export const disableWebhook = operation({
  ...managing,
  ...one,
  id: 'disableWebhook',
  method: 'POST',
  path: '/webhooks/:id/disable',
  summary: 'Disable a webhook',
  description: 'It gets no events until it is enabled.',
  answer: {
    ...WEBHOOK,
    example: {
      ...EXAMPLE_WEBHOOK,
      state: 'disabled',
      disabled_at: '2026-11-21T08:00:00.000Z',
      disabled_reason: 'person',
    },
  },
  run: ({ webhooks }: Needs, call) => webhooks.disableWebhook(call.params.id, managerOf(call)),
})

export const takeOverWebhook = operation({
  ...managing,
  ...one,
  id: 'takeOverWebhook',
  method: 'POST',
  path: '/webhooks/:id/take-over',
  summary: 'Take over a webhook',
  description:
    'Makes you its owner, or the API token with which you call. It is sent what you may read from then on, and if it was suspended also the events that waited, in order. Look at its address and its types before. An API token that may read less than the webhook is sent cannot take it over.',
  answer: WEBHOOK,
  run: ({ webhooks }: Needs, call) => webhooks.takeOver(call.params.id, managerOf(call)),
})

export const rotateWebhookSecret = operation({
  ...managing,
  ...one,
  id: 'rotateWebhookSecret',
  method: 'POST',
  path: '/webhooks/:id/rotate-secret',
  summary: 'Rotate the secret of a webhook',
  description:
    'Returns a new secret, which is shown only once. For `overlap_hours`, messages have a signature by each of the two secrets.',
  body: SecretRotation,
  example: { overlap_hours: 24 },
  answer: result('The webhook with its new secret.', CreatedWebhook, {
    ...EXAMPLE_CREATED_WEBHOOK,
    previous_secret_until: '2026-11-21T17:53:04.000Z',
  }),
  run: ({ webhooks }: Needs, call) =>
    webhooks.rotateSecret(call.params.id, { overlapHours: call.body.overlap_hours }, managerOf(call)),
})

const testWebhook = operation({
  ...managing,
  id: 'testWebhook',
  method: 'POST',
  path: '/webhooks/:id/test',
  params,
  summary: 'Test a webhook',
  description:
    'Sends an event of the type `webhook.test` at once, also to a disabled webhook, and returns what came back.',
  answer: result('The result.', WebhookDelivery, EXAMPLE_TEST_DELIVERY),
  run: ({ webhooks }: Needs, { params }) => webhooks.testWebhook(params.id),
})

const listWebhookDeliveries = operation({
  ...managing,
  id: 'listWebhookDeliveries',
  method: 'GET',
  path: '/webhooks/:id/deliveries',
  params,
  summary: 'List deliveries of a webhook',
  description:
    'Attempts, newest first, with the body that was sent and the response, which an API token sees of events that it may read. The newest 500 of a webhook are kept, for 7 days.',
  query: paging('Attempts'),
  answer: several('A page of attempts.', WebhookDeliveryList, EXAMPLE_DELIVERY),
  run: ({ webhooks }: Needs, call) =>
    webhooks.listDeliveries(call.params.id, readListPage(call.query), managerOf(call)),
})

const resendWebhookEvent = operation({
  ...managing,
  id: 'resendWebhookEvent',
  method: 'POST',
  path: '/webhooks/:id/deliveries/:event/resend',
  params: { ...params, event: 'Id of the event.' },
  summary: 'Send an event again',
  description:
    'Sends an event of the log at once, whatever else is waiting, with its own id, and returns what came back. Both you and the owner of the webhook must be able to read it.',
  answer: result('The result.', WebhookDelivery, {
    ...EXAMPLE_DELIVERY,
    kind: 'resend',
    delivered: true,
    status: 200,
    error: null,
  }),
  problems: ['webhook_suspended'],
  run: ({ webhooks }: Needs, call) => webhooks.resend(call.params.id, call.params.event, managerOf(call)),
})

const resendWebhookEvents = operation({
  ...managing,
  ...one,
  id: 'resendWebhookEvents',
  method: 'POST',
  path: '/webhooks/:id/resend-since',
  summary: 'Send all events again since a time',
  description:
    'Sends the events since then again, in order and with their own ids, as far as they are still in the event log.',
  body: ResendSince,
  example: { since: '2026-11-20T17:53:04Z' },
  answer: WEBHOOK,
  problems: ['webhook_disabled', 'webhook_suspended'],
  run: ({ webhooks }: Needs, call) => webhooks.resendSince(call.params.id, call.body.since, managerOf(call)),
})

export const webhookOperations = [
  listWebhooks,
  addWebhook,
  getWebhook,
  changeWebhook,
  removeWebhook,
  enableWebhook,
  disableWebhook,
  takeOverWebhook,
  rotateWebhookSecret,
  testWebhook,
  listWebhookDeliveries,
  resendWebhookEvent,
  resendWebhookEvents,
] as const
