import { afterEach, beforeEach, expect, test } from 'bun:test'
import { CommandLine } from '../support/command-line.ts'
import { copyDemo, DEMO_PEOPLE, rowCounts, signedIn } from '../support/demo.ts'

let tally: CommandLine
beforeEach(async () => {
  tally = await CommandLine.make({ engine: 'sqlite' })
  await copyDemo(tally.dataDir)
}, 300_000)
afterEach(() => tally.remove())

test('a database whose demo data was removed can be filled again while a server runs', async () => {
  const { entries } = rowCounts(tally.dataDir)
  await tally.done(['demo', '--remove', '--yes'])
  const server = await tally.serve()
  expect(await server.untilPrinted(/setup#/)).toBeTruthy()

  const { stdout } = await tally.done(['demo'])
  // Its sessions run until now: at another moment, chance decides otherwise.
  const reports = Number(/with ([\d,]+) reports/.exec(stdout)![1]!.replaceAll(',', ''))
  expect(Math.abs(reports / entries! - 1)).toBeLessThan(0.2)
  const people = stdout.matchAll(/(\S+@\S+) .*?\b(admin|billing|member)\b/g)
  expect([...people].map(([, email, role]) => ({ email, role }))).toEqual(DEMO_PEOPLE)
  const [, password] = /with the password (demo-\w{10})\n$/.exec(stdout)!
  await signedIn(server, 'ines.marques@meridian.example', password)
  expect((await tally.run(['demo'])).stderr).toContain('already contains the demo data')
}, 300_000)
