/** Maps the errors of both engines to failures and problems. */
import { DrizzleQueryError } from 'drizzle-orm'
import { Problem } from '../errors.ts'

type Failure =
  | 'unique'
  | 'foreign_key'
  | 'constraint'
  | 'busy'
  | 'full'
  | 'io'
  | 'serialization'
  | 'moved'
  | 'deadline'
  | 'unreachable'
  | 'pooled'
  | 'unknown'

const SQLITE_FAILURES: [start: string, failure: Failure][] = [
  ['SQLITE_CONSTRAINT_UNIQUE', 'unique'],
  ['SQLITE_CONSTRAINT_PRIMARYKEY', 'unique'],
  ['SQLITE_CONSTRAINT_FOREIGNKEY', 'foreign_key'],
  ['SQLITE_CONSTRAINT', 'constraint'],
  ['SQLITE_BUSY', 'busy'],
  ['SQLITE_LOCKED', 'busy'],
  ['SQLITE_FULL', 'full'],
  ['SQLITE_IOERR', 'io'],
  // SQLite's code for EIO at a read. A really damaged file is no better.
  ['SQLITE_CORRUPT', 'io'],
  ['SQLITE_NOTADB', 'io'],
]

/** PostgreSQL's SQLSTATE codes: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const POSTGRES_FAILURES: Record<string, Failure> = {
  '23505': 'unique',
  '23P01': 'unique',
  '23502': 'constraint',
  '23503': 'foreign_key',
  '23514': 'constraint',
  '40001': 'serialization',
  '40P01': 'serialization',
  '42P05': 'pooled',
  // A server that was the primary before, which a proxy still leads to.
  '25006': 'unreachable',
  '25P03': 'unreachable',
  '26000': 'pooled',
  '53100': 'full',
  '53300': 'busy',
  '55P03': 'busy',
  '57014': 'deadline',
  '57P01': 'unreachable',
  '57P02': 'unreachable',
  '57P03': 'unreachable',
  '57P05': 'unreachable',
  '58030': 'io',
  TY001: 'moved',
}

/** Error codes of postgres.js and the operating system for a missing or lost connection. */
const CONNECTION_CODES = new Set([
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
])

/** The code of all errors of PgBouncer itself; PostgreSQL's own end only a query. */
const POOLER_ERROR = '08P01'

/** What PgBouncer says about settings, which are not those of a session there. */
const REFUSED_SETTING = 'unsupported startup parameter'

/** What the triggers of a database say that is moved to another one (move/state.ts): SQLite's have no code of their own. */
export const MOVED = 'this database is moved to another one'

/** The kind of failure of a driver's error. drizzle wraps the driver's error as `cause`. */
export function failureOf(error: unknown): Failure {
  for (let current = error; current instanceof Error; current = current.cause) {
    const { code, syscall } = current as { code?: unknown; syscall?: unknown }
    if (typeof code !== 'string') continue
    // A connect call also fails if the socket file is missing or not accessible.
    if (CONNECTION_CODES.has(code) || syscall === 'connect') return 'unreachable'
    if (current.message === MOVED) return 'moved'
    if (code === POOLER_ERROR && current.message.startsWith(REFUSED_SETTING)) return 'pooled'
    if (code === POOLER_ERROR && isFatal(current)) return 'unreachable'
    const sqlite = SQLITE_FAILURES.find(([start]) => code.startsWith(start))
    if (sqlite) return sqlite[1]
    const postgres = POSTGRES_FAILURES[code]
    if (postgres) return postgres
  }
  return 'unknown'
}

/** Whether the server also closed the connection. Only PostgreSQL's errors have a severity that is not translated. */
function isFatal(error: Error & { severity?: unknown; severity_local?: unknown }): boolean {
  return (error.severity ?? error.severity_local) === 'FATAL'
}

export function isUniqueViolation(error: unknown): boolean {
  return failureOf(error) === 'unique'
}

