import { Elysia, t } from 'elysia'
import type { Caller } from '../../access/caller.ts'
import { access, actorOf, requireCaller } from '../../http/access.ts'
import { documented } from '../../http/documentation.ts'
import { listPage, parameter } from '../../operations/parameters.ts'
import {
  EXAMPLE_CREATED_WEBHOOK,
  EXAMPLE_DELIVERY,
  EXAMPLE_NEW_WEBHOOK,
  EXAMPLE_TEST_DELIVERY,
  EXAMPLE_WEBHOOK,
} from './examples.ts'
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
} from './schema.ts'
import { type Manager, readPage, readWebhookList, type WebhooksService } from './service.ts'

const tag = 'Webhooks'
const path = { id: 'Id of the webhook (whk_…).' }

const pageOf = (what: string) => {
  const { format: _, ...page } = listPage(what)
  return t.Object(page, { additionalProperties: false })
}

const { format: _, ...webhookPage } = listPage('Webhooks')
const WebhookQuery = t.Object(
  {
    failing: parameter({
      type: 'boolean',
      description: 'Only webhooks that fail, are suspended, or were disabled because they failed; or only others.',
    }),
    ...webhookPage,
  },
  { additionalProperties: false },
)

function managerOf({ caller, address }: { caller: Caller | null; address: () => string }): Manager {
  return { principal: requireCaller(caller, ['api', 'session']), by: actorOf({ caller, address }) }
}

/** For admins: who reads every event of a type, and where it is sent, is nothing that members decide. */
const guarded = { allow: { session: ['admin'] }, scope: 'webhooks:manage' } as const

const webhookAnswer = { 200: { description: 'The webhook.', schema: WebhookBody, example: EXAMPLE_WEBHOOK } }

