/**
 * JSON whose numbers can be read to the last digit. `JSON.parse` makes a double of a number, whose shortest text is
 * the number as it was written up to 15 significant digits; where more were written, the text itself is kept beside.
 */

/** More digits in a row than a double is sure to give back; in strings it matches as well, which costs only time. */
const LONG_NUMBER = /\d[\d.]{15}/

const texts = new WeakMap<object, Record<string, string>>()

type Reviver = (this: object, key: string, value: unknown, context: { source?: string }) => unknown

// TypeScript 5.9's library does not know the reviver's context (ES2026) yet.
const parse = JSON.parse as (text: string, reviver?: Reviver) => unknown

/** As `JSON.parse`; throws SyntaxError likewise. */
export function parseExactJson(text: string): unknown {
  if (!LONG_NUMBER.test(text)) return parse(text)
  return parse(text, function (key, value, { source }) {
    if (typeof value === 'number' && source !== undefined && source.length > 15) {
      const kept = texts.get(this) ?? {}
      kept[key] = source
      texts.set(this, kept)
    }
    return value
  })
}

/** The decimal text of the number at `holder[key]`, as it was written where that matters. */
export function numberText<Key extends string>(holder: Partial<Record<Key, number>>, key: Key): string {
  const kept = texts.get(holder)
  return kept && Object.hasOwn(kept, key) ? kept[key]! : String(holder[key])
}
