/** What the shares of periods should be, read off the main thread on one state of the database. */
import type { Reader, SlowTask } from '../../database/database.ts'
import { addDays, dayNumberAt, dayText, startOfDay } from '../../lib/calendar.ts'
import type { Nanos } from '../../lib/money.ts'
import { type AllocatedEntry, allocate, costOf, type Share } from './allocation.ts'
import { chargesCost } from './charges.ts'
import { type Period, periodAt } from './periods.ts'
import {
  type CorrectionRow,
  type EntryRow,
  findTimeZone,
  hourOf,
  keyOfPeriod,
  listBilledShares,
  listCorrections,
  listNames,
  listPaidEntries,
  listPeople,
  listPeriodRecords,
  listShares,
  type PeriodKey,
  type PeriodRecord,
  type Range,
  type ShareRow,
} from './store/allocation.ts'
import { listSchedules, type PlanSchedule } from './store/schedules.ts'

/** Entries per query. */
const PORTION = 10_000

/** A year of ten million entries takes some minutes on a busy server. */
const DEADLINE_MS = 600_000

/** Whose shares a closed period settles together. */
export interface SettledGroup {
  managerId: number
  projectId: number | null
  ticketId: number | null
}

/** By how much the shares and corrections of a group differ from what they should be. */
export interface Difference extends SettledGroup, Share {
  /** The first entry of the group, or the last correction of one that has no entries any more. */
  likeEntryId: number
}

/** A calculated period. Amounts as in `plan_periods`. */
export interface CalculatedPeriod extends PeriodKey, Range {
  lastDay: string | null
  fee: Nanos
  unused: Nanos
  unusedSeats: number
  pending: Nanos
  entries: number
  unpricedEntries: number
  /** As of {@link chargesCost}. */
  chargesCost: boolean
  /** Of its own entries: of the fee, and as far as they are known, their allocated costs, and what of these is charged beside it. */
  sumOfShares: Nanos
  entriesCost: Nanos
  entriesCharge: Nanos
  /** Entries of a closed period that have no share: late ones, or ones that are counted again. */
  late: { id: number; startedAt: number }[]
  /** Null if they are those of the generation that counts. */
  shares: ShareRow[] | null
  /** Whose amounts are others than before. */
  changedHours: number[]
  /** Of a closed period, or one that is about to be closed. */
  differences: Difference[]
  /** The record that it was calculated for. */
  record: PeriodRecord
}

/** A period, or only its record if the terms do not have it any more. */
export type Calculated = CalculatedPeriod | { record: PeriodRecord; shares: undefined }

export const ALLOCATION_TASK: SlowTask<PeriodKey[], Calculated[]> = {
  name: 'funding.allocation',
  deadlineMs: DEADLINE_MS,
  run: (reader, keys) => calculatePeriods(reader, keys),
}

/** The same, also with the differences of periods that are about to be closed. */
export const SETTLEMENT_TASK: SlowTask<PeriodKey[], Calculated[]> = {
  name: 'funding.settlement',
  deadlineMs: DEADLINE_MS,
  run: (reader, keys) => calculatePeriods(reader, keys, { isClosing: true }),
}

interface Bounded extends Range {
  record: PeriodRecord
  /** The moment until which it has corrections: after its own end, if the plan has ended with it. */
  correctedTo: number
  period: Period<PlanSchedule['versions'][number]>
}

/** The moments of a period; the last one is that of the year 9999 if it has no end. */
export function rangeOf({ firstDay, lastDay }: { firstDay: string; lastDay: string | null }, timeZone: string): Range {
  return {
    from: startOfDay(firstDay, timeZone),
    to: lastDay === null ? FOR_EVER : startOfDay(addDays(lastDay, 1), timeZone),
  }
}
const FOR_EVER = Date.UTC(9999, 11, 31)

