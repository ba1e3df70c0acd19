/** What was billed for entries: their share of the bills that they are on, by the terms of each bill. */
import type { Database } from '../../database/database.ts'
import { numberText, parseExactJson } from '../../lib/exact-json.ts'
import type { Id } from '../../lib/id.ts'
import { decimalNumber, type Nanos, parseExactDecimal, RATE_DIGITS } from '../../lib/money.ts'
import type { CostBasis } from '../../shared/cost-basis.ts'
import { apportion, billedExactly, PPM_DIGITS } from './amounts.ts'
import { minorDigitsOf } from './currency.ts'
import type { BillDocument } from './schema.ts'
import { getDocument, listBillsOf } from './store/bills.ts'

/** How a bill charges for costs. */
export interface BilledTerms {
  bill: Id<'bil'>
  currency: string
  rate: bigint
  /** By which amount its entries were billed. */
  basis: CostBasis
  /**
   * The markups in parts per million, by id of the project; one for all projects if lines do not name them. Undefined if
   * the bill doesn't say.
   */
  markupOf: (project: string) => number | undefined
}

/** The cost of entries on a bill, by its basis, that are in a project. */
export interface BilledCost {
  /** Its id. */
  project: string
  costNanos: Nanos
}

/** An amount in minor units. */
export interface BilledAmount {
  currency: string
  minor: bigint
}

export function createBilledAmounts({ db }: { db: Database }) {
  return {
    /**
     * The terms of the bills, but void ones, that may have entries of these projects since a day: of these clients, of
     * these projects, and of everything.
     */
    async billedTerms(scope: {
      clientIds: readonly number[]
      projectIds: readonly number[]
      since: string
    }): Promise<BilledTerms[]> {
      const terms: BilledTerms[] = []
      for (const { id, uid, currency, basis } of await listBillsOf(db.read, scope)) {
        const document = parseExactJson(await getDocument(db.read, id)) as BillDocument
        const rate = parseExactDecimal(numberText(document, 'exchange_rate'), RATE_DIGITS)!
        terms.push({ bill: uid, currency, rate, basis, markupOf: markupsOf(document) })
      }
      return terms
    },

    /**
     * The amounts of groups of costs as lines of the bill (docs/design/bills.md, "Amounts"): together they are rounded
     * once, so all costs on the bill make its subtotal without extra lines.
     */
    amountsOn({ currency, rate, markupOf }: BilledTerms, groups: readonly (readonly BilledCost[])[]): BilledAmount[] {
      const exact = groups.map((costs) =>
        costs.reduce(
          (sum, { project, costNanos }) => sum + billedExactly(costNanos, { markupPpm: markupOf(project)!, rate }),
          0n,
        ),
      )
      return apportion(exact, minorDigitsOf(currency)).map((minor) => ({ currency, minor }))
    },
  }
}

export function billedAmountBody({ currency, minor }: BilledAmount) {
  return { currency, amount: decimalNumber(minor, minorDigitsOf(currency)) }
}

function markupsOf({ group_by, sections }: BillDocument): BilledTerms['markupOf'] {
  const lines = sections.flatMap((section) => section.lines)
  const markups = new Map<string, number | undefined>()
  for (const line of lines) {
    const { project } = line.keys
    const name = project && typeof project === 'object' ? project.id : ''
    const markup = line.markup === null ? undefined : ppmOf(numberText(line as { markup: number }, 'markup'))
    markups.set(name, !markups.has(name) || markups.get(name) === markup ? markup : undefined)
  }
  return group_by.includes('project') ? (project) => markups.get(project) : () => markups.get('')
}

function ppmOf(percent: string): number {
  return Number(parseExactDecimal(percent, PPM_DIGITS - 2)!)
}
