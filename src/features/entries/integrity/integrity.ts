/** Whether entries and sessions are as reporting, sheets and bills leave them; every sentence says what to do. */
import type { Reader } from '../../../database/database.ts'
import type { LabelMap } from '../../../database/schema/records.ts'
import { SHEET_STATUSES, type SheetStatus, type Status } from '../../../database/schema/values.ts'
import { firstNamed } from '../../../first-named.ts'
import { ENTRY_TRANSITIONS, SHEET_TRANSITIONS } from '../approval/states.ts'
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
} from './store.ts'

/** What a person can do about rows that no release of Tally writes. */
const RESTORE = 'This should never happen. Restore an earlier backup, or keep a copy of the database and report a bug.'

/** What a person can do about rows that earlier releases wrote. */
const REVIEW =
  'Tally 0.2.0 and earlier allowed one person’s reports to change another person’s entries. Compare the entry’s history with what its owner’s agent reported, then reject or place it.'

/** Sets of labels that are held at a time. */
const PAGE = 5_000

/** One finding for each inconsistency. Reads all entries some times over, so not for a server's main thread. */
export async function findInconsistentEntries(reader: Reader): Promise<string[]> {
  const statuses = allowedStatuses()
  return [
    ...(await firstNamed(
      (limit) => listMisplacedStatuses(reader, statuses, limit),
      ({ uid, status, sheet, sheetStatus }) =>
        sheet === null
          ? `Entry ${uid} is ${status} but is not on a sheet. ${RESTORE}`
          : `Entry ${uid} is on sheet ${sheet} (${sheetStatus}), but is ${status} or belongs to another person. ${RESTORE}`,
    )),
    ...(await firstNamed(
      (limit) => listBrokenParts(reader, limit),
      ({ uid, part, session }) =>
        session === null
          ? `Entry ${uid} continues another entry but has no session. ${RESTORE}`
          : `Entry ${uid} is part ${part} of session ${session}, but does not continue the previous part. ${RESTORE}`,
    )),
    ...(await firstNamed(
      (limit) => listEmptySessions(reader, limit),
      ({ session }) => `Session ${session} has no entries. Report its totals again, or restore a backup.`,
    )),
    ...(await firstNamed(
      (limit) => listUnsuppliedSessions(reader, limit),
      ({ session, source }) =>
        `Session ${session} uses the totals of its source ${source}, which are missing. Report its totals again.`,
    )),
    ...(await firstNamed(
      (limit) => listForeignEntries(reader, limit),
      ({ uid, manager, by }) =>
        `Entry ${uid} belongs to ${manager}, but was reported with a service token of ${by}. ${REVIEW}`,
    )),
    ...(await firstNamed(
      (limit) => listForeignChanges(reader, limit),
      ({ uid, manager, by, action }) =>
        `Entry ${uid} belongs to ${manager}, but was changed with a service token of ${by} (${action}). ${REVIEW}`,
    )),
    ...(await firstNamed(
      (limit) => listForeignMoves(reader, limit),
      ({ uid, manager, by }) =>
        `Entry ${uid} belongs to ${manager}, but a report of ${by} that named its ticket moved it to another project. ${REVIEW}`,
    )),
    ...(await firstNamed(
      (limit) => listStrayedEntries(reader, limit),
      ({ uid, manager, session, owner }) =>
        `Entry ${uid} belongs to ${manager}, but its session ${session} belongs to ${owner}. ${REVIEW}`,
    )),
    ...(await firstNamed(
      (limit) => listNamesWithoutEnd(reader, limit),
      ({ name, canonical }) =>
        `The name ${name} is normalized to ${canonical}, which is itself normalized to another name. ${RESTORE}`,
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
    ({ id }) => `The index of label set ${id} does not match its labels. ${RESTORE}`,
  )
}

function isSame(one: LabelMap, other: LabelMap): boolean {
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name])
}
