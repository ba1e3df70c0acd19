import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { SliceKey } from '../../../../src/features/entries/slices/slice.ts'
import { type SlicedPart, stepsTo, type Target } from '../../../../src/features/entries/slices/steps.ts'
import type { Totals } from '../../../../src/features/entries/totals.ts'
import { COUNT_KINDS, mapCounts, requestsFrom, usageDetails, ZERO_COUNTS } from '../../../../src/shared/usage.ts'
import { runs } from '../../../support/tier.ts'

const HOUR = 3_600_000
const key = (day: number, place = 1): SliceKey => ({ day, place: BigInt(place) })

function target(key: SliceKey | null, input: number, change: Partial<Target> = {}): Target {
  const startedAt = (key?.day ?? 0) * 24 * HOUR
  return {
    ...{ key, startedAt, endedAt: startedAt + HOUR, counts: { ...ZERO_COUNTS, input }, details: null },
    ...{ requests: null, reportedCostNanos: null, activeMs: null },
    ...change,
  }
}

function part(key: SliceKey | null, input: number, locked: boolean, change: Partial<Totals> = {}): SlicedPart {
  const totals = target(key, input, change)
  return { ...totals, key, locked, costNanos: totals.reportedCostNanos }
}

function inputs(parts: SlicedPart[], targets: Target[]) {
  const steps = stepsTo(parts, targets)
  if ('shrunk' in steps) return steps
  return steps.map((step) =>
    step.kind === 'supersede'
      ? { ...step }
      : { kind: step.kind, day: step.target.key?.day, input: step.usage.counts.input },
  )
}

