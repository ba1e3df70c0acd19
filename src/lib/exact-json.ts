/**
 * JSON with exact numbers. `JSON.parse` converts a number to a double, whose shortest text equals the original for up
 * to 15 significant digits; for numbers with more digits, the containing object or array carries the original text too.
 */

/** A number with more digits than a double is sure to preserve. Also matches inside strings, which only costs time. */
const LONG_NUMBER = /\d[\d.]{15}[\d.eE+-]*/g

/** Beyond this number of long numbers, the search for one that a double changes could take longer than parsing. */
const SEARCH_LIMIT = 10_000

/** A property that JSON and schemas don't see, and that copies of the object have too. */
const TEXTS = Symbol('texts of numbers')

interface Holder {
  [TEXTS]?: Map<string, string>
}

type Reviver = (this: Holder, key: string, value: unknown, context: { source?: string }) => unknown

// TypeScript 5.9's library does not declare the reviver's context (ES2026) yet.
const parse = JSON.parse as (text: string, reviver?: Reviver) => unknown

/** Like `JSON.parse`, and throws SyntaxError in the same cases. */
export function parseExactJson(text: string): unknown {
  if (!mayLoseDigits(text)) return parse(text)
  return parse(text, function (key, value, { source }) {
    if (typeof value === 'number' && source !== undefined && source.length > 15) {
      this[TEXTS] ??= new Map()
      this[TEXTS].set(key, source)
    }
    return value
  })
}

// TypeScript 5.9's library does not declare JSON.rawJSON (ES2026) yet.
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => number }

/** A number that `JSON.stringify` writes with these digits. Typed as one, as readers of the JSON have it; never calculate with it. */
export const exactNumber = (decimal: string): number => rawJSON(decimal)

/** JavaScript writes smaller numbers with an exponent. Also matches inside strings, which only costs time. */
const SMALL_NUMBER = '0.000000'

/** Like `JSON.parse`, but numbers whose text would change become raw JSON: `JSON.stringify` restores the text. */
export function parseRawJson(text: string): unknown {
  if (!text.includes(SMALL_NUMBER) && !mayLoseDigits(text)) return parse(text)
  return parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? exactNumber(source) : value,
  )
}

/**
 * Whether a long number in the text may differ from the text of its double. Parsing with a reviver takes ten times as
 * long, and costs that were calculated with doubles have up to 17 digits but lose none.
 */
function mayLoseDigits(text: string): boolean {
  LONG_NUMBER.lastIndex = 0
  for (let searched = 0; searched < SEARCH_LIMIT; searched++) {
    const number = LONG_NUMBER.exec(text)?.[0]
    if (number === undefined) return false
    if (String(Number(number)) !== number) return true
  }
  return true
}

/**
 * The decimal text of the number at `holder[key]`: the original text if the number has more digits than a double
 * preserves.
 */
export function numberText<Key extends string>(holder: Partial<Record<Key, number>>, key: Key): string {
  const text = (holder as Holder)[TEXTS]?.get(key)
  // A copy may have another number there, without a text.
  return text !== undefined && Number(text) === holder[key] ? text : String(holder[key])
}
