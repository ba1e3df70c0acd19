/** Uploads, retention and verification of a server, on a real S3 server, with a clock that the test sets. */
import { Database as Connection } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { backupName } from '../../../src/database/backup/names.ts'
import { generateKeys, sealed } from '../../../src/database/backup/remote/encryption.ts'
import { createRemoteBackups, type RemotePlan } from '../../../src/database/backup/remote/remote-backups.ts'
import type { S3Access } from '../../../src/database/backup/remote/s3-client.ts'
import { performTask } from '../../../src/database/backup/remote/tasks.ts'
import type { Keep } from '../../../src/database/backup/retention.ts'
import { parseS3Place } from '../../../src/lib/s3-place.ts'
import { startStorage, type TestStorage } from '../../support/s3-server.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

let folder: string
let storage: TestStorage
let keys: { identity: string; recipient: string }
let now: number
/** What happened, in order. */
let happened: string[]
/** What is wrong in a restored database. */
let differences: string[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tally-remote-'))
  storage = await startStorage()
  keys = await generateKeys()
  now = Date.parse('2026-11-21T20:00:00Z')
  happened = []
  differences = []
  await Bun.write(join(folder, 'identity'), `${keys.identity}\n`)
})
afterEach(async () => {
  await storage.close()
  await rm(folder, { recursive: true, force: true })
})

const access = (): S3Access => ({
  endpoint: storage.env.AWS_ENDPOINT_URL!,
  region: 'us-east-1',
  accessKeyId: storage.env.AWS_ACCESS_KEY_ID!,
  secretAccessKey: storage.env.AWS_SECRET_ACCESS_KEY!,
  sessionToken: undefined,
})

const KEEP: Keep = { last: 2, daily: 0, weekly: 0, monthly: 0 }

/** A server that starts now. */
const server = ({ keep = KEEP, ...plan }: Partial<RemotePlan & { keep: Keep }> = {}) =>
  createRemoteBackups({
    ...{ place: parseS3Place(storage.place)!, access: access(), recipients: [keys.recipient] },
    ...{ identityFile: join(folder, 'identity'), verifyEveryMs: 7 * DAY_MS, folder, keep, ...plan },
    clock: { now: () => now },
    events: {
      uploaded: ({ name, uploaded, removed, notRemoved }) => {
        happened.push(`${uploaded ? 'uploaded' : 'found'} ${name}`, ...removed.map((each) => `removed ${each}`))
        if (notRemoved) happened.push(`not removed: ${notRemoved}`)
      },
      uploadFailed: ({ message }) => void happened.push(`upload failed: ${message}`),
      verified: ({ name, extent }) => void happened.push(`${extent} ${name}`),
      verificationFailed: ({ message }) => void happened.push(`verification failed: ${message}`),
    },
    run: (task) => performTask(task, async () => differences),
  })

/** Makes a local backup, and returns the name of its object. */
function backUp(text = 'a text'): string {
  const name = backupName(now)
  const database = new Connection(join(folder, name))
  database.run('CREATE TABLE texts (text)')
  database.run('INSERT INTO texts VALUES (?)', [text])
  database.close()
  return `${name}.zst.age`
}

test('the newest backup is uploaded once, verified, and after a restart only once a week', async () => {
  const first = backUp()
  const { look, state } = server()
  await look()
  await look()
  expect(happened).toEqual([`uploaded ${first}`, `restored ${first}`])
  expect(await storage.names()).toEqual([first])
  expect(state()).toEqual({ lastMadeAt: now, failures: 0, verifiedAt: now, verificationFailures: 0 })
  now += DAY_MS
  const second = backUp()
  happened = []
  await server().look()
  expect(happened).toEqual([`uploaded ${second}`])
  now += 6 * DAY_MS
  happened = []
  await server().look()
  expect(happened).toEqual([`restored ${second}`])
  expect(existsSync(join(folder, 'verification'))).toBe(false)
})

test('an object that is there already is not uploaded again, such as after a crash', async () => {
  const first = backUp()
  await server().look()
  await rm(join(folder, 'remote-backups.json'))
  happened = []
  await server({ identityFile: undefined }).look()
  // Nothing says what it was when it was uploaded.
  expect(happened).toEqual([`found ${first}`, `read ${first}`])
})

