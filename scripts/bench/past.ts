/** The history of a population over two years, session by session in chronological order. */
import { type UsageDetails, usageDetails } from '../../src/shared/usage.ts'
import { type Harness, isUsedIn, type Manager, type Population, type Project, type Ticket } from './population.ts'
import { type Random, type Urn, urnOf } from './random.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

export const DAYS = 730

/** Monday is 0. Few work at weekends. */
const WEEKDAYS = [1, 1.05, 1.1, 1.05, 0.9, 0.16, 0.12]

/** Growth from start to end: agents became common in these years. */
const GROWTH = 3

/** Between Christmas and New Year. */
const HOLIDAY = 0.25

/** Shares of all entries. */
const IN_SESSION = 0.8
const SECOND_MODEL = 0.25
const CONTINUED = 0.06
const UNATTRIBUTED = 0.03
const ON_TICKET = 0.6
const LABELLED = 0.85
const SUMMARIZED = 0.9
const COST_REPORTED = 0.15
const PROVIDER_SAID = 0.2
const LONG_CONTEXT = 0.02
const APPROVED = 0.1
const REJECTED = 0.015
const REPEATED_BY_MISTAKE = 0.001

/** Median length of a session; the maximum is a day's work. */
const DURATION_MS = 9 * MINUTE_MS
const DURATION_LIMIT_MS = 10 * HOUR_MS

/** No approval is more recent, so that no session continues after the end. */
const SETTLED_MS = 3 * DAY_MS

/** How much of the work of a day begins in each hour, where a person is at work and where a schedule starts agents. */
const OFFICE_HOURS = [1, 0, 0, 0, 0, 1, 3, 8, 20, 30, 34, 30, 16, 24, 32, 32, 28, 22, 12, 8, 7, 6, 4, 2]
const ALL_HOURS = [20, 18, 30, 18, 12, 10, 9, 8, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 10, 12, 16]

const VERBS = 'Fix Rework Test Explain Review Speed up Document Replace Measure Simplify'
const OBJECTS =
  'the login|the checkout|the search index|two flaky tests|the import of orders|the price list|paging of the API|the settings page|the nightly job|error messages|the audit log|the mail templates'
const CIRCUMSTANCES =
  'when a cart is empty|for large accounts|after the upgrade|before the release|without a second query|on small screens|as the customer asked|where dates are missing'

const PROVIDERS = [
  { of: /^claude/, name: 'anthropic' },
  { of: /^(gpt|o\d|codex)/, name: 'openai' },
  { of: /^gemini/, name: 'google' },
]

/** A session, or an entry without one. */
export interface PastSession {
  /** The database's key, once it has one. */
  id: number | undefined
  key: string
  harness: string
  manager: Manager
}

export interface PastEntry {
  /** The database's key, once it has one. */
  id: number | undefined
  uid: Buffer
  manager: Manager
  status: 'submitted' | 'approved' | 'rejected'
  harness: string
  agent: string
  model: string
  provider: string | null
  startedAt: number
  endedAt: number
  counts: { input: number; output: number; cacheRead: number; cacheWrite: number; cacheWrite1h: number }
  details: UsageDetails | null
  requests: number | null
  /** The share of the list value that the caller reported as cost; null if it reported none. */
  reportedShare: number | null
  project: Project | null
  ticket: Ticket | null
  summary: string | null
  labelSetId: number | null
  session: PastSession | null
  part: number
  continues: PastEntry | null
  duplicateOf: PastEntry | null
  fingerprint: bigint | null
  createdAt: number
}

