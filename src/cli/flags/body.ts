/** Flags as the body of a request, which the schema of the API validates. */
import type { TSchema } from '@sinclair/typebox'
import { validationFailed } from '../../errors.ts'
import { parseExactJson } from '../../lib/exact-json.ts'
import { decimalNumber, parseDecimal } from '../../lib/money.ts'
import { CommandError, EXIT_USAGE } from '../failures.ts'

/** Finer than any amount or rate is read, so that what is too fine is refused and not rounded. */
const DIGITS = 18

export function numberOf(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const units = parseDecimal(text, DIGITS)
  if (units === undefined)
    throw new CommandError(`${flag}: '${text}' is not a valid number. Use a number such as 12.5.`, EXIT_USAGE)
  return decimalNumber(units, DIGITS)
}

/** The body as the API would read it from JSON, without what is undefined. Throws 422 with every issue. */
export async function checked(schema: TSchema, body: object): Promise<unknown> {
  const [{ Value }, { issuesOf }] = await Promise.all([
    import('@sinclair/typebox/value'),
    import('../../schema/issues.ts'),
  ])
  const read = parseExactJson(JSON.stringify(body))
  const issues = issuesOf({ Errors: (value) => Value.Errors(schema, value) }, read)
  if (issues.length > 0) throw validationFailed(issues)
  return read
}
