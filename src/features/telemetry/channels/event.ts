/** Calls of agents that tell each by one event, with its time as an attribute, and have no id that is surely its own. */
import type { LogSignal } from '../signals.ts'
import type { Call } from './agent.ts'
import { type Fields, momentOf } from './fields.ts'
import type { Parts } from './observation.ts'

/** Where these agents say when it was: Codex says it nowhere else. */
export const EVENT_TIME = 'event.timestamp'

interface Told {
  /** Undefined where nothing was used. */
  parts: Parts | undefined
  /** The attribute that names the session. */
  session: string
  /** What the agent calls it, which only together with its time and its figures is surely this call. */
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
