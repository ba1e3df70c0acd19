/**
 * Changes of the format of session files that a new version of an agent may bring: each field of its records renamed or left
 * out, each type renamed, a further count next to the known ones, another version of the format.
 */

export interface FormatChange {
  /** The path of the field, and what happened to it. */
  name: string
  kind: 'field' | 'type' | 'count' | 'version'
  of(record: unknown): unknown
}

type Path = readonly string[]

/** The fields in place of one, whose value is undefined if there is none. */
type Change = (value: unknown) => [name: string, value: unknown][]

/** Of fields with these names, only the field itself changes: what they contain is the conversation. */
const CONTENTS = new Set(['content', 'parts', 'toolCalls', 'thoughts', 'attachment', 'tools'])

/** Fields whose value says what a record is. */
const TYPES = new Set(['type', 'role', 'say', 'subtype', 'event.name', 'sessionUpdate'])

const VERSION = /^(?:protocol_)?version$/

/** What the names of the counts of a request begin with. */
const INPUT = /^input|^prompt|^tokensIn/
const OUTPUT = /^output|^completion|^candidates|^tokensOut/

const NEW_COUNT = 'new_tokens'

/** @param isName whether a field has the name of a thing, such as of a model, and not one of the format */
export function formatChanges(records: readonly unknown[], isName: (field: string) => boolean = () => false) {
  const changes = new Map<string, FormatChange>()
  const add = (path: Path, what: string, kind: FormatChange['kind'], change: Change) => {
    const name = `${path.join('.')} ${what}`
    if (!changes.has(name)) changes.set(name, { name, kind, of: (record) => changed(record, path, change) })
  }
  const collect = (value: unknown, path: Path): void => {
    if (Array.isArray(value)) for (const each of value) collect(each, [...path, '*'])
    if (!isObject(value)) return
    if (isUsage(value)) {
      add([...path, NEW_COUNT], 'added', 'count', () => [[NEW_COUNT, 7]])
    }
    for (const [name, inner] of Object.entries(value)) {
      const own = [...path, name]
      if (!isName(name)) {
        add(own, 'renamed', 'field', (found) => (found === undefined ? [] : [[`${name}New`, found]]))
        add(own, 'left out', 'field', () => [])
      }
      if (TYPES.has(name) && typeof inner === 'string') {
        add(own, `${inner} renamed`, 'type', (found) => [[name, found === inner ? `${inner}New` : found]])
      }
      if (VERSION.test(name))
        add(own, 'raised', 'version', (found) => [[name, typeof found === 'number' ? 99 : '99.0']])
      if (!CONTENTS.has(name)) collect(inner, own)
    }
  }
  for (const record of records) collect(record, [])
  return [...changes.values()]
}

function isUsage(value: Record<string, unknown>): boolean {
  const counts = Object.keys(value).filter((name) => typeof value[name] === 'number')
  return counts.some((name) => INPUT.test(name)) && counts.some((name) => OUTPUT.test(name))
}

/** The first counts of a request, as the agent writes them. */
export function usageIn(value: unknown): Record<string, unknown> | undefined {
  if (isObject(value) && isUsage(value)) return value
  const inner = typeof value === 'object' && value !== null ? Object.values(value) : []
  for (const each of inner) {
    const found = usageIn(each)
    if (found) return found
  }
  return undefined
}

function changed(value: unknown, [name = '', ...rest]: Path, change: Change): unknown {
  if (name === '*') return Array.isArray(value) ? value.map((each) => changed(each, rest, change)) : value
  if (!isObject(value)) return value
  if (name === NEW_COUNT) return { ...value, ...Object.fromEntries(change(undefined)) }
  const entries = Object.entries(value).flatMap(([key, inner]): [string, unknown][] => {
    if (key !== name) return [[key, inner]]
    return rest.length > 0 ? [[key, changed(inner, rest, change)]] : change(inner)
  })
  return Object.fromEntries(entries)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
