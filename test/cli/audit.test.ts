import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { CommandLine } from '../support/command-line.ts'
import { PNG } from '../support/picture.ts'

let tally: CommandLine
beforeAll(async () => {
  tally = await CommandLine.make()
  await tally.addUser('ada@example.com', 'admin')
})
afterAll(() => tally.remove())

/** By number where the environment names nobody, as under some schedulers. */
const ORIGIN = `command line of user ${process.getuid!()}`

test('what is changed on the command line is kept with the user of this machine', async () => {
  const id = await tally.addUser('grace@example.com', 'member')
  await tally.done(['users', 'change', id, '--role', 'billing', '--name', 'Grace'])
  const { data, has_more, next_page } = await tally.json(['audit', '--object', id])
  expect([has_more, next_page]).toEqual([false, null])
  expect(data[0]).toEqual({
    at: expect.stringMatching(/Z$/),
    user: null,
    for: null,
    token: null,
    origin: ORIGIN,
    action: 'user.changed',
    object: { id, name: 'grace@example.com' },
    before: { name: 'grace', role: 'member' },
    after: { name: 'Grace', role: 'billing' },
    removed: [],
  })
  const { stdout } = await tally.done(['audit', '--object', 'grace@example.com', '--action', 'user.changed'])
  expect(stdout).toContain(ORIGIN)
  await tally.done(['users', 'change', id, '--name', 'Grace H'], { env: { USER: 'ops' }, asProcess: true })
  expect((await tally.json(['audit', '--object', id])).data[0].origin).toBe('command line of ops')
  // No name is known of who ran it, and nobody is called “user 0”.
  expect(stdout).toContain(
    'The command line on the server changed grace@example.com: name from grace to Grace, role from member to billing',
  )
})

test('its help names the columns that the table has', async () => {
  const { stdout: help } = await tally.done(['audit', '--help'])
  const named = /columns to show, of ([^;]+);/.exec(help.replace(/\s+/g, ' '))![1]!
  expect(named).toBe('when, from, action, change')
  const { stdout } = await tally.done(['audit', '--limit', '1', '--columns', named])
  expect(stdout).toMatch(/^WHEN \(UTC\) +FROM +ACTION +CHANGE\n/)
})

test('a command names its person with --as or TALLY_AS, and who called sudo', async () => {
  const id = await tally.addUser('hedy@example.com', 'member')
  const admin = await tally.addUser('ida@example.com', 'admin')
  await tally.done(['users', 'change', id, '--name', 'Hedy L', '--as', 'ida@example.com'], {
    env: { SUDO_USER: 'ops' },
  })
  await tally.done(['users', 'change', id, '--name', 'Hedy'], { env: { TALLY_AS: admin, SUDO_USER: 'x (root)\n' } })
  const { data } = await tally.json(['audit', '--object', id, '--limit', '2'])
  expect(data).toMatchObject([
    { user: { id: admin, email: 'ida@example.com' }, origin: ORIGIN },
    { user: { id: admin, email: 'ida@example.com' }, origin: `${ORIGIN} (sudo by ops)` },
  ])
  const refused = await tally.run(['users', 'change', id, '--name', 'X', '--as', 'nobody@example.com'])
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("--as (TALLY_AS): the person 'nobody@")])
})

test('every command that changes something leaves its line', async () => {
  const grace = 'linus@example.com'
  await tally.addUser(grace, 'member')
  const { id } = await tally.createToken('svc', grace)
  await tally.done(['tokens', 'revoke', id, '--yes'])
  await tally.done(['users', 'invite', grace])
  await tally.done(['users', 'set-password', grace, '--password-stdin'], { stdin: 'correct horse battery' })
  await tally.done(['users', 'reset-password', grace])
  await tally.done(['users', 'set-role', grace, 'billing'])
  await tally.done(['users', 'disable', grace])
  await tally.done(['users', 'enable', grace])
  await tally.done(['settings', 'set', '--name', 'Acme'])
  await tally.done(['prices', 'set', 'our-coder', '--input', '1', '--output', '2', '--yes'])
  await tally.done(['prices', 'alias', 'add', 'coder', 'our-coder'])
  await tally.done(['prices', 'alias', 'remove', 'coder'])
  const table = 'model,provider,input,output\nx,y,1,2\n'
  await tally.done(['prices', 'load', '-', '--yes'], { stdin: table })
  const { data } = await tally.json(['audit', '--search', ORIGIN, '--limit', '15'])
  expect(data.map(({ action }: { action: string }) => action)).toEqual([
    'prices.loaded',
    'price_alias.removed',
    'price_alias.set',
    'price.set',
    'organization.changed',
    'user.enabled',
    'user.disabled',
    'user.changed',
    'user.password_link_made',
    'user.password_set',
    'user.invited',
    'token.revoked',
    'token.created',
    'user.added',
    'user.changed',
  ])
})

test('pages go on where the last one ended', async () => {
  const first = await tally.json(['audit', '--limit', '1'])
  expect(first.has_more).toBe(true)
  const { data } = await tally.json(['audit', '--limit', '1', '--page', first.next_page])
  expect(data[0].at <= first.data[0].at).toBe(true)
  expect(data).not.toEqual(first.data)
  const { stderr } = await tally.done(['audit', '--limit', '1'])
  expect(stderr).toContain(`--page ${first.next_page}`)
})