test('only backups of Tally are removed, and only those that are not kept', async () => {
  const foreign = [
    'notes.txt',
    'tally-20250101T000000Z.db',
    'tally-20250101T000000Z.db.zst.age.old',
    'tally-20251301T000000Z.db.zst.age',
    'sub/tally-20250101T000000Z.db.zst.age',
    'tally-report.pdf',
  ]
  for (const name of foreign) await storage.client.write(storage.prefix + name, 'precious')
  const future = 'tally-20990101T000000Z.db.zst.age'
  for (const name of ['tally-20250101T000000Z.db.zst.age', 'tally-20250102T000000Z.db.zst.age', future]) {
    await storage.client.write(storage.prefix + name, 'old')
  }
  const neighbor = `${storage.prefix.slice(0, -1)}-neighbor/tally-20250101T000000Z.db.zst.age`
  await storage.client.write(neighbor, 'of another Tally')
  const made = backUp()
  await server({ verifyEveryMs: undefined }).look()
  expect(happened).toEqual([`uploaded ${made}`, 'removed tally-20250101T000000Z.db.zst.age'])
  expect(await storage.names()).toEqual([...foreign, 'tally-20250102T000000Z.db.zst.age', made, future].sort())
  expect(await storage.client.exists(neighbor)).toBe(true)
})

test('a connection that is cut leaves no object, and the upload is repeated after a while', async () => {
  const made = backUp(randomText(20_000_000))
  const { look, state } = server({ verifyEveryMs: undefined })
  storage.trouble({ cutAfter: 6_000_000 })
  await look()
  expect(happened).toEqual([expect.stringMatching(/^upload failed: s3:.*AWS_ENDPOINT_URL/)])
  expect(state().failures).toBe(1)
  expect(await storage.names()).toEqual([])
  storage.trouble(undefined)
  await look()
  expect(happened).toHaveLength(1)
  now += 61_000
  await look()
  expect(happened.slice(1)).toEqual([`uploaded ${made}`])
  expect(state().failures).toBe(0)
}, 180_000)

/** Which cannot be compressed by more than half. */
function randomText(characters: number): string {
  const bytes = Buffer.alloc(characters / 2)
  for (let at = 0; at < bytes.length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536))
  return bytes.toString('hex')
}

describe('a verification', () => {
  test('without the private key compares with what was uploaded', async () => {
    const made = backUp()
    await server({ identityFile: undefined }).look()
    expect(happened).toEqual([`uploaded ${made}`, `compared ${made}`])
    now += 7 * DAY_MS
    await storage.client.write(storage.prefix + made, 'other')
    await server({ identityFile: undefined }).look()
    expect(happened.at(-1)).toMatch(/^verification failed: .* is not what this server uploaded/)
  })

  test('finds a backup that somebody else encrypted with the public key', async () => {
    const made = backUp()
    await server().look()
    const other = join(folder, 'other.db')
    await Bun.write(other, Bun.file(join(folder, made.replace('.zst.age', ''))))
    const stream = await sealed(other, [keys.recipient])
    await storage.client.write(storage.prefix + made, new Response(stream))
    now += 7 * DAY_MS
    await server().look()
    expect(happened.at(-1)).toMatch(/^verification failed: .* is not what this server uploaded/)
  })

  test('that fails is reported, repeated after an hour, and keeps all older backups until one succeeds', async () => {
    const names: string[] = []
    for (let day = 0; day < 3; day += 1) {
      names.push(backUp())
      differences = day === 1 ? ['An entry has no price.'] : []
      await server({ verifyEveryMs: HOUR_MS }).look()
      now += DAY_MS
    }
    expect(happened).toEqual([
      ...[`uploaded ${names[0]}`, `restored ${names[0]}`],
      ...[
        `uploaded ${names[1]}`,
        `verification failed: ${names[1]} was restored, but it is wrong: An entry has no price.`,
      ],
      ...[`uploaded ${names[2]}`, `restored ${names[2]}`],
    ])
    expect(await storage.names()).toEqual(names)
    names.push(backUp())
    await server({ verifyEveryMs: undefined }).look()
    expect(await storage.names()).toEqual(names.slice(2))
  })

  test('fails if the storage was emptied, or the private key is another one', async () => {
    const made = backUp()
    const other = await generateKeys()
    await Bun.write(join(folder, 'identity'), `${other.identity}\n`)
    await server().look()
    expect(happened).toEqual([`uploaded ${made}`, expect.stringMatching(/^verification failed: .*for another key/)])
    await storage.client.delete(storage.prefix + made)
    now += HOUR_MS
    await server().look()
    expect(happened.at(-1)).toBe('verification failed: There is no backup in the storage.')
    expect((await readdir(folder)).sort()).toEqual(['identity', 'remote-backups.json', made.replace('.zst.age', '')])
  })
})

test('a clock that is set back does not keep newer backups from being uploaded', async () => {
  const first = backUp()
  await server({ verifyEveryMs: undefined }).look()
  now -= 30 * DAY_MS
  const second = backUp()
  await server({ verifyEveryMs: undefined }).look()
  expect(happened).toEqual([`uploaded ${first}`, `uploaded ${second}`])
  expect(await storage.names()).toEqual([second, first])
})
