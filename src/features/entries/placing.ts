/**
 * Placing entries by hand, and correcting what is said of them besides figures (product.md, "Roles" and "Placement").
 *
 * A place given by hand stays: neither a later report of the session nor a rule moves the entry again. That holds for
 * no place as well: an entry that somebody took off its project is placed by hand on nothing, and is not unattributed.
 */
import type { Database, Reader, Tx } from '../../database/database.ts'
import type { LabelMap } from '../../database/records.ts'
import type { PlacedBy } from '../../database/tables.ts'
import type { Viewer } from '../../database/visibility.ts'
import { type Fault, notFound, Problem, validationFailed } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { timestamp } from '../../lib/duration.ts'
import { type Id, isId } from '../../lib/id.ts'
import { moneyNumber } from '../../lib/money.ts'
import { type Actor, type AuditService, difference, type Party } from '../audit/service.ts'
import type { Placement, PlacementService, Subject } from '../placement/service.ts'
import type { ProjectRow, ProjectsService, TicketRow } from '../projects/service.ts'
import type { EntryFilter } from './filter.ts'
import { placementColumns } from './record.ts'
import { foldLine, sortLabels } from './report.ts'
import { costNanosOf, isLocked } from './rows.ts'
import type { EntryCorrection } from './schema.ts'
import { type EntryChange, getView } from './store/entries.ts'
import { insertHistory } from './store/history.ts'
import { type Interned, internLabels } from './store/names.ts'
import {
  changeEntries,
  findProjectKey,
  findTicketKey,
  listPlacedByUid,
  listPlacedNewest,
  type PlacedEntry,
} from './store/placing.ts'
import { moveTicketEntries } from './store/sessions.ts'
import { toTokenEntry } from './wire.ts'

/** Entries that one call places: some two seconds of one transaction, for which reporting has to wait. */
const PLACING_LIMIT = 10_000

/** Rows of history in one statement: six columns each stay well below the parameters that a database takes. */
const HISTORY_ROWS = 1_000

/** Where entries go. Absent is unchanged, null takes the entry off. */
export interface Place {
  /** Id, key, name or alias. */
  project?: string | null | undefined
  /** Id or key. One that is not known yet is made, where its project is known. */
  ticket?: string | null | undefined
}

/** Which entries: by their ids, or those that a filter lets through. */
export type Selection = { ids: readonly string[] } | { filter: EntryFilter }

/** What became of one entry of several. */
export interface Placed {
  id: string
  result: 'placed' | 'unchanged' | 'refused'
  problem: Problem | null
}

interface Dependencies {
  db: Database
  clock: Clock
  audit: AuditService
  projects: ProjectsService
  placement: PlacementService
  interned: Interned
}

