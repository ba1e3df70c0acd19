import { describe, expect, test } from 'bun:test'
import { Problem } from '../../../src/errors.ts'
import { Decoding, type Export } from '../../../src/features/telemetry/decoding-thread.ts'
import { BODY_LIMIT_BYTES } from '../../../src/features/telemetry/otlp/decode.ts'

const MIB = 1_048_576

async function* chunks(...parts: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield typeof part === 'string' ? new TextEncoder().encode(part) : part
}

const body = (...parts: string[]): Export => of(chunks(...parts))

const of = (parts: Export['parts'], contentLength: number | null = null): Export => ({
  kind: 'logs',
  encoding: 'json',
  gzip: false,
  contentLength,
  parts,
})

/** The problem's code, and the seconds after which to try again where it says so. */
async function refusal(reading: Promise<unknown>): Promise<[string, string | undefined]> {
  try {
    await reading
    return ['read', undefined]
  } catch (error) {
    if (error instanceof Problem) return [error.code, error.more.headers?.['retry-after']]
    throw error
  }
}

/** What is known of as much as a body may have, in memory only once. */
async function* large(mebibytes: number, then: Promise<void> = Promise.resolve()): AsyncGenerator<Uint8Array> {
  const chunk = new Uint8Array(MIB)
  for (let sent = 0; sent < mebibytes; sent++) yield chunk
  await then
}

describe('a body', () => {
  test('is read from as many parts as it comes in', async () => {
    const decoding = new Decoding()
    const sent = '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"eventName":"other"},{}]}]}]}'
    const read = await decoding.read(body(...sent.match(/.{1,7}/g)!))
    expect(read).toMatchObject({ records: 2, observations: [], rejected: 0 })
    expect(read.ignored.get('other')).toBe(1)
  })

  test('that is too large is refused by what it says, or as soon as it is', async () => {
    const decoding = new Decoding()
    const asked: string[] = []
    const untouched = (async function* () {
      asked.push('asked')
      yield new Uint8Array(1)
    })()
    expect(await refusal(decoding.read(of(untouched, BODY_LIMIT_BYTES + 1)))).toEqual(['body_too_large', undefined])
    expect(asked).toEqual([])
    // What comes after the part that is too much is never asked for.
    const more = large(10 * (BODY_LIMIT_BYTES / MIB))
    expect(await refusal(decoding.read(of(more)))).toEqual(['body_too_large', undefined])
    expect((await more.next()).done).toBe(true)
  })

  test('that breaks off is the sender’s issue', async () => {
    const broken = (async function* () {
      yield new Uint8Array(1)
      throw new Error('The connection was closed.')
    })()
    expect(await refusal(new Decoding().read(of(broken)))).toEqual(['bad_request', undefined])
  })

  test('is refused with the advice to wait where too many bytes are held, and taken again when they are gone', async () => {
    const decoding = new Decoding()
    const { promise, resolve } = Promise.withResolvers<void>()
    const held = [1, 2].map(() => decoding.read(of(large(BODY_LIMIT_BYTES / MIB, promise))))
    const answers = Promise.all(held.map(refusal))
    await Bun.sleep(0)
    expect(await refusal(decoding.read(body('{}')))).toEqual(['overloaded', '2'])
    resolve()
    // Two bodies of nothing but zeros.
    expect(await answers).toEqual([
      ['bad_request', undefined],
      ['bad_request', undefined],
    ])
    expect(await refusal(decoding.read(body('{}')))).toEqual(['read', undefined])
  })
})

describe('a thread that breaks', () => {
  const program = new URL('../../support/breaking-worker.ts', import.meta.url).href

  test.each(['crash', 'throw', 'hang'])(
    'by a %s is replaced: its body may be sent again, others are read',
    async (issue) => {
      // Only what hangs needs to wait for it.
      const decoding = new Decoding(program, issue === 'hang' ? 5_000 : 60_000)
      const [broken, ...others] = [issue, 'abc', 'de'].map((text) => decoding.read(body(text)))
      expect(await refusal(broken!)).toEqual(['overloaded', '2'])
      expect(await Promise.all(others)).toMatchObject([{ records: 3 }, { records: 2 }])
    },
  )

  test('in its code alone is a failure of the server, and stays', async () => {
    const decoding = new Decoding(program)
    await expect(decoding.read(body('fail'))).rejects.toThrow('The telemetry worker failed: TypeError')
    expect(await decoding.read(body('abc'))).toMatchObject({ records: 3 })
  })

  test('is given no more than so many bodies at a time', async () => {
    const decoding = new Decoding(program, 5_000)
    const codes = await Promise.all(
      Array.from({ length: 600 }, (_, number) => refusal(decoding.read(body(number === 0 ? 'hang' : 'abc')))),
    )
    const refused = codes.filter(([code]) => code === 'overloaded')
    // One is being read, 500 wait; the one that hung is given up.
    expect(refused.length).toBe(600 - 501 + 1)
    expect(new Set(refused.map(([, seconds]) => seconds))).toEqual(new Set(['2']))
  })
})
