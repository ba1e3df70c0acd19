/**
 * Bodies that use as much memory as possible, one by one and fifty at a time, and clients that announce bodies or
 * request exports and then do nothing, while good clients report.
 */
import { writeFileSync } from 'node:fs'
import { BOMBS, type Bomb } from '../../test/support/bombs.ts'
import { peakMegabytes, residentMegabytes } from '../bench/process-metrics.ts'
import { Reporters, type Scenario, Victim } from './scenario.ts'

const PASSWORD = 'correct horse battery staple'

/** One body within its byte limits. */
const GROWTH_LIMIT_MB = 50

/** Limit for many callers at the same time. */
const TOTAL_LIMIT_MB = 400

const TOGETHER = 50
const UNSENT = { short: 150, long: 1_000 }
const UNREAD = { short: 50, long: 200 }

/** Number of bombs per decoder; all of them take some minutes. */
const EACH = { short: 2, long: Number.POSITIVE_INFINITY }

/** The short form leaves the processors to the bodies, and to other tests. */
const PAUSE_MS = { short: 50, long: 0 }

type Headers = Record<string, string>

interface Credentials {
  service: Headers
  session: Headers
  sheet: string
}

/** The role of a person who may send every kind of body. */
export async function credentialsFor(victim: Victim): Promise<Credentials> {
  const { url } = victim.server
  const email = 'eve@example.com'
  const added = await victim.installation.run(
    ['users', 'add', '--email', email, '--name', 'Eve', '--role', 'admin', '--password-stdin'],
    PASSWORD,
  )
  if (added.code !== 0) throw new Error(added.stderr)
  const json = { 'content-type': 'application/json', origin: url }
  const signedIn = await fetch(`${url}/api/v1/session`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ email, password: PASSWORD }),
  })
  const secret = /tally_session=([^;]+)/.exec(signedIn.headers.get('set-cookie') ?? '')![1]!
  const session = { cookie: `tally_session=${secret}`, origin: url }
  const opened = await fetch(`${url}/api/v1/token-sheets`, {
    method: 'POST',
    headers: { ...json, ...session },
    body: JSON.stringify({ month: '2026-10' }),
  })
  const { id: sheet } = (await opened.json()) as { id: string }
  return { service: { authorization: `Bearer ${victim.token}` }, session, sheet }
}

/** Sends a bomb and returns the status; 0 if the connection was closed. */
export async function send(url: string, bomb: Bomb, body: Uint8Array, who: Credentials): Promise<number> {
  const isOfPeople = ['table', 'sheet', 'picture'].includes(bomb.decoder)
  try {
    const response = await fetch(`${url}/api/v1/${bomb.path.replace(':sheet', who.sheet)}`, {
      method: bomb.decoder === 'picture' ? 'PUT' : 'POST',
      headers: {
        ...(isOfPeople ? who.session : who.service),
        'content-type': bomb.contentType,
        ...(bomb.gzip && { 'content-encoding': 'gzip' }),
      },
      body: body as Uint8Array<ArrayBuffer>,
    })
    await response.arrayBuffer()
    return response.status
  } catch {
    return 0
  }
}

/** The peak growth of memory during an action, in MB. */
export async function growth(pid: number, act: () => Promise<unknown>): Promise<number> {
  const before = residentMegabytes(pid)
  // Resets the peak to the current value: https://docs.kernel.org/filesystems/proc.html
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
  await act()
  return peakMegabytes(pid) - before
}

/** Connections that send only the start of a request, or read nothing of the response. */
function silent(url: string, count: number, head: string) {
  const { hostname, port } = new URL(url)
  return Promise.all(
    Array.from({ length: count }, () =>
      Bun.connect({
        hostname,
        port: Number(port),
        socket: {
          open(socket) {
            socket.write(head)
            socket.pause()
          },
          data() {},
          error() {},
        },
      }).catch(() => undefined),
    ),
  )
}

/** Time until a limit, or freed memory, shows in the process. */
const SETTLE_MS = 3_000

async function growthOfSilent(victim: Victim, count: number, head: string): Promise<number> {
  const { url, process } = victim.server
  const sockets: Awaited<ReturnType<typeof silent>> = []
  const grown = await growth(process.pid, async () => {
    sockets.push(...(await silent(url, count, head)))
    await Bun.sleep(SETTLE_MS)
  })
  for (const socket of sockets) socket?.terminate()
  await Bun.sleep(SETTLE_MS)
  return grown
}

const headOf = (method: string, path: string, who: Credentials, ...more: string[]) =>
  [
    `${method} /api/v1/${path} HTTP/1.1`,
    'Host: tally',
    `Authorization: ${who.service.authorization}`,
    ...more,
    '',
    '',
  ].join('\r\n')

export const bombs: Scenario = {
  name: 'bodies that take memory',
  missingRequirement: () => undefined,
  async run(size) {
    const victim = await Victim.make(size)
    try {
      await victim.start(['--log-level', 'error'])
      const who = await credentialsFor(victim)
      const { url, process } = victim.server
      const reporters = new Reporters(victim, 'good', 4)
      await reporters.untilMore(200)
      reporters.pauseMs = PAUSE_MS[size]
      // Warm-up: memory of threads and compiled code must not count.
      const small = new TextEncoder().encode('{}')
      for (const bomb of BOMBS) for (let count = 0; count < 5; count += 1) await send(url, bomb, small, who)
      const begun = residentMegabytes(process.pid)
      const largest = { grown: 0, name: '' }
      const seen = new Map<string, number>()
      const failed: string[] = []
      for (const bomb of BOMBS) {
        seen.set(bomb.decoder, (seen.get(bomb.decoder) ?? 0) + 1)
        if (seen.get(bomb.decoder)! > EACH[size]) continue
        const body = bomb.make()
        const grown = await growth(process.pid, async () => {
          const status = await send(url, bomb, body, who)
          if (status >= 500) failed.push(`${bomb.decoder} ${bomb.name}: ${status}`)
        })
        if (grown > largest.grown && !bomb.isValid)
          Object.assign(largest, { grown, name: `${bomb.decoder}, ${bomb.name}` })
      }
      const body = BOMBS.find(({ name }) => name === 'as many objects as there may be')!
      const made = body.make()
      const together = await growth(process.pid, () =>
        Promise.all(Array.from({ length: TOGETHER }, () => send(url, body, made, who))),
      )
      const unsent = await growthOfSilent(
        victim,
        UNSENT[size],
        headOf(
          'POST',
          'token-entries/batch',
          who,
          'Content-Type: application/json',
          `Content-Length: ${8 * 1_048_576}`,
        ),
      )
      const unread = await growthOfSilent(victim, UNREAD[size], headOf('GET', 'openapi.json', who))
      const total = peakMegabytes(process.pid)
      const verdict = await victim.verdict(reporters)
      if (failed.length > 0) throw new Error(`The server failed instead of refusing a body: ${failed.join('; ')}`)
      if (largest.grown > GROWTH_LIMIT_MB) throw new Error(`${largest.name} took ${Math.round(largest.grown)} MB`)
      if (total > TOTAL_LIMIT_MB) throw new Error(`All together took ${Math.round(total)} MB`)
      return {
        rounds: BOMBS.length,
        ...verdict,
        readyMs: [],
        remark: `${Math.round(begun)} MB; up to ${Math.round(largest.grown)} more for one body (${largest.name}), ${Math.round(together)} for ${TOGETHER} at a time, ${Math.round(unsent)} for ${UNSENT[size]} unsent, ${Math.round(unread)} for ${UNREAD[size]} unread`,
      }
    } finally {
      await victim.remove()
    }
  },
}
