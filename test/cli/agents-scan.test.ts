import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { appendFile, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestApp } from '../support/app.ts'
import { freePort } from '../support/binary.ts'
import { CommandLine } from '../support/command-line.ts'

const FIXTURES = join(import.meta.dir, '../fixtures')

let tally: CommandLine
let server: TestApp
let env: Record<string, string>

beforeAll(async () => {
  tally = await CommandLine.make()
  await tally.addUser()
  server = await tally.app()
  env = { TALLY_URL: server.url, TALLY_TOKEN: (await tally.createToken()).token }
})
afterAll(() => tally.remove())

let homes = 0

/** A home folder with the captured sessions, and the variables that lead there. */
async function home(): Promise<{ folder: string; env: Record<string, string> }> {
  homes += 1
  const folder = join(tally.folder, `home-${homes}`)
  await cp(join(FIXTURES, 'agents/claude-code/transcripts'), join(folder, '.claude/projects'), { recursive: true })
  await cp(join(FIXTURES, 'agents/codex/transcripts'), join(folder, '.codex/sessions'), { recursive: true })
  await cp(join(FIXTURES, 'agents/gemini-cli/transcripts'), join(folder, '.gemini/tmp'), { recursive: true })
  return { folder, env: { ...env, HOME: folder } }
}

/** A line as Claude Code writes it. */
function answer(change: {
  session: string
  id: string
  at: string
  branch?: string
  folder?: string
  output?: number
}) {
  const { session, id, at, branch = 'main', folder = '/nowhere', output = 10 } = change
  const usage = { input_tokens: 100, output_tokens: output, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 }
  return `${JSON.stringify({
    type: 'assistant',
    message: { id, model: 'claude-sonnet-4-5', usage },
    requestId: `req-${id}`,
    sessionId: session,
    timestamp: at,
    cwd: folder,
    gitBranch: branch,
  })}\n`
}

async function entriesOf(session: string) {
  const { data } = await tally.json(['entries', 'list', '--limit', '500'])
  return data.filter(({ session_id }: { session_id: string }) => session_id === session)
}

