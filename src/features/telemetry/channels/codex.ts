/** Codex: of some hundred kilobytes a turn, one event tells what was used. */
import type { Agent } from './agent.ts'
import { withoutCache } from './counts.ts'
import { callOfEvent, EVENT_TIME } from './event.ts'

const SESSION = 'conversation.id'

export const codex: Agent = {
  harness: 'codex',
  services: /^codex/,
  version: 'app.version',
  attributes: [
    SESSION,
    'model',
    'user.email',
    'app.version',
    'event.kind',
    EVENT_TIME,
    'input_token_count',
    'output_token_count',
    'cached_token_count',
    'cache_write_token_count',
  ],
  // What `[otel] environment` is where nobody sets it, and the system's name.
  own: { env: 'dev' },
  logs: {
    'codex.sse_event': (fields, log) => {
      // Each completed response is told twice, the first time without counts.
      if (fields.text('event.kind') !== 'response.completed' || !fields.has('input_token_count')) return undefined
      const parts = withoutCache({
        inputSide: fields.count('input_token_count'),
        output: fields.count('output_token_count'),
        cacheRead: fields.count('cached_token_count'),
        cacheWrite: fields.count('cache_write_token_count'),
      })
      return callOfEvent(fields, log, { parts, session: SESSION })
    },
  },
  uncounted: {
    'codex.sse_event': 'only response.completed events with token counts contain usage',
    'codex.turn.token_usage': 'has no session; the log event codex.sse_event is counted instead',
  },
}
