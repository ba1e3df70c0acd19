import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommandLine } from '../support/command-line.ts'
import { reportBody } from '../support/reports.ts'

let tally: CommandLine
beforeAll(async () => {
  tally = await CommandLine.make()
  await tally.addUser('ada@example.com', 'admin')
})
afterAll(() => tally.remove())

const plans = (...args: string[]) => tally.json(['plans', ...args])

async function refused(...args: string[]): Promise<string> {
  const { code, stderr } = await tally.run(['plans', ...args])
  return `${code} ${stderr}`
}

test('a plan is added like a common one, gets other terms from a day on, and ends', async () => {
  const codes = (await plans('common')).data.map(({ code }: { code: string }) => code)
  expect(codes).toContain('claude-max')
  const person = '--person=ada@example.com:2020-10-17..2030-01-01'
  const added = await plans('add', '--like', 'claude-max', '--name', 'Max', person, '--from', '2020-10-17')
  expect(added).toMatchObject({
    holder: 'person',
    people: [{ from: '2020-10-17', to: '2030-01-01' }],
    versions: [{ fee: 100, covers: [{ field: 'agent_harness', matches: 'claude-code' }] }],
    state: 'active',
  })
  const euros = ['--fee', '92.123456789', '--currency', 'EUR', '--exchange-rate', '0.92']
  expect(await refused('change', 'Max', ...euros)).toContain('--from: is required')
  expect(await refused('change', 'Max', ...euros, '--from', '2020-11-01')).toContain(
    'cuts the period from 2020-10-17 to 2020-11-16, whose fee is charged by days (true) or in full (false)',
  )
  await plans('change', 'Max', ...euros, '--from', '2020-11-01', '--prorate', 'yes', '--covers', 'all')
  const { stdout: shown } = await tally.run(['plans', 'show', 'Max'])
  expect(shown).toMatch(/from 2020-11-01 +92.123456789 EUR per month, 0.92 EUR per US dollar\n +covers +all usage/)
  const { data: periods } = await plans('periods', 'Max', '--from', '2020-01-01', '--to', '2020-11-10')
  expect(periods).toMatchObject([
    { from: '2020-11-01', to: '2020-11-30', fee: 92.123456789, fee_usd: 100.134192162 },
    { from: '2020-10-17', to: '2020-10-31', whole_to: '2020-11-16', fee_usd: 48.387096774 },
  ])
  const removal = ['remove-terms', 'Max', '2020-11-01']
  expect(await plans(...removal, '--dry-run')).toMatchObject({ entries: 0, locked_entries: 0 })
  expect(
    (await tally.run(['plans', 'change', 'Max', '--covers', 'all', '--from', '2020-11-01', '--dry-run'])).stdout,
  ).toBe('The change would not affect what pays for any entry.\n')
  expect((await plans('show', 'Max')).versions).toHaveLength(2)
  await plans('remove-terms', 'Max', '2020-11-01', '--yes')
  expect(await plans('end', 'Max', '--on', '2020-12-16')).toMatchObject({ ends_on: '2020-12-16', state: 'ended' })
  expect(await plans('end', 'Max', '--on', 'none')).toMatchObject({ ends_on: null })
  expect((await tally.run(['plans', 'list'])).stdout).toMatch(/Max +Claude Max/)
})

test('a change of plans is counted before it is made', async () => {
  const app = await tally.app()
  const report = { started_at: '2019-03-01T10:00:00Z', agent_harness: 'codex', reported_cost: 2.5 }
  await app.call('POST /api/v1/token-entries', { token: await app.token('svc'), json: reportBody(report) })
  const terms = ['--vendor', 'V', '--product', 'Pro', '--fee', '20', '--from', '2019-01-01']
  const { stdout } = await tally.run(['plans', 'add', ...terms, '--dry-run'])
  expect(stdout).toMatch(/NOW +THEN +ENTRIES +COST \(USD\)\n.*Pro +1 +2.5/)
  expect((await tally.run(['plans', 'show', 'Pro'])).code).not.toBe(0)
  await plans('add', ...terms)
  expect(await plans('end', 'Pro', '--on', '2019-02-28', '--dry-run')).toMatchObject({ entries: 1 })
  expect((await plans('show', 'Pro')).ends_on).toBeNull()
})

test('common plans are listed without a database', async () => {
  const { stdout, code } = await tally.run(['plans', 'common', '--data', join(tally.dataDir, 'none')])
  expect([code, stdout]).toEqual([0, expect.stringContaining('claude-max')])
})

test('plans are exported to a file that can be loaded', async () => {
  await plans(
    'add',
    ...['--vendor', 'V', '--product', 'Five', '--fee', '25.000000001', '--seats', '5', '--from', '2026-11-01'],
  )
  const { stdout } = await tally.run(['plans', 'export'])
  const file = join(tally.folder, 'plans.json')
  writeFileSync(file, stdout)
  expect(await plans('load', file, '--yes')).toMatchObject({ added: 0, changed: 0 })
  writeFileSync(file, stdout.replaceAll('"Five"', '"Six"'))
  expect(await plans('load', file, '--dry-run')).toMatchObject({ added: 1, dry_run: true })
  expect(await plans('load', file, '--yes')).toMatchObject({ added: 1, changed: 0 })
  expect((await plans('show', 'Six')).versions).toMatchObject([{ fee: 25.000000001, seats: 5 }])
  writeFileSync(file, '{')
  expect(await refused('load', file, '--yes')).toContain('is not valid JSON')
  expect(await refused('add', '--person', 'ada@example.com:..', '--from', '2026-11-01')).toMatch(/^2 /)
})
