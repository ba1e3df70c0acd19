import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { CommandLine } from '../support/command-line.ts'

let tally: CommandLine
beforeAll(async () => {
  tally = await CommandLine.make()
  await tally.addUser('ada@example.com', 'admin')
  await tally.addUser('member@example.com', 'member')
  await tally.addUser('gone@example.com', 'member')
  await tally.done(['users', 'disable', 'gone@example.com'])
})
afterAll(() => tally.remove())

const create = (change: Record<string, string> = {}) => {
  const flags = { kind: 'svc', user: 'ada@example.com', name: 'ci', ...change }
  return ['tokens', 'create', ...Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, value])]
}

test.each(['svc', 'read', 'org'])('a token of the kind %s is made and shown once', async (kind) => {
  const made = await tally.json(create({ kind, name: `a ${kind} token` }))
  expect(Object.keys(made).slice(0, 2)).toEqual(['id', 'token'])
  expect(made).toEqual({
    id: expect.stringMatching(/^tok_[0-9a-f]{32}$/),
    token: expect.stringMatching(new RegExp(`^tally_${kind}_[0-9A-Za-z]{38}$`)),
    kind,
    name: `a ${kind} token`,
    hint: made.token.split('_')[2].slice(0, 6),
    state: 'usable',
    user: { id: expect.stringMatching(/^usr_/), email: 'ada@example.com', name: 'ada' },
    allow_bills: false,
    scopes: null,
    networks: null,
    created_at: expect.stringMatching(/Z$/),
    expires_at: null,
    last_used_at: null,
    revoked_at: null,
  })
  const { token, ...listed } = made
  const { data } = await tally.json(['tokens', 'list'])
  expect(data).toContainEqual(listed)
  expect(JSON.stringify(data)).not.toContain(token.slice(-20))
})

test('the token alone goes to standard output, so that a variable can take it', async () => {
  const { stdout, stderr } = await tally.done(create({ name: 'laptop' }))
  expect(stdout).toMatch(/^tally_svc_[0-9A-Za-z]{38}\n$/)
  expect(stderr).toMatch(/'laptop' of ada, which does not expire\. Store it now: it is not shown again\. Id: tok_/)
})

describe('--expires takes', () => {
  const HOUR_MS = 3_600_000
  test.each([
    ['90d', () => Date.now() + 90 * 24 * HOUR_MS],
    ['12h', () => Date.now() + 12 * HOUR_MS],
    ['2099-01-01', () => Date.UTC(2099, 0, 1)],
    ['2099-01-01T08:00:00+01:00', () => Date.UTC(2099, 0, 1, 7)],
  ])('%s', async (expires, expected) => {
    const { expires_at } = await tally.json(create({ expires }))
    // The command took a moment itself.
    expect(Math.abs(Date.parse(expires_at) - expected())).toBeLessThan(30_000)
  })
})

test('a service token that allows sending bills is shown as such', async () => {
  expect((await tally.json(create({ allow: 'bills' }))).allow_bills).toBe(true)
})

test('a revoked token leaves the list, and --all shows it', async () => {
  const { id } = await tally.json(create({ user: 'member@example.com', name: 'short-lived' }))
  const { stdout } = await tally.done(['tokens', 'revoke', id, '--yes'])
  expect(stdout).toMatch(/^The token 'short-lived' \(tally_svc_\w{6}…\) of member is revoked\.\n$/)
  const ofMember = ['tokens', 'list', '--user', 'member@example.com']
  expect((await tally.json(ofMember)).data).toEqual([])
  expect((await tally.json([...ofMember, '--all'])).data).toEqual([
    expect.objectContaining({ id, state: 'revoked', revoked_at: expect.any(String) }),
  ])
  // Again is no mistake: what was asked for is so.
  expect((await tally.json(['tokens', 'revoke', id, '--yes'])).state).toBe('revoked')
})

test('a token is shown, and the list narrowed to a kind or a state', async () => {
  await tally.addUser('narrow@example.com', 'member')
  const of = ['tokens', 'list', '--user', 'narrow@example.com']
  const { token: _, ...made } = await tally.json(create({ user: 'narrow@example.com', kind: 'read', name: 'reader' }))
  const { id: revoked } = await tally.createToken('svc', 'narrow@example.com')
  await tally.done(['tokens', 'revoke', revoked, '--yes'])
  expect(await tally.json(['tokens', 'show', made.id])).toEqual(made)
  const { stdout } = await tally.done(['tokens', 'show', made.id])
  expect(stdout).toMatch(/^'reader' \(tally_read_\w{6}…\), a read token of narrow .*\nstate +usable\n/)
  const { id: other } = await tally.json(create({ kind: 'org', name: 'push' }))
  expect((await tally.done(['tokens', 'show', other])).stdout).toContain('), an organization token of ')
  expect((await tally.json([...of, '--kind', 'svc'])).data).toEqual([])
  expect((await tally.json([...of, '--kind', 'read'])).data).toEqual([made])
  expect((await tally.json([...of, '--state', 'revoked'])).data.map(({ id }: { id: string }) => id)).toEqual([revoked])
})

