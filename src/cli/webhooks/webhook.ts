/** A webhook on the command line. */
import { InvalidArgumentError } from 'commander'
import type { Party } from '../../access/actor.ts'
import type { WebhookBody, WebhookDelivery } from '../../features/webhooks/schema.ts'
import type { Manager } from '../../features/webhooks/service.ts'
import { parseDuration } from '../../lib/duration.ts'
import { minute } from '../terminal/print.ts'

/** Whoever uses the command line of the server's machine may do what an admin may. */
export const managerOf = ({ by }: Party): Manager => ({ principal: null, by })

export const WEBHOOK = 'id of the webhook (whk_…), see `tally webhooks list`'

export const EXAMPLE_ID = 'whk_01a1fa172a0277f3983322718874f2ea'

/** The flags of what can be changed. */
export const WEBHOOK_FLAGS = {
  name: '--name <name>',
  url: { flag: '--url <url>', doc: 'https:// or http:// address to send to' },
  types: {
    flag: '--type <type>',
    doc: 'type of events, such as bill.sent, bill.* for an area, * for all',
  },
  format: {
    flag: '--format <format>',
    doc: 'standard for signed JSON, chat for {"text": …}, or that of a chat (default standard)',
  },
  client: { flag: '--client <client>', doc: 'name or id of a client: only events of its projects and bills' },
  project: { flag: '--project <project>', doc: 'key, name or id of a project: only its events' },
}

const HOUR_MS = 3_600_000

/** Two weeks, as over HTTP. */
const OVERLAP_LIMIT_HOURS = 336

export function readOverlap(text: string): number {
  const hours = text === '0' ? 0 : (parseDuration(text) ?? Number.NaN) / HOUR_MS
  if (!Number.isInteger(hours) || hours > OVERLAP_LIMIT_HOURS) {
    throw new InvalidArgumentError('Use whole hours of at most two weeks in h, d or w, such as 24h or 2d, or 0.')
  }
  return hours
}

export function stateText(body: WebhookBody): string {
  const { state, disabled_at, disabled_reason, suspended_at, suspended_reason, next_attempt_at } = body
  if (state === 'suspended') return `suspended ${minute(suspended_at)} (${SUSPENDED[suspended_reason!]})`
  if (state === 'disabled') return `disabled ${minute(disabled_at)} (${REASONS[disabled_reason ?? 'person']})`
  return state === 'failing' ? `failing, next attempt ${minute(next_attempt_at)}` : state
}

const REASONS: Record<NonNullable<WebhookBody['disabled_reason']>, string> = {
  person: 'by a person',
  failing: 'failed for three days',
  gone: 'returned 410',
}

const SUSPENDED: Record<NonNullable<WebhookBody['suspended_reason']>, string> = {
  owner_disabled: 'owner is disabled',
  owner_role: 'owner is no longer an admin',
  token_revoked: 'token was revoked',
  token_expired: 'token has expired',
  token_scopes: 'token may not read events',
  api_tokens_off: 'API tokens are turned off',
}

/** The person with whose rights it is sent events, and their token. */
export function ownerText({ owner }: WebhookBody): string {
  if (!owner) return 'command line'
  return owner.token ? `${owner.user.name} (token ${owner.token.name})` : owner.user.name
}

export function scopeText({ client, project }: WebhookBody): string {
  return client?.name ?? project?.key ?? ''
}

export function webhookFields(body: WebhookBody): [name: string, value: string | null | undefined][] {
  return [
    ['webhook', body.name],
    ['id', body.id],
    ['url', body.url],
    ['format', body.format],
    ['types', body.types.join(', ')],
    ['client', body.client?.name],
    ['project', body.project?.key],
    ['state', stateText(body)],
    ['owner', ownerText(body)],
    ['last error', body.last_delivery?.error],
  ]
}

/** `delivered (200, 31 ms)` */
export function resultText({ delivered, status, latency_ms, error }: WebhookDelivery): string {
  return delivered ? `delivered (${status}, ${latency_ms} ms)` : `not delivered (${latency_ms} ms): ${error}`
}
