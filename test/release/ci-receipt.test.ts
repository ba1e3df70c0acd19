/**
 * The action of GitHub and the job of GitLab that comment receipts: their scripts as they are, in a real shell and clone, with a
 * real Tally, and stand-ins for the forge's API and issuer of ID tokens, and for the download of the package.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startApp, type TestApp } from '../support/app.ts'
import { gitLabClaims, type IdTokenIssuer, issueToJobs, startIssuer } from '../support/id-token-issuer.ts'

const ROOT = join(import.meta.dir, '../..')
const BRANCH = 'feature/ACME-42'
const MARK = /^<!-- tally-receipt:[0-9a-f]{16} -->\n/

let app: TestApp
let folder: string
let svc: string
let github: IdTokenIssuer
let gitlab: IdTokenIssuer
let sessions = 0

beforeAll(async () => {
  app = await startApp()
  const admin = await app.person('admin')
  svc = await app.token('svc', admin)
  ;[github, gitlab] = await Promise.all([startIssuer(), startIssuer()])
  const session = await app.session('admin')
  const add = async (path: string, json: object) => {
    const { status, json: added } = await app.call(`POST /api/v1/${path}`, { session, json })
    expect([path, status, added.errors]).toEqual([path, 201, undefined])
  }
  await app.call('PATCH /api/v1/settings', { session, json: { public_url: app.url } })
  await add('projects', { key: 'ACME' })
  const of = { user: await app.person('member'), project: 'ACME', branches: ['main'], pull_requests: true }
  await add('trusts', { provider: 'github', issuer: github.url, repository: 'acme/web', repository_id: '42', ...of })
  await add('trusts', { provider: 'gitlab', issuer: gitlab.url, repository: 'acme/lab', repository_id: '7', ...of })
  folder = await mkdtemp(join(tmpdir(), 'tally-ci-'))
  await mkdir(join(folder, 'bin'))
  // What npx would download.
  await program('npx', `shift; shift; exec "${process.execPath}" "${join(ROOT, 'src/main.ts')}" "$@"`)
  await program('gh', `exec "${process.execPath}" "${join(folder, 'gh.ts')}" "$@"`)
  await writeFile(join(folder, 'gh.ts'), GH)
})
afterAll(async () => {
  await Promise.all([github.close(), gitlab.close()])
  await app.close()
  await rm(folder, { recursive: true, force: true })
})

/** `gh api` as the action calls it, with 2 comments a page, and the comments in a file. */
const GH = `
const [, , api, ...args] = process.argv
const valueOf = (name: string) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined)
if (api !== 'api' || process.env.GH_TOKEN !== 'github-token') process.exit(1)
const path = args.find((arg) => arg.startsWith('repos/'))!
const file = Bun.file(process.env.COMMENTS!)
const comments = await file.json()
const method = valueOf('--method') ?? 'GET'
const field = valueOf('--field')
const body = field && (await Bun.file(field.replace('body=@', '')).text())
const user = { login: 'github-actions[bot]' }
if (path === 'repos/acme/web/issues/7/comments?per_page=100' && args.includes('--paginate')) {
  for (let at = 0; at < comments.length; at += 2) console.log(JSON.stringify(comments.slice(at, at + 2)))
} else if (method === 'POST' && path === 'repos/acme/web/issues/7/comments') {
  comments.push({ id: comments.length + 1, user, body })
  await Bun.write(file, JSON.stringify(comments))
} else if (method === 'PATCH') {
  const edited = comments.find(({ id }) => path === \`repos/acme/web/issues/comments/\${id}\`)
  if (edited?.user.login !== user.login) process.exit(1)
  edited.body = body
  await Bun.write(file, JSON.stringify(comments))
} else process.exit(1)
`

async function program(name: string, script: string): Promise<void> {
  const path = join(folder, 'bin', name)
  await writeFile(path, `#!/bin/sh\n${script}\n`)
  await chmod(path, 0o755)
}

async function report(cost: number, repository: string): Promise<void> {
  sessions += 1
  const { status } = await app.call('POST /api/v1/token-entries', {
    token: svc,
    json: {
      ...{ agent_harness: 'codex', agent_name: 'x', model: 'house', started_at: '2026-11-19T10:00:00Z' },
      ...{ ended_at: '2026-11-19T11:00:00Z', tokens: { input: 10, output: 5 }, reported_cost: cost },
      ...{ session_id: `session-${sessions}`, labels: { repository, branch: BRANCH }, project: 'ACME' },
    },
  })
  expect(status).toBe(201)
}

