/** The values of the form of a webhook, and the request that they make. */
import { EVENT_TYPE_NAMES, EVENT_TYPES } from '../../../shared/event-types.ts'
import type { Choice } from '../../parts/pickers.tsx'
import { projectLabel } from '../../parts/project-label.ts'
import type { NewWebhook, Webhook } from '../../server/webhooks.ts'

export type Format = Webhook['format']

export const FORMAT_NAMES: Record<Format, string> = {
  standard: 'Signed JSON',
  slack: 'Slack',
  teams: 'Microsoft Teams',
  discord: 'Discord',
  chat: 'Other chat',
}

export const FORMATS: { value: Format; label: string; description: string }[] = [
  { value: 'standard', label: FORMAT_NAMES.standard, description: 'For your own programs (Standard Webhooks).' },
  { value: 'slack', label: FORMAT_NAMES.slack, description: 'The incoming webhook of a Slack app.' },
  { value: 'teams', label: FORMAT_NAMES.teams, description: 'A workflow that posts to a channel.' },
  { value: 'discord', label: FORMAT_NAMES.discord, description: 'The webhook of a channel.' },
  {
    value: 'chat',
    label: FORMAT_NAMES.chat,
    description: 'Mattermost, Rocket.Chat, Google Chat, or anything that takes {"text": …}.',
  },
]

/** Chats do not check signatures, so nobody needs to store a secret for them. */
export const isSigned = (format: Format): boolean => format === 'standard' || format === 'chat'

/** Whether it has the rights of a person, and not only those of one of their API tokens. */
export const isOwnedBy = ({ owner }: Webhook, personId: string): boolean =>
  owner !== null && owner.token === null && owner.user.id === personId

export interface WebhookValues {
  name: string
  url: string
  format: Format
  types: string[]
  client: Choice | null
  project: Choice | null
}

export const valuesOf = (webhook?: Webhook): WebhookValues => ({
  name: webhook?.name ?? '',
  url: webhook?.url ?? '',
  format: webhook?.format ?? 'standard',
  types: webhook?.types ?? [],
  client: webhook?.client ? { value: webhook.client.id, label: webhook.client.name } : null,
  project: webhook?.project ? { value: webhook.project.id, label: projectLabel(webhook.project) } : null,
})

export function requestOf({ name, url, format, types, client, project }: WebhookValues): NewWebhook {
  return {
    name: name.trim(),
    url: url.trim(),
    format,
    types,
    // One replaces the other, so only the one that is chosen is sent.
    ...(client || project
      ? { ...(client && { client: client.value }), ...(project && { project: project.value }) }
      : { client: null, project: null }),
  }
}

/** The format that the address of a chat suggests; undefined for any other address. */
export function formatOf(url: string): Format | undefined {
  const host = hostOf(url)
  if (host === 'hooks.slack.com') return 'slack'
  if (host === 'discord.com' || host === 'discordapp.com') return 'discord'
  if (host === 'chat.googleapis.com') return 'chat'
  return /\.(logic\.azure|webhook\.office|powerplatform)\.com(:443)?$/.test(host) ? 'teams' : undefined
}

export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url)

interface TypeGroup {
  group: string
  items: { value: string; label: string }[]
}

/** All types of events, by area, each area with a choice for all of its types. */
export const TYPE_GROUPS: TypeGroup[] = [
  { group: 'All', items: [{ value: '*', label: '*' }] },
  ...Map.groupBy(EVENT_TYPE_NAMES, areaOf)
    .entries()
    .map(([area, types]) => ({
      group: area,
      items: [`${area}.*`, ...types].map((value) => ({ value, label: value })),
    })),
]

function areaOf(type: string): string {
  return type.split('.')[0]!
}

export const typesText = (types: readonly string[]): string => (types.includes('*') ? 'all events' : types.join(', '))

/** What a type, or the types of an area, tell. */
export function describeType(value: string): string {
  if (value === '*') return 'All events that the owner may read, also of types that later versions add.'
  if (value.endsWith('.*')) return `All events of the area ${value.slice(0, -2)}.`
  return EVENT_TYPES[value as keyof typeof EVENT_TYPES]?.description ?? ''
}
