/** Formats a scan for the terminal. */

import { type Cell, damageNotice, type Scan, type SessionUse } from '../../agents/agent.ts'
import type { Outcome, Reportable } from '../../agents/batches.ts'
import { refusalText } from '../../agents/server.ts'
import { firstCharacters, hasMoreCharacters } from '../../lib/characters.ts'
import { moneyNumber, type Nanos } from '../../lib/money.ts'
import { agentNotReadText } from '../../shared/not-read.ts'
import { counted, countText, dollars, sizeText } from '../terminal/numbers.ts'
import { type Column, minute, note, print, printTable } from '../terminal/print.ts'

export interface Priced extends SessionUse {
  /** Undefined where it is unpriced. */
  costNanos: Nanos | undefined
  days: PricedDay[]
}

/** A row: what a session used on one day at one place, as it is divided into entries. Without a server, a day is one of UTC. */
export interface PricedDay extends Cell {
  costNanos: Nanos | undefined
  listValueNanos: Nanos | undefined
}

interface DayOfUse {
  use: Priced
  day: PricedDay
}

/** What a screen shows. The sums beneath are always of all. */
const ROWS_SHOWN = 40

/** Longer names of branches and titles push the counts off the screen. */
const TEXT_SHOWN = 32

/** Beyond that, more of the same says nothing new. */
const DAMAGE_SHOWN = 20

interface Row {
  started: string
  agent: string
  model: string
  place: string
  title: string
  requests: string
  input: string
  output: string
  cacheRead: string
  cacheWrite: string
  cost: string
}

export function printUses(
  { uses, files, bytes }: { uses: readonly Priced[]; files: number; bytes: number },
  { withTitles, all }: { withTitles: boolean; all: boolean },
): void {
  if (uses.length === 0) {
    print('No sessions found.')
    return
  }
  const days = uses
    .flatMap((use) => use.days.map((day): DayOfUse => ({ use, day })))
    .sort((one, other) => one.day.firstAt - other.day.firstAt)
  const shown = all ? days : days.slice(-ROWS_SHOWN)
  const columns = columnsOf({ withTitles })
  printTable(columns, [...shown.map(rowOf), ...sumRows(days)])
  const sessions = new Set(uses.map(({ agentHarness, sessionId }) => `${agentHarness} ${sessionId}`)).size
  print(`\n${counted(sessions, 'session')} in ${counted(files, 'file')} (${sizeText(bytes)}).`)
  if (shown.length < days.length)
    note(`Showing the latest ${shown.length} of ${days.length} rows; use --all to list all of them.`)
  for (const [missing, alike] of Map.groupBy(days, ({ use }) => use.missing)) {
    if (missing !== null) note(`${counted(alike.length, 'row')} of ${alike[0]!.use.agentHarness}: ${missing}.`)
  }
  const unpriced = days.filter(({ day }) => day.costNanos === undefined)
  if (unpriced.length > 0) {
    const models = [...new Set(unpriced.map(({ use }) => use.model))].join(', ')
    note(`${counted(unpriced.length, 'row')} without a price, so the total is too low: ${models}.`)
  }
}

function columnsOf({ withTitles }: { withTitles: boolean }): Column<Row>[] {
  return [
    { title: 'STARTED (UTC)', of: ({ started }) => started },
    { title: 'AGENT', of: ({ agent }) => agent },
    { title: 'MODEL', of: ({ model }) => model },
    { title: 'REPOSITORY, BRANCH', of: ({ place }) => place },
    ...(withTitles ? [{ title: 'TITLE', of: ({ title }: Row) => title }] : []),
    { title: 'CALLS', of: ({ requests }) => requests, align: 'right' },
    { title: 'INPUT', of: ({ input }) => input, align: 'right' },
    { title: 'OUTPUT', of: ({ output }) => output, align: 'right' },
    { title: 'CACHE READ', of: ({ cacheRead }) => cacheRead, align: 'right' },
    { title: 'CACHE WRITE', of: ({ cacheWrite }) => cacheWrite, align: 'right' },
    { title: 'COST (USD)', of: ({ cost }) => cost, align: 'right' },
  ]
}

function rowOf({ use, day }: DayOfUse): Row {
  const place = [day.place.repository, day.place.branch].filter(Boolean).join(' ')
  return {
    ...figuresOf([day]),
    started: minute(new Date(day.firstAt).toISOString()),
    agent: use.agentHarness,
    model: plain(use.model),
    place: shortened(plain(place)) || '–',
    title: shortened(plain(use.title ?? '–')),
  }
}

/** A sum per agent where there are several, and one of all. */
function sumRows(all: readonly DayOfUse[]): Row[] {
  const none = { started: '', model: '', place: '', title: '' }
  const figures = (some: readonly DayOfUse[]) => figuresOf(some.map(({ day }) => day))
  const agents = [...Map.groupBy(all, ({ use }) => use.agentHarness)]
  const perAgent = agents.map(([agent, own]) => ({ ...none, ...figures(own), agent: `total ${agent}` }))
  return agents.length === 1 ? perAgent : [...perAgent, { ...none, ...figures(all), agent: 'total' }]
}

function figuresOf(days: readonly PricedDay[]) {
  const sum = (of: (day: PricedDay) => number) => countText(days.reduce((total, day) => total + of(day), 0))
  const priced = days.flatMap(({ costNanos }) => costNanos ?? [])
  return {
    requests: sum(({ requests }) => requests),
    input: sum(({ tokens }) => tokens.input),
    output: sum(({ tokens }) => tokens.output),
    cacheRead: sum(({ tokens }) => tokens.cache_read),
    cacheWrite: sum(({ tokens }) => tokens.cache_write + tokens.cache_write_1h),
    cost: priced.length === 0 ? '–' : dollars(moneyNumber(priced.reduce((total, nanos) => total + nanos, 0n))),
  }
}

/** What others have named must not move the cursor. */
export function plain(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').trim()
}

function shortened(text: string): string {
  return hasMoreCharacters(text, TEXT_SHOWN) ? `${firstCharacters(text, TEXT_SHOWN - 1)}…` : text
}

/** What was not read of each file, and then of each agent in one line. */
export function printDamage({ damage, readings }: Pick<Scan, 'damage' | 'readings'>): void {
  for (const each of damage.slice(0, DAMAGE_SHOWN)) note(damageNotice(each))
  if (damage.length > DAMAGE_SHOWN) {
    note(`${counted(damage.length - DAMAGE_SHOWN, 'more such notice')}; use --json to list all of them.`)
  }
  for (const { agent, version, notRead } of readings) {
    if (notRead.length > 0) note(`Not read in full: ${agentNotReadText(agent, version, notRead)}`)
  }
}

/** One line per reason, as one reason mostly stands for many. */
export function printRefused(refused: Outcome<Reportable>['refused']): void {
  for (const [reason, alike] of Map.groupBy(refused, ({ refusal }) => refusalText(refusal))) {
    const { sessionId, model } = alike[0]!.use
    const more = alike.length > 1 ? ` and ${alike.length - 1} more` : ''
    note(`Refused: ${sessionId} (${model})${more}: ${reason}`)
  }
}
