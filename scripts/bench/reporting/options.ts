/** The options of `scripts/bench/report`. */
import { parseArgs } from 'node:util'
import { UsageError, wholeNumberFrom } from '../clean-up.ts'

export interface ReportOptions {
  seconds: number
  /** Entries that are stored before anything is measured. */
  entries: number
  rules: number
  /** Slices of a session. */
  slices: number
  budgets: number
  /** Events that wait for a webhook. */
  webhooks: number
  fsyncDelayMs: number
  /** How often each session of the updates is reported. */
  repeat: number
  /** The commit to compare with. */
  against: string | undefined
  rounds: number
  /** The folder of a seeded database to compare on. */
  data: string | undefined
  /** Undefined for SQLite; `own` for a PostgreSQL server that the benchmark starts. */
  postgres: string | undefined
  servers: number
  json: boolean
}

/** Instead of a URL, for a server that the benchmark starts. */
export const OWN_SERVER = 'own'

/** Throws a `UsageError` that names the option. */
export function readOptions(args: string[]): ReportOptions {
  const values = parse(args)
  const options: ReportOptions = {
    seconds: numberFrom('seconds', values.seconds, { above: 0 }),
    entries: wholeNumberFrom('entries', values.entries, 0),
    rules: wholeNumberFrom('rules', values.rules, 0),
    slices: wholeNumberFrom('slices', values.slices, 0),
    budgets: wholeNumberFrom('budgets', values.budgets, 0),
    webhooks: wholeNumberFrom('webhooks', values.webhooks, 0),
    fsyncDelayMs: numberFrom('fsync-delay', values['fsync-delay'].replace(/ms$/, ''), {}),
    repeat: wholeNumberFrom('repeat', values.repeat, 2),
    against: values.against,
    rounds: wholeNumberFrom('rounds', values.rounds ?? '4', 1),
    data: values.data,
    postgres: values['database-url'] ?? (values.postgres ? OWN_SERVER : undefined),
    servers: wholeNumberFrom('servers', values.servers, 1),
    json: values.json,
  }
  if (values.postgres && values['database-url'] !== undefined)
    throw new UsageError('Use either --postgres, which starts a server, or --database-url.')
  if (values['database-url'] !== undefined && !/^postgres(ql)?:\/\//.test(values['database-url']))
    throw new UsageError('--database-url must start with postgres://.')
  if (options.against === undefined) {
    for (const name of ['rounds', 'data'] as const) {
      if (values[name] !== undefined) throw new UsageError(`--${name} needs --against.`)
    }
  } else if (measuresOnlyTable({ ...options, slices: 0 })) {
    throw new UsageError(
      '--rules, --budgets, --webhooks and --fsync-delay measure the work tree only. Use them without --against.',
    )
  }
  if (options.data !== undefined && options.entries > 0)
    throw new UsageError('Use either --data or --entries: a seeded database already has entries.')
  if (options.postgres === undefined) {
    if (options.servers > 1)
      throw new UsageError('SQLite is used by one server at a time. Use --servers with --postgres or --database-url.')
  } else if (
    measuresOnlyTable({ ...options, slices: options.against === undefined ? options.slices : 0 }) ||
    options.data !== undefined
  ) {
    throw new UsageError(
      '--rules, --budgets, --webhooks, --fsync-delay, --data, and --slices without --against measure SQLite only. Use them without PostgreSQL.',
    )
  }
  return options
}

/** Whether something is measured that only the table of the work tree on SQLite shows. */
function measuresOnlyTable({ rules, slices, budgets, webhooks, fsyncDelayMs }: ReportOptions): boolean {
  return [rules, slices, budgets, webhooks, fsyncDelayMs].some((value) => value > 0)
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        seconds: { type: 'string', default: '5' },
        entries: { type: 'string', default: '0' },
        rules: { type: 'string', default: '0' },
        slices: { type: 'string', default: '0' },
        budgets: { type: 'string', default: '0' },
        webhooks: { type: 'string', default: '0' },
        'fsync-delay': { type: 'string', default: '0' },
        repeat: { type: 'string', default: '5' },
        against: { type: 'string' },
        rounds: { type: 'string' },
        data: { type: 'string' },
        postgres: { type: 'boolean', default: false },
        'database-url': { type: 'string' },
        servers: { type: 'string', default: '1' },
        json: { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function numberFrom(name: string, text: string, { above = -1 }: { above?: number }): number {
  const number = text.trim() === '' ? Number.NaN : Number(text)
  if (!(Number.isFinite(number) && number > above && number >= 0))
    throw new UsageError(`--${name} must be a number${above >= 0 ? ` above ${above}` : ''}: ${text}`)
  return number
}