/** Whether a sum does not fit into 64 bits. Only on SQLite: PostgreSQL's sums of integers are unlimited. */
export function isOverflow(error: unknown): boolean {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current.message === 'integer overflow') return true
  }
  return false
}

/**
 * Seconds after which a client may try again. Long enough for a checkpoint or a transaction of a command line to end.
 */
const RETRY_AFTER_SECONDS = '2'
const retryLater = { headers: { 'retry-after': RETRY_AFTER_SECONDS } }

export function databaseBusy(reason = 'The database is locked by another process.'): Problem {
  return new Problem('database_busy', `${reason} Nothing was written; try again.`, retryLater)
}

export function databaseFull(): Problem {
  return new Problem(
    'database_full',
    'The disk that holds the database is full. Nothing was written; free up space and try again.',
    retryLater,
  )
}

function databaseUnreachable(): Problem {
  return new Problem(
    'database_unreachable',
    'The database server does not respond. Nothing was written; try again.',
    retryLater,
  )
}

export const POOLED =
  'The connection leads to PgBouncer, or another pooler, which does not keep settings and prepared statements. Add ?pgbouncer=true to --database-url.'

function databasePooled(): Problem {
  return new Problem('database_unreachable', `${POOLED} Nothing was written.`, retryAfterRestart)
}

/** The connection was lost during COMMIT. */
export function commitUnknown(cause: unknown): Problem {
  const problem = new Problem(
    'database_unreachable',
    'The connection to the database was lost during the commit. The change may or may not have been written; try again, with the same Idempotency-Key if the request has one.',
    retryLater,
  )
  return Object.assign(problem, { cause })
}

/** A person has to start another server or program first. */
export const retryAfterRestart = { headers: { 'retry-after': '60' } }

export function databaseMoved(): Problem {
  return new Problem(
    'database_moved',
    'The database is being moved to another one, or has been moved. Nothing was written; try again when the server uses the new database.',
    retryAfterRestart,
  )
}

function databaseFailed(cause: unknown): Problem {
  const problem = new Problem(
    'database_failed',
    'The database could not be read or written: the disk failed, or the file is corrupt. The change may or may not have been written; try again.',
    retryLater,
  )
  // Keeps the cause for callers that handle disk errors.
  return Object.assign(problem, { cause })
}

export function tookTooLong(): Problem {
  return new Problem(
    'database_deadline',
    'The query exceeded the time limit for interactive requests. Narrow the period or the filters.',
  )
}

/** Nobody receives it: the client has closed the connection. */
export function abandoned(): Problem {
  return new Problem('database_deadline', 'The client closed the connection before the query was done.')
}

export function overloaded(): Problem {
  return new Problem(
    'overloaded',
    'Too many requests are waiting for the database. Nothing was written; try again.',
    retryLater,
  )
}

/** For requests during shutdown; a retry reaches the next process. */
export function databaseClosed(): Problem {
  return new Problem('database_unreachable', 'Tally is shutting down. Nothing was written; try again.', retryLater)
}

/** The problem to return for a transient driver error; problems and any other errors are returned unchanged. */
export function asProblem(error: unknown): unknown {
  if (error instanceof Problem) return error
  const bare = withoutValues(error)
  switch (failureOf(bare)) {
    case 'busy':
    case 'serialization':
      return databaseBusy()
    case 'full':
      return databaseFull()
    case 'io':
      return databaseFailed(bare)
    case 'moved':
      return databaseMoved()
    case 'unreachable':
      return databaseUnreachable()
    case 'pooled':
      return databasePooled()
    case 'deadline':
      return tookTooLong()
    default:
      return bare
  }
}

/**
 * The driver's error without the written values, which must not be logged: drizzle's wrapper repeats them in its
 * message, PostgreSQL in the detail ("Failing row contains …").
 */
function withoutValues(error: unknown): unknown {
  const bare = error instanceof DrizzleQueryError && error.cause ? error.cause : error
  if (bare instanceof Error && 'severity' in bare) Reflect.deleteProperty(bare, 'detail')
  return bare
}
