/**
 * Placing entries by hand, and correcting their summary and labels (docs/design/concepts.md, "Roles" and "Placement").
 *
 * A place given by hand stays: neither a later report of the session nor a rule moves the entry again. That holds for
 * no place as well: an entry that somebody took off its project is placed by hand on nothing, and is not unattributed.
 */

import type { Actor, Party } from '../../../access/actor.ts'
import type { Viewer } from '../../../access/visibility.ts'
import type { Database, Reader, Tx } from '../../../database/database.ts'
import { rehearse } from '../../../database/dry-run.ts'
import type { LabelMap } from '../../../database/schema/records.ts'
import { type Issue, notFound, Problem, validationFailed } from '../../../errors.ts'
import type { Clock } from '../../../lib/clock.ts'
import { timestamp } from '../../../lib/duration.ts'
import { type Id, isId } from '../../../lib/id.ts'
import { moneyNumber } from '../../../lib/money.ts'
import { type AuditService, difference } from '../../audit/service.ts'
import type { PlacementService } from '../../placement/service.ts'
import type { ProjectsService } from '../../projects/service.ts'
import { insertHistory } from '../history/store.ts'
import { type Selected, type Selection, select } from '../listing/selection.ts'
import { placementColumns, takeOwnEntriesAlong } from '../reporting/record.ts'
import { foldLine, sortLabels } from '../reporting/report.ts'
import { type Interned, internLabels } from '../reporting/store/names.ts'
import { costNanosOf, isLocked } from '../rows.ts'
import type { EntryCorrection } from '../schema.ts'
import { type EntryChange, getView } from '../store.ts'
import { toTokenEntry } from '../wire.ts'
import { createNamedPlaces, isPlace, type Place, type Resolved } from './named-place.ts'
import { isForRules, type PlaceBody, placeAgain, placeOf } from './placed-entry.ts'
import { changeEntries, listPlacedByUid, listPlacedNewest, type PlacedEntry } from './store/places.ts'

/** What became of one entry of several. */
export interface Placed {
  id: string
  result: 'placed' | 'unchanged' | 'refused'
  problem: Problem | null
}

export interface PlacedMany {
  results: Placed[]
  /** The sum of the known costs of what was placed. */
  costNanos: bigint
  /** Those among what was placed whose cost is unknown. */
  unpricedEntries: number
}

interface Dependencies {
  db: Database
  clock: Clock
  audit: AuditService
  projects: ProjectsService
  placement: PlacementService
  interned: Interned
}

