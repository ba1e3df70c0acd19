/** The options of `scripts/bench/reports`. */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { UsageError } from '../clean-up.ts'

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

export function readOptions(args: string[]): ReadingOptions {
  const { values } = parseArgs({
    args,
    options: {
      data: { type: 'string', default: join(ROOT, 'dist/seeded') },
      'database-url': { type: 'string' },
      rounds: { type: 'string', default: '20' },
      only: { type: 'string', default: PARTS.join(',') },
      skip: { type: 'string', default: '' },
      executable: { type: 'string' },
      commit: { type: 'string' },
    },
  })
  const rounds = Number(values.rounds)
  if (!Number.isInteger(rounds) || rounds < 1) throw new UsageError('--rounds must be a whole number from 1.')
  if (values.executable !== undefined && values.commit !== undefined)
    throw new UsageError('Use either --executable or --commit.')
  const skipped = readParts('--skip', values.skip)
  const parts = readParts('--only', values.only).difference(skipped)
  return {
    data: values.data,
    databaseUrl: values['database-url'],
    rounds,
    parts,
    executable: values.executable,
    commit: values.commit,
  }
}

function readParts(option: string, text: string): Set<Part> {
  const names = text.split(',').filter((name) => name !== '')
  const unknown = names.find((name) => !PARTS.includes(name as Part))
  if (unknown !== undefined) throw new UsageError(`${option} must be some of ${PARTS.join(', ')}, not ${unknown}.`)
  return new Set(names as Part[])
}