test('a filter that is wrong is refused by name', async () => {
  const { code, stdout, stderr } = await tally.run(['audit', '--starting-at', 'noon', '--limit', 'x'])
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(/^tally: --starting-at: must be a date.*\ntally: --limit: must be a whole number/)
})

test('settings are shown and set as the API answers them', async () => {
  const settings = {
    name: 'Acme Ltd',
    time_zone: 'Europe/Berlin',
    week_start: 'sunday',
    locale: 'de-CH',
    currency: 'EUR',
    unknown_projects: 'hold',
    same_session: 'count',
    approval_required: true,
    telemetry_by_email: true,
    cost_basis: 'list',
    leads_see_fees: true,
    retention_texts: 24,
    retention_session_ids: 6,
    retention_history: 36,
    retention_audit: 120,
    retention_events: 6,
    demo: false,
    email: 'bills@acme.example',
    address: '1 Road\n10115 Berlin',
    tax_id: 'DE123456789',
    markup: 12.5,
    reminder_days: null,
    api_tokens: false,
    share_links: false,
    lead_rules: false,
    public_url: 'https://tally.example.com',
    public_url_option: null,
    due_days: 14,
    bill_number_format: 'R-{year}-{sequence:3}',
    bill_footer: null,
    logo: 'image/png',
    sheet_required_fields: ['ticket', 'label:team'],
  }
  const picture = join(tally.folder, 'logo.png')
  await Bun.write(picture, PNG)
  const flags = [
    ...['--retention-texts', '24', '--retention-session-ids', '6', '--retention-history', '36'],
    ...['--retention-audit', '120', '--retention-events', '6', '--yes'],
    ...['--email', 'bills@acme.example', '--address', '1 Road\n10115 Berlin', '--tax-id', 'DE123456789'],
    ...['--markup', '12.5', '--due-days', '14', '--bill-number-format', 'R-{year}-{sequence:3}', '--logo', picture],
    '--name',
    'Acme Ltd',
    '--time-zone',
    'Europe/Berlin',
    '--week-start',
    'sunday',
    '--locale',
    'de-ch',
    '--currency',
    'EUR',
    '--public-url',
    'https://tally.example.com/',
    '--approval-required',
    'yes',
    '--telemetry-by-email',
    'yes',
    ...['--cost-basis', 'list', '--leads-see-fees', 'yes'],
    '--unknown-projects',
    'hold',
    '--same-session',
    'count',
    '--sheet-required-fields',
    'ticket,label:team',
  ]
  expect(await tally.json(['settings', 'set', ...flags])).toEqual(settings)
  expect(await tally.json(['settings', 'show'])).toEqual(settings)
  const { stdout } = await tally.done(['settings', 'show'])
  expect(stdout).toMatch(
    /^name +Acme Ltd\ntime zone +Europe\/Berlin\nweek start +sunday\nlocale +de-CH\ncurrency +EUR\npublic url +https:\/\/tally\.example\.com\nunknown projects +hold\nsame session +count\napproval required +yes\n/,
  )
  expect(stdout).toMatch(/\naddress +1 Road\n +10115 Berlin\n(.*\n)*markup +12\.5%\n(.*\n)*logo +image\/png\n$/)

  const wrong = await tally.run(['settings', 'set', '--time-zone', 'Mars/Olympus', '--currency', 'euro'])
  expect([wrong.code, wrong.stdout]).toEqual([2, ''])
  expect(wrong.stderr).toMatch(/^tally: --time-zone: must be.*\ntally: --currency: must be/)
  expect((await tally.run(['settings', 'set'])).code).toBe(2)
  const refused = await tally.run(['settings', 'set', '--due-days', '400', '--bill-number-format', '{year}'])
  expect(refused.stderr).toMatch(
    /^tally: --due-days: must be a whole.*\ntally: --bill-number-format: must contain \{seq/,
  )
  expect((await tally.run(['settings', 'set', '--logo', 'nowhere.png'])).stderr).toStartWith('tally: --logo: nowhere')
  expect(await tally.json(['settings', 'show'])).toEqual(settings)
  const cleared = await tally.json(['settings', 'set', '--address', 'none', '--markup', 'none', '--logo', 'none'])
  expect(cleared).toEqual({ ...settings, address: null, markup: null, logo: null })
})

test('an object is found in what was merged into it and moved to it, and all of it is exported', async () => {
  for (const key of ['FROM', 'INTO', 'INTO-2']) await tally.done(['projects', 'add', key])
  const { id } = await tally.json(['projects', 'show', 'INTO'])
  await tally.done(['tickets', 'add', 'MOVED-1', '--project', 'FROM'])
  await tally.done(['tickets', 'change', 'MOVED-1', '--project', 'INTO'])
  await tally.done(['projects', 'merge', 'FROM', 'INTO', '--yes'])
  const actions = ['project.merged', 'ticket.changed', 'project.added']
  for (const object of [id, 'INTO']) {
    const { data } = await tally.json(['audit', '--object', object])
    expect(data.map(({ action }: { action: string }) => action)).toEqual(actions)
  }
  const { stdout } = await tally.done(['audit', '--object', id, '--format', 'ndjson'])
  expect(
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).action),
  ).toEqual(actions)
  const csv = await tally.done(['audit', '--object', id, '--format', 'csv'])
  expect(csv.stdout.trim().split('\n')).toHaveLength(actions.length + 1)
})
