/**
 * The body of a message, in the format that the endpoint understands. Names in it were chosen by people and agents, so that
 * in a chat they must neither mention anybody nor look like a link. Pure.
 */
import type { WebhookFormat } from '../../../database/schema/values.ts'
import type { Event } from '../../events/schema.ts'
import { type Summary, summaryOf } from './summary.ts'

/** Standard Webhooks asks for less than 20 kB, which every receiver takes. */
const LIMIT_BYTES = 20_000

/** What a chat shows besides the fields that changed: see {@link summaryOf}. */
export interface Shown {
  facts?: readonly string[]
  page?: string | undefined
}

export function payloadOf(format: WebhookFormat, event: Event, { facts, page }: Shown = {}): string {
  if (format === 'standard') return standardPayload(event)
  return JSON.stringify(CHATS[format](summaryOf(event, facts, page)))
}

/**
 * The event as `GET /events/{id}` returns it. Above the limit, it has neither `before` nor `after`, and `truncated` says so:
 * the receiver reads the event by its id.
 */
function standardPayload(event: Event): string {
  const payload = JSON.stringify(event)
  if (Buffer.byteLength(payload) < LIMIT_BYTES) return payload
  return JSON.stringify({ ...event, before: null, after: null, truncated: true })
}

/** Whether a body is an event as it is, and not a message of a chat, which may say more about its object. */
export const isEvent = (payload: string): boolean => payload.startsWith('{"id":')

const CHATS: Record<Exclude<WebhookFormat, 'standard'>, (summary: Summary) => unknown> = {
  /** https://docs.slack.dev/messaging/formatting-message-text: three characters are escaped, and plain text is not parsed. */
  slack: ({ title, facts, link }) => ({
    text: slackText(title),
    blocks: [
      { type: 'section', text: plainText([title, ...facts].join('\n')) },
      ...(link === undefined
        ? []
        : [{ type: 'context', elements: [{ type: 'mrkdwn', text: `<${slackText(link)}|Open in Tally>` }] }]),
    ],
  }),

  /** An adaptive card, as workflows of Teams take it. Text blocks know Markdown; runs of text do not. */
  teams: ({ title, facts, link }) => ({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [richText({ text: title, weight: 'bolder' }), ...facts.map((text) => richText({ text }))],
          actions: link === undefined ? [] : [{ type: 'Action.OpenUrl', title: 'Open in Tally', url: link }],
        },
      },
    ],
  }),

  discord: ({ title, facts, link }) => ({
    content: [
      `**${discordText(title)}**`,
      ...facts.map(discordText),
      ...(link === undefined ? [] : [`<${link}>`]),
    ].join('\n'),
    // Also where a mention were not escaped, nobody is notified.
    allowed_mentions: { parse: [] },
  }),

  /** Mattermost, Rocket.Chat, Google Chat and others, each with its own Markdown and mentions. */
  chat: ({ title, facts, link }) => ({
    text: [chatText(title), ...facts.map(chatText), ...(link === undefined ? [] : [link])].join('\n'),
  }),
}

const plainText = (text: string) => ({ type: 'plain_text', text, emoji: false })

const richText = (run: { text: string; weight?: 'bolder' }) => ({
  type: 'RichTextBlock',
  inlines: [{ type: 'TextRun', ...run }],
})

function slackText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** Any punctuation may be escaped in Markdown; an address whose colon is escaped does not become a link. */
function discordText(text: string): string {
  return text.replaceAll(/[\\*_~`|>[\]()#<@:.!+-]/g, '\\$&')
}

/** No-width characters, since escapes differ: they part the @ of a mention, and the parts of a link. */
function chatText(text: string): string {
  return text
    .replaceAll('@', '@\u2060')
    .replaceAll('<', '‹')
    .replaceAll('>', '›')
    .replaceAll('](', ']\u2060(')
    .replaceAll('://', ':/\u2060/')
}
