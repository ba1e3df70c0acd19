/** Normalizes the counts of a call so that they do not overlap. */
import type { Parts } from './observation.ts'

type Given = { [Kind in keyof Parts]?: number | undefined }

function filled(given: Given): Parts {
  const { input = 0, inputSide = 0, output = 0, cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0 } = given
  return { input, inputSide, output, cacheRead, cacheWrite, cacheWrite1h }
}

/** Counts that are already disjoint; undefined if nothing was used. */
export function disjoint(given: Omit<Given, 'inputSide'>): Parts | undefined {
  const parts = filled(given)
  return Object.values(parts).some((count) => count > 0) ? parts : undefined
}

/**
 * Counts whose input includes the cache, as with OpenAI and Gemini. Instrumentations of Anthropic's client pass on its
 * counts, whose input does not: an input smaller than the cache can't include it.
 */
export function withoutCache(given: Omit<Given, 'input'>): Parts | undefined {
  const { inputSide, ...parts } = filled(given)
  const cache = parts.cacheRead + parts.cacheWrite + parts.cacheWrite1h
  return disjoint({ ...parts, input: inputSide >= cache ? inputSide - cache : inputSide })
}
