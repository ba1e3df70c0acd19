/** The answers to requests that were sent before the application's script was here, see `begin.ts`. */

import { COST_BASES, type CostBasis } from '../../shared/cost-basis.ts'

declare global {
  /** By path and query. */
  var firstAnswers: Map<string, Promise<Response>> | undefined
}

/** Each answer is taken once: whoever asks again wants a new one. Undefined if there is none. */
export function takeFirstAnswer(url: string): Promise<Response> | undefined {
  const path = url.slice(location.origin.length)
  const answer = globalThis.firstAnswers?.get(path)
  globalThis.firstAnswers?.delete(path)
  return answer
}

/** Once the page has asked for what it begins with: later, the answers would be out of date. */
export function dropFirstAnswers(): void {
  globalThis.firstAnswers = undefined
}

/** What the first requests depend on, as of the last visit. If it has changed, their answers are not used. */
export interface Visitor {
  role: string
  timeZone: string
  /** Of cost, where an address has none. */
  basis: CostBasis
}

const KEY = 'tally-visitor'

/** Undefined if nobody was signed in, or the browser stores nothing. */
export function readVisitor(): Visitor | undefined {
  try {
    const { role, timeZone, basis } = JSON.parse(localStorage.getItem(KEY)!) as Record<keyof Visitor, unknown>
    if (typeof role !== 'string' || typeof timeZone !== 'string') return undefined
    return { role, timeZone, basis: COST_BASES.find((known) => known === basis) ?? 'cost' }
  } catch {
    return undefined
  }
}

/** Undefined to forget who was signed in. */
export function noteVisitor(visitor: Visitor | undefined): void {
  try {
    if (visitor) localStorage.setItem(KEY, JSON.stringify(visitor))
    else localStorage.removeItem(KEY)
  } catch {
    // The next visit asks once the application is here.
  }
}
