/** The executable that people download, which is built without bytecode; and what takes longer, or injects errors. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { builtExecutable, Installation, type Server } from '../support/binary.ts'
import { installHostile, reportOf, testExecutable } from '../support/executable-smoke.ts'
import { childrenOf, commandOf, isRunning, until } from '../support/processes.ts'

describe('the executable that people download', () => {
  testExecutable(async () => ({ executable: await builtExecutable() }))
})

const ENTRIES = '/api/v1/token-entries'

/** By all clients together, before each kill. */
const ACKNOWLEDGED = 300

async function sessionsOf(server: Server, token: string): Promise<string[]> {
  const all: string[] = []
  for (let page: string | null = ''; page !== null; ) {
    const answer: Response = await server.call('GET', `${ENTRIES}?limit=1000${page && `&page=${page}`}`, { token })
    expect(answer.status).toBe(200)
    const list = (await answer.json()) as { data: { session_id: string }[]; next_page: string | null }
    all.push(...list.data.map(({ session_id }) => session_id))
    page = list.next_page
  }
  return all
}

describe('a server', () => {
  let tally: Installation
  let server: Server
  let service: string
  let read: string

  beforeAll(async () => {
    tally = await installHostile({ executable: await builtExecutable() })
    server = await tally.serve()
    await tally.addUser('ada@example.com', 'admin')
    service = (await tally.createToken('svc', 'ada@example.com')).token
    read = (await tally.createToken('read', 'ada@example.com')).token
  }, 300_000)
  afterAll(async () => {
    await server.crash()
    await tally.remove()
  })

  test.skipIf(process.platform !== 'linux')(
    'replaces its process for slow reads, and takes it along when it is killed',
    async () => {
      const search = async () => (await server.call('GET', `${ENTRIES}?q=nothing`, { token: read })).status
      expect(await search()).toBe(200)
      const first = childrenOf(server.process.pid)
      for (const pid of first) {
        expect(commandOf(pid)).toEndWith('/tally slow-reads ')
        process.kill(pid, 'SIGKILL')
      }
      expect(await until(() => !first.some(isRunning))).toBe(true)
      expect(await search()).toBe(200)
      const left = childrenOf(server.process.pid)
      expect(left).not.toEqual([])
      await server.crash()
      expect(await until(() => !left.some(isRunning))).toBe(true)
      server = await tally.serve()
    },
  )

  test('keeps its log about as large as one round of writing makes it, however many there are', async () => {
    const path = join(tally.folder, 'tally-data/tally.db')
    const ROUNDS = 12
    const sizes: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      for (let report = 0; report < 50; report++) {
        await server.call('POST', ENTRIES, { token: service, body: reportOf(`round-${round}-${report}`) })
      }
      // What is in the database, the log's next writer writes over.
      expect(await until(() => readFileSync(path).includes(`What round-${round}-49 did`))).toBe(true)
      sizes.push(statSync(`${path}-wal`).size)
    }
    // A log that nobody moves would now be twelve times as long. On a busy machine, a round may begin before the log can.
    expect(sizes.at(-1)!).toBeLessThan((sizes[0]! * ROUNDS) / 2)
  })

  test('has every acknowledged entry once, however often it is killed in the middle of a load', async () => {
    for (let kill = 0; kill < 5; kill++) {
      const sent: string[] = []
      const acknowledged = new Set<string>()
      async function report(session: string): Promise<void> {
        const answer = await server.call('POST', ENTRIES, { token: service, body: reportOf(session) })
        if (answer.ok) acknowledged.add(session)
      }
      let isCrashed = false
      async function client(name: string): Promise<void> {
        for (let number = 0; !isCrashed; number++) {
          const session = `${name}-${number}`
          sent.push(session)
          await report(session).catch(() => {})
        }
      }
      const clients = Array.from({ length: 16 }, (_, index) => client(`kill-${kill}-${index}`))
      expect(await until(() => acknowledged.size >= ACKNOWLEDGED)).toBe(true)
      await server.crash()
      isCrashed = true
      await Promise.all(clients)
      expect(acknowledged.size).toBeLessThan(sent.length)

      server = await tally.serve()
      const ofLoad = async () => (await sessionsOf(server, read)).filter((each) => each.startsWith(`kill-${kill}-`))
      const kept = await ofLoad()
      expect(new Set(kept).size).toBe(kept.length)
      expect([...acknowledged].filter((session) => !kept.includes(session))).toEqual([])
      // What clients do that got no answer: they report again, and nothing is doubled by it.
      await Promise.all(sent.filter((session) => !acknowledged.has(session)).map(report))
      expect((await ofLoad()).toSorted()).toEqual(sent.toSorted())
    }
  })
})

test.skipIf(process.platform !== 'linux')('a server without disk space for its log keeps running', async () => {
  const tally = await Installation.make({ before: ['sh', '-c', 'exec "$@" > /dev/full', 'sh'] })
  try {
    await tally.addUser('ada@example.com', 'admin')
    const { token } = await tally.createToken('svc', 'ada@example.com')
    const server = await tally.serve(['--log-level', 'debug'])
    for (let call = 0; call < 3; call += 1) {
      expect((await server.call('GET', '/api/v1/me', { token })).status).toBe(200)
      expect((await server.call('GET', '/api/v1/me')).status).toBe(401)
    }
    expect((await server.stop()).code).toBe(0)
  } finally {
    await tally.remove()
  }
})
