/**
 * Session files as Claude Code writes them: sessions with sub-agents, content blocks that repeat their message, tool
 * results, forks and resumed sessions. The same seed makes the same bytes.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Random } from './random.ts'

/** Common models, so that both programs know their prices. */
const MODELS = ['claude-sonnet-4-5-20250929', 'claude-opus-4-5-20251101', 'claude-haiku-4-5-20251001']

const PROJECTS = 40
const LINES_A_SESSION = 400

/** Words of tool results and answers: text with quotes, escapes and letters beyond ASCII, as code has them. */
const WORDS = [
  'const',
  'return',
  'await',
  'the',
  'of',
  'request',
  '\\"usage\\":{',
  'naïve',
  '→',
  '\\n',
  '\\t',
  'export',
  'function',
  'if',
  '(value)',
  '=>',
  'src/app.ts',
  'test',
  'passes',
  'error:',
  'undefined',
  '日本',
  '{}',
  '[]',
  '\\\\',
  'import',
]

export interface Corpus {
  lines: number
  bytes: number
  sessions: number
}

interface Writing {
  random: Random
  lines: string[]
  session: string
  folder: string
  branch: string
  /** Time of the last line, in milliseconds. */
  now: number
  parent: string | null
}

function text(random: Random, words: number): string {
  const chosen: string[] = []
  for (let word = 0; word < words; word++) chosen.push(random.pick(WORDS))
  return chosen.join(' ')
}

function id(random: Random): string {
  return random.uuid()
}

function envelope(writing: Writing, type: string, own: string, isSidechain: boolean): string {
  const uuid = id(writing.random)
  const line = `{"parentUuid":${writing.parent === null ? 'null' : `"${writing.parent}"`},"isSidechain":${isSidechain},${own},"type":"${type}","uuid":"${uuid}","timestamp":"${new Date(writing.now).toISOString()}","userType":"external","entrypoint":"cli","cwd":"${writing.folder}","sessionId":"${writing.session}","version":"2.1.197","gitBranch":"${writing.branch}"}`
  writing.parent = uuid
  return line
}

/** One response of the model: a line per content block, each with the usage so far. */
function answer(writing: Writing, isSidechain: boolean): void {
  const { random } = writing
  const model = random.pick(MODELS)
  const message = `msg_${id(random).replaceAll('-', '').slice(0, 24)}`
  const request = `req_${id(random).replaceAll('-', '').slice(0, 24)}`
  const input = random.below(60)
  const read = random.below(120_000)
  const [short, long] = [random.below(3_000), random.below(10) === 0 ? random.below(2_000) : 0]
  const blocks = 1 + random.below(3)
  let output = 1 + random.below(10)
  for (let block = 0; block < blocks; block++) {
    writing.now += random.below(3_000)
    if (block === blocks - 1) output += random.below(800)
    const usage = `{"input_tokens":${input},"cache_creation_input_tokens":${short + long},"cache_read_input_tokens":${read},"cache_creation":{"ephemeral_5m_input_tokens":${short},"ephemeral_1h_input_tokens":${long}},"output_tokens":${output},"service_tier":"standard"}`
    const content = random.below(2)
      ? `{"type":"text","text":"${text(random, 6)}"}`
      : `{"type":"tool_use","id":"toolu_${message.slice(4)}","name":"Bash","input":{"command":"${text(random, 3)}"}}`
    writing.lines.push(
      envelope(
        writing,
        'assistant',
        `"message":{"model":"${model}","id":"${message}","type":"message","role":"assistant","content":[${content}],"stop_reason":null,"stop_sequence":null,"usage":${usage}},"requestId":"${request}"`,
        isSidechain,
      ),
    )
  }
}

function turn(writing: Writing, isSidechain: boolean): void {
  const { random } = writing
  writing.now += random.below(60_000)
  // The client's own notes, which have no tokens.
  if (random.chance(0.5)) {
    const at = new Date(writing.now).toISOString()
    writing.lines.push(
      `{"type":"queue-operation","operation":"enqueue","timestamp":"${at}","sessionId":"${writing.session}","content":"${text(random, 2)}"}`,
    )
  }
  const result = text(random, 2 + random.below(16))
  writing.lines.push(
    envelope(
      writing,
      'user',
      `"message":{"role":"user","content":[{"tool_use_id":"toolu_x","type":"tool_result","content":"${result}"}]},"toolUseResult":{"stdout":"${text(random, 3)}","stderr":"","interrupted":false}`,
      isSidechain,
    ),
  )
  answer(writing, isSidechain)
}

/** Writes this many lines to a folder that is laid out like Claude Code's `projects`. */
export async function writeCorpus(projects: string, lineCount: number, seed = 1): Promise<Corpus> {
  const random = new Random(seed)
  const corpus: Corpus = { lines: 0, bytes: 0, sessions: 0 }
  const write = async (path: string, lines: string[]) => {
    const content = `${lines.join('\n')}\n`
    corpus.lines += lines.length
    corpus.bytes += Buffer.byteLength(content)
    await Bun.write(path, content)
  }
  while (corpus.lines < lineCount) {
    const project = random.below(PROJECTS)
    const place = join(projects, `-home-dev-project-${project}`)
    await mkdir(place, { recursive: true })
    const writing: Writing = {
      random,
      lines: [],
      session: id(random),
      folder: `/home/dev/project-${project}`,
      branch: `feature/ACME-${random.below(90)}`,
      now: Date.parse('2026-06-01T00:00:00Z') + random.below(150 * 86_400_000),
      parent: null,
    }
    const wanted = Math.min(lineCount - corpus.lines, 1 + random.below(2 * LINES_A_SESSION))
    while (writing.lines.length < wanted) turn(writing, false)
    await write(join(place, `${writing.session}.jsonl`), writing.lines)
    corpus.sessions += 1
    if (random.below(4) === 0) {
      const agent: Writing = { ...writing, lines: [], parent: null }
      for (let line = 0; line < 30; line++) turn(agent, true)
      await write(join(place, writing.session, 'subagents', `agent-${id(random).slice(0, 8)}.jsonl`), agent.lines)
    }
    if (random.below(20) === 0) {
      const fork = id(random)
      const copied = writing.lines.slice(0, 60).map((line) => line.replaceAll(writing.session, fork))
      const forked: Writing = { ...writing, session: fork, lines: copied, now: writing.now + 60_000 }
      for (let line = 0; line < 20; line++) turn(forked, false)
      await write(join(place, `${fork}.jsonl`), forked.lines)
      corpus.sessions += 1
    }
  }
  return corpus
}
