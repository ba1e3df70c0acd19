import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { CallerOf } from '../../src/access/caller.ts'
import { openDatabase } from '../../src/database/open.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createServices } from '../../src/services.ts'
import { CommandLine } from '../support/command-line.ts'
import { capturesIn, readOf } from '../support/telemetry.ts'

let tally: CommandLine
beforeAll(async () => {
  tally = await CommandLine.make()
  await tally.done(['users', 'add', '--email', 'admin@example.com', '--name', 'Admin', '--role', 'admin'])
  await tally.done(['users', 'add', '--email', 'ada@example.com', '--name', 'Ada', '--role', 'member'])
})
afterAll(() => tally.remove())

test('before anything is pushed, the status gives advice', async () => {
  const { stdout } = await tally.done(['telemetry', 'status'])
  expect(stdout).toStartWith('No data has been pushed yet. Create a token with `tally tokens create --kind org`')
  expect(await tally.json(['telemetry', 'status'])).toMatchObject({ channels: [], pushes: [], by_email: false })
})

test('further e-mails are added, shown and taken away', async () => {
  const emails = async (...args: string[]) => (await tally.done(['users', 'emails', 'ada@example.com', ...args])).stdout
  expect(await emails()).toBe('Ada (ada@example.com) has no additional addresses.\n')
  expect(await emails('--add', 'Ada@users.example.com', 'ada@b.example')).toBe('ada@b.example\nada@users.example.com\n')
  expect(await emails('--remove', 'ada@b.example')).toBe('ada@users.example.com\n')
  expect(await tally.json(['users', 'emails', 'ada@example.com'])).toEqual({ emails: ['ada@users.example.com'] })
  const refused = await tally.run(['users', 'emails', 'admin@example.com', '--add', 'ada@users.example.com'])
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('already belongs to Ada')])
})

test('pushed telemetry is shown, and assigned after a dry run', async () => {
  await tally.done(['settings', 'set', '--telemetry-by-email', 'yes'])
  const { token } = (await tally.json([
    'tokens',
    'create',
    '--kind',
    'org',
    '--user',
    'admin@example.com',
    '--name',
    'telemetry',
  ])) as { token: string }
  const db = await openDatabase({ ...tally.location, clock: systemClock })
  const { people, telemetry } = createServices({ db, clock: systemClock })
  const caller = (await people.authenticate(`Bearer ${token}`)) as CallerOf<'organization'>
  for (const capture of capturesIn('cases/claude-code-tool')) {
    const read = readOf(capture)
    for (const observation of read.observations) observation.email = 'who@example.com'
    await telemetry.receive(caller, read)
  }
  await telemetry.tidy()
  await db.close()

  const { stdout, stderr } = await tally.done(['telemetry', 'status'])
  expect(stdout).toMatch(/^TOKENS\nNAME +REQUESTS +RECORDS.*\ntelemetry +2 +26 /)
  expect(stdout).toMatch(/\nCOUNTED: claude-code 1 session\n/)
  expect(stdout).toMatch(/\nclaude-code 2\.1\.329 +api_request +2 +0 +0 +0 +17,400 /)
  expect(stdout).toMatch(/\nIGNORED\n/)
  expect(stdout).toMatch(/\nUNASSIGNED ADDRESSES\n.*\nwho@example\.com +1 /)
  expect(stderr).toContain('tally telemetry assign')

  const assign = (...args: string[]) =>
    tally.done(['telemetry', 'assign', '--email', 'who@example.com', '--to', 'ada@example.com', ...args])
  expect((await assign('--dry-run')).stdout).toBe(
    '1 session with 1 entry of who@example.com would be assigned to Ada.\n',
  )
  expect((await assign('--yes')).stdout).toBe('1 session with 1 entry of who@example.com assigned to Ada.\n')
  expect((await assign('--yes')).stdout).toStartWith('No sessions to assign for who@example.com.')
  const { data } = (await tally.json(['entries', 'list'])) as { data: object[] }
  expect(data).toMatchObject([{ agent_manager: { name: 'Ada' }, manager_by: 'email' }])
})

test('whom to assign to must be somebody', async () => {
  const wrong = await tally.run([
    'telemetry',
    'assign',
    '--email',
    'a@b.example',
    '--to',
    'nobody@example.com',
    '--yes',
  ])
  expect([wrong.code, wrong.stderr]).toEqual([
    1,
    expect.stringContaining("The person 'nobody@example.com' was not found"),
  ])
  expect((await tally.run(['telemetry', 'assign', '--email', 'a@b.example'])).code).toBe(2)
})
