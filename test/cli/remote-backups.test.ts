/** Backups in S3-compatible storage, as an operator makes, lists, verifies and restores them. */
import { Database as Connection } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Encrypter } from 'age-encryption'
import { BackedUpDatabase } from '../support/backups.ts'
import { CommandLine, type RunOptions } from '../support/command-line.ts'
import { startMailServer } from '../support/mail-server.ts'
import { startStorage, type TestStorage } from '../support/s3-server.ts'

let tally: CommandLine
let storage: TestStorage
/** The public key. */
let recipient: string
beforeEach(async () => {
  tally = await CommandLine.make({ engine: 'sqlite' })
  storage = await startStorage()
  await tally.addUser()
  recipient = (await tally.done(['backup', 'keygen', 'key'])).stdout.trim()
})
afterEach(async () => {
  await tally.remove()
  await storage.close()
})

const file = (name: string) => join(tally.folder, name)

const env = (more: Record<string, string> = {}) => ({ ...storage.env, TALLY_BACKUP_RECIPIENTS: recipient, ...more })
const json = (args: string[], options: RunOptions = {}) => tally.json(args, { env: env(), ...options })

/** The error of a command that must fail, and leave no database in the folder `restored`. */
async function refusal(args: string[], more: Record<string, string> = {}): Promise<string> {
  // A process: the end of it may be all that ends a request to a storage that lies.
  const { code, stdout, stderr } = await tally.run(args, { env: env(more), asProcess: true })
  expect(code).not.toBe(0)
  expect(existsSync(file('restored/tally.db'))).toBe(false)
  for (const secret of [storage.env.AWS_SECRET_ACCESS_KEY!, 'AWS_SECRET_IN_TEST', await privateKey()]) {
    // s3rver's key and secret are the same.
    if (secret !== storage.env.AWS_ACCESS_KEY_ID) expect(stdout + stderr).not.toContain(secret)
  }
  return stderr
}

async function privateKey(name = 'key'): Promise<string> {
  return /AGE-SECRET-KEY-1\w+/.exec(await Bun.file(file(name)).text())![0]
}

/** What is in the storage, without the manifest. */
const objects = async () => (await storage.names()).filter((name) => !name.endsWith('.jws'))

/** A backup made by the command, and the name of its object. */
async function backUp(): Promise<string> {
  const made = await json(['backup', storage.place])
  return made.file.slice(storage.place.length)
}

/** Text that cannot be compressed by more than half, for uploads of several parts. */
function grow(bytes: number): void {
  const connection = new Connection(join(tally.dataDir, 'tally.db'))
  connection.run('BEGIN')
  for (let at = 0; at < bytes; at += 1_000_000) {
    connection.run('INSERT INTO names (text) VALUES (hex(randomblob(500000)))')
  }
  connection.run('COMMIT')
  connection.close()
}

