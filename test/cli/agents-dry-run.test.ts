/** `tally agents scan --dry-run`, on a database of an earlier version whose sessions are one entry each. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import type { TokenEntry } from '../../src/features/entries/schema.ts'
import { AgentHome } from '../support/agent-home.ts'
import { CommandLine } from '../support/command-line.ts'

const FIXTURE = join(import.meta.dir, '../fixtures/upgrades/0.3.0.db.zst')
const DAY_MS = 86_400_000

let tally: CommandLine
let url: string
const home = new AgentHome()
let env: Record<string, string>

/** One call of each day, as Codex writes it, with the counts of the session that the database has. */
function writeSession(session: string, number: number, startedAt: string, days: readonly number[]): void {
  const line = (afterMs: number, type: string, payload: object) => ({
    timestamp: new Date(Date.parse(startedAt) + afterMs).toISOString(),
    type,
    payload,
  })
  const usage = (calls: number) => ({
    ...{ input_tokens: calls * (21_050 + number), cached_input_tokens: calls * 20_000 },
    ...{ cache_write_input_tokens: calls * 50, output_tokens: calls * (300 + number) },
  })
  home.writeLines(`.codex/sessions/2026/rollout-${session}.jsonl`, [
    line(0, 'session_meta', { id: session, timestamp: startedAt, cwd: '/nowhere', git: { branch: 'feature/ACME-7' } }),
    line(0, 'turn_context', { cwd: '/nowhere', model: 'claude-sonnet-4-5' }),
    ...days.map((day, index) =>
      line(day * DAY_MS, 'event_msg', {
        type: 'token_count',
        info: { total_token_usage: usage(index + 1), last_token_usage: usage(1) },
      }),
    ),
  ])
}

async function entriesOf(session: string): Promise<TokenEntry[]> {
  return (await tally.json(['entries', 'list', '--session-id', session, '--limit', '500'])).data
}

async function storedEntries(): Promise<Map<string, TokenEntry>> {
  const { data } = await tally.json(['entries', 'list', '--limit', '500'])
  return new Map(data.map((entry: TokenEntry) => [entry.id, entry]))
}

type Paid = Record<'marginal_cost' | 'allocated_cost' | 'fee_share' | 'provisional', unknown>

/** Without what only the recording decides. */
function contentOf({ id: _, created_at: __, updated_at: ___, ...entry }: TokenEntry & Partial<Paid>) {
  // What was paid for an entry is not known before it is saved.
  const { marginal_cost: _m, allocated_cost: _a, fee_share: _f, provisional: _p, ...content } = entry
  return JSON.stringify(content).replace(/(ent|tkt|prj)_[0-9a-f]{32}/g, '$1')
}

const stored = () => readFile(join(tally.dataDir, 'tally.db'))

/** In 80 columns. */
const shown = () => `If reported to ${url}:
  Sessions: 5 split by day and place, 1 changed, 1 new, 0 unchanged.
  Entries: 8 created, 2 changed, 4 unchanged.

MONTH    BEFORE (USD)  AFTER (USD)  CHANGE
2026-08          0.12         0.12    0.00
2026-09          0.04         0.10   +0.06
2026-10          0.02         0.04   +0.03
2026-11          0.00         0.03   +0.03
total            0.18         0.29   +0.11

             DAY              TOKENS  COST (USD)  PLACE
Session session-0 (codex, claude-sonnet-4-5)
  billed     2026-08-01       21,350        0.12  SHOP ACME-0 acme/web
                                                  ACME-0-fix
  new        2026-09-10       21,350        0.01  SHOP ACME-7 feature/ACME-7
Session session-28 (codex, claude-sonnet-4-5)
  voided     2026-09-02       21,406        0.01  SHOP
  new        2026-09-03       21,406        0.01  SHOP ACME-7 feature/ACME-7
Session session-4 (codex, claude-sonnet-4-5)
  before     2026-09-05       21,358        0.01  SHOP
  after      2026-09-05       21,358        0.01  SHOP feature/ACME-7
  new        2026-10-15       21,358        0.01  SHOP ACME-7 feature/ACME-7
Session session-16 (codex, claude-sonnet-4-5)
  unchanged  2026-09-17       21,382        0.01  SITE
  new        2026-09-18       21,382        0.01  SHOP ACME-7 feature/ACME-7
  new        2026-10-07       21,382        0.01  SHOP ACME-7 feature/ACME-7
Session session-100 (codex, claude-sonnet-4-5)
  approved   2026-09-20       21,550        0.02  SHOP ACME-100 acme/web
                                                  ACME-100-fix
  new        2026-09-21       21,550        0.02  SHOP ACME-7 feature/ACME-7
Session session-104 (codex, claude-sonnet-4-5)
  before     2026-10-24       21,558        0.02  SHOP
  after      2026-10-24       21,558        0.02  SHOP feature/ACME-7
Session session-new (codex, claude-sonnet-4-5)
  new        2026-11-20       21,352        0.01  SHOP ACME-7 feature/ACME-7
  new        2026-11-21       21,352        0.01  SHOP ACME-7 feature/ACME-7
`

const scan = ['agents', 'scan', '--agent', 'codex']

beforeAll(async () => {
  tally = await CommandLine.make({ engine: 'sqlite', isFirst: true })
  await mkdir(tally.dataDir)
  await Bun.write(join(tally.dataDir, 'tally.db'), zstdDecompressSync(await Bun.file(FIXTURE).bytes()))
  const created = await tally.json(['tokens', 'create', '--kind', 'svc', '--user', 'ada@example.com', '--name', 'scan'])
  url = (await tally.app()).url
  env = { HOME: home.folder, TALLY_URL: url, TALLY_TOKEN: created.token }
})
afterAll(async () => {
  home.remove()
  await tally.remove()
})

