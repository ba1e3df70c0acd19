/** Parameters of a query as they were sent. */

/** The part of a request's context that its parameters are in. */
export interface QueryCall {
  request: Request
  query?: Record<string, unknown>
}

/**
 * Elysia takes the value of a list that begins with a bracket for JSON, and cuts off its ends: `[bot]` would find, and
 * change, what belongs to `bot`. Such values are read again.
 */
export function restoreBrackets({ request, query }: QueryCall): void {
  if (!query || !/\[|%5b/i.test(request.url)) return
  const sent = new URL(request.url).searchParams
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) query[name] = sent.getAll(name).flatMap((text) => text.split(','))
  }
}
