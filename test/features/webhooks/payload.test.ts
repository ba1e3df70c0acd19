import { describe, expect, test } from 'bun:test'
import type { Event } from '../../../src/features/events/schema.ts'
import { payloadOf } from '../../../src/features/webhooks/messages/payload.ts'

const EVENT: Event = {
  id: 'evt_184467',
  type: 'bill.sent',
  at: '2026-11-20T17:53:04.000Z',
  actor: { user: { id: 'usr_1', name: 'Ada' }, token: null },
  object: { id: 'bil_1', name: '2026-0001', url: 'https://tally.example.com/bills/bil_1' },
  before: null,
  after: { to: 'acme@example.com' },
}
const FACTS = ['total: 1200.00 EUR', 'client: Acme']

const HOSTILE = 'x @everyone <!channel> <@U1> <https://evil.example|click> [click](https://evil.example) *b* `c` &amp;'
const hostile: Event = {
  ...EVENT,
  type: 'project.changed',
  object: { ...EVENT.object!, name: HOSTILE },
  before: { name: 'web' },
  after: { name: HOSTILE },
}

const parsed = (format: Parameters<typeof payloadOf>[0], event = EVENT, facts = FACTS) =>
  JSON.parse(payloadOf(format, event, { facts }))

describe('A message', () => {
  test('in the standard format is the event', () => {
    expect(parsed('standard')).toEqual(EVENT)
  })

  test('in the standard format has less than 20 kB, and says what is left out', () => {
    const large = { ...EVENT, after: { note: 'ä'.repeat(20_000) } }
    const payload = payloadOf('standard', large)
    expect(Buffer.byteLength(payload)).toBeLessThan(20_000)
    expect(JSON.parse(payload)).toEqual({ ...EVENT, after: null, truncated: true })
  })

  test('in each chat has the amount, the scope, the person and a link', () => {
    const lines = ['Bill 2026-0001 sent', ...FACTS, 'to: acme@example.com', 'by Ada']
    expect(parsed('slack')).toEqual({
      text: lines[0],
      blocks: [
        { type: 'section', text: { type: 'plain_text', text: lines.join('\n'), emoji: false } },
        { type: 'context', elements: [{ type: 'mrkdwn', text: `<${EVENT.object!.url}|Open in Tally>` }] },
      ],
    })
    const card = parsed('teams').attachments[0].content
    expect(card.body.map(({ inlines }: { inlines: { text: string }[] }) => inlines[0]!.text)).toEqual(lines)
    expect(card.actions).toEqual([{ type: 'Action.OpenUrl', title: 'Open in Tally', url: EVENT.object!.url }])
    expect(parsed('discord').content.replaceAll('\\', '')).toBe(
      [`**${lines[0]}**`, ...lines.slice(1), `<${EVENT.object!.url}>`].join('\n'),
    )
    expect(parsed('chat').text.replaceAll('\u2060', '')).toBe([...lines, EVENT.object!.url].join('\n'))
  })

  test('in a chat says how much of a budget is spent or forecast, and what it counts', () => {
    const object = { id: 'bdg_1', name: 'Acme, monthly', url: 'https://tally.example.com/budgets/bdg_1' }
    const alert = { alert: 'alr_1', period: '2026-11-01', measure: 'cost', percent: 80, available: 120 }
    const text = (after: object, type: Event['type'] = 'budget.threshold_crossed') =>
      parsed('chat', { ...EVENT, actor: null, type, object, after: { ...alert, ...after } }, [
        'counts: usage of client Acme',
      ])
        .text.replaceAll('\u2060', '')
        .split('\n')
    expect(text({ spent: 98.4 })).toEqual([
      'Budget Acme, monthly: 80% reached',
      'counts: usage of client Acme',
      'spent: $98.40 of $120.00',
      'period from: 2026-11-01',
      object.url,
    ])
    expect(text({ measure: 'tokens', spent: 9_000, available: 10_000, period: null })).toContain(
      'spent: 9,000 tokens of 10,000 tokens',
    )
    expect(text({ forecast: 130 }, 'budget.forecast_exceeded').slice(0, 3)).toEqual([
      'Budget Acme, monthly: forecast at 80%',
      'counts: usage of client Acme',
      'forecast: $130.00 of $120.00',
    ])
  })

  test('in a chat shows what changed, from what to what', () => {
    const event = { ...EVENT, type: 'budget.changed', before: { amount: 100, currency: null }, after: { amount: 250 } }
    expect(parsed('chat', event, []).text).toContain('amount: 100 → 250')
  })

  test('in a chat has no more than a few short lines, whatever the event contains', () => {
    const after = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`field_${at}`, 'x'.repeat(10_000)]))
    for (const format of ['slack', 'teams', 'discord', 'chat'] as const) {
      expect(Buffer.byteLength(payloadOf(format, { ...EVENT, after }))).toBeLessThan(6_000)
    }
    expect(parsed('discord', { ...EVENT, after }, []).content.length).toBeLessThan(2_000)
  })

  test('in a chat does not name the webhooks that a budget names', () => {
    expect(payloadOf('chat', { ...EVENT, after: { webhooks: ['whk_1'], share: 80 } })).not.toContain('whk_1')
  })

  test('in a chat says what was unusual, what it cost, what is usual, and links to the entries', () => {
    const page = 'https://tally.example.com/entries?agent_manager=usr_1'
    const list = '/api/v1/token-entries?agent_manager=usr_1'
    const ada = { id: 'usr_1', name: 'Ada' }
    const after = {
      subject: 'person',
      day: '2026-11-23',
      cost: 1412.3,
      usual: 35,
      score: 12.4,
      list,
      agent_manager: ada,
    }
    const anomaly: Event = { ...EVENT, type: 'usage.anomaly_found', actor: null, object: { ...ada, url: null }, after }
    const textOf = (event: Event, shown: Parameters<typeof payloadOf>[2]) =>
      JSON.parse(payloadOf('chat', event, shown)).text.split('\n')
    expect(textOf(anomaly, { page })).toEqual([
      'Unusual usage: Ada, 2026-11-23',
      'cost: $1,412.30',
      'usually: $35.00',
      page,
    ])
    expect(textOf({ ...anomaly, after: { ...after, subject: 'day', agent_manager: undefined } }, {})[0]).toBe(
      'Unusual usage: 2026-11-23',
    )
    const session = { ...anomaly, object: { id: 'ent_1', name: 'builder', url: '/entries/ent_1' } }
    expect(textOf({ ...session, after: { ...after, subject: 'session' } }, { facts: ['model: gpt-5'] })).toEqual([
      'Unusual session: Ada, 2026-11-23',
      'model: gpt-5',
      'cost: $1,412.30',
      'usually: $35.00',
      '/entries/ent_1',
    ])
  })

  test('without the address of the server has no link', () => {
    const event = { ...EVENT, object: { ...EVENT.object!, url: null } }
    for (const format of ['slack', 'teams', 'discord', 'chat'] as const) {
      expect(payloadOf(format, event)).not.toMatch(/tally\.example|Open in Tally/)
    }
  })
})

