/** Jobs of GitHub Actions and GitLab CI/CD without a stored token, with an issuer of ID tokens on this machine. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { mkdir, mkdtemp, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestApp } from '../support/app.ts'
import { CommandLine } from '../support/command-line.ts'
import { gitHubClaims, gitLabClaims, type IdTokenIssuer, issueToJobs, startIssuer } from '../support/id-token-issuer.ts'

let tally: CommandLine
let server: TestApp
let github: IdTokenIssuer
let gitlab: IdTokenIssuer
let admin: string
/** The home folder of the job. */
let home: string
let jobs = 0

beforeAll(async () => {
  tally = await CommandLine.make()
  await tally.addUser()
  await tally.addUser('ci@example.com', 'member')
  server = await tally.app()
  ;[github, gitlab] = await Promise.all([startIssuer(), startIssuer()])
  admin = await server.session('admin')
  await server.call('PATCH /api/v1/settings', { session: admin, json: { public_url: server.url } })
  await server.call('POST /api/v1/projects', { session: admin, json: { key: 'WEB' } })
  for (const of of [
    { provider: 'github', issuer: github.url, repository: 'acme/web', repository_id: '42' },
    { provider: 'gitlab', issuer: gitlab.url, repository: 'acme/lab', repository_id: '7' },
  ]) {
    const json = { ...of, branches: ['main'], pull_requests: true, user: 'ci@example.com', project: 'WEB' }
    expect((await server.call('POST /api/v1/trusts', { session: admin, json })).status).toBe(201)
  }
})
afterAll(async () => {
  await Promise.all([github.close(), gitlab.close()])
  await tally.remove()
})
beforeEach(async () => {
  home = await mkdtemp(join(tally.folder, 'home-'))
})

const run = (args: string[], env: Record<string, string>) =>
  tally.run(args, { folder: home, env: { HOME: home, TALLY_URL: server.url, ...env } })

/** The variables of a new job of GitHub. */
const jobOfGitHub = () => issueToJobs(github, `request-${++jobs}`)
const jobOfGitLab = async () => ({ TALLY_ID_TOKEN: await gitlab.sign(gitLabClaims(gitlab.url, server.url)) })

const exchanges = async (provider: string) => {
  const { json } = await server.call('GET /api/v1/trusts', { session: admin })
  return json.data.find((trust: { provider: string }) => trust.provider === provider).exchanges
}

const ENTRY = [
  ...['entries', 'report', '--harness', 'codex', '--agent', 'x', '--model', 'gpt-5-codex', '--input', '1000'],
  ...['--output', '20', '--started-at', '2026-11-20T10:00:00Z', '--ended-at', '2026-11-20T10:05:00Z'],
  ...['--label', 'repository=acme/web', '--label', 'branch=feature'],
]

/** A session of Claude Code in the home folder of the job. */
async function session(): Promise<void> {
  await mkdir(join(home, '.claude/projects/p'), { recursive: true })
  const usage = { input_tokens: 12, output_tokens: 5, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 }
  const common = { sessionId: crypto.randomUUID(), timestamp: '2026-11-20T10:00:00Z', cwd: home }
  const message = { id: 'm', model: 'claude-sonnet-4-5', usage }
  const line = JSON.stringify({ type: 'assistant', message, requestId: 'r', ...common })
  await Bun.write(join(home, '.claude/projects/p', `${common.sessionId}.jsonl`), `${line}\n`)
}

test('a job of GitLab reports and reads with its one ID token, and what it got stays with its user', async () => {
  const job = await jobOfGitLab()
  const before = await exchanges('gitlab')
  await session()
  const preview = await run(['agents', 'scan', '--dry-run'], job)
  expect([preview.code, preview.stderr]).toEqual([0, expect.stringContaining('Nothing was saved')])
  const scan = await run(['agents', 'scan', '--report', '--json'], job)
  expect([scan.code, scan.stderr, JSON.parse(scan.stdout).reported]).toMatchObject([0, '', { created: 1 }])
  const entry = await run([...ENTRY, '--json'], job)
  expect([entry.code, entry.stderr]).toEqual([0, ''])
  expect(JSON.parse(entry.stdout)).toMatchObject({
    project: { key: 'WEB' },
    agent_manager: { name: 'ci' },
  })
  const receipt = await run(['receipt', '--repository', 'acme/web', '--branch', 'feature'], job)
  expect([receipt.code, receipt.stderr]).toEqual([0, ''])
  expect(receipt.stdout).toContain('Only entries of the project WEB are included, without people and budgets.')
  // One for each kind, as the others found what the first command had got.
  expect((await exchanges('gitlab')) - before).toBe(2)

  const file = join(home, '.local/state/tally/ci.json')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const [svc, read] = [await run(['ci', 'token'], job), await run(['ci', 'token', '--kind', 'read'], job)]
  expect([svc.stdout, svc.stderr]).toEqual([expect.stringMatching(/^tally_svc_\w+\n$/), ''])
  expect(read.stdout).toMatch(/^tally_read_\w+\n$/)
  const kept = await readFile(file, 'utf8')
  expect([kept.includes(svc.stdout.trim()), kept.includes(job.TALLY_ID_TOKEN)]).toEqual([true, false])
  for (const shown of [preview, scan, entry, receipt].flatMap(({ stdout, stderr }) => [stdout, stderr])) {
    for (const secret of [svc.stdout.trim(), read.stdout.trim(), job.TALLY_ID_TOKEN])
      expect(shown).not.toContain(secret)
  }
  // Another job of the same runner, while the file has what that of the first got.
  const other = await run(['ci', 'token'], await jobOfGitLab())
  expect([other.code, other.stdout === svc.stdout]).toEqual([0, false])
  expect((await run(['ci', 'token'], job)).stdout).toBe(svc.stdout)

  // What has expired is no longer there, and not used: the ID token was exchanged before.
  const expired = kept.replaceAll(/"expires_at":"[^"]+"/g, '"expires_at":"2026-01-01T00:00:00.000Z"')
  await Bun.write(file, expired)
  const again = await run(['ci', 'token'], job)
  expect([again.code, again.stdout, again.stderr]).toEqual([
    1,
    '',
    expect.stringContaining('exchanged for a svc token'),
  ])
})

