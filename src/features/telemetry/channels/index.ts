/** Every channel by which agents tell what they used. Pure: runs on the decoding thread and knows no database. */
import type { Wanted } from '../signals.ts'
import type { Agent } from './agent.ts'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import { geminiCli } from './gemini-cli.ts'
import { genAi } from './gen-ai.ts'
import { isLabelName, PROJECT_NAMES, TICKET_NAMES } from './labels.ts'
import { qwenCode } from './qwen-code.ts'

/** The general conventions last: an agent's own span is read by its own reader. */
export const AGENTS: readonly Agent[] = [claudeCode, codex, geminiCli, qwenCode, genAi]

/** The first agent that has something under this name. */
function indexed<Reader>(of: (agent: Agent) => Readonly<Record<string, Reader>> | undefined) {
  const index = new Map<string, { agent: Agent; reader: Reader }>()
  for (const agent of AGENTS) {
    for (const [name, reader] of Object.entries(of(agent) ?? {})) {
      if (!index.has(name)) index.set(name, { agent, reader })
    }
  }
  return index
}

export const LOGS = indexed(({ logs }) => logs)
export const METRICS = indexed(({ metrics }) => metrics)
export const SPANS = AGENTS.flatMap((agent) => (agent.spans ? [{ agent, reader: agent.spans }] : []))
const UNCOUNTED = indexed(({ uncounted }) => uncounted)

const ATTRIBUTES = new Set(AGENTS.flatMap(({ attributes, version }) => [...attributes, ...(version ? [version] : [])]))

/** What every resource may say, besides labels. */
const RESOURCE_ATTRIBUTES = new Set<string>([
  'service.name',
  'service.version',
  'session.id',
  'user.email',
  ...PROJECT_NAMES,
  ...TICKET_NAMES,
])

export const wanted: Wanted = {
  log: (eventName) => LOGS.has(eventName),
  metric: (name) => METRICS.has(name),
  span: (name, has) => SPANS.some(({ reader }) => reader.wants(name, has)),
  attribute: (name) => ATTRIBUTES.has(name),
  resourceAttribute: (name) => RESOURCE_ATTRIBUTES.has(name) || isLabelName(name),
}

/** Why records of that name are not counted, though they may look as if they should be. */
export function reasonNotCounted(name: string): string | undefined {
  return UNCOUNTED.get(name)?.reader
}
