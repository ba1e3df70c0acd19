/**
 * The JSON of a price table, parsed one model at a time: a table of a few megabytes may contain a million objects,
 * which would take a hundred times the memory of the text if they were all parsed at once.
 */
import { parseExactJson } from '../../../lib/exact-json.ts'
import { JsonCursor, vocabularyOf } from '../../../lib/json-cursor.ts'
import { countParsedMembers, type JsonCounts, JsonLimitExceeded, scanJson } from '../../../lib/json-scan.ts'

/** The position of a value in the document. */
export type Position = number

/** Models, or other items, of a list: the largest tables have a few thousand. */
export const MODELS_LIMIT = 20_000

/** Names and values of a model: those with many tiers have a few hundred. */
const MODEL_LIMITS = { depth: 20, parts: 2_000 }

export function tooManyModels(): RangeError {
  return new RangeError(`it has more than ${MODELS_LIMIT.toLocaleString('en')} models; split the file`)
}

/** The names that formats look up before they parse anything. */
const NAMES = ['id', 'provider', 'model', 'models', 'prices', 'aliases', 'litellm_provider', 'as_of'] as const
type FoundName = (typeof NAMES)[number]
const FOUND_NAMES = vocabularyOf(NAMES)

export class TableDocument {
  readonly root: Position
  readonly #bytes: Uint8Array
  readonly #cursor: JsonCursor
  /** Creates no strings for other names. */
  readonly #finder: JsonCursor

  /** Throws JsonSyntaxError, as all methods do, for invalid JSON. */
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

  /** The names and positions of an object's members; empty for other values. Throws RangeError for too many. */
  members(at: Position | undefined): [name: string, position: Position][] {
    const members: [string, Position][] = []
    if (!this.isObject(at)) return members
    this.#cursor.position = at
    for (let name = this.#cursor.firstName(); name !== undefined; name = this.#cursor.nextName()) {
      members.push([name, this.#cursor.skip()])
      if (members.length > MODELS_LIMIT) throw tooManyModels()
    }
    return members
  }

  /** Whether an object has a member of this name. */
  has(at: Position | undefined, wanted: FoundName): boolean {
    return this.#first(at, wanted) !== undefined
  }

  /** The first text of this name in an object, of which it may have several. */
  firstText(at: Position | undefined, wanted: FoundName): string | undefined {
    const read = this.model(this.#first(at, wanted))
    return 'value' in read && typeof read.value === 'string' ? read.value : undefined
  }

  #first(at: Position | undefined, wanted: FoundName): Position | undefined {
    if (!this.isObject(at)) return undefined
    const finder = this.#finder
    finder.position = at
    for (let name = finder.firstName(); name !== undefined; name = finder.nextName()) {
      const position = finder.skip()
      if (name === wanted) return position
    }
    return undefined
  }

  /** The position of an object's member, which may exist only once. */
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

  /** The positions of a list's items; empty for other values. Throws RangeError for too many. */
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

  /** The value of a model, or why it cannot be read. */
  model(at: Position | undefined): { value: unknown } | { problem: string } {
    try {
      return { value: this.value(at) }
    } catch (error) {
      if (error instanceof RangeError) return { problem: error.message }
      throw error
    }
  }

  /** The parsed value. Throws RangeError if it is too large for a model, or contains a duplicate name. */
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
