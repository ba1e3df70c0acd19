/**
 * Random scenarios of recording, reproducible by seed: reports and telemetry of a few sessions in every order, and the
 * decisions of people in between. Pure: `recording.ts` carries the acts out.
 */
import type { SessionSource, UnknownProjects } from '../../src/database/schema/values.ts'
import type { Decision } from '../../src/features/entries/approval/states.ts'
import { sortLabels } from '../../src/features/entries/reporting/report-fields.ts'
import { type Observation, PARTS, type Part } from '../../src/features/telemetry/channels/observation.ts'
import { Random } from '../../src/lib/random.ts'
import { BASE, NEW_PROJECTS, PROJECTS, RandomReports, type ReportBody, TICKETS } from './recording-reports.ts'

/** A report that one person sends. `source` is absent for one that the agent itself sends. */
export interface Sent {
  what: 'report'
  who: string
  body: ReportBody
  key?: string | undefined
  source?: SessionSource | undefined
}

interface Kinds {
  /** Reports that are sent at the same moment; the order of the list is that in which they are sent. */
  group: { sent: Sent[] }
  batch: { who: string; items: unknown[]; key: string | undefined }
  push: { who: string; observations: Observation[] }
  /** `target` chooses an entry, and `all` the others of its session as well. */
  decide: { action: Decision; target: number; all: boolean }
  place: { target: number; all: boolean; project: string | null | undefined; ticket: string | null | undefined }
  correct: {
    target: number
    summary: string | null | undefined
    labels: Record<string, string> | null | undefined
    /** Input tokens. */
    input: number | undefined
  }
  divide: { target: number; project: string; weights: number[] }
  undivide: { target: number }
  bill: { project: string }
  voidBill: object
  settings: { unknownProjects?: UnknownProjects; telemetryByEmail?: boolean }
  rename: { who: string; name: string }
  addProject: { key: string; aliases: string[] }
  alias: { project: string; alias: string }
  archive: { project: string; restore: boolean }
  merge: { project: string; into: string }
  ticket: { ticket: string; project: string | null; add: boolean }
  rule: { name: string; change: 'add' | 'remove' | 'enable' | 'disable' | 'project' | 'ticket'; to: string }
  applyRules: object
  price: { model: string; input: number; from: string; tiered: boolean; cached: boolean }
  revalue: { all: boolean }
  assign: { email: string; who: string }
  tidy: object
}

export type Act = { after: number } & (Sent | { [What in keyof Kinds]: { what: What } & Kinds[What] }[keyof Kinds])

export interface ScenarioOptions {
  acts: number
  /**
   * Whether the reports of a group do not depend on each other, so that their order does not matter: transactions of
   * PostgreSQL have none.
   */
  independent: boolean
}

export const PEOPLE = ['ada', 'bob', 'cyd'] as const
/** Organization tokens, each named after the person who created it. */
export const ORGANIZATIONS = ['org-cyd', 'org-dan'] as const

const EMAILS = [
  'ada@example.com',
  'bob@example.com',
  'cyd@example.com',
  'dan@example.com',
  'stranger@example.com',
  'guest@example.com',
] as const

/** The rules that scenarios add, by name. */
export const RULES: Record<
  string,
  { conditions: { field: string; matches: string }[]; project: string; ticket: string | null }
