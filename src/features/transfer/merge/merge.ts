/** Adds the entries of another Tally to a database in use, in portions: an interrupted merge is repeated. */

import type { Party } from '../../../access/actor.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Interned } from '../../entries/contract.ts'
import { type FileSummary, readLines } from '../file.ts'
import { IDEMPOTENCY_KEY } from '../kinds/entries.ts'
import { TOKEN } from '../kinds/people.ts'
import { PRICE } from '../kinds/prices.ts'
import { wrongFile } from '../problems.ts'
import { type Numbered, readRow, wantOf } from '../reading.ts'
import { Keys } from '../references.ts'
import { addIdempotencyKeys, findManagersOf } from '../store/merge.ts'
import { findIdentified } from '../store/references.ts'
import { insertRows } from '../store/rows.ts'
import { MergeContext } from './context.ts'
import { type Decided, type DecisionContext, decide, type Reason } from './decision.ts'
import { type Group, portionsOf } from './groups.ts'
import { type Added, Matching, type MatchingServices } from './matching.ts'
import { addGroups } from './rows.ts'

/** Ids of entries that are listed for each reason; all are counted. */
const LISTED = 1_000

const KEYS_PER_WRITE = 500

export type Phase = 'checking' | 'comparing' | 'importing'

export interface MergeOptions {
  file: number
  party: Party
  dryRun: boolean
  /** What happens to entries whose project or ticket is not here. */
  unknownProjects: 'create' | 'hold'
  onProgress(phase: Phase, bytes: number): void
}

export interface Merged {
  header: FileSummary['header']
  /** Entries that were added, or would be. */
  added: number
  /** Of these, entries whose project or ticket is not here. */
  held: number
  skipped: Partial<Record<Reason, { entries: number; ids: string[] }>>
  /** What was added besides entries, or would be. */
  created: Added
  /** Lines of the file that are never merged, by type. */
  not_merged: Record<string, number>
}

/** What the entries that are added refer to. */
interface Needed {
  people: Set<string>
  projects: Set<string>
  tickets: Set<string>
  tokens: Set<string>
  prices: Set<string>
  /** How many entries are at each place: the ids of a project and a ticket. */
  places: Map<string, number>
}

interface Dependencies extends MatchingServices {
  clock: Clock
  interned: Interned
}

export async function merge(services: Dependencies, options: MergeOptions): Promise<Merged> {
  const { file, party, dryRun, onProgress } = options
  const context = new MergeContext()
  const { header, counts } = check(file, context, (bytes) => onProgress('checking', bytes))
  const matching = new Matching(services, context, options.unknownProjects)
  await matching.findPeople()
  const { needed, added, skipped } = await plan(services, matching, options)
  await addNeeded(needed, matching, dryRun ? undefined : party)
  const result = { header, created: matching.added, not_merged: notMerged(counts) }
  if (dryRun) return { ...result, added, skipped, held: countHeld(needed, matching) }
  await bringAlong(services, needed, matching)
  const written = await write(services, matching, { ...options, organization: header.organization })
  await addKeys(services, matching, file)
  return { ...result, ...written }
}

function check(file: number, context: MergeContext, onProgress: (bytes: number) => void): FileSummary {
  const lines = readLines(file, { checks: true })
  for (;;) {
    const { done, value } = lines.next()
    if (done) return value
    context.note(value)
    onProgress(value.bytes)
  }
}

/** What was decided about the entries of a file. */
class Tally {
  added = 0
  readonly skipped: Merged['skipped'] = {}

  note({ group, reasonOf }: Decided): void {
    if (!reasonOf) this.added += group.entries.length
    else for (const { line } of group.entries) this.#skip(line.id as string, reasonOf(line.id as string))
  }

  #skip(id: string, reason: Reason): void {
    this.skipped[reason] ??= { entries: 0, ids: [] }
    const skipped = this.skipped[reason]
    skipped.entries += 1
    if (skipped.ids.length < LISTED) skipped.ids.push(id)
  }
}

function decisionsOf({ context, personKey }: Matching): DecisionContext {
  return { context, personKey, addedWholes: new Set() }
}

/** What would be added, if nothing changes meanwhile. */
async function plan({ db }: Dependencies, matching: Matching, { file, onProgress }: MergeOptions) {
  const tally = new Tally()
  const needed: Needed = {
    people: new Set(),
    projects: new Set(),
    tickets: new Set(),
    tokens: new Set(),
    prices: new Set(),
    places: new Map(),
  }
  const decisions = decisionsOf(matching)
  for (const { groups, bytes } of portionsOf(readLines(file, { checks: false }))) {
    for (const decided of await decide(db.read, groups, decisions)) {
      tally.note(decided)
      if (!decided.reasonOf) need(needed, decided.group, matching.context)
    }
    onProgress('comparing', bytes)
  }
  return { needed, added: tally.added, skipped: tally.skipped }
}

function need(needed: Needed, { session, entries }: Group, { tokens }: MergeContext): void {
  const wantToken = (id: string | null) => {
    if (id === null || needed.tokens.has(id)) return
    needed.tokens.add(id)
    const token = tokens.get(id)
    if (token) needed.people.add(token.line.created_by as string)
  }
  if (session) needed.people.add(session.line.agent_manager as string)
  for (const { line } of entries) {
    const { agent_manager, project, ticket, token, price } = line as Record<string, string | null>
    needed.people.add(agent_manager!)
    if (project) needed.projects.add(project)
    if (ticket) needed.tickets.add(ticket)
    if (price) needed.prices.add(price)
    wantToken(token!)
    const place = JSON.stringify([project, ticket])
    needed.places.set(place, (needed.places.get(place) ?? 0) + 1)
    for (const step of line.history as { person: string | null; token: string | null }[]) {
      if (step.person) needed.people.add(step.person)
      wantToken(step.token)
    }
  }
}

