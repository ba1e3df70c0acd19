/**
 * Called by an agent when a session has used tokens. The agent waits for it, so it only adds the session to the
 * spool and starts a sender; errors never reach the agent.
 */
import type { AgentsEnvironment } from '../config.ts'
import { AGENT_NAMES, type AgentName } from './agent.ts'
import { log, noteHook } from './journal.ts'
import { isHeld, senderLockPath } from './sender-lock.ts'
import { addJob } from './spool.ts'
import { stateFolder } from './state-folder.ts'

/**
 * An agent that leaves standard input open must not wait until its own timeout, which is at worst 1.5 s (Claude Code).
 */
const INPUT_DEADLINE_MS = 1_000

/**
 * Gemini CLI includes the prompt and the answer. Anything longer than a conversation can be does not come from an
 * agent.
 */
const INPUT_LIMIT_BYTES = 64 * 1024 * 1024

/** The limit of the server. */
const LONGEST_SESSION_ID = 200

export interface HookCall {
  /** The arguments after `tally agents hook`. */
  args: string[]
  environment: AgentsEnvironment
  /** The server named by this environment; null for the server of `tally agents login`. */
  server: string | null
  /** Starts the sender, in the background. */
  sender: string[]
  input: () => ReadableStream<Uint8Array>
}

interface Payload {
  sessionId: string
  transcriptPath: string | null
  event: string
}

/** Never throws. Prints errors to standard error for people who try it; agents do not show them. */
export async function runHook(call: HookCall): Promise<void> {
  const reportIssue = (issue: string) => {
    const message = `tally agents hook ${call.args[0] ?? ''}: ${issue}`
    log(call.environment, message)
    process.stderr.write(`${message}\n`)
  }
  try {
    const { agent, chained, argument } = readArguments(call.args)
    // An error in one of the two must not affect the other.
    if (chained.length > 0) startChained(chained, argument, reportIssue)
    noteSession(call, agent, readPayload(argument ?? (await readInput(call.input()))))
  } catch (error) {
    reportIssue((error as Error).message)
  }
}

function startChained(command: string[], argument: string | undefined, reportIssue: (issue: string) => void): void {
  try {
    startDetached(argument === undefined ? command : [...command, argument])
  } catch (error) {
    reportIssue(`cannot start ${command[0]}: ${(error as Error).message}`)
  }
}

function noteSession({ environment, server, sender }: HookCall, agent: AgentName, payload: Payload): void {
  const at = new Date().toISOString()
  const { sessionId, transcriptPath, event } = payload
  addJob(environment, { agent, sessionId, transcriptPath, event, at, server, environment })
  noteHook(environment, agent, { at, event })
  // A running sender checks the spool again before it ends. Not in the agent's folder, which may be removed.
  if (!isHeld(senderLockPath(environment, server))) startDetached(sender, { cwd: stateFolder(environment) })
}

/**
 * `<agent> [--then <command> <argument>…] [<JSON>]`: `--then` is followed by the program that was configured before
 * Tally.
 */
function readArguments(args: string[]): { agent: AgentName; chained: string[]; argument: string | undefined } {
  const [name, ...rest] = args
  const agent = AGENT_NAMES.find((each) => each === name)
  if (!agent) throw new Error(`'${name ?? ''}' is not a known agent. Use one of ${AGENT_NAMES.join(', ')}`)
  const chained = rest[0] === '--then' ? rest.slice(1) : rest
  const argument = chained.at(-1)?.trimStart().startsWith('{') ? chained.pop() : undefined
  if (rest[0] !== '--then' && chained.length > 0) throw new Error(`unexpected argument '${chained[0]}'`)
  return { agent, chained, argument }
}

function readPayload(text: string): Payload {
  let payload: Record<string, unknown> | null
  try {
    payload = JSON.parse(text)
  } catch {
    throw new Error(
      'the input is not valid JSON; this command is meant to be called by agents, with the data of a session',
    )
  }
  // The first names are used by hooks, the others by Codex's `notify`.
  const sessionId = payload?.session_id ?? payload?.['thread-id']
  if (typeof sessionId !== 'string' || sessionId === '' || sessionId.length > LONGEST_SESSION_ID) {
    throw new Error('the input has no valid session id')
  }
  const path = payload?.transcript_path
  return {
    sessionId,
    transcriptPath: typeof path === 'string' && path !== '' ? path : null,
    event: String(payload?.hook_event_name ?? payload?.type ?? 'unknown').slice(0, 100),
  }
}

/** Reads until the stream ends or the JSON is complete: not every agent closes it. */
export async function readInput(stream: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stream.getReader()
  const deadline = Bun.sleep(INPUT_DEADLINE_MS).then(() => ({ done: true, value: undefined }) as const)
  const chunks: Uint8Array[] = []
  let bytes = 0
  for (;;) {
    const { done, value } = await Promise.race([reader.read(), deadline])
    if (value) {
      chunks.push(value)
      bytes += value.length
    }
    if (done || bytes > INPUT_LIMIT_BYTES) break
    const text = Buffer.concat(chunks).toString()
    if (text.trimEnd().endsWith('}') && isJson(text)) break
  }
  return Buffer.concat(chunks).toString()
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** In a session of its own, so that it outlives the agent and its terminal. Not niced: it would starve on a loaded machine. */
function startDetached(command: string[], place: { cwd?: string } = {}): void {
  Bun.spawn(command, { ...place, detached: true, stdio: ['ignore', 'ignore', 'ignore'] }).unref()
}
