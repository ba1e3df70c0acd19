/**
 * Protects updates that nobody previews against a source that is broken or hostile (docs/design/pricing.md, "Updates").
 * Prices do change, but not all at once, and a table does not lose most of its models. Pure.
 */

import { Problem } from '../../errors.ts'
import { counted } from '../../lib/counted.ts'
import type { Addition, LoadPlan } from './load-plan.ts'
import { largestFactor } from './price-change.ts'

/** The largest cut by a vendor so far was to a fifth; a factor of a thousand is a mistake of units. */
const FACTOR_LIMIT = 10

/** Changes above this factor are rare, so that many of them in one update are a mistake. */
const RARE_FACTOR = 2

/** Below this number, single vendors that change their prices would look like a pattern. */
const RARE_LIMIT = 10

/** Of the rows that the loaded prices have already. */
const RARE_SHARE = 0.25

/** Tables lose models that were retired, but not half of them. */
const KEPT_SHARE = 0.5

interface UpdateSize {
  /** Rows of the table. */
  rows: number
  /** Rows of the table that was last loaded from the same place; undefined if there is none. */
  previousRows: number | undefined
}

/**
 * The plan without rows that change a price more than ten times either way: these are refused by name. Throws
 * `implausible_price_update` (422) if the table as a whole is implausible.
 */
export function guardUpdate(plan: LoadPlan, { rows, previousRows }: UpdateSize): LoadPlan {
  if (previousRows !== undefined && rows < previousRows * KEPT_SHARE) {
    throw implausible(`the table has ${counted(rows, 'row')}, and ${previousRows} when it was last loaded`)
  }
  const replacing = plan.additions.filter(({ replaced }) => replaced !== undefined)
  const rare = replacing.filter((addition) => factorOf(addition) > RARE_FACTOR).length
  if (rare >= RARE_LIMIT && rare > (replacing.length + plan.unchanged) * RARE_SHARE) {
    throw implausible(`${counted(rare, 'price')} would at least double or halve`)
  }
  const refused = plan.additions.filter((addition) => factorOf(addition) > FACTOR_LIMIT)
  if (refused.length === 0) return plan
  const named = new Set(refused.map(nameOf))
  return {
    ...plan,
    additions: plan.additions.filter((addition) => !named.has(nameOf(addition))),
    refused: [
      ...plan.refused,
      ...[...named].map((name) => {
        const { row } = refused.find((addition) => nameOf(addition) === name)!
        const message = `changes a price more than ${FACTOR_LIMIT} times, which an update does not do by itself; check it, then use \`tally prices load\``
        return { provider: row.provider, model: row.model, reasons: [{ code: 'changed_too_much' as const, message }] }
      }),
    ],
  }
}

function factorOf({ row, replaced }: Addition): number {
  return replaced ? largestFactor(replaced, row) : 1
}

function nameOf({ row, source }: Addition): string {
  return JSON.stringify([source, row.provider, row.model])
}

function implausible(why: string): Problem {
  return new Problem(
    'implausible_price_update',
    `Nothing was loaded, because the source looks broken: ${why}. Check it; if it is right, load it once with \`tally prices load\`.`,
  )
}