describe('the parts of a sliced session', () => {
  test('begin with one for each slice', () => {
    expect(inputs([], [target(key(1), 5), target(key(2), 7)])).toEqual([
      { kind: 'append', day: 1, input: 5 },
      { kind: 'append', day: 2, input: 7 },
    ])
  })

  test('begin with one at zero if nothing was used', () => {
    expect(inputs([], [target(key(1), 0), target(key(2), 0)])).toEqual([{ kind: 'append', day: 1, input: 0 }])
  })

  test('cover the earliest usage that no other fixed part covers', () => {
    const whole = part(null, 6, true)
    expect(inputs([whole], [target(key(1), 5), target(key(2), 7)])).toEqual([{ kind: 'append', day: 2, input: 6 }])
  })

  test('keep what is fixed when calls move to another day', () => {
    const parts = [part(key(30), 1_000, true), part(key(31), 500, false)]
    expect(inputs(parts, [target(key(30), 800), target(key(31), 900)])).toEqual([{ kind: 'set', day: 31, input: 700 }])
    expect(inputs(parts, [target(key(30), 800), target(key(31), 100)])).toEqual({ shrunk: 'input' })
  })

  test('keep what is fixed when a place disappears', () => {
    expect(inputs([part(key(30, 2), 1_000, true)], [target(key(30, 1), 1_000)])).toEqual([])
  })

  test('give an open whole to the earliest slice without one', () => {
    const parts = [part(null, 9, false), part(key(1), 3, false)]
    expect(inputs(parts, [target(key(1), 5), target(key(2), 4), target(key(3), 1)])).toEqual([
      { kind: 'set', day: 1, input: 5 },
      { kind: 'set', day: 2, input: 4 },
      { kind: 'append', day: 3, input: 1 },
    ])
  })

  test('supersede an open part whose slice is gone', () => {
    expect(inputs([part(key(1), 3, false), part(key(2), 1, false)], [target(key(2), 4)])).toEqual([
      { kind: 'set', day: 2, input: 4 },
      { kind: 'supersede', part: 0 },
    ])
  })

  test('supersede an open part of which nothing is left, except the first where nothing was used at all', () => {
    const parts = [part(key(1), 3, false), part(key(2), 1, false)]
    expect(inputs(parts, [target(key(1), 4), target(key(2), 0)])).toEqual([
      { kind: 'set', day: 1, input: 4 },
      { kind: 'supersede', part: 1 },
    ])
    expect(inputs(parts, [target(key(1), 0), target(key(2), 0)])).toEqual([
      { kind: 'set', day: 1, input: 0 },
      { kind: 'supersede', part: 1 },
    ])
    expect(inputs([part(key(2), 0, false)], [target(key(1), 0), target(key(2), 0)])).toEqual([
      { kind: 'append', day: 1, input: 0 },
      { kind: 'supersede', part: 0 },
    ])
  })

  test('begin where the part that they go on from ended, and keep that start', () => {
    const [day, half] = [24 * HOUR, HOUR / 2]
    const fixed = part(key(1), 5, true, { endedAt: day + half })
    expect(stepsTo([fixed], [target(key(1), 7)])).toMatchObject([{ kind: 'append', usage: { startedAt: day + half } }])
    const open = part(key(1), 1, false, { startedAt: day + half + 1 })
    const further = stepsTo([fixed, open], [target(key(1), 9)])
    expect(further).toMatchObject([{ kind: 'set', usage: { startedAt: day + half + 1 } }])
  })

  test('supersede an open whole that no slice needs', () => {
    const parts = [part(null, 9, false), part(key(1), 3, false)]
    expect(inputs(parts, [target(key(1), 5)])).toEqual([
      { kind: 'set', day: 1, input: 5 },
      { kind: 'supersede', part: 0 },
    ])
  })

  test('deduct the list value of what was fixed without a reported cost', () => {
    const whole = { ...part(null, 5, true), costNanos: 30n }
    const [step] = stepsTo([whole], [target(key(1), 10, { reportedCostNanos: 100n })]) as never[]
    expect(step).toMatchObject({ usage: { reportedCostNanos: 70n } })
  })

  test('a slice that is complete covers what has moved out of it, and drops what is new in it', () => {
    const complete = part(key(1), 500, true)
    const moved = [target(key(1), 240, { isComplete: true }), target(key(2), 270)]
    expect(stepsTo([complete], moved)).toMatchObject([
      { kind: 'append', target: { key: key(2) }, usage: { counts: { input: 10 } } },
    ])
    expect(stepsTo([complete, part(key(1), 30, false)], [target(key(1), 900, { isComplete: true })])).toEqual([])
  })

  test('deduct active time that moved from other slices, without ever refusing it', () => {
    const fixed = part(key(1), 5, true, { activeMs: 10 })
    const steps = stepsTo([fixed], [target(key(1), 5, { activeMs: 5 }), target(key(2), 5, { activeMs: 20 })])
    expect(steps).toMatchObject([{ target: { key: key(2) }, usage: { activeMs: 15 } }])
    expect(stepsTo([fixed], [target(key(1), 6, { activeMs: 1 })])).toMatchObject([{ usage: { activeMs: 0 } }])
  })

  test('take what is missing of shorter requests from longer ones', () => {
    const long = (input: number) => ({
      details: usageDetails({ requestsAbove: [{ threshold: 200_000, counts: { ...ZERO_COUNTS, input } }] }),
    })
    const [step] = stepsTo([part(null, 150, true, long(0))], [target(key(1), 200, long(100))]) as never[]
    expect(step).toMatchObject({ usage: { counts: { input: 50 }, details: long(50).details } })
  })
})