export function createManualPlacement({ db, clock, audit, projects, placement, interned }: Dependencies) {
  const places = createNamedPlaces({ clock, projects, placement })

  /** What of the entry's summary and labels becomes another one. */
  async function correctionOf(tx: Tx, { entry, labels }: PlacedEntry, asked: EntryCorrection): Promise<Correction> {
    const correction: Correction = { change: {}, labels, before: {}, after: {} }
    const { change, before, after } = correction
    const summary = asked.summary == null ? (asked.summary ?? entry.summary) : (foldLine(asked.summary) ?? null)
    if (asked.summary !== undefined && summary !== entry.summary) {
      change.summary = summary
      before.summary = entry.summary
      after.summary = summary
    }
    const sorted = (asked.labels && sortLabels(asked.labels)) ?? null
    const labelSetId = sorted && (await internLabels(tx, interned, sorted))
    if (asked.labels !== undefined && labelSetId !== entry.labelSetId) {
      change.labelSetId = labelSetId
      correction.labels = sorted
      before.labels = labels ?? {}
      after.labels = sorted ?? {}
    }
    return correction
  }

  /** Where the rules put an entry that says something else now; undefined where it stays, or is not theirs to move. */
  async function askRules(
    tx: Tx,
    placed: PlacedEntry,
    { change, labels }: Correction,
    by: Actor,
  ): Promise<Moved | undefined> {
    if (!isForRules(placed) || Object.keys(change).length === 0) return undefined
    const entry = { ...placed.entry, ...change }
    const found = await placeAgain(tx, placement, { ...placed, labels, entry })
    const columns = placementColumns(found)
    if (columns.projectId === entry.projectId && columns.ticketId === entry.ticketId) return undefined
    if (found.ticketFoundProject) {
      await takeOwnEntriesAlong(tx, found, placed.manager.id, { action: 'placed', at: clock.now(), by })
    }
    const to = placeOf({ project: found.project, ticket: found.ticket, by: found.by ?? 'unattributed' })
    return { because: 'corrected', columns, to }
  }

  /** Writes where entries are now, and that a person put them there. */
  async function land(tx: Tx, moves: Move[], by: Actor): Promise<void> {
    // Few landings, as all entries go to one place and differ at most in what they keep of theirs.
    const landings = Map.groupBy(moves, ({ to }) => `${to.project?.id} ${to.ticket?.id}`)
    for (const alike of landings.values()) {
      const change = { ...placedByHand(alike[0]!.to), updatedAt: clock.now() }
      await changeEntries(
        tx,
        alike.map(({ placed }) => placed.entry.id),
        change,
      )
    }
    await insertHistory(
      tx,
      { action: 'placed', at: clock.now(), by },
      moves.map(({ placed, to }) => ({ entryId: placed.entry.id, details: moveDetails(placed, to) })),
    )
  }

  return {
    /**
     * Places an entry by hand, and corrects its summary and labels. Throws `not_found` for what the viewer does not
     * see, `entry_locked` (409), `forbidden` where a member corrects what is not theirs, and 422 for a place that
     * does not exist. What they see they may place; a member corrects only what is their own.
     */
    async changeEntry(id: string, correction: EntryCorrection, party: Party) {
      const { viewer, person, by } = party
      return db.write(async (tx) => {
        const [placed] = isId('ent', id) ? await listPlacedByUid(tx, [id], viewer) : []
        if (!placed) throw notFound(`The entry ${id}`)
        if (isLocked(placed.entry)) throw entryLocked(placed)
        const corrects = correction.summary !== undefined || correction.labels !== undefined
        if (corrects && person?.role === 'member' && placed.manager.id !== person.id) throw notYoursToCorrect()

        const said = await correctionOf(tx, placed, correction)
        const moved = isPlace(correction)
          ? byHand(landingOf(placed, await places.resolve(tx, correction, party)))
          : await askRules(tx, placed, said, by)
        if (moved || Object.keys(said.change).length > 0) {
          const columns = { ...said.change, ...moved?.columns, updatedAt: clock.now() }
          await changeEntries(tx, [placed.entry.id], columns)
          const [before, after] = [placeOf(placed), moved?.to]
          const told = { ...(moved && { because: moved.because, from: before, to: after }), ...correctionDetails(said) }
          const change = { action: moved ? 'placed' : 'corrected', at: clock.now(), by }
          await insertHistory(tx, change, [{ entryId: placed.entry.id, details: told }])
          await audit.record(tx, by, {
            action: moved ? 'entry.placed' : 'entry.corrected',
            object: { id: placed.entry.uid, name: nameOf(placed) },
            ...difference({ ...(moved && before), ...said.before }, { ...after, ...said.after }),
          })
        }
        return toTokenEntry(await getView(tx, placed.entry.id))
      })
    },

    /**
     * Places many entries at once, in one transaction; those that are locked or not to be seen are refused one by one
     * and the others placed. A dry run only says so. Throws 422 where the place does not exist, and `too_many_entries`.
     */
    async placeEntries(
      selection: Selection,
      place: Place,
      party: Party,
      { dryRun = false }: { dryRun?: boolean } = {},
    ): Promise<PlacedMany> {
      if (!isPlace(place)) throw validationFailed([noPlace()])
      const { viewer, by } = party
      const carryOut = async (tx: Tx): Promise<PlacedMany> => {
        const resolved = await places.resolve(tx, place, party)
        const selected = await selectPlaced(tx, selection, viewer)
        const moves: Move[] = []
        const results: Placed[] = selected.map(({ id, entry: placed }) => {
          if (!placed) return { id, result: 'refused', problem: notFound(`The entry ${id}`) }
          if (isLocked(placed.entry)) return { id, result: 'refused', problem: entryLocked(placed) }
          const to = landingOf(placed, resolved)
          if (!to) return { id, result: 'unchanged', problem: null }
          moves.push({ placed, to })
          return { id, result: 'placed', problem: null }
        })
        const sums = summed(moves)
        if (moves.length > 0) {
          await land(tx, moves, by)
          await audit.record(tx, by, {
            action: 'entries.placed',
            after: {
              entries: moves.length,
              cost: moneyNumber(sums.costNanos),
              ...(resolved.project !== undefined && { project: resolved.project?.key ?? null }),
              ...(resolved.ticket !== undefined && { ticket: resolved.ticket?.key ?? null }),
            },
          })
        }
        return { results, ...sums }
      }
      return dryRun ? rehearse(db, carryOut) : db.write(carryOut)
    },
  }
}

