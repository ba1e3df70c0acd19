/** A webhook on the command line. */
import { type Command, Option } from 'commander'
import type { Party } from '../../access/actor.ts'
import type { WebhookBody, WebhookDelivery } from '../../features/webhooks/schema.ts'
import type { Manager } from '../../features/webhooks/service.ts'
import { collect } from '../flags/options.ts'
import { minute, print, printFields } from '../terminal/print.ts'

/** Whoever uses the command line of the server's machine may do what an admin may. */
export const managerOf = ({ by }: Party): Manager => ({ principal: null, by })

export const WEBHOOK = 'id of the webhook (whk_…), see `tally webhooks list`'

const FORMATS: WebhookBody['format'][] = ['standard', 'slack', 'teams', 'discord', 'chat']

/** The flags of what can be changed. */
export interface WebhookFlags {
  name?: string
  url?: string
  format?: WebhookBody['format']
  type?: string[]
  client?: string
  project?: string
}

/** All optional; `add` makes some of them mandatory. */
export function addWebhookFlags(command: Command, scope: string): Command {
  return command
    .option('--name <name>', 'name to recognize it by')
    .option('--url <url>', 'https:// or http:// address to send to')
    .option(
      '--type <type>',
      'type of events, such as bill.sent, bill.* for an area, * for all; repeatable or comma-separated',
      collect,
    )
    .addOption(
      new Option(
        '--format <format>',
        'standard for signed JSON, chat for {"text": …}, or that of a chat (default standard)',
      ).choices(FORMATS),
    )
    .option('--client <client>', `name or id of a client: only events of its projects and bills${scope}`)
    .option('--project <project>', `key, name or id of a project: only its events${scope}`)
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

export function printWebhook(body: WebhookBody): void {
  print(body.name)
  printFields([
    ['id', body.id],
    ['url', body.url],
    ['format', body.format],
    ['types', body.types.join(', ')],
    ['client', body.client?.name],
    ['project', body.project?.key],
    ['state', stateText(body)],
    ['owner', ownerText(body)],
    ['last error', body.last_delivery?.error],
  ])
}

/** `delivered (200, 31 ms)` */
export function resultText({ delivered, status, latency_ms, error }: WebhookDelivery): string {
  return delivered ? `delivered (${status}, ${latency_ms} ms)` : `not delivered (${latency_ms} ms): ${error}`
}
