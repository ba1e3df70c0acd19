/**
 * The agents whose usage Tally reads, the ways to connect each, what each way does not count, and agents that are not read:
 * the lists on the page Connect an agent, and in docs/connect/overview.md. The keys of those that are read are the values of
 * `agent_harness`, so that hooks, scans and telemetry report the same session under the same name.
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

/** An agent that people look for, and whose usage Tally does not read. */
export interface UnreadAgent {
  title: string
  program: string
  /** Below the home folder; one that exists shows that the agent is on the machine. */
  folders: string[]
  /** Why, in a sentence. */
  reason: string
}

/** Nothing of them is estimated from the text of conversations. */
export const UNREAD_AGENTS: Record<string, UnreadAgent> = {
  amp: {
    title: 'Amp',
    program: 'amp',
    folders: ['.local/share/amp'],
    reason: 'It records totals of a session alone, without its sub-agents.',
  },
  antigravity: {
    title: 'Antigravity',
    program: 'agy',
    folders: ['.gemini/antigravity', '.gemini/antigravity-cli'],
    reason: 'Its conversations are in a binary format that is not documented, and in part encrypted.',
  },
  crush: {
    title: 'Crush',
    program: 'crush',
    folders: ['.local/share/crush'],
    reason: 'It overwrites the token counts of a session with those of the latest request.',
  },
  cursor: {
    title: 'Cursor',
    program: 'cursor-agent',
    folders: ['.cursor'],
    reason: 'Its token counts are in the account, and not complete on the machine.',
  },
  droid: {
    title: 'Droid',
    program: 'droid',
    folders: ['.factory'],
    reason: 'It records totals of a session alone, without its sub-agents.',
  },
  junie: {
    title: 'Junie',
    program: 'junie',
    folders: ['.junie'],
    reason: 'What it records could not be compared with what its models were used for.',
  },
  'mistral-vibe': {
    title: 'Mistral Vibe',
    program: 'vibe',
    folders: ['.vibe'],
    reason: 'It keeps one sum of a session, without models and days.',
  },
  'roo-code': {
    title: 'Roo Code',
    program: 'roo',
    folders: ['Code', 'Code - Insiders'].flatMap((application) =>
      ['.config', 'Library/Application Support', 'AppData/Roaming'].map(
        (folder) => `${folder}/${application}/User/globalStorage/rooveterinaryinc.roo-cline`,
      ),
    ),
    reason: 'It was discontinued in May 2026, and what it left is not read.',
  },
  zed: {
    title: 'Zed',
    program: 'zed',
    folders: ['.local/share/zed/threads', 'Library/Application Support/Zed/threads', 'AppData/Local/Zed/threads'],
    reason: 'It keeps token counts of a thread without the time and the model of each request.',
  },
}

/**
 * What a report of the limits of a plan may contain: more limits than any agent has, windows of up to a year, and more than all of
 * a limit, since agents let people exceed some.
 */
export const LIMIT_BOUNDS = { limits: 20, windowMinutes: 527_040, percent: 1_000, credits: 1_000_000_000 }
