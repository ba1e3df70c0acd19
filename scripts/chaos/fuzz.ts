/**
 * Malformed requests derived from the OpenAPI document: fields left out, added, with other types and sizes, bodies cut
 * in half, parameters of every kind. The server must never return a 5xx, and its memory must not grow.
 */
import { residentMegabytes } from '../bench/process-metrics.ts'
import { checkDatabase, type Scenario, Victim } from './scenario.ts'

const REQUESTS = { short: 400, long: 100_000 }

/** Requests at the same time. */
const AT_ONCE = 16

/** Excluded operations: each ends the session that calls it. */
const LEFT_OUT = new Set(['signOut', 'signIn', 'changePassword'])

interface Operation {
  id: string
  method: string
  path: string
  parameters: { name: string; in: string; example?: unknown }[]
  contentType: string | undefined
  example: unknown
}

export const fuzz: Scenario = {
  name: 'malformed requests from the OpenAPI document',
  missingRequirement: () => undefined,
  async run(size) {
    const victim = await Victim.make(size)
    try {
      await victim.installation.run(
        ['users', 'set-password', 'ada@example.com', '--password-stdin'],
        'correct horse battery\n',
      )
      await victim.start()
      const { url } = victim.server
      const cookie = await signIn(url)
      const operations = await operationsOf(url)
      const statuses = new Map<number, number>()
      const failures: string[] = []
      const known: Known = new Map()
      let sent = 0
      const pid = victim.server.process.pid
      // Warm-up: caches fill and hot code is compiled.
      let memoryBefore = 0
      const send = async () => {
        while (sent < REQUESTS[size]) {
          sent += 1
          if (sent === Math.floor(REQUESTS[size] / 10)) memoryBefore = residentMegabytes(pid)
          const operation = pick(operations)
          const request = bend(
            operation,
            url,
            known,
            Math.random() < 0.2 ? { authorization: `Bearer ${victim.token}` } : { cookie, origin: url },
          )
          const response = await fetch(request.url, request.init)
          remember(known, await response.text())
          statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
          if (response.status >= 500)
            failures.push(
              `${response.status} ${operation.method} ${request.url} ${String(request.init.body).slice(0, 300)}`,
            )
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, send))
      const grown = Math.round(residentMegabytes(pid) - memoryBefore)
      const { code } = await victim.server.stop()
      if (failures.length > 0)
        throw new Error(`${failures.length} responses with 5xx:\n${failures.slice(0, 5).join('\n')}`)
      if (code !== 0) throw new Error(`The server exited with ${code}`)
      const counts = [...statuses].sort().map(([status, times]) => `${status} × ${times}`)
      return {
        rounds: REQUESTS[size],
        acknowledged: statuses.get(201) ?? 0,
        // Duplicates are intended: some reports are sent twice.
        lost: checkDatabase(victim.databaseFile, new Set()).lost,
        duplicated: 0,
        readyMs: [],
        remark: `${counts.join(', ')}; ${grown} MB more`,
      }
    } finally {
      await victim.remove()
    }
  },
}

