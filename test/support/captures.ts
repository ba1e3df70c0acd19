/** The captured sessions of every agent where it keeps them, and what the model servers sent, added up. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentName } from '../../src/agents/agent.ts'
import { type AgentHome, FIXTURES, type Row } from './agent-home.ts'

export interface Totals {
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
}

const json = (path: string) => JSON.parse(readFileSync(join(FIXTURES, path), 'utf8'))

const CLAUDE = '.claude/projects/-home-dev-acme-web'

const OPENCODE_SCHEMA = 'cases/opencode/opencode-db-schema.sql'

/** By the path of the fixture; a folder with all that is in it. */
const FILES: Record<string, string> = {
  'agents/claude-code/transcripts': '.claude/projects',
  'cases/claude-code-tool/run1-tool.jsonl': `${CLAUDE}/03972874-e855-4118-acc5-97716d8242aa.jsonl`,
  'cases/claude-code-fork/run4-fork.jsonl': `${CLAUDE}/84ccdd11-9477-43e3-939c-15f566b18ba9.jsonl`,
  'cases/claude-code-subagent/run3-main-with-subagent.jsonl': `${CLAUDE}/5471ecff-bc32-4b73-b4ff-d30268a35a61.jsonl`,
  'cases/claude-code-subagent/agent-a8b646202984886b8.jsonl': `${CLAUDE}/5471ecff-bc32-4b73-b4ff-d30268a35a61/subagents/agent-a8b646202984886b8.jsonl`,
  'cases/claude-code-two-days/run1-two-days.jsonl': `${CLAUDE}/6418176a-ff03-4703-b7ca-38e50b268024.jsonl`,
  'cases/claude-code-compact/compacted.jsonl': `${CLAUDE}/b62ca140-f796-4ed9-8015-2c05e7b2fc95.jsonl`,
  'cases/claude-code-compact/fork.jsonl': `${CLAUDE}/0eb1e74c-07b0-41e6-90ef-f80f30b7f873.jsonl`,
  'cases/cline/sessions': '.cline/data/sessions',
  'agents/codex/transcripts': '.codex/sessions',
  'cases/codex-hooks/codex-0.169.0-run2-resumed.jsonl':
    '.codex/sessions/2026/11/20/rollout-2026-11-20T17-54-15-01a1fa18-3e35-7d51-80d0-978a660e9e1f.jsonl',
  'agents/gemini-cli/transcripts': '.gemini/tmp',
  'cases/gemini-cli-tool/session-2026-11-20T17-55-98d86c96.jsonl':
    '.gemini/tmp/gproj/chats/session-2026-11-20T17-55-98d86c96.jsonl',
  'cases/github-copilot/session-state': '.copilot/session-state',
  'cases/grok': '.grok/sessions',
  'cases/kimi-code': '.kimi-code/sessions',
  'cases/openclaw/2026.5.19': '.openclaw/agents/main/sessions',
  'cases/openhands': '.openhands/conversations',
  'cases/pi': '.pi/agent/sessions/--home-dev-acme-web--',
  'cases/qwen-code/947158b7-b45d-419a-9d7d-25a1ee1e37f7.jsonl':
    '.qwen/projects/-home-dev-qproj/chats/947158b7-b45d-419a-9d7d-25a1ee1e37f7.jsonl',
  'cases/qwen-code/usage_record.jsonl': '.qwen/usage_record.jsonl',
}

/** Goose's rows, with the columns of messages that were left out. */
function gooseRows(): Record<string, Row[]> {
  const { messages, ...others } = json('cases/goose/rows.json') as { messages: Row[] }
  const left = (row: Row) => ({ message_id: `message-${row.id}`, timestamp: null, tokens: null })
  return { ...others, messages: messages.map((row) => ({ ...row, ...left(row) })) }
}

/** OpenClaw's rows, none of them compressed. */
function openclawRows(): Record<string, Row[]> {
  const { transcript_events, ...others } = json('cases/openclaw/rows.json') as Record<string, Row[]>
  const asText = ({ event, is_compressed: _, ...row }: Row) => ({ ...row, event_json: JSON.stringify(event) })
  return { ...others, transcript_events: transcript_events!.map(asText) }
}

/** Kilo's rows. What its reader does not need was left out; the other columns are those of opencode. */
function kiloRows(): Record<'session' | 'message', Row[]> {
  const { session, message } = json('cases/kilo/rows.json') as Record<'session' | 'message', Stamped[]>
  const updated = (row: Stamped) => ({ time_updated: row.time_created, ...row })
  return {
    session: session.map((row) => ({ project_id: 'acme-web', slug: row.id, version: '7.7.9', ...updated(row) })),
    message: message.map(updated),
  }
}

interface Stamped extends Row {
  id: string
  time_created: number
}

/**
 * What the model servers sent, added up from `expected.json`, README.md and the tests of each reader. How long cache
 * writes last is left out, because not every agent records it.
 */
export const SERVED: Record<AgentName, Totals> = {
  'claude-code': { input: 11_592, output: 3_280, cacheRead: 393_982, cacheWrite: 46_025 },
  cline: { input: 52_248, output: 5_253, cacheRead: 47_893, cacheWrite: 0 },
  codex: { input: 10_866, output: 3_048, cacheRead: 22_800, cacheWrite: 0 },
  'gemini-cli': { input: 13_645, output: 2_055, cacheRead: 8_451, cacheWrite: 0 },
  'github-copilot': { input: 14_042, output: 1_474, cacheRead: 65_287, cacheWrite: 4_810 },
  goose: { input: 7_155, output: 1_165, cacheRead: 36_085, cacheWrite: 1_110 },
  grok: { input: 6_122, output: 966, cacheRead: 30_854, cacheWrite: 370 },
  hermes: { input: 5_015, output: 545, cacheRead: 25_105, cacheWrite: 0 },
  kilo: { input: 5_038, output: 614, cacheRead: 25_266, cacheWrite: 0 },
  'kimi-code': { input: 5_015, output: 545, cacheRead: 25_105, cacheWrite: 1_480 },
  openclaw: { input: 9_050, output: 1_050, cacheRead: 45_350, cacheWrite: 370 },
  opencode: { input: 780, output: 94, cacheRead: 1_024, cacheWrite: 0 },
  openhands: { input: 5_061, output: 683, cacheRead: 25_427, cacheWrite: 0 },
  pi: { input: 52_864, output: 10_999, cacheRead: 490_370, cacheWrite: 98_353 },
  'qwen-code': { input: 1_555, output: 183, cacheRead: 2_048, cacheWrite: 0 },
}

export function layOutCaptures(home: AgentHome): void {
  for (const [fixture, place] of Object.entries(FILES)) home.copy(fixture, place)
  const copilot = readFileSync(join(FIXTURES, 'cases/github-copilot/session-store.sql'), 'utf8')
  home.writeDatabase('.copilot/session-store.db', {}, copilot).close()
  home.writeDatabase('.local/share/goose/sessions/sessions.db', gooseRows()).close()
  const opencode = readFileSync(join(FIXTURES, OPENCODE_SCHEMA), 'utf8')
  home.writeDatabase('.local/share/kilo/kilo.db', kiloRows(), opencode).close()
  home.writeDatabase('.hermes/state.db', json('cases/hermes/rows.json')).close()
  home.writeDatabase('.openclaw/agents/main/agent/openclaw-agent.sqlite', openclawRows()).close()
  const tables = {
    session: json('cases/opencode/opencode-db-session-rows.json'),
    message: json('cases/opencode/opencode-db-message-rows.json'),
  }
  home.writeDatabase('.local/share/opencode/opencode.db', tables, opencode).close()
}
