/**
 * A mock model server on the loopback address, with the APIs of four vendors. It answers every question with one word,
 * or with a call of a tool if the question asks for one, and records the tokens in its responses: the true usage.
 */

import type { Counts } from '../../src/agents/agent.ts'
import type { Purpose, ServedRequest } from './ledger.ts'

/** A tool that the answer calls. */
interface ToolCall {
  name: string
  input: object
  /** Of Codex. */
  namespace?: string
}

/** The vendors' responses besides tokens. */
interface Question {
  model: string
  streams: boolean
  /** For the whole server, so that no two responses have the same counts or ids. */
  number: number
  /** What the vendor charges differently for, as asked for. */
  service: string
  text: string
  /** Instead of the text. */
  tool: ToolCall | undefined
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

/** The fields that matter here. Google has the first two in the path. */
interface ModelRequest {
  model?: string
  stream?: boolean
  speed?: string
  service_tier?: string
  tools?: unknown
  systemInstruction?: unknown
}

/** Words in a question that make the answer a special one. */
export const WORDS = {
  delegate: 'Delegate',
  worktree: 'Worktree',
  checkout: 'Checkout',
  wait: 'Wait',
  long: 'Longread',
  spent: 'Spent',
} as const

/** Agents compact a conversation only if the answer has the form that they asked for. */
const TEXT = 'Done. <summary>Done.</summary> <state_snapshot>Done.</state_snapshot>'

/** More than every threshold of the models here. */
const LONG_CACHE_READ = 300_000

const WAITING = 'tail -f /dev/null'

/** By the name of the tool. */
const TOOLS: Record<string, ToolCall['input']> = {
  // Sub-agents.
  Agent: { description: 'Look', prompt: 'What is here?', subagent_type: 'general-purpose' },
  agent: { description: 'Look', prompt: 'What is here?', subagent_type: 'general-purpose' },
  // Of opencode, and of GitHub Copilot CLI.
  task: {
    ...{ name: 'look', description: 'Look', prompt: 'What is here?', mode: 'sync' },
    ...{ subagent_type: 'general', agent_type: 'explore' },
  },
  spawn_agent: { message: 'What is here?' },
  invoke_agent: { agent_name: 'generalist', prompt: 'What is here?' },
  delegate: { instructions: 'What is here?' },
  spawn_subagent: { description: 'Look', prompt: 'What is here?', background: false },
  sessions_spawn: { task: 'What is here?' },
  delegate_task: { goal: 'What is here?' },
  // Shells.
  Bash: { command: WAITING, description: 'Wait' },
  bash: { command: WAITING, description: 'Wait', mode: 'sync', initial_wait: 60 },
  exec_command: { cmd: WAITING },
  exec: { command: WAITING },
  terminal: { command: WAITING },
  shell: { command: WAITING.split(' ') },
  shell_command: { command: WAITING },
  run_terminal_command: { command: WAITING, description: 'Wait' },
  run_shell_command: { command: WAITING, description: 'Wait', is_background: false },
}

const SUB_AGENTS = [
  'Agent',
  'agent',
  'task',
  'spawn_agent',
  'invoke_agent',
  'delegate',
  'spawn_subagent',
  'sessions_spawn',
  'delegate_task',
]

/** What Tally's tool `usage` is asked, and what of its answer is repeated. */
const USAGE = { starting_at: '2026-11-01', group_by: ['project'] }
const ANSWERED = /\\"page\\+":\\+"([^"\\]+).*?\\"totals\\+":.*?\\"cost\\+":\\+"([^"\\]+)/

