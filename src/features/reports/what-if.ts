/** What the same tokens would have cost at the prices of another model: a comparison of prices, not a forecast. */

import type { Viewer } from '../../access/visibility.ts'
import type { Database, SlowTask } from '../../database/database.ts'
import { moneyNumber, type Nanos } from '../../lib/money.ts'
import { listPath } from '../selection/contract.ts'
import { counted } from './counted-entries.ts'
import { type LeftOut, leftOutBody, valuable } from './left-out.ts'
import { type ModelNames, type PricedSum, readPricedSums } from './priced-sums.ts'
import type { WhatIfQuery } from './query.ts'
import type { WhatIfModel, WhatIfReport } from './schema.ts'
import { type Billing, settledRead } from './settled-sums.ts'
import { NO_TOKENS, standardValue, sumTokens, type Tokens } from './standard-value.ts'
import { ROW_LIMIT, tooManyGroups } from './usage.ts'
import { queryBody, ratioNumber, tokensBody } from './wire.ts'

interface WhatIfFigures {
  entries: number
  /** Of spans in which one of the two models has no price. */
  unvaluedEntries: number
  tokens: Tokens
  /** At both models' standard prices. */
  valueNanos: Nanos
  otherNanos: Nanos
}

type WhatIfRow = ModelNames & WhatIfFigures

const NOTHING: WhatIfFigures = { entries: 0, unvaluedEntries: 0, tokens: NO_TOKENS, valueNanos: 0n, otherNanos: 0n }

interface WhatIfSums {
  rows: WhatIfRow[]
  leftOut: LeftOut[]
}

/** By model and provider. Undefined if there are too many groups. */
export const WHAT_IF_TASK: SlowTask<{ viewer: Viewer; query: WhatIfQuery }, WhatIfSums | undefined> = {
  name: 'reports.what-if',
  async run(reader, { viewer, query }) {
    const { as } = query
    const read = await readPricedSums(reader, { ...query, viewer, others: [as] })
    if (!read) return undefined
    const { table, sums } = read
    const rows = new Map<string, WhatIfRow>()
    const valuesOf = ({ price, at, tokens }: Pick<PricedSum, 'price' | 'at' | 'tokens'>) => {
      const other = table.find(as.model, as.provider, at)?.price
      const value = price && standardValue(table, price.id, tokens)
      const otherValue = other && standardValue(table, other.id, tokens)
      return value === undefined || otherValue === undefined ? undefined : { value, otherValue }
    }
    const { isValued, leftOut } = valuable(sums, (sum) => valuesOf(sum) !== undefined)
    for (const sum of sums) {
      const { model, provider, entries, tokens } = sum
      const name = JSON.stringify([model, provider])
      const row = rows.get(name) ?? { model, provider, ...NOTHING }
      const values = isValued(sum) ? valuesOf(sum) : undefined
      rows.set(name, {
        ...row,
        entries: row.entries + entries,
        unvaluedEntries: row.unvaluedEntries + (values ? 0 : entries),
        tokens: sumTokens(row.tokens, tokens),
        valueNanos: row.valueNanos + (values?.value ?? 0n),
        otherNanos: row.otherNanos + (values?.otherValue ?? 0n),
      })
    }
    if (rows.size > ROW_LIMIT || leftOut.length > ROW_LIMIT) return undefined
    return { rows: [...rows.values()].sort(dearestFirst), leftOut }
  },
}

function dearestFirst(one: WhatIfRow, other: WhatIfRow): number {
  if (one.valueNanos !== other.valueNanos) return one.valueNanos > other.valueNanos ? -1 : 1
  return JSON.stringify([one.model, one.provider]) < JSON.stringify([other.model, other.provider]) ? -1 : 1
}

export function createWhatIf({ db, billing }: { db: Database; billing: Billing }) {
  return {
    /** Throws `validation_failed` (422) for too many groups, and `database_deadline` (503). */
    async whatIf(viewer: Viewer, query: WhatIfQuery): Promise<WhatIfReport> {
      const read = await settledRead(billing, query.filter, () => db.slowly(WHAT_IF_TASK, { viewer, query }))
      if (!read) throw tooManyGroups(ROW_LIMIT)
      const { rows, leftOut } = read
      return {
        ...queryBody(query),
        as_model: query.as.model,
        as_provider: query.as.provider,
        totals: figuresBody(rows.reduce<WhatIfFigures>(sumOf, NOTHING)),
        left_out: leftOut.map((part) => leftOutBody(part, query.filter)),
        data: rows.map((row) => modelBody(row, query)),
      }
    },
  }
}

function sumOf(sum: WhatIfFigures, row: WhatIfFigures): WhatIfFigures {
  return {
    entries: sum.entries + row.entries,
    unvaluedEntries: sum.unvaluedEntries + row.unvaluedEntries,
    tokens: sumTokens(sum.tokens, row.tokens),
    valueNanos: sum.valueNanos + row.valueNanos,
    otherNanos: sum.otherNanos + row.otherNanos,
  }
}

function modelBody(row: WhatIfRow, { filter, startingAt, endingAt }: WhatIfQuery): WhatIfModel {
  const { model, provider } = row
  const names = { model: [model], provider: [provider ?? 'none'] }
  const period = { starting_at: startingAt, ending_at: endingAt }
  return { model, provider, ...figuresBody(row), list: listPath({ ...counted(filter), ...period, ...names }) }
}

function figuresBody({ entries, unvaluedEntries, tokens, valueNanos, otherNanos }: WhatIfFigures) {
  const known = (nanos: Nanos) => moneyNumber(entries > 0 && unvaluedEntries === entries ? null : nanos)
  return {
    entries,
    unvalued_entries: unvaluedEntries,
    tokens: tokensBody(tokens),
    value: known(valueNanos),
    other_value: known(otherNanos),
    difference: known(otherNanos - valueNanos),
    ratio: ratioNumber(otherNanos, valueNanos),
  }
}
