/**
 * Checks that entries and sessions are consistent with reporting, sheets and bills; every finding names the id and says what to
 * do. A new check is a query of `store.ts`, its message here, and a line in `BREAKS` of the test.
 */
import type { Reader } from '../../../database/database.ts'
import type { LabelMap } from '../../../database/schema/records.ts'
import { SHEET_STATUSES, type SheetStatus, type Status } from '../../../database/schema/values.ts'
import { firstNamed } from '../../../lib/first-named.ts'
import { ENTRY_TRANSITIONS, SHEET_TRANSITIONS } from '../approval/states.ts'
import { listStraySlices, listUnevenSessions } from './slices.ts'
import {
  type AllowedStatuses,
  listBrokenParts,
  listChainedNames,
  listEmptySessions,
  listForeignChanges,
  listForeignEntries,
  listForeignMoves,
  listLabelSets,
  listMisplacedStatuses,
  listStrayedEntries,
  listUnevenDivisions,
  listUnknownFundings,
  listUnsuppliedSessions,
  pairsBySet,
} from './store.ts'

/** Advice for rows that no release of Tally writes. */
const RESTORE = 'This should never happen. Restore an earlier backup, or keep a copy of the database and report a bug.'

/** Advice for rows that earlier releases wrote. */
const REVIEW =
  'Tally 0.2.0 and earlier allowed one person’s reports to change another person’s entries. Compare the entry’s history with what its owner’s agent reported, then place it, or void it if it is not theirs.'

/** Sets of labels in memory at a time. */
const PAGE = 5_000

/** One finding per inconsistency. Reads all entries several times, so it must not run on a server's main thread. */
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
      (limit) => listUnknownFundings(reader, limit),
      ({ uid }) => `What pays for entry ${uid} is not known any more. ${RESTORE}`,
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
      (limit) => listStraySlices(reader, limit),
      ({ uid, day }) => `Entry ${uid} is a part of ${day}, but does not start on that day. ${RESTORE}`,
    )),
    ...(await firstNamed(
      (limit) => listUnevenSessions(reader, limit),
      ({ session, model, count, sum, total }) =>
        `The entries of session ${session} sum to ${sum} in ${count} for ${model}, but its source has reported ${total}. ${RESTORE}`,
    )),
    ...(await findForeignEntries(reader)),
    ...(await firstNamed(
      (limit) => listForeignMoves(reader, limit),
      ({ uid, manager, by }) =>
        `Entry ${uid} belongs to ${manager}, but a report of ${by} that named its ticket moved it to another project. ${REVIEW}`,
    )),
    ...(await firstNamed(
      (limit) => listUnevenDivisions(reader, limit),
      ({ uid }) => `The parts of entry ${uid} are not the shares of what was divided. ${RESTORE}`,
    )),
    ...(await firstNamed(
      (limit) => listChainedNames(reader, limit),
      ({ name, canonical }) =>
        `The name ${name} is normalized to ${canonical}, which is itself normalized to another name. ${RESTORE}`,
    )),
    ...(await findInconsistentLabels(reader)),
  ]
}

/** One finding per entry that is somebody else's than its manager's (`ownership.ts`). */
export async function findForeignEntries(reader: Reader): Promise<string[]> {
  return [
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
      (limit) => listStrayedEntries(reader, limit),
      ({ uid, manager, session, owner }) =>
        `Entry ${uid} belongs to ${manager}, but its session ${session} belongs to ${owner}. ${REVIEW}`,
    )),
  ]
}

/** The statuses that the transition tables allow: without a sheet, and on a sheet in each of its states. */
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
    // Apart from the sheet's own transitions, an entry on a sheet can only be billed.
    if (statuses.includes('approved')) statuses.push('billed')
  }
  const reported = new Set<Status>(ENTRY_TRANSITIONS.map(({ to }) => to))
  return { reported: [...reported], onSheets }
}

/**
 * Entries are found by pairs of labels but displayed with the set, so both must contain the same labels. Retention
 * retires sets that no entry has: they have an empty name, which no label has.
 */
async function findInconsistentLabels(reader: Reader): Promise<string[]> {
  const pairs = await pairsBySet(reader)
  return firstNamed(
    async (limit) => {
      const inconsistent: { id: number }[] = []
      for (let after = 0; inconsistent.length < limit; ) {
        const page = await listLabelSets(reader, after, PAGE)
        inconsistent.push(...page.filter(({ id, labels }) => !('' in labels) && !isSame(labels, pairs.get(id) ?? {})))
        if (page.length < PAGE) break
        after = page.at(-1)!.id
      }
      return inconsistent.slice(0, limit)
    },
    ({ id }) => `The index of label set ${id} does not match its labels. ${RESTORE}`,
  )
}

function isSame(one: LabelMap, other: LabelMap): boolean {
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name])
}
