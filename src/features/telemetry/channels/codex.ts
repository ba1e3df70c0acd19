/** Codex: of some hundred kilobytes per turn, only one event contains the usage. */
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
  // The default of `[otel] environment`, and the name of the operating system.
  own: { env: 'dev' },
  logs: {
    'codex.sse_event': (fields, log) => {
      // Each completed response has two events, the first without counts.
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
