/** Prices as callers send them. */
import { type Issue, type Problem, refusal, validationFailed } from '../../errors.ts'
import { parseMoment } from '../../lib/duration.ts'
import { parseExactJson } from '../../lib/exact-json.ts'
import type { ListedPrice, Reason } from './formats/reader.ts'
import { readTallyPrice } from './formats/tally.ts'
import type { PriceRow } from './rates.ts'
import type { NewPrice, PriceWithdrawal } from './schema.ts'
import { KEPT_FIELDS, type KeptField } from './set-price.ts'
import { rowBody } from './wire.ts'

/** A price that is complete, and which of its fields are those of the price that it replaces. */
export interface CompletePrice {
  row: Omit<ListedPrice, 'source'>
  kept: KeptField[]
}

type Fields = Omit<NewPrice, 'only' | 'force' | 'dry_run'>

/** The moment from which a price is to apply; undefined if the body doesn't say. Throws as {@link completePrice}. */
export function startOf({ effective_from }: NewPrice, timeZone: string): number | null | undefined {
  if (!isGiven(effective_from)) return undefined
  return readTallyPrice({ ...ANY_PRICE, effective_from }, timeZone).rows[0]?.effectiveFrom
}

/**
 * A price from a caller, whose days are those of a time zone. What it leaves out is kept from `current`, the price that
 * the model has at that time; with `only`, nothing is. Throws `validation_failed` (422) for issues that its schema
 * cannot express.
 */
export function completePrice(
  { only, force: _force, dry_run: _dryRun, ...fields }: NewPrice,
  { current, timeZone }: { current: PriceRow | undefined; timeZone: string },
): CompletePrice {
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => isGiven(value)))
  const held = current && !only ? chargesOf(current) : {}
  const kept = KEPT_FIELDS.filter((field) => field in held && !(field in given))
  // A copy with `given` last has the exact texts of its numbers; those of `held` need no more digits than a double has.
  const { rows, refused } = readTallyPrice({ ...held, ...given }, timeZone)
  if (refused[0]) throw validationFailed(issuesOf(given as Fields, { reasons: refused[0].reasons, timeZone }))
  const row = rows[0]!
  if (row.output === null) throw missing('output', fields.model)
  return { row, kept }
}

/** A model whose prices are withdrawn; an empty provider is that of prices for any provider. */
export interface WithdrawnModel {
  model: string
  provider: string
  /** The end, exclusive; the start of today if absent. */
  from?: number | undefined
}

/** The model of a withdrawal. Throws `validation_failed` (422) for a time that does not exist. */
export function readWithdrawal(
  { model, provider, effective_until: until }: PriceWithdrawal,
  timeZone: string,
): WithdrawnModel {
  const from = isGiven(until) ? parseMoment(until!, timeZone) : undefined
  if (isGiven(until) && from === undefined) {
    const message = 'must be a date or a timestamp with a UTC offset'
    throw refusal('/effective_until', 'bad_date', message)
  }
  return { model, provider: provider ?? '', from }
}

export function refusedPrice(reasons: Reason[]): Problem {
  return validationFailed(reasons.map(({ code, message }) => ({ pointer: '', code, message })))
}

/** Everything that a price charges, as a request has it. */
function chargesOf(row: PriceRow): Partial<Record<KeptField, unknown>> {
  const body = parseExactJson(JSON.stringify(rowBody(row))) as Record<KeptField, unknown>
  const isCharged = (value: unknown) =>
    typeof value === 'number' || (typeof value === 'object' && value !== null && Object.keys(value).length > 0)
  return Object.fromEntries(KEPT_FIELDS.flatMap((field) => (isCharged(body[field]) ? [[field, body[field]]] : [])))
}

/** A price without issues, with which a single field can be read. */
const ANY_PRICE = { model: 'any', input: 0 }

/** Each reason at the field that causes it by itself; at none if it takes several. */
function issuesOf(given: Fields, { reasons, timeZone }: { reasons: Reason[]; timeZone: string }): Issue[] {
  const causes = new Map<string, string>()
  for (const [field, value] of Object.entries(given)) {
    const [refused] = readTallyPrice({ ...ANY_PRICE, [field]: value }, timeZone).refused
    for (const { message } of refused?.reasons ?? []) causes.set(message, `/${field}`)
  }
  return reasons.map(({ code, message }) =>
    code === 'no_input_price'
      ? missingIssue('input', given.model)
      : { pointer: causes.get(message) ?? '', code, message },
  )
}

function missing(field: 'input' | 'output', model: string): Problem {
  return validationFailed([missingIssue(field, model)])
}

function missingIssue(field: 'input' | 'output', model: string): Issue {
  const message = `is required, because '${model}' has no ${field} price at that time that could be kept`
  return { pointer: `/${field}`, code: 'required', message }
}

/** Null is as good as absent. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}
