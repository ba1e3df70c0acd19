/** Random bodies of reports, of few sessions, names and times, so that they continue, repeat and contradict each other. */
import type { SliceReport, TokenEntryReport } from '../../src/features/entries/schema.ts'
import type { Random } from '../../src/lib/random.ts'

export type ReportBody = TokenEntryReport

/** The start of the first report of a scenario. */
export const BASE = Date.UTC(2026, 10, 20, 8)

/** Names of projects that exist from the beginning, and of others that reports and people add. */
export const PROJECTS = ['ACME', 'acme', 'Acme web', 'LED', 'OLD', 'WEB', 'side job'] as const
export const NEW_PROJECTS = ['fresh', 'Fresh', 'ZED', 'Cafe\u0301 bar'] as const
export const TICKETS = ['ACME-12', 'acme-12', 'LED-1', 'ZED-7', 'loose', 'WEB-3', 'fresh-4', 'Loose', '#47'] as const

const HARNESSES = ['codex', 'codex', 'codex', 'Codex', 'claude-code'] as const
const MODELS = [
  'gpt-5-codex',
  'GPT-5-Codex',
  'claude-sonnet-5',
  'claude-sonnet-5[1m]',
  'Claude-Sonnet-5',
  'local-model',
] as const
const AGENTS = ['builder', 'builder', 'reviewer'] as const
const PROVIDERS = ['openai', 'bedrock', 'anthropic'] as const
/** The names of harnesses, models, agents and providers. */
export const NAMES: readonly string[] = [...new Set([...HARNESSES, ...MODELS, ...AGENTS, ...PROVIDERS])]
const SUMMARIES = ['fix the build', 'Fix\nthe build', 'write tests', ''] as const
const LABELS = [
  {},
  { repository: 'led/app', branch: 'feature/LED-1' },
  { repository: 'led/app', branch: 'zed-7' },
  { branch: 'main', repository: 'acme/site' },
  { repository: 'other', team: '__proto__' },
] as const
const COSTS = [0, 0.5, 1, 2.25, 0.000_000_001, 12_345.678901] as const
const MINUTE_MS = 60_000

/** How many reports of sessions repeat an earlier one, and how many of the others continue one. */
const REPEATED_SHARE = 0.15
const GROWN_SHARE = 0.55
/** How many reports of sessions have slices. */
const SLICED_SHARE = 0.4

export class RandomReports {
  readonly #sent: ReportBody[] = []
  readonly #sliced: ReportBody[] = []

  /** Few in each scenario, so that reports meet. */
  readonly #models: readonly string[]
  readonly #sessions: number

  constructor(
    readonly seed: number,
    readonly random: Random,
  ) {
    this.#models = Array.from({ length: 3 }, () => random.pick(MODELS))
    this.#sessions = 1 + random.below(3)
  }

  /** A report that repeats, changes or continues an earlier one, or that has nothing in common with them. */
  next(): ReportBody {
    return this.random.chance(0.75) ? this.#ofSessionOrSliced() : this.#kept(this.#single())
  }

  #ofSessionOrSliced(): ReportBody {
    const { random } = this
    if (this.#sliced.length > 0 && random.chance(REPEATED_SHARE / 2)) return random.pick(this.#sliced)
    const body = this.ofSession()
    if (!random.chance(SLICED_SHARE)) return body
    const sliced = this.#inSlices(body)
    this.#sliced.push(sliced)
    return sliced
  }

  ofSession(): ReportBody {
    const { random } = this
    const earlier = this.#sent.filter(({ session_id }) => session_id !== undefined)
    if (earlier.length > 0 && random.chance(REPEATED_SHARE)) return random.pick(earlier)
    if (earlier.length > 0 && random.chance(GROWN_SHARE)) return this.#kept(this.#continued(random.pick(earlier)))
    return this.#kept({ ...this.#any(), session_id: this.#sessionId(random.below(this.#sessions)) })
  }