/** The usage of `total` entries until a day, each day's in the order of arrival. The last day may be empty. */
export function* past(random: Random, population: Population, total: number, until: number): Generator<PastEntry[]> {
  const writer = new Past(random, population, until)
  const from = until - DAYS * DAY_MS
  const volumes = Array.from({ length: DAYS }, (_, day) => volumeOf(random, from + day * DAY_MS, day / DAYS))
  const whole = volumes.reduce((sum, volume) => sum + volume, 0)
  let due = 0
  let waiting: PastEntry[] = []
  let made = 0
  for (const [day, volume] of volumes.entries()) {
    due += volume
    const target = day === DAYS - 1 ? total : Math.round((total * due) / whole)
    const start = from + day * DAY_MS
    writer.begin(start, day / DAYS)
    while (made < target) {
      const session = writer.session().slice(0, target - made)
      waiting.push(...session)
      made += session.length
    }
    waiting.sort((one, other) => one.createdAt - other.createdAt)
    const later = waiting.findIndex(({ createdAt }) => createdAt >= start + DAY_MS)
    const arrived = later < 0 ? waiting.length : later
    yield waiting.slice(0, arrived)
    waiting = waiting.slice(arrived)
  }
  yield waiting
}

function volumeOf(random: Random, start: number, share: number): number {
  const date = new Date(start)
  const holiday = date.toISOString().slice(5, 10) >= '12-24' ? HOLIDAY : 1
  return WEEKDAYS[(date.getUTCDay() + 6) % 7]! * (1 + share * (GROWTH - 1)) * holiday * (0.85 + random.fraction() * 0.3)
}

class Past {
  readonly #hours: Urn<number>
  readonly #allHours: Urn<number>
  readonly #summaries: string[]
  #models = new Map<Harness, Urn<string>>()
  #month = ''
  #start = 0
  #share = 0

