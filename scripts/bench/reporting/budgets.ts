/** The cost of budgets for reports. */
import { Database as Connection } from 'bun:sqlite'
import { type LoadShape, type Throughput, WARM_UP_SECONDS } from './throughput.ts'

/** Alternating, so that other load on the machine affects both. */
const ROUNDS = 3

const PERIOD = { firstDay: '0001-01-01', startsAt: -62_135_596_800_000, endsAt: 253_402_300_800_000 }

/**
 * Adds archived budgets: one of each project, person, model and agent that there is, as of a team that watches all of them,
 * and of the rest each other one of the organization, which every report counts for, or of a label that no report has. Writes directly to the database, because creating so
 * many through the API would take too long.
 */
function addBudgets(databasePath: string, budgets: number): void {
  const connection = new Connection(databasePath)
  connection.run('PRAGMA busy_timeout = 5000')
  const common = `measure, amount, period, roll_over, thresholds, of_project, version, created_at, archived_at`
  const values = `'cost', 900000000000000000, 'once', 0, '[{"percent":50},{"percent":80},{"percent":100}]', 0, 1, 0, 1`
  connection.transaction(() => {
    const insert = (column: string, select: string) =>
      connection.run(
        `INSERT INTO budgets (uid, name, ${column}${common}) SELECT randomblob(16), 'benchmark', ${select}`,
      )
    insert('project_id, ', `id, ${values} FROM projects`)
    insert('manager_id, ', `id, ${values} FROM users`)
    insert('model, ', `text, ${values} FROM names WHERE id IN (SELECT DISTINCT model_id FROM entries)`)
    insert('agent_name, ', `text, ${values} FROM names WHERE id IN (SELECT DISTINCT agent_id FROM entries)`)
    const { count } = connection.query<{ count: number }, []>('SELECT count(*) AS count FROM budgets').get()!
    for (let number = count; number < budgets; number += 1) {
      if (number % 2 === 0) insert('', values)
      else insert('label_name, label_value, ', `'branch', 'benchmark-${number}', ${values}`)
    }
    connection.run(
      `INSERT INTO budget_periods (budget_id, first_day, starts_at, ends_at, billions, units, millionths, entries,
         unpriced_entries, available, alerted, counted_at, counts)
       SELECT id, ?, ?, ?, 0, 0, 0, 0, 0, amount, 0, 1, 0 FROM budgets`,
      [PERIOD.firstDay, PERIOD.startsAt, PERIOD.endsAt],
    )
  })()
  connection.close()
}

function setArchived(databasePath: string, isArchived: boolean): void {
  const connection = new Connection(databasePath)
  connection.run('PRAGMA busy_timeout = 5000')
  connection.run('UPDATE budgets SET archived_at = ?', [isArchived ? 1 : null])
  // Not counted meanwhile: nobody reads what is spent.
  connection.run('UPDATE budget_periods SET counted_at = ?', [Date.now()])
  connection.close()
}

/** The median round without and with budgets, by processor time. */
export async function measureBudgets(
  report: (shape: LoadShape) => Promise<Throughput>,
  shape: LoadShape,
  databasePath: string,
  budgets: number,
): Promise<{ none: Throughput; all: Throughput }> {
  addBudgets(databasePath, budgets)
  const rounds = { none: [] as Throughput[], all: [] as Throughput[] }
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of ['none', 'all'] as const) {
      setArchived(databasePath, name === 'none')
      await report({ ...shape, seconds: WARM_UP_SECONDS / 2 })
      rounds[name].push(await report(shape))
    }
  }
  const middle = (results: Throughput[]) =>
    results.toSorted((one, other) => one.processorMicros - other.processorMicros)[Math.floor(ROUNDS / 2)]!
  return { none: middle(rounds.none), all: middle(rounds.all) }
}