function countHeld({ places }: Needed, { unknownProjects, projectKey, ticket }: Matching): number {
  if (unknownProjects === 'create') return 0
  let held = 0
  for (const [place, entries] of places) {
    const [project, ticketId] = JSON.parse(place) as [string | null, string | null]
    const isHere = (!project || projectKey(project) !== undefined) && (!ticketId || ticket(ticketId) !== undefined)
    if (!isHere) held += entries
  }
  return held
}

async function addNeeded({ people, projects, tickets }: Needed, matching: Matching, by: Party | undefined) {
  for (const id of people) await matching.wantPerson(id, by)
  for (const id of projects) await matching.wantProject(id, by)
  for (const id of tickets) await matching.wantTicket(id, by)
}

/**
 * The tokens that reported the entries, which are revoked, and the prices that they were valued at, which are withdrawn:
 * neither applies to anything else.
 */
async function bringAlong({ db, clock }: Dependencies, needed: Needed, matching: Matching): Promise<void> {
  const { tokens, prices } = matching.context
  await db.write(async (tx) => {
    const keys: Pick<Keys, 'of'> = { of: (to, text) => (to === 'users' ? matching.personKey(text) : undefined) }
    for (const portion of inHundreds([...needed.tokens])) {
      const known = new Set((await findIdentified(tx, 'tokens', portion)).map(({ text }) => text))
      const rows = portion.flatMap((id) => (known.has(id) ? [] : [readRow(TOKEN, lineOf(tokens, id), keys).row]))
      await insertRows(tx, 'tokens', rows)
    }
    for (const portion of inHundreds([...needed.prices])) {
      const known = new Set((await findIdentified(tx, 'prices', portion)).map(({ text }) => text))
      const rows = portion.flatMap((id) => {
        if (known.has(id)) return []
        const { number, line } = lineOf(prices, id)
        const { row } = readRow(PRICE, { number, line: { ...line, load: null, loaded_by: null } }, keys)
        return [{ ...row, withdrawnAt: row.withdrawnAt ?? clock.now() }]
      })
      await insertRows(tx, 'prices', rows)
    }
  })
}

function lineOf(lines: Map<string, Numbered>, id: string): Numbered {
  const line = lines.get(id)
  if (!line) throw wrongFile(`The file refers to ${id}, but has no line for it. Create it again.`)
  return line
}

function inHundreds<Item>(items: readonly Item[]): Item[][] {
  return Array.from({ length: Math.ceil(items.length / 100) }, (_, at) => items.slice(at * 100, at * 100 + 100))
}

interface Writing extends MergeOptions {
  organization: string
}

async function write({ db, clock, interned }: Dependencies, matching: Matching, options: Writing) {
  const { file, party, organization, onProgress } = options
  const tally = new Tally()
  let held = 0
  for (const { groups, bytes } of portionsOf(readLines(file, { checks: false }))) {
    const { decided, heldHere } = await db.write(async (tx) => {
      // Again, because something may have been reported since. Earlier portions are in the database.
      const decided = await decide(tx, groups, decisionsOf(matching))
      const added = decided.flatMap(({ group, reasonOf }) => (reasonOf ? [] : group))
      const adding = { matching, interned, now: clock.now(), userId: party.by.userId, organization }
      return { decided, heldHere: await addGroups(tx, added, adding) }
    })
    for (const each of decided) tally.note(each)
    held += heldHere
    onProgress('importing', bytes)
  }
  return { added: tally.added, skipped: tally.skipped, held }
}

/** The idempotency keys of reports whose entries are here, so that their repetition is recognized. */
async function addKeys({ db, interned }: Dependencies, matching: Matching, file: number): Promise<void> {
  let batch: Numbered[] = []
  const flush = async () => {
    const lines = batch
    batch = []
    await db.write(async (tx) => {
      const keys = new Keys(tx, interned)
      await keys.load(wantOf(IDEMPOTENCY_KEY, lines))
      const here: Pick<Keys, 'of'> = {
        of: (to, text) => (to === 'users' ? matching.personKey(text) : keys.of(to, text)),
      }
      const entryOf = ({ line }: Numbered) => here.of('entries', line.entry as string)
      const managers = await findManagersOf(
        tx,
        lines.flatMap((line) => entryOf(line) ?? []),
      )
      // A key leads to its entry, so it is only for the person whose entry it is.
      const known = lines.filter((line) => {
        const [person, entry] = [here.of('users', line.line.agent_manager as string), entryOf(line)]
        return person !== undefined && entry !== undefined && managers.get(entry) === person
      })
      await addIdempotencyKeys(tx, known.map((line) => readRow(IDEMPOTENCY_KEY, line, here).row) as never)
    })
  }
  for (const { kind, number, line } of readLines(file, { checks: false })) {
    if (kind !== IDEMPOTENCY_KEY) continue
    batch.push({ number, line })
    if (batch.length >= KEYS_PER_WRITE) await flush()
  }
  if (batch.length > 0) await flush()
}

/** Types of which the lines that are needed are added. */
const MERGED = ['person', 'token', 'client', 'project', 'ticket', 'price', 'session', 'entry', 'idempotency_key']

function notMerged(counts: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([type]) => !MERGED.includes(type)))
}
