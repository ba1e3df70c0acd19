/**
 * Placing entries by hand, and correcting what was reported of them (docs/design/concepts.md, "Roles" and "Placement").
 *
 * A manual placement is permanent: neither a later report of the session nor a rule moves the entry again. This
 * includes the placement on no project: an entry that a person removed from its project is placed by hand on nothing,
 * and is not unattributed.
 */

import { createHash } from 'node:crypto'
import type { Actor, Party } from '../../../access/actor.ts'
import type { Viewer } from '../../../access/visibility.ts'
import type { Database, Reader, Tx } from '../../../database/database.ts'
import { rehearse } from '../../../database/dry-run.ts'
import type { LabelMap } from '../../../database/schema/records.ts'
import { seesEverything } from '../../../database/schema/values.ts'
import { type Issue, notFound, Problem, validationFailed } from '../../../errors.ts'
import type { Clock } from '../../../lib/clock.ts'
import { timestamp } from '../../../lib/duration.ts'
import { isId } from '../../../lib/id.ts'
import { moneyNumber } from '../../../lib/money.ts'
import { type AuditService, difference, requireUnchanged } from '../../audit/service.ts'
import type { PlacementService } from '../../placement/service.ts'
import type { PricesService } from '../../prices/service.ts'
import type { ProjectsService } from '../../projects/service.ts'
import { correctsFigures, createFigureCorrection } from '../figure-correction.ts'
import type { FundingRedecision } from '../funding/redecision.ts'
import { recordHistory } from '../history/record.ts'
import { type Selected, type Selection, select } from '../listing/selection.ts'
import { type Interned, internLabels } from '../reporting/names.ts'
import { placementColumns } from '../reporting/record.ts'
import { foldLine, sortLabels } from '../reporting/report-fields.ts'
import { costNanosOf, isLocked } from '../rows.ts'
import type { EntryCorrection } from '../schema.ts'
import { type EntryChange, getView } from '../store.ts'
import { moveAlong } from '../ticket-moves.ts'
import { toTokenEntry } from '../wire.ts'
import { type Destination, entryLocked, movedTo, placedByHand, UNATTRIBUTED } from './destination.ts'
import { createNamedPlaces, isPlace, type Place, type Resolved } from './named-place.ts'
import { isForRules, type PlaceBody, placeAgain, placeOf } from './placed-entry.ts'
import { changeEntries, listPlacedByUid, listPlacedNewest, type PlacedEntry } from './store/places.ts'

/** The result for one of many entries. */
export interface Placed {
  id: string
  result: 'placed' | 'unchanged' | 'refused'
  problem: Problem | null
}

export interface PlacedMany {
  results: Placed[]
  /** The sum of the known costs of the placed entries. */
  costNanos: bigint
  /** The number of placed entries that have no known cost. */
  unpricedEntries: number
  /** Of what a dry run of placing would do. */
  digest?: string
}

interface Dependencies {
  db: Database
  clock: Clock
  audit: AuditService
  projects: ProjectsService
  placement: PlacementService
  prices: Pick<PricesService, 'table'>
  interned: Interned
  decideAgain: FundingRedecision['decideAgain']
}