/** The tool that the question asks for, if the agent has it. */
function toolFor(asked: string, request: ModelRequest): ToolCall | undefined {
  if (asked.includes(WORDS.spent)) return usageTool(request.tools)
  const isOfSubAgent = (name: string) => SUB_AGENTS.includes(name)
  const wanted = asked.includes(WORDS.delegate)
    ? isOfSubAgent
    : asked.includes(WORDS.wait) || asked.includes(WORDS.checkout)
      ? (name: string) => !isOfSubAgent(name)
      : () => false
  const name = namesIn(request.tools).find((each) => each in TOOLS && wanted(each))
  if (name === undefined) return undefined
  const other = OTHERS[name]?.(JSON.stringify(request))
  const input = { ...TOOLS[name]!, ...other, ...(asked.includes(WORDS.worktree) ? { isolation: 'worktree' } : {}) }
  const branch = new RegExp(`${WORDS.checkout} (feature/[A-Z]+-\\d+)`).exec(asked)?.[1]
  return { name, input: branch === undefined ? input : checkingOut(input, branch) }
}

/** Where two agents have a tool of the same name: what is different in the other. */
const OTHERS: Record<string, (request: string) => object> = {
  // Kimi Code has other sub-agents than Claude Code.
  Agent: (request) => (request.includes('general-purpose') ? {} : { subagent_type: 'coder' }),
  // Of Cline.
  spawn_agent: (request) =>
    request.includes('systemPrompt') ? { systemPrompt: 'You look.', task: 'What is here?' } : {},
  // Of Goose.
  shell: (request) => (request.includes('timeout_secs') ? { command: WAITING } : {}),
}

/** The same call of a shell with another command. */
function checkingOut(input: object, branch: string): object {
  const words = JSON.stringify(WAITING.split(' ')).slice(1, -1)
  const command = `git checkout -q -B ${branch}`
  return JSON.parse(JSON.stringify(input).replace(words, `"sh","-c","${command}"`).replace(WAITING, command))
}

/** Tally's tool `usage`: agents put the name of its server before it, and Codex puts it into a namespace. */
function usageTool(tools: unknown, namespace?: string): ToolCall | undefined {
  if (Array.isArray(tools)) return tools.map((one) => usageTool(one, namespace)).find(Boolean)
  if (typeof tools !== 'object' || tools === null) return undefined
  const { name, functionDeclarations, tools: inner } = tools as Record<string, unknown>
  const isIt = typeof name === 'string' && /(^|_)usage$/.test(name) && `${namespace} ${name}`.includes('tally')
  if (isIt) return { name, input: USAGE, ...(namespace !== undefined && { namespace }) }
  const within = typeof name === 'string' ? name : namespace
  return usageTool(functionDeclarations, namespace) ?? usageTool(inner, within)
}

/** The names of tools, wherever a vendor's API has them. */
function namesIn(tools: unknown): string[] {
  if (Array.isArray(tools)) return tools.flatMap(namesIn)
  if (typeof tools !== 'object' || tools === null) return []
  const { name, function: nested, functionDeclarations, tools: inNamespace } = tools as Record<string, unknown>
  const own = typeof name === 'string' ? [name] : []
  return [...own, ...[nested, functionDeclarations, inNamespace].flatMap(namesIn)]
}

/** The text of the last messages of the user, which is empty if the last is the result of a tool. */
function lastQuestion(request: object): string {
  const { messages, input, contents } = request as Record<string, unknown>
  const all = messages ?? input ?? contents
  const list: { role?: string }[] = Array.isArray(all) ? all : [all ?? '']
  // Some agents add reminders after the question.
  const own = list.slice(list.findLastIndex(({ role }) => role !== 'user') + 1)
  const text = JSON.stringify(own.length > 0 ? own : list.at(-1))
  return /"(?:tool_result|function_call_output|functionResponse)"|"role":"tool"/.test(text) ? '' : text
}

/** Requests besides the conversation, by what agents write in them. */
function purposeOf(request: { systemInstruction?: unknown }): Purpose {
  if (JSON.stringify(request.systemInstruction ?? '').includes('state_snapshot')) return 'compaction'
  const text = JSON.stringify(request)
  if (TITLES.some((asked) => text.includes(asked))) return 'title'
  // Of GitHub Copilot CLI.
  if (text.includes('Please create a detailed summary of the conversation so far.')) return 'compaction'
  if (text.includes(SUMMARY)) return 'summary'
  return text.includes('model_choice') ? 'router' : 'conversation'
}