describe('tally agents scan', () => {
  test('shows every session with its sums and costs, and sends nothing', async () => {
    const { env } = await home()
    const { stdout, stderr } = await tally.done(['agents', 'scan'], { env })
    expect(stdout).toMatch(
      /2026-11-20 17:53 {2}claude-code +claude-opus-4-8 +feature\/ACME-42 +3 +1,188 +462 +38,928 +3,864 +0\.06\n/,
    )
    expect(stdout).toMatch(/ total +14 +21,913 +4,989 +114,216 +11,295 +0\.16\n/)
    expect(stdout).toContain('6 sessions in 6 files')
    expect(stderr).toContain('Add --report to report them')
    expect((await tally.json(['entries', 'list'])).data).toEqual([])
  })

  test('reports each session once, however often it runs, at the value that it showed', async () => {
    const { env } = await home()
    const shown = await tally.json(['agents', 'scan'], { env })
    const first = await tally.done(['agents', 'scan', '--report'], { env })
    expect(first.stdout).toContain(`Reported to ${server.url}: 7 new, 0 updated, 0 unchanged.`)
    const again = await tally.done(['agents', 'scan', '--report'], { env })
    expect(again.stdout).toContain(`Reported to ${server.url}: 0 new, 0 updated, 7 unchanged.`)
    const { data } = await tally.json(['entries', 'list'])
    const expected = JSON.parse(await readFile(join(FIXTURES, 'agents/expected.json'), 'utf8'))
    expect(data).toHaveLength(expected.length)
    for (const { agent_harness, session_id, model, requests, input, output, cache_read } of expected) {
      const entry = data.find((each: typeof data) => each.session_id === session_id && each.model === model)
      expect(entry).toMatchObject({ agent_harness, requests, tokens: { input, output, cache_read } })
      const { cost } = shown.data.find(
        ({ report }: typeof data) => report.session_id === session_id && report.model === model,
      )
      expect(entry.cost).toBe(cost)
    }
  })

  test('brings a session up to date that went on', async () => {
    const { folder, env } = await home()
    const path = join(folder, '.claude/projects/p/growing.jsonl')
    await mkdir(join(folder, '.claude/projects/p'))
    await writeFile(path, answer({ session: 'growing', id: 'm1', at: '2026-11-21T10:00:00Z' }))
    const scan = ['agents', 'scan', '--agent', 'claude-code', '--since', '2026-11-21', '--report']
    expect((await tally.done(scan, { env })).stdout).toContain('1 new, 0 updated')
    await appendFile(path, answer({ session: 'growing', id: 'm2', at: '2026-11-21T11:00:00Z', branch: 'fix/ACME-7' }))
    await tally.done(scan, { env })
    await appendFile(path, answer({ session: 'growing', id: 'm3', at: '2026-11-21T12:00:00Z', branch: 'fix/ACME-7' }))
    await tally.done(scan, { env })
    const entries = await entriesOf('growing')
    const figures = entries.map(({ requests, tokens, labels }: (typeof entries)[number]) => [
      ...[labels.branch, requests, tokens.input],
    ])
    expect(figures.sort()).toEqual([
      ['fix/ACME-7', 2, 200],
      ['main', 1, 100],
    ])
  })

  test('divides a session by day and branch, in what it shows and what the server records', async () => {
    const { folder, env } = await home()
    await mkdir(join(folder, '.claude/projects/p'))
    const lines = [
      answer({ session: 'days', id: 'd1', at: '2026-11-21T10:00:00Z', branch: 'feature/ACME-1' }),
      answer({ session: 'days', id: 'd2', at: '2026-11-21T23:59:59Z', branch: 'feature/ACME-1' }),
      answer({ session: 'days', id: 'd3', at: '2026-11-22T00:00:00Z', branch: 'feature/ACME-1' }),
      answer({ session: 'days', id: 'd4', at: '2026-11-22T00:01:00Z', branch: 'feature/ACME-2' }),
    ]
    await writeFile(join(folder, '.claude/projects/p/s.jsonl'), lines.join(''))
    const scan = ['agents', 'scan', '--since', '2026-11-21']
    const { stdout } = await tally.done(scan, { env })
    expect(stdout).toMatch(/2026-11-22 00:00 {2}claude-code +claude-sonnet-4-5 +feature\/ACME-1 +1 +100 +10 /)
    const [{ report, days, cost }, ...others] = (await tally.json(scan, { env })).data
    expect(others).toEqual([])
    expect([report.requests, report.tokens.input, report.labels.branch]).toEqual([4, 400, 'feature/ACME-2'])
    const expected = [
      ['2026-11-21', 'feature/ACME-1', 2, 200, 0.0009],
      ['2026-11-22', 'feature/ACME-1', 1, 100, 0.00045],
      ['2026-11-22', 'feature/ACME-2', 1, 100, 0.00045],
    ]
    expect(
      days.map((each: typeof days) => [each.day, each.branch, each.requests, each.tokens.input, each.cost]),
    ).toEqual(expected)
    expect(cost).toBe(0.0018)
    await tally.done([...scan, '--report'], { env })
    const entries = (await entriesOf('days')).map((entry: typeof days) => [
      ...[entry.slice.day, entry.labels.branch, entry.requests, entry.tokens.input, entry.cost],
    ])
    expect(entries.sort()).toEqual(expected)
  })

  test('reports how long the agent worked, which entries, usage reports and bills then show', async () => {
    const folder = join(tally.folder, 'timed')
    await mkdir(join(folder, '.claude/projects/p'), { recursive: true })
    const session = 'timed'
    const prompt = (timestamp: string) =>
      `${JSON.stringify({ type: 'user', message: { role: 'user', content: 'Go.' }, timestamp, sessionId: session })}\n`
    const lines = [
      prompt('2026-10-20T10:00:00Z'),
      answer({ session, id: 't1', at: '2026-10-20T10:01:30.001Z' }),
      answer({ session, id: 't2', at: '2026-10-20T10:03:00Z' }),
      prompt('2026-10-20T18:00:00Z'),
      answer({ session, id: 't3', at: '2026-10-20T18:00:00.020Z', branch: 'fix/ACME-7' }),
      // A night within a turn.
      answer({ session, id: 't4', at: '2026-10-21T09:00:00Z', branch: 'fix/ACME-7' }),
    ]
    await writeFile(join(folder, '.claude/projects/p/s.jsonl'), lines.join(''))
    await tally.json(['clients', 'add', 'Acme Ltd'])
    await tally.json(['projects', 'add', 'ACME', '--client', 'Acme Ltd'])
    await tally.done(['agents', 'scan', '--report', '--project', 'ACME'], { env: { ...env, HOME: folder } })
    const times = (await entriesOf(session)).map(
      ({ slice, labels, active_seconds }: Record<string, { [_: string]: string }>) => [
        ...[slice!.day, labels!.branch, active_seconds],
      ],
    )
    expect(times.sort()).toEqual([
      ['2026-10-20', 'fix/ACME-7', 0.02],
      ['2026-10-20', 'main', 180],
      ['2026-10-21', 'fix/ACME-7', 300],
    ])
    const asked = 'starting_at=2026-10-01T00:00:00Z&include=active_seconds'
    const { json } = await server.call(`GET /api/v1/reports/usage?project=ACME&${asked}`, {
      token: await server.token('read'),
    })
    expect(json.totals).toMatchObject({ active_seconds: 480.02, untimed_entries: 0 })
    const bill = [
      'bills',
      'preview',
      '--month',
      '2026-10',
      '--client',
      'Acme Ltd',
      '--currency',
      'USD',
      '--show-active-time',
    ]
    const { document } = await tally.json(bill)
    expect(document.sections[0].lines).toMatchObject([{ active_seconds: 480.02, untimed_entries: 0 }])
  })

  test('keeps to sessions that went on since a moment, each as a whole', async () => {
    const { folder, env } = await home()
    await mkdir(join(folder, '.claude/projects/p'))
    await writeFile(
      join(folder, '.claude/projects/p/s.jsonl'),
      answer({ session: 'long', id: 'm1', at: '2026-11-01T10:00:00Z' }) +
        answer({ session: 'long', id: 'm2', at: '2026-11-21T10:00:00Z' }),
    )
    const { data } = await tally.json(['agents', 'scan', '--since', '2026-11-21'], { env })
    expect(data.map(({ report }: typeof data) => [report.session_id, report.requests])).toEqual([['long', 2]])
  })

  test('sends the repository and branch as labels, beside those of the person, and where entries belong', async () => {
    const { folder, env } = await home()
    const work = join(folder, 'work/web')
    await mkdir(join(work, '.git'), { recursive: true })
    await writeFile(join(work, '.git/config'), '[remote "origin"]\n\turl = git@github.com:acme/web.git\n')
    await mkdir(join(folder, '.claude/projects/p'))
    await writeFile(
      join(folder, '.claude/projects/p/s.jsonl'),
      answer({ session: 'placed', id: 'm1', at: '2026-11-21T10:00:00Z', folder: work }),
    )
    await tally.done(
      [
        ...['agents', 'scan', '--since', '2026-11-21', '--report', '--label', 'team=web', '--project', 'acme-web'],
        ...['--ticket', 'ACME-9', '--agent-name', 'ada-laptop'],
      ],
      { env },
    )
    const [entry] = await entriesOf('placed')
    expect(entry).toMatchObject({
      agent_name: 'ada-laptop',
      labels: { repository: 'acme/web', branch: 'main', team: 'web' },
      summary: 'Claude Code in acme/web',
      project: { key: 'acme-web' },
      ticket: { key: 'ACME-9' },
    })
  })

  test('sends and keeps nothing of what was said, unless titles are asked for', async () => {
    const { folder, env } = await home()
    const shown = await tally.done(['agents', 'scan', '--json'], { env })
    const said = ['now write the docs', 'another session', 'say hello', 'a new one', 'Hello, done.', '/home/dev']
    for (const text of said.slice(0, -1)) expect(shown.stdout).not.toContain(text)
    const cache = join(folder, '.cache/tally/agents')
    for (const name of await readdir(cache)) {
      const kept = await readFile(join(cache, name), 'utf8')
      for (const text of said.slice(0, -1)) expect(kept).not.toContain(text)
    }
    const { data } = await tally.json(['agents', 'scan', '--with-titles'], { env })
    const titles = data.map(({ report }: typeof data) => report.summary)
    expect(titles).toEqual(expect.arrayContaining(['now write the docs', 'another session', 'say hello', 'a new one']))
    // The folder is for the person who scans; no report has it.
    for (const { report } of data) expect(JSON.stringify(report)).not.toContain('/home/dev')
  })

  test('names what it could not read, and counts the rest', async () => {
    const { folder, env } = await home()
    await mkdir(join(folder, '.claude/projects/p'))
    const path = join(folder, '.claude/projects/p/s.jsonl')
    const whole = answer({ session: 'hurt', id: 'm1', at: '2026-11-21T10:00:00Z' })
    await writeFile(path, `${whole}not JSON at all\n${whole.slice(0, -30)}`)
    const scan = ['agents', 'scan', '--since', '2026-11-21']
    const { code, stdout, stderr } = await tally.run(scan, { env })
    expect(stdout).toContain('1 session in 7 files')
    expect(stderr).toContain(`Not counted: ${path}:2: is not a JSON object and was skipped`)
    expect(stderr).toContain(`Note: ${path}:3: the last line is incomplete`)
    expect(stderr).toContain('tally: 1 file or folder could not be read in full.')
    expect(code).toBe(4)
    const json = await tally.run([...scan, '--json'], { env })
    expect(json.code).toBe(4)
    expect(
      JSON.parse(json.stdout).damage.map(({ line, note }: { line: number; note: boolean }) => [line, note]),
    ).toEqual([
      [2, false],
      [3, true],
    ])
    await writeFile(path, `${whole}${whole.slice(0, -30)}`)
    await tally.done(scan, { env })
  })

  test('says where it looked when there is nothing', async () => {
    const folder = join(tally.folder, 'empty')
    const { stdout, stderr } = await tally.done(['agents', 'scan'], { env: { HOME: folder, CODEX_HOME: '/opt/codex' } })
    expect(stdout).toBe('No sessions found.\n')
    expect(stderr).toContain(join(folder, '.claude/projects'))
    expect(stderr).toContain('/opt/codex/sessions')
  })

  test('with --dry-run nothing is sent, whatever else is asked', async () => {
    const { folder, env } = await home()
    await rm(join(folder, '.codex'), { recursive: true })
    await mkdir(join(folder, '.claude/projects/p'))
    await writeFile(
      join(folder, '.claude/projects/p/s.jsonl'),
      answer({ session: 'dry', id: 'm1', at: '2026-11-21T10:00:00Z' }),
    )
    await tally.done(['agents', 'scan', '--report', '--dry-run'], { env: { HOME: env.HOME! } })
    await tally.done(['agents', 'scan', '--report', '--dry-run'], { env })
    expect(await entriesOf('dry')).toEqual([])
  })

  test('asks for a token before it reads anything, where it is to report', async () => {
    const { env } = await home()
    const { code, stdout, stderr } = await tally.run(['agents', 'scan', '--report'], { env: { HOME: env.HOME! } })
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('TALLY_TOKEN')
  })

  test('says that the server is not there, and that the same command goes on', async () => {
    const { env } = await home()
    const { code, stderr } = await tally.run(['agents', 'scan', '--report'], {
      env: { ...env, TALLY_URL: `http://127.0.0.1:${freePort()}` },
    })
    expect(code).toBe(1)
    expect(stderr).toContain('cannot be reached')
    expect(stderr).toContain(
      '7 entries not sent. Run the same command again to send the rest; nothing is counted twice.',
    )
  })

  test('tells what the server refused and why, and reports the rest', async () => {
    const { folder, env } = await home()
    await mkdir(join(folder, '.claude/projects/p'))
    await writeFile(
      join(folder, '.claude/projects/p/s.jsonl'),
      answer({ session: 'future', id: 'm1', at: '2066-11-21T10:00:00Z' }) +
        answer({ session: 'present', id: 'm2', at: '2026-11-21T10:00:00Z' }),
    )
    const { code, stdout, stderr } = await tally.run(['agents', 'scan', '--since', '2026-11-21', '--report'], { env })
    expect(code).toBe(1)
    expect(stdout).toContain('1 new, 0 updated, 0 unchanged, 1 refused.')
    expect(stderr).toMatch(/Refused: future \(claude-sonnet-4-5\): validation_failed: \/ended_at/)
    expect(await entriesOf('present')).toHaveLength(1)
  })

  test('refuses a moment that is none', async () => {
    const { code, stderr } = await tally.run(['agents', 'scan', '--since', 'yesterday'])
    expect(code).toBe(2)
    expect(stderr).toContain('Use a date such as 2026-11-01, or a duration such as 12h or 30d.')
  })
})
