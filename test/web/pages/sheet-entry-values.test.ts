import { expect, test } from 'bun:test'
import { changeOf, draftOf, emptyEntry, nextEntry, valuesOf } from '../../../src/web/pages/sheets/entry-values.ts'

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
    ...emptyEntry('2026-11-01'),
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
    ended_at: '2026-11-01T09:00:00.000Z',
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
