/** The rows of a session and its entries, as they are added to a database in use. */

import type { Tx } from '../../../database/database.ts'
import { dayNumberAt, dayText } from '../../../lib/calendar.ts'
import type { Id } from '../../../lib/id.ts'
import type { Interned } from '../../entries/contract.ts'
import { oweFunding } from '../../funding/service.ts'
import { notingChanges } from '../../spending/contract.ts'
import { ENTRY, SESSION } from '../kinds/entries.ts'
import { type Numbered, type ReadRow, readRow, wantOf } from '../reading.ts'
import { Keys } from '../references.ts'
import { assumeProjects, findSameContent } from '../store/merge.ts'
import { insertRows, reserveKeys } from '../store/rows.ts'
import type { Line } from '../writing.ts'
import type { Group } from './groups.ts'
import type { Matching } from './matching.ts'

export interface Adding {
  matching: Matching
  interned: Interned
  now: number
  /** Who imports. */
  userId: number | null
  /** Where the entries come from. */
  organization: string
}

interface Entry extends Numbered {
  session: Numbered | undefined
  isHeld: boolean
}

/** Adds whole groups. Returns how many entries are held because their project or ticket is missing. */
export async function addGroups(tx: Tx, groups: readonly Group[], adding: Adding): Promise<number> {
  const { matching } = adding
  const sessions = groups.flatMap(({ session }) => session ?? [])
  const entries = groups
    .flatMap(({ session, entries: all }) => all.map((entry) => placed({ ...entry, session }, matching)))
    // Entries refer to earlier ones.
    .sort((a, b) => (a.line.position as number) - (b.line.position as number))
  await adding.interned.follow(tx)
  const keys = new Keys(tx, adding.interned)
  const here: Pick<Keys, 'of'> = {
    of(to, text) {
      if (to === 'users') return matching.personKey(text)
      if (to === 'projects') return matching.projectKey(text)
      if (to === 'tickets') return matching.ticket(text)?.id
      return keys.of(to, text)
    },
  }

  await keys.load(wantOf(SESSION, sessions))
  const sessionKeys = await reserveKeys(tx, 'sessions', sessions.length)
  const keyOfSession = new Map(sessions.map((session, at) => [session, sessionKeys[at]!]))
  const sessionRows = sessions.map((session) => readRow(SESSION, session, here))
  for (const [at, { row }] of sessionRows.entries()) row.id = sessionKeys[at]!
  await insertWhole(tx, SESSION, sessionRows)

  await keys.load(wantOf(ENTRY, entries))
  const entryKeys = await reserveKeys(tx, 'entries', entries.length)
  const own = new Map(entries.map(({ line }, at) => [line.id as string, entryKeys[at]!]))
  const rows = entries.map((entry, at) => {
    const read = readRow(ENTRY, entry, here, own)
    const { inSession: _, ...row } = read.row
    const decided = entry.line.ticket === null ? null : matching.ticket(entry.line.ticket as string)!.projectId
    return {
      ...read,
      row: {
        ...row,
        id: entryKeys[at]!,
        sessionId: entry.session ? keyOfSession.get(entry.session)! : null,
        projectId: decided ?? row.projectId,
        // When it was recorded here. What was recorded there is in the history.
        createdAt: adding.now,
        updatedAt: null,
      },
      parts: { history: [...read.parts.history!, importedStep(entry, adding)] },
    }
  })
  await noteDuplicates(tx, rows)
  await insertWhole(tx, ENTRY, rows)
  await assume(tx, rows, entries, matching)
  // The plans that paid for them there are not those of here.
  const starts = entries.map(({ line }) => Date.parse(line.started_at as string))
  if (starts.length > 0) await oweFunding(tx, { since: adding.now, fromDay: dayBefore(Math.min(...starts)) })
  return entries.filter(({ isHeld }) => isHeld).length
}

/** A day that has begun before the moment in every time zone. */
function dayBefore(moment: number): string {
  return moment < DAY_MS ? FIRST_DAY : dayText(dayNumberAt(moment - DAY_MS, 'UTC'))
}

const DAY_MS = 86_400_000
const FIRST_DAY = '0001-01-01'

/** The entry without what is not merged, and held if its project or ticket is not here. */
function placed(entry: Omit<Entry, 'isHeld'>, { projectKey, ticket, context }: Matching): Entry {
  const line: Line = { ...entry.line, rule: null, funding: null, bill: null, sheet: null }
  // Its rule is not here. It was decided, so no rule of this Tally may move it.
  if (line.placed_by === 'rule') line.placed_by = 'manual'
  const [project, ticketId] = [line.project as string | null, line.ticket as string | null]
  const isHere =
    (project === null || projectKey(project) !== undefined) && (ticketId === null || ticket(ticketId) !== undefined)
  if (isHere) return { ...entry, line, isHeld: false }
  const named = {
    project: null,
    ticket: null,
    placed_by: null,
    placement_note: null,
    named_project: project === null ? null : context.projects.get(project)!.line.key,
    named_ticket: ticketId === null ? null : context.tickets.get(ticketId)!.line.key,
  }
  return { ...entry, line: { ...line, ...named }, isHeld: true }
}

function importedStep({ line }: Entry, { now, userId, organization }: Adding) {
  const details = { organization, recorded_at: line.created_at }
  return { at: now, action: 'imported', userId, tokenId: null, details }
}

async function insertWhole(tx: Tx, kind: typeof ENTRY, read: readonly Pick<ReadRow, 'row' | 'parts'>[]): Promise<void> {
  const rows = read.map(({ row }) => row)
  const ids = kind === ENTRY ? rows.map(({ id }) => id as number) : []
  await notingChanges(tx, ids, () => insertRows(tx, kind.table, rows))
  for (const [name, { table, of }] of Object.entries(kind.parts)) {
    await insertRows(
      tx,
      table,
      read.flatMap(({ row, parts }) => parts[name]!.map((part) => ({ ...part, [of]: row.id }))),
    )
  }
}

/** Entries without a session that were reported to both. */
async function noteDuplicates(tx: Tx, rows: readonly Pick<ReadRow, 'row'>[]): Promise<void> {
  const alone = rows.filter(({ row }) => row.fingerprint !== null)
  const same = await findSameContent(
    tx,
    alone.map(({ row: { managerId, startedAt, fingerprint } }) => ({ managerId, startedAt, fingerprint }) as never),
  )
  for (const [at, { row }] of alone.entries()) row.possibleDuplicateId ??= same[at] ?? null
}

/** Where the tickets of these entries are, if nobody has decided their project. */
async function assume(
  tx: Tx,
  rows: readonly Pick<ReadRow, 'row'>[],
  entries: readonly Entry[],
  { ticket }: Matching,
): Promise<void> {
  const assumed = rows.flatMap(({ row }, at) => {
    const id = entries[at]!.line.ticket as Id<'tkt'> | null
    if (id === null || ticket(id)!.projectId !== null) return []
    return [{ ticketId: row.ticketId, userId: row.managerId, projectId: row.projectId } as never]
  })
  await assumeProjects(tx, assumed)
}