describe('for any parts and slices', () => {
  const arbitraryKey = fc.record({ day: fc.integer({ min: 0, max: 3 }), place: fc.bigInt({ min: 0n, max: 2n }) })
  const count = fc.integer({ min: 0, max: 40 })
  const usage = fc
    .record({
      input: count,
      output: count,
      long: count,
      search: count,
      requests: fc.option(count),
      cost: fc.option(fc.bigInt({ min: 0n, max: 50n })),
      active: fc.option(count),
    })
    .map(({ input, output, long, search, requests, cost, active }) => ({
      counts: { ...ZERO_COUNTS, input, output },
      details: usageDetails({
        requestsAbove: [{ threshold: 200_000, counts: { ...ZERO_COUNTS, input: Math.min(long, input) } }],
        tools: search > 0 ? { search } : null,
      }),
      requests,
      reportedCostNanos: cost,
      activeMs: active,
    }))
  const targetsOf = fc
    .uniqueArray(fc.record({ key: arbitraryKey, usage, at: fc.integer({ min: 0, max: 9 }) }), {
      minLength: 1,
      maxLength: 6,
      selector: ({ key: { day, place } }) => `${day} ${place}`,
    })
    .map((slices) =>
      slices
        .map(({ key, usage, at }) => target(key, 0, { ...usage, startedAt: key.day * 24 * HOUR + at }))
        .sort((one, other) => one.startedAt - other.startedAt),
    )
  const partsOf = fc
    .array(
      fc.record({ key: fc.option(arbitraryKey), locked: fc.boolean(), usage, value: fc.bigInt({ min: 0n, max: 50n }) }),
      {
        maxLength: 6,
      },
    )
    .map((parts) =>
      parts.map(({ key, locked, usage, value }): SlicedPart => {
        const made = part(key, 0, locked, usage)
        return { ...made, costNanos: made.reportedCostNanos ?? value }
      }),
    )

  const long = (each: Totals) => requestsFrom(each, 200_001).counts.input
  const quantity = {
    ...Object.fromEntries(COUNT_KINDS.map((kind) => [kind, (each: Totals) => each.counts[kind]])),
    search: (each: Totals) => each.details?.tools?.search ?? 0,
  }

  test('the parts sum to the slices, what is fixed stays, and repeating the steps changes nothing', () => {
    let refused = 0
    fc.assert(
      fc.property(partsOf, targetsOf, (parts, targets) => {
        const steps = stepsTo(parts, targets)
        const isLast = (at: number) =>
          parts[at]!.key === null ||
          !parts.some(
            ({ key }, later) => later > at && JSON.stringify(text(key)) === JSON.stringify(text(parts[at]!.key)),
          )
        const isFixed = (at: number) => parts[at]!.locked || !isLast(at)
        const fixed = parts.filter((_, at) => isFixed(at))
        const sum = (of: readonly Totals[], get: (each: Totals) => number) =>
          of.reduce((all, each) => all + get(each), 0)
        if ('shrunk' in steps) {
          refused += 1
          const isMore = [...Object.values(quantity), long].some((get) => sum(fixed, get) > sum(targets, get))
          const costs = targets.map(({ reportedCostNanos }) => reportedCostNanos)
          const cost = costs.reduce((all: bigint, each) => all + (each ?? 0n), 0n)
          const fixedCost = fixed.reduce((all, each) => all + (each.costNanos ?? 0n), 0n)
          const requests = targets.every((each) => each.requests !== null)
          expect(
            isMore ||
              (costs.every((each) => each !== null) && fixedCost > cost) ||
              (requests && sum(fixed, (each) => each.requests ?? 0) > sum(targets, (each) => each.requests!)),
          ).toBe(true)
          return
        }
        const after = [...parts]
        for (const step of steps) {
          if (step.kind === 'append') {
            after.push({ ...step.usage, key: step.target.key, locked: false, costNanos: step.usage.reportedCostNanos })
            continue
          }
          expect(isFixed(step.part)).toBe(false)
          const { key } = parts[step.part]!
          after[step.part] =
            step.kind === 'set'
              ? { ...step.usage, key: step.target.key, locked: false, costNanos: step.usage.reportedCostNanos }
              : { ...target(key, 0, { reportedCostNanos: 0n, requests: 0 }), locked: false, costNanos: 0n }
        }
        for (const [name, get] of Object.entries(quantity)) {
          // Without tools in any slice, nothing is known of them.
          if (name === 'search' && sum(targets, get) === 0) continue
          expect(sum(after, get)).toBe(sum(targets, get))
        }
        const short = (each: Totals) => each.counts.input - long(each)
        // Fixed parts may have been billed as shorter requests than what the slices say now.
        const billedAsShort = Math.max(0, sum(fixed, short) - sum(targets, short))
        expect(sum(after, long)).toBe(sum(targets, long) - billedAsShort)
        for (const each of after) {
          for (const get of [...Object.values(quantity), long, short]) expect(get(each)).toBeGreaterThanOrEqual(0)
        }
        const again = stepsTo(after, targets)
        if ('shrunk' in again) throw new Error(`refused when repeated: ${again.shrunk}`)
        for (const step of again) {
          if (step.kind !== 'set') {
            expect(step.kind).toBe('supersede')
            continue
          }
          expect(step.usage.counts).toEqual(mapCounts((kind) => after[step.part]!.counts[kind]))
        }
      }),
      { numRuns: runs(2_000) },
    )
    expect(refused).toBeGreaterThan(0)
  })

  function text(key: SliceKey | null) {
    return key && [key.day, String(key.place)]
  }
})
