/** The options of `scripts/bench/reports`. */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { knownNames, UsageError, wholeNumberFrom } from '../clean-up.ts'

const ROOT = join(import.meta.dir, '../../..')

/** In the order in which they run: those that change the data are last, and each after those that need its state. */
const PARTS = [
  'sums',
  'reports',
  'lists',
  'search',
  'sorted',
  'exports',
  'answers',
  'cancellation',
  'pages',
  'reporting',
  'bills',
  'sums-meanwhile',
] as const
export type Part = (typeof PARTS)[number]

export interface ReadingOptions {
  /** The folder of the seeded database. */
  data: string
  /** A database in PostgreSQL instead. */
  databaseUrl: string | undefined
  /** How often each query is repeated. */
  rounds: number
  parts: ReadonlySet<Part>
  /** Another executable than that of the work tree. */
  executable: string | undefined
  /** The commit whose executable to build. */
  commit: string | undefined
}

/** The options of a comparison with a commit. */
export interface ComparisonOptions {
  against: string
  rounds: number
  entries: number
  /** Whether plans pay for entries, and reports are read by each basis of cost. */
  basis: boolean
}

const COMPARING = ['against', 'rounds', 'entries', 'basis']

export function readOptions(args: string[]): ReadingOptions | ComparisonOptions {
  const { values } = parseArgs({
    args,
    options: {
      data: { type: 'string' },
      'database-url': { type: 'string' },
      against: { type: 'string' },
      entries: { type: 'string' },
      basis: { type: 'boolean' },
      rounds: { type: 'string' },
      only: { type: 'string' },
      skip: { type: 'string' },
      executable: { type: 'string' },
      commit: { type: 'string' },
    },
  })
  const { against, basis = false } = values
  const rounds = wholeNumberFrom('rounds', values.rounds ?? (against === undefined ? '20' : '3'), 1)
  if (against !== undefined) {
    const other = Object.keys(values).find((name) => !COMPARING.includes(name))
    if (other !== undefined) throw new UsageError(`Use --${other} without --against.`)
    return { against, rounds, entries: wholeNumberFrom('entries', values.entries ?? '300000', 1), basis }
  }
  if (basis) throw new UsageError('--basis needs --against.')
  if (values.entries !== undefined) throw new UsageError('--entries needs --against. Otherwise, use --data.')
  if (values.executable !== undefined && values.commit !== undefined)
    throw new UsageError('Use either --executable or --commit.')
  const skipped = readParts('--skip', values.skip ?? '')
  const parts = readParts('--only', values.only ?? PARTS.join(',')).difference(skipped)
  return {
    data: values.data ?? join(ROOT, 'dist/seeded'),
    databaseUrl: values['database-url'],
    rounds,
    parts,
    executable: values.executable,
    commit: values.commit,
  }
}

function readParts(option: string, text: string): Set<Part> {
  const names = text.split(',').filter((name) => name !== '')
  return new Set(knownNames(option, names, PARTS))
}
