/** The one place that knows how each engine words its errors. */
import { Problem } from '../errors.ts'

type Failure = 'unique' | 'constraint' | 'busy' | 'full' | 'io' | 'serialization' | 'unknown'

const SQLITE_FAILURES: [start: string, failure: Failure][] = [
  ['SQLITE_CONSTRAINT_UNIQUE', 'unique'],
  ['SQLITE_CONSTRAINT_PRIMARYKEY', 'unique'],
  ['SQLITE_CONSTRAINT', 'constraint'],
  ['SQLITE_BUSY', 'busy'],
  ['SQLITE_LOCKED', 'busy'],
  ['SQLITE_FULL', 'full'],
  ['SQLITE_IOERR', 'io'],
]

/** PostgreSQL's SQLSTATE codes: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const POSTGRES_FAILURES: Record<string, Failure> = {
  '23505': 'unique',
  '23502': 'constraint',
  '23503': 'constraint',
  '23514': 'constraint',
  '40001': 'serialization',
  '40P01': 'serialization',
  '53100': 'full',
  '53300': 'busy',
  '55P03': 'busy',
  '57P03': 'busy',
}

/** What kind of failure a driver's error is. drizzle wraps the driver's error as `cause`. */
export function failureOf(error: unknown): Failure {
  for (let current = error; current instanceof Error; current = current.cause) {
    const { code } = current as { code?: unknown }
    if (typeof code !== 'string') continue
    const sqlite = SQLITE_FAILURES.find(([start]) => code.startsWith(start))
    if (sqlite) return sqlite[1]
    const postgres = POSTGRES_FAILURES[code]
    if (postgres) return postgres
  }
  return 'unknown'
}

export function isUniqueViolation(error: unknown): boolean {
  return failureOf(error) === 'unique'
}

/** Seconds after which a client may try again. Long enough for a checkpoint or a command line's transaction to end. */
const RETRY_AFTER_SECONDS = '2'
const retryLater = { headers: { 'retry-after': RETRY_AFTER_SECONDS } }

export function databaseBusy(): Problem {
  return new Problem(
    'database_busy',
    'The database is locked by another process. Nothing was written; try again.',
    retryLater,
  )
}

function databaseFull(): Problem {
  return new Problem(
    'database_full',
    'The disk of the database is full. Nothing was written; try again when there is space.',
    retryLater,
  )
}

export function overloaded(): Problem {
  return new Problem('overloaded', 'Too many writes wait. Nothing was written; try again.', retryLater)
}

/** The problem a client should see for a driver's error, or the error itself where it is no passing one. */
export function asProblem(error: unknown): unknown {
  const failure = failureOf(error)
  if (failure === 'busy' || failure === 'serialization') return databaseBusy()
  if (failure === 'full') return databaseFull()
  return error
}
