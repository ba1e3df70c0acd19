/**
 * The agents whose usage Tally reads, the ways to connect each, and what each way does not count: the list on the page
 * Connect an agent, and that in docs/connect/overview.md. Their keys are the values of `agent_harness`, so that hooks,
 * scans and telemetry report the same session under the same name.
 */

export type Way = 'telemetry' | 'hook' | 'files'

export const WAY_NAMES: Record<Way, string> = {
  telemetry: 'Telemetry',
  hook: 'Hook',
  files: 'Session files',
}

export interface AgentFacts {
  title: string
  /** The command that starts it. */
  program: string
  /** Another agent with the same session files. */
  fork?: string
  /**
   * The ways, each with what it does not count: empty if no request is known to be missing. Telemetry besides lacks what an
   * agent could not send.
   */
  ways: Partial<Record<Way, string>>
}

const facts = <Name extends string>(agents: Record<Name, AgentFacts>) => agents

export const AGENTS = facts({
  'claude-code': {
    title: 'Claude Code',
    program: 'claude',
    ways: {
      telemetry: 'web searches',
      hook: 'web searches and /compact of sessions that are killed',
      files: 'web searches and /compact of sessions that are killed',
    },
  },
  cline: { title: 'Cline', program: 'cline', ways: { files: 'cancelled requests, and summaries' } },
  codex: {
    title: 'Codex',
    program: 'codex',
    ways: { telemetry: 'service tiers and web searches', hook: '', files: '' },
  },
  'gemini-cli': {
    title: 'Gemini CLI',
    program: 'gemini',
    ways: {
      telemetry: '',
      hook: 'requests that choose the model or compress the conversation',
      files: 'sessions that it has deleted, and requests that choose the model or compress the conversation',
    },
  },
  'github-copilot': {
    title: 'GitHub Copilot CLI',
    program: 'copilot',
    ways: {
      telemetry: 'compactions and cancelled requests',
      hook: 'cancelled requests',
      files: 'cancelled requests, and sessions before version 1.0.77',
    },
  },
  goose: { title: 'Goose', program: 'goose', ways: { files: 'requests for titles' } },
  grok: {
    title: 'Grok CLI',
    program: 'grok',
    ways: {
      hook: 'requests for titles and summaries, and turns that failed',
      files: 'requests for titles and summaries, and turns that failed',
    },
  },
  hermes: { title: 'Hermes Agent', program: 'hermes', ways: { files: 'requests outside of conversations' } },
  kilo: { title: 'Kilo', program: 'kilo', ways: { hook: 'requests for titles', files: 'requests for titles' } },
  'kimi-code': {
    title: 'Kimi Code',
    program: 'kimi',
    ways: { hook: 'cancelled requests', files: 'cancelled requests' },
  },
  opencode: {
    title: 'opencode',
    program: 'opencode',
    ways: {
      telemetry: 'the last requests of “opencode run”',
      hook: 'requests for titles',
      files: 'requests for titles',
    },
  },
  openclaw: {
    title: 'OpenClaw',
    program: 'openclaw',
    ways: { files: 'summaries and cancelled requests' },
  },
  openhands: { title: 'OpenHands', program: 'openhands', ways: { files: 'cancelled requests' } },
  pi: {
    title: 'Pi',
    program: 'pi',
    fork: 'Oh My Pi',
    ways: {
      hook: 'cancelled requests, and sessions without a file',
      files: 'cancelled requests, and sessions without a file',
    },
  },
  'qwen-code': { title: 'Qwen Code', program: 'qwen', ways: { telemetry: '', files: '' } },
})

export type AgentName = keyof typeof AGENTS

export const AGENT_NAMES = Object.keys(AGENTS) as AgentName[]