test('a job of GitHub asks for an ID token, and hides the token in its log', async () => {
  const job = jobOfGitHub()
  const { code, stdout, stderr } = await run(['ci', 'token', '--url', `${server.url}/`], job)
  expect([code, stderr]).toEqual([0, `::add-mask::${stdout}`])
  expect((await run(ENTRY, job)).code).toBe(0)
  expect(github.requests.filter((path) => path === '/id-token')).toHaveLength(1)
  const me = await server.call('GET /api/v1/me', { token: stdout.trim() })
  expect(me.json.token.limit).toEqual({ project: 'WEB', trust: expect.stringMatching(/^tru_/) })
  const login = ['agents', 'login', '--url', server.url, '--token-stdin']
  const stored = await tally.run(login, { env: { HOME: home }, stdin: stdout })
  expect([stored.code, stored.stderr]).toEqual([1, expect.stringContaining('the token of a CI job')])
})

test('a token that is set counts more, and without an ID token nothing changes', async () => {
  const before = github.requests.length
  const { token: svc } = await tally.createToken('svc', 'ci@example.com')
  const job = jobOfGitHub()
  expect((await run(ENTRY, { ...job, TALLY_TOKEN: svc })).stdout).toContain('unattributed')
  const refused = await run(['receipt', '--ticket', 'X-1'], { ...job, TALLY_READ_TOKEN: svc })
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('does not accept the token')])
  expect(github.requests.length).toBe(before)
  await session()
  for (const [args, code, text] of [
    [['agents', 'scan', '--report'], 2, 'no token is set'],
    [ENTRY, 2, 'no token is set'],
    [['receipt', '--ticket', 'X-1'], 2, 'No read token is set'],
    [['ci', 'token'], 2, 'id-token: write'],
  ] as const) {
    const ran = await run([...args], {})
    expect([args, ran.code, ran.stderr]).toEqual([args, code, expect.stringContaining(text)])
  }
  const unnamed = await tally.run(['ci', 'token'], { folder: home, env: { HOME: home, ...job } })
  expect([unnamed.code, unnamed.stderr]).toEqual([2, expect.stringContaining('Set TALLY_URL')])
})

test('nothing secret goes where it could be read, or is shown', async () => {
  const job = jobOfGitHub()
  const { ACTIONS_ID_TOKEN_REQUEST_TOKEN: secret } = job as { ACTIONS_ID_TOKEN_REQUEST_TOKEN: string }
  const fails = async (env: Record<string, string>, text: string) => {
    const { code, stdout, stderr } = await run(['ci', 'token'], { ...job, ...env })
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining(text)])
    expect(stderr).not.toContain(secret)
    return stderr
  }
  const before = github.requests.length
  await fails({ TALLY_URL: 'http://tally.example.com' }, 'tally.example.com would get secrets')
  const request = { ACTIONS_ID_TOKEN_REQUEST_URL: `http://github.example.com/id-token?secret=${secret}` }
  await fails(request, 'github.example.com would get secrets')
  expect(github.requests.length).toBe(before)

  await fails({ ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'other' }, 'GitHub gave no ID token: 127.0.0.1')
  const received: string[] = []
  const elsewhere = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (sent) => {
      received.push((sent.headers.get('authorization') ?? '') + (await sent.text()))
      return Response.json({ value: 'x' })
    },
  })
  try {
    const issue = github.answers.get('/id-token')!
    github.answers.set('/id-token', () => Response.redirect(elsewhere.url.href, 307))
    await fails({}, 'returned 307')
    github.answers.set('/id-token', () => new Response('<html>'))
    await fails({}, 'returned something else')
    github.answers.set('/id-token', issue)
    // A server that sends the ID token on.
    const moving = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: () => Response.redirect(elsewhere.url.href, 307),
    })
    await fails({ TALLY_URL: moving.url.origin }, 'redirects to')
    await moving.stop(true)
    expect(received).toEqual([])
  } finally {
    await elsewhere.stop(true)
  }
  await Bun.write(join(home, 'full/tally'), 'a file where the folder would be')
  await fails({ XDG_STATE_HOME: join(home, 'full') }, 'ci.json cannot be written')
  // A job that no trust is for.
  const token = await github.sign(gitHubClaims(github.url, server.url, { repository_id: '43' }))
  const stderr = await fails({ TALLY_ID_TOKEN: token }, 'No trust matches acme/web (43)')
  expect(stderr).not.toContain(token)
})
