/** What the same tokens would have cost at the prices of another model: a comparison of prices, not a forecast. */
import type { Viewer } from '../../access/visibility.ts'
import type { Database, SlowTask } from '../../database/database.ts'
import { moneyNumber, type Nanos } from '../../lib/money.ts'
import { listPath } from '../entries/listing/filter.ts'
import { counted } from './counted-entries.ts'
import { type ModelNames, readPricedSums } from './priced-sums.ts'
import type { WhatIfQuery } from './query.ts'
import type { WhatIfModel, WhatIfReport } from './schema.ts'
import { type Billing, settledRead } from './settled-sums.ts'
import { NO_TOKENS, standardValue, sumTokens, type Tokens } from './standard-value.ts'
import { ROW_LIMIT, tooManyGroups } from './usage.ts'
import { askedBody, ratioNumber, tokensBody } from './wire.ts'

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

/** By model and provider. Undefined if there are too many groups. */
export const WHAT_IF_TASK: SlowTask<{ viewer: Viewer; asked: WhatIfQuery }, WhatIfRow[] | undefined> = {
  name: 'reports.what-if',
  async run(reader, { viewer, asked }) {
    const { as } = asked
    const read = await readPricedSums(reader, { ...asked, viewer, others: [as] })
    if (!read) return undefined
    const { table, sums } = read
    const rows = new Map<string, WhatIfRow>()
    for (const { model, provider, price, at, entries, tokens } of sums) {
      const name = JSON.stringify([model, provider])
      const row = rows.get(name) ?? { model, provider, ...NOTHING }
      const other = table.find(as.model, as.provider, at)?.price
      const value = price && standardValue(table, price.id, tokens)
      const otherValue = other && standardValue(table, other.id, tokens)
      const isValued = value !== undefined && otherValue !== undefined
      rows.set(name, {
        ...row,
        entries: row.entries + entries,
        unvaluedEntries: row.unvaluedEntries + (isValued ? 0 : entries),
        tokens: sumTokens(row.tokens, tokens),
        valueNanos: row.valueNanos + (isValued ? value : 0n),
        otherNanos: row.otherNanos + (isValued ? otherValue : 0n),
      })
    }
    return rows.size > ROW_LIMIT ? undefined : [...rows.values()].sort(dearestFirst)
  },
}

function dearestFirst(one: WhatIfRow, other: WhatIfRow): number {
  if (one.valueNanos !== other.valueNanos) return one.valueNanos > other.valueNanos ? -1 : 1
  return JSON.stringify([one.model, one.provider]) < JSON.stringify([other.model, other.provider]) ? -1 : 1
}

export function createWhatIf({ db, billing }: { db: Database; billing: Billing }) {
  return {
    /** Throws `validation_failed` (422) for too many groups, and `database_deadline` (503). */
    async whatIf(viewer: Viewer, asked: WhatIfQuery): Promise<WhatIfReport> {
      const rows = await settledRead(billing, asked.filter, () => db.slowly(WHAT_IF_TASK, { viewer, asked }))
      if (!rows) throw tooManyGroups(ROW_LIMIT)
      return {
        ...askedBody(asked),
        as_model: asked.as.model,
        as_provider: asked.as.provider,
        totals: figuresBody(rows.reduce<WhatIfFigures>(sumOf, NOTHING)),
        data: rows.map((row) => modelBody(row, asked)),
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
