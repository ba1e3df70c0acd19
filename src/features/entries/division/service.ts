/**
 * Dividing an entry between projects or tickets (docs/design/concepts.md, "Division"). The entry becomes the first part
 * and stays in its session; each other part is an entry of its own, which is placed, approved and billed like any other.
 */
import type { Party } from '../../../access/actor.ts'
import { EVERYTHING, type Viewer } from '../../../access/visibility.ts'
import type { Database, Reader, Tx } from '../../../database/database.ts'
import { rehearse } from '../../../database/dry-run.ts'
import { type Issue, notFound, Problem, validationFailed } from '../../../errors.ts'
import type { Clock } from '../../../lib/clock.ts'
import { numberText } from '../../../lib/exact-json.ts'
import { isId, newId } from '../../../lib/id.ts'
import { formatDecimal, moneyNumber, NANO_DIGITS, parseExactDecimal } from '../../../lib/money.ts'
import { totalTokens } from '../../../shared/usage.ts'
import { type AuditService, requireUnchanged } from '../../audit/service.ts'
import { divideShares, isCorrection, uniteShares } from '../../funding/service.ts'
import type { PlacementService } from '../../placement/service.ts'
import type { ProjectsService } from '../../projects/service.ts'
import { notingChanges } from '../../spending/contract.ts'
import { recordHistory } from '../history/record.ts'
import { findView } from '../listing/store/lists.ts'
import { type Destination, destinationOf, entryLocked, placedByHand } from '../places/destination.ts'
import { createNamedPlaces } from '../places/named-place.ts'
import { placeOf } from '../places/placed-entry.ts'
import { listPlacedByUid, type PlacedEntry } from '../places/store/places.ts'
import { costNanosOf, countsOf, isLocked } from '../rows.ts'
import type { DividedTokenEntry, EntryDivision } from '../schema.ts'
import { followSessions } from '../session-owner.ts'
import { type EntryRecord, type EntryView, getView, getViews, insertEntries, updateEntry } from '../store.ts'
import { toTokenEntry } from '../wire.ts'
import { isShare, rowsOf, wholeOf } from './divided.ts'
import { correcting, divided } from './problems.ts'
import { divideNumber } from './shares.ts'
import { listOtherParts, lockOtherParts } from './store.ts'

/** Digits of a share after the point. */
const SHARE_DIGITS = 6

interface Dependencies {
  db: Database
  clock: Clock
  audit: Pick<AuditService, 'record'>
  projects: ProjectsService
  placement: PlacementService
}