test('a dry run shows how sessions of an earlier version would be split, and the scan does just that', async () => {
  const idOf = async (session: string) => (await entriesOf(session))[0]!.id
  await tally.done(['entries', 'approve', await idOf('session-100'), '--yes'])
  await tally.done(['entries', 'place', await idOf('session-16'), '--project', 'SITE'])
  await tally.done(['entries', 'void', await idOf('session-28'), '--reason', 'a test', '--yes'])
  // Billed, open, approved, placed by a person, voided, of one day, and new.
  writeSession('session-0', 0, '2026-08-01T10:00:00Z', [0, 40])
  writeSession('session-4', 4, '2026-09-05T10:00:00Z', [0, 40])
  writeSession('session-100', 100, '2026-09-20T10:00:00Z', [0, 1])
  writeSession('session-16', 16, '2026-09-17T10:00:00Z', [0, 1, 20])
  writeSession('session-28', 28, '2026-09-02T10:00:00Z', [0, 1])
  writeSession('session-104', 104, '2026-10-24T10:00:00Z', [0])
  writeSession('session-new', 1, '2026-11-20T10:00:00Z', [0, 1])

  const before = await storedEntries()
  const file = await stored()
  const { stdout, stderr } = await tally.done([...scan, '--dry-run'], { env })
  const { preview, reported } = await tally.json([...scan, '--dry-run'], { env })
  expect(await stored()).toEqual(file)
  expect(await storedEntries()).toEqual(before)
  expect(stdout).toBe(shown())
  for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
  expect(stderr).toContain('Nothing was saved.')
  expect(reported).toBeNull()
  expect(preview).toMatchObject({
    sessions: { split: 5, changed: 1, created: 1, unchanged: 0 },
    entries: { created: 8, updated: 2, repeated: 4 },
  })

  await tally.done([...scan, '--report'], { env })
  const after = await storedEntries()
  const created: TokenEntry[] = preview.changes.flatMap((each: (typeof preview.changes)[number]) =>
    each.before ? [] : [each.after],
  )
  const added = [...after.values()].filter(({ id }) => !before.has(id))
  expect(created.map(contentOf).sort()).toEqual(added.map(contentOf).sort())
  const changed = new Map<string, TokenEntry>()
  for (const each of preview.changes) {
    if (each.before === null) continue
    expect(before.get(each.before.id)!).toMatchObject(each.before)
    changed.set(each.before.id, each.after)
  }
  for (const [id, entry] of before) expect(contentOf(after.get(id)!)).toBe(contentOf(changed.get(id) ?? entry))
  expect(preview.unchanged.map(({ id }: TokenEntry) => id).sort()).toEqual(
    [...before.keys()].filter((id) => preview.unchanged.some((each: TokenEntry) => each.id === id)).sort(),
  )

  const again = await tally.done([...scan, '--dry-run'], { env })
  expect(again.stdout).toBe(`Nothing to report to ${url}: it has everything of the 7 sessions.\n`)
  expect((await tally.json([...scan, '--dry-run'], { env })).preview.changes).toEqual([])
})

test('a server of an earlier version is sent nothing', async () => {
  const calls: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      calls.push(`${request.method} ${new URL(request.url).pathname}`)
      return Response.json({ user: {}, organization: { name: 'Acme' } })
    },
  })
  const older = { ...env, TALLY_URL: `http://127.0.0.1:${server.port}` }
  try {
    const { stdout, stderr } = await tally.done([...scan, '--dry-run'], { env: older })
    expect(stdout).toContain('7 sessions in 7 files')
    expect(stderr).toContain('is of an earlier version, which cannot show what it would create and change')
    expect((await tally.json([...scan, '--dry-run'], { env: older })).preview).toBeNull()
    expect(calls).toEqual(['GET /api/v1/me', 'GET /api/v1/me'])
  } finally {
    await server.stop(true)
  }
})

test('a server that refuses the parameter is one of an earlier version', async () => {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch({ method }) {
      if (method === 'GET') return Response.json({ user: {}, organization: { name: 'Acme', time_zone: 'UTC' } })
      const problem = { status: 422, code: 'validation_failed', detail: 'dry_run is not a parameter.' }
      return Response.json(problem, { status: 422, headers: { 'content-type': 'application/problem+json' } })
    },
  })
  try {
    const older = { ...env, TALLY_URL: `http://127.0.0.1:${server.port}` }
    const { stdout, stderr } = await tally.done([...scan, '--dry-run'], { env: older })
    expect(stdout).toContain('7 sessions in 7 files')
    expect(stderr).toContain('is of an earlier version')
  } finally {
    await server.stop(true)
  }
})

test('without a token the sessions are shown, and a server that refuses the token is an error', async () => {
  const { stdout, stderr } = await tally.done([...scan, '--dry-run'], { env: { HOME: home.folder } })
  expect(stdout).toContain('7 sessions in 7 files')
  expect(stderr).toContain('run `tally agents login` first')
  const refused = await tally.run([...scan, '--dry-run'], {
    env: { ...env, TALLY_TOKEN: `tally_svc_${'0'.repeat(43)}` },
  })
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain('does not accept the token')
})

test('a dry run shows what the server would refuse', async () => {
  writeSession('session-200', 0, '2030-08-01T10:00:00Z', [0])
  const { code, stderr } = await tally.run([...scan, '--dry-run'], { env })
  expect(stderr).toContain('Refused: session-200')
  expect([code, stderr]).toEqual([1, expect.stringContaining('The server would refuse 1 report.')])
})
