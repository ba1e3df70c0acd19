/** API schema of webhooks, shared by validation, OpenAPI and the command line's `--json`. */
import { type Static, Type } from '@sinclair/typebox'
import {
  WEBHOOK_DELIVERY_KINDS,
  WEBHOOK_DISABLED_REASONS,
  WEBHOOK_FORMATS,
  WEBHOOK_SUSPENDED_REASONS,
} from '../../database/schema/values.ts'
import { timestamp, timestampOrNull } from '../../lib/duration.ts'
import { conditions, excludes } from '../../schema/conditions.ts'
import {
  array,
  chosen,
  component,
  flag,
  givenName,
  integer,
  listOf,
  moment,
  nameOf,
  object,
  oneOf,
  orNull,
  SHOWN,
  strict,
  text,
} from '../../schema/types.ts'
import { writeEventId } from '../events/service.ts'
import { secretText } from './signature.ts'
import type { DeliveryRow } from './store/deliveries.ts'
import type { EndpointView } from './store/endpoints.ts'

export const WEBHOOK_STATES = ['active', 'failing', 'suspended', 'disabled'] as const
export type WebhookState = (typeof WEBHOOK_STATES)[number]

/** Two weeks, as for API tokens. */
const OVERLAP_LIMIT_HOURS = 336

/** The limit of most servers; addresses of chats have some 150 characters. */
export const URL_LIMIT = 2_000

/** Twice as many as there are. */
const TYPES_LIMIT = 200

const FORMATS =
  '`standard`: the event as signed JSON (Standard Webhooks). `slack`, `teams`, `discord`: a message for an incoming webhook or workflow of these. `chat`: `{"text": …}`, which Mattermost, Rocket.Chat and Google Chat take.'

const given = {
  name: givenName('Name to recognize it by.', ['Billing bot']),
  url: text(
    'The https:// or http:// address to send to, without a user or password. Redirects are not followed. Addresses that are not on the public internet need the option `--webhook-private-networks` of the server.',
    { examples: ['https://hooks.example.com/tally'], [SHOWN]: { minLength: 1, maxLength: URL_LIMIT } },
  ),
  format: chosen(WEBHOOK_FORMATS, FORMATS),
  types: array(
    'Types of events, such as `bill.sent`; `bill.*` for all types of an area, also future ones; `*` for all that its owner may read.',
    Type.String(),
    { minItems: 1, maxItems: TYPES_LIMIT, examples: [['bill.*', 'backup.failed']] },
  ),
  client: orNull(text('Id or name of a client: only events of its projects and bills.')),
  project: orNull(text('Id, key or name of a project: only its events.')),
}

const scope = conditions(
  excludes('client', ['project'], {
    pointer: '/project',
    code: 'not_allowed',
    message: 'excludes client: a project belongs to one client',
  }),
)

export const NewWebhook = Type.Object(
  {
    name: given.name,
    url: given.url,
    format: Type.Optional(given.format),
    types: given.types,
    client: Type.Optional(given.client),
    project: Type.Optional(given.project),
  },
  { ...strict, ...scope, $id: 'NewWebhook' },
)
export type NewWebhook = Static<typeof NewWebhook>

export const WebhookChange = Type.Object(
  {
    name: Type.Optional(given.name),
    url: Type.Optional(given.url),
    format: Type.Optional(given.format),
    types: Type.Optional(given.types),
    client: Type.Optional(given.client),
    project: Type.Optional(given.project),
  },
  { ...strict, ...scope, $id: 'WebhookChange' },
)
export type WebhookChange = Static<typeof WebhookChange>

export const WebhookEnabling = component('WebhookEnabling', {
  send_missed: Type.Optional(
    flag(
      'Whether to send the events that it missed, from the first one that was not delivered, as far as they are still in the event log. Default: false.',
    ),
  ),
})

export const SecretRotation = component('WebhookSecretRotation', {
  overlap_hours: Type.Optional(
    integer(
      'How long messages are signed with the old secret, too. 0 ends it at once. Default: 24. At most 336, two weeks.',
      { minimum: 0, maximum: OVERLAP_LIMIT_HOURS },
    ),
  ),
})

export const ResendSince = component('WebhookResendSince', {
  since: text(
    'A timestamp with its offset, or a date for its first moment in the organization’s time zone: events from then on are sent again.',
    { examples: ['2026-11-20T17:53:04Z'] },
  ),
})

const deliveryFields = {
  event: orNull(text('Id of the event; null for a test.')),
  type: text('Type of the event, or `webhook.test`.'),
  kind: oneOf(
    WEBHOOK_DELIVERY_KINDS,
    '`event`: its turn had come. `resend`: a person sent it again. `test`: a person tested the webhook.',
  ),
  attempt: integer('Number of the attempt, from 1.', { minimum: 1 }),
  at: moment('When it was sent.'),
  delivered: flag('Whether the endpoint returned a 2xx.'),
  status: orNull(integer('HTTP status; null without a response.')),
  latency_ms: integer('Time until the response, in milliseconds.', { minimum: 0 }),
  error: orNull(text('Why it was not delivered.')),
  body: text('The body that was sent.'),
  response: text('The beginning of the response.'),
  hidden: flag('Whether `body` and `response` are left empty, because the API token may not read what was sent.'),
}