export function createDivision({ db, clock, audit, projects, placement }: Dependencies) {
  const places = createNamedPlaces({ clock, projects, placement })

  /** The place of each part. Throws 422 with every issue. */
  async function destinationsOf(tx: Tx, placed: PlacedEntry, { parts }: EntryDivision, party: Party) {
    const destinations: Destination[] = []
    const issues: Issue[] = []
    for (const [position, { project, ticket }] of parts.entries()) {
      try {
        destinations.push(destinationOf(placed, await places.resolve(tx, { project, ticket }, party)))
      } catch (error) {
        if (!(error instanceof Problem && error.more.issues)) throw error
        issues.push(...error.more.issues.map((issue) => ({ ...issue, pointer: `/parts/${position}${issue.pointer}` })))
      }
    }
    if (issues.length > 0) throw validationFailed(issues)
    return destinations
  }

  async function carryOut(tx: Tx, id: string, division: EntryDivision, party: Party): Promise<DividedTokenEntry> {
    const { viewer, by } = party
    const [placed] = isId('ent', id) ? await listPlacedByUid(tx, [id], viewer) : []
    if (!placed) throw notFound(`The entry ${id}`)
    requireDivisible(placed)
    if (await isCorrection(tx, placed.entry.id)) throw correcting(placed.entry.uid)
    await requireUnchanged(tx, by, placed.entry.uid)
    const weights = weightsOf(division, costNanosOf(placed.entry))
    const destinations = await destinationsOf(tx, placed, division, party)
    const at = clock.now()
    const before = await getView(tx, placed.entry.id)
    const total = weights.reduce((sum, weight) => sum + weight, 0n)
    const ids = await tx.reserveIds(tx.tables.entries, weights.length - 1)
    const [whole, ...others] = weights.map((weight, position): EntryView => {
      const share = { of: before.entry.uid, weight: weight.toString(), total: total.toString() }
      const kept: EntryRecord = { ...before.entry, ...placedByHand(destinations[position]!), updatedAt: at }
      const amendment = { ...(position === 0 && before.entry.amendment), division: share }
      const own = position === 0 ? {} : ownColumns(ids[position - 1]!, before.entry, at)
      return { ...before, entry: { ...kept, amendment, ...own } }
    })
    const rows = rowsOf(whole!, others)
    const [first, ...rest] = rows.map(({ entry }) => entry)
    await updateEntry(tx, first!.id, changedColumns(first!))
    await notingChanges(tx, ids, () => insertEntries(tx, rows.slice(1)))
    await divideShares(
      tx,
      rows.map(({ entry }) => entry.id),
      (amount) => divideNumber(amount, weights),
    )
    const parts = rows.map(({ entry }, position) => {
      const { project, ticket } = destinations[position]!
      return {
        entry: entry.uid,
        project: project?.key ?? null,
        ticket: ticket?.key ?? null,
        cost: moneyNumber(costNanosOf(entry)),
      }
    })
    await recordHistory(tx, { action: 'divided', at, by }, [
      { entryId: first!.id, details: { from: placeOf(placed), parts } },
      ...rest.map(({ id: entryId }) => ({ entryId, details: { of: before.entry.uid } })),
    ])
    await audit.record(tx, by, {
      action: 'entry.divided',
      object: { id: before.entry.uid, name: before.entry.uid },
      before: { cost: moneyNumber(costNanosOf(before.entry)), ...placeOf(placed) },
      after: { parts },
    })
    return divisionOf(tx, first!, viewer)
  }

  return {
    /**
     * Divides an entry between the places of its parts, each with a share or an amount. Viewers may divide every entry that
     * they may place. Throws `not_found`, `entry_locked`, `entry_divided`, `wrong_status`, `on_a_sheet` (409), and 422
     * for places that don't exist and amounts that don't sum up to the cost. A dry run saves nothing.
     */
    async divide(
      id: string,
      division: EntryDivision,
      party: Party,
      { dryRun = false } = {},
    ): Promise<DividedTokenEntry> {
      return dryRun
        ? rehearse(db, (tx) => carryOut(tx, id, division, party))
        : db.write((tx) => carryOut(tx, id, division, party))
    },

    /**
     * Gives the usage of all parts back to the entry that was divided, and voids the others. Throws `not_found`,
     * `not_divided` and `entry_locked` (409), and `forbidden` if the viewer does not see all parts.
     */
    async undivide(
      id: string,
      { viewer, by }: Pick<Party, 'viewer' | 'by'>,
    ): Promise<DividedTokenEntry['parts'][number]> {
      return db.write(async (tx) => {
        const { entry: seen } = await findPart(tx, id, viewer)
        const uid = seen.amendment!.division!.of
        const stored = (await findView(tx, uid, EVERYTHING))!
        const [others] = await lockOtherParts(tx, [stored.entry.id])
        const parts = [stored, ...others!]
        await requireUndoable(tx, parts, viewer)
        await requireUnchanged(tx, by, seen.uid)
        const at = clock.now()
        const whole = wholeOf(stored)
        const { division: _share, whole: _figures, ...kept } = stored.entry.amendment!
        const amendment = Object.keys(kept).length > 0 ? kept : null
        await updateEntry(tx, whole.entry.id, { ...changedColumns(whole.entry), amendment, updatedAt: at })
        await uniteShares(
          tx,
          parts.map(({ entry }) => entry.id),
        )
        for (const { entry } of others!) {
          const withdrawn = {
            status: 'voided',
            dividedFromId: null,
            amendment: { undivided: uid },
            updatedAt: at,
          } as const
          await updateEntry(tx, entry.id, withdrawn)
        }
        await recordHistory(tx, { action: 'division_undone', at, by }, [
          { entryId: whole.entry.id, details: { parts: others!.map(({ entry }) => entry.uid) } },
          ...others!.map(({ entry }) => ({
            entryId: entry.id,
            details: { status: { from: entry.status, to: 'voided' }, of: uid },
          })),
        ])
        await followSessions(tx, [whole.entry.id], { at, by })
        await audit.record(tx, by, {
          action: 'entry.undivided',
          object: { id: uid, name: uid },
          before: { parts: parts.map(({ entry }) => ({ entry: entry.uid, cost: moneyNumber(costNanosOf(entry)) })) },
          after: { cost: moneyNumber(costNanosOf(whole.entry)) },
        })
        return toTokenEntry(await getView(tx, whole.entry.id))
      })
    },

    /** The parts of a division, by the id of any of them. Throws `not_found` and `not_divided` (409). */
    async getDivision(id: string, viewer: Viewer): Promise<DividedTokenEntry> {
      const { entry } = await findPart(db.read, id, viewer)
      const whole = (await findView(db.read, entry.amendment!.division!.of, EVERYTHING))!
      return divisionOf(db.read, whole.entry, viewer)
    },
  }
}

/** What a further part has of its own. It is not in the session: that has the whole. */
function ownColumns(id: number, { id: dividedFromId }: EntryRecord, createdAt: number) {
  return {
    id,
    uid: newId('ent'),
    sessionId: null,
    chainModelId: null,
    part: null,
    continuesId: null,
    fingerprint: null,
    possibleDuplicateId: null,
    namedProject: null,
    namedTicket: null,
    dividedFromId,
    createdAt,
    updatedAt: null,
  } satisfies Partial<EntryRecord>
}

function changedColumns({
  id: _id,
  uid: _uid,
  sessionId: _s,
  chainModelId: _c,
  part: _p,
  createdAt: _at,
  ...columns
}: EntryRecord) {
  return columns
}

async function findPart(reader: Reader, id: string, viewer: Viewer): Promise<EntryView> {
  const view = isId('ent', id) ? await findView(reader, id, viewer) : undefined
  if (!view) throw notFound(`The entry ${id}`)
  if (!isShare(view.entry)) throw new Problem('not_divided', `Entry ${id} is not a part of a divided entry.`)
  return view
}

