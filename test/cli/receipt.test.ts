/** `tally receipt` in real git repositories: from the server, from session files, and equal for the same sessions. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestApp } from '../support/app.ts'
import { CommandLine } from '../support/command-line.ts'

let tally: CommandLine
let server: TestApp
let tokens: { svc: string; read: string }

beforeAll(async () => {
  tally = await CommandLine.make()
  await tally.addUser()
  server = await tally.app()
  tokens = { svc: (await tally.createToken('svc')).token, read: (await tally.createToken('read')).token }
})
afterAll(() => tally.remove())

const BRANCH = 'feature/ACME-42'
let places = 0

/** A developer's machine: a home folder with sessions of Claude Code, and repositories. */
class Machine {
  private constructor(readonly home: string) {}

  static async make(): Promise<Machine> {
    places += 1
    const home = join(tally.folder, `home-${places}`)
    await mkdir(join(home, '.claude/projects/p'), { recursive: true })
    return new Machine(home)
  }

  /** A repository whose branch left main on 18 November, with two commits of its own. */
  async repository(remote: string | null = 'git@github.com:acme/web.git'): Promise<string> {
    places += 1
    const folder = join(this.home, `repository-${places}`)
    await mkdir(folder)
    this.git(folder, '2026-11-10T09:00:00Z', 'init', '-q', '-b', 'main')
    if (remote) this.git(folder, '2026-11-10T09:00:00Z', 'remote', 'add', 'origin', remote)
    this.commit(folder, '2026-11-10T09:00:00Z', 'first')
    this.commit(folder, '2026-11-18T09:00:00Z', 'base')
    this.git(folder, '2026-11-18T09:30:00Z', 'switch', '-q', '-c', BRANCH)
    this.commit(folder, '2026-11-19T11:00:00Z', 'one')
    this.commit(folder, '2026-11-20T11:00:00Z', 'two')
    return folder
  }

