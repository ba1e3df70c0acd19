/** Whether entries and sessions are as reporting, sheets and bills leave them; every sentence says what to do. */
import type { Reader } from '../../database/database.ts'
import type { LabelMap } from '../../database/records.ts'
import { SHEET_STATUSES, type SheetStatus, type Status } from '../../database/tables.ts'
import { firstNamed } from '../../lib/first-named.ts'
import { ENTRY_TRANSITIONS, SHEET_TRANSITIONS } from './states.ts'
import {
  type AllowedStatuses,
  listBrokenParts,
  listEmptySessions,
  listForeignChanges,
  listForeignEntries,
  listForeignMoves,
  listLabelSets,
  listMisplacedStatuses,
  listNamesWithoutEnd,
  listStrayedEntries,
  listUnsuppliedSessions,
  pairsBySet,
} from './store/integrity.ts'

/** What a person can do about rows that no release of Tally writes. */
const RESTORE =
  'Nothing that Tally does leads there: restore a backup from before it, or keep a copy of the database and report it.'

/** What a person can do about rows that earlier releases wrote. */
const REVIEW =
  'Tally 0.2.0 and earlier let one person’s reports change another’s entries. Compare its history with what its owner’s agent reported, and reject or place it.'

/** Sets of labels that are held at a time. */
const PAGE = 5_000

/** A sentence for everything that should not be. Reads all entries some times over, so not for a server's main thread. */
export async function findInconsistentEntries(reader: Reader): Promise<string[]> {
  const statuses = allowedStatuses()
  return [
    ...(await firstNamed(
      (limit) => listMisplacedStatuses(reader, statuses, limit),
      ({ uid, status, sheet, sheetStatus }) =>
        sheet === null
          ? `The entry ${uid} is ${status} without a sheet. ${RESTORE}`
          : `The entry ${uid} is ${status} or of another person, though on the sheet ${sheet}, which is ${sheetStatus}. ${RESTORE}`,
    )),
    ...(await firstNamed(
      (limit) => listBrokenParts(reader, limit),
      ({ uid, part, session }) =>
        session === null
          ? `The entry ${uid} continues another one without a session. ${RESTORE}`
          : `The entry ${uid} is part ${part} of the session ${session}, but does not continue the part before it. ${RESTORE}`,
    )),
    ...(await firstNamed(
      (limit) => listEmptySessions(reader, limit),
      ({ session }) =>
        `The session ${session} has no entry, though nothing removes one. Report its totals again, or restore a backup.`,
    )),
    ...(await firstNamed(
      (limit) => listUnsuppliedSessions(reader, limit),
      ({ session, source }) =>
        `The session ${session} takes its figures from its ${source}, of which nothing is kept. Report its totals again.`,
    )),
    ...(await firstNamed(
      (limit) => listForeignEntries(reader, limit),
      ({ uid, manager, by }) =>
        `The entry ${uid} belongs to ${manager}, but a service token of ${by} brought it. ${REVIEW}`,
    )),
    ...(await firstNamed(
      (limit) => listForeignChanges(reader, limit),
      ({ uid, manager, by, action }) =>
        `The entry ${uid} belongs to ${manager}, but a service token of ${by} changed it (${action}). ${REVIEW}`,
    )),
    ...(await firstNamed(
      (limit) => listForeignMoves(reader, limit),
      ({ uid, manager, by }) =>
        `The entry ${uid} belongs to ${manager}, but ${by} moved it to another project by naming its ticket. ${REVIEW}`,
    )),
    ...(await firstNamed(
      (limit) => listStrayedEntries(reader, limit),
      ({ uid, manager, session, owner }) =>
        `The entry ${uid} belongs to ${manager}, but its session ${session} to ${owner}. ${REVIEW}`,
    )),
    ...(await firstNamed(
      (limit) => listNamesWithoutEnd(reader, limit),
      ({ name, canonical }) => `The name ${name} is compared as ${canonical}, which is compared as another. ${RESTORE}`,
    )),
    ...(await findInconsistentLabels(reader)),
  ]
}

/** Where the tables of states lead: beside sheets from a report, and on a sheet as far as the sheet takes its entries. */
function allowedStatuses(): AllowedStatuses {
  const onSheets = Object.fromEntries(
    SHEET_STATUSES.map((sheet) => [
      sheet,
      SHEET_TRANSITIONS.flatMap(({ from, to, entries }) => {
        if (!entries) return []
        return [...(from === sheet ? [entries.from] : []), ...(to === sheet ? [entries.to] : [])]
      }),
    ]),
  ) as Record<SheetStatus, Status[]>
  for (const statuses of Object.values(onSheets)) {
    // Besides its sheet's, the only thing that happens to an entry on a sheet is to be billed.
    if (statuses.includes('approved')) statuses.push('billed')
  }
  const reported = new Set<Status>(ENTRY_TRANSITIONS.map(({ to }) => to))
  return { reported: [...reported], onSheets }
}

/** Entries are found by the pairs of labels and show the set, so both must say the same. */
async function findInconsistentLabels(reader: Reader): Promise<string[]> {
  const pairs = await pairsBySet(reader)
  return firstNamed(
    async (limit) => {
      const wrong: { id: number }[] = []
      for (let after = 0; wrong.length < limit; ) {
        const page = await listLabelSets(reader, after, PAGE)
        wrong.push(...page.filter(({ id, labels }) => !isSame(labels, pairs.get(id) ?? {})))
        if (page.length < PAGE) break
        after = page.at(-1)!.id
      }
      return wrong.slice(0, limit)
    },
    ({ id }) => `The labels of set ${id} are not those by which its entries are found. ${RESTORE}`,
  )
}

function isSame(one: LabelMap, other: LabelMap): boolean {
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name])
}
