/** Uploads, retention and verification of a server, on a real S3 server, with a clock that the test sets. */
import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Bucket } from '../../../src/database/backup/remote/bucket.ts'
import { BackupError, generateKeys, sealed } from '../../../src/database/backup/remote/encryption.ts'
import { readManifest, signManifest } from '../../../src/database/backup/remote/manifest.ts'
import { createRemoteBackups, type RemotePlan } from '../../../src/database/backup/remote/remote-backups.ts'
import type { S3Access } from '../../../src/database/backup/remote/s3-client.ts'
import { performTask } from '../../../src/database/backup/remote/tasks.ts'
import type { Keep } from '../../../src/database/backup/retention.ts'
import { parseS3Place } from '../../../src/lib/s3-place.ts'
import { BackedUpDatabase } from '../../support/backups.ts'
import { startStorage, type TestStorage } from '../../support/s3-server.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

let folder: string
let database: BackedUpDatabase
let storage: TestStorage
let keys: { identity: string; recipient: string }
let now: number
/** What happened, in order. */
let happened: string[]
/** What is wrong in a restored database. */
let differences: string[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tally-remote-'))
  database = await BackedUpDatabase.in(join(folder, 'data'))
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

/** A server of a database that starts now. */
const server = ({
  of = database,
  keep = KEEP,
  ...plan
}: Partial<RemotePlan & { of: BackedUpDatabase; keep: Keep; folder: string }> = {}) =>
  createRemoteBackups({
    ...{ place: parseS3Place(storage.place)!, access: access(), recipients: [keys.recipient] },
    ...{ identityFile: join(folder, 'identity'), verifyEveryMs: 7 * DAY_MS, folder, keep, ...plan },
    identity: () => of.identity,
    renewTimeline: async () => of.renewTimeline(),
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

/** A server without the private key. */
const WITHOUT_KEY = { identityFile: undefined }

/** Makes a local backup, and returns the name of its object. */
const backUp = (of = database) => `${of.backUp(folder, now)}.zst.age`

/** The name that a backup of this moment would have. */
const nameAt = (madeAt: number, { timeline } = database.identity) =>
  `tally-${new Date(madeAt).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z-${timeline}.db.zst.age`

/** The names of backups in the storage, without the manifests. */
const stored = async () => (await storage.names()).filter((name) => !name.endsWith('.jws'))

const manifestName = ({ timeline } = database.identity) => `tally-manifest-${timeline}.jws`

const put = (name: string, content: string | Uint8Array) => storage.client.write(storage.prefix + name, content)
const read = (name: string) => storage.client.file(storage.prefix + name).bytes()
const remove = (name: string) => storage.client.delete(storage.prefix + name)

const manifest = async (identity = database.identity) =>
  readManifest(Buffer.from(await read(manifestName(identity))).toString())

function noise(bytes: number): Uint8Array {
  const filled = new Uint8Array(bytes)
  for (let at = 0; at < bytes; at += 65_536) crypto.getRandomValues(filled.subarray(at, at + 65_536))
  return filled
}

test('the newest backup is uploaded once, verified, and after a restart only once a week', async () => {
  const first = backUp()
  const { look, state } = server()
  await look()
  await look()
  expect(happened).toEqual([`uploaded ${first}`, `restored ${first}`])
  expect(await stored()).toEqual([first])
  expect(state()).toEqual({
    ...{ lastMadeAt: now, failures: 0, verifiedAt: now, comparedAt: now, verificationFailures: 0, others: 0 },
  })
  now += DAY_MS
  const second = backUp()
  happened = []
  await server().look()
  expect(happened).toEqual([`uploaded ${second}`])
  now += 6 * DAY_MS
  happened = []
  await server().look()
  expect(happened).toEqual([`restored ${second}`])
  expect((await readdir(folder)).filter((name) => name.startsWith('verification'))).toEqual([])
})

describe('the manifest', () => {
  test('lists each upload with its digest, signed, and names the manifest before', async () => {
    const first = backUp()
    await server().look()
    const { database: id, timeline } = database.identity
    const sha256 = new Bun.CryptoHasher('sha256').update(await read(first)).digest('hex')
    const uploads = [{ name: first, bytes: (await read(first)).length, sha256 }]
    expect(await manifest()).toEqual({ database: id, timeline, sequence: 1, previous: null, uploads })
    const text = Buffer.from(await read(manifestName())).toString()
    now += DAY_MS
    backUp()
    await server().look()
    const previous = new Bun.CryptoHasher('sha256').update(text).digest('hex')
    expect(await manifest()).toMatchObject({ sequence: 2, previous, uploads: [{ name: first }, {}] })
    // Nobody else can sign one.
    const [header, payload, signature] = text.split('.')
    const forged = Buffer.from(JSON.stringify({ ...(await manifest()), sequence: 9 })).toString('base64url')
    expect(readManifest(`${header}.${forged}.${signature}`)).toBeUndefined()
    expect(readManifest(`${header}.${payload}.${signature}`)).toBeDefined()
  })

  test('that is removed, changed or replaced by an older one is reported, removes nothing, and is written again', async () => {
    const damages: [string, (older: Uint8Array) => Promise<unknown>][] = [
      ['is missing', () => remove(manifestName())],
      ['its signature is wrong', () => put(manifestName(), 'noise')],
      ['was replaced by an older one', (older) => put(manifestName(), older)],
    ]
    backUp()
    await server().look()
    for (const [says, damage] of damages) {
      const older = await read(manifestName())
      now += DAY_MS
      backUp()
      await server().look()
      await damage(older)
      now += DAY_MS
      const kept = await stored()
      happened = []
      const made = backUp()
      await server().look()
      expect(happened).toEqual([`uploaded ${made}`, expect.stringContaining(says)])
      expect(await stored()).toEqual([...kept, made].sort())
      expect((await manifest())!.uploads.at(-1)!.name).toBe(made)
      now += HOUR_MS
      await server().look()
      expect(happened.at(-1)).toBe(`restored ${made}`)
    }
  })

  test('of a crash in the middle of an upload is not taken for that of another server', async () => {
    backUp()
    await server().look()
    const before = await read(manifestName())
    now += DAY_MS
    const second = backUp()
    await server().look()
    // The memory was written, and the manifest was not.
    const memory = join(folder, `remote-manifests-${database.identity.timeline}.json`)
    writeFileSync(memory, readFileSync(memory, 'utf8').replace('"isStored": true', '"isStored": false'))
    await put(manifestName(), before)
    now += DAY_MS
    const third = backUp()
    happened = []
    await server().look()
    expect(happened).toEqual([`uploaded ${third}`, expect.stringContaining('removed')])
    expect((await manifest())!.uploads.map(({ name }) => name)).toEqual([second, third])
  })
})

test('a manifest with anything else in it is none, whoever has signed it', async () => {
  const { key, database: id, timeline } = database.identity
  const upload = { name: nameAt(now), bytes: 1, sha256: '0'.repeat(64) }
  const right = { database: id, timeline, sequence: 1, previous: null, uploads: [upload] }
  expect(readManifest(signManifest(right, key))).toEqual(right)
  for (const wrong of [
    { ...right, database: '0'.repeat(32) },
    { ...right, timeline: '../../..' },
    { ...right, sequence: 'x' },
    { ...right, previous: 1 },
    { ...right, uploads: { name: '' } },
    { ...right, uploads: [{ ...upload, name: '../secret' }] },
    { ...right, uploads: [{ ...upload, bytes: -1 }] },
    { ...right, uploads: [{ ...upload, sha256: '' }] },
    { ...right, uploads: [null] },
    null,
    'text',
  ]) {
    expect(readManifest(signManifest(wrong as never, key))).toBeUndefined()
  }
})

describe('a copy of the database that uploads to the same place', () => {
  test('and the original go on with timelines of their own, and neither removes what the other made', async () => {
    const common = backUp()
    await server().look()
    const copyFolder = join(folder, 'copy')
    await mkdir(copyFolder)
    const copy = BackedUpDatabase.at(join(copyFolder, 'tally.db'))
    await Bun.write(copy.file, Bun.file(database.file))
    const made: string[] = [common]
    for (let day = 0; day < 4; day += 1) {
      now += DAY_MS
      for (const each of [database, copy]) {
        const into = each === copy ? copyFolder : folder
        const name = `${each.backUp(into, now)}.zst.age`
        await server({ of: each, folder: into }).look()
        if ((await stored()).includes(name)) made.push(name)
      }
    }
    expect(happened.filter((each) => each.startsWith('upload failed'))).toEqual([
      expect.stringContaining('another copy of the database uploads there'),
    ])
    expect(copy.identity.timeline).not.toBe(database.identity.timeline)
    // Each keeps two of its own.
    const ofTimeline = (timeline: string) => made.filter((name) => name.includes(timeline)).slice(-2)
    expect(await stored()).toEqual(
      [...ofTimeline(database.identity.timeline), ...ofTimeline(copy.identity.timeline)].sort(),
    )
  })

  test('is assumed if the memory of the server was lost: what is there is kept', async () => {
    const first = backUp()
    await server().look()
    await rm(join(folder, `remote-manifests-${database.identity.timeline}.json`))
    now += DAY_MS
    backUp()
    happened = []
    await server({ verifyEveryMs: HOUR_MS }).look()
    expect(happened).toEqual([expect.stringMatching(/^upload failed: .*was lost from the folder for backups\. This/)])
    for (let day = 0; day < 3; day += 1) {
      now += DAY_MS
      backUp()
      await server().look()
    }
    expect(await stored()).toHaveLength(3)
    expect(await stored()).toContain(first)
  })
})

test('what a server remembers may be damaged: it says so, and goes on once it is removed', async () => {
  backUp()
  await server().look()
  const { timeline } = database.identity
  const [memory, state] = ['manifests', 'backups'].map((of) => join(folder, `remote-${of}-${timeline}.json`))
  writeFileSync(memory!, '{"s3:')
  writeFileSync(state!, '{"s3:')
  now += DAY_MS
  backUp()
  happened = []
  const damaged = server()
  await damaged.look()
  // Not every minute.
  await damaged.look()
  expect(happened).toEqual([
    expect.stringMatching(/^upload failed: .* cannot be read \(.*\)\. Check its owner; if it is damaged/),
  ])
  expect(damaged.state()).toMatchObject({ lastMadeAt: null })
  await rm(memory!)
  await server().look()
  now += DAY_MS
  backUp()
  happened = []
  await server().look()
  expect(happened).toEqual([expect.stringMatching(/^uploaded/), expect.stringMatching(/^restored/)])
})

test('only what this server uploaded is counted and removed', async () => {
  const made: string[] = []
  for (let day = 0; day < 5; day += 1) {
    made.push(backUp())
    await server({ ...WITHOUT_KEY, verifyEveryMs: undefined }).look()
    now += DAY_MS
  }
  expect(await stored()).toEqual(made.slice(-2))
  const foreign = [
    'notes.txt',
    'tally-20250101T000000Z.db',
    'tally-20250101T000000Z.db.zst.age',
    nameAt(now - 1_000),
    nameAt(now - 2_000, { timeline: '0badcafe' } as never),
    'tally-20990101T000000Z.db.zst.age',
    'sub/tally-20250101T000000Z.db.zst.age',
    'tally-report.pdf',
  ]
  for (const name of foreign) await put(name, 'junk')
  for (let second = 0; second < 15; second += 1) await put(nameAt(now - 10_000 - second * 1_000), noise(1_000))
  const planted = (await stored()).filter((name) => !made.includes(name))
  now += 60_000
  made.push(backUp())
  happened = []
  const { look, state } = server({ ...WITHOUT_KEY, verifyEveryMs: undefined })
  await look()
  expect(happened).toEqual([`uploaded ${made[5]}`, `removed ${made[3]}`])
  expect(await stored()).toEqual([...planted, ...made.slice(-2)].sort())
  expect(state().others).toBe(19)
})

test('nothing is removed if the newest is not as it was uploaded', async () => {
  const names: string[] = []
  for (let day = 0; day < 2; day += 1) {
    names.push(backUp())
    await server({ verifyEveryMs: undefined }).look()
    now += DAY_MS
  }
  const { store } = Bucket.prototype
  const storing = spyOn(Bucket.prototype, 'store').mockImplementationOnce(async function (this: Bucket, name, content) {
    const { byteLength } = await new Response(content).arrayBuffer()
    await store.call(this, name, new Blob([noise(byteLength)]).stream(), byteLength)
  })
  names.push(backUp())
  happened = []
  await server({ verifyEveryMs: undefined }).look()
  storing.mockRestore()
  expect(happened).toEqual([
    `uploaded ${names[2]}`,
    expect.stringMatching(/^verification failed: .* is not what this server uploaded/),
  ])
  expect(await stored()).toEqual(names)
})

test('an access key that must not remove anything only leaves more backups', async () => {
  const removing = spyOn(Bucket.prototype, 'remove').mockRejectedValue(new BackupError('Access Denied'))
  try {
    for (let day = 0; day < 3; day += 1) {
      backUp()
      await server({ verifyEveryMs: undefined }).look()
      now += DAY_MS
    }
    expect(happened.at(-1)).toBe('not removed: Access Denied')
    expect(await stored()).toHaveLength(3)
  } finally {
    removing.mockRestore()
  }
})

test('an object that is there already under the name is replaced: nothing says what it is', async () => {
  const name = nameAt(now)
  await put(name, noise(1_500_000))
  expect(backUp()).toBe(name)
  await server().look()
  expect(happened).toEqual([`uploaded ${name}`, `restored ${name}`])
})

test('what an earlier version has uploaded, and noted with its digest, belongs to the first database that goes on', async () => {
  const names = ['tally-20261118T200000Z.db.zst.age', 'tally-20261119T200000Z.db.zst.age']
  for (const name of names) await put(name, name)
  const uploads = names.map((name) => ({
    ...{ name, bytes: name.length, sha256: new Bun.CryptoHasher('sha256').update(name).digest('hex') },
  }))
  const earlier = { place: storage.place, newest: null, uploads, uploadError: null, verification: null }
  await Bun.write(join(folder, 'remote-backups.json'), JSON.stringify(earlier))
  await put('tally-20261117T200000Z.db.zst.age', 'which it has not noted')
  const made = backUp()
  const { look } = server()
  await look()
  expect(happened).toEqual([`uploaded ${made}`, `removed ${names[0]}`, `restored ${made}`])
  expect(await stored()).toEqual(['tally-20261117T200000Z.db.zst.age', names[1]!, made])
  // Another database that shares the folder has uploaded none of them.
  const other = await BackedUpDatabase.in(join(folder, 'other'))
  const others = backUp(other)
  happened = []
  await server({ of: other }).look()
  expect(happened).toEqual([`uploaded ${others}`, `restored ${others}`])
})

test('two databases that share the folder and the storage do not touch what the other made', async () => {
  const other = await BackedUpDatabase.in(join(folder, 'other'))
  const made = { mine: [] as string[], others: [] as string[] }
  for (let day = 0; day < 4; day += 1) {
    made.mine.push(backUp())
    made.others.push(backUp(other))
    await server({ verifyEveryMs: HOUR_MS }).look()
    await server({ of: other, verifyEveryMs: HOUR_MS }).look()
    now += DAY_MS
  }
  expect(await stored()).toEqual([...made.mine.slice(-2), ...made.others.slice(-2)].sort())
  expect(happened.filter((each) => each.includes('failed'))).toEqual([])
})

test.each([
  ['nothing', () => new Uint8Array()],
  ['half of it', (bytes: Uint8Array) => bytes.subarray(0, bytes.length >> 1)],
  ['pages of something else', (bytes: Uint8Array) => new Uint8Array(bytes).fill(0x5a, 8_192)],
  ['noise', (bytes: Uint8Array) => noise(bytes.length)],
])('a file with the name of a backup and %s in it is not uploaded', async (_, damage) => {
  const name = backUp().replace('.zst.age', '')
  const file = join(folder, name)
  writeFileSync(file, damage(readFileSync(file)))
  await server(WITHOUT_KEY).look()
  expect(await storage.names()).toEqual([])
  expect(happened.filter((each) => !each.startsWith('upload failed'))).toEqual([])
})

test('a file that was renamed, or is of another database, is not uploaded', async () => {
  const old = backUp()
  now += DAY_MS
  await rename(join(folder, old.replace('.zst.age', '')), join(folder, nameAt(now).replace('.zst.age', '')))
  await server().look()
  expect(happened).toEqual([])
})

test('a connection that is cut leaves no object, and the upload is repeated after a while', async () => {
  database.grow(20_000_000)
  const made = backUp()
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

describe('a verification', () => {
  test('without the private key compares with what was uploaded, and verifies nothing', async () => {
    const made = backUp()
    const { look, state } = server(WITHOUT_KEY)
    await look()
    expect(happened).toEqual([`uploaded ${made}`, `compared ${made}`])
    expect(state()).toMatchObject({ verifiedAt: null, comparedAt: now })
    now += 7 * DAY_MS
    await put(made, noise((await read(made)).length))
    await server(WITHOUT_KEY).look()
    expect(happened.at(-1)).toMatch(/^verification failed: .* is not what this server uploaded/)
  })

  test.each([WITHOUT_KEY, {}])('never takes for the newest what it has not uploaded (%p)', async (plan) => {
    const made = backUp()
    await server(plan).look()
    now += 8 * DAY_MS
    await put(nameAt(now - HOUR_MS), noise(1_500_000))
    happened = []
    const { look, state } = server(plan)
    await look()
    expect(happened).toEqual([`${plan === WITHOUT_KEY ? 'compared' : 'restored'} ${made}`])
    expect(state()).toMatchObject({ lastMadeAt: now - 8 * DAY_MS, others: 1 })
  })

  test('finds a backup that somebody else encrypted with the public key', async () => {
    const made = backUp()
    await server().look()
    const stream = await sealed(join(folder, made.replace('.zst.age', '')), [keys.recipient])
    await storage.client.write(storage.prefix + made, new Response(stream))
    now += 7 * DAY_MS
    await server().look()
    expect(happened.at(-1)).toMatch(/^verification failed: .* is not what this server uploaded/)
  })

  test.each([WITHOUT_KEY, {}])('finds that the newest was removed while older ones remain (%p)', async (plan) => {
    const first = backUp()
    await server(plan).look()
    now += DAY_MS
    const second = backUp()
    await server(plan).look()
    await remove(second)
    now += 7 * DAY_MS
    happened = []
    const { look, state } = server(plan)
    await look()
    expect(happened).toEqual([expect.stringContaining(`${second} is missing`)])
    expect(state().lastMadeAt).toBe(now - 8 * DAY_MS)
    // It is uploaded again, as it is still here, and reported once more, as the storage has lost it.
    happened = []
    await look()
    expect(happened).toEqual([`uploaded ${second}`, expect.stringContaining('is missing')])
    expect(await stored()).toEqual([first, second])
    now += HOUR_MS
    happened = []
    await look()
    expect(happened).toEqual([`${plan === WITHOUT_KEY ? 'compared' : 'restored'} ${second}`])
  })

  test('reports an older one that was removed, but not what a rule of the bucket removes as retention does', async () => {
    const names: string[] = []
    for (let day = 0; day < 3; day += 1) {
      names.push(backUp())
      await server({ keep: { ...KEEP, last: 3 } }).look()
      now += DAY_MS
    }
    await remove(names[0]!)
    now += 7 * DAY_MS
    happened = []
    await server().look()
    expect(happened).toEqual([`restored ${names[2]}`])
    await remove(names[1]!)
    now += 7 * DAY_MS
    await server().look()
    expect(happened.at(-1)).toContain(`${names[1]} is missing`)
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
    expect(await stored()).toEqual(names)
    names.push(backUp())
    await server({ verifyEveryMs: undefined }).look()
    expect(await stored()).toEqual(names.slice(2))
  })

  test('fails if the storage was emptied, or the private key is another one', async () => {
    const made = backUp()
    const other = await generateKeys()
    await Bun.write(join(folder, 'identity'), `${other.identity}\n`)
    await server().look()
    expect(happened).toEqual([`uploaded ${made}`, expect.stringMatching(/^verification failed: .*for another key/)])
    for (const name of await storage.names()) await remove(name)
    now += HOUR_MS
    await server().look()
    expect(happened.at(-1)).toMatch(/^verification failed: The manifest .* is missing.*tally-.* is missing/)
    expect((await readdir(folder)).filter((name) => name.startsWith('verification'))).toEqual([])
  })
})

test('a clock that is set back does not keep newer backups from being uploaded', async () => {
  const first = backUp()
  await server({ verifyEveryMs: undefined }).look()
  now -= 30 * DAY_MS
  const second = backUp()
  await server({ verifyEveryMs: undefined }).look()
  expect(happened).toEqual([`uploaded ${first}`, `uploaded ${second}`])
  expect(await stored()).toEqual([second, first])
})
