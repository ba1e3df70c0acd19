/** Qwen Code: a fork of Gemini CLI, but its output includes thoughts. Its spans follow the GenAI conventions. */
import type { Agent } from './agent.ts'
import { withoutCache } from './counts.ts'
import { callOfEvent, EVENT_TIME } from './event.ts'

const SESSION = 'session.id'

export const qwenCode: Agent = {
  harness: 'qwen-code',
  services: /^qwen-code/,
  attributes: [
    SESSION,
    'model',
    'user.email',
    EVENT_TIME,
    'response_id',
    'input_token_count',
    'output_token_count',
    'cached_content_token_count',
  ],
  logs: {
    'qwen-code.api_response': (fields, log) => {
      const parts = withoutCache({
        inputSide: fields.count('input_token_count'),
        output: fields.count('output_token_count'),
        cacheRead: fields.count('cached_content_token_count'),
      })
      return callOfEvent(fields, log, { parts, session: SESSION, id: fields.text('response_id') })
    },
  },
  uncounted: { 'qwen-code.token.usage': 'has no session; the log event qwen-code.api_response is counted instead' },
}