export async function calculatePeriods(
  reader: Reader,
  keys: readonly PeriodKey[],
  { isClosing = false } = {},
): Promise<Calculated[]> {
  const planIds = [...new Set(keys.map(({ planId }) => planId))]
  const wanted = new Set(keys.map(keyOfPeriod))
  const records = (await listPeriodRecords(reader, planIds)).filter((record) => wanted.has(keyOfPeriod(record)))
  const timeZone = await findTimeZone(reader)
  const schedules = await listSchedules(reader, planIds)
  const bounded = new Map<number, Bounded[]>()
  const results: Calculated[] = []
  for (const record of records) {
    const period = periodAt(schedules.get(record.planId)!, record.firstDay)
    if (period?.firstDay !== record.firstDay) {
      results.push({ record, shares: undefined })
      continue
    }
    const ofPlan = bounded.get(record.planId) ?? []
    const range = rangeOf(period, timeZone)
    const isLast = period.lastDay !== null && period.lastDay === schedules.get(record.planId)!.endsOn
    ofPlan.push({ record, period, ...range, correctedTo: isLast ? FOR_EVER : range.to })
    bounded.set(record.planId, ofPlan)
  }
  const entries = await collect(reader, [...bounded.values()].flat(), bounded)
  const corrections = Map.groupBy(await listCorrections(reader, [...bounded.keys()]), ({ planId }) => planId)
  for (const each of [...bounded.values()].flat()) {
    const { planId } = each.record
    results.push(
      await calculate(reader, each, entries.get(each.record) ?? [], corrections.get(planId) ?? [], {
        timeZone,
        isClosing,
      }),
    )
  }
  return results
}

/** The entries of each period, by its record: one scan for all. */
async function collect(
  reader: Reader,
  all: readonly Bounded[],
  byPlan: ReadonlyMap<number, readonly Bounded[]>,
): Promise<Map<PeriodRecord, EntryRow[]>> {
  const found = new Map<PeriodRecord, EntryRow[]>()
  const planIds = [...byPlan.keys()]
  for (const range of union(all)) {
    for (let after = { startedAt: range.from, id: -1 }; ; ) {
      const rows = await listPaidEntries(reader, range, planIds, after, PORTION)
      for (const row of rows) {
        const [id, planId, , , , startedAt] = row
        after = { startedAt, id }
        const period = byPlan.get(planId)!.find(({ from, to }) => startedAt >= from && startedAt < to)
        if (!period) continue
        const ofPeriod = found.get(period.record)
        if (ofPeriod) ofPeriod.push(row)
        else found.set(period.record, [row])
      }
      if (rows.length < PORTION) break
    }
  }
  return found
}

/** Ranges without overlap that cover the same moments. */
function union(ranges: readonly Range[]): Range[] {
  const joined: Range[] = []
  for (const { from, to } of [...ranges].sort((one, other) => one.from - other.from)) {
    const last = joined.at(-1)
    if (last && from <= last.to) last.to = Math.max(last.to, to)
    else joined.push({ from, to })
  }
  return joined
}

async function calculate(
  reader: Reader,
  { record, period, from, to, correctedTo }: Bounded,
  rows: readonly EntryRow[],
  ofPlan: readonly CorrectionRow[],
  { timeZone, isClosing }: { timeZone: string; isClosing: boolean },
): Promise<CalculatedPeriod> {
  const entries = await entriesOf(reader, rows, period.terms.weight === 'active_days' ? timeZone : null)
  const { terms, feeDollars: fee } = period
  const ideal = allocate(entries, fee, terms)
  const { unused, unusedSeats } = ideal
  const current = new Map(
    record.generationId === null
      ? []
      : (await listShares(reader, record.generationId)).map((row) => [row.entryId, row]),
  )
  const isClosed = record.closedAt !== null
  const billed = await listBilledShares(
    reader,
    rows.flatMap((row) => (row[BILL] === null ? [] : [{ id: row[0], billId: row[BILL]! }])),
  )
  const shares: ShareRow[] = []
  const late: CalculatedPeriod['late'] = []
  const sums = { entriesCost: 0n, entriesCharge: 0n }
  for (const [position, { id, startedAt }] of entries.entries()) {
    const frozen = billed.get(id)
    const own = isClosed ? current.get(id) : ideal.shares[position]!
    if (!own) {
      late.push({ id, startedAt })
      continue
    }
    const share = { entryId: id, fee: frozen?.fee ?? own.fee, charge: frozen?.charge ?? own.charge }
    shares.push(share)
    // As `amountOf` of the selection.
    if (costOf(entries[position]!) === null && (chargesCost(terms) || rows[position]![METERED_SHARE] !== null)) continue
    sums.entriesCost += share.fee + share.charge
    sums.entriesCharge += share.charge
  }
  const sumOfShares = sumOf(shares)
  const corrections = ofPlan.filter(({ ofFirstDay }) => ofFirstDay === record.firstDay)
  const allocated = sumOfShares + sumOf(corrections)
  const startOf = new Map(entries.map(({ id, startedAt }) => [id, startedAt]))
  const differences = isClosed || isClosing ? differencesOf(rows, ideal.shares, shares, corrections) : []
  for (const { entryId, startedAt, fee: corrected, charge } of ofPlan) {
    if (startedAt < from || startedAt >= correctedTo) continue
    shares.push({ entryId, fee: corrected, charge })
    startOf.set(entryId, startedAt)
  }
  const changedHours = changedHoursOf(shares, current, startOf)
  const isSame = record.generationId !== null && changedHours.length === 0 && current.size === shares.length
  // Their charge has become known or unknown, which no share shows.
  if (record.chargesCost !== chargesCost(terms)) {
    for (const entry of entries) if (costOf(entry) === null) changedHours.push(hourOf(entry.startedAt))
  }
  const byListValue = terms.weight === 'list_value' || terms.weight === 'active_days'
  return {
    planId: record.planId,
    firstDay: record.firstDay,
    lastDay: period.lastDay,
    from,
    to,
    fee,
    unused,
    unusedSeats,
    pending: fee - unused - allocated,
    entries: entries.length,
    unpricedEntries: entries.filter((entry) => (byListValue ? entry.listValue : costOf(entry)) === null).length,
    chargesCost: chargesCost(terms),
    sumOfShares,
    ...sums,
    late,
    shares: isSame ? null : shares,
    changedHours,
    differences,
    record,
  }
}

