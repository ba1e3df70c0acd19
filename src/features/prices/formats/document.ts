/**
 * The JSON of a price table, of which one model is parsed at a time: a table of a few megabytes may hold a million
 * objects, and parsed at once they would take a hundred times the memory of the text.
 */
import { parseExactJson } from '../../../lib/exact-json.ts'
import { JsonCursor, vocabularyOf } from '../../../lib/json-cursor.ts'
import { countParsedMembers, type JsonCounts, JsonLimitExceeded, scanJson } from '../../../lib/json-scan.ts'

/** Where in the document a value begins. */
export type Position = number

/** Models, or other items, of one list: the largest tables have some thousands. */
export const MODELS_LIMIT = 20_000

/** Names and values of one model: those with many tiers have some hundreds. */
const MODEL_LIMITS = { depth: 20, parts: 2_000 }

export function tooManyModels(): RangeError {
  return new RangeError(`it has more than ${MODELS_LIMIT.toLocaleString('en')} models; split the file`)
}

/** What formats look for before they parse anything. */
const NAMES = ['id', 'model', 'models', 'prices', 'aliases', 'litellm_provider'] as const
type FoundName = (typeof NAMES)[number]
const FOUND_NAMES = vocabularyOf(NAMES)

export class TableDocument {
  readonly root: Position
  readonly #bytes: Uint8Array
  readonly #cursor: JsonCursor
  /** Makes no string of any other name. */
  readonly #finder: JsonCursor

  /** Throws JsonSyntaxError, as everything here does for what is not valid JSON. */
  constructor(text: string) {
    this.#bytes = new TextEncoder().encode(text)
    this.#cursor = new JsonCursor(this.#bytes)
    this.#finder = new JsonCursor(this.#bytes, FOUND_NAMES)
    this.root = this.#cursor.skip()
    this.#cursor.end()
  }

  isObject(at: Position | undefined): at is Position {
    return this.#is('object', at)
  }

  isList(at: Position | undefined): at is Position {
    return this.#is('list', at)
  }

  /** Where the members of an object are; none of another value. Throws RangeError for too many, or a name twice. */
  members(at: Position | undefined): Map<string, Position> {
    const members = new Map<string, Position>()
    if (!this.isObject(at)) return members
    this.#cursor.position = at
    for (let name = this.#cursor.firstName(); name !== undefined; name = this.#cursor.nextName()) {
      if (members.has(name)) throw twice(name)
      members.set(name, this.#cursor.skip())
      if (members.size > MODELS_LIMIT) throw tooManyModels()
    }
    return members
  }

  /** Where the member of an object is, which may be there only once. */
  find(at: Position | undefined, wanted: FoundName): Position | undefined {
    if (!this.isObject(at)) return undefined
    const finder = this.#finder
    let found: Position | undefined
    finder.position = at
    for (let name = finder.firstName(); name !== undefined; name = finder.nextName()) {
      const position = finder.skip()
      if (name !== wanted) continue
      if (found !== undefined) throw twice(name)
      found = position
    }
    return found
  }

  /** Where the items of a list are; none of another value. Throws RangeError for too many. */
  items(at: Position | undefined): Position[] {
    const items: Position[] = []
    if (!this.isList(at)) return items
    this.#cursor.position = at
    for (let more = this.#cursor.firstItem(); more; more = this.#cursor.nextItem()) {
      items.push(this.#cursor.skip())
      if (items.length > MODELS_LIMIT) throw tooManyModels()
    }
    return items
  }

  /** What is there, parsed. Throws RangeError where it is too much for a model, or holds a name twice. */
  value(at: Position | undefined): unknown {
    if (at === undefined) return undefined
    if (at < 0) return null
    this.#cursor.position = at
    this.#cursor.skip()
    const bytes = this.#bytes.subarray(at, this.#cursor.position)
    const { members } = countsOf(bytes)
    const value = parseExactJson(new TextDecoder().decode(bytes))
    if (countParsedMembers(value) !== members) throw twice(undefined)
    return value
  }

  #is(kind: 'object' | 'list', at: Position | undefined): boolean {
    if (at === undefined || at < 0) return false
    this.#cursor.position = at
    return this.#cursor.kind() === kind
  }
}

function countsOf(bytes: Uint8Array): JsonCounts {
  try {
    return scanJson(bytes, MODEL_LIMITS)
  } catch (error) {
    if (!(error instanceof JsonLimitExceeded)) throw error
    throw new RangeError(`a model has more than ${MODEL_LIMITS.parts.toLocaleString('en')} names and values`)
  }
}

function twice(name: string | undefined): RangeError {
  return new RangeError(
    `${name === undefined ? 'a name' : `the name '${name.slice(0, 40)}'`} occurs twice in one object`,
  )
}