describe('Names that people chose', () => {
  test('mention nobody and link nowhere in Slack', () => {
    const { text, blocks } = parsed('slack', hostile)
    // In plain text, nothing is parsed.
    expect(blocks[0].text.type).toBe('plain_text')
    expect(text).not.toMatch(/[<>]/)
    expect(text).toContain('&lt;!channel&gt;')
    expect(text).toContain('&amp;amp;')
  })

  test('are not Markdown in Teams', () => {
    const { body } = parsed('teams', hostile).attachments[0].content
    expect(JSON.stringify(body)).not.toContain('"TextBlock"')
    expect(body[0]).toEqual({
      type: 'RichTextBlock',
      inlines: [{ type: 'TextRun', text: expect.stringContaining('@everyone'), weight: 'bolder' }],
    })
  })

  test('mention nobody and link nowhere in Discord', () => {
    const { content, allowed_mentions } = parsed('discord', hostile)
    expect(allowed_mentions).toEqual({ parse: [] })
    const [title] = content.split('\n')
    expect(title).toContain('\\@everyone')
    expect(title).toContain('\\[click\\]\\(https\\:')
    expect(title).not.toMatch(/[^\\][@<[\]`]/)
  })

  test('mention nobody and link nowhere in other chats', () => {
    const { text } = parsed('chat', hostile)
    expect(text).not.toMatch(/@everyone|<|>|\]\(|https:\/\/evil/)
  })

  test('stay on their line', () => {
    const event = { ...EVENT, object: { ...EVENT.object!, name: 'a\nb\r\u2028c\u202Ed' } }
    expect(parsed('chat', event, []).text.split('\n')[0]).toBe('Bill a b c d sent')
  })
})