export function createManualPlacement(dependencies: Dependencies) {
  const { db, clock, audit, projects, placement, interned, prices, decideAgain } = dependencies
  const places = createNamedPlaces({ clock, projects, placement })
  const figures = createFigureCorrection({ clock, audit, prices, interned })

  /** The changes that a correction makes to the entry's summary and labels. */
  async function correctionOf(tx: Tx, { entry, labels }: PlacedEntry, requested: EntryCorrection): Promise<Correction> {
    const correction: Correction = { change: {}, labels, before: {}, after: {} }
    const { change, before, after } = correction
    const summary = requested.summary ? (foldLine(requested.summary) ?? null) : null
    if (requested.summary !== undefined && summary !== entry.summary) {
      change.summary = summary
      before.summary = entry.summary
      after.summary = summary
    }
    const sorted = (requested.labels && sortLabels(requested.labels)) ?? null
    await interned.follow(tx)
    const labelSetId = sorted && (await internLabels(tx, interned, sorted))
    if (requested.labels !== undefined && labelSetId !== entry.labelSetId) {
      change.labelSetId = labelSetId
      correction.labels = sorted
      before.labels = labels ?? {}
      after.labels = sorted ?? {}
    }
    const fields = (['summary', 'labels'] as const).filter((field) => field in after)
    if (fields.length > 0 && entry.sessionId !== null) {
      change.corrected = [...new Set([...(entry.corrected ?? []), ...fields])].sort()
    }
    return correction
  }

  /** The placement that the rules give to a corrected entry; undefined if it stays, or if rules may not move it. */
  async function placeByRules(
    tx: Tx,
    placed: PlacedEntry,
    { change, labels }: Correction,
    by: Actor,
  ): Promise<Moved | undefined> {
    if (!isForRules(placed)) return undefined
    const entry = { ...placed.entry, ...change }
    const found = await placeAgain(tx, placement, { ...placed, labels, entry })
    const columns = placementColumns(found)
    if (columns.projectId === entry.projectId && columns.ticketId === entry.ticketId) return undefined
    await moveAlong(tx, found, placed.manager.id, { action: 'placed', at: clock.now(), by })
    const to = placeOf({ project: found.project, ticket: found.ticket, by: found.by ?? 'unattributed' })
    return { because: 'corrected', columns, to }
  }

  /** Saves the new places of entries, as placed by hand. */
  async function saveMoves(tx: Tx, moves: Move[], by: Actor): Promise<void> {
    // Few groups: all entries move to one place, and differ at most in the project or ticket that they keep.
    const groups = Map.groupBy(moves, ({ to }) => `${to.project?.id} ${to.ticket?.id}`)
    for (const alike of groups.values()) {
      const change = { ...placedByHand(alike[0]!.to), updatedAt: clock.now() }
      await changeEntries(
        tx,
        alike.map(({ placed }) => placed.entry.id),
        change,
      )
    }
    await recordHistory(
      tx,
      { action: 'placed', at: clock.now(), by },
      moves.map(({ placed, to }) => ({ entryId: placed.entry.id, details: moveDetails(placed, to) })),
    )
  }

  return {
    /**
     * Places an entry by hand, and corrects its summary, labels and figures. Viewers may place every entry that they see;
     * members may correct only their own, and no figures. Throws `not_found` if the viewer does not see it, `entry_locked` (409),
     * `forbidden` if a member corrects another person's entry, and 422 if the place does not exist.
     */
    async changeEntry(id: string, correction: EntryCorrection, party: Party) {
      const { viewer, person, by } = party
      return db.write(async (tx) => {
        const [placed] = isId('ent', id) ? await listPlacedByUid(tx, [id], viewer) : []
        if (!placed) throw notFound(`The entry ${id}`)
        if (isLocked(placed.entry)) throw entryLocked(placed)
        const corrects = correction.summary !== undefined || correction.labels !== undefined
        if (corrects && person && !seesEverything(person.role) && placed.manager.id !== person.id) {
          throw correctionForbidden()
        }
        await requireUnchanged(tx, by, placed.entry.uid)

        const hasFigures = correctsFigures(correction)
        if (hasFigures) {
          const { entry, model, provider } = await figures.correct(tx, placed.entry, correction, party)
          Object.assign(placed, { entry, model, provider })
        }
        const corrected = await correctionOf(tx, placed, correction)
        const hasNews = hasFigures || Object.keys(corrected.change).length > 0
        const moved = isPlace(correction)
          ? byHand(movedTo(placed, await places.resolve(tx, correction, party)))
          : hasNews
            ? await placeByRules(tx, placed, corrected, by)
            : undefined
        if (moved || Object.keys(corrected.change).length > 0) {
          const columns = { ...corrected.change, ...moved?.columns, updatedAt: clock.now() }
          await changeEntries(tx, [placed.entry.id], columns)
          const [before, after] = [placeOf(placed), moved?.to]
          const details = {
            ...(moved && { because: moved.because, from: before, to: after }),
            ...correctionDetails(corrected),
          }
          const change = { action: moved ? ('placed' as const) : ('corrected' as const), at: clock.now(), by }
          await recordHistory(tx, change, [{ entryId: placed.entry.id, details }])
          await audit.record(tx, by, {
            action: moved ? 'entry.placed' : 'entry.corrected',
            object: { id: placed.entry.uid, name: nameOf(placed) },
            ...difference({ ...(moved && before), ...corrected.before }, { ...after, ...corrected.after }),
          })
        }
        if (hasNews) await decideAgain(tx, [placed.entry.id], by)
        return toTokenEntry(await getView(tx, placed.entry.id))
      })
    },

    /**
     * Places many entries in one transaction. Entries that are locked or not visible are refused individually, the
     * others are placed. A dry run only reports this, with its digest. Throws 422 if the place does not exist,
     * `too_many_entries`, and with the digest of a dry run `preview_changed` if it would now do something else.
     */
    async placeEntries(
      selection: Selection,
      place: Place,
      party: Party,
      { dryRun = false, digest }: { dryRun?: boolean; digest?: string | undefined } = {},
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
          const to = movedTo(placed, resolved)
          if (!to) return { id, result: 'unchanged', problem: null }
          moves.push({ placed, to })
          return { id, result: 'placed', problem: null }
        })
        const sums = summed(moves)
        const found = dryRun || digest !== undefined ? digestOf(resolved, selected, results, by) : undefined
        if (digest !== undefined && digest !== found) throw previewChanged()
        if (moves.length > 0) {
          await saveMoves(tx, moves, by)
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
        return { results, ...sums, ...(dryRun && { digest: found! }) }
      }
      return dryRun ? rehearse(db, carryOut) : db.write(carryOut)
    },

    /**
     * Makes entries unattributed that a person placed, as if nobody had: rules and later reports may place them again.
     * Whoever may place an entry may do so. All others stay as they are. Throws `too_many_entries`.
     */
    async unplaceEntries(
      selection: Selection,
      { viewer, by }: Party,
      { dryRun = false }: { dryRun?: boolean } = {},
    ): Promise<PlacedMany> {
      const carryOut = async (tx: Tx): Promise<PlacedMany> => {
        const selected = await selectPlaced(tx, selection, viewer)
        const moves: Move[] = []
        const results: Placed[] = selected.map(({ id, entry: placed }) => {
          if (!placed) return { id, result: 'refused', problem: notFound(`The entry ${id}`) }
          if (isLocked(placed.entry)) return { id, result: 'refused', problem: entryLocked(placed) }
          if (placed.entry.placedBy !== 'manual') return { id, result: 'unchanged', problem: null }
          moves.push({ placed, to: { project: null, ticket: null } })
          return { id, result: 'placed', problem: null }
        })
        const sums = summed(moves)
        if (moves.length > 0) {
          const now = clock.now()
          await changeEntries(
            tx,
            moves.map(({ placed }) => placed.entry.id),
            { ...UNATTRIBUTED, updatedAt: now },
          )
          await recordHistory(
            tx,
            { action: 'placed', at: now, by },
            moves.map(({ placed }) => ({
              entryId: placed.entry.id,
              details: {
                because: 'by_hand',
                from: placeOf(placed),
                to: placeOf({ project: null, ticket: null, by: 'unattributed' }),
              },
            })),
          )
          await audit.record(tx, by, {
            action: 'entries.unplaced',
            after: { entries: moves.length, cost: moneyNumber(sums.costNanos) },
          })
        }
        return { results, ...sums }
      }
      return dryRun ? rehearse(db, carryOut) : db.write(carryOut)
    },
  }
}

