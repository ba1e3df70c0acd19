/** What reporting a scan would create and change on the server, for `tally agents scan --dry-run`. */
import type { Preview } from '../../agents/batches.ts'
import type { PlannedEntry } from '../../agents/server.ts'
import type { TokenEntry } from '../../features/entries/schema.ts'
import { dayAt } from '../../lib/calendar.ts'
import { moneyNanos, moneyNumber, type Nanos } from '../../lib/money.ts'
import { COUNTED_STATUSES } from '../../shared/entry-filters.ts'
import { counted, countText, dollars } from '../terminal/numbers.ts'
import { note, print, printTable } from '../terminal/print.ts'
import { plain, printRefused } from './scan-text.ts'

/** The outcome for a session. */
type SessionResult = 'split' | 'changed' | 'created' | 'unchanged'

interface Summary {
  sessions: Record<SessionResult, number>
  entries: Record<PlannedEntry['result'], number>
  months: Month[]
  /** Entries after it that have no cost. */
  unpriced: number
}

/** The cost of the entries that reports count, by the month in which they start. */
interface Month {
  month: string
  before: Nanos
  after: Nanos
}

const sessionOf = ({ after }: PlannedEntry) => `${after.agent_harness} ${after.session_id}`

/** The model, which has entries of its own for each service. */
const chainOf = ({ after: { model, service_tier, speed, region } }: PlannedEntry) =>
  JSON.stringify([model, service_tier, speed, region])

const dayOf = ({ slice, started_at }: TokenEntry, timeZone: string) =>
  slice?.day ?? dayAt(Date.parse(started_at), timeZone)

function summaryOf({ entries, timeZone }: Preview): Summary {
  const sessions: Summary['sessions'] = { split: 0, changed: 0, created: 0, unchanged: 0 }
  for (const session of Map.groupBy(entries, sessionOf).values()) sessions[resultOf(session)] += 1
  const results: Summary['entries'] = { created: 0, updated: 0, repeated: 0 }
  for (const { result } of entries) results[result] += 1
  return {
    sessions,
    entries: results,
    months: monthsOf(entries, timeZone),
    unpriced: entries.filter(({ after }) => isCounted(after) && after.cost === null).length,
  }
}

function resultOf(entries: readonly PlannedEntry[]): SessionResult {
  const results = new Set(entries.map(({ result }) => result))
  if (results.size === 1) {
    if (results.has('repeated')) return 'unchanged'
    if (results.has('created')) return 'created'
  }
  return [...Map.groupBy(entries, chainOf).values()].some(isSplit) ? 'split' : 'changed'
}

/** Whether entries are created next to one of the whole session. */
function isSplit(chain: readonly PlannedEntry[]): boolean {
  return (
    chain.some(({ before }) => before?.slice === null && !before.superseded) &&
    chain.some(({ before }) => before === null)
  )
}

const isCounted = ({ status }: TokenEntry) => COUNTED_STATUSES.includes(status)

function monthsOf(entries: readonly PlannedEntry[], timeZone: string): Month[] {
  const months = new Map<string, Month>()
  const add = (side: 'before' | 'after', entry: TokenEntry | null) => {
    if (entry === null || !isCounted(entry) || entry.cost === null) return
    const month = dayAt(Date.parse(entry.started_at), timeZone).slice(0, 'YYYY-MM'.length)
    const sums = months.get(month) ?? { month, before: 0n, after: 0n }
    sums[side] += moneyNanos(entry.cost)
    months.set(month, sums)
  }
  for (const { before, after } of entries) {
    add('before', before)
    add('after', after)
  }
  return [...months.values()].sort((one, other) => (one.month < other.month ? -1 : 1))
}

/** What a screen shows; the sums above are always of all. */
const LINES_SHOWN = 40

/** `all` is undefined for a command without the option. */
export function printPreview(preview: Preview, url: string, { all }: { all?: boolean } = {}): void {
  const { sessions, entries, months, unpriced } = summaryOf(preview)
  const changes = [...Map.groupBy(preview.entries, sessionOf).values()]
    .filter((session) => resultOf(session) !== 'unchanged')
    .sort((one, other) => (startOf(one) < startOf(other) ? -1 : 1))
  if (changes.length > 0) {
    print(`If reported to ${url}:`)
    print(
      `  Sessions: ${sessions.split} split by day and place, ${sessions.changed} changed, ${sessions.created} new, ${sessions.unchanged} unchanged.`,
    )
    print(`  Entries: ${entries.created} created, ${entries.updated} changed, ${entries.repeated} unchanged.\n`)
    printMonths(months)
    printSessions(changes, preview.timeZone, all)
  } else if (preview.refused.length === 0) {
    print(`Nothing to report to ${url}: it has everything of the ${counted(sessions.unchanged, 'session')}.`)
  }
  if (unpriced > 0) note(`${counted(unpriced, 'entry', 'entries')} without a price, so the costs are too low.`)
  printRefused(preview.refused)
}

