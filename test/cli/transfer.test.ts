import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startApp } from '../support/app.ts'
import { CommandLine } from '../support/command-line.ts'
import { copyDemo } from '../support/demo.ts'
import { killed } from '../support/killed-command.ts'
import { reportBody } from '../support/reports.ts'
import { isLong } from '../support/tier.ts'
import { contentOf } from '../support/transfer.ts'

let tally: CommandLine
let text: string
let exported: string
const path = (name: string) => join(tally.folder, name)

const ADD = ['users', 'add', '--name', 'Ada', '--role', 'admin']

/** An export of one person with one entry, for what does not depend on what is in a file. */
let small: string

beforeAll(async () => {
  tally = await CommandLine.make({ engine: 'sqlite' })
  await copyDemo(tally.dataDir)
  text = (await tally.done(['export'])).stdout
  exported = path('all.ndjson')
  writeFileSync(exported, text)
  await tally.done([...ADD, '--email', 'ada@example.com', '--data', 'small'])
  const app = await startApp({ at: { dataDir: path('small') } })
  const token = await app.token('svc', 'ada@example.com')
  expect((await app.call('POST /api/v1/token-entries', { token, json: reportBody() })).status).toBe(201)
  await app.close()
  small = (await tally.done(['export', '--data', 'small'])).stdout
  writeFileSync(path('small.ndjson'), small)
}, 300_000)
afterAll(() => tally.remove())

/** The lines of an export, which a later export of the same data has as well: tokens are revoked when it is made. */
async function contentIn(data: string): Promise<string[]> {
  return contentOf((await tally.done(['export', '--data', data])).stdout)
}

describe('tally export', () => {
  test('writes a file that only its owner can read, compressed if its name says so, and replaces none unasked', async () => {
    const { stdout, stderr } = await tally.done(['export', '-o', 'all.ndjson.zst'])
    expect(stdout).toBe('')
    expect(stderr).toMatch(/^Wrote .*all\.ndjson\.zst: [\d,]+ entries\. It contains personal data/)
    const file = path('all.ndjson.zst')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(file).size).toBeLessThan(text.length / 5)
    expect(readdirSync(tally.folder).filter((name) => name.includes('unfinished'))).toEqual([])
    const lines = new TextDecoder().decode(Bun.zstdDecompressSync(readFileSync(file))).split('\n')
    expect(lines.slice(1, 3)).toEqual(text.split('\n').slice(1, 3))
    const again = await tally.run(['export', '-o', 'all.ndjson.zst'])
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('already exists')])
    expect((await tally.run(['export', '-o', 'all.ndjson.zst', '--force'])).code).toBe(0)
    const missing = await tally.run(['export', '-o', 'no/such/folder.ndjson'])
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('ENOENT')])
  })

  test('contains no secrets', async () => {
    const { token } = await tally.json([
      'tokens',
      'create',
      '--kind',
      'svc',
      '--user',
      'ines.marques@meridian.example',
      '--name',
      'x',
    ])
    const all = (await tally.done(['export'])).stdout
    expect(all).not.toContain(token)
    expect(all).not.toMatch(/argon2|password_hash|\$2[aby]\$/)
  })
})