async function divisionOf(reader: Reader, { id }: Pick<EntryRecord, 'id'>, viewer: Viewer): Promise<DividedTokenEntry> {
  const [[first], [others]] = [await getViews(reader, [id]), await listOtherParts(reader, [id])]
  const parts = [first!, ...others!]
  const visible: EntryView[] = []
  for (const part of parts) if (await findView(reader, part.entry.uid, viewer)) visible.push(part)
  const { entry: whole } = wholeOf(first!)
  return {
    entry: whole.uid,
    cost: moneyNumber(costNanosOf(whole)),
    tokens: totalTokens(countsOf(whole)),
    parts: visible.map(toTokenEntry),
    hidden_parts: parts.length - visible.length,
  }
}

function requireDivisible(placed: PlacedEntry): void {
  const { entry } = placed
  if (isShare(entry)) throw divided(entry.uid)
  if (entry.sheetId !== null) {
    throw new Problem(
      'on_a_sheet',
      `Entry ${entry.uid} belongs to a token sheet. Add an entry for each project to its sheet instead.`,
    )
  }
  if (isLocked(entry)) throw entryLocked(placed)
  if (entry.status === 'submitted') return
  const first = entry.status === 'rejected' ? 'Reopen it first.' : 'Release it first.'
  throw new Problem(
    'wrong_status',
    `Cannot divide entry ${entry.uid}: it must be submitted, but is ${entry.status}. ${first}`,
  )
}

async function requireUndoable(tx: Tx, parts: readonly EntryView[], viewer: Viewer): Promise<void> {
  for (const { entry, bill } of parts) {
    if (!(await findView(tx, entry.uid, viewer))) {
      throw new Problem(
        'forbidden',
        'A part of this entry is in a project that you do not lead. Ask a person with the role billing or admin to undo the division.',
      )
    }
    if (entry.status === 'submitted' || entry.status === 'held' || entry.status === 'discarded') continue
    if (entry.status === 'rejected') {
      throw new Problem('wrong_status', `Cannot undo the division: its part ${entry.uid} is rejected. Reopen it first.`)
    }
    throw entryLocked({ entry, bill })
  }
}

/** How much each part gets: shares as they are, or amounts, of which one part may have the rest of the cost. */
function weightsOf({ parts }: EntryDivision, cost: bigint | null): bigint[] {
  const issues: Issue[] = []
  const has = (field: 'share' | 'amount') => parts.filter((part) => part[field] !== undefined).length
  const field = has('amount') > 0 ? 'amount' : 'share'
  const digits = field === 'amount' ? NANO_DIGITS : SHARE_DIGITS
  const weights = parts.map((part, position) => {
    const pointer = `/parts/${position}`
    if (field === 'amount' && part.share !== undefined) {
      issues.push({ pointer: `${pointer}/share`, code: 'not_allowed', message: 'cannot be combined with amounts' })
    }
    if (part[field] === undefined) return undefined
    const weight = parseExactDecimal(numberText(part as { share: number }, field as 'share'), digits)
    if (weight !== undefined && weight > 0n) return weight
    issues.push({
      pointer: `${pointer}/${field}`,
      code: 'invalid',
      message: `must be above 0, with at most ${digits} decimal places`,
    })
    return undefined
  })
  const open = weights.flatMap((weight, position) => (weight === undefined ? [position] : []))
  if (issues.length > 0) throw validationFailed(issues)
  if (field === 'share') {
    const missing = open.map((position) => ({
      pointer: `/parts/${position}/share`,
      code: 'required',
      message: 'is required: each part needs a share, or each an amount',
    }))
    if (missing.length > 0) throw validationFailed(missing)
    return weights as bigint[]
  }
  return amountsOf(weights, open, cost)
}

function amountsOf(amounts: (bigint | undefined)[], open: number[], cost: bigint | null): bigint[] {
  const refuse = (pointer: string, message: string) => validationFailed([{ pointer, code: 'amounts', message }])
  if (cost === null) throw refuse('/parts', 'have amounts, but the cost of the entry is unknown. Use shares instead')
  if (open.length > 1) throw refuse(`/parts/${open[1]}/amount`, 'is required: only one part can have the rest')
  const rest = cost - amounts.reduce<bigint>((sum, amount) => sum + (amount ?? 0n), 0n)
  const costText = dollars(cost)
  if (open.length === 0 && rest !== 0n) {
    const off = rest > 0n ? `${dollars(rest)} less` : `${dollars(-rest)} more`
    throw refuse(
      '/parts',
      `have amounts of ${off} than the cost of the entry, ${costText}. Omit one amount to give that part the rest`,
    )
  }
  if (open.length === 1 && rest <= 0n)
    throw refuse('/parts', `leave nothing of the cost of the entry, ${costText}, for the part without an amount`)
  return amounts.map((amount) => amount ?? rest)
}

function dollars(nanos: bigint): string {
  return `$${formatDecimal(nanos, NANO_DIGITS)}`
}