export const webhooksRoutes = ({ webhooks }: { webhooks: WebhooksService }) =>
  new Elysia({ name: 'webhooks', normalize: false })
    .use(access())
    .get('', ({ query }) => webhooks.listWebhooks(readWebhookList(query)), {
      ...guarded,
      query: WebhookQuery,
      detail: documented({
        id: 'listWebhooks',
        tag,
        summary: 'List webhooks',
        description: 'Newest first.',
        responses: {
          200: {
            description: 'A page of webhooks.',
            schema: WebhookList,
            example: { data: [EXAMPLE_WEBHOOK], has_more: false, next_page: null },
          },
        },
      }),
    })
    .post(
      '',
      async ({ body, caller, address, set }) => {
        const added = await webhooks.addWebhook(body, managerOf({ caller, address }))
        set.status = 201
        set.headers.location = `/api/v1/webhooks/${added.id}`
        return added
      },
      {
        ...guarded,
        parse: 'report',
        body: NewWebhook,
        detail: documented({
          id: 'addWebhook',
          tag,
          summary: 'Add a webhook',
          description:
            'From now on, Tally sends the events of these types to the address, in order, at least once each, as long as and as far as you may read them: what `GET /events` shows the credential with which you add it. Messages are signed as Standard Webhooks defines it; the secret is shown only once. There can be 50 webhooks.',
          body: { example: EXAMPLE_NEW_WEBHOOK },
          responses: {
            201: {
              description: 'The webhook was added.',
              schema: CreatedWebhook,
              headers: ['Location'],
              example: EXAMPLE_CREATED_WEBHOOK,
            },
          },
        }),
      },
    )
    .get('/:id', ({ params }) => webhooks.getWebhook(params.id), {
      ...guarded,
      object: 'whk',
      detail: documented({ id: 'getWebhook', tag, summary: 'Get a webhook', path, responses: webhookAnswer }),
    })
    .patch(
      '/:id',
      ({ params, body, caller, address }) => webhooks.changeWebhook(params.id, body, managerOf({ caller, address })),
      {
        ...guarded,
        object: 'whk',
        parse: 'report',
        body: WebhookChange,
        detail: documented({
          id: 'changeWebhook',
          tag,
          summary: 'Update a webhook',
          description:
            'Absent fields stay unchanged. `client` and `project` replace each other; null clears them. With a new address, a failed delivery is repeated at once, and you, or the API token with which you call, are the owner. An API token changes only webhooks that are sent nothing that it may not read.',
          path,
          body: { example: { types: ['bill.*'] } },
          responses: webhookAnswer,
        }),
      },
    )
    .delete(
      '/:id',
      async ({ params, caller, address, set }) => {
        await webhooks.removeWebhook(params.id, actorOf({ caller, address }))
        set.status = 204
      },
      {
        ...guarded,
        object: 'whk',
        detail: documented({
          id: 'removeWebhook',
          tag,
          summary: 'Remove a webhook',
          description: 'With the record of its deliveries. It gets no more events.',
          path,
          responses: { 204: { description: 'The webhook was removed.' } },
        }),
      },
    )
    .post(
      '/:id/enable',
      ({ params, body, caller, address }) =>
        webhooks.enableWebhook(params.id, { sendMissed: body.send_missed }, managerOf({ caller, address })),
      {
        ...guarded,
        object: 'whk',
        parse: 'report',
        body: WebhookEnabling,
        detail: documented({
          id: 'enableWebhook',
          tag,
          summary: 'Enable a webhook',
          description:
            'It gets events from now on, and with `send_missed` also those that it missed, in order. Nothing changes if it is not disabled.',
          path,
          body: { example: { send_missed: true } },
          responses: webhookAnswer,
        }),
      },
    )
    .post(
      '/:id/disable',
      ({ params, caller, address }) => webhooks.disableWebhook(params.id, managerOf({ caller, address })),
      {
        ...guarded,
        object: 'whk',
        detail: documented({
          id: 'disableWebhook',
          tag,
          summary: 'Disable a webhook',
          description: 'It gets no events until it is enabled.',
          path,
          responses: {
            200: {
              description: 'The webhook.',
              schema: WebhookBody,
              example: {
                ...EXAMPLE_WEBHOOK,
                state: 'disabled',
                disabled_at: '2026-11-21T08:00:00.000Z',
                disabled_reason: 'person',
              },
            },
          },
        }),
      },
    )
    .post(
      '/:id/take-over',
      ({ params, caller, address }) => webhooks.takeOver(params.id, managerOf({ caller, address })),
      {
        ...guarded,
        object: 'whk',
        detail: documented({
          id: 'takeOverWebhook',
          tag,
          summary: 'Take over a webhook',
          description:
            'Makes you its owner, or the API token with which you call. It is sent what you may read from then on, and if it was suspended also the events that waited, in order. Look at its address and its types before. An API token that may read less than the webhook is sent cannot take it over.',
          path,
          responses: webhookAnswer,
        }),
      },
    )
    .post(
      '/:id/rotate-secret',
      ({ params, body, caller, address }) =>
        webhooks.rotateSecret(params.id, { overlapHours: body.overlap_hours }, managerOf({ caller, address })),
      {
        ...guarded,
        object: 'whk',
        parse: 'report',
        body: SecretRotation,
        detail: documented({
          id: 'rotateWebhookSecret',
          tag,
          summary: 'Rotate the secret of a webhook',
          description:
            'Returns a new secret, which is shown only once. For `overlap_hours`, messages have a signature by each of the two secrets.',
          path,
          body: { example: { overlap_hours: 24 } },
          responses: {
            200: {
              description: 'The webhook with its new secret.',
              schema: CreatedWebhook,
              example: { ...EXAMPLE_CREATED_WEBHOOK, previous_secret_until: '2026-11-21T17:53:04.000Z' },
            },
          },
        }),
      },
    )
    .post('/:id/test', ({ params }) => webhooks.testWebhook(params.id), {
      ...guarded,
      detail: documented({
        id: 'testWebhook',
        tag,
        summary: 'Test a webhook',
        description:
          'Sends an event of the type `webhook.test` at once, also to a disabled webhook, and returns what came back.',
        path,
        responses: {
          200: { description: 'The result.', schema: WebhookDelivery, example: EXAMPLE_TEST_DELIVERY },
        },
      }),
    })
    .get(
      '/:id/deliveries',
      ({ params, query, caller, address }) =>
        webhooks.listDeliveries(params.id, readPage(query), managerOf({ caller, address })),
      {
        ...guarded,
        query: pageOf('Attempts'),
        detail: documented({
          id: 'listWebhookDeliveries',
          tag,
          summary: 'List deliveries of a webhook',
          description:
            'Attempts, newest first, with the body that was sent and the response, which an API token sees of events that it may read. The newest 500 of a webhook are kept, for 7 days.',
          path,
          responses: {
            200: {
              description: 'A page of attempts.',
              schema: WebhookDeliveryList,
              example: { data: [EXAMPLE_DELIVERY], has_more: false, next_page: null },
            },
          },
        }),
      },
    )
    .post(
      '/:id/deliveries/:event/resend',
      ({ params, caller, address }) => webhooks.resend(params.id, params.event, managerOf({ caller, address })),
      {
        ...guarded,
        detail: documented({
          id: 'resendWebhookEvent',
          tag,
          summary: 'Send an event again',
          description:
            'Sends an event of the log at once, whatever else is waiting, with its own id, and returns what came back. Both you and the owner of the webhook must be able to read it.',
          path: { ...path, event: 'Id of the event.' },
          responses: {
            200: {
              description: 'The result.',
              schema: WebhookDelivery,
              example: { ...EXAMPLE_DELIVERY, kind: 'resend', delivered: true, status: 200, error: null },
            },
          },
          problems: ['webhook_suspended'],
        }),
      },
    )
    .post(
      '/:id/resend-since',
      ({ params, body, caller, address }) =>
        webhooks.resendSince(params.id, body.since, managerOf({ caller, address })),
      {
        ...guarded,
        object: 'whk',
        parse: 'report',
        body: ResendSince,
        detail: documented({
          id: 'resendWebhookEvents',
          tag,
          summary: 'Send all events again since a time',
          description:
            'Sends the events since then again, in order and with their own ids, as far as they are still in the event log.',
          path,
          body: { example: { since: '2026-11-20T17:53:04Z' } },
          responses: webhookAnswer,
          problems: ['webhook_disabled', 'webhook_suspended'],
        }),
      },
    )