describe('tally import', () => {
  test('shows what it would import, imports it, and says what to do next', async () => {
    const args = ['import', exported, '--data', 'new']
    const refused = await tally.run(args)
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('Add --yes')])
    const rehearsed = await tally.done([...args, '--dry-run'])
    expect(rehearsed.stdout).toEndWith('The file can be imported. Nothing was changed.\n')
    expect(existsSync(path('new'))).toBe(false)
    const { stdout, stderr } = await tally.done([...args, '--yes'])
    expect(stdout.replace('Everything was imported.', '')).toBe(
      rehearsed.stdout.replace('The file can be imported. Nothing was changed.', ''),
    )
    expect(stderr).toContain('tally users set-password')
    expect(stderr).toContain('tally tokens create')
    expect((await tally.done(['verify', '--data', 'new'])).stdout).toContain('intact')
    expect(await contentIn('new')).toEqual(contentOf(text))
    const usage = ['usage', '--last', '120d', '--by', 'project', '--time-zone', 'UTC']
    expect((await tally.done([...usage, '--data', 'new'])).stdout).toBe((await tally.done(usage)).stdout)
    const again = await tally.run([...args, '--yes'])
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('already in use')])
  })

  test('reads standard input, and files that zstd has compressed', async () => {
    const { counts } = await tally.json(['import', '-', '--data', 'piped', '--yes'], { stdin: small })
    writeFileSync(path('again.zst'), Bun.zstdCompressSync(small))
    const rehearsed = await tally.json(['import', 'again.zst', '--data', 'other', '--dry-run'])
    expect(rehearsed.counts).toEqual(counts)
    writeFileSync(path('broken.zst'), Bun.zstdCompressSync(small).subarray(0, -100))
    const broken = await tally.run(['import', 'broken.zst', '--data', 'other', '--yes'])
    expect(broken.code).toBe(1)
    expect(broken.stderr).not.toContain('bug in Tally')
  })

  test('refuses a file that expands to far more than an export, before it is decompressed', async () => {
    const frame = Bun.zstdCompressSync(Buffer.alloc(64 * 1_048_576))
    writeFileSync(path('bomb.zst'), Buffer.concat(Array.from({ length: 64 }, () => frame)))
    const { code, stderr } = await tally.run(['import', 'bomb.zst', '--data', 'bombed', '--yes'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('expands to more than 200 times its size')])
    expect(existsSync(path('bombed'))).toBe(false)
  })

  test('refuses a truncated file before it creates anything', async () => {
    writeFileSync(path('half.ndjson'), small.slice(0, small.lastIndexOf('{"type":"end"')))
    const { code, stderr } = await tally.run(['import', 'half.ndjson', '--data', 'half', '--yes'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('tally: The file is truncated')])
    const missing = await tally.run(['import', 'missing.ndjson', '--data', 'half', '--yes'])
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('ENOENT')])
  })

  test('is complete for a server that runs on the empty database', async () => {
    const server = await tally.serve(['--data', 'served'])
    await tally.done(['import', 'small.ndjson', '--data', 'served', '--yes'])
    const { token } = await tally.json([
      ...['tokens', 'create', '--kind', 'svc', '--user', 'ada@example.com', '--name', 'new'],
      ...['--data', 'served'],
    ])
    const { status } = await fetch(`${server.url}/api/v1/token-entries`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        agent_harness: 'curl',
        agent_name: 'test',
        model: 'claude-sonnet-4-5',
        started_at: '2026-11-20T10:00:00Z',
        ended_at: '2026-11-20T10:30:00Z',
        tokens: { input: 1, output: 1 },
      }),
    })
    expect(status).toBe(201)
    expect(await server.stop()).toBe(0)
    expect((await tally.done(['verify', '--data', 'served'])).stdout).toContain('intact')
  })

  test('that is killed leaves nothing, and finishes when it is repeated', async () => {
    expect(await killed(tally, ['import', exported, '--data', 'killed', '--yes'])).toBeGreaterThan(isLong ? 1 : 0)
    expect(await contentIn('killed')).toEqual(contentOf(text))
    expect((await tally.done(['verify', '--data', 'killed'])).stdout).toContain('intact')
  })

  test('into a database in use adds entries only, and those that are there already are skipped', async () => {
    await tally.done([...ADD, '--data', 'used', '--email', 'grace@example.com'])
    const args = ['import', '--merge', 'small.ndjson', '--data', 'used']
    const rehearsed = await tally.json([...args, '--dry-run'])
    expect(rehearsed.added).toBe(1)
    expect(await tally.json([...args, '--yes'])).toMatchObject({ added: 1 })
    const { added, skipped } = await tally.json([...args, '--yes'])
    expect([added, skipped.already_here.entries]).toEqual([0, 1])
    expect((await tally.done(['verify', '--data', 'used'])).stdout).toContain('intact')
    const { stdout } = await tally.done([...args, '--yes'])
    expect(stdout).toContain('skipped: already here\n')
    expect(stdout).toMatch(/Not merged: .*1 settings/)
    const wrong = await tally.run(['import', 'small.ndjson', '--data', 'used', '--unknown-projects', 'hold', '--yes'])
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--unknown-projects requires --merge')])
  })
})
