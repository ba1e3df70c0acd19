/** `tally move` as an operator uses it: beside a running server, killed in the middle, and undone. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { CommandLine } from '../support/command-line.ts'
import { canOverlap, newLocation } from '../support/databases.ts'
import { reportBody } from '../support/reports.ts'
import { isLong } from '../support/tier.ts'

const FIXTURE = join(import.meta.dir, '../fixtures/upgrades/0.3.0.db.zst')

const cleanUps: (() => Promise<void>)[] = []
let tally: CommandLine
beforeEach(async () => {
  tally = await CommandLine.make({ engine: 'sqlite', isFirst: true })
})
afterEach(async () => {
  await tally.remove()
  for (const step of cleanUps.splice(0).reverse()) await step()
})

/** Reports a session, and returns the status and Retry-After of the response. */
async function report(
  url: string,
  token: string,
  session: string,
): Promise<[status: number, retryAfter: string | null]> {
  const response = await fetch(`${url}/api/v1/token-entries`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(reportBody({ session_id: session })),
  })
  await response.body?.cancel()
  return [response.status, response.headers.get('retry-after')]
}

test.skipIf(!canOverlap('postgres'))(
  'agents that report meanwhile are told to repeat it, and their tokens work in the new database',
  async () => {
    await tally.addUser()
    const { token } = await tally.createToken()
    const before = await tally.serve()
    expect(await report(before.url, token, 'before')).toEqual([201, null])

    const { databaseUrl } = await newLocation('postgres', cleanUps)
    const env = { TALLY_MOVE_TO: databaseUrl! }
    const moved = await tally.json(['move', '--yes'], { env })
    expect(moved).toMatchObject({ entries: 1, bills: 0 })
    expect(moved.copied).toBe(moved.rows)
    expect(await report(before.url, token, 'meanwhile')).toEqual([503, '60'])
    const headers = { authorization: `Bearer ${token}` }
    expect((await fetch(`${before.url}/ready`)).status).toBe(503)
    expect((await fetch(`${before.url}/api/v1/me`, { headers })).status).toBe(200)
    expect(await before.stop()).toBe(0)

    const { code, stderr } = await tally.run(['serve', '--port', '0'])
    expect(code).toBe(1)
    expect(stderr).toMatch(/^tally: .*tally\.db was moved to postgres:\/\/[^\n]*tally move --cancel/)
    expect(stderr).not.toContain(new URL(databaseUrl!).password || 'no password')

    const inPostgres = { TALLY_DATABASE_URL: databaseUrl! }
    const after = await tally.serve([], inPostgres)
    expect(await report(after.url, token, 'before')).toEqual([200, null])
    expect(await report(after.url, token, 'meanwhile')).toEqual([201, null])
    expect(await after.stop()).toBe(0)
    await tally.done(['verify'], { env: inPostgres })

    // And back, into another folder.
    await tally.done(['move', '--to', 'back', '--yes'], { env: inPostgres })
    const { data } = await tally.json(['entries', 'list', '--data', 'back'])
    expect(data.map(({ session_id }: { session_id: string }) => session_id).sort()).toEqual(['before', 'meanwhile'])

    expect((await tally.done(['move', '--cancel', '--yes'])).stdout).toContain('can be written again')
    await tally.addUser('ben@example.com')
  },
)

test.skipIf(!canOverlap('postgres'))(
  'a move that is killed at any moment continues, and loses and doubles nothing',
  async () => {
    await mkdir(tally.dataDir)
    await Bun.write(join(tally.dataDir, 'tally.db'), zstdDecompressSync(await Bun.file(FIXTURE).bytes()))
    const before = await tally.json(['entries', 'list', '--limit', '1000'])
    const bills = await tally.json(['bills', 'list'])
    const { databaseUrl } = await newLocation('postgres', cleanUps)
    const env = { PATH: process.env.PATH!, HOME: tally.folder, TALLY_MOVE_TO: databaseUrl! }
    let killed = 0
    // Twice as long each time, or at many more moments.
    for (let lifeMs = 150; ; lifeMs = isLong ? lifeMs + 25 : lifeMs * 2) {
      const child = Bun.spawn([await tally.executable(), 'move', '--yes'], {
        cwd: tally.folder,
        env,
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      const timer = setTimeout(() => child.kill('SIGKILL'), lifeMs)
      const [code, errors] = await Promise.all([child.exited, child.stderr.text()])
      clearTimeout(timer)
      if (code === 0) break
      expect([child.signalCode, errors]).toEqual(['SIGKILL', ''])
      killed += 1
    }
    expect(killed).toBeGreaterThan(isLong ? 3 : 0)
    const inPostgres = { env: { TALLY_DATABASE_URL: databaseUrl! } }
    expect(await tally.json(['entries', 'list', '--limit', '1000'], inPostgres)).toEqual(before)
    expect(await tally.json(['bills', 'list'], inPostgres)).toEqual(bills)
    await tally.done(['verify'], inPostgres)
  },
)

test('says what is missing or wrong before it changes anything', async () => {
  await tally.addUser()
  const refusals: [args: string[], message: string][] = [
    [['move', '--yes'], 'Say where to move the database: --to or --to-file.'],
    [['move', '--to', 'postgres://tally:secret@127.0.0.1/tally', '--yes'], 'every user of this machine can see'],
    [['move', '--to', 'mysql://127.0.0.1/tally', '--yes'], 'must be a folder or start with postgres://'],
    [['move', '--to', 'elsewhere'], 'Cannot ask for confirmation'],
    [['move', '--cancel', '--yes'], 'is not being moved'],
    [['move', '--to', 'tally-data', '--yes'], 'is where the database is already'],
    [['move', '--to', 'elsewhere', '--data', 'typo', '--yes'], 'There is no Tally database in typo'],
  ]
  for (const [args, message] of refusals) {
    const { code, stderr } = await tally.run(args)
    expect([args, code]).not.toEqual([args, 0])
    expect(stderr).toContain(message)
  }
  await tally.addUser('ben@example.com')
})
