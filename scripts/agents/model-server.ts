/**
 * A mock model server on the loopback address. It answers every question with one word in the APIs of four vendors, and
 * records the tokens in its responses: the true usage to compare an agent's telemetry with.
 */

/** Disjoint counts, as in Tally. */
export interface Served {
  requests: number
  input: number
  output: number
  cache_read: number
  cache_write: number
  cache_write_1h: number
}

const NOTHING: Served = { requests: 0, input: 0, output: 0, cache_read: 0, cache_write: 0, cache_write_1h: 0 }

type Counts = Omit<Served, 'requests'>

/** The vendors' responses besides tokens. */
interface Question {
  model: string
  streams: boolean
  /** For the whole server, so that no two responses have the same counts or ids. */
  number: number
}

/** All counts differ within and between responses, so that a mix-up is visible. */
function countsOf(number: number, more: Partial<Counts> = {}): Counts {
  return {
    input: 1000 + number,
    output: 100 + 3 * number,
    cache_read: 5000 + 7 * number,
    cache_write: 0,
    cache_write_1h: 0,
    ...more,
  }
}

/** The fields that matter here; Google has both in the path. */
interface ModelRequest {
  model?: string
  stream?: boolean
}

type Event = [name: string | null, data: unknown]

function streamed(events: Event[]): Response {
  const text = events
    .map(
      ([name, data]) =>
        `${name ? `event: ${name}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`,
    )
    .join('')
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } })
}

/** https://docs.anthropic.com/en/api/messages-streaming */
function anthropic({ model, streams, number }: Question, counts: Counts): Response {
  const usage = {
    input_tokens: counts.input,
    cache_read_input_tokens: counts.cache_read,
    cache_creation_input_tokens: counts.cache_write + counts.cache_write_1h,
    cache_creation: { ephemeral_5m_input_tokens: counts.cache_write, ephemeral_1h_input_tokens: counts.cache_write_1h },
    output_tokens: counts.output,
  }
  const message = { id: `msg_${number}`, type: 'message', role: 'assistant', model, stop_sequence: null }
  if (!streams) {
    return Response.json(
      { ...message, content: [{ type: 'text', text: 'Done.' }], stop_reason: 'end_turn', usage },
      { headers: { 'request-id': `req_${number}` } },
    )
  }
  const started = { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } }
  const events: Event[] = [
    ['message_start', { type: 'message_start', message: started }],
    ['content_block_start', { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }],
    ['content_block_delta', { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Done.' } }],
    ['content_block_stop', { type: 'content_block_stop', index: 0 }],
    ['message_delta', { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage }],
    ['message_stop', { type: 'message_stop' }],
  ]
  const answer = streamed(events)
  answer.headers.set('request-id', `req_${number}`)
  return answer
}

/** https://platform.openai.com/docs/api-reference/responses-streaming */
function openAiResponses({ model, streams, number }: Question, counts: Counts): Response {
  const item = {
    type: 'message',
    role: 'assistant',
    id: `msg_${number}`,
    status: 'completed',
    content: [{ type: 'output_text', text: 'Done.', annotations: [] }],
  }
  const response = {
    id: `resp_${number}`,
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    model,
    status: 'completed',
    output: [item],
    usage: {
      input_tokens: counts.input + counts.cache_read,
      input_tokens_details: { cached_tokens: counts.cache_read },
      output_tokens: counts.output,
      output_tokens_details: { reasoning_tokens: Math.floor(counts.output / 2) },
      total_tokens: counts.input + counts.cache_read + counts.output,
    },
  }
  if (!streams) return Response.json(response)
  return streamed([
    ['response.created', { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } }],
    ['response.output_item.done', { type: 'response.output_item.done', output_index: 0, item }],
    ['response.completed', { type: 'response.completed', response }],
  ])
}

/** https://platform.openai.com/docs/api-reference/chat-streaming */
function openAiChat({ model, streams, number }: Question, counts: Counts): Response {
  const usage = {
    prompt_tokens: counts.input + counts.cache_read,
    completion_tokens: counts.output,
    total_tokens: counts.input + counts.cache_read + counts.output,
    prompt_tokens_details: { cached_tokens: counts.cache_read },
    completion_tokens_details: { reasoning_tokens: Math.floor(counts.output / 2) },
  }
  const shared = { id: `chatcmpl_${number}`, created: Math.floor(Date.now() / 1000), model }
  if (!streams) {
    const message = { role: 'assistant', content: 'Done.' }
    return Response.json({
      ...shared,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage,
    })
  }
  const chunk = (more: object) => ({ ...shared, object: 'chat.completion.chunk', ...more })
  return streamed([
    [null, chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: 'Done.' }, finish_reason: null }] })],
    [null, chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })],
    [null, chunk({ choices: [], usage })],
    [null, '[DONE]'],
  ])
}

/** https://ai.google.dev/api/generate-content */
function gemini({ model, streams, number }: Question, counts: Counts): Response {
  const thoughts = Math.floor(counts.output / 2)
  const answer = {
    candidates: [{ content: { role: 'model', parts: [{ text: 'Done.' }] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: {
      promptTokenCount: counts.input + counts.cache_read,
      cachedContentTokenCount: counts.cache_read,
      candidatesTokenCount: counts.output - thoughts,
      thoughtsTokenCount: thoughts,
      totalTokenCount: counts.input + counts.cache_read + counts.output,
    },
    modelVersion: model,
    responseId: `response-${number}`,
  }
  return streams ? streamed([[null, answer]]) : Response.json(answer)
}

export class ModelServer {
  /** By agent (the first part of its request path) and model. */
  readonly served: Record<string, Record<string, Served>> = {}
  readonly #server: Bun.Server<undefined>
  #answers = 0

  constructor() {
    this.#server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: (request) => this.#answer(request) })
  }

  /** The address of the agent's model. */
  url(agent: string): string {
    return `http://127.0.0.1:${this.#server.port}/${agent}`
  }

  stop(): void {
    this.#server.stop(true)
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    const [, agent = '', ...rest] = pathname.split('/')
    const path = rest.join('/')
    const { model = '', stream } = (
      request.method === 'POST' ? await request.json().catch(() => ({})) : {}
    ) as ModelRequest
    const question = { model, streams: stream === true }
    if (path.endsWith('messages/count_tokens')) return Response.json({ input_tokens: 1 })
    if (path.endsWith(':countTokens')) return Response.json({ totalTokens: 1 })
    if (path.endsWith('messages'))
      return this.#serve(agent, question, anthropic, { cache_write: 300, cache_write_1h: 70 })
    if (path.endsWith('chat/completions')) return this.#serve(agent, question, openAiChat)
    if (path.endsWith('responses')) return this.#serve(agent, question, openAiResponses)
    const google = /models\/([^:]+):(stream)?[gG]enerateContent$/.exec(path)
    if (google) return this.#serve(agent, { model: google[1]!, streams: google[2] !== undefined }, gemini)
    return Response.json({ data: [], models: [] }, { status: request.method === 'POST' ? 404 : 200 })
  }

  #serve(
    agent: string,
    request: Omit<Question, 'number'>,
    answer: (question: Question, counts: Counts) => Response,
    more: Partial<Counts> = {},
  ): Response {
    const number = ++this.#answers
    const counts = countsOf(number, more)
    this.served[agent] ??= {}
    const before = this.served[agent][request.model] ?? NOTHING
    this.served[agent][request.model] = {
      requests: before.requests + 1,
      input: before.input + counts.input,
      output: before.output + counts.output,
      cache_read: before.cache_read + counts.cache_read,
      cache_write: before.cache_write + counts.cache_write,
      cache_write_1h: before.cache_write_1h + counts.cache_write_1h,
    }
    return answer({ ...request, number }, counts)
  }
}
