import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { FEE_WEIGHTS } from '../../../src/database/schema/values.ts'
import { type AllocatedEntry, type AllocationTerms, allocate } from '../../../src/features/funding/allocation.ts'
import { chargesOf } from '../../../src/features/funding/charges.ts'
import { PERIOD_LIMIT } from '../../../src/features/funding/periods.ts'
import { divideHalfEven } from '../../../src/lib/money.ts'
import { runs } from '../../support/tier.ts'

const DOLLAR = 1_000_000_000n
const ONE_SEAT: AllocationTerms = {
  seats: 1,
  pooled: false,
  weight: 'list_value',
  allowance: null,
  allowanceUnit: null,
  overagePrice: null,
  exchangeRate: null,
}

function entryOf(id: number, fields: Partial<AllocatedEntry> = {}): AllocatedEntry {
  return {
    id,
    managerUid: 'usr_1',
    startedAt: id,
    day: '2026-10-17',
    model: 'opus',
    sessionKey: null,
    part: null,
    uid: `ent_${id}`,
    reportedCost: null,
    listValue: 0n,
    tokens: 0,
    requests: 0,
    activeMs: 0,
    meteredShare: 0,
    ...fields,
  }
}

const valued = (...values: number[]) =>
  values.map((value, id) => entryOf(id, { listValue: BigInt(value) * DOLLAR, tokens: value }))
const feesOf = (entries: AllocatedEntry[], fee: bigint, terms: Partial<AllocationTerms> = {}) =>
  allocate(entries, fee, { ...ONE_SEAT, ...terms }).shares.map((share) => share.fee)
const sumOf = (amounts: readonly bigint[]) => amounts.reduce((sum, amount) => sum + amount, 0n)

describe('the worked examples of the manual', () => {
  test('a fee is shared by list value, to the last billionth', () => {
    expect(feesOf(valued(30, 50, 20), 100n * DOLLAR)).toEqual([30n * DOLLAR, 50n * DOLLAR, 20n * DOLLAR])
    expect(feesOf(valued(1, 1, 1), 20n * DOLLAR)).toEqual([6_666_666_667n, 6_666_666_667n, 6_666_666_666n])
  })

  test('each person has a seat of their own, and seats that nobody used are not allocated', () => {
    const entries = ['a', 'a', 'b', 'c'].map((managerUid, id) => entryOf(id, { managerUid, listValue: DOLLAR }))
    const terms = { ...ONE_SEAT, seats: 5 }
    const { shares, unused, unusedSeats } = allocate(entries, 125n * DOLLAR, terms)
    expect(shares.map(({ fee }) => fee)).toEqual([12_500_000_000n, 12_500_000_000n, 25n * DOLLAR, 25n * DOLLAR])
    expect({ unused, unusedSeats }).toEqual({ unused: 50n * DOLLAR, unusedSeats: 2 })
    expect(feesOf(entries, 125n * DOLLAR, { seats: 5, pooled: true })).toEqual(
      Array.from({ length: 4 }, () => 31_250_000_000n),
    )
  })

  test('what is beyond the allowance is charged in the order of time', () => {
    const terms = { ...ONE_SEAT, allowance: 10n * DOLLAR, allowanceUnit: 'usd', overagePrice: DOLLAR } as const
    const chargesAt = (costs: [at: number, dollars: number][]) =>
      allocate(
        costs.map(([startedAt, dollars], id) => entryOf(id, { startedAt, reportedCost: BigInt(dollars) * DOLLAR })),
        10n * DOLLAR,
        terms,
      ).shares.map(({ charge }) => charge / DOLLAR)
    const reported: [number, number][] = [
      [1, 6],
      [2, 3],
      [3, 4],
    ]
    expect(chargesAt(reported)).toEqual([0n, 0n, 3n])
    expect(chargesAt([...reported, [0, 2]])).toEqual([0n, 1n, 4n, 0n])
  })

  test('the metered part of a mixed entry costs what it costs, and the rest has a share', () => {
    const mixed = entryOf(1, { listValue: 10n * DOLLAR, tokens: 1_000, meteredShare: 400_000_000 })
    const { shares } = allocate([mixed, entryOf(2, { listValue: 6n * DOLLAR })], 20n * DOLLAR, ONE_SEAT)
    expect(shares).toEqual([
      { fee: 10n * DOLLAR, charge: 4n * DOLLAR },
      { fee: 10n * DOLLAR, charge: 0n },
    ])
  })

  test('days with use have equal parts, which their entries share by list value', () => {
    const entries = [
      entryOf(1, { day: '2026-10-17', listValue: 90n * DOLLAR }),
      entryOf(2, { day: '2026-10-18', listValue: DOLLAR }),
      entryOf(3, { day: '2026-10-18', listValue: 3n * DOLLAR }),
    ]
    expect(feesOf(entries, 100n * DOLLAR, { weight: 'active_days' })).toEqual([
      50n * DOLLAR,
      12_500_000_000n,
      37_500_000_000n,
    ])
  })
})

