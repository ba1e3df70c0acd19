/** Prices as callers send them. */
import { type Problem, validationFailed } from '../../errors.ts'
import type { ListedPrice, Reason } from './formats/reader.ts'
import { readTallyPrice } from './formats/tally.ts'
import type { NewPrice } from './schema.ts'

/** Parses a price from a caller. Throws `validation_failed` (422) for issues that its schema cannot express. */
export function readNewPrice(body: NewPrice): Omit<ListedPrice, 'source'> {
  const { rows, refused } = readTallyPrice({ ...body })
  if (refused[0]) throw refusedPrice(refused[0].reasons)
  return rows[0]!
}

export function refusedPrice(reasons: Reason[]): Problem {
  return validationFailed(reasons.map(({ code, message }) => ({ pointer: '', code, message })))
}
