/** Gemini CLI: one event per model call, and counters of the process. */
import type { Agent } from './agent.ts'
import { withoutCache } from './counts.ts'
import { callOfEvent, EVENT_TIME } from './event.ts'
import { Unusable } from './fields.ts'
import type { Part } from './observation.ts'

/** Thoughts are billed as output and reported separately; tool results in the prompt are input. */
const PARTS_BY_TYPE: Record<string, Part> = {
  input: 'inputSide',
  cache: 'cacheRead',
  output: 'output',
  thought: 'output',
  tool: 'inputSide',
}

const SESSION = 'session.id'

export const geminiCli: Agent = {
  harness: 'gemini-cli',
  services: /^gemini-cli/,
  // Its `service.version` is that of Node.js.
  version: null,
  attributes: [
    SESSION,
    'model',
    'user.email',
    EVENT_TIME,
    'prompt_id',
    'input_token_count',
    'output_token_count',
    'cached_content_token_count',
    'thoughts_token_count',
    'tool_token_count',
    'type',
  ],
  logs: {
    'gemini_cli.api_response': (fields, log) => {
      const parts = withoutCache({
        inputSide: (fields.count('input_token_count') ?? 0) + (fields.count('tool_token_count') ?? 0),
        output: (fields.count('output_token_count') ?? 0) + (fields.count('thoughts_token_count') ?? 0),
        cacheRead: fields.count('cached_content_token_count'),
      })
      return callOfEvent(fields, log, { parts, session: SESSION, id: fields.text('prompt_id') })
    },
  },
  metrics: {
    'gemini_cli.token.usage': (fields) => {
      const part = PARTS_BY_TYPE[fields.text('type') ?? '']
      if (!part) throw new Unusable(`type is not one of ${Object.keys(PARTS_BY_TYPE).join(', ')}`)
      return { session: fields.session(SESSION), model: fields.model('model'), part }
    },
  },
}
