/**
 * Makes calls without a valid credential over many connections, each after the response to the previous one, and prints
 * the statuses as JSON. It is a separate process on raw sockets, so that the calls take little processor time.
 */
import { newSecret } from '../../src/features/people/tokens/secret.ts'
import { randomBase62 } from '../../src/lib/base62.ts'

export const ATTACKS = ['sign-ins', 'password links', 'pages', 'bogus tokens'] as const
export type Attack = (typeof ATTACKS)[number]

export interface AnonymousLoad {
  port: number
  attack: Attack
  connections: number
  seconds: number
  /** Whether each connection claims to forward for a different address; otherwise all come from one. */
  addresses: 'one' | 'many'
}

/** An existing person; every other sign-in is for an unknown one. */
const KNOWN_EMAIL = 'ada@example.com'

/** Public paths, expensive and cheap, and a path that does not exist. */
const PATHS = [
  '/',
  '/sign-in',
  '/docs/api',
  '/assets/scalar.js',
  '/api/v1/openapi.json',
  '/problems',
  '/problems/rate_limited',
  '/health',
  '/ready',
  '/metrics',
  '/nothing/at/all',
]

function request(method: string, path: string, headers: string[], body = ''): Buffer {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1', ...headers, `Content-Length: ${body.length}`]
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`)
}

const JSON_TYPE = 'Content-Type: application/json'

const REQUESTS: Record<Attack, (number: number, headers: string[]) => Buffer> = {
  'sign-ins': (number, headers) => {
    const email = number % 2 === 0 ? KNOWN_EMAIL : `${randomBase62(8)}@example.com`
    const body = JSON.stringify({ email, password: `a guess ${randomBase62(8)}` })
    return request('POST', '/api/v1/session', [...headers, JSON_TYPE], body)
  },
  'password links': (_number, headers) => {
    const body = JSON.stringify({ link_token: randomBase62(32), password: 'correct horse battery' })
    return request('POST', '/api/v1/password', [...headers, JSON_TYPE], body)
  },
  pages: (number, headers) => request('GET', PATHS[number % PATHS.length]!, headers),
  'bogus tokens': (_number, headers) =>
    request(
      'POST',
      '/api/v1/token-entries',
      [...headers, JSON_TYPE, `Authorization: Bearer ${newSecret('svc')}`],
      '{}',
    ),
}

const CONTENT_LENGTH = /\r\ncontent-length: (\d+)\r\n/i

export interface AnonymousResult {
  answers: number
  statuses: Record<string, number>
}

async function run({ port, attack, connections, seconds, addresses }: AnonymousLoad): Promise<AnonymousResult> {
  const statuses: Record<string, number> = {}
  const end = performance.now() + seconds * 1_000
  let number = 0
  let answers = 0
  const isOver = () => performance.now() >= end

  async function connect(client: number): Promise<void> {
    const headers = addresses === 'many' ? [`X-Forwarded-For: 10.0.${client >> 8}.${client & 255}`] : []
    while (!isOver()) {
      const { promise: closed, resolve } = Promise.withResolvers<void>()
      let response: Buffer | undefined
      let missing = 0
      const send = (socket: Bun.Socket) => {
        if (isOver()) {
          socket.end()
          return
        }
        number += 1
        response = Buffer.alloc(0)
        socket.write(REQUESTS[attack](number, headers))
      }
      const socket = await Bun.connect({
        hostname: '127.0.0.1',
        port,
        socket: {
          open: send,
          data(socket, chunk) {
            if (response) {
              response = Buffer.concat([response, chunk])
              const headEnd = response.indexOf('\r\n\r\n')
              if (headEnd < 0) return
              const head = response.toString('latin1', 0, headEnd + 2)
              const status = head.slice(9, 12)
              statuses[status] = (statuses[status] ?? 0) + 1
              answers += 1
              missing = headEnd + 4 + Number(CONTENT_LENGTH.exec(head)?.[1] ?? 0) - response.length
              response = undefined
            } else missing -= chunk.length
            if (missing <= 0) send(socket)
          },
          close: () => resolve(),
          error: () => resolve(),
        },
      }).catch(() => undefined)
      if (!socket) await Bun.sleep(50)
      // Requests without a response at the end are ignored.
      else await Promise.race([closed, Bun.sleep(Math.max(0, end - performance.now()))]).then(() => socket.end())
    }
  }
  await Promise.all(Array.from({ length: connections }, (_, client) => connect(client)))
  return { answers, statuses }
}

if (import.meta.main) {
  console.log(JSON.stringify(await run(JSON.parse(process.argv[2]!))))
  process.exit(0)
}
