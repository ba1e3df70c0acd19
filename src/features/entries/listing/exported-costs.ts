/** What was paid for the entries of a page of an export, as texts of JSON numbers. */
import type { Reader } from '../../../database/database.ts'
import { decimalText, NANO_DIGITS } from '../../../lib/money.ts'
import { amountOfEntry, type EntryShare, feeOfEntry } from '../rows.ts'
import type { ShownCosts } from '../wire.ts'
import { AT, type ExportedRow, type ReferredRow } from './store/export.ts'
import { findShares, hasShares } from './store/shares.ts'

export interface ExportedCosts {
  /** On the basis of the export. */
  cost: string | null
  marginal: string | null
  allocated: string | null
  fee: string | null
  isProvisional: boolean
}

/** Of an entry of which nothing says what pays for it. */
const NOTHING: ExportedCosts = { cost: null, marginal: null, allocated: null, fee: null, isProvisional: false }

type Funding = ReferredRow<'fundings'>

export class PageCosts {
  /** By the position of the entry in its page. */
  readonly found: ExportedCosts[] = []
  #hasShares: boolean | undefined

  constructor(
    readonly reader: Reader,
    readonly shown: ShownCosts,
    readonly fundings: { load(keys: readonly (number | null)[]): Promise<void>; of(key: number | null): unknown },
  ) {}

  async load(rows: readonly ExportedRow[]): Promise<void> {
    const { fundings, shown } = this
    await fundings.load(rows.map((row) => row[AT.fundingId]))
    const fundingOf = (row: ExportedRow) => fundings.of(row[AT.fundingId]) as Funding | null
    this.#hasShares ??= await hasShares(this.reader)
    const paid = this.#hasShares ? rows.filter((row) => fundingOf(row)?.fundingPlan) : []
    const shares = await findShares(
      this.reader,
      paid.map((row) => row[AT.id]),
    )
    for (let at = 0; at < rows.length; at += 1) {
      const row = rows[at]!
      this.found[at] =
        row[AT.fundingId] === null ? NOTHING : costsOf(row, fundingOf(row), shares.get(row[AT.id]), shown)
    }
  }
}

function costsOf(
  row: ExportedRow,
  funding: Funding | null,
  share: EntryShare | undefined,
  { basis, seesFees }: ShownCosts,
): ExportedCosts {
  const view = {
    entry: {
      reportedCost: nanosOf(row[AT.reportedDollars], row[AT.reportedNanos]),
      listValue: nanosOf(row[AT.listDollars], row[AT.listNanos]),
    },
    funding: funding?.funding ?? null,
    fundingPlan: funding?.fundingPlan ?? null,
  }
  const amountBy = (basis: ShownCosts['basis']) => textOf(amountOfEntry(view, share, basis))
  return {
    cost: amountBy(basis),
    marginal: amountBy('marginal'),
    allocated: seesFees ? amountBy('allocated') : null,
    fee: seesFees ? textOf(feeOfEntry(view, share)) : null,
    isProvisional: view.fundingPlan !== null && !share?.isClosed,
  }
}

const textOf = (nanos: bigint | null) => (nanos === null ? null : decimalText(nanos, NANO_DIGITS))

function nanosOf(dollars: number | null, nanos: number): bigint | null {
  return dollars === null ? null : BigInt(dollars) * 1_000_000_000n + BigInt(nanos)
}
