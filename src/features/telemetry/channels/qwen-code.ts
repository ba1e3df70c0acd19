/** Qwen Code: as Gemini CLI, from which it comes, but thoughts are inside the output. Its spans are GenAI's. */
import type { Agent } from './agent.ts'
import { withoutCache } from './counts.ts'
import { momentOf } from './fields.ts'

export const qwenCode: Agent = {
  harness: 'qwen-code',
  services: /^qwen-code/,
  attributes: [
    'session.id',
    'model',
    'user.email',
    'event.timestamp',
    'response_id',
    'input_token_count',
    'output_token_count',
    'cached_content_token_count',
  ],
  logs: {
    'qwen-code.api_response': (fields, { timeNanos }) => {
      const parts = withoutCache({
        inputSide: fields.count('input_token_count'),
        output: fields.count('output_token_count'),
        cacheRead: fields.count('cached_content_token_count'),
      })
      if (!parts) return undefined
      const model = fields.model('model')
      const at = fields.moment('event.timestamp') ?? momentOf(timeNanos)
      return {
        session: fields.session('session.id'),
        model,
        parts,
        identity: [fields.text('response_id'), fields.text('event.timestamp'), String(timeNanos), model, parts],
        startedAt: at,
        endedAt: at,
      }
    },
  },
  uncounted: { 'qwen-code.token.usage': 'names no session; the log qwen-code.api_response is counted' },
}
