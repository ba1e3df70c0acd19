/**
 * JSON whose numbers can be read to the last digit. `JSON.parse` makes a double of a number, whose shortest text is
 * the number as it was written up to 15 significant digits; where more were written, the object or array that the number
 * is in carries its text as well.
 */

/** More digits in a row than a double is sure to give back; in strings it matches as well, which costs only time. */
const LONG_NUMBER = /\d[\d.]{15}/

/** A property that JSON and schemas don't see, and that copies of the object have too. */
const TEXTS = Symbol('texts of numbers')

interface Holder {
  [TEXTS]?: Map<string, string>
}

type Reviver = (this: Holder, key: string, value: unknown, context: { source?: string }) => unknown

// TypeScript 5.9's library does not know the reviver's context (ES2026) yet.
const parse = JSON.parse as (text: string, reviver?: Reviver) => unknown

/** As `JSON.parse`; throws SyntaxError likewise. */
export function parseExactJson(text: string): unknown {
  if (!LONG_NUMBER.test(text)) return parse(text)
  return parse(text, function (key, value, { source }) {
    if (typeof value === 'number' && source !== undefined && source.length > 15) {
      this[TEXTS] ??= new Map()
      this[TEXTS].set(key, source)
    }
    return value
  })
}

/** The decimal text of the number at `holder[key]`, as it was written where that matters. */
export function numberText<Key extends string>(holder: Partial<Record<Key, number>>, key: Key): string {
  const text = (holder as Holder)[TEXTS]?.get(key)
  // A copy may have another number there, without a text.
  return text !== undefined && Number(text) === holder[key] ? text : String(holder[key])
}