export function createPlacing({ db, clock, audit, projects, placement, interned }: Dependencies) {
  async function findProject(reader: Reader, named: string): Promise<ProjectRow | undefined> {
    if (!isId('prj', named)) return projects.findProject(reader, named)
    const key = await findProjectKey(reader, named)
    return key === undefined ? undefined : projects.getProject(reader, key)
  }

  /** What the names of a place mean, made where it is a ticket of a known project. Throws 422 with every fault. */
  async function resolve(tx: Tx, place: Place, by: Actor): Promise<Resolved> {
    const faults: Fault[] = []
    const project = typeof place.project === 'string' ? await findProject(tx, place.project) : place.project
    if (typeof place.project === 'string' && !project) faults.push(unknownProject(place.project))
    if (project?.archivedAt) faults.push(archivedProject(project, '/project'))
    if (typeof place.ticket === 'string' && place.project === null) faults.push(ticketWithoutProject())
    if (faults.length > 0) throw validationFailed(faults)
    if (typeof place.ticket !== 'string') return { project, ticket: place.ticket }
    return resolveTicket(tx, place.ticket, project ?? undefined, by)
  }

  async function resolveTicket(tx: Tx, named: string, project: ProjectRow | undefined, by: Actor): Promise<Resolved> {
    const key = await findTicketKey(tx, named)
    const known = key === undefined ? undefined : await projects.findTicket(tx, key)
    const own = known && known.projectId !== null ? await projects.getProject(tx, known.projectId) : undefined
    if (key === undefined) throw validationFailed([unknownTicket(named)])
    if (own && project && own.id !== project.id) throw validationFailed([ticketElsewhere(known!, own)])
    if (own?.archivedAt) throw validationFailed([archivedProject(own, '/ticket')])
    // By names alone, as a report would, but that no project is made for a slip of the finger.
    const found = await placement.placeByNames(
      tx,
      { project: project?.key, ticket: key },
      { unknownProjects: 'hold' as const },
    )
    if (!found.ticket) throw validationFailed([unknownTicket(named)])
    if (found.project?.archivedAt) throw validationFailed([archivedProject(found.project, '/ticket')])
    if (found.ticketFoundProject) await takeEntriesAlong(tx, found.ticket, found.project!, by)
    return { project: found.project, ticket: found.ticket }
  }

  /** A ticket that has found its project takes its other entries there. */
  async function takeEntriesAlong(tx: Tx, ticket: TicketRow, project: ProjectRow, by: Actor): Promise<void> {
    const moved = await moveTicketEntries(tx, ticket.id, project.id)
    await addHistory(
      tx,
      moved.map((entryId) => ({ entryId, details: { project: project.uid, because: 'ticket_found_project' } })),
      by,
    )
  }

  async function addHistory(
    tx: Tx,
    rows: { entryId: number; details: Record<string, unknown> }[],
    by: Actor,
    action = 'placed',
  ): Promise<void> {
    const at = clock.now()
    for (let start = 0; start < rows.length; start += HISTORY_ROWS) {
      const chunk = rows.slice(start, start + HISTORY_ROWS)
      await insertHistory(
        tx,
        chunk.map(({ entryId, details }) => ({
          entryId,
          at,
          action,
          userId: by.userId,
          tokenId: by.tokenId,
          details,
        })),
      )
    }
  }

  /** The chosen entries, each once, and the ids that name none. Throws 422 for more than one call places. */
  async function choose(tx: Tx, selection: Selection, viewer: Viewer) {
    if ('filter' in selection) {
      const found = await listPlacedNewest(tx, { filter: selection.filter, viewer, limit: PLACING_LIMIT + 1 })
      if (found.length > PLACING_LIMIT) throw tooMany()
      return { found, missing: [] }
    }
    const ids = [...new Set(selection.ids)]
    if (ids.length > PLACING_LIMIT) throw tooMany()
    const found = await listPlacedByUid(
      tx,
      ids.filter((id) => isId('ent', id)),
      viewer,
    )
    const seen = new Map(found.map((one) => [one.entry.uid as string, one]))
    return {
      found: ids.flatMap((id) => seen.get(id) ?? []),
      missing: ids.filter((id) => !seen.has(id)),
    }
  }

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
    if (found.ticketFoundProject) await takeEntriesAlong(tx, found.ticket!, found.project!, by)
    const to = placeOf({ project: found.project, ticket: found.ticket, by: found.by ?? 'unattributed' })
    return { because: 'corrected', columns, to }
  }

  return {
    /**
     * Places an entry by hand, and corrects its summary and labels. Throws `not_found` for what the viewer does not
     * see, `entry_locked` (409), `forbidden` where a member corrects what is not theirs, and 422 for a place that
     * does not exist. What they see they may place; a member corrects only what is their own.
     */
    async changeEntry(id: string, correction: EntryCorrection, { viewer, person, by }: Party) {
      return db.write(async (tx) => {
        const [placed] = isId('ent', id) ? await listPlacedByUid(tx, [id], viewer) : []
        if (!placed) throw notFound(`The entry ${id}`)
        if (isLocked(placed.entry)) throw entryLocked(placed)
        const corrects = correction.summary !== undefined || correction.labels !== undefined
        if (corrects && person?.role === 'member' && placed.manager.id !== person.id) throw notYoursToCorrect()

        const said = await correctionOf(tx, placed, correction)
        const moved = isPlace(correction)
          ? byHand(landingOf(placed, await resolve(tx, correction, by)))
          : await askRules(tx, placed, said, by)
        if (moved || Object.keys(said.change).length > 0) {
          const change = { ...said.change, ...moved?.columns, updatedAt: clock.now() }
          await changeEntries(tx, [placed.entry.id], change)
          const [before, after] = [placeOf(placed), moved?.to]
          const told = { ...(moved && { because: moved.because, from: before, to: after }), ...correctionDetails(said) }
          await addHistory(tx, [{ entryId: placed.entry.id, details: told }], by, moved ? 'placed' : 'corrected')
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
     * and the others placed. Throws 422 where the place does not exist, or for more than {@link PLACING_LIMIT}.
     */
    async placeEntries(selection: Selection, place: Place, { viewer, by }: Party): Promise<Placed[]> {
      if (!isPlace(place)) throw validationFailed([noPlace()])
      return db.write(async (tx) => {
        const resolved = await resolve(tx, place, by)
        const { found, missing } = await choose(tx, selection, viewer)
        const moves: { placed: PlacedEntry; to: Landing }[] = []
        const results: Placed[] = found.map((placed) => {
          const { uid: id } = placed.entry
          if (isLocked(placed.entry)) return { id, result: 'refused', problem: entryLocked(placed) }
          const to = landingOf(placed, resolved)
          if (!to) return { id, result: 'unchanged', problem: null }
          moves.push({ placed, to })
          return { id, result: 'placed', problem: null }
        })
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
        await addHistory(
          tx,
          moves.map(({ placed, to }) => ({ entryId: placed.entry.id, details: moveDetails(placed, to) })),
          by,
        )
        if (moves.length > 0) {
          await audit.record(tx, by, {
            action: 'entries.placed',
            after: {
              entries: moves.length,
              cost: moneyNumber(moves.reduce((sum, { placed }) => sum + (costNanosOf(placed.entry) ?? 0n), 0n)),
              ...(resolved.project !== undefined && { project: resolved.project?.key ?? null }),
              ...(resolved.ticket !== undefined && { ticket: resolved.ticket?.key ?? null }),
            },
          })
        }
        return [
          ...results,
          ...missing.map((id) => ({ id, result: 'refused' as const, problem: notFound(`The entry ${id}`) })),
        ]
      })
    },
  }
}

/** What a place's names mean; undefined what was not said, null what is taken off. */
interface Resolved {
  project: ProjectRow | null | undefined
  ticket: TicketRow | null | undefined
}

interface Landing {
  project: { id: number; uid: Id<'prj'>; key: string } | null
  ticket: { id: number; uid: Id<'tkt'>; key: string } | null
}

function isPlace({ project, ticket }: Place): boolean {
  return project !== undefined || ticket !== undefined
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

/** A place in the words of the API; a ticket that is only about to be made has no id yet. */
export interface PlaceBody {
  project: { id: Id<'prj'>; key: string } | null
  ticket: { id: Id<'tkt'> | null; key: string } | null
  placed_by: PlacedBy | 'unattributed'
}

interface Known {
  project: { uid: Id<'prj'>; key: string } | null
  ticket: { uid: Id<'tkt'>; key: string } | null
}

export function placeOf(at: Known & ({ entry: PlacedEntry['entry'] } | { by: PlaceBody['placed_by'] })): PlaceBody {
  return {
    project: at.project && { id: at.project.uid, key: at.project.key },
    ticket: at.ticket && { id: at.ticket.uid, key: at.ticket.key },
    placed_by: 'by' in at ? at.by : (at.entry.placedBy ?? 'unattributed'),
  }
}

/** What rules may move: what they placed before, and what nothing placed. */
export function isForRules({ entry }: PlacedEntry): boolean {
  return entry.placedBy === null || entry.placedBy === 'rule'
}

/** What rules look at, in an entry that is there already. */
export function subjectOf(placed: PlacedEntry): Subject {
  return {
    agentHarness: placed.harness,
    agentName: placed.agent,
    model: placed.model,
    provider: placed.provider,
    manager: placed.manager,
    summary: placed.entry.summary,
    labels: placed.labels,
  }
}

/**
 * Where the entry belongs now. What its report named and nobody had made then is looked for again; it is never made
 * here, as that is for whoever holds such names to decide.
 */
export function placeAgain(tx: Tx, placement: PlacementService, placed: PlacedEntry): Promise<Placement> {
  const { namedProject, namedTicket } = placed.entry
  const named = { project: namedProject ?? undefined, ticket: namedTicket ?? undefined }
  return placement.place(tx, { named, subject: subjectOf(placed) }, { unknownProjects: 'hold' })
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
      ? `It is on bill ${bill?.number}: void that first`
      : entry.sheetId !== null
        ? 'It is on a token sheet that was submitted: have the sheet returned first'
        : 'It is approved: withdraw the approval first'
  return new Problem('entry_locked', `The entry ${entry.uid} cannot change. ${reason}.`)
}

function notYoursToCorrect(): Problem {
  return new Problem(
    'forbidden',
    'The summary and the labels of an entry are corrected by the person it belongs to, or with the role billing or admin. Who leads its project may place it.',
  )
}

function unknownProject(named: string): Fault {
  return {
    pointer: '/project',
    code: 'unknown_project',
    message: `There is no project '${named}'. Make it first, or name another one by its id, key, name or alias.`,
  }
}

function archivedProject({ key }: ProjectRow, pointer: string): Fault {
  return { pointer, code: 'archived_project', message: `Project ${key} is archived. Restore it first.` }
}

function unknownTicket(named: string): Fault {
  return {
    pointer: '/ticket',
    code: 'unknown_ticket',
    message: isId('tkt', named)
      ? `There is no ticket ${named}.`
      : `There is no ticket '${named}'. Name its project as well, and it is made.`,
  }
}

function ticketElsewhere({ key }: TicketRow, own: ProjectRow): Fault {
  return {
    pointer: '/ticket',
    code: 'other_project',
    message: `Ticket ${key} belongs to project ${own.key}. Leave the project out, or name that one.`,
  }
}

function ticketWithoutProject(): Fault {
  return {
    pointer: '/project',
    code: 'ticket_has_project',
    message: 'A ticket stands in its project: leave the project out to place the entry on the ticket.',
  }
}

function noPlace(): Fault {
  return { pointer: '', code: 'required', message: 'Say where: a project, a ticket, or null to take it off.' }
}

function tooMany(): Problem {
  return new Problem(
    'too_many_entries',
    `One call places ${PLACING_LIMIT.toLocaleString('en')} entries at most. Narrow the filter, or send fewer ids.`,
  )
}
