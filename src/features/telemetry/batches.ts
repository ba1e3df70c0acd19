/** Divides what one request brings into transactions, between which others have their turn. */
import type { Observation } from './channels/observation.ts'

/** As many as SDKs send at once where nobody told them otherwise. */
const OBSERVATIONS_LIMIT = 512

/**
 * Each session is a millisecond of a transaction, in which nobody else is answered. Agents have one or two in a request,
 * but a Collector has as many as there were traces where programs name no session.
 */
const SESSIONS_LIMIT = 16

/** In their order; at least one, which may be empty. */
export function batchesOf(observations: readonly Observation[]): Observation[][] {
  let batch: Observation[] = []
  const batches = [batch]
  const sessions = new Set<string>()
  for (const observation of observations) {
    const session = JSON.stringify([observation.harness, observation.session])
    const isFull = sessions.size === SESSIONS_LIMIT && !sessions.has(session)
    if (isFull || batch.length === OBSERVATIONS_LIMIT) {
      batch = []
      batches.push(batch)
      sessions.clear()
    }
    batch.push(observation)
    sessions.add(session)
  }
  return batches
}
