/** `tally` alone, on a terminal: what the agents of this machine used, read from their session files. */
import { basename } from 'node:path'
import type { Cell, Scan, SessionUse } from '../agents/agent.ts'
import { totalOf } from '../agents/model-calls.ts'
import { sumCells } from '../agents/session-sums.ts'
import { readAgentsEnvironment } from '../config.ts'
import { dateAt, startOfDate } from '../lib/calendar.ts'
import { firstCharacters, hasMoreCharacters } from '../lib/characters.ts'
import { moneyNumber, type Nanos } from '../lib/money.ts'
import { AGENTS } from '../shared/agents.ts'
import { failWhereUnread, listValuesOf, readSessions } from './agents/scan-run.ts'
import { plain, printDamage } from './agents/scan-text.ts'
import { calledAs } from './first-steps.ts'
import { BAR_CELLS, bar, USUAL_COLUMNS } from './terminal/bar.ts'
import { GAP } from './terminal/columns.ts'
import { counted, countText, dollars, durationText, inDollars, roughCountText } from './terminal/numbers.ts'
import { type Column, print, printTable } from './terminal/print.ts'

const MONTH_DAYS = 30

/** What a screen shows of each group: one more row has the sum of all others. */
const ROWS_SHOWN = 5

/** Longer names leave no room for bars on a screen of 80 columns. */
const NAME_CELLS = { least: 12, most: 30 }

/** As wide as `SESSIONS`, and as `TOKENS` and `LIST VALUE (USD)`, with the space before each. */
const COUNT_CELLS = 2 + 8
const AMOUNT_CELLS = 2 + 6 + 2 + 16

const align = 'right'

/** What a model was used for in a session, on one day at one place. */
interface Used {
  use: SessionUse
  cell: Cell
  /** Undefined if the model has no list price. */
  valueNanos: Nanos | undefined
}

/** Prints the summary. Returns false, and prints nothing, if agents have left no sessions on this machine. */
export async function printSummary(): Promise<boolean> {
  const scan = readSessions({})
  if (scan.uses.length === 0 && scan.damage.length === 0) return false
  if (scan.uses.length === 0) print('No sessions could be read.')
  else {
    const { title, uses } = latestPeriod(scan.uses)
    printUsed(title, await valued(uses))
    printNext(scan)
  }
  printDamage(scan)
  failWhereUnread(scan.damage)
  return true
}

/** The current week, or a longer period if it has no sessions. Days are those of this machine's clock. */
function latestPeriod(all: readonly SessionUse[]): { title: string; uses: SessionUse[] } {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  const today = dateAt(Date.now(), timeZone)
  const earliest = all.reduce((first, { days }) => Math.min(first, days[0]!.firstAt), Number.POSITIVE_INFINITY)
  const periods = [
    { name: 'this week', from: today.subtract({ days: today.dayOfWeek - 1 }) },
    { name: `in the last ${MONTH_DAYS} days`, from: today.subtract({ days: MONTH_DAYS - 1 }) },
    { name: 'so far', from: dateAt(earliest, timeZone) },
  ]
  for (const { name, from } of periods) {
    const uses = usesSince(all, startOfDate(from, timeZone))
    if (uses.length === 0) continue
    const day = from.toLocaleString('en-GB', {
      ...(name === 'this week' && { weekday: 'long' }),
      ...{ day: 'numeric', month: 'long' },
      ...(from.year !== today.year && { year: 'numeric' }),
    })
    return { title: `Your agents ${name}, from ${day}`, uses }
  }
  throw new Error('The earliest session is before its own day')
}

/** Cut exactly: the offsets of all zones are multiples of a quarter of an hour, as cells are. */
function usesSince(all: readonly SessionUse[], since: number): SessionUse[] {
  return all.flatMap((use) => {
    const days = use.days.flatMap((day) => {
      if (day.firstAt >= since) return day
      return day.lastAt < since ? [] : partOf(use, day, since)
    })
    return days.length === 0 ? [] : { ...use, days }
  })
}

function partOf(use: SessionUse, { place, lastAt }: Cell, since: number): Cell[] {
  const { repository, branch } = place
  const isPart = (cell: Cell) =>
    cell.firstAt >= since &&
    cell.firstAt <= lastAt &&
    cell.place.repository === repository &&
    cell.place.branch === branch
  const cells = use.cells().filter(isPart)
  return cells.length === 0 ? [] : [sumCells(cells)]
}

async function valued(uses: readonly SessionUse[]): Promise<Used[]> {
  const values = (await listValuesOf(uses, 'summary-values')).values()
  return uses.flatMap((use) =>
    use.days.map((cell): Used => {
      const value = values.next().value ?? null
      return { use, cell, valueNanos: value === null ? undefined : BigInt(value) }
    }),
  )
}

function printUsed(title: string, used: readonly Used[]): void {
  const whole = sumOf('', used)
  const projects = rowsOf(used, projectOf)
  const models = rowsOf(used, ({ use }) => plain(use.model))
  const widths = widthsFor([...projects, ...models])
  const value =
    whole.valueNanos === undefined ? 'no known list value' : `${inDollars(moneyNumber(whole.valueNanos))} list value`
  printHeading(title, value, widths.all)
  const activeMs = used.reduce((sum, { cell }) => sum + (cell.activeMs ?? 0), 0)
  const active = activeMs > 0 ? ` · ${durationText(activeMs)} active` : ''
  print(`${counted(whole.sessions, 'session')}${active} · ${roughCountText(whole.tokens)} tokens\n`)
  printRows('PROJECT', projects, { title: 'SESSIONS', of: ({ sessions }) => countText(sessions) }, widths)
  printRows('MODEL', models, { title: 'CALLS', of: ({ calls }) => countText(calls) }, widths)
  if (whole.sessions < projects.reduce((sum, { sessions }) => sum + sessions, 0)) {
    print('A session in several projects counts in each of them.')
  }
  const unpriced = used.filter(({ valueNanos }) => valueNanos === undefined)
  if (unpriced.length > 0) {
    const names = new Set(unpriced.map(({ use }) => plain(use.model)))
    print(`Without a list price, and not included in the value: ${[...names].join(', ')}.`)
  }
}

