/** How commands find the server of a data folder, and what passes for one. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findProvenServer, findServer } from '../../src/cli/running-server.ts'
import { CommandLine } from '../support/command-line.ts'

let tally: CommandLine
beforeEach(async () => {
  tally = await CommandLine.make({ engine: 'sqlite' })
})
afterEach(() => tally.remove())

const path = () => join(tally.dataDir, 'tally.db-server')

/** What requests of it a stand-in has seen. */
interface Seen {
  url: string
  bodies: string[]
  headers: Headers[]
}

function standIn(answer: (request: Request) => Response | Promise<Response>) {
  const seen: Seen[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      seen.push({ url: request.url, bodies: [await request.clone().text()], headers: [request.headers] } as Seen)
      return answer(request)
    },
  })
  return { url: `http://127.0.0.1:${server.port}`, seen, stop: () => server.stop(true) }
}

test('a server proves itself by the key in its folder, which only its user can read', async () => {
  const server = await tally.serve()
  const announced = JSON.parse(await readFile(path(), 'utf8'))
  expect(announced).toEqual({
    url: server.url,
    pid: server.process.pid,
    key: expect.stringMatching(/^[\w-]{43}$/),
    program: expect.any(String),
  })
  expect((await stat(path())).mode & 0o777).toBe(0o600)
  expect(findServer(tally.dataDir)).toBe(server.url)
  expect(await findProvenServer(tally.dataDir)).toEqual(announced)
  for (const nonce of ['', 'short', 'x'.repeat(44), '%00'.repeat(43)]) {
    expect((await fetch(`${server.url}/.well-known/tally?nonce=${nonce}`)).status).toBe(404)
  }
  await server.stop()
  expect(await findProvenServer(tally.dataDir)).toBeUndefined()
})

test('nothing else at its address passes for it, and none gets to know more than the question', async () => {
  const server = await tally.serve()
  const announced = JSON.parse(await readFile(path(), 'utf8'))
  // Runs, as does the process that a reused id belongs to.
  const pid = process.pid
  const json = (body: unknown) => Response.json(body)
  const standIns = [
    standIn(() => json({ proof: true })),
    standIn(() => new Response('ok')),
    standIn(() => new Response('x'.repeat(1_000_000))),
    standIn(() => new Response(new ReadableStream({ pull: () => new Promise(() => {}) }))),
    // Passes the question on to the real server.
    standIn((request) => fetch(request.url.replace(/^http:\/\/[^/]+/, server.url))),
    standIn((request) => Response.redirect(request.url.replace(/^http:\/\/[^/]+/, server.url))),
  ]
  for (const { url, seen, stop } of standIns) {
    await writeFile(path(), JSON.stringify({ ...announced, url, pid }))
    expect(await findProvenServer(tally.dataDir)).toBeUndefined()
    expect(seen.map((request) => [request.url, request.bodies, request.headers[0]!.get('authorization')])).toEqual([
      [expect.stringMatching(/\/\.well-known\/tally\?nonce=[\w-]{43}$/), [''], null],
    ])
    stop()
  }
  // Another key, or none, as one of an earlier version.
  for (const change of [{ key: 'x'.repeat(43) }, { key: undefined }, { pid }]) {
    await writeFile(path(), JSON.stringify({ ...announced, ...change }))
    expect(await findProvenServer(tally.dataDir)).toBeUndefined()
  }
  await writeFile(path(), JSON.stringify(announced))
  expect(await findProvenServer(tally.dataDir)).toEqual(announced)
})