const startOf = (session: readonly PlannedEntry[]) => session.map(({ after }) => after.started_at).sort()[0]!

function printMonths(months: readonly Month[]): void {
  const sum = (side: 'before' | 'after') => months.reduce((total, month) => total + month[side], 0n)
  const total: Month = { month: 'total', before: sum('before'), after: sum('after') }
  const amount = (nanos: Nanos) => dollars(moneyNumber(nanos))
  printTable<Month>(
    [
      { title: 'MONTH', of: ({ month }) => month },
      { title: 'BEFORE (USD)', of: ({ before }) => amount(before), align: 'right' },
      { title: 'AFTER (USD)', of: ({ after }) => amount(after), align: 'right' },
      {
        title: 'CHANGE',
        of: ({ before, after }) => (after > before ? '+' : '') + amount(after - before),
        align: 'right',
      },
    ],
    [...months, total],
  )
}

function printSessions(sessions: readonly PlannedEntry[][], timeZone: string, all: boolean | undefined): void {
  const texts = sessions.map((session) => linesOfSession(session, timeZone))
  let first = 0
  if (!all) {
    let lines = 0
    first = texts.findLastIndex((each) => {
      lines += each.length
      return lines > LINES_SHOWN
    })
    // The latest one is shown even if it is longer.
    first = Math.min(first + 1, texts.length - 1)
  }
  print(`\n${startOfLine('', 'DAY', 'TOKENS', 'COST (USD)')}PLACE`)
  for (const lines of texts.slice(first)) print(lines.join('\n'))
  if (first > 0) {
    const more = all === undefined ? '' : '; use --all to list all of them'
    note(`Showing the latest ${texts.length - first} of ${texts.length} sessions that change${more}.`)
  }
}

/** Together with the last one, 80. */
const WIDTHS = { what: 9, day: 10, tokens: 11, cost: 10 }
const PLACE_WIDTH = 28

const startOfLine = (what: string, day: string, tokens: string, cost: string) =>
  `  ${what.padEnd(WIDTHS.what)}  ${day.padEnd(WIDTHS.day)}  ${tokens.padStart(WIDTHS.tokens)}  ${cost.padStart(WIDTHS.cost)}  `

/** The entries of a session, by model and day: as they are, as they would be, and those that stay. */
function linesOfSession(session: readonly PlannedEntry[], timeZone: string): string[] {
  return [...Map.groupBy(session, chainOf).values()].flatMap((chain) => {
    const { agent_harness, session_id, model } = chain[0]!.after
    const dayOfPlan = ({ before, after }: PlannedEntry) => dayOf(before ?? after, timeZone)
    const ordered = chain.filter(isShown).toSorted((one, other) => (dayOfPlan(one) < dayOfPlan(other) ? -1 : 1))
    return [
      plain(`Session ${session_id} (${agent_harness}, ${model})`),
      ...ordered.flatMap(({ result, before, after }) => {
        if (result === 'repeated') return linesOfEntry(statusOf(after), after, timeZone)
        if (before === null) return linesOfEntry('new', after, timeZone)
        return [...linesOfEntry('before', before, timeZone), ...linesOfEntry('after', after, timeZone)]
      }),
    ]
  })
}

/** Of what is superseded nothing is left. */
const isShown = ({ result, after }: PlannedEntry) => result !== 'repeated' || !after.superseded

/** An entry that is not open names why it stays. */
const statusOf = ({ status }: TokenEntry) => (status === 'submitted' ? 'unchanged' : status)

function linesOfEntry(what: string, entry: TokenEntry, timeZone: string): string[] {
  const { project, ticket, labels, tokens, cost } = entry
  const place = [project?.key, ticket?.key, labels.repository, labels.branch].filter(Boolean).join(' ')
  const start = startOfLine(what, dayOf(entry, timeZone), countText(tokens.total), dollars(cost))
  const [first = '', ...others] = Bun.wrapAnsi(plain(place) || '–', PLACE_WIDTH, { hard: true }).split('\n')
  return [start + first, ...others.map((line) => ' '.repeat(start.length) + line)]
}

export function previewWire(preview: Preview, url: string): object {
  const { sessions, entries, months } = summaryOf(preview)
  return {
    server: url,
    sessions,
    entries,
    months: months.map(({ month, before, after }) => ({
      month,
      before: moneyNumber(before),
      after: moneyNumber(after),
    })),
    changes: preview.entries.filter(({ result }) => result !== 'repeated'),
    unchanged: preview.entries.flatMap(({ result, after }) => (result === 'repeated' ? [after] : [])),
  }
}
