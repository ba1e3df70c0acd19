/** `tally entries report`: sends one entry to a server through the API, and retries until it is acknowledged. */
import { type Command, InvalidArgumentError } from 'commander'
import { readClientConfig } from '../../config.ts'
import type { TokenEntry } from '../../features/entries/schema.ts'
import { numberText, parseExactJson } from '../../lib/exact-json.ts'
import { moneyNumber, NANO_DIGITS, parseDecimal } from '../../lib/money.ts'
import { CommandError } from '../failures.ts'
import { examples, optionOf } from '../flags/options.ts'
import { note, print } from '../terminal/print.ts'
import { deliver } from './delivery.ts'

/** Flags that say an entry. */
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
}

interface ReportFlags extends EntryFlags {
  url?: string
  token?: string
  tokenFile?: string
  json?: boolean
}

function parseCount(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Use a whole number, such as 1200.')
  return Number(text)
}

/** Exact to the nano-dollar, on its way to JSON. */
function parseCost(text: string): number {
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

/** What the flags say, or the file that they name. */
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

function costOf(entry: TokenEntry): string {
  if (entry.cost === null)
    return `unpriced: no cost was reported, and the price table has no price for '${entry.model}'`
  const basis = entry.reported_cost === null ? 'list value' : 'as reported'
  return `$${numberText(entry as { cost: number }, 'cost')} (${basis})`
}

function placeOf({ project, ticket, placement }: TokenEntry): string {
  const place = [project?.key, ticket && `ticket ${ticket.key}`].filter(Boolean).join(', ') || 'unattributed'
  return placement.note === null ? place : `${place} – ${placement.note}`
}

/** The flags that describe an entry, or the file that contains it: for reports, and for drafts on a sheet. */
export function addEntryFlags(command: Command): Command {
  return command
    .option('--file <path>', 'file with the whole entry as JSON, as in the API; - for standard input')
    .option('--harness <name>', 'agent harness: the application that ran the agent')
    .option('--agent <name>', 'name of the agent')
    .option('--model <name>', 'name of the model')
    .option('--started-at <timestamp>', 'session start, such as 2026-11-20T17:53:04Z')
    .option('--ended-at <timestamp>', 'session end (default: now)')
    .option('--input <count>', 'uncached input tokens', parseCount)
    .option('--output <count>', 'output tokens, including reasoning', parseCount)
    .option('--cache-read <count>', 'tokens read from the cache', parseCount)
    .option('--cache-write <count>', 'tokens written to the cache', parseCount)
    .option('--cache-write-1h <count>', 'tokens written to the cache for one hour (Anthropic)', parseCount)
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
}

export function addReportCommand(entries: Command): void {
  addEntryFlags(
    entries
      .command('report')
      .description('Send one entry to a server, from flags, a JSON file or standard input')
      .addOption(optionOf('url'))
      .addOption(optionOf('token'))
      .addOption(optionOf('tokenFile')),
  )
    .option('--session <id>', 'session id; the counts are totals so far and update the entry of the session')
    .option('--json', 'print the entry as JSON, as returned by the server')
    .addHelpText(
      'after',
      examples(
        'tally entries report --harness codex --agent reviewer --model gpt-5-codex --started-at 2026-11-20T17:53:04Z --input 6153 --output 1421 --cache-read 12150 --project acme-web',
        'tally entries report --file session.json --url http://tally.lan:4747',
        'jq -n "$ENTRY" | TALLY_TOKEN=tally_svc_… tally entries report --file - --json',
      ),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<ReportFlags>()
      const config = readClientConfig(flags)
      const { text, entry } = await readEntry(flags)
      const { created, answer } = await deliver(config, text, {
        inSession: 'session_id' in entry && Boolean(entry.session_id),
      })
      if (flags.json) return print(answer)
      const made = parseExactJson(answer) as TokenEntry
      print(
        `${created ? 'Created' : 'Already reported, up to date:'} ${made.id} (${made.agent_manager.name}, ${made.status})`,
      )
      print(`  cost   ${costOf(made)}`)
      print(`  place  ${placeOf(made)}`)
      // Without a session each run has an idempotency key of its own, and counts as meant.
      if (made.possible_duplicate_of !== null) {
        note(
          `Another person's session has the same id: see ${made.possible_duplicate_of}. Both are kept. Use unique session ids, such as UUIDs.`,
        )
      }
    })
}