const [METERED_SHARE, MANAGER, PROJECT, TICKET, BILL] = [2, 4, 14, 15, 16] as const

async function entriesOf(
  reader: Reader,
  rows: readonly EntryRow[],
  /** Null if their days do not matter. */
  timeZone: string | null,
): Promise<AllocatedEntry[]> {
  const models = await listNames(reader, [...new Set(rows.map((row) => row[6]))])
  const people = await listPeople(reader, [...new Set(rows.map((row) => row[MANAGER]))])
  return rows.map((row) => {
    const [id, , meteredShare, uid, managerId, startedAt, modelId, sessionKey, part] = row
    const [reportedCost, listValue, tokens, requests, activeMs] = row.slice(9, 14) as [
      string | null,
      string | null,
      number,
      number | null,
      number | null,
    ]
    return {
      id,
      managerUid: people.get(managerId)!,
      startedAt,
      day: timeZone === null ? '' : dayText(dayNumberAt(startedAt, timeZone)),
      model: models.get(modelId)!,
      sessionKey,
      part,
      uid: Buffer.from(uid).toString('hex'),
      reportedCost: reportedCost === null ? null : BigInt(reportedCost),
      listValue: listValue === null ? null : BigInt(listValue),
      tokens: Number(tokens),
      requests: requests ?? 0,
      activeMs: activeMs ?? 0,
      meteredShare: meteredShare ?? 0,
    }
  })
}

function sumOf(shares: readonly Share[]): Nanos {
  return shares.reduce((sum, { fee }) => sum + fee, 0n)
}

/** The hours whose entries have other amounts than in the generation that counts; of entries that have left, unknown. */
function changedHoursOf(
  shares: readonly ShareRow[],
  current: ReadonlyMap<number, ShareRow>,
  startOf: ReadonlyMap<number, number>,
): number[] {
  const hours = new Set<number>()
  for (const { entryId, fee, charge } of shares) {
    const before = current.get(entryId)
    if (before?.fee !== fee || before.charge !== charge) hours.add(hourOf(startOf.get(entryId)!))
  }
  return [...hours]
}

/** By group, the ideal shares less those that there are and the corrections; only those that are not zero. */
function differencesOf(
  rows: readonly EntryRow[],
  ideal: readonly Share[],
  shares: readonly ShareRow[],
  corrections: readonly CorrectionRow[],
): Difference[] {
  const groups = new Map<string, Difference>()
  const groupOf = (group: SettledGroup, likeEntryId: number): Difference => {
    const { managerId, projectId, ticketId } = group
    const key = `${managerId} ${projectId} ${ticketId}`
    const known = groups.get(key)
    if (known) return known
    const added = { managerId, projectId, ticketId, likeEntryId, fee: 0n, charge: 0n }
    groups.set(key, added)
    return added
  }
  const shareOf = new Map(shares.map((share) => [share.entryId, share]))
  for (const [position, row] of rows.entries()) {
    const place = { managerId: row[MANAGER], projectId: row[PROJECT], ticketId: row[TICKET] }
    const group = groupOf(place, row[0])
    const share = shareOf.get(row[0])
    group.fee += ideal[position]!.fee - (share?.fee ?? 0n)
    group.charge += ideal[position]!.charge - (share?.charge ?? 0n)
  }
  for (const correction of corrections) {
    const group = groupOf(correction, correction.entryId)
    group.fee -= correction.fee
    group.charge -= correction.charge
  }
  return [...groups.values()].filter(({ fee, charge }) => fee !== 0n || charge !== 0n)
}
