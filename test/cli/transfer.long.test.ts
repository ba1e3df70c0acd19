import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommandLine } from '../support/command-line.ts'
import { copyDemo } from '../support/demo.ts'
import { killed } from '../support/killed-command.ts'

let tally: CommandLine
let exported: string

beforeAll(async () => {
  tally = await CommandLine.make({ engine: 'sqlite' })
  await copyDemo(tally.dataDir)
  exported = join(tally.folder, 'all.ndjson')
  writeFileSync(exported, (await tally.done(['export'])).stdout)
}, 300_000)
afterAll(() => tally.remove())

test('an import into a database in use adds entries only, and continues where it was killed', async () => {
  await tally.done(['users', 'add', '--email', 'ada@example.com', '--name', 'Ada', '--role', 'admin', '--data', 'used'])
  const args = ['import', '--merge', exported, '--data', 'used']
  const rehearsed = await tally.json([...args, '--dry-run'])
  await killed(tally, [...args, '--yes'])
  const { added, skipped } = await tally.json([...args, '--yes'])
  expect(added).toBe(0)
  expect(skipped.already_here.entries).toBe(rehearsed.added)
  expect(skipped.billed.entries).toBe(rehearsed.skipped.billed.entries)
  expect((await tally.done(['verify', '--data', 'used'])).stdout).toContain('intact')
  const { stdout } = await tally.done([...args, '--yes'])
  expect(stdout).toContain('entries skipped: already here\n')
  expect(stdout).toMatch(/Not merged: .*1 settings/)
  const wrong = await tally.run(['import', exported, '--data', 'used', '--unknown-projects', 'hold', '--yes'])
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--unknown-projects requires --merge')])
})
