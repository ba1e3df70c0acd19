/** The format of encrypted backups: with the real age where it is installed, and whatever is done to a file. */
import { Database as Connection } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Encrypter } from 'age-encryption'
import { generateKeys, readIdentities, sealed, unseal } from '../../../src/database/backup/remote/encryption.ts'

let folder: string
let keys: { identity: string; recipient: string }
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tally-encryption-'))
  keys = await generateKeys()
  const database = new Connection(file('tally.db'))
  database.run('CREATE TABLE texts (text)')
  for (let at = 0; at < 40; at += 1) database.run('INSERT INTO texts VALUES (hex(randomblob(10000)))')
  database.close()
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const file = (name: string) => join(folder, name)
const bytesOf = async (name: string) => Buffer.from(await Bun.file(file(name)).bytes())

async function collected(stream: ReadableStream<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

const streamOf = (bytes: Uint8Array) =>
  new Blob([new Uint8Array(bytes)]).stream() as ReadableStream<Uint8Array<ArrayBuffer>>
const seal = async (name = 'tally.db') => collected(await sealed(file(name), [keys.recipient]))
const open = (bytes: Uint8Array, identity = keys.identity) => unseal(streamOf(bytes), [identity], file('opened.db'))

/** Any content in the format of a backup. */
async function sealedContent(content: Uint8Array): Promise<Buffer> {
  const encrypter = new Encrypter()
  encrypter.addRecipient(keys.recipient)
  return Buffer.from(await encrypter.encrypt(Bun.zstdCompressSync(new Uint8Array(content))))
}

async function refused(bytes: Uint8Array, says: RegExp, identity?: string): Promise<void> {
  const error: unknown = await open(bytes, identity).catch((caught) => caught)
  expect((error as Error).message).toMatch(says)
  expect(existsSync(file('opened.db'))).toBe(false)
}

test('what is sealed is opened with the private key alone, to the same bytes', async () => {
  const bytes = await seal()
  expect(bytes.includes('CREATE TABLE')).toBe(false)
  expect(bytes.length).toBeLessThan(Bun.file(file('tally.db')).size)
  await open(bytes)
  expect(await bytesOf('opened.db')).toEqual(await bytesOf('tally.db'))
})

test('a bomb is refused, even if it begins like a large database', async () => {
  const begin = (await bytesOf('tally.db')).subarray(0, 100)
  // Its number of pages, so that it announces two gigabytes.
  begin.writeUInt32BE(524_288, 28)
  const encrypter = new Encrypter()
  encrypter.addRecipient(keys.recipient)
  const frame = Bun.zstdCompressSync(Buffer.alloc(64 * 1_048_576))
  const frames = [Bun.zstdCompressSync(begin), ...Array.from({ length: 31 }, () => frame)]
  const bomb = Buffer.from(await encrypter.encrypt(new Uint8Array(Buffer.concat(frames))))
  await refused(bomb, /It is not a backup of Tally: it expands to more than 200 times its size/)
})

test('one of several recipients is enough', async () => {
  const other = await generateKeys()
  const bytes = await collected(await sealed(file('tally.db'), [keys.recipient, other.recipient]))
  await open(bytes, other.identity)
  expect(await bytesOf('opened.db')).toEqual(await bytesOf('tally.db'))
})

describe('nothing is left of', () => {
  test('a backup for another key', async () => {
    const { identity } = await generateKeys()
    await refused(await seal(), /encrypted for another key/, identity)
  })

  test('one that was cut off, also between two chunks, extended, changed or reordered', async () => {
    const bytes = await seal()
    const chunk = 65_552
    // The header and the nonce precede the first chunk.
    const begin = bytes.indexOf('\n--- ') + '\n--- '.length + 43 + 1 + 16
    const chunks = (from: number, to: number) => bytes.subarray(begin + from * chunk, begin + to * chunk)
    expect(bytes.length).toBeGreaterThan(begin + 3 * chunk)
    const changed = Buffer.from(bytes)
    changed[begin + 100]! ^= 1
    for (const other of [
      bytes.subarray(0, bytes.length - 1),
      bytes.subarray(0, begin + 2 * chunk),
      bytes.subarray(0, begin),
      Buffer.concat([bytes, Buffer.from('more')]),
      changed,
      Buffer.concat([bytes.subarray(0, begin), chunks(1, 2), chunks(0, 1), bytes.subarray(begin + 2 * chunk)]),
      Buffer.concat([bytes.subarray(0, begin), bytes.subarray(begin + chunk)]),
    ]) {
      await refused(other, /It was changed, is incomplete or not encrypted with age/)
    }
  })

  test('other files', async () => {
    for (const bytes of [Buffer.from(''), Buffer.from('hello'), await bytesOf('tally.db')]) {
      await refused(bytes, /It was changed, is incomplete or not encrypted with age/)
    }
    await refused(await sealedContent(Buffer.from('not a database '.repeat(100))), /does not contain a SQLite database/)
    await refused(await sealedContent(Buffer.from('short')), /only a part of its database/)
  })

  test('one that contains more or less than its database, such as a bomb', async () => {
    const content = await bytesOf('tally.db')
    await refused(await sealedContent(Buffer.concat([content, Buffer.alloc(1)])), /more than its database/)
    await refused(await sealedContent(content.subarray(0, content.length - 4096)), /only a part of its database/)
    await refused(await sealedContent(Buffer.concat([content, Buffer.alloc(50_000_000)])), /more than its database/)
    const large = Buffer.from(content)
    // The number of pages of 281 TB.
    large.writeUInt32BE(0xffff_fffe, 28)
    await refused(await sealedContent(large), /Not enough disk space/)
  })
})

describe('an identity file', () => {
  test('may have comments and several keys', () => {
    expect(readIdentities(`# created: today\n# public key: …\n${keys.identity}\r\n\n`, 'key')).toEqual([keys.identity])
  })

  test('is not repeated in errors', () => {
    for (const [text, says] of [
      ['', 'does not contain a private key'],
      [`${keys.identity}X`, 'not a private key'],
      [keys.recipient, 'not a private key'],
      ['age-encryption.org/v1\n-> scrypt', 'is itself encrypted'],
    ] as const) {
      expect(() => readIdentities(text, 'key')).toThrow(says)
      expect(() => readIdentities(text, 'key')).not.toThrow(text.slice(0, 40) || 'AGE-SECRET-KEY-1T')
    }
  })
})

describe.skipIf(!Bun.which('age'))('the real age', () => {
  const age = async (args: string[], input: Uint8Array) => {
    const child = Bun.spawn(['age', ...args], { stdin: new Uint8Array(input), stdout: 'pipe', stderr: 'inherit' })
    const output = await child.stdout.bytes()
    expect(await child.exited).toBe(0)
    return output
  }

  test('opens what is sealed', async () => {
    await Bun.write(file('key'), `${keys.identity}\n`)
    const compressed = await age(['--decrypt', '--identity', file('key')], await seal())
    expect(Buffer.from(Bun.zstdDecompressSync(compressed))).toEqual(await bytesOf('tally.db'))
  })

  test('seals what is opened', async () => {
    const compressed = Bun.zstdCompressSync(await Bun.file(file('tally.db')).bytes())
    await open(await age(['--encrypt', '--recipient', keys.recipient], compressed))
    expect(await bytesOf('opened.db')).toEqual(await bytesOf('tally.db'))
  })
})
