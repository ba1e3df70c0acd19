/** The receipt of a branch from the session files of this machine: what a server would return for the same sessions. */
import { isAbsolute, relative } from 'node:path'
import type { Counts } from '../../agents/agent.ts'
import { totalOf } from '../../agents/model-calls.ts'
import { moneyNumber, NANO_DIGITS, type Nanos, parseDecimal } from '../../lib/money.ts'
import type { Priced, PricedDay } from '../agents/scan-text.ts'
import type { AskedBranch } from './branch.ts'
import type { ShownReceipt } from './text.ts'

/** The use of a model in a session on a UTC day, as it is one entry of a server. */
interface Part {
  use: Priced
  day: PricedDay
}

export function localReceipt(uses: readonly Priced[], asked: AskedBranch): ShownReceipt {
  const parts = uses.flatMap((use) =>
    use.days.filter((day) => isOf(asked, use, day)).map((day): Part => ({ use, day })),
  )
  const models = [...Map.groupBy(parts, ({ use }) => use.model)]
    .map(([model, own]) => ({ own, sum: sumOf(own), model }))
    .sort(
      (one, other) =>
        descending(one.sum.cost ?? -1n, other.sum.cost ?? -1n) || descending(one.sum.tokens, other.sum.tokens),
    )
  return {
    repository: asked.repository,
    branch: asked.branch,
    ticket: null,
    starting_at: asked.since ? new Date(asked.since.at).toISOString() : null,
    ending_at: null,
    ...{ time_zone: 'UTC', currency: 'USD', basis: 'cost' },
    totals: { ...figuresOf(parts), rejected_entries: 0, rejected_cost: null },
    models: models.map(({ model, own }) => ({ model, ...figuresOf(own) })),
    ...{ people: null, unattributed: null, budgets: null, list: null, page: null },
  }
}

/** Without a remote, agents know no name of the repository, and the folder decides. */
function isOf(
  { repository, branch, root, since }: AskedBranch,
  { folder }: Priced,
  { place, firstAt }: PricedDay,
): boolean {
  if (place.branch !== branch || (since && firstAt < since.at)) return false
  if (repository !== null || place.repository !== null) return place.repository === repository
  const inside = relative(root ?? '', folder ?? '/')
  return root !== undefined && !inside.startsWith('..') && !isAbsolute(inside)
}

const total = (amounts: readonly (Nanos | undefined)[]): Nanos | null => {
  const known = amounts.filter((amount) => amount !== undefined)
  return known.length === 0 ? null : known.reduce((sum, amount) => sum + amount, 0n)
}

const sumOf = (parts: readonly Part[]) => ({
  cost: total(parts.map(({ day }) => day.costNanos)),
  tokens: parts.reduce((sum, { day }) => sum + totalOf(day.tokens), 0),
})

function figuresOf(parts: readonly Part[]) {
  const count = (kind: keyof Counts) => parts.reduce((sum, { day }) => sum + day.tokens[kind], 0)
  const [input, output, cache_read] = [count('input'), count('output'), count('cache_read')]
  const [cache_write, cache_write_1h] = [count('cache_write'), count('cache_write_1h')]
  const { cost, tokens } = sumOf(parts)
  const noted = parts.map(({ use, day }) =>
    use.reportedCost === null ? undefined : parseDecimal(day.reportedCost!, NANO_DIGITS),
  )
  const timed = parts.flatMap(({ day }) => day.activeMs ?? [])
  return {
    entries: parts.length,
    unpriced_entries: parts.filter(({ day }) => day.costNanos === undefined).length,
    straddling_entries: 0,
    tokens: { input, output, cache_read, cache_write, cache_write_1h, total: tokens },
    cost: moneyNumber(cost),
    list_value: moneyNumber(total(parts.map(({ day }) => day.listValueNanos))),
    reported_cost: moneyNumber(total(noted)),
    sessions: new Set(parts.map(({ use }) => `${use.agentHarness} ${use.sessionId}`)).size,
    active_seconds: timed.length === 0 ? null : timed.reduce((sum, ms) => sum + ms, 0) / 1_000,
    untimed_entries: parts.length - timed.length,
  }
}

const descending = <Value extends number | bigint>(one: Value, other: Value): number =>
  one === other ? 0 : one < other ? 1 : -1