  /** The same use in some parts, which end with the report; earlier ones may be days before. */
  #inSlices(body: ReportBody): ReportBody {
    const { random } = this
    const { reported_cost: cost, tokens, requests: _requests, started_at: _start, ...rest } = body
    const { over_200k: _long, input_includes_cache: _includes, ...counts } = tokens!
    const parts = 1 + random.below(4)
    const share = (count: number, at: number) => {
      const each = Math.floor(count / parts)
      return at === 0 ? count - each * (parts - 1) : each
    }
    const slices = Array.from({ length: parts }, (_, at): SliceReport => {
      const end = Date.parse(body.ended_at) - at * random.pick([20, 90, 900, 2_000]) * MINUTE_MS
      const shares = Object.entries(counts).map(([name, count]) => [name, share(count as number, at)])
      return {
        started_at: new Date(end - random.below(3) * 10 * MINUTE_MS).toISOString(),
        ended_at: new Date(end).toISOString(),
        tokens: Object.fromEntries(shares) as SliceReport['tokens'],
        ...(cost !== undefined && { reported_cost: Math.round((cost / parts) * 1e6) / 1e6 }),
        ...(random.chance(0.6) && { labels: random.pick(LABELS) }),
        ...(random.chance(0.15) && { project: random.pick(PROJECTS) }),
        ...(random.chance(0.15) && { ticket: random.pick(TICKETS) }),
      }
    })
    const starts = slices.map(({ started_at }) => started_at).sort()
    return { ...rest, started_at: starts[0]!, slices } as ReportBody
  }

  /** One cannot be guessed, so that it is held if two people report it. */
  #sessionId(number: number): string {
    return number === 0
      ? `7abded9e-af37-492b-8216-${this.seed.toString(16).padStart(12, '0')}`
      : `${this.seed}:s-${number}`
  }

  /** An item of a batch that is rejected: its schema, its content or its names are not allowed. */
  invalid(): unknown {
    const body = this.#any()
    return this.random.pick([
      'not an object',
      { ...body, tokens: { input: -1, output: 0 } },
      { ...body, ended_at: '2026-11-20T07:00:00Z' },
      { ...body, ended_at: '2027-11-20T07:00:00Z' },
      { ...body, project: 'none' },
      { ...body, tokens: { ...body.tokens, over_200k: { input: 9e9, output: 0 } } },
    ])
  }

  #kept(body: ReportBody): ReportBody {
    this.#sent.push(body)
    return body
  }

  #single(): ReportBody {
    const earlier = this.#sent.filter(({ session_id }) => session_id === undefined)
    return earlier.length > 0 && this.random.chance(0.4) ? this.random.pick(earlier) : this.#any()
  }

  /** Later totals of the same session; sometimes smaller ones. */
  #continued(body: ReportBody): ReportBody {
    const { random } = this
    const { reported_cost: cost, requests } = body
    const tokens = body.tokens!
    const more = random.chance(0.3) ? -40 : random.below(5) * 25
    const { project: _project, ticket: _ticket, labels: _labels, summary: _summary, ...rest } = body
    return {
      ...(random.chance(0.5) ? rest : body),
      ...this.#work(random.chance(0.2)),
      ended_at: new Date(Date.parse(body.ended_at) + (random.below(5) - 1) * 30 * MINUTE_MS).toISOString(),
      started_at: body.started_at,
      tokens: { ...tokens, output: Math.max(0, tokens.output + more) },
      ...(cost !== undefined && { reported_cost: Math.max(0, cost + more / 50) }),
      ...(requests !== undefined && { requests: Math.max(0, requests + Math.sign(more)) }),
      ...(random.chance(0.1) && { model: random.pick(this.#models) }),
      ...(random.chance(0.1) && { agent_name: random.pick(AGENTS) }),
    } as ReportBody
  }

  #any(): ReportBody {
    const { random } = this
    const startedAt = BASE + random.below(8) * 30 * MINUTE_MS
    return {
      agent_harness: random.pick(HARNESSES),
      agent_name: random.pick(AGENTS),
      model: random.pick(this.#models),
      started_at: new Date(startedAt).toISOString(),
      ended_at: new Date(startedAt + random.below(8) * 30 * MINUTE_MS).toISOString(),
      tokens: this.#tokens(),
      ...(random.chance(0.4) && { reported_cost: random.pick(COSTS) }),
      ...(random.chance(0.5) && { requests: random.below(20) }),
      ...(random.chance(0.3) && { provider: random.pick(PROVIDERS) }),
      ...this.#work(random.chance(0.7)),
    } as ReportBody
  }

  #tokens(): ReportBody['tokens'] {
    const { random } = this
    const counts = {
      input: random.pick([0, 10, 100, 250_000]),
      output: random.below(10) * 20,
      ...(random.chance(0.3) && { cache_read: random.below(3) * 40 }),
      ...(random.chance(0.2) && { cache_write: random.below(3) * 30 }),
      ...(random.chance(0.1) && { cache_write_1h: 25 }),
    }
    const { input, output, ...cache } = counts
    const cached = Object.values(cache).reduce((sum, count) => sum + count, 0)
    const includes = random.chance(0.2) && { input_includes_cache: true, input: input + cached }
    const over = random.chance(0.2) && { over_200k: { input: Math.floor(input / 2), output: Math.floor(output / 2) } }
    return { ...counts, ...includes, ...over }
  }

  /** The fields that place a report. */
  #work(isNamed: boolean): Partial<ReportBody> {
    const { random } = this
    if (!isNamed) return {}
    return {
      ...(random.chance(0.4) && { project: random.pick([...PROJECTS, ...NEW_PROJECTS, 'nowhere']) }),
      ...(random.chance(0.4) && { ticket: random.pick(TICKETS) }),
      ...(random.chance(0.4) && { summary: random.pick(SUMMARIES) }),
      ...(random.chance(0.4) && { labels: random.pick(LABELS) }),
    }
  }
}
