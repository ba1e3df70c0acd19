import { afterAll, beforeAll, expect, test } from 'bun:test'
import { FORMAT } from '../../src/features/rollup/segment.ts'
import { CommandLine } from '../support/command-line.ts'
import { rowsAt } from '../support/databases.ts'

let tally: CommandLine
beforeAll(async () => {
  tally = await CommandLine.make()
  await tally.run(['users', 'add', '--email', 'ada@example.com', '--name', 'Ada', '--role', 'admin'])
})
afterAll(() => tally.remove())

test('reports that a database is consistent', async () => {
  const { code, stdout, stderr } = await tally.run(['verify'])
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toContain('is intact')
  expect(JSON.parse((await tally.run(['verify', '--json'])).stdout)).toEqual({ ok: true, differences: [] })
})

test('names sums without entries and references to nothing, and exits with 1', async () => {
  const change = (sql: string) => rowsAt(tally.location, sql)
  const isPostgres = tally.databaseUrl !== undefined
  const column = isPostgres ? "decode(repeat('00', 32), 'hex')" : 'zeroblob(32)'
  await change("INSERT INTO rollup_zones VALUES ('UTC', true)")
  await change(`INSERT INTO rollup_periods VALUES (1, 'UTC', 'day', 0, 86400000, 'clean', 0, ${FORMAT})`)
  await change(`INSERT INTO rollup_columns VALUES (1, 3, 'input', ${column})`)
  // PostgreSQL refuses such rows from everyone.
  if (!isPostgres) await change('INSERT INTO project_leads (project_id, user_id) VALUES (404, 405)')
  const { code, stdout, stderr } = await tally.run(['verify'])
  expect(code).toBe(1)
  expect(stdout).toContain('The day starting at 1970-01-01T00:00:00.000Z (UTC) has an unexpected column input')
  if (!isPostgres) expect(stdout).toContain('of project_leads refers to a missing row of projects')
  expect(stderr).toMatch(/Found \d+ differences?\./)
})
