import { expect, test } from 'bun:test'
import {
  changeOf,
  defaultsOf,
  draftOf,
  duplicateOf,
  emptyEntry,
  isCostOnly,
  nextEntry,
  readableCounts,
  timeOfNew,
  valuesOf,
} from '../../../src/web/pages/sheets/entry-values.ts'

const ZONE = 'Europe/Berlin'

const entry = {
  agent_harness: 'browser',
  agent_name: 'chat',
  model: 'gpt-5',
  provider: null,
  started_at: '2026-11-02T08:00:00.123Z',
  ended_at: '2026-11-02T09:30:00.000Z',
  tokens: {
    input: 300_000,
    output: 5,
    cache_read: 0,
    cache_write: 0,
    cache_write_1h: 0,
    total: 300_005,
    over_200k: { input: 250_000, output: 1, cache_read: 0, cache_write: 0, cache_write_1h: 0 },
    input_audio: 90,
    input_image: null,
    output_audio: null,
    output_image: null,
  },
  requests_above: [{ threshold: 200_000, input: 250_000, output: 1, cache_read: 0, cache_write: 0, cache_write_1h: 0 }],
  reported_cost: 0.5,
  requests: null,
  project: { id: 'prj_1', key: 'ACME', name: 'Acme' },
  ticket: null,
  placement: { by: 'named' },
  summary: null,
  labels: { branch: 'main' },
} as unknown as Parameters<typeof valuesOf>[0]

test('a draft contains only the fields that were filled in, and times in the organization’s zone', () => {
  const values = {
    ...emptyEntry('2026-11-01 09:00:00'),
    agent_harness: ' browser ',
    agent_name: 'chat',
    model: 'gpt-5',
    input: 0,
    output: '12',
    cache_read: 7,
    labels: 'branch=a=b\n\n repository = acme/web ',
  }
  expect<object>(draftOf(values, ZONE)).toEqual({
    agent_harness: 'browser',
    agent_name: 'chat',
    model: 'gpt-5',
    started_at: '2026-11-01T08:00:00.000Z',
    ended_at: '2026-11-01T08:00:00.000Z',
    tokens: { input: 0, output: 12, cache_read: 7 },
    labels: { branch: 'a=b', repository: 'acme/web' },
  })
})

test('a change keeps what the form does not show: milliseconds, long requests and the assignment', () => {
  const change = changeOf({ ...valuesOf(entry, ZONE), output: 6, labels: '' }, entry, ZONE)
  expect<object>(change).toEqual({
    agent_harness: 'browser',
    agent_name: 'chat',
    model: 'gpt-5',
    provider: null,
    reported_cost: 0.5,
    requests: null,
    summary: null,
    labels: null,
    tokens: { input: 300_000, output: 6, input_audio: 90 },
    requests_above: entry.requests_above,
  })
  expect(
    changeOf({ ...valuesOf(entry, ZONE), started_at: '2026-11-02 10:00:00', project: '' }, entry, ZONE),
  ).toMatchObject({
    started_at: '2026-11-02T09:00:00.000Z',
    project: null,
  })
})

test('an assignment by a rule is not sent, so that rules keep applying', () => {
  const placed = {
    ...entry,
    placement: { by: 'rule' },
    ticket: { id: 'tkt_1', key: 'ACME-42', title: null },
  } as unknown as typeof entry
  const values = valuesOf(placed, ZONE)
  expect(values).toMatchObject({ project: '', ticket: '' })
  expect(changeOf(values, placed, ZONE)).not.toContainKeys(['project', 'ticket'])
})

test('the next entry keeps the agent, the times and the work, but no counts, cost or summary', () => {
  const values = { ...valuesOf(entry, ZONE), summary: 'Review' }
  const { agent_name, started_at, project, labels } = values
  expect(nextEntry(values)).toMatchObject({ agent_name, started_at, project, labels })
  expect(nextEntry(values)).toMatchObject({ input: '', output: '', cache_read: '', reported_cost: '', summary: '' })
})

test('a new entry starts now, or at this time of the nearest day of the period', () => {
  const at = (from: string, to: string) => timeOfNew({ from, to }, ZONE, new Date('2026-11-25T22:59:59Z'))
  expect(at('2026-11-01', '2026-11-30')).toBe('2026-11-25 23:59:00')
  expect(at('2026-10-01', '2026-10-31')).toBe('2026-10-31 23:59:00')
  expect(at('2026-12-01', '2026-12-31')).toBe('2026-12-01 23:59:00')
})

test('what was used last is the default, without a project that a rule assigned', () => {
  const used = { agent_harness: 'browser', agent_name: 'chat', model: 'gpt-5' }
  expect(defaultsOf(entry)).toEqual({ ...used, project: 'ACME' })
  const placed = { ...entry, placement: { by: 'rule' } } as unknown as typeof entry
  expect(defaultsOf(placed)).toEqual({ ...used, project: '' })
})

test('a duplicate has no numbers, and its own time', () => {
  const time = '2026-11-25 10:00:00'
  expect(duplicateOf(entry, ZONE, time)).toMatchObject({
    agent_name: 'chat',
    project: 'ACME',
    labels: 'branch=main',
    started_at: time,
    ended_at: time,
    input: '',
    output: '',
    reported_cost: '',
  })
})

test('an entry with a cost only is sent with counts of 0, and recognized by them', () => {
  const values = { ...emptyEntry('2026-11-01 09:00:00'), cost_only: true, input: 5, reported_cost: 12.5 }
  expect(draftOf(values, ZONE)).toMatchObject({ tokens: { input: 0, output: 0 }, reported_cost: 12.5 })
  const only = { ...entry, tokens: { ...entry.tokens, total: 0 } } as typeof entry
  expect([isCostOnly(only), isCostOnly(entry)]).toEqual([true, false])
  expect(valuesOf(only, ZONE).cost_only).toBe(true)
  expect(readableCounts({ ...values, input: Number.NaN, output: 5 })).toMatchObject({ input: '', output: 5 })
})
