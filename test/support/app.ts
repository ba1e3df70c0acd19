/**
 * The whole application over a real socket and a migrated database of its own. Every response is checked against the
 * OpenAPI document: a response that the document does not describe fails the test.
 */

import { eq } from 'drizzle-orm'
import pino from 'pino'
import { TALLY } from '../../src/access/actor.ts'
import { type AppOptions, createApp } from '../../src/app.ts'
import type { Database } from '../../src/database/database.ts'
import { openDatabase } from '../../src/database/open.ts'
import type { Role, TokenKind } from '../../src/database/schema/values.ts'
import type { PasswordHasher } from '../../src/features/people/passwords/hashing-thread.ts'
import type { OpenApiDocument } from '../../src/http/openapi-document.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { createServices, type Services } from '../../src/services.ts'
import { fastSlowProgram } from './binary.ts'
import { CHEAP_COST, cheapHasher } from './cheap-hasher.ts'
import { type Engine, type Location, locationOf, newMigrated, PATIENT, testEngine } from './databases.ts'
import { type Answer, type CheckAnswer, checkerOf } from './document.ts'

export interface Call {
  token?: string | undefined
  /** A session's cookie, sent like Tally's own pages do. */
  session?: string | undefined
  /** Sent as JSON. */
  json?: unknown
  /** Sent unchanged. */
  body?: NonNullable<RequestInit['body']>
  headers?: Record<string, string>
}

export const PASSWORD = 'correct horse battery'

const CHEAP_HASH = Bun.password.hashSync(PASSWORD, CHEAP_COST)

export interface TestApp {
  url: string
  /** Where its database is. */
  location: Location
  services: Services
  document: OpenApiDocument
  /** The log, one entry per line. */
  log: Record<string, unknown>[]
  /** `call('POST /api/v1/token-entries', { token, json })` */
  call(methodAndPath: string, call?: Call): Promise<Answer>
  /** Returns the person's e-mail address; their password, if they have one, is {@link PASSWORD}. */
  person(role?: Role, options?: { password?: boolean }): Promise<string>
  /** A token of the person, or of a new admin. */
  token(kind: TokenKind, person?: string, more?: { allowBills?: boolean; scopes?: string[] }): Promise<string>
  /** The cookie of a session of a new person with the role. */
  session(role?: Role): Promise<string>
  close(): Promise<void>
}

export interface StartOptions extends Pick<AppOptions, 'trustedProxies' | 'rateLimit' | 'requestLimit'> {
  /** The option of the server. */
  publicUrl?: string | undefined
  clock?: Clock
  logLevel?: 'info' | 'debug'
  /** Used instead of a new database; the caller closes it. */
  db?: Database
  /** Of a new database. */
  engine?: Engine
  /** Where a database is that others use as well. */
  at?: Location
  /** Of passwords; by default a cheap one. */
  hasher?: PasswordHasher
  /** Networks to which webhooks may be sent. */
  webhookNetworks?: readonly string[]
}

interface Documented {
  document: OpenApiDocument
  check: CheckAnswer
}

/**
 * To make the document, compress it and compile its schemas takes several times as long as to start the application, and
 * the routes are the same for every one of a process.
 */
let document: Promise<Documented> | undefined

function documented(url: string): Promise<Documented> {
  document ??= (async () => {
    const document = (await (await fetch(`${url}/api/v1/openapi.json`)).json()) as OpenApiDocument
    return { document, check: checkerOf(document) }
  })()
  return document
}

export async function startApp({
  clock = systemClock,
  logLevel = 'info',
  db: given,
  engine = testEngine,
  at,
  webhookNetworks = [],
  publicUrl,
  hasher = cheapHasher,
  ...options
}: StartOptions = {}): Promise<TestApp> {
  const cleanUps: (() => Promise<void>)[] = []
  const location = at ?? (given ? locationOf(given) : await newMigrated(engine, cleanUps))
  const serving = { serving: true, ...PATIENT, ...(await fastSlowProgram()) }
  const db = given ?? (await openDatabase({ ...location, clock, ...serving }))
  const services = createServices({
    db,
    clock,
    publicUrl,
    hasher,
    webhooks: { privateNetworks: webhookNetworks, localUrl: () => 'https://tally.example.com' },
  })
  const log: Record<string, unknown>[] = []
  const logger = pino({ level: logLevel }, { write: (line: string) => void log.push(JSON.parse(line)) })
  const app = createApp({ services, logger, clock, ...options }).listen({
    hostname: '127.0.0.1',
    port: 0,
    maxRequestBodySize: 2 ** 30,
  })
  const url = `http://127.0.0.1:${app.server!.port}`
  const { document, check } = await documented(url)
  let people = 0

  const person = async (role: Role = 'admin', { password = false } = {}) => {
    people += 1
    const email = `person-${people}@example.com`
    const { id } = await services.people.addUser({ email, name: `Person ${people}`, role }, TALLY)
    if (password) {
      await db.write(async (tx) => {
        await tx.update(tx.tables.users).set({ passwordHash: CHEAP_HASH }).where(eq(tx.tables.users.id, id))
      })
    }
    return email
  }

  return {
    url,
    location,
    services,
    document,
    log,
    person,

    async call(methodAndPath, { token, session, json, body, headers = {} } = {}) {
      const [method, path] = methodAndPath.split(' ') as [string, string]
      const response = await fetch(url + path, {
        method,
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(session !== undefined && { cookie: session, origin: url }),
          ...(json !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(json !== undefined ? { body: JSON.stringify(json) } : body !== undefined ? { body } : {}),
        redirect: 'manual',
      })
      const text = await response.text()
      const isJson = /\bjson\b/.test(response.headers.get('content-type') ?? '')
      const answer = {
        status: response.status,
        headers: response.headers,
        text,
        json: isJson && text !== '' ? JSON.parse(text) : undefined,
      }
      check(method, path, answer, json)
      return answer
    },

    async token(kind, owner, more) {
      const user = owner ?? (await person())
      const { secret } = await services.people.createToken({ kind, user, name: 'test', ...more }, TALLY)
      return secret
    },

    async session(role) {
      const email = await person(role, { password: true })
      const { secret } = await services.people.signIn({ email, password: PASSWORD, address: '::1' })
      return `tally_session=${secret}`
    },

    async close() {
      await app.stop(true)
      if (!given) await db.close()
      for (const step of cleanUps) await step()
    },
  }
}
