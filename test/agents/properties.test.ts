/** Random transcripts, whose true sums are known from how they are made. */
import { expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import type { Counts, SessionUse } from '../../src/agents/agent.ts'
import { AgentHome, byName, type Figures, figuresOf, withCells } from '../support/agent-home.ts'
import { runs } from '../support/tier.ts'

const KINDS = ['input', 'output', 'cache_read', 'cache_write', 'cache_write_1h'] as const
const keyOf = ({ sessionId, model }: SessionUse) => `${sessionId} ${model}`

const MODELS = ['claude-sonnet-4-5', 'claude-opus-4-8'] as const

interface Call {
  id: string
  model: string
  at: number
  counts: Counts
  /** The output of each line that tells of it, of which the largest is true. */
  outputs: number[]
  /** Where its lines stand: in the session's file, or in that of a sub-agent. */
  agent: number
}

interface Session {
  id: string
  /** What it made itself. */
  calls: Call[]
  /** What it copied, with the session that it says it has it from. */
  copied: { call: Call; from: string }[]
}

const count = fc.integer({ min: 0, max: 10 ** 9 })
const aCall = fc.record({
  model: fc.constantFrom(...MODELS),
  pauseMs: fc.integer({ min: 1, max: 3_600_000 }),
  counts: fc.record({
    input: count,
    output: fc.constant(0),
    cache_read: count,
    cache_write: count,
    cache_write_1h: count,
  }),
  outputs: fc.array(fc.integer({ min: 1, max: 10 ** 9 }), { minLength: 1, maxLength: 4 }),
  agent: fc.constantFrom(0, 0, 0, 1, 2),
})
const aSession = fc.record({
  calls: fc.array(aCall, { minLength: 1, maxLength: 8 }),
  /** Which earlier session it is a fork of, if any, and how much of it it copies. */
  forkOf: fc.option(fc.nat(), { nil: undefined }),
  share: fc.double({ min: 0, max: 1, noNaN: true }),
})

const START = Date.parse('2026-11-01T00:00:00Z')

function sessionsOf(drawn: (typeof aSession extends fc.Arbitrary<infer Drawn> ? Drawn : never)[]): Session[] {
  const sessions: Session[] = []
  let serial = 0
  for (const [index, { calls, forkOf, share }] of drawn.entries()) {
    let at = START + index * 60_000
    const original = forkOf === undefined || index === 0 ? undefined : sessions[forkOf % index]!
    const held = original ? [...original.copied.map(({ call }) => call), ...original.calls] : []
    const copied = held.slice(0, Math.ceil(held.length * share)).filter(({ agent }) => agent === 0)
    sessions.push({
      // Names that do not sort as the sessions were made.
      id: `${(index * 7) % 10}-session-${index}`,
      calls: calls.map(({ pauseMs, ...call }) => {
        at += pauseMs
        serial += 1
        return { ...call, id: `m${serial}`, at }
      }),
      copied: copied.map((call) => ({ call, from: original!.id })),
    })
  }
  return sessions
}

function linesOf(call: Call, session: string, more: object = {}): string[] {
  const { input, cache_read, cache_write, cache_write_1h } = call.counts
  return call.outputs.map((output) =>
    JSON.stringify({
      type: 'assistant',
      message: {
        id: call.id,
        model: call.model,
        usage: {
          ...{ input_tokens: input, output_tokens: output, cache_read_input_tokens: cache_read },
          cache_creation_input_tokens: cache_write + cache_write_1h,
          cache_creation: { ephemeral_5m_input_tokens: cache_write, ephemeral_1h_input_tokens: cache_write_1h },
        },
      },
      requestId: `r-${call.id}`,
      sessionId: session,
      timestamp: new Date(call.at).toISOString(),
      isSidechain: call.agent > 0,
      ...more,
    }),
  )
}

/** Files by their path, their lines in no order and some of them twice. */
function filesOf(sessions: Session[], shuffle: (lines: string[]) => string[]): Map<string, string[]> {
  const files = new Map<string, string[]>()
  for (const { id, calls, copied } of sessions) {
    const path = (agent: number) => (agent === 0 ? `p/${id}.jsonl` : `p/${id}/subagents/agent-${agent}.jsonl`)
    const add = (agent: number, lines: string[]) =>
      files.set(path(agent), [...(files.get(path(agent)) ?? []), ...lines])
    for (const call of calls) add(call.agent, linesOf(call, id))
    for (const { call, from } of copied) add(0, linesOf(call, id, { forkedFrom: { sessionId: from } }))
  }
  return new Map([...files].map(([path, lines]) => [path, shuffle(lines)]))
}

/** Each call once, where it was made, with its largest output. */
function truth(sessions: Session[]): Figures[] {
  return sessions
    .flatMap(({ id, calls }) =>
      MODELS.flatMap((model) => {
        const own = calls.filter((call) => call.model === model)
        const sum = (of: (call: Call) => number) => own.reduce((total, call) => total + of(call), 0)
        const figures = {
          ...{ agent_harness: 'claude-code', session_id: id, model, requests: own.length },
          input: sum(({ counts }) => counts.input),
          output: sum(({ outputs }) => Math.max(...outputs)),
          cache_read: sum(({ counts }) => counts.cache_read),
          cache_write: sum(({ counts }) => counts.cache_write),
          cache_write_1h: sum(({ counts }) => counts.cache_write_1h),
        }
        return own.length > 0 ? [figures] : []
      }),
    )
    .sort(byName)
}

test('each call counts once for its original session, in any order of lines, repetitions and copies in forks', () => {
  fc.assert(
    fc.property(fc.array(aSession, { minLength: 1, maxLength: 6 }), fc.infiniteStream(fc.nat()), (drawn, chance) => {
      const next = (limit: number) => chance.next().value! % limit
      const shuffle = (lines: string[]) => {
        const all = lines.flatMap((line) => (next(4) === 0 ? [line, line] : [line]))
        for (let at = all.length - 1; at > 0; at--) {
          const other = next(at + 1)
          ;[all[at], all[other]] = [all[other]!, all[at]!]
        }
        return all
      }
      const sessions = sessionsOf(drawn)
      const home = new AgentHome()
      try {
        for (const [path, lines] of filesOf(sessions, shuffle))
          home.write(`.claude/projects/${path}`, `${lines.join('\n')}\n`)
        const { uses, damage } = home.scan({ agents: ['claude-code'] })
        expect(damage).toEqual([])
        expect(uses.map(figuresOf).sort(byName)).toEqual(truth(sessions))
        // The same again, from what was kept.
        expect(withCells(home.scan({ agents: ['claude-code'] }).uses)).toEqual(withCells(uses))
      } finally {
        home.remove()
      }
    }),
    { numRuns: runs(150, 50) },
  )
}, 300_000)

test('calls stay with their sessions when files are removed, also copies that do not name their original', () => {
  const removal = fc.record({ share: fc.double({ min: 0, max: 1, noNaN: true }), cache: fc.boolean() })
  fc.assert(
    fc.property(
      fc.array(aSession, { minLength: 2, maxLength: 6 }),
      fc.array(removal, { minLength: 1, maxLength: 3 }),
      fc.infiniteStream(fc.nat(99)),
      (drawn, removals, chance) => {
        const home = new AgentHome()
        try {
          const files = filesOf(sessionsOf(drawn), (lines) =>
            lines.map((line) => line.replace(/"forkedFrom":\{[^}]*\}/, '"forkedFrom":null')),
          )
          for (const [path, lines] of files) home.write(`.claude/projects/${path}`, `${lines.join('\n')}\n`)
          const before = new Map(home.uses('claude-code').map((use) => [keyOf(use), figuresOf(use)]))
          const left = new Set(files.keys())
          for (const { share, cache } of removals) {
            for (const path of [...left].filter(() => chance.next().value! < share * 100)) {
              rmSync(join(home.folder, '.claude/projects', path))
              left.delete(path)
            }
            if (cache) rmSync(join(home.folder, '.cache'), { recursive: true })
            const after = home.uses('claude-code')
            for (const use of after) {
              const [figures, first] = [figuresOf(use), before.get(keyOf(use))!]
              for (const count of ['requests', ...KINDS] as const) {
                expect(figures[count]).toBeLessThanOrEqual(first?.[count] ?? 0)
              }
            }
            for (const [key, figures] of before) {
              const isWhole = [...files.keys()].every((path) => !path.includes(figures.session_id) || left.has(path))
              if (isWhole) expect(after.filter((use) => keyOf(use) === key).map(figuresOf)).toEqual([figures])
            }
          }
        } finally {
          home.remove()
        }
      },
    ),
    { numRuns: runs(300, 30), endOnFailure: true },
  )
}, 300_000)

