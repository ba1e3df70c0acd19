import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { actorOf, CHANGE_ACTIONS, type RecordedChange, sentenceOf } from '../../src/shared/change-sentences.ts'
import { HISTORY_ACTIONS, historySentenceOf, type Names, stepActorOf } from '../../src/shared/history-sentences.ts'
import { type Formats, type Named, type Part, textOf } from '../../src/shared/sentences.ts'

const formats: Formats = {
  money: (amount, currency) => `${currency} ${amount}`,
  count: (value) => value.toLocaleString('en'),
  day: (day) => `day ${day.slice(8)}`,
  moment: (at) => `at ${at.slice(11, 16)}`,
}

const fixture = <Row>(name: string): Row[] =>
  readFileSync(join(import.meta.dir, '../fixtures', name), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

/** Each change that tests of the features have recorded, in each of its forms. */
const CHANGES = fixture<RecordedChange>('recorded-changes.ndjson')
const STEPS = fixture<{ action: string; details: Record<string, unknown> }>('recorded-history.ndjson')

/** What must not be in a sentence: ids, JSON, times as computers write them, and what was not there. */
const UNREADABLE = /undefined|null|NaN|\[object|[a-z]{3}_[0-9a-f]{32}|[{}[\]]|T\d\d:\d\d:\d\d|\s\s|\s$|^$/

const said = (change: Partial<RecordedChange> & { action: string }) =>
  textOf(sentenceOf({ object: null, before: null, after: null, ...change }, formats))
const object = (name: string, id = 'prj_0') => ({ id, name })

describe('the sentence of a change', () => {
  test('is readable for everything that was recorded', () => {
    for (const change of CHANGES) {
      // Names are as people chose them.
      const text = said(change).replaceAll(change.object?.name ?? '', 'x')
      expect({ [change.action]: text }).not.toEqual({ [change.action]: expect.stringMatching(UNREADABLE) })
    }
  })

  test('is there for each action and event, also if nothing but its object is known', () => {
    expect(CHANGE_ACTIONS.length).toBeGreaterThan(140)
    for (const action of CHANGE_ACTIONS) {
      const text = said({ action, object: object('WEB') })
      expect({ [action]: text }).not.toEqual({ [action]: expect.stringMatching(UNREADABLE) })
      expect(text).not.toContain('recorded “')
    }
  })

  test('names values, amounts in their currency, and dates', () => {
    const of = (action: string) => CHANGES.filter((change) => change.action === action).map(said)
    expect(of('project.changed')).toContain('changed the markup of project WEB from none to 3%')
    expect(of('ticket.changed')).toContain('changed the project of ticket T-1 from B to none')
    expect(of('entries.rejected')).toEqual(['rejected 3 entries (USD 3.75): “All of it was a test”'])
    expect(of('sheet.approved')).toEqual(['approved the token sheet of leo, day 01 – day 30 (2 entries, USD 2.5)'])
    expect(of('client.changed')).toContain('turned reminders off for client Acme')
    expect(
      said({
        action: 'bill.paid',
        object: object('2026-0001', 'bil_0'),
        before: { amount_paid: 10.1 },
        after: { amount_paid: 30.3, currency: 'EUR' },
      }),
    ).toBe('recorded a payment of EUR 20.2 for bill 2026-0001, which is paid now')
    expect(
      said({
        action: 'budget.changed',
        object: object('Lab'),
        before: { amount: 5 },
        after: { amount: 8, measure: 'cost' },
      }),
    ).toBe('changed the budget of budget Lab from USD 5 to USD 8')
  })

  test('names the thing and links it, unless it was removed', () => {
    const id = `prj_${'0'.repeat(32)}`
    const change = {
      action: 'project.changed',
      object: { id, name: 'OLD' },
      before: { markup: 1 },
      after: { markup: 2 },
    }
    const links = (parts: Part[]) => parts.filter((part): part is Named => typeof part !== 'string' && part.id === id)
    expect(links(sentenceOf(change, formats))).toHaveLength(1)
    const removed = { ...change, removed: [id] }
    expect(links(sentenceOf(removed, formats))).toEqual([])
    expect(said(removed)).toBe('changed the markup of project OLD (removed since) from 1% to 2%')
    expect(said({ ...removed, action: 'project.removed' })).toBe('removed project OLD')
  })

  test('leaves out what is too long, and shows texts on one line', () => {
    const before = { address: 'x'.repeat(100), labels: { a: 'b' } }
    expect(
      said({ action: 'client.changed', object: object('Acme'), before, after: { address: 'y', labels: {} } }),
    ).toBe('changed client Acme: address, labels')
    expect(said({ action: 'entry.voided', object: object('e', 'ent_0'), after: { reason: 'a\n b' } })).toBe(
      'voided an entry: “a b”',
    )
  })

  test('of an action of another version says so', () => {
    expect(said({ action: 'thing.twisted_around', object: object('X') })).toBe('recorded “thing twisted around” of X')
    expect(said({ action: 'constructor' })).toBe('recorded “constructor”')
  })
})

test('who made a change is a person, their token, the command line or Tally', () => {
  const actor = (change: object) => textOf(actorOf({ user: null, token: null, ...change }))
  const user = { id: 'usr_ada', name: 'Ada' }
  expect([
    actor({ user, origin: '192.0.2.7' }),
    actor({ user, token: { name: 'ci' }, origin: '192.0.2.7' }),
    actor({ user, for: { id: 'usr_grace', name: 'Grace' }, origin: '192.0.2.7' }),
    actor({ user, origin: 'command line of root' }),
    actor({ origin: 'command line of root' }),
    actor({ origin: 'command line of root (sudo by grace)' }),
    actor({ origin: 'command line of user 0' }),
    actor({ origin: 'tally' }),
  ]).toEqual([
    'Ada',
    'Ada via token ci',
    'Ada for Grace',
    'Ada on the command line',
    'root on the command line',
    'grace on the command line',
    'The command line on the server',
    'Tally',
  ])
})

describe('the sentence of a step in the history of an entry', () => {
  const names: Names = { get: (id: string) => (id.startsWith('prj_') ? 'ACME' : undefined) } as Names
  const step = (action: string, details: Record<string, unknown> = {}) =>
    textOf(historySentenceOf({ action, details }, names, formats))

  test('is readable for everything that was recorded', () => {
    for (const { action, details } of STEPS) {
      expect({ [action]: step(action, details) }).not.toEqual({ [action]: expect.stringMatching(UNREADABLE) })
    }
  })

  test('is there for each action', () => {
    for (const action of HISTORY_ACTIONS) {
      const parts = { from: 'a', to: 'b', day: '2026-11-20', tokens: 1, tokens_before: 2 }
      expect(step(action, parts)).not.toMatch(UNREADABLE)
    }
  })

  test('names both places and why', () => {
    const place = (project: string | null, ticket: string | null = null) => ({
      project: project && { key: project },
      ticket: ticket && { key: ticket },
    })
    expect([
      step('placed', { from: place('ACME'), to: place('LUMEN'), because: 'by_hand' }),
      step('placed', { from: place(null), to: place('ACME', 'ACME-42'), because: 'rules_applied' }),
      step('placed', { from: place('ACME'), to: place(null), because: 'by_hand' }),
      step('placed', { from: place('ACME', 'A-1'), to: place('LAB'), summary: { from: null, to: 'x' } }),
      step('placed', { project: `prj_${'0'.repeat(32)}`, because: 'bill_voided' }),
      step('placed', { because: 'new_reason' }),
    ]).toEqual([
      'changed the project from ACME to LUMEN',
      'assigned it to ticket ACME-42, because the rules were applied to existing entries',
      'removed it from project ACME',
      'moved it from ticket A-1 to project LAB, and changed its summary',
      'assigned it to project ACME, because its bill was voided',
      'assigned it, because of new reason',
    ])
  })

  test('names people and projects that are gone as such', () => {
    const nobody: Names = new Map()
    const id = `usr_${'0'.repeat(32)}`
    expect(textOf(historySentenceOf({ action: 'assigned', details: { from: id, to: id } }, nobody, formats))).toBe(
      'changed the agent manager from somebody to somebody',
    )
    expect(textOf(historySentenceOf({ action: 'placed', details: { project: 'prj_1' } }, nobody, formats))).toBe(
      'assigned it to a removed project',
    )
  })

  test('says who did it', () => {
    const user = { id: 'usr_ada', name: 'Ada' }
    const who = (actor: Parameters<typeof stepActorOf>[0]['actor'], details = {}) =>
      textOf(stepActorOf({ actor, details }))
    expect([
      who({ user, token: null }),
      who({ user, token: { name: 'ci' } }),
      who(null),
      who({ user, token: null }, { for: { id: 'usr_grace', name: 'Grace' } }),
    ]).toEqual(['Ada', 'Ada via token ci', 'Tally', 'Ada for Grace'])
  })
})