describe('the command line', () => {
  test('backs up to S3, lists, verifies and restores, with the private key only where it reads', async () => {
    const made = await json(['backup', storage.place])
    const name = made.file.slice(storage.place.length)
    expect(name).toMatch(/^tally-\d{8}T\d{6}Z-[\da-f]{8}\.db\.zst\.age$/)
    const object = Buffer.from(await storage.client.file(storage.prefix + name).bytes())
    expect(object.subarray(0, 22).toString()).toBe('age-encryption.org/v1\n')
    expect(new Bun.CryptoHasher('sha256').update(object).digest('hex')).toBe(made.sha256)

    await tally.done(['backup'])
    const { data } = await json(['backup', 'list'], { env: env({ TALLY_BACKUP_S3: storage.place }) })
    expect(data).toEqual([
      expect.objectContaining({ name: expect.stringMatching(/Z-[\da-f]{8}\.db$/) }),
      {
        ...{ place: storage.place, name, made_at: expect.stringMatching(/^20/), bytes: object.length },
        ...{ database: expect.stringMatching(/^[\da-f]{32}$/), timeline: name.slice(-19, -11), origin: 'own' },
      },
    ])
    expect(await json(['backup', 'verify', storage.place, '--identity', 'key'])).toEqual({
      ...{ backup: made.file, ok: true, differences: [] },
    })
    for (const [index, place] of [made.file, storage.place, `${storage.place}latest`].entries()) {
      await tally.done(['restore', place, '--identity', 'key', '--data', file(`r${index}`)], { env: env() })
      const { data } = await tally.json(['users', 'list', '--data', file(`r${index}`)])
      expect(data.map(({ email }: { email: string }) => email)).toEqual(['ada@example.com'])
    }
    await Bun.write(file('copied'), object)
    await tally.done(['restore', 'copied', '--identity', 'key', '--data', file('r3')])
    expect((await readdir(file('r3'))).sort()).toEqual(['tally.db'])
    expect((await stat(file('r3/tally.db'))).mode & 0o777).toBe(0o600)
  })

  test('restores the latest, from this machine if it has it', async () => {
    const { data: none } = await json(['backup', 'list', storage.place])
    expect(none).toEqual([])
    expect(await refusal(['restore', 'latest', '--data', file('restored')])).toContain('There is no backup in')
    const name = await backUp()
    const options = { env: env({ TALLY_BACKUP_S3: storage.place, TALLY_BACKUP_IDENTITY_FILE: file('key') }) }
    const remote = await tally.done(['restore', 'latest', '--data', file('r1')], options)
    expect(remote.stdout).toContain(`from ${storage.place}${name}`)
    await Bun.sleep(1_000)
    const local = await json(['backup'])
    const later = await tally.done(
      ['restore', 'latest', '--data', file('r2'), '--backup-dir', join(tally.dataDir, 'backups')],
      options,
    )
    expect(later.stdout).toContain(`from ${local.file}`)
  })

  test('refuses an older backup under the name of a newer one, and finds that the newest was removed', async () => {
    const name = await backUp()
    const object = await storage.client.file(storage.prefix + name).bytes()
    const newer = name.replace(/T\d{6}Z/, 'T235959Z')
    await storage.client.write(storage.prefix + newer, object)
    await Bun.write(file(newer), object)
    for (const place of [storage.place + newer, file(newer)]) {
      const restore = ['restore', place, '--identity', 'key', '--data', file('restored')]
      expect(await refusal(restore)).toContain('is not the backup that its name says: it was made at')
      expect(await refusal(['backup', 'verify', place, '--identity', 'key'])).toContain('and has another name since')
    }
    const { data } = await json(['backup', 'list', storage.place])
    expect(data.map((each: Record<string, string>) => [each.name, each.origin])).toEqual([
      [newer, 'unlisted'],
      [name, 'own'],
    ])
    // What nobody has signed is not the newest.
    expect(await json(['backup', 'verify', storage.place, '--identity', 'key'])).toMatchObject({
      backup: storage.place + name,
    })
    while (Math.floor(Date.now() / 1000) * 1000 <= Date.parse(data[1].made_at)) await Bun.sleep(20)
    const newest = await backUp()
    await storage.client.delete(storage.prefix + newest)
    const { code, stdout } = await tally.run(['backup', 'verify', storage.place, '--identity', 'key', '--json'], {
      env: env(),
    })
    expect([code, JSON.parse(stdout)]).toEqual([
      1,
      {
        ...{ backup: storage.place + name, ok: false },
        differences: [`${storage.place}${newest} is missing: it was uploaded, and Tally did not remove it.`],
      },
    ])
    const restore = ['restore', storage.place, '--identity', 'key', '--data', file('r1')]
    expect((await tally.done(restore, { env: env() })).stderr).toContain(`${newest} is missing`)
    expect((await tally.run(['backup', 'list', storage.place], { env: env() })).stderr).toContain(
      `${newest} is missing`,
    )
  })

  test('says what to do about uploads that this machine knows nothing of', async () => {
    await backUp()
    const error = await refusal(['backup', storage.place], { TALLY_BACKUP_DIR: file('elsewhere') })
    expect(error).toContain('that this server did not write')
    expect(error).toContain('Use the folder for backups of the server (--backup-dir, TALLY_BACKUP_DIR)')
  })

  test('keeps the backups of two databases in one folder apart', async () => {
    const other = await CommandLine.make({ engine: 'sqlite' })
    try {
      const database = BackedUpDatabase.at(join(other.dataDir, 'tally.db'))
      database.beginAnew()
      await other.addUser('eve@example.com')
      await backUp()
      await other.done(['backup', storage.place], { env: env() })
      const emailsIn = async (data: string) =>
        (await tally.json(['users', 'list', '--data', data])).data.map(({ email }: { email: string }) => email)
      const restore = ['restore', storage.place, '--identity', 'key']
      await tally.done([...restore, '--replace', '--yes'], { env: env() })
      expect(await emailsIn(tally.dataDir)).toEqual(['ada@example.com'])
      const into = ['--data', file('restored')]
      expect(await refusal([...restore, ...into])).toContain('There are backups of 2 databases. Add --database')
      const id = database.identity.database
      const { stdout } = await tally.done([...restore, ...into, '--database', id], { env: env() })
      expect(stdout).toContain(`of the database ${id} at 20`)
      expect(await emailsIn(file('restored'))).toEqual(['eve@example.com'])
      const { data } = await json(['backup', 'list', storage.place])
      const mine = data.find(({ origin }: { origin: string }) => origin !== 'another_database')
      const wrong = ['restore', storage.place + mine.name, '--identity', 'key', '--data', file('wrong')]
      const { code, stderr } = await tally.run([...wrong, '--database', id], { env: env() })
      expect([code, stderr]).toEqual([1, expect.stringContaining(`, not of ${id} (--database)`)])
      expect(existsSync(file('wrong/tally.db'))).toBe(false)
    } finally {
      await other.remove()
    }
  })

  test('says what is wrong with keys, credentials and places, and repeats no secret', async () => {
    const name = await backUp()
    const other = (await tally.done(['backup', 'keygen', 'other'])).stdout.trim()
    const restore = (...args: string[]) => ['restore', storage.place, '--data', file('restored'), ...args]
    expect(await refusal(restore())).toContain('--identity')
    expect(await refusal(restore('--identity', 'other'))).toContain('encrypted for another key')
    expect(await refusal(restore('--identity', 'missing'))).toContain('missing cannot be read (ENOENT)')
    expect(await refusal(['backup', storage.place], { TALLY_BACKUP_RECIPIENTS: '' })).toContain('tally backup keygen')
    const swapped = await refusal(['backup', storage.place], { TALLY_BACKUP_RECIPIENTS: await privateKey() })
    expect(swapped).toContain('public keys')
    // Of 32 keys, one ends with this letter itself.
    const wrong = { TALLY_BACKUP_RECIPIENTS: `${other.slice(0, -1)}${other.endsWith('q') ? 'z' : 'q'}` }
    expect(await refusal(['backup', storage.place], wrong)).toContain('is not a public key of age')
    const noKey = { AWS_ACCESS_KEY_ID: 'nobody', AWS_SECRET_ACCESS_KEY: 'AWS_SECRET_IN_TEST' }
    expect(await refusal(['backup', storage.place], noKey)).toContain('Check AWS_ACCESS_KEY_ID')
    expect(await refusal(['backup', storage.place], { AWS_SECRET_ACCESS_KEY: '' })).toContain(
      'AWS_SECRET_ACCESS_KEY_FILE',
    )
    expect(await refusal(['backup', 's3://missing-bucket/'])).toContain('Create the bucket')
    expect(await refusal(['backup', 's3://Backups/../'])).toContain('not a valid place')
    expect(await refusal(['backup', storage.place, '--secret-access-key', 'x'])).toContain('unknown option')
    expect(await refusal(['backup', storage.place], { AWS_ENDPOINT_URL: 'http://127.0.0.1:1' })).toContain(
      'AWS_ENDPOINT_URL',
    )
    expect(
      await refusal(['restore', `${storage.place}tally-20200101T000000Z.db.zst.age`, '--identity', 'key']),
    ).toContain('does not exist')
    expect(await objects()).toEqual([name])
    // Nothing is left of copies that were not uploaded.
    const left = (await readdir(join(tally.dataDir, 'backups'))).filter((name) => !name.startsWith('remote-manifests-'))
    expect(left).toEqual([])
  })

  test('reads the secret from a file', async () => {
    await Bun.write(file('secret'), `${storage.env.AWS_SECRET_ACCESS_KEY}\n`)
    const fromFile = { ...env({ AWS_SECRET_ACCESS_KEY_FILE: file('secret') }), AWS_SECRET_ACCESS_KEY: '' }
    await tally.done(['backup', storage.place], { env: fromFile })
    expect(await objects()).toHaveLength(1)
  })

  test('refuses objects that were changed, cut off or made large, and leaves nothing of them', async () => {
    const name = await backUp()
    const object = Buffer.from(await storage.client.file(storage.prefix + name).bytes())
    const changed = Buffer.from(object)
    changed[object.length >> 1]! ^= 1
    const encrypter = new Encrypter()
    encrypter.addRecipient(recipient)
    const bomb = await encrypter.encrypt(
      Bun.zstdCompressSync(
        Buffer.concat([await Bun.file(join(tally.dataDir, 'tally.db')).bytes(), Buffer.alloc(50_000_000)]),
      ),
    )
    for (const [bytes, says] of [
      [changed, 'It was changed'],
      [object.subarray(0, object.length - 1), 'It was changed, is incomplete'],
      [Buffer.from(''), 'is incomplete'],
      [bomb, 'It contains more than its database'],
    ] as const) {
      // By its name: as the newest, only the manifest would be asked.
      const place = storage.place + name
      await storage.client.write(storage.prefix + name, new Uint8Array(bytes))
      expect(await refusal(['restore', place, '--identity', 'key', '--data', file('restored')])).toContain(says)
      expect(await readdir(file('restored'))).toEqual([])
      expect(await refusal(['backup', 'verify', place, '--identity', 'key'])).toContain(says)
    }
    const error = await refusal(['restore', storage.place, '--identity', 'key', '--data', file('restored')])
    expect(error).toMatch(new RegExp(`${name}: it has \\d+ bytes instead of the ${object.length} that were uploaded`))
  })

  test('an upload that is interrupted leaves no object', async () => {
    grow(20_000_000)
    storage.trouble({ cutAfter: 6_000_000 })
    expect(await refusal(['backup', storage.place])).toContain('AWS_ENDPOINT_URL')
    expect(await objects()).toEqual([])
    storage.trouble(undefined)
    await backUp()
    expect(await objects()).toHaveLength(1)
  })

  test('a storage that lies is no danger', async () => {
    const requests: string[] = []
    const prefix = 'tally/'
    const listing = (keys: string[], more: string) =>
      `<ListBucketResult><Name>b</Name>${keys
        .map((key) => `<Contents><Key>${key}</Key><Size>30</Size></Contents>`)
        .join('')}<IsTruncated>${more === '' ? 'false' : 'true'}</IsTruncated>${more}</ListBucketResult>`
    let answer: (url: URL) => Response
    const liar = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        requests.push(request.url)
        return answer(new URL(request.url))
      },
    })
    const lied = { AWS_ENDPOINT_URL: liar.url.origin, TMPDIR: tally.folder }
    try {
      // Names that would leave a folder.
      answer = () =>
        new Response(
          listing(
            [
              `${prefix}../tally-20990101T000000Z.db.zst.age`,
              '/etc/tally-20250101T000000Z.db.zst.age',
              `${prefix}tally-20250101T000000Z.db.zst.age/..`,
            ],
            '',
          ),
        )
      expect(await json(['backup', 'list', 's3://bucket/tally/'], { env: env(lied) })).toMatchObject({ data: [] })
      // A list without an end.
      answer = () => new Response(listing([`${prefix}tally-x`], '<NextContinuationToken>again</NextContinuationToken>'))
      expect(await refusal(['backup', 'list', 's3://bucket/tally/'], lied)).toContain('Use a prefix for Tally alone')
      expect(requests.length).toBeLessThan(200)
      // An object without an end.
      const name = 'tally-20250101T000000Z.db.zst.age'
      const endless = () => {
        const chunk = new Uint8Array(65_536)
        return new ReadableStream({ pull: (controller) => controller.enqueue(chunk) })
      }
      answer = ({ search }) =>
        search.includes('list-type') ? new Response(listing([prefix + name], '')) : new Response(endless())
      const error = await refusal(
        ['restore', 's3://bucket/tally/', '--identity', 'key', '--data', file('restored')],
        lied,
      )
      expect(error).toMatch(/longer than the storage said|It was changed/)
      // A response to a list without an end.
      answer = () => new Response(endless())
      expect(await refusal(['backup', 'list', 's3://bucket/tally/'], lied)).toContain('this is not how S3 responds')
    } finally {
      await liar.stop(true)
    }
  })
})

