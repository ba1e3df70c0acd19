/** Reads JSON objects that agents write, of which each may be incomplete. */
import { readFileSync } from 'node:fs'
import { objectOf } from '../model-calls.ts'

/** Undefined if the text is not a JSON object. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    return objectOf(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** A file beside those with the usage; empty if there is none, or if it is being written: it has nothing to count. */
export function readCompanion(path: string): Record<string, unknown> {
  try {
    return parseObject(readFileSync(path, 'utf8')) ?? {}
  } catch {
    return {}
  }
}