const TITLES = [
  ...['Generate a title for this conversation', 'Generate a short title (four words or less)'],
  ...['5-10 word descriptive title for the session', 'Output ONLY the title'],
]

/** Of Grok CLI, after each turn. */
const SUMMARY = 'Summarize earlier turns or the whole session'

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
function anthropic({ model, streams, number, service, text, tool }: Question, counts: Counts): Response {
  const usage = {
    input_tokens: counts.input,
    cache_read_input_tokens: counts.cache_read,
    cache_creation_input_tokens: counts.cache_write + counts.cache_write_1h,
    cache_creation: { ephemeral_5m_input_tokens: counts.cache_write, ephemeral_1h_input_tokens: counts.cache_write_1h },
    output_tokens: counts.output,
    service_tier: 'standard',
    speed: service || 'standard',
  }
  const stop_reason = tool ? 'tool_use' : 'end_turn'
  const id = `toolu_${number}`
  const content = tool ? { type: 'tool_use', id, name: tool.name, input: tool.input } : { type: 'text', text }
  const message = { id: `msg_${number}`, type: 'message', role: 'assistant', model, stop_sequence: null }
  if (!streams) {
    return Response.json(
      { ...message, content: [content], stop_reason, usage },
      { headers: { 'request-id': `req_${number}` } },
    )
  }
  const started_block = tool ? { ...content, input: {} } : { type: 'text', text: '' }
  const delta = tool
    ? { type: 'input_json_delta', partial_json: JSON.stringify(tool.input) }
    : { type: 'text_delta', text }
  const started = { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } }
  const events: Event[] = [
    ['message_start', { type: 'message_start', message: started }],
    ['content_block_start', { type: 'content_block_start', index: 0, content_block: started_block }],
    ['content_block_delta', { type: 'content_block_delta', index: 0, delta }],
    ['content_block_stop', { type: 'content_block_stop', index: 0 }],
    ['message_delta', { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage }],
    ['message_stop', { type: 'message_stop' }],
  ]
  const answer = streamed(events)
  answer.headers.set('request-id', `req_${number}`)
  return answer
}

/** https://platform.openai.com/docs/api-reference/responses-streaming */
function openAiResponses({ model, streams, number, service, text, tool }: Question, counts: Counts): Response {
  const called = tool && {
    ...{ type: 'function_call', id: `fc_${number}`, call_id: `call_${number}`, status: 'completed' },
    ...{ name: tool.name, arguments: JSON.stringify(tool.input) },
    ...(tool.name === 'spawn_agent' ? { namespace: 'multi_agent_v1' } : {}),
    ...(tool.namespace === undefined ? {} : { namespace: tool.namespace }),
  }
  const item = called ?? {
    type: 'message',
    role: 'assistant',
    id: `msg_${number}`,
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [] }],
  }
  const response = {
    id: `resp_${number}`,
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    model,
    status: 'completed',
    service_tier: service || 'default',
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
function openAiChat({ model, streams, number, text, tool }: Question, counts: Counts): Response {
  const usage = {
    prompt_tokens: counts.input + counts.cache_read,
    completion_tokens: counts.output,
    total_tokens: counts.input + counts.cache_read + counts.output,
    prompt_tokens_details: { cached_tokens: counts.cache_read },
    completion_tokens_details: { reasoning_tokens: Math.floor(counts.output / 2) },
  }
  const shared = { id: `chatcmpl_${number}`, created: Math.floor(Date.now() / 1000), model }
  const called = tool && { name: tool.name, arguments: JSON.stringify(tool.input) }
  const message = called
    ? {
        ...{ role: 'assistant', content: null },
        tool_calls: [{ index: 0, id: `call_${number}`, type: 'function', function: called }],
      }
    : { role: 'assistant', content: text }
  const finish_reason = tool ? 'tool_calls' : 'stop'
  if (!streams) {
    return Response.json({
      ...shared,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason }],
      usage,
    })
  }
  const chunk = (more: object) => ({ ...shared, object: 'chat.completion.chunk', ...more })
  return streamed([
    [null, chunk({ choices: [{ index: 0, delta: message, finish_reason: null }] })],
    [null, chunk({ choices: [{ index: 0, delta: {}, finish_reason }] })],
    [null, chunk({ choices: [], usage })],
    [null, '[DONE]'],
  ])
}

