/** The one place where what a command throws becomes a message and an exit code. */
import { type Command, CommanderError } from 'commander'
import { ConfigError } from '../config.ts'
import { WrongDatabase } from '../database/wrong-database.ts'
import { type Issue, Problem } from '../errors.ts'
import { flagOfField } from './flags/fields.ts'
import { NONE } from './flags/none.ts'
import { escaped } from './terminal/escaped.ts'
import { inCommands } from './wording.ts'

export const EXIT_DONE = 0
/** Refused or failed: the message says why and what to do. */
const EXIT_FAILED = 1
/** The command line itself is wrong. */
export const EXIT_USAGE = 2
/** A budget is used up, as `tally budgets check` was asked to find out. */
export const EXIT_USED_UP = 3
/** Everything else was done, but a part of the input could not be read. */
export const EXIT_INCOMPLETE = 4

/** An error raised by the command line itself. */
export class CommandError extends Error {
  constructor(
    message: string,
    readonly exitCode = EXIT_FAILED,
  ) {
    super(message)
  }
}

interface Failure {
  message: string
  exitCode: number
}

async function failureOf(error: unknown, command: Command | undefined): Promise<Failure> {
  if (error instanceof CommandError) return { message: error.message, exitCode: error.exitCode }
  if (error instanceof ConfigError) return { message: error.message, exitCode: EXIT_USAGE }
  if (error instanceof Problem) return problemFailure(error, command)
  if (!(error instanceof Error)) return { message: String(error), exitCode: EXIT_FAILED }
  if (error instanceof WrongDatabase) return { message: error.message, exitCode: EXIT_FAILED }
  // By its name: its module brings encryption along.
  if (error.name === 'BackupError') return { message: error.message, exitCode: EXIT_FAILED }
  return { message: systemMessage(error) ?? unexpected(error), exitCode: EXIT_FAILED }
}

/**
 * What a flag or argument says may be wrong usage; the contents of a file may not, and neither may the name of something
 * that does not exist: another command may create it.
 */
function problemFailure({ detail, more: { issues = [] } }: Problem, command: Command | undefined): Failure {
  if (issues.length === 0) return { message: inCommands(detail), exitCode: EXIT_FAILED }
  const named = issues.map((issue) => ({ ...issue, given: command && givenAs(issue, command) }))
  const lines = named.map(({ pointer, message, given }) => {
    const name = given ?? wordsOf(pointer)
    // On the command line, a word clears a field.
    const said = given === undefined ? message : message.replace(/\bnull\b/, NONE)
    return name === '' ? message : `${name}: ${said}`
  })
  const isUsage = named.every(({ code, given }) => given !== undefined && !code.startsWith('unknown'))
  return { message: inCommands(lines.join('\n')), exitCode: isUsage ? EXIT_USAGE : EXIT_FAILED }
}

/** `/query/time_zone` and `/report/time_zone` as `time-zone`, `/scope/client` as `client`, `/tiers/0/input` as `tiers/0/input`. */
function wordsOf(pointer: string): string {
  return pointer.replace(/^\/((query|report|scope)\/)?/, '').replaceAll('_', '-')
}

/** Flags whose names differ from the fields of the API. */
const FLAGS: Record<string, string> = {
  'agent-manager': '--person',
  'agent-harness': '--harness',
  'agent-name': '--agent',
  'bucket-width': '--bucket',
  'group-by': '--by',
  'reported-cost': '--cost',
  'session-id': '--session',
  'starts-on': '--from',
  'ends-on': '--to',
  'starting-at': '--from',
  'ending-at': '--to',
  'expires-at': '--expires',
  lines: '--line',
  scopes: '--scope',
  networks: '--network',
  labels: '--label',
  thresholds: '--threshold',
  tools: '--tool',
  types: '--type',
}

/** Arguments whose names differ from the fields of the API. */
const ARGUMENTS: Record<string, string> = { leads: 'person', approvers: 'person' }

/**
 * The flag or argument of this command line that an issue is about, or the flag that is missing; undefined if it is about
 * something else, such as the contents of a file.
 */
function givenAs({ pointer, code }: Issue, command: Command): string | undefined {
  const [first = '', ...rest] = wordsOf(pointer).split('/')
  const field = flagOfField(command, first.replaceAll('-', '_'))
  for (const name of [field, `--${first}`, FLAGS[first], `--${rest.at(-1)}`]) {
    const option = command.options.find(({ long }) => long === name)
    if (!option || command.getOptionValueSource(option.attributeName()) !== 'cli') continue
    const where = rest.length > 0 ? ` (${valueAt(command.getOptionValue(option.attributeName()), rest)})` : ''
    return `${name}${where}`
  }
  const argument = command.registeredArguments.find((one) => [first, ARGUMENTS[first]].includes(one.name()))
  if (argument) return `<${argument.name()}>`
  return code === 'required' && command.getOptionValue('file') === undefined ? missingFlag(first, command) : undefined
}

function missingFlag(first: string, command: Command): string | undefined {
  return [`--${first}`, FLAGS[first]].find((name) => command.options.some(({ long }) => long === name))
}

/** Which value of a flag is meant: that of a list as it was given, others by their place. */
function valueAt(values: unknown, place: string[]): string {
  const within = (value: unknown, name: string) => (value as Record<string, unknown> | undefined)?.[name]
  const value = Array.isArray(values) ? place.reduce(within, values) : undefined
  return typeof value === 'string' ? value : place.join('/')
}

/** What SQLite says of the file and the disk; anything else it says would be an issue of Tally's queries. */
const SQLITE_CIRCUMSTANCE = /^SQLITE_(CANTOPEN|READONLY|BUSY|FULL|IOERR|CORRUPT|NOTADB|PERM)/

/** SQLSTATE, as PostgreSQL sends it: a wrong password, a database that does not exist. */
const SQLSTATE = /^(?=.*\d)[0-9A-Z]{5}$/

/** What the operating system or a database engine refused: no issue of Tally's, so without a trace. */
function systemMessage(error: Error): string | undefined {
  for (let current: unknown = error; current instanceof Error; current = current.cause) {
    const { code } = current as { code?: unknown }
    if (typeof code !== 'string') continue
    if (SQLSTATE.test(code)) return `PostgreSQL error: ${current.message} (${code}).`
    if (SQLITE_CIRCUMSTANCE.test(code)) return `The database could not be used: ${current.message} (${code}).`
    if (/^E[A-Z]{2,}$/.test(code)) return current.message
  }
  return undefined
}

function unexpected(error: Error): string {
  return `This is a bug in Tally. Please report it.\n${error.stack ?? error.message}`
}

/** What an error says, also one of a check that others follow. */
export const messageOf = async (error: unknown): Promise<string> => (await failureOf(error, undefined)).message

/** Prints the error to standard error, each line prefixed with the program's name, and returns the exit code. */
export async function printFailure(error: unknown, command?: Command): Promise<number> {
  if (error instanceof CommanderError) {
    // commander has said everything already.
    return error.exitCode === EXIT_DONE ? EXIT_DONE : EXIT_USAGE
  }
  const { message, exitCode } = await failureOf(error, command)
  for (const line of message.split('\n')) process.stderr.write(`tally: ${escaped(line)}\n`)
  return exitCode
}

/** What failed at the bottom: drizzle's error around it repeats what the query was given, which may be anybody's words. */
export function driverError(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? driverError(error.cause) : error
}
