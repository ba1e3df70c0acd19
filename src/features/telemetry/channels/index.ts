/** All channels that agents report usage through. Pure: runs on the decoding thread, without a database. */
import type { Attributes, SignalFilter } from '../signals.ts'
import type { Agent } from './agent.ts'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import { geminiCli } from './gemini-cli.ts'
import { genAi } from './gen-ai.ts'
import { isLabelName, PROJECT_NAMES, TICKET_NAMES } from './labels.ts'
import { qwenCode } from './qwen-code.ts'

/** The general conventions come last: an agent's own spans are read by its own reader. */
export const AGENTS: readonly Agent[] = [claudeCode, codex, geminiCli, qwenCode, genAi]

/** By name, the first agent that has a reader for it. */
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

/** Where the conventions for generative AI put counts: an attribute there that no reader knows may be use that is not counted. */
const USAGES = ['gen_ai.usage.', 'llm.token_count.']
const isUsage = (name: string) => USAGES.some((usage) => name.startsWith(usage))

const ATTRIBUTES = new Set(AGENTS.flatMap(({ attributes, version }) => [...attributes, ...(version ? [version] : [])]))

/** Resource attributes that are read in addition to labels. */
const RESOURCE_ATTRIBUTES = new Set<string>([
  'service.name',
  'service.instance.id',
  'service.version',
  'session.id',
  'user.email',
  ...PROJECT_NAMES,
  ...TICKET_NAMES,
])

export const signalFilter: SignalFilter = {
  log: (eventName) => LOGS.has(eventName),
  metric: (name) => METRICS.has(name),
  span: (name, has) => SPANS.some(({ reader }) => reader.matches(name, has)),
  attribute: (name) => ATTRIBUTES.has(name) || isUsage(name),
  resourceAttribute: (name) => RESOURCE_ATTRIBUTES.has(name) || isLabelName(name),
}

/** The names of attributes that seem to be counts and that no reader knows. */
export const unknownCounts = (attributes: Attributes): string[] =>
  [...attributes.keys()].filter((name) => isUsage(name) && !ATTRIBUTES.has(name))

/** Why records of this name, or attributes, are not counted although they look like usage. */
export function reasonNotCounted(name: string): string | undefined {
  if (isUsage(name)) return 'attribute that Tally does not know; the other counts of these records are counted'
  return UNCOUNTED.get(name)?.reader
}