async function signIn(url: string): Promise<string> {
  const response = await fetch(`${url}/api/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'ada@example.com', password: 'correct horse battery' }),
  })
  return response.headers.get('set-cookie')!.split(';')[0]!
}

// biome-ignore lint/suspicious/noExplicitAny: a document, read as it comes
type Json = any

async function operationsOf(url: string): Promise<Operation[]> {
  const document: Json = await (await fetch(`${url}/api/v1/openapi.json`)).json()
  const resolve = (value: Json): Json =>
    value?.$ref
      ? value.$ref
          .slice(2)
          .split('/')
          .reduce((at: Json, key: string) => at[key], document)
      : value
  return Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods)
      .filter(([, operation]) => operation.operationId && !LEFT_OUT.has(operation.operationId))
      .map(([method, operation]) => {
        const [contentType, media] = Object.entries<Json>(operation.requestBody?.content ?? {})[0] ?? []
        return {
          id: operation.operationId,
          method: method.toUpperCase(),
          path,
          parameters: (operation.parameters ?? []).map(resolve),
          contentType,
          example: media?.example ?? Object.values<Json>(media?.examples ?? {})[0]?.value,
        }
      }),
  )
}

const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(Math.random() * items.length)]!

/** Values that often break programs. */
const ODD: readonly unknown[] = [
  null,
  true,
  -1,
  0,
  1e308,
  -0,
  2 ** 53 + 2,
  0.1 + 0.2,
  '',
  ' ',
  '\u0000',
  '\ud800',
  'a'.repeat(5_000),
  '𝕳𝖊𝖑𝖑𝖔 ﷽ עברית',
  '%00',
  "' OR 1=1 --",
  '=cmd()',
  '<script>alert(1)</script>',
  '../../etc/passwd',
  '2026-02-30',
  '2026-11-20T10:00:00Z',
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59+14:00',
  [],
  {},
  [[[[]]]],
  { constructor: 1 },
  JSON.parse('{"__proto__":{"admin":true}}'),
]

function bent(value: unknown): unknown {
  if (Math.random() < 0.12) return pick(ODD)
  if (Array.isArray(value)) {
    const items = value.map(bent)
    return Math.random() < 0.1 ? [...items, ...items, pick(ODD)] : items
  }
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(() => Math.random() > 0.08)
    const changed = Object.fromEntries(fields.map(([key, field]) => [key, bent(field)]))
    if (Math.random() < 0.08) changed[wellFormed(pick(ODD)).slice(0, 20)] = pick(ODD)
    return changed
  }
  return value
}

/** Ids of existing objects, by prefix. */
type Known = Map<string, string[]>

/** Enough to hit objects in many states. */
const KNOWN_LIMIT = 200

/** Collects ids from a response, so that later requests use the objects created by earlier ones. */
function remember(known: Known, text: string): void {
  for (const [, id, prefix] of text.matchAll(/"id":"(([a-z]{3})_[0-9a-f]{32})"/g)) {
    const ids = known.get(prefix!) ?? []
    if (ids.length < KNOWN_LIMIT) known.set(prefix!, [...ids, id!])
  }
}

const PREFIXES: Record<string, string> = {
  'token-entries': 'ent',
  projects: 'prj',
  tickets: 'tkt',
  clients: 'cli',
  'placement-rules': 'rul',
  users: 'usr',
  tokens: 'tok',
  'token-sheets': 'sht',
  bills: 'bil',
  prices: 'prc',
}

/** A path, usually with ids of existing objects, otherwise with arbitrary values. */
function fill(path: string, known: Known): string {
  const ids = known.get(PREFIXES[path.split('/')[3]!] ?? '') ?? []
  const idOf = () => (ids.length > 0 && Math.random() < 0.7 ? pick(ids) : pick(['1', ...ODD]))
  return path.replace(/\{[^}]+\}/g, () => encodeURIComponent(wellFormed(idOf())))
}

function bend(
  { method, path, parameters, contentType, example }: Operation,
  url: string,
  known: Known,
  credential: Record<string, string>,
) {
  const filled = fill(path, known)
  const query = new URLSearchParams()
  for (const { name, in: place, example: usual } of parameters) {
    if (place === 'query' && Math.random() < 0.3)
      query.append(name, wellFormed(Math.random() < 0.4 ? usual : pick(ODD)))
  }
  const headers: Record<string, string> = { ...credential }
  let body: string | undefined
  if (contentType && method !== 'GET') {
    headers['content-type'] = Math.random() < 0.95 ? contentType : 'text/plain'
    const text = JSON.stringify(bent(example)) ?? ''
    body = Math.random() < 0.05 ? text.slice(0, text.length / 2) : text
  }
  const address = `${url}${filled}${query.size > 0 ? `?${query}` : ''}`
  return {
    url: address,
    init: { method, headers, ...(body === undefined ? {} : { body }), redirect: 'manual' as const },
  }
}

const wellFormed = (value: unknown): string =>
  String(typeof value === 'object' ? JSON.stringify(value) : value).toWellFormed()