export const WebhookDelivery = component(
  'WebhookDelivery',
  'An attempt to deliver an event. The newest 500 of a webhook are kept, for 7 days.',
  deliveryFields,
)
export type WebhookDelivery = Static<typeof WebhookDelivery>

export const WebhookDeliveryList = listOf(WebhookDelivery, 'WebhookDeliveryList', 'Attempts, newest first.')

const { at, delivered, status, error } = deliveryFields

const reference = object({ id: Type.String(), name: Type.String() })

const fields = {
  id: text('Id of the webhook (whk_…).'),
  name: nameOf('Name.'),
  url: text('Where it sends to. For chats, the address is a secret.'),
  format: oneOf(WEBHOOK_FORMATS, FORMATS),
  types: array('Types of events; `bill.*` for an area, `*` for all.', Type.String()),
  client: orNull(object({ id: Type.String(), name: Type.String() })),
  project: orNull(object({ id: Type.String(), key: Type.String(), name: Type.String() })),
  state: oneOf(
    WEBHOOK_STATES,
    '`failing`: the last attempt failed and is repeated, for up to three days. `suspended`: its events wait, because its owner may not read them any more. `disabled`: it gets no events.',
  ),
  disabled_at: orNull(moment('When it was disabled.')),
  disabled_reason: orNull(
    oneOf(
      WEBHOOK_DISABLED_REASONS,
      '`person`: somebody disabled it. `failing`: it failed for three days. `gone`: it returned 410.',
    ),
  ),
  suspended_at: orNull(moment('When it was suspended.')),
  suspended_reason: orNull(
    oneOf(
      WEBHOOK_SUSPENDED_REASONS,
      '`owner_disabled`: its owner is disabled. `owner_role`: its owner is no longer an admin. `token_revoked`, `token_expired`: the API token no longer works. `token_scopes`: the API token may not read events. `api_tokens_off`: API tokens are turned off.',
    ),
  ),
  failing_since: orNull(moment('When the first of its latest failures was.')),
  next_attempt_at: orNull(moment('When the next attempt is due.')),
  last_delivery: orNull(
    object('Its latest attempt, also of a test; null if there is none.', { at, delivered, status, error }),
  ),
  previous_secret_until: orNull(moment('Until when messages are also signed with the previous secret.')),
  created_by: orNull(object('Who added it; null for the command line.', { id: Type.String(), name: Type.String() })),
  created_at: moment('When it was added.'),
  owner: orNull(
    object(
      'Whose rights decide what it is sent: the person, and the API token if they used one, who added it, last changed its address, or took it over. Null for the command line, which may read everything.',
      { user: reference, token: orNull(reference) },
    ),
  ),
}

export const WebhookBody = component('Webhook', 'An endpoint that is sent events.', fields)
export type WebhookBody = Static<typeof WebhookBody>

export const CreatedWebhook = component('CreatedWebhook', 'A webhook with its new secret.', {
  ...fields,
  secret: text('The secret of its signatures (whsec_…). Shown only once.'),
})
export type CreatedWebhook = Static<typeof CreatedWebhook>

export const WebhookList = listOf(WebhookBody, 'WebhookList', 'Webhooks, newest first.')

function stateOf({ row }: EndpointView): WebhookState {
  if (row.disabledAt !== null) return 'disabled'
  if (row.suspendedAt !== null) return 'suspended'
  return row.failingSince === null ? 'active' : 'failing'
}

export function webhookBody(view: EndpointView, latest: DeliveryRow | undefined, now: number): WebhookBody {
  const { row, client, project, creator, owner, ownerToken } = view
  const isRotating = row.previousUntil !== null && row.previousUntil > now
  return {
    id: row.uid,
    name: row.name,
    url: row.url,
    format: row.format,
    types: row.types,
    client: client && { id: client.uid, name: client.name },
    project: project && { id: project.uid, key: project.key, name: project.name },
    state: stateOf(view),
    disabled_at: timestampOrNull(row.disabledAt),
    disabled_reason: row.disabledReason,
    suspended_at: timestampOrNull(row.suspendedAt),
    suspended_reason: row.suspendedReason,
    failing_since: timestampOrNull(row.failingSince),
    next_attempt_at: timestampOrNull(row.nextAttemptAt),
    last_delivery: latest
      ? { at: timestamp(latest.at), delivered: latest.error === null, status: latest.status, error: latest.error }
      : null,
    previous_secret_until: isRotating ? timestampOrNull(row.previousUntil) : null,
    created_by: creator && { id: creator.uid, name: creator.name },
    created_at: timestamp(row.createdAt),
    owner: owner && {
      user: { id: owner.uid, name: owner.name },
      token: ownerToken && { id: ownerToken.uid, name: ownerToken.name },
    },
  }
}

export function deliveryBody(row: Omit<DeliveryRow, 'id'>, { isHidden = false } = {}): WebhookDelivery {
  return {
    event: row.eventId === null ? null : writeEventId(row.eventId),
    type: row.type,
    kind: row.kind,
    attempt: row.attempt,
    at: timestamp(row.at),
    delivered: row.error === null,
    status: row.status,
    latency_ms: row.latencyMs,
    error: row.error,
    body: isHidden ? '' : row.body,
    response: isHidden ? '' : row.response,
    hidden: isHidden,
  }
}

/** The webhook with its secret, which is shown once. */
export function createdWebhookBody(body: WebhookBody, secret: Uint8Array): CreatedWebhook {
  return { ...body, secret: secretText(secret) }
}