const amount = fc.bigInt({ min: 0n, max: 1_000_000_000_000n })
const anEntry = fc.record({
  managerUid: fc.constantFrom('usr_1', 'usr_2', 'usr_3', 'usr_4'),
  startedAt: fc.integer({ min: 0, max: 5 }),
  day: fc.constantFrom('2026-10-17', '2026-10-18', '2026-10-19'),
  model: fc.constantFrom('opus', 'sonnet'),
  reportedCost: fc.option(amount, { nil: null }),
  listValue: fc.option(amount, { nil: null }),
  tokens: fc.integer({ min: 0, max: 1_000_000 }),
  requests: fc.integer({ min: 0, max: 10 }),
  activeMs: fc.integer({ min: 0, max: 100_000 }),
  meteredShare: fc.constantFrom(0, 0, 1, 400_000_000, 1_000_000_000),
})
const someEntries = fc
  .array(anEntry, { maxLength: 12 })
  .map((all) => all.map((fields, id) => entryOf(id, { ...fields, uid: `ent_${id}` })))
const someTerms: fc.Arbitrary<AllocationTerms> = fc.record({
  seats: fc.integer({ min: 1, max: 5 }),
  pooled: fc.boolean(),
  weight: fc.constantFrom(...FEE_WEIGHTS),
  allowance: fc.option(fc.bigInt({ min: 0n, max: 1_000_000n }), { nil: null }),
  allowanceUnit: fc.constantFrom('usd', 'tokens', 'requests'),
  overagePrice: fc.option(fc.bigInt({ min: 0n, max: 3n * DOLLAR }), { nil: null }),
  exchangeRate: fc.option(fc.bigInt({ min: 1n, max: 30_000_000_000n }), { nil: null }),
})

test('shares and unused seats sum to the fee, and no share or charge is negative', () => {
  fc.assert(
    fc.property(someEntries, amount, someTerms, (entries, fee, terms) => {
      const { shares, unused, unusedSeats } = allocate(entries, fee, terms)
      expect(shares.length).toBe(entries.length)
      expect(sumOf(shares.map((share) => share.fee)) + unused).toBe(fee)
      expect(shares.every((share) => share.fee >= 0n && share.charge >= 0n)).toBe(true)
      expect(unused >= 0n && unusedSeats >= 0 && unusedSeats <= terms.seats).toBe(true)
    }),
    { numRuns: runs(2_000) },
  )
})

test('shares do not depend on the order of arrival', () => {
  fc.assert(
    fc.property(someEntries, amount, someTerms, fc.infiniteStream(fc.nat()), (entries, fee, terms, order) => {
      const ranks = entries.map(() => order.next().value as number)
      const shuffled = [...entries.keys()].sort((one, other) => ranks[one]! - ranks[other]!)
      const [one, other] = [
        allocate(entries, fee, terms),
        allocate(
          shuffled.map((at) => entries[at]!),
          fee,
          terms,
        ),
      ]
      expect(shuffled.map((at) => one.shares[at]!)).toEqual(other.shares)
    }),
    { numRuns: runs(1_000) },
  )
})

test('the charges are those of all units, rounded once, and begin where the allowance ends', () => {
  const units = fc.array(fc.bigInt({ min: 0n, max: 10n ** 18n }), { maxLength: 10 })
  fc.assert(
    fc.property(units, someTerms, fc.integer({ min: 1, max: 4 }), (used, terms, seats) => {
      const charges = chargesOf(used, seats, terms)
      const { allowance, overagePrice, exchangeRate, allowanceUnit } = terms
      const included = (allowance ?? 0n) * BigInt(seats) * DOLLAR
      const over = sumOf(used) - included
      const scale = DOLLAR * (allowanceUnit === 'usd' ? DOLLAR : 1n) * (exchangeRate ?? 10n ** 10n)
      const isCharged = allowance !== null && overagePrice !== null && over > 0n
      const due = isCharged ? divideHalfEven(over * overagePrice * 10n ** 10n, scale) : 0n
      expect(sumOf(charges)).toBe(due < PERIOD_LIMIT ? due : PERIOD_LIMIT)
      let sum = 0n
      for (const [at, charge] of charges.entries()) {
        sum += used[at]!
        expect(charge >= 0n).toBe(true)
        if (sum <= included) expect(charge).toBe(0n)
      }
    }),
    { numRuns: runs(2_000) },
  )
})

test('a person’s use does not change the shares of others’ seats', () => {
  fc.assert(
    fc.property(someEntries, amount, someTerms, (entries, fee, terms) => {
      const alone = { ...terms, pooled: false, seats: 5 }
      const more = entries.map((entry) =>
        entry.managerUid === 'usr_1' ? { ...entry, listValue: (entry.listValue ?? 0n) + 7n } : entry,
      )
      const [one, other] = [allocate(entries, fee, alone), allocate(more, fee, alone)]
      for (const [at, { managerUid }] of entries.entries()) {
        if (managerUid !== 'usr_1') expect(one.shares[at]).toEqual(other.shares[at]!)
      }
    }),
    { numRuns: runs(1_000) },
  )
})