  constructor(
    readonly random: Random,
    readonly population: Population,
    readonly until: number,
  ) {
    this.#hours = urnOf(OFFICE_HOURS.keys().toArray(), (hour) => OFFICE_HOURS[hour]!)
    this.#allHours = urnOf(ALL_HOURS.keys().toArray(), (hour) => ALL_HOURS[hour]!)
    const circumstances = CIRCUMSTANCES.split('|')
    this.#summaries = VERBS.split(' ').flatMap((verb) =>
      OBJECTS.split('|').flatMap((object) => circumstances.map((circumstance) => `${verb} ${object} ${circumstance}`)),
    )
  }

  /** Goes on to the day that begins at `start`, when `share` of the whole time is over. */
  begin(start: number, share: number): void {
    this.#start = start
    this.#share = share
    const month = new Date(start).toISOString().slice(0, 7)
    if (month === this.#month) return
    this.#month = month
    this.#models = new Map(
      this.population.harnesses.map((harness) => {
        const used = harness.models.filter((model) => isUsedIn(month, model))
        return [harness, urnOf(used, ({ weight = 1 }) => weight).map(({ name }) => name)]
      }),
    )
  }

  /** The entries of one more session of the day. */
  session(): PastEntry[] {
    const { random } = this
    const manager = random.pick(this.population.managers)
    const harness = random.pick(manager.harnesses)
    const first = this.#entry(manager, harness)
    if (!random.chance(IN_SESSION)) return this.#alone(first)
    first.session = { id: undefined, key: random.uuid(), harness: harness.name, manager }
    const chains = [first]
    if (random.chance(SECOND_MODEL)) {
      const model = random.pick(this.#models.get(harness)!)
      if (model !== first.model) chains.push(this.#again(first, { ...this.#used(model), requests: null }))
    }
    return chains.flatMap((entry) => this.#parts(entry))
  }

  #alone(entry: PastEntry): PastEntry[] {
    entry.fingerprint = (BigInt(this.random.bits()) << 31n) | BigInt(this.random.bits() >>> 1)
    if (!this.random.chance(REPEATED_BY_MISTAKE)) return [entry]
    const { counts, details, fingerprint } = entry
    const createdAt = entry.createdAt + MINUTE_MS
    return [entry, this.#again(entry, { counts, details, fingerprint, createdAt, duplicateOf: entry })]
  }

  /** An approved session that continued has another part, which starts where the previous one ended. */
  #parts(entry: PastEntry): PastEntry[] {
    const parts = [entry]
    for (let last = entry; this.random.chance(CONTINUED) && last.endedAt < this.until - SETTLED_MS; ) {
      last.status = 'approved'
      const startedAt = last.endedAt
      const endedAt = startedAt + HOUR_MS + this.random.below(20 * HOUR_MS)
      last = this.#again(last, { ...this.#used(last.model), part: last.part + 1, continues: last, startedAt, endedAt })
      parts.push(last)
    }
    return parts
  }

  #again(entry: PastEntry, change: Partial<PastEntry>): PastEntry {
    const endedAt = change.endedAt ?? entry.endedAt
    const createdAt = change.createdAt ?? endedAt + this.random.below(5_000)
    return { ...entry, status: 'submitted', ...change, createdAt, uid: this.random.uuidOf(createdAt) }
  }

  #entry(manager: Manager, harness: Harness): PastEntry {
    const { random } = this
    const model = random.pick(this.#models.get(harness)!)
    const hour = random.pick(harness.isUnattended ? this.#allHours : this.#hours)
    const startedAt = Math.round(this.#start + hour * HOUR_MS + random.below(HOUR_MS) - manager.offsetMs)
    const endedAt = startedAt + Math.min(DURATION_LIMIT_MS, Math.round(DURATION_MS * random.size(3)))
    const createdAt = endedAt + random.below(5_000)
    const project = random.chance(UNATTRIBUTED) ? null : random.pick(manager.projects)
    const ticket = project && random.chance(ON_TICKET) ? this.#currentTicket(project) : null
    const isLabelled = project && random.chance(LABELLED)
    return {
      id: undefined,
      uid: random.uuidOf(createdAt),
      manager,
      status: this.#status(endedAt),
      harness: harness.name,
      agent: random.pick(harness.agents),
      provider: random.chance(PROVIDER_SAID) ? (PROVIDERS.find(({ of }) => of.test(model))?.name ?? null) : null,
      startedAt,
      endedAt,
      ...this.#used(model),
      reportedShare: random.chance(COST_REPORTED) ? 0.95 + random.fraction() * 0.1 : null,
      project,
      ticket,
      summary: random.chance(SUMMARIZED) ? random.pick(this.#summaries) : null,
      labelSetId: isLabelled ? (ticket ?? project).labelSetId : null,
      session: null,
      part: 1,
      continues: null,
      duplicateOf: null,
      fingerprint: null,
      createdAt,
    }
  }

  #status(endedAt: number): PastEntry['status'] {
    if (endedAt > this.until - SETTLED_MS) return 'submitted'
    const chance = this.random.fraction()
    if (chance < APPROVED) return 'approved'
    return chance < APPROVED + REJECTED ? 'rejected' : 'submitted'
  }

  /** Tickets are created and closed over time; most work is on the newest. */
  #currentTicket({ tickets }: Project): Ticket {
    const newest = Math.floor(this.#share * tickets.length)
    return tickets[Math.max(0, newest - Math.floor(this.random.fraction() ** 2 * 12))]!
  }

  #used(model: string): Pick<PastEntry, 'model' | 'counts' | 'details' | 'requests'> {
    const { random } = this
    const requests = Math.max(1, Math.round(14 * random.size(2.6)))
    const written = model.startsWith('claude') ? 3_500 : 0
    const counts = {
      input: Math.round(requests * 900 * random.size(2)),
      output: Math.round(requests * 420 * random.size(1.8)),
      cacheRead: Math.round(requests * requests * 1_800 * random.fraction()),
      cacheWrite: Math.round(requests * written * random.fraction()),
      cacheWrite1h: written > 0 && random.chance(0.1) ? Math.round(requests * 800 * random.fraction()) : 0,
    }
    const long = random.chance(LONG_CONTEXT) ? random.fraction() * 0.6 : 0
    const share = (count: number) => Math.floor(count * long)
    const above200k = {
      input: share(counts.input),
      output: share(counts.output),
      cacheRead: share(counts.cacheRead),
      cacheWrite: share(counts.cacheWrite),
      cacheWrite1h: share(counts.cacheWrite1h),
    }
    const details = long > 0 ? usageDetails({ requestsAbove: [{ threshold: 200_000, counts: above200k }] }) : null
    return { model, counts, details, requests: random.chance(0.8) ? requests : null }
  }
}
