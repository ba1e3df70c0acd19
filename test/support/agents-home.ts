/** A developer's home folder with the captured sessions where the agents keep them. */
import { cp, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Figures } from './agent-home.ts'

const FIXTURES = join(import.meta.dir, '../fixtures')

const CLAUDE_PROJECT = '.claude/projects/-home-dev-acme-web'

const CAPTURES = {
  'agents/claude-code/transcripts': '.claude/projects',
  'agents/codex/transcripts': '.codex/sessions',
  'agents/gemini-cli/transcripts': '.gemini/tmp',
}

export interface CapturedSession {
  agent: string
  sessionId: string
  /** The input of the agent's hook. */
  hook: string
}

export async function fillHome(home: string): Promise<void> {
  for (const [capture, place] of Object.entries(CAPTURES)) {
    await mkdir(join(home, place), { recursive: true })
    await cp(join(FIXTURES, capture), join(home, place), { recursive: true })
  }
}

/** The captured Claude Code session with one model, which has eleven lines. */
export const CLAUDE_SESSION = '1dba1a53-50e0-4d61-8169-800caba7ccfb'

export function claudeTranscript(home: string, sessionId = CLAUDE_SESSION): string {
  return join(home, CLAUDE_PROJECT, `${sessionId}.jsonl`)
}

export async function expectedUse(): Promise<Figures[]> {
  const all = JSON.parse(await readFile(join(FIXTURES, 'agents/expected.json'), 'utf8')) as Record<string, unknown>[]
  return all.map(({ reported_cost_otlp: _, ...used }) => used as unknown as Figures).sort(byName)
}

export function usedOf(entries: Record<string, unknown>[]): Figures[] {
  return entries
    .map(({ agent_harness, session_id, model, requests, tokens }) => {
      const { input, output, cache_read, cache_write, cache_write_1h } = tokens as Record<string, unknown>
      const counts = { input, output, cache_read, cache_write, cache_write_1h }
      return { agent_harness, session_id, model, requests, ...counts } as unknown as Figures
    })
    .sort(byName)
}

function byName(one: Figures, other: Figures): number {
  const name = ({ agent_harness, session_id, model }: Figures) => `${agent_harness} ${session_id} ${model}`
  return name(one).localeCompare(name(other), 'en')
}

/** The six captured sessions, with the input of their agents' hooks. */
export async function capturedSessions(home: string): Promise<CapturedSession[]> {
  const names = new Map((await expectedUse()).map(({ agent_harness, session_id }) => [session_id, agent_harness]))
  return [...names].map(([sessionId, agent]) => ({ agent, sessionId, hook: hookOf(agent, sessionId, home) }))
}

function hookOf(agent: string, sessionId: string, home: string): string {
  if (agent === 'codex') {
    return JSON.stringify({ type: 'agent-turn-complete', 'thread-id': sessionId, 'input-messages': ['secret prompt'] })
  }
  const isClaude = agent === 'claude-code'
  return JSON.stringify({
    session_id: sessionId,
    ...(isClaude ? { transcript_path: claudeTranscript(home, sessionId) } : {}),
    cwd: '/home/dev/acme-web',
    hook_event_name: isClaude ? 'Stop' : 'AfterAgent',
    last_assistant_message: 'secret answer',
  })
}
