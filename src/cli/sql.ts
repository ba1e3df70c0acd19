import type { Command } from 'commander'
import { readConfig } from '../config.ts'
import { embeddedFile } from './backup/backup.ts'
import { CommandError } from './failures.ts'
import { examples } from './flags/options.ts'
import { print, printTable } from './terminal/print.ts'
import type { CommandFlags } from './with-services.ts'

export function addSqlCommand(program: Command): void {
  program
    .command('sql')
    .description('Run a read-only SQL query on the embedded database')
    .argument('<query>', 'one SQL statement')
    .option('--read-only', 'no effect: queries are always read-only')
    .option('--json', 'print JSON, with integers beyond 2^53 as strings')
    .addHelpText(
      'after',
      `
Safe while the server runs, unlike sqlite3 before 3.51.3. The tables are not part of the API and change between
versions. Costs are in nano-dollars, prices in pico-dollars per token, times in milliseconds since 1970.
${examples("tally sql 'SELECT status, count(*) FROM entries GROUP BY status'", "tally sql --json 'SELECT name FROM sqlite_schema'")}`,
    )
    .action(async (query: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags>()
      const { databaseUrl, dataDir } = readConfig(flags)
      const file = embeddedFile(databaseUrl, dataDir, 'psql')
      const { ask } = await import('../database/engines/sqlite/one-query.ts')
      const { columns, rows } = answerOf(() => ask(file, query))
      if (flags.json) {
        print(
          JSON.stringify(
            rows.map((row) => Object.fromEntries(columns.map((name, at) => [name, jsonOf(row[at])]))),
            null,
            2,
          ),
        )
        return
      }
      printTable(
        columns.map((title, at) => ({ title, of: (row: unknown[]) => textOf(row[at]) })),
        rows,
      )
    })
}

/** What SQLite says of a query is for the person who wrote it. */
function answerOf<Answer>(ask: () => Answer): Answer {
  try {
    return ask()
  } catch (error) {
    throw new CommandError((error as Error).message)
  }
}

const hexOf = (value: Uint8Array) => Buffer.from(value).toString('hex')

function jsonOf(value: unknown): unknown {
  if (value instanceof Uint8Array) return hexOf(value)
  if (typeof value !== 'bigint') return value
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : String(value)
}

function textOf(value: unknown): string {
  if (value === null) return 'NULL'
  return value instanceof Uint8Array ? hexOf(value) : String(value)
}
