/** The page about backups, sentence by sentence: what each promises is checked, by the tests that its claims name. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError, OPTIONS, readConfig, readS3Config } from '../../src/config.ts'
import { expired } from '../../src/database/backup/retention.ts'
import { BackedUpDatabase } from '../support/backups.ts'
import { CommandLine } from '../support/command-line.ts'
import { startStorage, type TestStorage } from '../support/s3-server.ts'
import { CLAIMS } from './backup-page.claims.ts'
import { sentencesOf } from './sentences.ts'

const ROOT = join(import.meta.dir, '../..')
const page = readFileSync(join(ROOT, 'docs/operations/backup-and-restore.md'), 'utf8')

describe('each sentence', () => {
  const sections = sentencesOf(page)

  test('has something that checks it, or a reason why nothing does', () => {
    const claimed = Object.entries(CLAIMS).map(([heading, claims]) => [heading, Object.keys(claims)])
    expect(claimed).toEqual(sections.filter(([, sentences]) => sentences.length > 0))
  })

  test('is checked by tests that exist', () => {
    const all = Object.values(CLAIMS).flatMap((claims) => Object.values(claims).flat())
    const missing = all.filter((claim) => {
      const [file, begin] = claim.split(/: (.*)/s) as [string, string]
      if (file === 'prose') return begin === ''
      const path = join(ROOT, 'test', file)
      return !existsSync(path) || !readFileSync(path, 'utf8').includes(begin)
    })
    expect(missing).toEqual([])
    expect(all.length).toBeGreaterThan(150)
  })
})

describe('its tables', () => {
  test('the options, variables and defaults are those of its tables', () => {
    const rows = page.split('\n').filter((line) => /^\| (`--|\| `AWS)/.test(line))
    expect(rows.length).toBeGreaterThan(10)
    const options = Object.values(OPTIONS) as { flag?: string; variable: string; default?: string }[]
    for (const row of rows) {
      const [flags = '', variables = '', standard = ''] = row
        .split('|')
        .slice(1)
        .map((cell) => cell.trim())
      for (const [, variable] of variables.matchAll(/`(\w+)`/g)) {
        const option = options.find((each) => each.variable === variable)
        expect([row, option?.variable]).toEqual([row, variable!])
        if (flags !== '') expect(option!.flag).toStartWith(flags.replaceAll('`', ''))
        const shown = standard.replaceAll('`', '')
        // These are words: off, Amazon S3, and a folder in another.
        if (/^[\w-]*\d[\w-]*$/.test(shown)) expect([row, option!.default ?? '']).toEqual([row, shown])
        else expect([row, option!.default ?? '']).toEqual([row, ''])
      }
    }
  })

  test('a year of daily backups leaves about twenty', () => {
    const DAY_MS = 86_400_000
    const keep = { last: 3, daily: 7, weekly: 4, monthly: 12 }
    let kept: { madeAt: number }[] = []
    for (let day = 0; day < 366; day += 1) {
      const now = Date.parse('2026-01-01T03:00:00Z') + day * DAY_MS
      kept.push({ madeAt: now })
      const outdated = expired(kept, keep, now)
      kept = kept.filter((each) => !outdated.includes(each))
    }
    expect(Math.abs(kept.length - 20)).toBeLessThanOrEqual(2)
  })

  test('the shortest interval is ten minutes', () => {
    expect(readConfig({ backupEvery: '10min' }, {}).backups.everyMs).toBe(600_000)
    expect(() => readConfig({ backupEvery: '9min' }, {})).toThrow(ConfigError)
  })
})

describe('on a machine', () => {
  let tally: CommandLine
  let storage: TestStorage
  beforeEach(async () => {
    tally = await CommandLine.make({ engine: 'sqlite' })
    storage = await startStorage()
    await tally.addUser()
  })
  afterEach(async () => {
    await tally.remove()
    await storage.close()
  })
  const file = (name: string) => join(tally.folder, name)

  test('keys are replaced and combined as it says', async () => {
    const [first, second] = await Promise.all(
      ['first', 'second'].map(async (name) => (await tally.done(['backup', 'keygen', name])).stdout.trim()),
    )
    const made: string[] = []
    for (const recipients of [first!, second!, `${first},${second}`]) {
      const env = { ...storage.env, TALLY_BACKUP_RECIPIENTS: recipients }
      while (made.includes(newest())) await Bun.sleep(20)
      made.push((await tally.json(['backup', storage.place], { env })).file)
    }
    const opens = async (backup: string, key: string) =>
      (await tally.run(['backup', 'verify', backup, '--identity', key], { env: storage.env })).code
    const codes = await Promise.all(made.map(async (each) => [await opens(each, 'first'), await opens(each, 'second')]))
    expect(codes).toEqual([
      [0, 1],
      [1, 0],
      [0, 0],
    ])

    /** The name that a backup of this second would have. */
    function newest(): string {
      const { timeline } = BackedUpDatabase.at(join(tally.dataDir, 'tally.db')).identity
      const stamp = new Date().toISOString().slice(0, 19).replace(/[-:]/g, '')
      return `${storage.place}tally-${stamp}Z-${timeline}.db.zst.age`
    }
  })

  test('a local backup is not encrypted, and contains password hashes', async () => {
    await tally.done(['users', 'add', '--email', 'eve@example.com', '--name', 'Eve', '--role', 'member'])
    const { timeline } = BackedUpDatabase.at(join(tally.dataDir, 'tally.db')).identity
    BackedUpDatabase.at(join(tally.dataDir, 'tally.db')).run(
      "UPDATE users SET password_hash = '$argon2id$v=19$stands-for-one' WHERE email = 'eve@example.com'",
    )
    const { file: made } = await tally.json(['backup'])
    expect(made).toContain(timeline)
    const bytes = readFileSync(made, 'latin1')
    expect(bytes).toContain('eve@example.com')
    expect(bytes).toContain('$argon2id$v=19$stands-for-one')
  })

  test('a verification uses TMPDIR', async () => {
    await tally.done(['backup', file('copy.db')])
    const verify = (TMPDIR: string) =>
      tally.run(['backup', 'verify', file('copy.db')], { env: { TMPDIR }, asProcess: true })
    mkdirSync(file('scratch'))
    expect((await verify(file('scratch'))).code).toBe(0)
    expect(readdirSync(file('scratch'))).toEqual([])
    expect((await verify(file('missing'))).code).not.toBe(0)
  })

  test('a backup that is old, or on the disk of the database, is a warning', async () => {
    mkdirSync(join(tally.dataDir, 'backups'))
    const database = BackedUpDatabase.at(join(tally.dataDir, 'tally.db'))
    const finding = async () => {
      const { stdout } = await tally.run(['doctor', '--json'])
      return JSON.parse(stdout).findings.find(({ what }: { what: string }) => what === 'backups')
    }
    const HOUR_MS = 3_600_000
    database.backUp(join(tally.dataDir, 'backups'), Date.now() - 37 * HOUR_MS)
    expect(await finding()).toMatchObject({ level: 'warning', advice: expect.stringContaining('TALLY_BACKUP_EVERY') })
    database.backUp(join(tally.dataDir, 'backups'), Date.now() - 35 * HOUR_MS)
    expect(await finding()).toMatchObject({
      level: 'warning',
      message: expect.stringContaining('on the same disk as the database'),
    })
  })

  test('a backup that was only compared is called so', async () => {
    const recipient = (await tally.done(['backup', 'keygen', 'key'])).stdout.trim()
    const env = {
      ...{ ...storage.env, TALLY_BACKUP_RECIPIENTS: recipient },
      ...{ TALLY_BACKUP_EVERY: '24h', TALLY_BACKUP_S3: storage.place },
    }
    const server = await tally.serve([], env)
    await server.untilPrinted(/"extent":"compared"/)
    await server.stop()
    expect(server.output()).toContain('uploaded as made, not test-restored')
    expect(server.output()).not.toContain('verified')
    const { stdout } = await tally.run(['doctor', '--json'], { env })
    const { message } = JSON.parse(stdout).findings.find(({ what }: { what: string }) => what === 'verification')
    expect(message).toContain('uploaded as made, not test-restored')
  })

  test('profiles and roles are not read', async () => {
    mkdirSync(file('.aws'))
    await Bun.write(file('.aws/credentials'), '[default]\naws_access_key_id = a\naws_secret_access_key = b\n')
    expect(() => readS3Config({}, { HOME: tally.folder })).toThrow('AWS_ACCESS_KEY_ID')
    const access = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' }
    expect(readS3Config({}, access)).toMatchObject({ endpoint: 'https://s3.us-east-1.amazonaws.com' })
    const both = { AWS_ENDPOINT_URL: 'https://one.example', AWS_ENDPOINT_URL_S3: 'https://two.example' }
    expect(readS3Config({}, { ...access, ...both })).toMatchObject({ endpoint: 'https://two.example' })
  })
})