/** An entry, and where it goes. */
interface Move {
  placed: PlacedEntry
  to: Landing
}

function summed(moves: Move[]): Omit<PlacedMany, 'results'> {
  const costs = moves.map(({ placed }) => costNanosOf(placed.entry))
  return {
    costNanos: costs.reduce<bigint>((sum, cost) => sum + (cost ?? 0n), 0n),
    unpricedEntries: costs.filter((cost) => cost === null).length,
  }
}

function selectPlaced(reader: Reader, selection: Selection, viewer: Viewer): Promise<Selected<PlacedEntry>[]> {
  return select(selection, {
    byFilter: (filter, limit) => listPlacedNewest(reader, { filter, viewer, limit }),
    byIds: (ids) => listPlacedByUid(reader, ids, viewer),
    idOf: ({ entry }) => entry.uid,
  })
}

interface Landing {
  project: { id: number; uid: Id<'prj'>; key: string } | null
  ticket: { id: number; uid: Id<'tkt'>; key: string } | null
}

/**
 * Where the entry goes; undefined where it is there by hand already. An entry that changes its project leaves a ticket
 * of the old one behind; one that leaves its ticket stays in the project.
 */
function landingOf({ entry, ...at }: PlacedEntry, { project, ticket }: Resolved): Landing | undefined {
  const here: Landing = {
    project: at.project && { id: entry.projectId!, ...at.project },
    ticket: at.ticket && { id: entry.ticketId!, ...at.ticket },
  }
  // To take a ticket off an entry that has none says nothing of its project.
  if (project === undefined && ticket === null && !here.ticket) return undefined
  const onto = project === undefined ? here.project : project
  const stays = onto !== null && onto.id === here.project?.id
  const landing = { project: onto, ticket: ticket === undefined ? (stays ? here.ticket : null) : ticket }
  const same = landing.project?.id === here.project?.id && landing.ticket?.id === here.ticket?.id
  return same && entry.placedBy === 'manual' ? undefined : landing
}

function placedByHand({ project, ticket }: Landing) {
  return {
    projectId: project?.id ?? null,
    ticketId: ticket?.id ?? null,
    placedBy: 'manual' as const,
    ruleVersionId: null,
    placementNote: null,
  }
}

/** A move of one entry, as it is written and as it is told. */
interface Moved {
  because: 'by_hand' | 'corrected'
  columns: EntryChange
  to: PlaceBody
}

function byHand(landing: Landing | undefined): Moved | undefined {
  return landing && { because: 'by_hand', columns: placedByHand(landing), to: placeOf({ ...landing, by: 'manual' }) }
}

/** What becomes another text or another set of labels, and the labels that the entry then has. */
interface Correction {
  change: Pick<EntryChange, 'summary' | 'labelSetId'>
  labels: LabelMap | null
  before: Record<string, unknown>
  after: Record<string, unknown>
}

function moveDetails(placed: PlacedEntry, to: Landing): Record<string, unknown> {
  return { because: 'by_hand', from: placeOf(placed), to: placeOf({ ...to, by: 'manual' }) }
}

function correctionDetails({ before, after }: Correction) {
  return Object.fromEntries(Object.keys(after).map((name) => [name, { from: before[name], to: after[name] }]))
}

/** How the audit trail names an entry, which has no name of its own. */
function nameOf({ agent, entry }: PlacedEntry): string {
  return `${agent}, ${timestamp(entry.startedAt)}`
}

/** What has to happen before an entry in this state can change. */
function entryLocked({ entry, bill }: PlacedEntry): Problem {
  const reason =
    entry.status === 'billed'
      ? `It is on bill ${bill?.number}. Void the bill first`
      : entry.sheetId !== null
        ? 'Its token sheet has been submitted. Have the sheet returned first'
        : 'It is approved. Withdraw the approval first'
  return new Problem('entry_locked', `Entry ${entry.uid} is locked. ${reason}.`)
}

function notYoursToCorrect(): Problem {
  return new Problem(
    'forbidden',
    'Only the owner of an entry, or a person with the role billing or admin, can correct its summary and labels. Leads of its project can only place it.',
  )
}

function noPlace(): Issue {
  return { pointer: '', code: 'required', message: 'Specify a project, a ticket, or null to unassign the entry.' }
}
