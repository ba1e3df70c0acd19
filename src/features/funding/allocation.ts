/**
 * The ideal shares of a period of a plan: how its fee is divided between the entries that it pays for, and what each is charged
 * beyond its allowance (docs/plans.md, "Allocation"). Depends on the entries and the terms alone, not on their order. Pure.
 */
import type { FeeWeight } from '../../database/schema/values.ts'
import { largestRemainders } from '../../lib/largest-remainder.ts'
import { divideHalfEven, type Nanos } from '../../lib/money.ts'
import { type AllowanceTerms, chargesOf } from './charges.ts'

export interface AllocationTerms extends AllowanceTerms {
  seats: number
  /** Whether all people share the fee and allowance of all seats. */
  pooled: boolean
  weight: FeeWeight
}

/** An entry that the plan pays for. */
export interface AllocatedEntry {
  id: number
  managerUid: string
  startedAt: number
  /** In the organization's time zone. */
  day: string
  model: string
  /** Null for an entry without a session. */
  sessionKey: string | null
  part: number | null
  uid: string
  reportedCost: Nanos | null
  listValue: Nanos | null
  tokens: number
  requests: number
  activeMs: number
  /** Of a mixed entry: the part of its tokens that the plan does not pay for, in 10^-9. */
  meteredShare: number
}

export interface Share {
  fee: Nanos
  charge: Nanos
}

export interface Allocation {
  /** In the order of the entries. */
  shares: Share[]
  /** Of the fee: for seats that nobody used, and all of it if nobody used any. */
  unused: Nanos
  unusedSeats: number
  /** People who share seats, because there are more of them than seats. */
  hasMorePeople: boolean
}

const SHARE = 1_000_000_000n
const planShareOf = ({ meteredShare }: AllocatedEntry): bigint => SHARE - BigInt(meteredShare)

/** @param fee of all seats, in nano-dollars */
export function allocate(given: readonly AllocatedEntry[], fee: Nanos, terms: AllocationTerms): Allocation {
  const { seats } = terms
  if (given.length === 0) return { shares: [], unused: fee, unusedSeats: seats, hasMorePeople: false }
  const positions = [...given.keys()].sort((one, other) => inOrder(given[one]!, given[other]!))
  const people = [...new Set(given.map(({ managerUid }) => managerUid))].sort(compare)
  const shares = given.map((): Share => ({ fee: 0n, charge: 0n }))
  const pool = (of: readonly number[], amount: Nanos, sharedSeats: number) => {
    const entries = of.map((position) => given[position]!)
    const fees = divideFee(entries, amount, terms.weight)
    const charges = chargesOf(
      entries.map((entry) => unitsOf(entry, terms)),
      sharedSeats,
      terms,
    )
    for (const [at, position] of of.entries()) {
      shares[position] = { fee: fees[at]!, charge: charges[at]! + meteredPart(given[position]!) }
    }
  }
  if (terms.pooled || people.length > seats) {
    pool(positions, fee, seats)
    return { shares, unused: 0n, unusedSeats: 0, hasMorePeople: people.length > seats }
  }
  const ofSeats = largestRemainders(
    Array.from({ length: seats }, () => fee),
    BigInt(seats),
    fee,
  )
  const byPerson = Map.groupBy(positions, (position) => given[position]!.managerUid)
  for (const [seat, person] of people.entries()) pool(byPerson.get(person)!, ofSeats[seat]!, 1)
  const used = ofSeats.slice(0, people.length).reduce((sum, part) => sum + part, 0n)
  return { shares, unused: fee - used, unusedSeats: seats - people.length, hasMorePeople: false }
}

/** The fee by weight, for entries in their order. */
function divideFee(entries: readonly AllocatedEntry[], fee: Nanos, weight: FeeWeight): Nanos[] {
  if (weight !== 'active_days') return divideByWeight(entries, fee, (entry) => weightOf(entry, weight))
  const days = [...Map.groupBy(entries.keys(), (position) => entries[position]!.day)].sort(([one], [other]) =>
    compare(one, other),
  )
  const ofDays = largestRemainders(
    days.map(() => fee),
    BigInt(days.length),
    fee,
  )
  const fees: Nanos[] = []
  for (const [at, [, positions]] of days.entries()) {
    const ofDay = positions.map((position) => entries[position]!)
    const divided = divideByWeight(ofDay, ofDays[at]!, (entry) => weightOf(entry, 'list_value'))
    for (const [index, position] of positions.entries()) fees[position] = divided[index]!
  }
  return fees
}

/** Equal shares if no entry has a weight. */
function divideByWeight(
  entries: readonly AllocatedEntry[],
  fee: Nanos,
  weigh: (entry: AllocatedEntry) => bigint,
): Nanos[] {
  const weights = entries.map(weigh)
  const total = weights.reduce((sum, weight) => sum + weight, 0n)
  if (total === 0n) {
    return largestRemainders(
      entries.map(() => fee),
      BigInt(entries.length),
      fee,
    )
  }
  return largestRemainders(
    weights.map((weight) => fee * weight),
    total,
    fee,
    (one, other) => (weights[one]! === weights[other]! ? one - other : weights[one]! > weights[other]! ? -1 : 1),
  )
}

function weightOf(entry: AllocatedEntry, weight: Exclude<FeeWeight, 'active_days'>): bigint {
  const { listValue, tokens, activeMs } = entry
  const whole = weight === 'list_value' ? (listValue ?? 0n) : BigInt(weight === 'tokens' ? tokens : activeMs)
  return whole * planShareOf(entry)
}

/** The use of the allowance, in billionths of its unit. */
function unitsOf(entry: AllocatedEntry, { allowanceUnit }: AllocationTerms): bigint {
  const { tokens, requests } = entry
  const units = allowanceUnit === 'usd' ? (costOf(entry) ?? 0n) : BigInt(allowanceUnit === 'tokens' ? tokens : requests)
  return units * planShareOf(entry)
}

/** What a mixed entry costs beside the plan. */
function meteredPart(entry: AllocatedEntry): Nanos {
  return divideHalfEven((costOf(entry) ?? 0n) * BigInt(entry.meteredShare), SHARE)
}

export function costOf({ reportedCost, listValue }: Pick<AllocatedEntry, 'reportedCost' | 'listValue'>): Nanos | null {
  return reportedCost ?? listValue
}

/** Entries that are alike in all of it but the last may change places if they arrive in another order. */
function inOrder(one: AllocatedEntry, other: AllocatedEntry): number {
  return (
    one.startedAt - other.startedAt ||
    compare(one.model, other.model) ||
    compare(one.sessionKey ?? '', other.sessionKey ?? '') ||
    (one.part ?? 0) - (other.part ?? 0) ||
    compare(one.uid, other.uid)
  )
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}