test('whatever bytes a file is cut or broken into, a scan ends, and counts no call twice', () => {
  const whole = linesOf(
    {
      id: 'm1',
      model: MODELS[0],
      at: START,
      counts: { input: 1, output: 0, cache_read: 2, cache_write: 3, cache_write_1h: 4 },
      outputs: [5, 9],
      agent: 0,
    },
    's',
  )
  const text = `${[...whole, ...whole].join('\n')}\n`
  const broken = fc.record({ at: fc.nat(text.length), cut: fc.nat(40), put: fc.uint8Array({ maxLength: 20 }) })
  fc.assert(
    fc.property(fc.array(broken, { maxLength: 4 }), (breaks) => {
      let bytes = Buffer.from(text)
      for (const { at, cut, put } of breaks)
        bytes = Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(at + cut)])
      const home = new AgentHome()
      try {
        home.write('.claude/projects/p/s.jsonl', bytes)
        const { uses } = home.scan()
        if (breaks.length === 0) expect(uses.map(({ requests }) => requests)).toEqual([1])
        for (const { tokens, requests } of uses) {
          expect(requests).toBeGreaterThan(0)
          expect(Object.values(tokens).every((each) => typeof each === 'object' || Number.isSafeInteger(each))).toBe(
            true,
          )
        }
      } finally {
        home.remove()
      }
    }),
    { numRuns: runs(150, 50) },
  )
}, 300_000)