/** An entry and its new place. */
interface Move {
  placed: PlacedEntry
  to: Destination
}

/** A digest of who places what where, of where it is now, and of the last change of each entry. */
function digestOf(
  { project, ticket }: Resolved,
  selected: readonly Selected<PlacedEntry>[],
  results: readonly Placed[],
  { userId }: Actor,
): string {
  const hash = createHash('sha256').update(JSON.stringify([userId, keyOf(project), keyOf(ticket)]))
  const lines = selected.map(({ id, entry: placed }, at) => {
    const { updatedAt, projectId, ticketId } = placed?.entry ?? {}
    return JSON.stringify([id, results[at]!.result, updatedAt, projectId, ticketId])
  })
  for (const line of lines.sort()) hash.update(line)
  return hash.digest('base64url')
}

/** Without a key, it is removed (null) or kept. */
const keyOf = (place: { key: string } | null | undefined) =>
  place === undefined ? 'kept' : place && { key: place.key }

function previewChanged(): Problem {
  return new Problem(
    'preview_changed',
    'Entries or projects have changed since the preview, or it was of other entries or another person. Nothing was placed. Preview it again.',
  )
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

/** A change of an entry's place: the columns to update, and the place as the history shows it. */
interface Moved {
  because: 'by_hand' | 'corrected'
  columns: EntryChange
  to: PlaceBody
}

function byHand(destination: Destination | undefined): Moved | undefined {
  return (
    destination && {
      because: 'by_hand',
      columns: placedByHand(destination),
      to: placeOf({ ...destination, by: 'manual' }),
    }
  )
}

/** The changed texts and labels, and the labels that the entry has afterwards. */
interface Correction {
  change: Pick<EntryChange, 'summary' | 'labelSetId' | 'corrected'>
  labels: LabelMap | null
  before: Record<string, unknown>
  after: Record<string, unknown>
}

function moveDetails(placed: PlacedEntry, to: Destination): Record<string, unknown> {
  return { because: 'by_hand', from: placeOf(placed), to: placeOf({ ...to, by: 'manual' }) }
}

function correctionDetails({ before, after }: Correction) {
  return Object.fromEntries(Object.keys(after).map((name) => [name, { from: before[name], to: after[name] }]))
}

/** The name of an entry in the audit log, since it has none of its own. */
function nameOf({ agent, entry }: PlacedEntry): string {
  return `${agent}, ${timestamp(entry.startedAt)}`
}

function correctionForbidden(): Problem {
  return new Problem(
    'forbidden',
    'Only the owner of an entry, or a person with the role billing or admin, can correct its summary and labels. Leads of its project can only place it.',
  )
}

function noPlace(): Issue {
  return { pointer: '', code: 'required', message: 'Specify a project, a ticket, or null to unassign the entry.' }
}
