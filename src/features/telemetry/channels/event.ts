/** Calls of agents that report each as one event, with its time as an attribute, and without a reliable unique id. */
import type { LogSignal } from '../signals.ts'
import type { Call } from './agent.ts'
import { type Fields, momentOf } from './fields.ts'
import type { Parts } from './observation.ts'

/** The attribute with the time: Codex sends it nowhere else. */
export const EVENT_TIME = 'event.timestamp'

interface Told {
  /** Undefined if nothing was used. */
  parts: Parts | undefined
  /** The attribute that names the session. */
  session: string
  /** The agent's id of the call, which is unique only together with the call's time and counts. */
  id?: string | undefined
}

export function callOfEvent(fields: Fields, { timeNanos }: LogSignal, { parts, session, id }: Told): Call | undefined {
  if (!parts) return undefined
  const model = fields.model('model')
  const at = fields.moment(EVENT_TIME) ?? momentOf(timeNanos)
  return {
    session: fields.session(session),
    model,
    parts,
    identity: [id, fields.text(EVENT_TIME), String(timeNanos), model, parts],
    startedAt: at,
    endedAt: at,
  }
}
