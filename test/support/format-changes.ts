/** Session files of an agent whose format has changed: each field of their records renamed, and left out. */

export interface FormatChange {
  /** The path of the field, and what happened to it. */
  name: string
  records: unknown[]
}

/** Of fields with these names, only the field itself changes: what they contain is the conversation. */
const CONTENTS = new Set(['content', 'parts'])

export function formatChanges(records: readonly unknown[]): FormatChange[] {
  const paths = new Set<string>()
  for (const record of records) collect(record, '', paths)
  return [...paths].flatMap((path) => [
    { name: `${path} renamed`, records: records.map((record) => changed(record, path.split('.'), true)) },
    { name: `${path} left out`, records: records.map((record) => changed(record, path.split('.'), false)) },
  ])
}

function collect(value: unknown, path: string, paths: Set<string>): void {
  if (Array.isArray(value)) for (const each of value) collect(each, `${path}*.`, paths)
  else if (isObject(value)) {
    for (const [name, inner] of Object.entries(value)) {
      paths.add(path + name)
      if (!CONTENTS.has(name)) collect(inner, `${path}${name}.`, paths)
    }
  }
}

function changed(value: unknown, [name, ...rest]: string[], isRenamed: boolean): unknown {
  if (name === '*') return Array.isArray(value) ? value.map((each) => changed(each, rest, isRenamed)) : value
  if (!isObject(value)) return value
  const entries = Object.entries(value).flatMap(([key, inner]) => {
    if (key !== name) return [[key, inner]]
    if (rest.length > 0) return [[key, changed(inner, rest, isRenamed)]]
    return isRenamed ? [[`${key}New`, inner]] : []
  })
  return Object.fromEntries(entries)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
