/** Divides the observations of a request into transactions, so that others can run in between. */
import type { Observation } from './channels/observation.ts'

/** The default batch size of SDKs. */
const OBSERVATIONS_LIMIT = 512

/**
 * Each session takes a millisecond of a transaction, during which no one else gets a response. Agents have one or two
 * per request, but a Collector has one per trace if programs send no session.
 */
const SESSIONS_LIMIT = 16

/** In their order; at least one batch, which may be empty. */
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