function git(at: string, ...args: string[]): void {
  const who = { GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@b.c', GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@b.c' }
  const when = { GIT_AUTHOR_DATE: '2026-11-18T09:00:00Z', GIT_COMMITTER_DATE: '2026-11-18T09:00:00Z' }
  const env = { PATH: process.env.PATH!, HOME: folder, ...who, ...when }
  const { exitCode, stderr } = Bun.spawnSync(['git', '-C', at, ...args], { env, stdin: 'ignore' })
  if (exitCode !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`)
}

/** A clone as runners make it: without a branch, at the merge of the branch and main. */
async function checkout(name: string, url: string): Promise<string> {
  const [origin, clone] = [join(folder, `${name}-origin`), join(folder, name)]
  await mkdir(origin)
  git(origin, 'init', '-q', '-b', 'main')
  git(origin, 'commit', '-q', '--allow-empty', '-m', 'base')
  git(origin, 'switch', '-q', '-c', BRANCH)
  git(origin, 'commit', '-q', '--allow-empty', '-m', 'work')
  git(folder, 'config', '--global', `url.file://${origin}.insteadOf`, url)
  git(folder, 'clone', '-q', url, clone)
  git(clone, 'switch', '-q', '--detach', 'origin/main')
  git(clone, 'merge', '-q', '--no-ff', '-m', 'merge', `origin/${BRANCH}`)
  return clone
}

async function run(shell: string[], script: string, cwd: string, env: Record<string, string>) {
  const child = Bun.spawn([...shell, script], {
    cwd,
    env: { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, HOME: folder, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, stdout, stderr }
}

describe('the action of GitHub', () => {
  const comments = () => join(folder, 'comments.json')
  const listed = async () => JSON.parse(await readFile(comments(), 'utf8')) as { id: number; body: string }[]

  let jobs = 0

  /** Runs its steps with these inputs, as GitHub replaces expressions and sets variables. */
  async function act(
    clone: string,
    inputs: Record<string, string>,
    { isTrusted = true, ...more }: { isTrusted?: boolean; 'github.event.pull_request.number'?: string } = {},
  ) {
    const text = await readFile(join(ROOT, 'packaging/github/receipt/action.yml'), 'utf8')
    const action = Bun.YAML.parse(text) as {
      inputs: Record<string, { default?: string; required?: boolean }>
      runs: { using: string; steps: { shell: string; run: string; env: Record<string, string> }[] }
    }
    expect(action.runs.using).toBe('composite')
    const context: Record<string, string> = {
      'github.token': 'github-token',
      'github.event.pull_request.number': '7',
      ...more,
    }
    for (const [name, input] of Object.entries(action.inputs)) {
      context[`inputs.${name}`] = inputs[name] ?? input.default ?? ''
    }
    const [step] = action.runs.steps
    // Nothing that others choose may become part of the script.
    expect(step!.run).not.toContain('${{')
    const env = Object.fromEntries(
      Object.entries(step!.env).map(([name, value]) => [
        name,
        value.replace(/\$\{\{ (.+?) \}\}/g, (_, expression) => context[expression]!),
      ]),
    )
    await writeFile(join(folder, 'summary'), '')
    jobs += 1
    const ofJob = isTrusted ? issueToJobs(github, `request-${jobs}`) : {}
    return run(['bash', '--noprofile', '--norc', '-eo', 'pipefail', '-c'], step!.run, clone, {
      ...{ GITHUB_ACTIONS: 'true', CI: 'true', GITHUB_REPOSITORY: 'acme/web', RUNNER_TEMP: folder },
      ...{ GITHUB_STEP_SUMMARY: join(folder, 'summary'), COMMENTS: comments() },
      ...{ GITHUB_HEAD_REF: BRANCH, GITHUB_BASE_REF: 'main', GITHUB_REF_NAME: '7/merge', GITHUB_REF_TYPE: 'branch' },
      ...env,
      ...ofJob,
    })
  }

  test('comments once, edits its own comment, and fails above the maximum', async () => {
    const clone = await checkout('github', 'https://github.com/acme/web')
    await report(16.02, 'acme/web')
    await writeFile(comments(), '[]')
    const inputs = { url: app.url }
    expect(await act(clone, inputs)).toEqual({ code: 0, stdout: '', stderr: '' })
    const [first] = await listed()
    expect(first!.body).toMatch(MARK)
    expect(first!.body).toContain('### Tally: $16.02 for this branch')
    expect(first!.body).toContain('since 2026-11-18 (left `origin/main`)')
    expect(first!.body).toContain('Only entries of the project `ACME` are included')
    expect(await readFile(join(folder, 'summary'), 'utf8')).toBe(first!.body)
    // Somebody else has copied the comment; it is the first one that is found.
    const copy = { ...first!, id: 100, user: { login: 'mallory' } }
    const other = { id: 101, user: { login: 'github-actions[bot]' }, body: 'built' }
    await writeFile(comments(), JSON.stringify([copy, other, { ...first!, id: 3 }]))
    await report(2.4, 'acme/web')
    const above = await act(clone, { ...inputs, max: '10' })
    expect([above.code, above.stderr]).toEqual([3, 'tally: The cost is $18.42, more than $10.00.\n'])
    const after = await listed()
    expect(after.map(({ id }) => id)).toEqual([100, 101, 3])
    expect(after.map(({ body }) => body.includes('$18.42'))).toEqual([false, false, true])
  })

  test('does nothing without an ID token, and fails without a comment if Tally does not answer', async () => {
    const clone = await checkout('github-without', 'https://github.com/acme/without')
    await writeFile(comments(), '[]')
    const fork = await act(clone, { url: app.url }, { isTrusted: false })
    expect([fork.code, fork.stdout]).toEqual([0, expect.stringContaining('::notice::No receipt')])
    const gone = await act(clone, { url: 'http://127.0.0.1:1', token: svc })
    expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining('cannot be reached')])
    const refused = await act(clone, { url: app.url, token: svc })
    expect([refused.code, refused.stderr.includes(svc)]).toEqual([1, false])
    const pushed = await act(clone, { url: app.url }, { 'github.event.pull_request.number': '' })
    expect(pushed.code).toBe(0)
    expect(await listed()).toEqual([])
  })
})

describe('the job of GitLab', () => {
  test('notes once, edits its own note, and leaves others', async () => {
    const clone = await checkout('gitlab', 'https://gitlab.com/acme/lab')
    git(clone, 'update-ref', '-d', 'refs/remotes/origin/main')
    await report(5, 'acme/lab')
    const notes: { id: number; author: { id: number }; body: string }[] = []
    const calls: string[] = []
    const forge = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        const { pathname, searchParams } = new URL(request.url)
        calls.push(`${request.method} ${pathname}`)
        if (request.headers.get('private-token') !== 'glpat-notes') return new Response(null, { status: 401 })
        if (pathname === '/api/v4/user') return Response.json({ id: 42 })
        const [, id] = /^\/api\/v4\/projects\/9\/merge_requests\/7\/notes(?:\/(\d+))?$/.exec(pathname) ?? []
        if (request.method === 'GET') {
          const page = Number(searchParams.get('page'))
          const headers = { 'x-next-page': notes.length > page ? String(page + 1) : '' }
          return Response.json(notes.slice(page - 1, page), { headers })
        }
        const { body } = (await request.json()) as { body: string }
        if (request.method === 'POST') notes.push({ id: 50 + notes.length, author: { id: 42 }, body })
        else notes.find((note) => note.id === Number(id))!.body = body
        return Response.json({})
      },
    })
    const idToken = await gitlab.sign(gitLabClaims(gitlab.url, app.url))
    const text = await readFile(join(ROOT, 'packaging/gitlab/receipt.yml'), 'utf8')
    const { 'tally-receipt': job } = Bun.YAML.parse(text) as {
      'tally-receipt': {
        script: string[]
        variables: Record<string, string | { value: string; expand: boolean }>
        id_tokens: unknown
      }
    }
    expect(job.id_tokens).toEqual({ TALLY_ID_TOKEN: { aud: '$TALLY_URL' } })
    const variables = Object.fromEntries(
      Object.entries(job.variables).map(([name, value]) => [name, typeof value === 'string' ? value : value.value]),
    )
    const start = (more: Record<string, string>) =>
      run(['bash', '-eo', 'pipefail', '-c'], job.script.join('\n'), clone, {
        ...variables,
        ...{ CI: 'true', CI_API_V4_URL: `${forge.url}api/v4`, CI_PROJECT_ID: '9', CI_MERGE_REQUEST_IID: '7' },
        ...{ CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: BRANCH, CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main' },
        ...{ TALLY_URL: app.url, TALLY_ID_TOKEN: idToken, TALLY_NOTES_TOKEN: 'glpat-notes', TALLY_MAX: '' },
        ...more,
      })
    try {
      expect(await start({})).toEqual({ code: 0, stdout: '', stderr: '' })
      expect(notes.map(({ body }) => MARK.test(body) && body.includes('$5.00'))).toEqual([true])
      // A copy by somebody else comes first.
      notes.unshift({ id: 1, author: { id: 6 }, body: notes[0]!.body })
      await report(1, 'acme/lab')
      expect((await start({ TALLY_MAX: '5.50' })).code).toBe(3)
      expect(notes.map(({ body }) => /\$[\d.]+/.exec(body)![0])).toEqual(['$5.00', '$6.00'])
      calls.length = 0
      expect((await start({ TALLY_NOTES_TOKEN: '' })).code).toBe(0)
      expect(await readFile(join(clone, 'receipt.md'), 'utf8')).toContain('$6.00')
      expect((await start({ TALLY_URL: '' })).stdout).toContain('No receipt')
      expect(calls).toEqual([])
      await writeFile(join(clone, 'receipt.md'), notes[1]!.body.replace('$6.00', '$0.01'))
      expect((await start({ TALLY_URL: 'http://127.0.0.1:1', TALLY_READ_TOKEN: 'tally_read_x' })).code).toBe(1)
      expect(calls).toEqual([])
      const refused = await start({ TALLY_NOTES_TOKEN: 'wrong' })
      expect([refused.code, refused.stderr]).toEqual([1, 'GitLab answered GET user with 401.\n'])
    } finally {
      await forge.stop(true)
    }
  })
})
