/** The flags that describe an entry, or name a file that contains one. */
import { type Command, InvalidArgumentError } from 'commander'
import { moneyNumber, NANO_DIGITS, parseDecimal } from '../../lib/money.ts'
import { CommandError } from '../failures.ts'

/** Flags that describe an entry. */
export interface EntryFlags {
  file?: string
  harness?: string
  agent?: string
  model?: string
  startedAt?: string
  endedAt?: string
  input?: number
  output?: number
  cacheRead?: number
  cacheWrite?: number
  cacheWrite1h?: number
  inputIncludesCache?: boolean
  cost?: number
  summary?: string
  project?: string
  ticket?: string
  session?: string
  label?: Record<string, string>
  provider?: string
  requests?: number
  serviceTier?: string
  speed?: string
  region?: string
  tool?: Record<string, number>
}

export function parseCount(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Use a whole number, such as 1200.')
  return Number(text)
}

/** Exact to the nano-dollar, on its way to JSON. */
export function parseCost(text: string): number {
  const nanos = parseDecimal(text, NANO_DIGITS)
  if (nanos === undefined) throw new InvalidArgumentError('Use US dollars as a decimal number, such as 0.063354.')
  return moneyNumber(nanos)
}

/** For a flag that is repeated: `name=value`. */
export function collectLabel(text: string, before: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (name === undefined || value === undefined) {
    throw new InvalidArgumentError('Use name=value, such as repository=acme/web.')
  }
  return { ...before, [name]: value }
}

/** For a flag that is repeated: `name=count`. */
export function collectTool(text: string, before: Record<string, number> = {}): Record<string, number> {
  const [, name, uses] = /^([^=]+)=(\d{1,13})$/.exec(text) ?? []
  if (name === undefined) throw new InvalidArgumentError('Use name=count, such as web_search=3.')
  return Object.fromEntries([...Object.entries(before), [name, Number(uses)]])
}

/** Flags that describe an entry, and so cannot be combined with a file that contains one. */
const ENTRY_FLAGS = [
  'harness',
  'agent',
  'model',
  'startedAt',
  'endedAt',
  'input',
  'output',
  'cacheRead',
  'cacheWrite',
  'cacheWrite1h',
  'inputIncludesCache',
  'cost',
  'summary',
  'project',
  'ticket',
  'session',
  'label',
  'provider',
  'requests',
  'serviceTier',
  'speed',
  'region',
  'tool',
] as const satisfies (keyof EntryFlags)[]

const REQUIRED_FLAGS = [
  'harness',
  'agent',
  'model',
  'startedAt',
  'input',
  'output',
] as const satisfies (keyof EntryFlags)[]

function flagNames(names: readonly string[]): string {
  return names.map((name) => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`).join(', ')
}

function entryOfFlags(flags: EntryFlags): object {
  const missing = REQUIRED_FLAGS.filter((name) => flags[name] === undefined)
  if (missing.length > 0) {
    throw new CommandError(`Missing ${flagNames(missing)}. Add them, or pass the whole entry as JSON with --file.`, 2)
  }
  return {
    agent_harness: flags.harness,
    agent_name: flags.agent,
    model: flags.model,
    started_at: flags.startedAt,
    ended_at: flags.endedAt ?? new Date().toISOString(),
    tokens: {
      input: flags.input,
      output: flags.output,
      cache_read: flags.cacheRead,
      cache_write: flags.cacheWrite,
      cache_write_1h: flags.cacheWrite1h,
      input_includes_cache: flags.inputIncludesCache,
    },
    reported_cost: flags.cost,
    summary: flags.summary,
    project: flags.project,
    ticket: flags.ticket,
    session_id: flags.session,
    labels: flags.label,
    provider: flags.provider,
    requests: flags.requests,
    service_tier: flags.serviceTier,
    speed: flags.speed,
    region: flags.region,
    tools: flags.tool,
  }
}

async function entryOfFile(path: string): Promise<{ text: string; entry: object }> {
  const name = path === '-' ? 'Standard input' : path
  const text = await (path === '-' ? Bun.stdin : Bun.file(path)).text().catch((error: Error) => {
    throw new CommandError(`${name} cannot be read: ${error.message}.`)
  })
  let entry: unknown
  try {
    entry = JSON.parse(text)
  } catch (error) {
    throw new CommandError(`${name} is not valid JSON: ${(error as Error).message}.`)
  }
  if (Array.isArray(entry)) {
    throw new CommandError(
      `${name} contains a list, but this command sends one entry. To send a list, use POST /api/v1/token-entries/batch.`,
    )
  }
  if (typeof entry !== 'object' || entry === null) throw new CommandError(`${name} must contain one JSON object.`)
  // The text and not what was parsed of it: numbers keep every digit.
  return { text, entry }
}

/** The entry that the flags describe, or that is in the file that they name. */
export async function readEntry(flags: EntryFlags): Promise<{ text: string; entry: object }> {
  if (flags.file === undefined) {
    const entry = entryOfFlags(flags)
    return { text: JSON.stringify(entry), entry }
  }
  const beside = ENTRY_FLAGS.filter((name) => flags[name] !== undefined)
  if (beside.length > 0) {
    throw new CommandError(`--file contains the whole entry and cannot be combined with ${flagNames(beside)}.`, 2)
  }
  return entryOfFile(flags.file)
}

/** The flags of the five token counts. */
export function addCountFlags(command: Command): Command {
  return command
    .option('--input <count>', 'uncached input tokens', parseCount)
    .option('--output <count>', 'output tokens, including reasoning', parseCount)
    .option('--cache-read <count>', 'tokens read from the cache', parseCount)
    .option('--cache-write <count>', 'tokens written to the cache', parseCount)
    .option('--cache-write-1h <count>', 'tokens written to the cache for one hour (Anthropic)', parseCount)
}

/** The flags that describe an entry, or the file that contains it: for reports, and for drafts on a sheet. */
export function addEntryFlags(command: Command): Command {
  command
    .option('--file <path>', 'file with the whole entry as JSON, as in the API; - for standard input')
    .option('--harness <name>', 'agent harness: the application that ran the agent')
    .option('--agent <name>', 'name of the agent')
    .option('--model <name>', 'name of the model')
    .option('--started-at <timestamp>', 'session start, such as 2026-11-20T17:53:04Z')
    .option('--ended-at <timestamp>', 'session end (default: now)')
  return addCountFlags(command)
    .option('--input-includes-cache', 'the input count includes the cached tokens, as OpenAI and Gemini count')
    .option(
      '--cost <dollars>',
      'reported cost of the session in US dollars (default: the list value is used)',
      parseCost,
    )
    .option('--summary <text>', 'one line about what the session did')
    .option('--project <name>', 'project for the entry, created if it is new')
    .option('--ticket <key>', 'ticket for the entry, created if it is new')
    .option('--label <name=value>', 'label, repeatable', collectLabel)
    .option('--provider <name>', 'provider of the model, if it is not its maker')
    .option('--requests <count>', 'model calls in the session', parseCount)
    .option('--service-tier <name>', 'service tier, such as batch, flex or priority (default: standard)')
    .option('--speed <name>', 'speed, such as fast (default: standard)')
    .option('--region <name>', 'region, if the vendor charges by region, such as us')
    .option('--tool <name=count>', 'charged uses of a tool, such as web_search=3, repeatable', collectTool)
}