describe('refused with one clear message:', () => {
  test.each([
    ['a kind that there is not', create({ kind: 'admin' }), 2, 'Allowed choices are svc, read, org'],
    ['an unknown person', create({ user: 'nobody@example.com' }), 1, "The person 'nobody@example.com' was not found"],
    ['a disabled person', create({ user: 'gone@example.com' }), 2, 'tally users enable'],
    ['an empty name', create({ name: '' }), 2, '--name: must not be empty'],
    ['an expiry in words', create({ expires: 'tomorrow' }), 2, '90d'],
    ['an expiry without an offset', create({ expires: '2099-01-01T08:00:00' }), 2, 'with an offset'],
    ['an expiry that no calendar has', create({ expires: '2099-02-30' }), 2, 'Use a duration'],
    ['an expiry in the past', create({ expires: '2020-01-01' }), 2, 'must be in the future'],
    [
      'an organization token of a member',
      create({ kind: 'org', user: 'member@example.com' }),
      1,
      'requires the role admin',
    ],
    [
      'bills for a member',
      create({ allow: 'bills', user: 'member@example.com' }),
      1,
      'requires the role billing or admin',
    ],
    ['bills by a read token', create({ allow: 'bills', kind: 'read' }), 2, 'is available only for service tokens'],
    ['another permission', create({ allow: 'everything' }), 2, '--allow (everything): must be bills'],
    ['an API token without scopes', create({ kind: 'api' }), 2, '--scope: must name at least one of entries:read'],
    [
      'an unknown scope',
      create({ kind: 'api', scope: 'bills:burn' }),
      2,
      '--scope (bills:burn): must be one of entries:read',
    ],
    [
      'a scope that is not for the role',
      create({ kind: 'api', user: 'member@example.com', scope: 'entries:read,bills:read' }),
      2,
      '--scope (bills:read): needs the role billing or admin',
    ],
    [
      'a network that is none',
      create({ kind: 'api', scope: 'bills:read', network: '10.0.0.0/33' }),
      2,
      '--network (10.0.0.0/33): must be an IP address',
    ],
    ['an unknown id', ['tokens', 'revoke', `tok_${'0'.repeat(32)}`, '--yes'], 1, 'tally tokens list --all'],
    [
      'an overlap in another unit',
      ['tokens', 'rotate', 'ci', '--overlap', '30m'],
      2,
      'in min, h, d or w, such as 30min',
    ],
    ['to show an unknown id', ['tokens', 'show', 'ci'], 1, "The token 'ci' was not found"],
    ['a state with --all', ['tokens', 'list', '--all', '--state', 'usable'], 2, 'cannot be used with'],
    ['what is no id', ['tokens', 'revoke', 'ci', '--yes'], 1, "The token 'ci' was not found"],
    ['a list of nobody', ['tokens', 'list', '--user', 'nobody@example.com'], 1, "there is no person 'nobody@"],
  ] as [string, string[], number, string][])('%s', async (_what, args, code, message) => {
    const ran = await tally.run(args)
    expect(ran.stderr).toContain(message)
    expect(ran.stderr).toStartWith('tally: ')
    expect(ran.stderr).not.toMatch(/^ +at /m)
    expect(ran.stdout).toBe('')
    expect(ran.code).toBe(code)
  })
})

test('disabling a person lists their tokens that were in use', async () => {
  await tally.addUser('leaving@example.com', 'member')
  const { id, token } = await tally.createToken('svc', 'leaving@example.com')
  const app = await tally.app()
  await app.call('GET /api/v1/me', { token })
  // As a server does every few seconds, and when it ends.
  await app.services.people.flushLastUsed()
  const disabled = await tally.json(['users', 'disable', 'leaving@example.com'])
  expect(disabled.tokens_in_use).toEqual([expect.objectContaining({ id, state: 'stopped' })])
  const { stdout } = await tally.done(['users', 'disable', 'leaving@example.com'])
  expect(stdout).toContain(`tally_svc_${disabled.tokens_in_use[0].hint}…`)
})
