/** The counts of one call, brought into the form in which they do not overlap. */
import type { Parts } from './observation.ts'

type Given = { [Kind in keyof Parts]?: number | undefined }

function filled(given: Given): Parts {
  const { input = 0, inputSide = 0, output = 0, cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0 } = given
  return { input, inputSide, output, cacheRead, cacheWrite, cacheWrite1h }
}

/** Counts that are disjoint already; undefined where nothing was used. */
export function disjoint(given: Omit<Given, 'inputSide'>): Parts | undefined {
  const parts = filled(given)
  return Object.values(parts).some((count) => count > 0) ? parts : undefined
}

/**
 * Counts whose input includes the cache, as OpenAI and Gemini count. Instrumentations of Anthropic's own client pass its
 * figures on, whose input does not: an input that is smaller than the cache cannot include it.
 */
export function withoutCache(given: Omit<Given, 'input'>): Parts | undefined {
  const { inputSide, ...parts } = filled(given)
  const cache = parts.cacheRead + parts.cacheWrite + parts.cacheWrite1h
  return disjoint({ ...parts, input: inputSide >= cache ? inputSide - cache : inputSide })
}