/** https://ai.google.dev/api/generate-content */
function gemini({ model, streams, number, text, tool }: Question, counts: Counts): Response {
  const thoughts = Math.floor(counts.output / 2)
  const part = tool ? { functionCall: { name: tool.name, args: tool.input } } : { text }
  const answer = {
    candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
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
  readonly served: ServedRequest[] = []
  /** The step of each run, which the requests are recorded with. */
  readonly steps: Record<string, number> = {}
  readonly #server: Bun.Server<undefined>
  #answers = 0

  constructor() {
    this.#server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: (request) => this.#answer(request) })
  }

  /** The address of the model of a run. */
  url(run: string): string {
    return `http://127.0.0.1:${this.#server.port}/${run}`
  }

  stop(): void {
    this.#server.stop(true)
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    const [, run = '', ...rest] = pathname.split('/')
    const path = rest.join('/')
    const body = (request.method === 'POST' ? await request.json().catch(() => ({})) : {}) as ModelRequest
    if (path.endsWith('messages/count_tokens')) return Response.json({ input_tokens: 1 })
    if (path.endsWith(':countTokens')) return Response.json({ totalTokens: 1 })
    if (path.endsWith('messages')) return this.#serve(run, body, anthropic, { cache_write: 300, cache_write_1h: 70 })
    if (path.endsWith('chat/completions')) return this.#serve(run, body, openAiChat)
    if (path.endsWith('responses')) return this.#serve(run, body, openAiResponses)
    const google = /models\/([^:]+):(stream)?[gG]enerateContent$/.exec(path)
    if (google) return this.#serve(run, { ...body, model: google[1]!, stream: google[2] !== undefined }, gemini)
    return Response.json({ data: [], models: [] }, { status: request.method === 'POST' ? 404 : 200 })
  }

  async #serve(
    run: string,
    request: ModelRequest,
    answer: (question: Question, counts: Counts) => Response,
    more: Partial<Counts> = {},
  ): Promise<Response> {
    const number = ++this.#answers
    const asked = lastQuestion(request)
    const counts = countsOf(number, { ...more, ...(asked.includes(WORDS.long) ? { cache_read: LONG_CACHE_READ } : {}) })
    const { model = '', stream } = request
    const service = [request.speed, request.service_tier].find((each) => each && !STANDARD.includes(each)) ?? ''
    const purpose = purposeOf(request)
    this.served.push({
      run,
      step: this.steps[run] ?? 0,
      at: Date.now(),
      isOfResult: asked === '',
      purpose,
      model,
      service,
      counts,
    })
    // Some agents end with the conversation, and do not record the answers that their sub-agents wait for.
    if (asked === '') await Bun.sleep(SUB_AGENT_MS)
    const [, page, spent] = (asked === '' && ANSWERED.exec(JSON.stringify(request))) || []
    const text = purpose === 'router' ? ROUTED : spent === undefined ? TEXT : `You spent ${spent}: ${page}`
    const tool = purpose === 'conversation' ? toolFor(asked, request) : undefined
    return answer({ model, streams: stream === true, number, service, text, tool }, counts)
  }
}

/** Longer than a sub-agent takes for one answer. */
const SUB_AGENT_MS = 1_000

const STANDARD = ['standard', 'default', 'auto']

/** How Gemini CLI asks which model should answer. */
const ROUTED = JSON.stringify({ reasoning: 'Short.', model_choice: 'flash' })
