/** The export of all entries as CSV, compared with the shell of SQLite on the same database file. */
import { printProgress } from '../clean-up.ts'
import { EXPORTS } from '../queries.ts'
import type { SqliteFile } from '../reading/databases.ts'
import { linesIn, takeRows } from '../reading/exports.ts'
import { Subject } from '../reading/subject.ts'
import { settle } from '../reading/sums.ts'
import { seededDatabase } from '../seeded.ts'
import { ratiosOf } from '../spread.ts'
import { alternate, type Context, LeftOut, type Measured, type Peer } from './peer.ts'

/** Slower than any program is. */
const LIMIT_MS = 120_000

const time = (column: string) => `strftime('%Y-%m-%dT%H:%M:%fZ', ${column} / 1000.0, 'unixepoch')`
const money = (nanos: string) =>
  `iif(${nanos} NOT NULL, rtrim(rtrim(printf('%d.%09d', ${nanos} / 1000000000, ${nanos} % 1000000000), '0'), '.'), NULL)`
const id = (prefix: string, uid: string) => `iif(${uid} NOT NULL, '${prefix}_' || lower(hex(${uid})), NULL)`
const label = (name: string) => `label_sets.labels ->> '$.${name}'`

/** The columns of Tally's export of a seeded database, with the same text; `labels` is the JSON that is stored. */
const COLUMNS: Record<string, string> = {
  id: id('ent', 'e.uid'),
  status: 'e.status',
  source: 'e.source',
  agent_manager: 'users.name',
  manager_by: 'e.manager_by',
  agent_harness: 'harnesses.text',
  agent_name: 'agents.text',
  model: 'models.text',
  provider: 'providers.text',
  started_at: time('e.started_at'),
  ended_at: time('e.ended_at'),
  input: 'e.input',
  output: 'e.output',
  cache_read: 'e.cache_read',
  cache_write: 'e.cache_write',
  cache_write_1h: 'e.cache_write_1h',
  total: 'e.input + e.output + e.cache_read + e.cache_write + e.cache_write_1h',
  requests: 'e.requests',
  cost: money('coalesce(e.reported_cost, e.list_value)'),
  reported_cost: money('e.reported_cost'),
  list_value: money('e.list_value'),
  price: id('prc', 'prices.uid'),
  price_note: 'e.price_note',
  project: 'projects.key',
  ticket: 'tickets.key',
  placed_by: "coalesce(e.placed_by, 'unattributed')",
  summary: 'e.summary',
  labels: 'label_sets.labels',
  session_id: 'sessions.session_key',
  part: 'e.part',
  possible_duplicate_of: id('ent', 'duplicates.uid'),
  bill: 'bills.number',
  sheet: 'e.sheet_id',
  created_at: time('e.created_at'),
  cost_mismatch: "iif(abs(e.reported_cost - e.list_value) > 1000000000, 'true', 'false')",
  ...Object.fromEntries(
    [
      'serviceTier',
      'speed',
      'region',
      'tools',
      'media.inputAudio',
      'media.inputImage',
      'media.outputAudio',
      'media.outputImage',
    ].map((name) => [name, `e.usage_details ->> '$.${name}'`]),
  ),
  corrected: 'e.corrected',
  divided_entry: 'e.amendment',
  share: 'e.divided_from_id',
  agent_manager_id: id('usr', 'users.uid'),
  agent_manager_email: 'users.email',
  active_seconds: 'e.active_ms / 1000.0',
  slice_day: 'e.slice_day',
  estimated: "iif(e.slice_day NOT NULL, iif(e.estimated, 'true', 'false'), NULL)",
  'label:branch': label('branch'),
  'label:repository': label('repository'),
}

const SELECT = `SELECT ${Object.entries(COLUMNS)
  .map(([name, value]) => `${value} AS "${name}"`)
  .join(', ')}
FROM entries AS e JOIN users ON users.id = e.manager_id
  JOIN names AS harnesses ON harnesses.id = e.harness_id JOIN names AS agents ON agents.id = e.agent_id
  JOIN names AS models ON models.id = e.model_id LEFT JOIN names AS providers ON providers.id = e.provider_id
  LEFT JOIN prices ON prices.id = e.price_id LEFT JOIN projects ON projects.id = e.project_id
  LEFT JOIN tickets ON tickets.id = e.ticket_id LEFT JOIN label_sets ON label_sets.id = e.label_set_id
  LEFT JOIN sessions ON sessions.id = e.session_id LEFT JOIN bills ON bills.id = e.bill_id
  LEFT JOIN entries AS duplicates ON duplicates.id = e.possible_duplicate_id
ORDER BY e.started_at DESC, e.id DESC`

/** Rows per second of time. Throws if not all rows came. */
async function rate(context: Context, read: () => Promise<number | undefined>): Promise<number> {
  const startedAt = performance.now()
  const rows = await read()
  // The first line has the names of the columns.
  if (rows !== context.entries + 1) throw new Error(`The export has ${rows} lines instead of ${context.entries + 1}.`)
  return (context.entries * 1000) / (performance.now() - startedAt)
}

async function readWithShell(shell: string, file: string, stack: AsyncDisposableStack): Promise<number> {
  const child = Bun.spawn([shell, '-csv', '-header', '-readonly', file, SELECT], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  stack.defer(() => child.kill())
  let lines = 0
  for await (const chunk of child.stdout) lines += linesIn(chunk)
  return lines
}

async function measureExports(context: Context): Promise<Measured> {
  const shell = Bun.which('sqlite3')
  if (!shell) throw new LeftOut('sqlite3')
  const { folder, stack, entries } = context
  const data = await seededDatabase(entries, stack)
  const subject = await Subject.prepare(
    { data, databaseUrl: undefined, rounds: 1, executable: undefined },
    folder,
    stack,
  )
  const { file } = subject.database as SqliteFile
  await subject.start(stack)
  await settle(subject)
  const rates = await alternate<'tally' | 'shell', number>(
    context,
    {
      tally: () => rate(context, async () => (await takeRows(subject, EXPORTS.CSV, LIMIT_MS))?.rows),
      shell: () => rate(context, () => readWithShell(shell, file, stack)),
    },
    (side, round) => printProgress(`round ${round + 1} of exports: ${side}`),
  )
  await subject.stop()
  const version = Bun.spawnSync([shell, '--version']).stdout.toString().split(' ')[0]
  const rows = `rows of ${entries.toLocaleString('en-US')} entries as CSV`
  return {
    ratios: [ratiosOf(rates.tally, rates.shell)],
    absolute: [
      { name: `sqlite3 ${version} -csv: ${rows}`, rounds: rates.shell, unit: '/s' },
      { name: `Tally, SQLite: ${rows}, by HTTP`, rounds: rates.tally, unit: '/s' },
    ],
  }
}

export const exports: Peer = {
  goals: [{ name: 'rows/s of the CSV export ÷ `sqlite3 -csv` of the same columns', atLeast: 0.8 }],
  measure: measureExports,
}