> = {
  branch: {
    conditions: [
      { field: 'labels.repository', matches: 'led/*' },
      { field: 'labels.branch', matches: '/(?<ticket>[A-Za-z]+-[0-9]+)/' },
    ],
    project: 'LED',
    ticket: '{ticket}',
  },
  repository: { conditions: [{ field: 'labels.repository', matches: 'acme/*' }], project: 'ACME', ticket: null },
  family: { conditions: [{ field: 'model', matches: 'claude-*' }], project: 'OLD', ticket: null },
  summary: { conditions: [{ field: 'summary', matches: '/fix/i' }], project: 'WEB', ticket: 'WEB-3' },
  manager: { conditions: [{ field: 'agent_manager', matches: 'bob*' }], project: 'WEB', ticket: null },
  provider: { conditions: [{ field: 'provider', matches: 'bedrock' }], project: 'LED', ticket: null },
  agent: { conditions: [{ field: 'agent_name', matches: 'reviewer' }], project: 'ACME', ticket: 'loose' },
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** The acts of a scenario. Its sessions and keys begin with the seed, so that a database can have several scenarios. */
export function scenarioOf(seed: number, { acts, independent }: ScenarioOptions): Act[] {
  const random = new Random(seed)
  const scenario = new Scenario(seed, random, independent)
  const chosen = [...scenario.opening(), ...Array.from({ length: acts }, () => scenario.act())]
  return chosen.slice(0, acts).map((act) => ({ after: scenario.pause(), ...act }) as Act)
}

type Chosen = Act extends infer Each ? (Each extends Act ? Omit<Each, 'after'> : never) : never

class Scenario {
  readonly #reports: RandomReports
  readonly #earlier: Sent[] = []
  readonly #organization: boolean
  readonly #people: readonly string[]

  constructor(
    readonly seed: number,
    readonly random: Random,
    readonly independent: boolean,
  ) {
    this.#reports = new RandomReports(seed, random)
    // Where organization tokens join sessions, service tokens rarely begin them, and the other way round.
    this.#organization = random.chance(0.5)
    this.#people = PEOPLE.slice(0, 1 + random.below(PEOPLE.length))
  }

  /** The settings and rules that the scenario begins with; later acts change some of them. */
  opening(): Chosen[] {
    const { random } = this
    const unknownProjects = random.pick(['create', 'hold'] as const)
    const rules = Object.keys(RULES).filter(() => random.chance(0.3))
    return [
      { what: 'settings', unknownProjects, telemetryByEmail: random.chance(0.7) },
      ...rules.map((name): Chosen => ({ what: 'rule', name, change: 'add', to: '' })),
    ]
  }

  /** Mostly minutes; sometimes so long that telemetry forgets which calls it has counted. */
  pause(): number {
    if (this.random.chance(0.02)) return 8 * DAY_MS
    return this.random.chance(0.5) ? 0 : this.random.below(90) * MINUTE_MS
  }

  act(): Chosen {
    const { random } = this
    const kinds: [weight: number, make: () => Chosen][] = [
      [40, () => this.#sent()],
      [12, () => ({ what: 'group', sent: this.#group(2 + random.below(7)) })],
      [8, () => this.#batch()],
      [18, () => this.#push()],
      [12, () => this.#decide()],
      [3, () => this.#place()],
      [2, () => this.#correct()],
      [3, () => this.#divide()],
      [1, () => ({ what: 'undivide', target: random.bits() })],
      [2, () => ({ what: 'bill', project: random.pick(PROJECTS) })],
      [1, () => ({ what: 'voidBill' })],
      [2, () => this.#settings()],
      [1, () => ({ what: 'rename', who: random.pick(PEOPLE), name: `Name ${random.below(3)}` })],
      [6, () => this.#work()],
      [5, () => this.#rule()],
      [1, () => ({ what: 'applyRules' })],
      [2, () => this.#price()],
      [1, () => ({ what: 'revalue', all: random.chance(0.5) })],
      [3, () => ({ what: 'assign', email: random.pick(EMAILS), who: random.pick(PEOPLE) })],
      [1, () => ({ what: 'tidy' })],
    ]
    let at = random.below(kinds.reduce((sum, [weight]) => sum + weight, 0))
    for (const [weight, make] of kinds) {
      if (at < weight) return make()
      at -= weight
    }
    throw new Error('unreachable')
  }

  #who(): string {
    if (this.random.chance(this.#organization ? 0.7 : 0.1)) return this.random.pick(ORGANIZATIONS)
    return this.random.pick(this.#people)
  }

  #sent(): Sent {
    const { random } = this
    if (this.#earlier.length > 0 && random.chance(0.08)) return random.pick(this.#earlier)
    const sent = this.#newlySent()
    this.#earlier.push(sent)
    return sent
  }

  #newlySent(): Sent {
    const { random } = this
    if (random.chance(0.6)) {
      const key = random.chance(0.35) ? `${this.seed}:k-${random.below(4)}` : undefined
      return { what: 'report', who: random.pick(this.#people), body: this.#reports.next(), key }
    }
    const source = random.pick(['report', 'log', 'span', 'metric'] as const)
    // Only a report of the agent itself may have no session.
    return { what: 'report', who: this.#who(), body: this.#reports.ofSession(), source }
  }

  #group(length: number): Sent[] {
    const sent = Array.from({ length }, () => this.#sent())
    return this.independent ? independentOf(sent) : sent
  }

  #batch(): Chosen {
    const { random } = this
    const who = random.pick(this.#people)
    const key = random.chance(0.3) ? `${this.seed}:b-${random.below(2)}` : undefined
    const bodies = Array.from({ length: 2 + random.below(10) }, () => this.#reports.next())
    const sent = bodies.map((body): Sent => ({ what: 'report', who, body }))
    const items: unknown[] = (this.independent ? independentOf(sent) : sent).map(({ body }) => body)
    if (random.chance(0.4)) items.splice(random.below(items.length), 0, this.#reports.invalid())
    return { what: 'batch', who, key, items }
  }

  #push(): Chosen {
    const { random } = this
    const who = this.#who()
    const observations = Array.from({ length: 1 + random.below(6) }, () => this.#observation())
    // Sessions that no service token reports stay without an identified owner until they are assigned.
    const isOwn = who.startsWith('org-') && random.chance(0.5)
    const own = (each: Observation) => ({ ...each, session: `${this.seed}:o-${random.below(2)}` })
    return { what: 'push', who, observations: isOwn ? observations.map(own) : observations }
  }

  #observation(): Observation {
    const { random } = this
    const { agent_harness: harness, agent_name: agent, session_id, model, ...body } = this.#reports.ofSession()
    const source = random.pick(['log', 'span', 'metric'] as const)
    const isTimeless = random.chance(0.05)
    const endedAt = random.chance(0.02) ? BASE + 90 * DAY_MS : Date.parse(body.ended_at)
    return {
      channel: `scenario.${source}`,
      source,
      harness,
      version: random.chance(0.2) ? '1.2' : null,
      agent,
      session: session_id!,
      model,
      provider: body.provider ?? null,
      service: random.chance(0.1) ? { serviceTier: null, speed: 'fast', region: null } : null,
      project: body.project ?? null,
      ticket: body.ticket ?? null,
      labels: (body.labels && sortLabels(body.labels)) ?? null,
      email: random.chance(0.6) ? random.pick(EMAILS) : null,
      startedAt: isTimeless ? null : Date.parse(body.started_at),
      endedAt: isTimeless ? null : endedAt,
      usage: source === 'metric' ? this.#point(`${session_id} ${harness} ${model}`) : this.#call(),
    }
  }

  #call(): Observation['usage'] {
    const { random } = this
    const identity = () => hex(`call ${random.below(40)}`)
    const parts = Object.fromEntries(PARTS.map((part) => [part, 0])) as Record<Part, number>
    parts.output = random.below(8) * 15
    parts[random.pick(['input', 'inputSide'] as const)] = random.chance(0.1) ? 300_000 : random.below(5) * 20
    if (random.chance(0.3)) parts[random.pick(['cacheRead', 'cacheWrite', 'cacheWrite1h'] as const)] = 30
    return {
      kind: 'request',
      identity: identity(),
      repeats: random.chance(0.1) ? [identity()] : [],
      claims: random.chance(0.1) ? [identity()] : [],
      parts,
      costNanos: random.chance(0.3) ? null : BigInt(random.below(4)) * 250_000_000n,
    }
  }

  #point(of: string): Observation['usage'] {
    const { random } = this
    const part = random.pick(['input', 'output', 'output', 'output', 'cacheRead', 'cost'] as const)
    const kind = random.pick(['delta', 'cumulative'] as const)
    const time = random.below(20)
    return {
      kind,
      stream: hex(kind === 'delta' ? `${of} ${part} ${time}` : `${of} ${part} ${random.below(2)}`),
      timeNanos: BigInt(time),
      part,
      value: BigInt(random.below(12)) * (part === 'cost' ? 100_000_000n : 20n),
    }
  }

  #decide(): Chosen {
    const { random } = this
    const action = random.pick([
      'approve',
      'approve',
      'approve',
      'approve',
      'approve',
      'reject',
      'reopen',
      'withdraw_approval',
      'release',
      'discard',
      'void',
      'void',
      'restore',
    ] as const)
    return { what: 'decide', action, target: random.bits(), all: random.chance(0.5) }
  }

  #place(): Chosen {
    const { random } = this
    const project = random.pick([undefined, null, ...PROJECTS])
    const ticket = random.pick([undefined, undefined, null, ...TICKETS])
    return { what: 'place', target: random.bits(), all: random.chance(0.3), project, ticket }
  }

  #correct(): Chosen {
    const { random } = this
    const summary = random.pick([undefined, null, 'fix it by hand'])
    const labels = random.pick([undefined, null, { repository: 'led/app', branch: 'LED-1' }, { repository: 'acme/x' }])
    const input = random.chance(0.5) ? random.below(100) : undefined
    return { what: 'correct', target: random.bits(), summary, labels, input }
  }

  #divide(): Chosen {
    const { random } = this
    const weights = Array.from({ length: 2 + random.below(2) }, () => 1 + random.below(9))
    return { what: 'divide', target: random.bits(), project: random.pick(PROJECTS), weights }
  }

  #settings(): Chosen {
    if (this.random.chance(0.5)) return { what: 'settings', telemetryByEmail: this.random.chance(0.6) }
    return { what: 'settings', unknownProjects: this.random.pick(['create', 'hold'] as const) }
  }

  #work(): Chosen {
    const { random } = this
    const project = random.pick(PROJECTS)
    switch (random.below(5)) {
      case 0:
        return { what: 'addProject', key: random.pick(NEW_PROJECTS), aliases: [] }
      case 1:
        return { what: 'alias', project, alias: random.pick(NEW_PROJECTS) }
      case 2:
        return { what: 'archive', project, restore: random.chance(0.5) }
      case 3:
        return { what: 'merge', project: random.pick([...NEW_PROJECTS, 'OLD']), into: random.pick(PROJECTS) }
      default: {
        const to = random.pick([null, ...PROJECTS])
        return { what: 'ticket', ticket: random.pick(TICKETS), project: to, add: random.chance(0.3) }
      }
    }
  }

  #rule(): Chosen {
    const { random } = this
    const change = random.pick(['add', 'add', 'remove', 'enable', 'disable', 'project', 'ticket'] as const)
    const to = change === 'ticket' ? random.pick(TICKETS) : random.pick(PROJECTS)
    return { what: 'rule', name: random.pick(Object.keys(RULES)), change, to }
  }

  #price(): Chosen {
    const { random } = this
    return {
      what: 'price',
      model: random.pick(['gpt-5-codex', 'claude-sonnet-5', 'local-model']),
      input: 1 + random.below(5),
      from: random.pick(['always', '2026-11-20T09:00:00Z', '2026-11-20T10:00:00Z']),
      tiered: random.chance(0.3),
      cached: random.chance(0.6),
    }
  }
}

/**
 * The reports that neither continue nor affect one another: each of another session or content, and without names that
 * the first of them would create or assign.
 */
function independentOf(sent: Sent[]): Sent[] {
  const seen = new Set<string>()
  return sent.flatMap(({ key: _, body: { ticket: _ticket, labels: _labels, project, ...body }, ...rest }) => {
    const known = PROJECTS.find((each) => each === project)
    const own = { ...body, ...(known !== undefined && { project: known }) }
    const identity = own.session_id?.toLowerCase() ?? JSON.stringify([rest.who, own])
    if (seen.has(identity)) return []
    seen.add(identity)
    return [{ ...rest, body: own }]
  })
}

/** 32 hexadecimal digits that depend on the text alone. */
function hex(text: string): string {
  return new Bun.CryptoHasher('md5').update(text).digest('hex')
}