  git(folder: string, at: string, ...args: string[]): string {
    const env = {
      ...{ PATH: process.env.PATH!, HOME: this.home, GIT_CONFIG_NOSYSTEM: '1' },
      ...{ GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.com', GIT_AUTHOR_DATE: at },
      ...{ GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.com', GIT_COMMITTER_DATE: at },
    }
    const { exitCode, stdout, stderr } = Bun.spawnSync(['git', '-C', folder, ...args], { env, stdin: 'ignore' })
    if (exitCode !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`)
    return stdout.toString().trim()
  }

  commit(folder: string, at: string, subject: string): void {
    Bun.write(join(folder, `${subject}.txt`), subject)
    this.git(folder, at, 'add', '-A')
    this.git(folder, at, 'commit', '-q', '--allow-empty', '-m', subject)
  }

  /** A session of Claude Code with a request per time. */
  async session(id: string, folder: string, times: string[], { branch = BRANCH, model = 'claude-sonnet-4-5' } = {}) {
    const usage = {
      input_tokens: 1234,
      output_tokens: 567,
      cache_read_input_tokens: 89,
      cache_creation_input_tokens: 0,
    }
    const lines = times.flatMap((timestamp, at) => {
      const common = { sessionId: id, timestamp, cwd: folder, gitBranch: branch }
      const message = { id: `${id}-${at}`, model, usage }
      return [
        { type: 'user', message: { content: 'hello' }, ...common },
        { type: 'assistant', message, requestId: `req-${id}-${at}`, ...common },
      ]
    })
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    await writeFile(join(this.home, '.claude/projects/p', `${id}.jsonl`), text)
  }

  run(folder: string, args: string[], env: Record<string, string> = {}) {
    return tally.run(args, { folder, env: { HOME: this.home, ...env } })
  }

  /** The receipt as JSON, of a command that succeeds. */
  async receipt(folder: string, args: string[], env: Record<string, string> = {}) {
    const { code, stdout, stderr } = await this.run(folder, ['receipt', '--format', 'json', ...args], env)
    expect([code, code === 0 ? '' : stderr]).toEqual([0, ''])
    return JSON.parse(stdout)
  }

  async reportTo(env: Record<string, string>, folder = this.home): Promise<void> {
    const { code, stderr } = await this.run(folder, ['agents', 'scan', '--report'], { TALLY_TOKEN: tokens.svc, ...env })
    expect([code, code === 0 ? '' : stderr]).toEqual([0, ''])
  }
}

const asking = () => ({ TALLY_URL: server.url, TALLY_READ_TOKEN: tokens.read })
const reporting = () => ({ TALLY_URL: server.url })

describe('a receipt of session files', () => {
  test('equals that of the server for the same sessions', async () => {
    const machine = await Machine.make()
    const folder = await machine.repository('https://github.com/equal/web')
    await machine.session('11111111-aaaa-4aaa-8aaa-000000000001', folder, [
      ...['2026-11-19T10:00:00Z', '2026-11-19T10:07:00Z', '2026-11-19T23:50:00Z', '2026-11-20T00:10:00Z'],
    ])
    const [second, third] = ['11111111-aaaa-4aaa-8aaa-000000000002', '11111111-aaaa-4aaa-8aaa-000000000003']
    await machine.session(second, folder, ['2026-11-20T10:00:00Z'], { model: 'no-such-model' })
    // On another branch, and of an earlier branch of the same name.
    await machine.session(third, folder, ['2026-11-20T10:00:00Z'], { branch: 'main' })
    await machine.session('11111111-aaaa-4aaa-8aaa-000000000004', folder, ['2026-11-11T10:00:00Z'])
    await machine.reportTo(reporting())
    for (const more of [[], ['--since', 'main']]) {
      const there = await machine.receipt(folder, more, asking())
      const here = await machine.receipt(folder, ['--local', ...more], asking())
      expect([here.source, there.source]).toEqual(['local', 'server'])
      for (const same of [
        'repository',
        'branch',
        'ticket',
        'starting_at',
        'ending_at',
        'basis',
        'currency',
        'totals',
      ]) {
        expect([same, here[same]]).toEqual([same, there[same]])
      }
      expect(here.models).toEqual(there.models)
      expect(here.totals.sessions).toBe(more.length > 0 ? 2 : 3)
      expect([here.totals.entries, here.totals.unpriced_entries]).toEqual(more.length > 0 ? [3, 1] : [4, 1])
      expect(there.starting_at).toBe(more.length > 0 ? '2026-11-18T00:00:00.000Z' : null)
    }
  })

  test('are counted by folder where the repository has no remote', async () => {
    const machine = await Machine.make()
    const [folder, other] = [await machine.repository(null), await machine.repository(null)]
    await mkdir(join(folder, 'src'))
    await machine.session('22222222-aaaa-4aaa-8aaa-000000000001', join(folder, 'src'), ['2026-11-19T10:00:00Z'])
    await machine.session('22222222-aaaa-4aaa-8aaa-000000000002', other, ['2026-11-19T10:00:00Z'])
    const { totals, repository } = await machine.receipt(join(folder, 'src'), [])
    expect([repository, totals.sessions]).toEqual([null, 1])
    const { code, stderr } = await machine.run(folder, ['receipt'], asking())
    expect([code, stderr]).toEqual([2, expect.stringContaining('has no remote')])
  })

  test('says that other machines are not included, and what it cannot answer', async () => {
    const machine = await Machine.make()
    const folder = await machine.repository()
    await machine.session('33333333-aaaa-4aaa-8aaa-000000000001', folder, ['2026-11-19T10:00:00Z'])
    const { stdout } = await machine.run(folder, ['receipt', '--since', 'main'])
    expect(stdout).toMatch(/^acme\/web, branch feature\/ACME-42, since 2026-11-18 \(left main\) +\$0\.01\n/)
    expect(stdout).toContain('1 session · ')
    expect(stdout).toContain('Sessions on other machines are not included.')
    expect(stdout).not.toContain('http')
    for (const flags of [['--ticket', 'ACME-42'], ['--people'], ['--basis', 'list']]) {
      const { code, stderr } = await machine.run(folder, ['receipt', ...flags])
      expect([flags, code, stderr]).toEqual([
        flags,
        2,
        expect.stringMatching(/Session files have no .*TALLY_READ_TOKEN/),
      ])
    }
  })

  test('are read where the login can only report, and nothing is guessed where a server is named', async () => {
    const machine = await Machine.make()
    const folder = await machine.repository()
    const login = await tally.run(['agents', 'login', '--url', server.url, '--token-stdin'], {
      env: { HOME: machine.home },
      stdin: tokens.svc,
    })
    expect([login.code, login.stderr]).toEqual([0, ''])
    const here = await machine.run(folder, ['receipt', '--format', 'json'])
    expect([here.code, JSON.parse(here.stdout).source]).toEqual([0, 'local'])
    expect(here.stderr).toContain('can only report')
    const named = await machine.run(folder, ['receipt'], { TALLY_URL: server.url })
    expect([named.code, named.stdout, named.stderr]).toEqual([2, '', expect.stringContaining('No read token is set')])
    const there = await machine.receipt(folder, [], { TALLY_READ_TOKEN: tokens.read })
    expect(there.source).toBe('server')
    const wrong = await machine.run(folder, ['receipt'], { ...asking(), TALLY_READ_TOKEN: tokens.svc })
    expect([wrong.code, wrong.stdout, wrong.stderr]).toEqual([
      1,
      '',
      expect.stringContaining('does not accept the token'),
    ])
  })

  test('that cannot be read make it incomplete', async () => {
    const machine = await Machine.make()
    const folder = await machine.repository()
    await machine.session('44444444-aaaa-4aaa-8aaa-000000000001', folder, ['2026-11-19T10:00:00Z'])
    await writeFile(
      join(machine.home, '.claude/projects/p/damaged.jsonl'),
      '{"type":"assistant","message":{"usage":\n{}\n',
    )
    const { code, stdout, stderr } = await machine.run(folder, ['receipt'])
    expect([code, stdout, stderr]).toEqual([
      4,
      expect.stringContaining('1 session'),
      expect.stringContaining('damaged'),
    ])
  })
})

describe('the branch is', () => {
  const subject = async (machine: Machine, folder: string, args: string[] = [], env: Record<string, string> = {}) => {
    const { repository, branch, starting_at } = await machine.receipt(folder, ['--local', ...args], env)
    return [repository, branch, starting_at?.slice(0, 10) ?? null]
  }

  test('the one that is checked out, also in a linked work tree and a folder below', async () => {
    const machine = await Machine.make()
    const folder = await machine.repository()
    expect(await subject(machine, folder, ['--since', 'main'])).toEqual(['acme/web', BRANCH, '2026-11-18'])
    const linked = join(machine.home, 'linked')
    machine.git(folder, '2026-11-21T09:00:00Z', 'worktree', 'add', '-q', '-b', 'fix', linked, 'main')
    await mkdir(join(linked, 'deep/er'), { recursive: true })
    expect(await subject(machine, join(linked, 'deep/er'), ['--since', 'main'])).toEqual([
      ...['acme/web', 'fix', '2026-11-21'],
    ])
    expect(await subject(machine, linked, ['--branch', BRANCH, '--since', 'main'])).toEqual([
      ...['acme/web', BRANCH, '2026-11-18'],
    ])
  })

  test('that of the pipeline, where a commit is checked out', async () => {
    const machine = await Machine.make()
    const folder = await machine.repository()
    machine.git(folder, '2026-11-21T09:00:00Z', 'switch', '-q', '--detach')
    const none = await machine.run(folder, ['receipt', '--local'])
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('Use --branch')])
    const of = (env: Record<string, string>) => subject(machine, folder, ['--since', 'main'], env)
    const github = { GITHUB_REF_NAME: '7/merge', GITHUB_REF_TYPE: 'branch' }
    expect(await of({ ...github, GITHUB_HEAD_REF: BRANCH })).toEqual(['acme/web', BRANCH, '2026-11-18'])
    expect(await of({ CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: 'mine' })).toEqual(['acme/web', 'mine', '2026-11-18'])
    expect(await of({ CI_COMMIT_BRANCH: 'trunk' })).toEqual(['acme/web', 'trunk', '2026-11-18'])
    const tag = await machine.run(folder, ['receipt'], { GITHUB_REF_NAME: 'v1', GITHUB_REF_TYPE: 'tag' })
    expect(tag.code).toBe(2)
  })

  test('since it left the other one, whatever was merged or rebased', async () => {
    const machine = await Machine.make()
    const day = async (folder: string, env: Record<string, string> = {}, args = ['--since', 'main']) =>
      (await subject(machine, folder, args, env))[2]
    const main = async (at: string) => {
      const folder = await machine.repository()
      machine.git(folder, at, 'switch', '-q', 'main')
      machine.commit(folder, at, 'later')
      return folder
    }
    // Merging the other branch moves their merge base to its newest commit.
    const merged = await main('2026-11-22T09:00:00Z')
    machine.git(merged, '2026-11-23T09:00:00Z', 'switch', '-q', BRANCH)
    machine.git(merged, '2026-11-23T09:00:00Z', 'merge', '-q', '--no-ff', '-m', 'merge', 'main')
    expect(await day(merged)).toBe('2026-11-18')
    // A pipeline checks out the merge of both, and knows nothing of the branch.
    const pull = await main('2026-11-22T09:00:00Z')
    machine.git(pull, '2026-11-23T09:00:00Z', 'switch', '-q', '--detach', 'main')
    machine.git(pull, '2026-11-23T09:00:00Z', 'merge', '-q', '--no-ff', '-m', 'merge', BRANCH)
    machine.git(pull, '2026-11-23T09:00:00Z', 'branch', '-q', '-D', BRANCH)
    expect(await day(pull, { GITHUB_HEAD_REF: BRANCH })).toBe('2026-11-18')
    // A rebase makes the commits anew, but keeps when they were written; on another machine, nothing else is left.
    const rebased = await main('2026-11-22T09:00:00Z')
    machine.git(rebased, '2026-11-24T09:00:00Z', 'rebase', '-q', 'main', BRANCH)
    expect(await day(rebased)).toBe('2026-11-18')
    await rm(join(rebased, '.git/logs'), { recursive: true })
    expect(await day(rebased)).toBe('2026-11-19')
    // Renamed: by its new name, since it left.
    const renamed = await machine.repository()
    machine.git(renamed, '2026-11-25T09:00:00Z', 'branch', '-m', 'other-name')
    expect(await subject(machine, renamed, ['--since', 'main'])).toEqual(['acme/web', 'other-name', '2026-11-18'])
    // Without a commit, git knows when it was made.
    const fresh = await machine.repository()
    machine.git(fresh, '2026-11-26T09:00:00Z', 'switch', '-q', '-c', 'fresh', 'main')
    expect(await day(fresh)).toBe('2026-11-26')
    await rm(join(fresh, '.git/logs'), { recursive: true })
    const { code, stderr } = await machine.run(fresh, ['receipt', '--since', 'main'])
    expect([code, stderr]).toEqual([0, expect.stringContaining('all of its sessions are included')])
  })

  test('said if git cannot know it', async () => {
    const machine = await Machine.make()
    const folder = await machine.repository()
    const said = async (at: string, ...args: string[]) => {
      const { code, stdout, stderr } = await machine.run(at, ['receipt', '--local', ...args])
      return [code, stdout, stderr]
    }
    expect(await said(folder, '--since', 'no-such')).toEqual([2, '', expect.stringContaining("'no-such'")])
    expect(await said(folder, '--since=--output=x')).toEqual([2, '', expect.stringContaining("'--output=x'")])
    expect(await said(folder, '--branch', 'gone', '--since', 'main')).toEqual([
      2,
      '',
      expect.stringContaining("'gone'"),
    ])
    expect(await said(machine.home)).toEqual([2, '', expect.stringContaining('not in a git repository')])
    expect((await said(machine.home, '--repository', 'acme/web', '--branch', 'x'))[0]).toBe(0)
    const shallow = join(machine.home, 'shallow')
    machine.git(folder, '2026-11-21T09:00:00Z', 'clone', '-q', '--depth', '1', `file://${folder}`, shallow)
    expect(await said(shallow, '--since', BRANCH)).toEqual([2, '', expect.stringContaining('fetch-depth: 0')])
    expect((await said(shallow))[0]).toBe(0)
  })
})

describe('a receipt of the server', () => {
  test('is text, Markdown for a comment, or JSON, and ends by --max', async () => {
    const machine = await Machine.make()
    const folder = await machine.repository('git@github.com:acme/formats.git')
    const report = (more: object) =>
      server.call('POST /api/v1/token-entries', {
        token: tokens.svc,
        json: {
          ...{ agent_harness: 'codex', agent_name: 'x', model: 'house', started_at: '2026-11-19T10:00:00Z' },
          ...{ ended_at: '2026-11-19T11:00:00Z', tokens: { input: 1_000_000, output: 5 }, active_seconds: 1800 },
          labels: { repository: 'acme/formats', branch: BRANCH },
          ...more,
        },
      })
    await report({ project: 'FORMATS', reported_cost: 16.02 })
    await report({ ticket: 'FORMATS-1', project: 'FORMATS', model: 'small', reported_cost: 1.2, active_seconds: 60 })
    await report({ reported_cost: 1.2, session_id: 'unattributed-session' })
    const budget = ['--name', 'Formats', '--project', 'FORMATS', '--amount', '25', '--period', 'once']
    await tally.done(['budgets', 'add', ...budget])
    await server.services.budgets.count()
    const run = (...args: string[]) => machine.run(folder, ['receipt', '--since', 'main', ...args], asking())
    const { stdout: text } = await run('--people')
    const url = `${server.url}/entries?starting_at=2026-11-18T00%3A00%3A00.000Z&label=repository%3Aacme%2Fformats&label=branch%3Afeature%2FACME-42`
    expect(text.split('\n')).toEqual([
      'acme/formats, branch feature/ACME-42, since 2026-11-18 (left main)  $18.42',
      '3 sessions · 1 h 1 min active · 3,000,015 tokens · 3 entries · basis: cost',
      '',
      'MODEL  SESSIONS     TOKENS  COST (USD)',
      'house         2  2,000,010       17.22',
      'small         1  1,000,005        1.20',
      '',
      'AGENT MANAGER  SESSIONS     TOKENS  COST (USD)',
      'ada                   3  3,000,015       18.42',
      '',
      'Of these, 1 entry ($1.20) is not assigned to a project.',
      ...['Budgets: Formats 68% used, $7.78 left', '', url, ''],
    ])
    const { stdout: markdown } = await run('--format', 'markdown')
    expect(markdown.split('\n')).toEqual([
      '<!-- tally-receipt:36ba3933a49c7730 -->',
      '### Tally: $18.42 for this branch',
      '',
      '`acme/formats`, branch `feature/ACME-42`, since 2026-11-18 (left `main`): 3 sessions · 1 h 1 min active · 3,000,015 tokens · 3 entries · basis: cost.',
      '',
      '| Model | Sessions | Tokens | Cost (USD) |',
      '| --- | ---: | ---: | ---: |',
      '| `house` | 2 | 2,000,010 | 17.22 |',
      '| `small` | 1 | 1,000,005 | 1.20 |',
      '',
      'Of these, 1 entry ($1.20) is not assigned to a project.',
      '',
      'Budgets: `Formats` 68% used, $7.78 left',
      ...['', `[All entries](${url})`, ''],
    ])
    const ticket = await machine.receipt(machine.home, ['--ticket', 'FORMATS-1'], asking())
    expect([ticket.totals.cost, ticket.branch, ticket.source]).toEqual([1.2, null, 'server'])

    const ended = async (...args: string[]) => {
      const { code, stdout, stderr } = await run(...args)
      return [code, stdout.includes('$18.42'), stderr]
    }
    expect(await ended('--max', '18.42')).toEqual([0, true, ''])
    expect(await ended('--max', '18.41')).toEqual([3, true, 'tally: The cost is $18.42, more than $18.41.\n'])
    expect((await ended('--max', 'much'))[0]).toBe(2)
    const [code, , stderr] = await ended('--max', '1', '--ticket', 'FORMATS-1')
    expect([code, stderr]).toEqual([2, expect.stringContaining('--ticket')])
    await report({ model: 'qwen4-coder', session_id: 'unpriced-session' })
    expect(await ended('--max', '18.42')).toEqual([
      4,
      true,
      expect.stringContaining('is not known: 1 entry has no price'),
    ])
    expect((await ended('--max', '5'))[0]).toBe(3)
    expect((await run()).stdout).toContain('1 entry without a price is not included (qwen4-coder).')

    const file = join(machine.home, 'receipt.md')
    const written = await run('--format', 'markdown', '--output', file)
    expect([written.code, written.stdout]).toEqual([0, ''])
    expect(await readFile(file, 'utf8')).toContain('### Tally: $18.42 for this branch')
  })
})

test('names in Markdown are text: no mention, link, tag or comment of them acts', async () => {
  const machine = await Machine.make()
  const branch = 'x-->`@team`|<img/src=x>[a](https://evil.example)&#64;team'
  const model = 'm|odel `@org/team` <script>alert(1)</script> [x](javascript:1) \u202Eevil'
  const { status } = await server.call('POST /api/v1/token-entries', {
    token: tokens.svc,
    json: {
      ...{ agent_harness: 'codex', agent_name: 'x', model, started_at: '2026-11-19T10:00:00Z' },
      ...{ ended_at: '2026-11-19T11:00:00Z', tokens: { input: 1, output: 5 } },
      labels: { repository: 'acme/web', branch },
    },
  })
  expect(status).toBe(201)
  const args = ['receipt', '--repository', 'acme/web', '--branch', branch, '--format', 'markdown']
  const { code, stdout } = await machine.run(machine.home, args, asking())
  expect(code).toBe(0)
  const html = Bun.markdown.html(stdout)
  const outside = html.replace(/<code>[^<]*<\/code>|href="[^"]*"/g, '')
  expect(outside).not.toMatch(/@|evil|script|<img|javascript/)
  expect([...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => new URL(href!).origin)).toEqual([server.url])
  expect(html.match(/<!--/g)).toEqual(['<!--'])
  expect(html.match(/<tr>/g)).toHaveLength(2)
  expect(stdout).not.toContain('\u202E')
})