interface Widths {
  name: number
  /** 0 where they do not fit. */
  count: number
  bar: number
  all: number
}

/** Both tables have the same, so that their columns are below each other. A narrow terminal shows no bars, or no counts. */
function widthsFor(rows: readonly Row[]): Widths {
  const columns = process.stdout.columns || USUAL_COLUMNS
  const count = columns < NAME_CELLS.most + COUNT_CELLS + AMOUNT_CELLS ? 0 : COUNT_CELLS
  const longest = Math.max(...rows.map(({ name }) => Bun.stringWidth(name)))
  const room = Math.min(NAME_CELLS.most, longest, columns - count - AMOUNT_CELLS)
  const name = Math.max(NAME_CELLS.least, room)
  const free = columns - name - count - AMOUNT_CELLS - GAP.length
  const bar = free < BAR_CELLS.least ? 0 : Math.min(BAR_CELLS.most, free)
  return { name, count, bar, all: name + count + AMOUNT_CELLS + (bar && GAP.length + bar) }
}

function printRows(title: string, rows: Row[], count: Column<Row>, widths: Widths): void {
  // Bars are drawn to an eighth of a cell, for which a rounded number is good enough.
  const hasValues = rows.some(({ valueNanos }) => valueNanos)
  const sizeOf = ({ valueNanos, tokens }: Row) => (hasValues ? Number(valueNanos ?? 0n) : tokens)
  const most = Math.max(...rows.map(sizeOf))
  const columns: Column<Row>[] = [
    { title: title.padEnd(widths.name), of: ({ name }) => shortened(name, widths.name) },
    ...(widths.count ? [{ ...count, title: count.title.padStart(COUNT_CELLS - GAP.length), align } as const] : []),
    { title: 'TOKENS', of: ({ tokens }) => roughCountText(tokens), align },
    { title: 'LIST VALUE (USD)', of: ({ valueNanos }) => amountText(valueNanos), align },
    ...(widths.bar ? [{ title: '', of: (row: Row) => bar(sizeOf(row), most, widths.bar) }] : []),
  ]
  printTable(columns, rows)
  print('')
}

/** The title, and the value at the right edge of the tables; below each other where they do not fit. */
function printHeading(title: string, value: string, cells: number): void {
  const space = cells - Bun.stringWidth(title) - Bun.stringWidth(value)
  print(space < 2 ? `${title}\n${value}` : title + ' '.repeat(space) + value)
}

function printNext({ readings }: Scan): void {
  const agents = readings.flatMap(({ agent, sessions }) => (sessions > 0 ? AGENTS[agent].title : []))
  print(`Read from the session files of ${new Intl.ListFormat('en-GB').format(agents)}. Nothing was sent.`)
  const { command } = calledAs()
  const next = [`${command} up`, `${command} --help`]
  const width = Math.max(...next.map(({ length }) => length)) + 3
  print(`Next: ${next[0]!.padEnd(width)}a private server on this machine, with all of this`)
  print(`      ${next[1]!.padEnd(width)}everything else`)
}

interface Row {
  name: string
  sessions: number
  calls: number
  tokens: number
  /** Undefined if nothing of it has a list price. */
  valueNanos: Nanos | undefined
}

/** The groups of the highest value, and what all others are together. */
function rowsOf(used: readonly Used[], nameOf: (used: Used) => string): Row[] {
  const groups = [...Map.groupBy(used, nameOf)].map(([name, own]) => ({ row: sumOf(name, own), own }))
  groups.sort(
    ({ row: one }, { row: other }) =>
      Number((other.valueNanos ?? 0n) - (one.valueNanos ?? 0n)) || other.tokens - one.tokens,
  )
  if (groups.length <= ROWS_SHOWN + 1) return groups.map(({ row }) => row)
  const others = groups.slice(ROWS_SHOWN)
  const sum = sumOf(
    `${others.length} more`,
    others.flatMap(({ own }) => own),
  )
  return [...groups.slice(0, ROWS_SHOWN).map(({ row }) => row), sum]
}

function sumOf(name: string, used: readonly Used[]): Row {
  const known = used.flatMap(({ valueNanos }) => valueNanos ?? [])
  return {
    name,
    sessions: new Set(used.map(({ use }) => `${use.agentHarness} ${use.sessionId}`)).size,
    calls: used.reduce((sum, { cell }) => sum + cell.requests, 0),
    tokens: used.reduce((sum, { cell }) => sum + totalOf(cell.tokens), 0),
    valueNanos: known.length === 0 ? undefined : known.reduce((sum, nanos) => sum + nanos),
  }
}

/** The repository, or else the folder in which the agent worked. */
function projectOf({ use: { folder }, cell: { place } }: Used): string {
  if (place.repository !== null) return plain(place.repository)
  if (folder === null) return '(unknown folder)'
  return folder === readAgentsEnvironment().home ? '~' : plain(basename(folder)) || folder
}

const amountText = (nanos: Nanos | undefined): string => dollars(nanos === undefined ? null : moneyNumber(nanos))

const shortened = (text: string, cells: number): string =>
  hasMoreCharacters(text, cells) ? `${firstCharacters(text, cells - 1)}…` : text