describe('a server', () => {
  const scheduled = (more: Record<string, string> = {}) =>
    env({ TALLY_BACKUP_EVERY: '24h', TALLY_BACKUP_S3: storage.place, ...more })

  test('uploads its backups, removes old ones, verifies with its private key, and shows no secret', async () => {
    const foreign = ['notes.txt', 'tally-20250101T000000Z.db.zst.age.bak']
    for (const name of foreign) await storage.client.write(storage.prefix + name, 'precious')
    // As version 0.3.0 has uploaded them and noted it, but one.
    const earlier = ['20250101', '20250102', '20250108', '20250109'].map((day) => ({
      ...{ name: `tally-${day}T000000Z.db.zst.age`, bytes: 3 },
      sha256: new Bun.CryptoHasher('sha256').update('old').digest('hex'),
    }))
    for (const { name } of earlier) await storage.client.write(storage.prefix + name, 'old')
    const noted = { place: storage.place, newest: null, uploadError: null, verification: null }
    await Bun.write(
      join(tally.dataDir, 'backups/remote-backups.json'),
      JSON.stringify({ ...noted, uploads: earlier.slice(0, 3) }),
    )
    const options = { TALLY_BACKUP_KEEP: '1', TALLY_BACKUP_KEEP_WEEKLY: '2', TALLY_BACKUP_IDENTITY_FILE: file('key') }
    const first = await tally.serve([], scheduled({ ...options, TALLY_BACKUP_VERIFY_EVERY: 'off' }))
    await first.untilPrinted(/uploaded a backup/)
    await first.stop()
    const server = await tally.serve([], scheduled(options))
    await server.untilPrinted(/"extent":"restored"/)
    expect(await objects()).toEqual([
      ...['notes.txt', 'tally-20250101T000000Z.db.zst.age.bak', 'tally-20250108T000000Z.db.zst.age'],
      'tally-20250109T000000Z.db.zst.age',
      expect.stringMatching(/^tally-2.*Z-[\da-f]{8}\.db\.zst\.age$/),
    ])
    const { token } = await tally.createToken('read')
    const metrics = await (
      await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
    ).text()
    expect(metrics).toMatch(/^tally_last_remote_backup_timestamp_seconds 1\d{9}$/m)
    expect(metrics).toMatch(/^tally_last_backup_verification_timestamp_seconds 1\d{9}/m)
    expect(metrics).toMatch(/^tally_backup_verification_failures 0$/m)
    expect(metrics).toMatch(/^tally_other_remote_backups 1$/m)
    expect(metrics).toMatch(/^tally_other_backups 0$/m)
    const { findings } = JSON.parse((await tally.run(['doctor', '--json'], { env: scheduled(options) })).stdout)
    const of = (what: string) => findings.find((finding: { what: string }) => finding.what === what)
    expect(of('backups').level).toBe('ok')
    expect(of('stored backups')).toMatchObject({
      level: 'ok',
      message: expect.stringMatching(/^2 in s3:.*; not counted and never removed: 1 that it did not upload$/),
    })
    expect(of('verification')).toMatchObject({ level: 'ok', message: expect.stringContaining('restored and checked') })
    await server.stop()
    const shown = server.output() + metrics + JSON.stringify(findings)
    expect(shown).not.toContain(await privateKey())
    if (storage.env.AWS_SECRET_ACCESS_KEY !== storage.env.AWS_ACCESS_KEY_ID) {
      expect(shown).not.toContain(storage.env.AWS_SECRET_ACCESS_KEY!)
    }
  })

  test('reports a failed upload and verification as an event and to admins, once a day each', async () => {
    const mails = await startMailServer()
    try {
      await tally.addUser('eve@example.com', 'member')
      await tally.done(['backup', 'keygen', 'other'])
      const mail = {
        TALLY_SMTP_URL: `smtp://${mails.address.host}:${mails.address.port}`,
        TALLY_SMTP_FROM: 'tally@example.com',
      }
      const broken = await tally.serve([], scheduled({ ...mail, AWS_ACCESS_KEY_ID: 'nobody' }))
      await broken.untilPrinted(/could not upload a backup/)
      while (mails.letters.length < 1) await Bun.sleep(20)
      await broken.stop()
      const server = await tally.serve([], scheduled({ ...mail, TALLY_BACKUP_IDENTITY_FILE: file('other') }))
      await server.untilPrinted(/could not verify the uploaded backups/)
      while (mails.letters.length < 2) await Bun.sleep(20)
      await server.stop()
      expect(mails.letters.map(({ to, headers }) => [to, headers.get('subject')])).toEqual([
        [['ada@example.com'], 'A backup could not be uploaded'],
        [['ada@example.com'], 'Uploaded backups could not be verified'],
      ])
      expect(mails.letters[0]!.text).toContain('Check AWS_ACCESS_KEY_ID')
      const { data } = await tally.json(['events', 'list', '--types', 'backup.failed'])
      expect(data.map((event: { after: { step: string } }) => event.after.step).sort()).toEqual([
        'upload',
        'verification',
      ])
      const { stdout } = await tally.run(['doctor', '--json'], { env: scheduled() })
      expect(JSON.parse(stdout).findings).toContainEqual(
        expect.objectContaining({
          what: 'verification',
          level: 'error',
          message: expect.stringContaining('another key'),
        }),
      )
    } finally {
      await mails.close()
    }
  })

  test('killed during an upload leaves no process and no object, and the next start uploads', async () => {
    grow(20_000_000)
    storage.trouble({ holdAfter: 6_000_000 })
    const server = await tally.serve([], scheduled({ TALLY_BACKUP_VERIFY_EVERY: 'off' }))
    while (storage.sent() < 6_000_000) await Bun.sleep(20)
    const children = childrenOf(server.process.pid)
    expect(children).toHaveLength(1)
    server.process.kill('SIGKILL')
    await server.process.exited
    while (existsSync(`/proc/${children[0]}`)) await Bun.sleep(20)
    expect(await objects()).toEqual([])
    storage.trouble(undefined)
    const next = await tally.serve([], scheduled({ TALLY_BACKUP_VERIFY_EVERY: 'off' }))
    await next.untilPrinted(/uploaded a backup/)
    await next.stop()
    const [name] = await objects()
    await tally.done(['backup', 'verify', storage.place + name, '--identity', 'key'], { env: env() })
  })

  test('does not start without a schedule or a public key', async () => {
    expect(await refusal(['serve', '--port', '0'], { TALLY_BACKUP_S3: storage.place })).toContain('TALLY_BACKUP_EVERY')
    expect(await refusal(['serve', '--port', '0'], scheduled({ TALLY_BACKUP_RECIPIENTS: '' }))).toContain(
      'backup keygen',
    )
    expect(await refusal(['serve', '--port', '0'], scheduled({ TALLY_BACKUP_VERIFY_EVERY: '1min' }))).toContain(
      '1h or longer',
    )
  })
})

/** Processes of the server for remote backups, on Linux. */
function childrenOf(pid: number): string[] {
  const { stdout } = Bun.spawnSync(['pgrep', '--parent', String(pid), '--full', 'remote-backups'])
  return stdout.toString().trim().split('\n').filter(Boolean)
}
