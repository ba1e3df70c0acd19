import { afterAll, beforeAll, expect, test } from 'bun:test'
import { CommandLine } from '../support/command-line.ts'

let tally: CommandLine
beforeAll(async () => {
  tally = await CommandLine.make()
  await tally.addUser('ada@example.com', 'admin')
  await tally.done(['settings', 'set', '--share-links', 'yes'])
})
afterAll(() => tally.remove())

const report = (...flags: string[]) => ['share-links', 'create', 'report', '--user', 'ada@example.com', ...flags]

test('a share link is made, shown once, listed and revoked', async () => {
  const { stdout, stderr } = await tally.done(report('--by', 'model', '--public-url', 'https://tally.example.com'))
  expect(stdout).toMatch(/^https:\/\/tally\.example\.com\/share\/[0-9A-Za-z]{32}\n$/)
  const [id] = /shr_[0-9a-f]{32}/.exec(stderr)!
  const { data } = await tally.json(['share-links', 'list'])
  expect(data).toMatchObject([{ id, report: { period: '30d', group_by: ['model'] }, money: 'none', state: 'active' }])
  expect((await tally.json(['share-links', 'revoke', id, '--yes'])).state).toBe('revoked')
})

test('a share link begins with the public URL that is set, or says that none is', async () => {
  expect((await tally.done(report())).stderr).toContain('The public URL is not set')
  await tally.done(['settings', 'set', '--public-url', 'https://tally.example.org'])
  const { stdout, stderr } = await tally.done(report())
  expect(stdout).toStartWith('https://tally.example.org/share/')
  expect(stderr).not.toContain('not set')
})

test('messages name the flags', async () => {
  const message = async (...flags: string[]) => {
    const { code, stderr } = await tally.run(report(...flags))
    return `${code} ${stderr}`
  }
  expect(await message('--by', 'nonsense')).toMatch(/^2 tally: --by.*must be one of project/)
  expect(await message('--from', '2026-10-01')).toMatch(/^2 tally: A fixed period needs both --from and --to/)
  expect(await message('--from', '2026-10-01', '--period', 'month')).toMatch(/^2 .*cannot be used with/)
})
