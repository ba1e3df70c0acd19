/** The cost of placement rules for reports without a project. */
import { Database as Connection } from 'bun:sqlite'
import { type LoadShape, type Throughput, WARM_UP_SECONDS } from './throughput.ts'

/** What the rules of a measurement test; `none` disables all rules. */
const RULE_SETS = ['none', 'labels', 'summary'] as const
export type RuleSetName = (typeof RULE_SETS)[number]

/** Alternating, so that other load on the machine affects all of them. */
const RULE_ROUNDS = 3

/**
 * Adds two sets of rules with regular expressions, the matching ones last. Writes directly to the database, because
 * creating so many through the API would take too long.
 */
function addRules(databasePath: string, rules: number): void {
  const conditions: Record<Exclude<RuleSetName, 'none'>, (number: number) => object> = {
    labels: (number) => ({ field: 'labels.branch', matches: `/^feature/(?<ticket>change-${number})$/` }),
    summary: (number) => ({ field: 'summary', matches: `/login (?<ticket>[0-9]+) (fails|breaks) ${number}$/` }),
  }
  const connection = new Connection(databasePath)
  connection.run('PRAGMA busy_timeout = 5000')
  connection.transaction(() => {
    for (const [name, conditionOf] of Object.entries(conditions)) {
      for (let number = rules - 1; number >= 0; number--) {
        connection.run(
          'INSERT INTO placement_rules (uid, position, enabled, created_at) VALUES (randomblob(16), 1, 0, 0)',
        )
        connection.run(
          `INSERT INTO placement_rule_versions (rule_id, version, name, conditions, project_id, ticket, created_at)
           SELECT last_insert_rowid(), 1, ?, ?, min(id), '{ticket}', 0 FROM projects`,
          [`${name} ${number}`, JSON.stringify([conditionOf(number)])],
        )
      }
    }
  })()
  connection.close()
}

function enableRules(databasePath: string, name: RuleSetName): void {
  const connection = new Connection(databasePath)
  connection.run('PRAGMA busy_timeout = 5000')
  connection.run(
    'UPDATE placement_rules SET enabled = id IN (SELECT rule_id FROM placement_rule_versions WHERE name LIKE ?)',
    [`${name} %`],
  )
  connection.close()
}

/** The median round of each set of rules by processor time. */
export async function measureRules(
  report: (shape: LoadShape) => Promise<Throughput>,
  shape: LoadShape,
  databasePath: string,
  rules: number,
): Promise<Record<RuleSetName, Throughput>> {
  addRules(databasePath, rules)
  const rounds: Record<RuleSetName, Throughput[]> = { none: [], labels: [], summary: [] }
  for (let round = 0; round < RULE_ROUNDS; round++) {
    for (const name of RULE_SETS) {
      enableRules(databasePath, name)
      await report({ ...shape, seconds: WARM_UP_SECONDS / 2 })
      rounds[name].push(await report(shape))
    }
  }
  const middle = (results: Throughput[]) =>
    results.toSorted((one, other) => one.processorMicros - other.processorMicros)[Math.floor(RULE_ROUNDS / 2)]!
  return { none: middle(rounds.none), labels: middle(rounds.labels), summary: middle(rounds.summary) }
}
