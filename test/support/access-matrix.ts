/**
 * Who may call what, asked of a server: every operation of its own OpenAPI document with credentials that there are and
 * many that are none, and with objects of somebody else. A new operation is tried by itself; one whose path names an
 * object must say here whose that is.
 *
 * Operations form a class if the document says the same of who may call them, and they have the same kind of method, path
 * and owner. In each class, one operation is tried with everything and the others with little ({@link Extent}).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ROLES, type Role } from '../../src/database/schema/values.ts'
import { newSecret } from '../../src/features/people/tokens/secret.ts'
import { newId } from '../../src/lib/id.ts'
import { TOOLS } from '../../src/mcp/tools.ts'
import { includesScope, rolesOfScope, SCOPE_NAMES, type Scope } from '../../src/shared/token-scopes.ts'
import { type Location, rowsAt, testEngine } from './databases.ts'
import { gitHubClaims, startIssuer } from './id-token-issuer.ts'
import { SEED_OF_TESTS } from './seed.ts'

/** A server with an empty database, and what an administrator does outside of its API. */
export interface AccessHost {
  /** Of the server, which trusts the address that a proxy on this machine reports. */
  url: string
  /** Where its database is. */
  location: Location
  /** The password is {@link PASSWORD}. */
  addPerson(person: { email: string; name: string; role: Role }): Promise<void>
  disable(email: string): Promise<void>
  setRole(email: string, role: Role): Promise<void>
  /** Throws for who may not have such a token. */
  createToken(kind: TokenKind, email: string): Promise<{ id: string; token: string }>
  revokeToken(id: string): Promise<void>
  close(): Promise<void>
}

/** Whether every operation is tried with everything, or one of each class and the others with little. */
export type Extent = 'every operation' | 'every class'

type Kind = 'service' | 'read' | 'organization' | 'api' | 'session'
type Headers = Record<string, string>

/** What the document calls the credentials. */
const KIND_OF_SCHEME: Record<string, Kind> = {
  serviceToken: 'service',
  readToken: 'read',
  organizationToken: 'organization',
  apiToken: 'api',
  session: 'session',
}
const TOKEN_KINDS = { service: 'svc', read: 'read', organization: 'org' } as const
type TokenKind = (typeof TOKEN_KINDS)[keyof typeof TOKEN_KINDS]

interface Operation {
  method: string
  /** `/api/v1/token-entries/{id}` */
  path: string
  /** By credential, roles, and for API tokens a scope. */
  security: Record<string, (Role | Scope)[]>[]
  parameters?: { in: string; name: string }[]
  requestBody?: { content: Record<string, { example?: unknown; examples?: Record<string, { value: unknown }> }> }
}

interface Credential {
  kind: Kind
  role: Role
  headers: Headers
  /** Of an API token. */
  scopes?: readonly Scope[]
}

interface Person {
  email: string
  session: Headers
  tokens: Partial<Record<Kind, string>>
}

export const PASSWORD = 'correct horse battery'
/** Stands in everything that belongs to somebody else, and in nothing else. */
const MARK = 'zanzibar'

/** How a list is asked for that has a required parameter. */
const QUERIES: Record<string, string> = {
  '/api/v1/prices/resolve': '?model=claude-sonnet-4-5',
  '/api/v1/reports/usage': '?starting_at=2026-01-01T00:00:00Z&group_by=agent_manager,model,label:repository',
  '/api/v1/shared/usage': '?starting_at=2026-01-01T00:00:00Z&group_by=project,model',
  '/api/v1/search': `?q=${MARK}`,
  '/api/v1/reports/variance': '?starting_at=2026-01-01T00:00:00Z',
  '/api/v1/reports/cache': '?starting_at=2026-01-01T00:00:00Z',
  '/api/v1/reports/surcharges': '?starting_at=2026-01-01T00:00:00Z',
  '/api/v1/reports/what-if': '?starting_at=2026-01-01T00:00:00Z&as_model=gpt-5',
  '/api/v1/reports/outliers': '?starting_at=2026-01-01T00:00:00Z',
  '/api/v1/reports/price-changes': '?starting_at=2026-01-01T00:00:00Z',
  '/api/v1/reports/completeness': '?starting_at=2026-01-01T00:00:00Z',
  '/api/v1/reports/receipt': '?repository=acme/web&branch=main',
  '/api/v1/reports/overview': '?starting_at=2026-01-01T00:00:00Z',
}

/** Whose object an operation's path names, by the beginning of the path; null where members share what it names. */
const OBJECTS: Record<string, { id: () => string; none: string; entry?: () => string } | null> = {
  '/api/v1/token-entries/{id}': { id: () => other.entry, none: newId('ent') },
  '/api/v1/budgets/{id}': { id: () => other.budget, none: newId('bdg') },
  '/api/v1/deputies/{id}': { id: () => other.deputy, none: newId('dep') },
  '/api/v1/events/{id}': { id: () => other.event, none: 'evt_999999999' },
  '/api/v1/report-views/{id}': { id: () => other.view, none: newId('rvw') },
  '/api/v1/placement-rules/proposals/{id}': { id: () => other.proposal, none: newId('rpr') },
  '/api/v1/placement-rules/of-leads/{id}': { id: () => other.leadRule, none: newId('rul') },
  '/api/v1/share-links/{id}': { id: () => other.shareLink, none: newId('shr') },
  '/api/v1/tokens/{id}': { id: () => other.tokenId, none: newId('tok') },
  '/api/v1/token-sheets/{id}': { id: () => other.sheet, none: newId('sht'), entry: () => other.sheetEntry },
  // Prices are everyone's to read.
  '/api/v1/prices/{id}': null,
  // The names of work as well; what is left out of it for members is tested in test/features/projects/routes.test.ts.
  '/api/v1/clients/{id}': null,
  '/api/v1/projects/{id}': null,
  '/api/v1/tickets/{id}': null,
}

let host: AccessHost
let operations: Operation[]
/** The operations that are tried with everything. */
let thorough: Set<Operation>
let tried: number
let people: Record<Role, Person>
/** Of each kind, those of the weakest role first. */
let credentials: Credential[]
let other: Person & {
  deputy: string
  shareLink: string
  budget: string
  view: string
  proposal: string
  leadRule: string
  event: string
  entry: string
  sheet: string
  sheetEntry: string
  tokenId: string
  userId: string
}

const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` })
const cookie = (secret: string): Headers => ({ cookie: `tally_session=${secret}`, origin: host.url })

async function call(
  method: string,
  path: string,
  headers: Headers,
  { body, type = 'application/json' }: { body?: string | undefined; type?: string } = {},
) {
  tried += 1
  const response = await fetch(host.url + path, {
    method,
    // From an address of its own: one that sends thousands of bad credentials has to wait.
    headers: {
      'x-forwarded-for': `10.${tried >> 16}.${(tried >> 8) & 255}.${tried & 255}`,
      ...headers,
      ...(body === undefined ? {} : { 'content-type': type }),
    },
    ...(body === undefined ? {} : { body }),
    redirect: 'manual',
  })
  const text = await response.text()
  const isJson = /\bjson\b/.test(response.headers.get('content-type') ?? '')
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson && text ? JSON.parse(text) : undefined,
  }
}

async function signIn(email: string): Promise<Headers> {
  const { status, headers } = await call(
    'POST',
    '/api/v1/session',
    {},
    { body: JSON.stringify({ email, password: PASSWORD }) },
  )
  expect(status).toBe(200)
  return cookie(/tally_session=([^;]+)/.exec(headers.get('set-cookie')!)![1]!)
}

const addPerson = (email: string, role: Role, name = email.split('@')[0]!) => host.addPerson({ email, name, role })

/** An API token of whoever is signed in, with all of these scopes. */
async function apiToken(session: Headers, scopes: readonly Scope[]): Promise<string> {
  const { status, json } = await call('POST', '/api/v1/tokens', session, {
    body: JSON.stringify({ kind: 'api', name: 'script', scopes }),
  })
  expect(status).toBe(201)
  return json.token
}

/** What members may call only if they lead and a setting allows it, which is off. */
const FOR_LEADS_BY_SETTING = ['/api/v1/reports/plans']

/** Whether the document says that a credential may make a call. */
function mayCall({ path, security }: Operation, { kind, role, scopes = [] }: Credential): boolean {
  if (role === 'member' && FOR_LEADS_BY_SETTING.includes(path)) return false
  return security.some((alternative) =>
    Object.entries(alternative).some(([scheme, needed]) => {
      const roles = needed.filter((each) => ROLES.includes(each as Role))
      const scope = needed.find((each) => !ROLES.includes(each as Role)) as Scope | undefined
      return (
        KIND_OF_SCHEME[scheme] === kind &&
        // No role means every role but viewer; the tokens of the organization have none.
        (roles.length === 0 ? role !== 'viewer' || kind === 'organization' : roles.includes(role)) &&
        (kind !== 'api' || scope === undefined || includesScope(scopes, scope))
      )
    }),
  )
}

const reportBody = (more: object) =>
  JSON.stringify({
    agent_harness: 'claude-code',
    agent_name: 'reviewer',
    model: 'claude-sonnet-4-5',
    started_at: '2026-11-20T10:00:00Z',
    ended_at: '2026-11-20T10:20:00Z',
    tokens: { input: 1000, output: 200 },
    ...more,
  })

/** What a job gets for its ID token: tokens of a member that are limited to a project. */
async function tokensOfJob(): Promise<{ svc: string; read: string }> {
  const issuer = await startIssuer()
  try {
    const admin = people.admin.session
    const send = async (method: string, path: string, headers: Headers, json: object) => {
      const answer = await call(method, `/api/v1/${path}`, headers, { body: JSON.stringify(json) })
      expect([path, answer.status < 300, answer.json.errors]).toEqual([path, true, undefined])
      return answer.json
    }
    await send('PATCH', 'settings', admin, { public_url: host.url })
    await send('POST', 'trusts', admin, {
      ...{ provider: 'github', issuer: issuer.url, repository: 'acme/web', repository_id: '42', pull_requests: true },
      ...{ user: people.member.email, project: 'acme' },
    })
    const token = await issuer.sign(gitHubClaims(issuer.url, host.url))
    const { data } = await send('POST', 'tokens/exchange', {}, { token, kinds: ['svc', 'read'] })
    return { svc: data[0].token, read: data[1].token }
  } finally {
    await issuer.close()
  }
}

/** The path with its parameters filled in. */
const pathTo = ({ path }: Operation, ids: (name: string) => string = () => 'none') =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids(name))

const isWithBody = ({ method }: Operation) => method !== 'GET' && method !== 'DELETE'

const nameOf = ({ method, path }: Operation) => `${method} ${path}`

/** The line of {@link OBJECTS} for an operation; undefined if its path names nothing, or only what is missing there. */
const ownerKey = ({ path }: Operation) => Object.keys(OBJECTS).find((key) => `${path}/`.startsWith(`${key}/`))

/** After it, the session is no longer a credential. */
const endsSession = (operation: Operation) => nameOf(operation) === 'DELETE /api/v1/session'

const secured = () => operations.filter(({ security }) => security.length > 0)

/** Operations that differ in nothing that access depends on. */
function classesOf(all: readonly Operation[]): Operation[][] {
  const keyOf = (operation: Operation) => {
    const alternatives = operation.security.map((alternative) => JSON.stringify(alternative)).sort()
    const parameters = operation.path.match(/\{\w+\}/g) ?? []
    return JSON.stringify([alternatives, isWithBody(operation), parameters, ownerKey(operation) ?? null])
  }
  return [...Map.groupBy(all, keyOf).values()]
}

/** One operation of each class, another one in a run with another seed. */
function representatives(): Operation[] {
  const seed = Number(process.env[SEED_OF_TESTS] ?? 0)
  return classesOf(operations).map((members) => {
    const candidates = members.filter((operation) => !endsSession(operation))
    return candidates[seed % candidates.length]!
  })
}

/** All values for an operation that is tried with everything, otherwise one of them, another at the next operation. */
function turnsOf<Value>(operation: Operation, at: number, values: readonly Value[]): Value[] {
  return thorough.has(operation) ? [...values] : [values[at % values.length]!]
}

/**
 * The credentials that an operation is tried with. If not all, then of each kind that may call it the weakest role that
 * suffices and the strongest that does not; the weakest of all that may not; and a kind that may not, of the strongest role.
 */
function credentialsFor(operation: Operation, at: number): Credential[] {
  if (thorough.has(operation)) return credentials
  const [accepted = [], refused = []] = [true, false].map((may) =>
    credentials.filter((credential) => mayCall(operation, credential) === may),
  )
  const kinds = new Set(accepted.map(({ kind }) => kind))
  const ofOtherKinds = refused.filter(({ kind, role }) => !kinds.has(kind) && role === 'admin')
  return credentials.filter((credential) =>
    [
      ...[...kinds].flatMap((kind) => [
        accepted.find((each) => each.kind === kind),
        refused.findLast((each) => each.kind === kind),
      ]),
      refused[0],
      ofOtherKinds[at % ofOtherKinds.length],
    ].includes(credential),
  )
}

/** A body that the operation takes, from the document. */
function exampleBody({ requestBody }: Operation): { body: string; type: string } | undefined {
  for (const [type, { example, examples }] of Object.entries(requestBody?.content ?? {})) {
    const value = example ?? Object.values(examples ?? {})[0]?.value
    if (value !== undefined) return { type, body: typeof value === 'string' ? value : JSON.stringify(value) }
  }
  return undefined
}

/** People of every role with all their credentials, and what belongs to somebody else. */
async function setUp(): Promise<void> {
  tried = 0
  people = {} as Record<Role, Person>
  credentials = []
  await addPerson('keeper@example.com', 'admin')
  const settings = await call('PATCH', '/api/v1/settings', await signIn('keeper@example.com'), {
    body: JSON.stringify({ api_tokens: true, share_links: true }),
  })
  expect(settings.status).toBe(200)
  for (const role of ROLES) {
    const email = `${role}@example.com`
    await addPerson(email, role)
    const session = await signIn(email)
    credentials.push({ kind: 'session', role, headers: session })
    people[role] = { email, session, tokens: {} }
    if (role === 'viewer') continue
    for (const kind of ['service', 'read', 'organization'] as const) {
      if (kind === 'organization' && role !== 'admin') continue
      const { token } = await host.createToken(TOKEN_KINDS[kind], email)
      people[role].tokens[kind] = token
      credentials.push({ kind, role, headers: bearer(token) })
    }
    const usable = SCOPE_NAMES.filter((scope) => rolesOfScope(scope)?.includes(role) ?? true)
    for (const scopes of [usable, ...(role === 'member' ? [] : usable.map((scope) => [scope]))]) {
      credentials.push({ kind: 'api', role, scopes, headers: bearer(await apiToken(session, scopes)) })
    }
  }
  const email = `${MARK}@example.com`
  await addPerson(email, 'member', MARK)
  const { id: tokenId, token } = await host.createToken('svc', email)
  const body = reportBody({
    summary: `A ${MARK} secret`,
    agent_name: MARK,
    labels: { repository: `${MARK}/web` },
    session_id: `${MARK}-1`,
    project: 'acme',
    ticket: 'ACME-1',
  })
  const { json: entry } = await call('POST', '/api/v1/token-entries', bearer(token), { body })
  await call('POST', '/api/v1/token-entries', bearer(token), { body: reportBody({ summary: `Nowhere ${MARK}` }) })
  const session = await signIn(email)
  const userId = (await call('GET', '/api/v1/me', session)).json.person.id
  const sheet = await call('POST', '/api/v1/token-sheets', session, {
    body: JSON.stringify({ month: '2026-11', note: `For ${MARK}` }),
  })
  const draft = await call('POST', `/api/v1/token-sheets/${sheet.json.id}/entries`, session, {
    body: reportBody({ summary: `By hand for ${MARK}`, agent_name: MARK, project: 'acme' }),
  })
  expect([sheet.status, draft.status]).toEqual([201, 201])
  const { headers: admin } = credentials.find(({ kind, role }) => kind === 'session' && role === 'admin')!
  const work = { key: 'Elsewhere', approvers: [email] }
  await call('POST', '/api/v1/projects', admin, { body: JSON.stringify(work) })
  const ticket = { key: 'Elsewhere-1', project: 'Elsewhere' }
  await call('POST', '/api/v1/tickets', admin, { body: JSON.stringify(ticket) })
  const days = { deputy: 'keeper@example.com', from: '2030-01-01', to: '2030-01-02' }
  const deputy = await call('POST', '/api/v1/deputies', session, { body: JSON.stringify(days) })
  expect(deputy.status).toBe(201)
  const shared = await call('POST', '/api/v1/share-links', session, {
    body: JSON.stringify({ report: { period: 'month' }, note: `For ${MARK}` }),
  })
  expect(shared.status).toBe(201)
  const budget = await call('POST', '/api/v1/budgets', admin, {
    body: JSON.stringify({ scope: { agent_manager: email }, amount: 1 }),
  })
  expect(budget.status).toBe(201)
  const view = await call('POST', '/api/v1/report-views', session, {
    body: JSON.stringify({ name: `For ${MARK}`, parameters: {} }),
  })
  expect(view.status).toBe(201)
  const repository = `${MARK}/api`
  await call('POST', '/api/v1/projects', admin, {
    body: JSON.stringify({ key: 'Warehouse', leads: [email], repositories: [repository] }),
  })
  const proposal = await call('POST', '/api/v1/placement-rules/proposals', session, {
    body: JSON.stringify({ name: `For ${MARK}`, project: 'Warehouse', repository }),
  })
  expect(proposal.status).toBe(201)
  await call('PATCH', '/api/v1/settings', admin, { body: JSON.stringify({ lead_rules: true }) })
  const leadRule = await call('POST', '/api/v1/placement-rules/proposals', session, {
    body: JSON.stringify({ name: `Rule for ${MARK}`, project: 'Warehouse', repository }),
  })
  expect(leadRule.json.state).toBe('accepted')
  const { json: events } = await call('GET', '/api/v1/events?types=entry.created&limit=1000', admin)
  const reported = events.data.find(({ object }: { object: { id: string } }) => object.id === entry.id)
  other = {
    email,
    deputy: deputy.json.id,
    shareLink: shared.json.id,
    budget: budget.json.id,
    view: view.json.id,
    proposal: proposal.json.id,
    leadRule: leadRule.json.rule,
    event: reported.id,
    userId,
    tokenId,
    entry: entry.id,
    sheet: sheet.json.id,
    sheetEntry: draft.json.id,
    session,
    tokens: { service: token },
  }
  const { json: document } = await call('GET', '/api/v1/openapi.json', {})
  operations = Object.entries(document.paths as Record<string, Record<string, Operation>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  )
}

/** What a caller sees of the other person: the lists that name them, and how reading or deciding about theirs is answered. */
async function sightOf(session: Headers, read: Headers) {
  const lists = [
    '/api/v1/token-entries',
    '/api/v1/token-entries?format=csv',
    '/api/v1/token-entries?project=acme',
    `/api/v1/reports/usage${QUERIES['/api/v1/reports/usage']}`,
    `/api/v1/reports/usage${QUERIES['/api/v1/reports/usage']}&format=csv`,
    '/api/v1/token-sheets',
    '/api/v1/events?limit=1000',
  ]
  const objects = [
    `/api/v1/events/${other.event}`,
    `/api/v1/token-entries/${other.entry}`,
    `/api/v1/token-entries/${other.entry}/history`,
    `/api/v1/token-sheets/${other.sheet}`,
    `/api/v1/token-sheets/${other.sheet}/entries`,
  ]
  const said: Record<string, unknown> = {}
  for (const [who, headers] of Object.entries({ session, read })) {
    for (const path of lists) {
      const { status, text } = await call('GET', path, headers)
      expect([path, status, text.includes('Nowhere')]).toEqual([path, 200, false])
      said[`${who} ${path}`] = text.includes(MARK)
    }
    for (const path of objects) said[`${who} ${path}`] = (await call('GET', path, headers)).status === 200
    const waiting = await call('GET', '/api/v1/approvals', headers)
    said[`${who} approvals`] = waiting.json.entries.entries > 0
  }
  const summary = { body: JSON.stringify({ summary: 'Not theirs to say' }) }
  const corrected = await call('PATCH', `/api/v1/token-entries/${other.entry}`, session, summary)
  // Who leads a project places its entries; what is said of them is the owner's.
  said.correcting = corrected.status === 403
  if (corrected.status !== 403) expect(corrected.status).toBe(404)
  for (const action of ['approve', 'withdraw-approval']) {
    const decided = await call('POST', `/api/v1/token-entries/${other.entry}/${action}`, session, { body: '{}' })
    said[action] = decided.status === 200
    if (decided.status !== 200) expect(decided.status).toBe(404)
  }
  return said
}

/** Starts the server and tries it. Call once per file. */
export function testAccess(start: () => Promise<AccessHost>, extent: Extent): void {
  beforeAll(async () => {
    host = await start()
    await setUp()
    const { json: document } = await call('GET', '/api/v1/openapi.json', {})
    operations = Object.entries(document.paths as Record<string, Record<string, Operation>>).flatMap(
      ([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
    )
    thorough = new Set(extent === 'every operation' ? operations : representatives())
  }, 300_000)

  afterAll(() => host.close())

  test('every operation is tried with who may call it and who may not, and one of each class with all credentials', () => {
    const classes = classesOf(operations)
    expect(classes.flat().map(nameOf).sort()).toEqual(operations.map(nameOf).sort())
    expect(classes.filter((members) => !members.some((operation) => thorough.has(operation)))).toEqual([])
    for (const [at, operation] of secured().entries()) {
      const chosen = credentialsFor(operation, at)
      if (thorough.has(operation)) expect(chosen).toEqual(credentials)
      const kindsOf = (some: readonly Credential[]) => [...new Set(some.map(({ kind }) => kind))].sort()
      const may = credentials.filter((credential) => mayCall(operation, credential))
      const kinds = kindsOf(may)
      const isOfOtherKind = ({ kind }: Credential) => !kinds.includes(kind)
      const leastRole = Math.min(...may.map(({ role }) => ROLES.indexOf(role)))
      expect([
        nameOf(operation),
        kindsOf(chosen.filter((credential) => may.includes(credential))),
        chosen.some(isOfOtherKind),
        Math.min(...chosen.map(({ role }) => ROLES.indexOf(role))) <= leastRole,
      ]).toEqual([nameOf(operation), kinds, credentials.some(isOfOtherKind), true])
    }
    const sizes = `${operations.length} operations in ${classes.length} classes, ${credentials.length} credentials`
    console.log(`access on ${testEngine}: ${sizes}`)
  })

  test('a missing, invented, mistyped, expired or revoked credential, or one of a disabled person, gets 401 with any body', async () => {
    await addPerson('gone@example.com', 'admin')
    const gone = {
      session: await signIn('gone@example.com'),
      read: (await host.createToken('read', 'gone@example.com')).token,
    }
    await host.disable('gone@example.com')
    const over = await signIn('keeper@example.com')
    expect((await call('DELETE', '/api/v1/session', over)).status).toBe(204)
    const revoked = await host.createToken('read', 'keeper@example.com')
    await host.revokeToken(revoked.id)
    const expired = await host.createToken('read', 'keeper@example.com')
    const uid = testEngine === 'postgres' ? "encode(uid, 'hex')" : 'lower(hex(uid))'
    const isIt = `${uid} = '${expired.id.slice('tok_'.length)}'`
    const changed = await rowsAt(
      host.location,
      `UPDATE tokens SET expires_at = created_at + 1 WHERE ${isIt} RETURNING id`,
    )
    expect(changed).toHaveLength(1)

    const real = people.admin.tokens.read!
    const nobody: Record<string, Headers> = {
      none: {},
      'an empty header': { authorization: '' },
      'another scheme': { authorization: `Basic ${btoa('admin@example.com:correct horse battery')}` },
      'a token without its scheme': { authorization: real },
      'a mistyped token': bearer(`${real.slice(0, -1)}${real.endsWith('0') ? '1' : '0'}`),
      'half a token': bearer(real.slice(0, 20)),
      'an unknown token': bearer(newSecret('read')),
      'a revoked token': bearer(revoked.token),
      'an expired token': bearer(expired.token),
      "a disabled person's token": bearer(gone.read),
      'an empty cookie': cookie(''),
      'a made-up session': cookie('x'.repeat(43)),
      'a session that is over': over,
      "a disabled person's session": gone.session,
    }
    for (const [at, operation] of secured().entries()) {
      const bodies = isWithBody(operation)
        ? [
            {},
            { body: '{"n":' },
            { body: '{}' },
            { body: 'n=1', type: 'application/x-www-form-urlencoded' },
            exampleBody(operation) ?? {},
          ]
        : [{}]
      const [none, ...others] = Object.entries(nobody)
      // Each credential comes with every body at some operations.
      for (const [turn, [what, headers]] of [none!, ...turnsOf(operation, at, others)].entries()) {
        const sent = bodies[(at + turn) % bodies.length]!
        const answer = await call(operation.method, pathTo(operation), headers, sent)
        expect([operation.method, operation.path, what, answer.status]).toEqual([
          operation.method,
          operation.path,
          what,
          401,
        ])
        expect(answer.headers.get('www-authenticate')).toContain('Bearer')
        expect(answer.text).not.toContain(MARK)
      }
    }
  })

  test('a credential is accepted where the document lists its kind and role, and gets 403 everywhere else', async () => {
    const last = secured().sort((one, another) => Number(endsSession(one)) - Number(endsSession(another)))
    for (const [at, operation] of last.entries()) {
      for (const credential of credentialsFor(operation, at)) {
        const { kind, role, headers, scopes } = credential
        const named = mayCall(operation, credential)
        if (endsSession(operation) && named) continue
        const answer = await call(operation.method, pathTo(operation), headers)
        const what = [operation.method, operation.path, kind, role, scopes?.join()]
        expect([...what, answer.status === 403]).toEqual([...what, !named])
        expect(answer.status).not.toBe(401)
        expect(answer.status).toBeLessThan(500)
        // Exports of telemetry are refused in their own words.
        if (!named)
          expect(answer.json.detail ?? answer.json.message).toMatch(/needs .*(token|signed-in person|role|scope)/)
      }
    }
  })

  test('a tool is listed for whom the document lists its operation, and refused to everybody else', async () => {
    const month = { starting_at: '2026-01-01T00:00:00Z' }
    const report = JSON.parse(reportBody({ session_id: 'of-a-tool', preview: true }))
    const given: Record<string, Record<string, unknown>> = {
      usage: month,
      completeness: month,
      entry: { id: newId('ent') },
      price: { model: 'claude-sonnet-4-5' },
      bill_preview: { month: '2026-01' },
      receipt: { repository: 'acme/web', branch: 'main' },
      report_session: report,
      place_entries: { ids: [newId('ent')], to_project: 'acme', preview: true },
    }
    const send = (headers: Headers, method: string, params: object) =>
      call(
        'POST',
        '/mcp',
        { ...headers, accept: 'application/json, text/event-stream' },
        {
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        },
      )
    const operationOf = ({ name, asked }: (typeof TOOLS)[number]): Operation => {
      const { method, path } = asked(given[name] ?? {})
      const [where] = path.split('?') as [string]
      const pattern = name === 'entry' ? '/token-entries/{id}' : where
      return operations.find((one) => one.method === method && one.path === `/api/v1${pattern}`)!
    }
    const mayUse = (tool: (typeof TOOLS)[number], credential: Credential) =>
      mayCall(operationOf(tool), credential) &&
      // An action of several, each with its scope; and what a token is made for.
      (tool.name !== 'place_entries' || credential.scopes?.includes('entries:place') === true) &&
      (tool.name !== 'bill_preview' || credential.kind !== 'service')
    for (const [at, credential] of credentials.entries()) {
      const { kind, role, headers, scopes } = credential
      const who = [kind, role, scopes?.join()]
      const { status, json } = await send(headers, 'tools/list', {})
      if (kind === 'session' || kind === 'organization') {
        expect([...who, status, json.code]).toEqual([...who, 403, 'forbidden'])
        continue
      }
      const listed = json.result.tools.map(({ name }: { name: string }) => name)
      expect([...who, listed]).toEqual([
        ...who,
        TOOLS.filter((tool) => mayUse(tool, credential)).map(({ name }) => name),
      ])
      const tools = extent === 'every operation' || kind !== 'api' ? TOOLS : [TOOLS[at % TOOLS.length]!]
      for (const tool of tools) {
        const { name } = tool
        const called = await send(headers, 'tools/call', { name, arguments: given[name] ?? {} })
        const isRefused = called.json.result.isError && JSON.parse(called.json.result.content[0].text).status === 403
        expect([...who, name, isRefused === true]).toEqual([...who, name, !mayUse(tool, credential)])
        expect(called.text).not.toContain(kind === 'service' || role === 'member' ? MARK : '\0')
      }
    }
    const limited = await tokensOfJob()
    for (const [kind, own] of [
      ['svc', ['me', 'report_session']],
      ['read', ['me', 'receipt']],
    ] as const) {
      const headers = bearer(limited[kind])
      const { result } = (await send(headers, 'tools/list', {})).json
      expect([kind, result.tools.map(({ name }: { name: string }) => name)]).toEqual([kind, own])
      for (const { name } of TOOLS) {
        const called = await send(headers, 'tools/call', { name, arguments: given[name] ?? {} })
        const { isError, content } = called.json.result
        const isRefused = isError && JSON.parse(content[0].text).status === 403
        expect([kind, name, isRefused === true]).toEqual([kind, name, !(own as readonly string[]).includes(name)])
        expect(called.text).not.toContain(MARK)
      }
    }
    expect((await send({}, 'tools/list', {})).status).toBe(401)
  })

  test('an operation that needs no credential is one of few', () => {
    expect(
      operations
        .filter(({ security }) => security.length === 0)
        .map(({ method, path }) => `${method} ${path}`)
        .sort(),
    ).toEqual([
      'GET /api/v1/openapi.json',
      'GET /api/v1/token-entry-schema',
      'GET /health',
      'GET /ready',
      'POST /api/v1/password',
      'POST /api/v1/session',
      'POST /api/v1/session/link',
      'POST /api/v1/setup',
      'POST /api/v1/tokens/exchange',
    ])
  })

  test('with the cookie alone, a page of another site changes nothing', async () => {
    const { cookie: secret } = people.admin.session as { cookie: string }
    const foreign: Headers[] = [
      { cookie: secret },
      { cookie: secret, origin: 'https://evil.example' },
      { cookie: secret, origin: 'null' },
      { cookie: secret, origin: host.url, 'sec-fetch-site': 'cross-site' },
      { cookie: secret, origin: host.url.replace('127.0.0.1', 'localhost'), 'sec-fetch-site': 'same-site' },
    ]
    for (const [at, operation] of secured()
      .filter(({ method }) => method !== 'GET')
      .entries()) {
      for (const headers of turnsOf(operation, at, foreign)) {
        const bodies = [{}, exampleBody(operation) ?? {}, { body: '{}', type: 'text/plain' }]
        for (const sent of turnsOf(operation, at, bodies)) {
          const answer = await call(operation.method, pathTo(operation), headers, sent)
          expect([operation.method, operation.path, headers, answer.status]).toEqual([
            operation.method,
            operation.path,
            headers,
            403,
          ])
        }
      }
    }
  })

  describe('a viewer', () => {
    test('may call few operations, and has no tokens', async () => {
      const viewer = credentials.find(({ role }) => role === 'viewer')!
      expect(
        secured()
          .filter((operation) => mayCall(operation, viewer))
          .map(({ method, path }) => `${method} ${path}`)
          .sort(),
      ).toEqual([
        'DELETE /api/v1/session',
        'GET /api/v1/me',
        'GET /api/v1/me/export',
        'GET /api/v1/me/sessions',
        'GET /api/v1/shared',
        'GET /api/v1/shared/bills',
        'GET /api/v1/shared/bills/{id}',
        'GET /api/v1/shared/bills/{id}/html',
        'GET /api/v1/shared/bills/{id}/pdf',
        'GET /api/v1/shared/usage',
        'PATCH /api/v1/me',
        'PATCH /api/v1/me/preferences',
        'PUT /api/v1/me/password',
      ])
      for (const kind of Object.values(TOKEN_KINDS)) {
        const refused = await host.createToken(kind, 'viewer@example.com').catch((error: Error) => error)
        expect([kind, refused]).toEqual([kind, expect.any(Error)])
      }
      const { headers } = viewer
      const body = JSON.stringify({ kind: 'api', name: 'x', scopes: ['entries:read'] })
      expect((await call('POST', '/api/v1/tokens', headers, { body })).status).toBe(403)
    })

    test('finds nothing of anybody in any list, report or object', async () => {
      const { headers } = credentials.find(({ role, kind }) => role === 'viewer' && kind === 'session')!
      for (const operation of secured().filter(({ method, path }) => method === 'GET' && !path.includes('{'))) {
        const answer = await call('GET', operation.path + (QUERIES[operation.path] ?? ''), headers)
        expect([operation.path, answer.status < 500, answer.text.includes(MARK)]).toEqual([operation.path, true, false])
      }
      const ids = [other.entry, other.sheet, other.userId, other.tokenId, other.deputy, other.shareLink, 'acme']
      for (const [at, operation] of secured()
        .filter(({ path }) => path.includes('{'))
        .entries()) {
        for (const id of turnsOf(operation, at, ids)) {
          const path = pathTo(operation, () => id)
          const sent = isWithBody(operation) ? exampleBody(operation) : undefined
          const answer = await call(operation.method, path, headers, sent)
          expect([operation.method, path, answer.status]).toEqual([
            operation.method,
            path,
            operation.path.startsWith('/api/v1/shared/') ? 404 : 403,
          ])
        }
      }
    })
  })

  describe('a member', () => {
    /** The callers that are a member: a person, and their read and API tokens. */
    const asMember = (operation: Operation): Headers[] =>
      credentials
        .filter(({ kind, role }) => role === 'member' && ['session', 'read', 'api'].includes(kind))
        .filter((credential) => mayCall(operation, credential))
        .map(({ headers }) => headers)

    test('finds nothing of anybody else in any list, report or export', async () => {
      let asked = 0
      for (const operation of secured().filter(({ method, path }) => method === 'GET' && !path.includes('{'))) {
        for (const headers of asMember(operation)) {
          const query = QUERIES[operation.path] ?? ''
          for (const form of [{}, { accept: 'text/csv' }]) {
            const answer = await call('GET', operation.path + query, { ...headers, ...form })
            expect([operation.path, answer.status]).toEqual([operation.path, 200])
            expect([operation.path, answer.text.includes(MARK), answer.text.includes(other.entry)]).toEqual([
              operation.path,
              false,
              false,
            ])
            asked += 1
          }
        }
      }
      expect(asked).toBeGreaterThan(10)
      // While who it belongs to does.
      const own = await call('GET', '/api/v1/token-entries', other.session)
      expect(own.text).toContain(other.entry)
    })

    test('learns nothing of anybody else from filters', async () => {
      /** What finds something of the other person, and what finds nothing at all. */
      const filters: Record<string, [theirs: string, nobodys: string]> = {
        agent_manager: [other.email, 'nobody@example.com'],
        agent_name: [MARK, 'otherwise'],
        label: [`repository:${MARK}/web`, 'repository:otherwise'],
        project: ['acme', 'Elsewhere'],
        q: [MARK, 'otherwise'],
        session_id: [`${MARK}-1`, 'otherwise'],
        sheet: [other.sheet, newId('sht')],
        ticket: ['ACME-1', 'Elsewhere-1'],
      }
      let asked = 0
      for (const operation of secured().filter(({ method, path }) => method === 'GET' && !path.includes('{'))) {
        // Names of work are everyone's. Checks of budgets refuse other people, whether they exist or not.
        if (/\/(clients|projects|tickets|budgets\/check)$/.test(operation.path)) continue
        for (const { name } of operation.parameters ?? []) {
          const values = filters[name]
          if (!values) continue
          for (const headers of asMember(operation)) {
            const [theirs, nobodys] = await Promise.all(
              values.map(async (value) => {
                const query = new URLSearchParams((QUERIES[operation.path] ?? '').slice(1))
                query.set('ending_at', '2026-12-01T00:00:00Z')
                query.set(name, value)
                if (!operation.parameters!.some((parameter) => parameter.name === 'ending_at'))
                  query.delete('ending_at')
                const { status, text } = await call('GET', `${operation.path}?${query}`, headers)
                // Some say again what was asked for.
                const said = text
                  .replaceAll(value, '<value>')
                  .replaceAll(new URLSearchParams({ value }).toString().slice(6), '<value>')
                return { status, text: said.replace(/"(request_id|as_of)":"[^"]*"/g, '') }
              }),
            )
            expect([operation.path, name, theirs]).toEqual([operation.path, name, nobodys])
            expect(theirs!.status).toBeOneOf([200, 422])
            asked += 1
          }
        }
      }
      expect(asked).toBeGreaterThan(50)
    })

    test('gets the same response for an object of another person as for one that does not exist', async () => {
      let asked = 0
      for (const operation of secured().filter(({ path }) => path.includes('{'))) {
        const callers = asMember(operation)
        if (callers.length === 0) continue
        const key = ownerKey(operation)
        expect([operation.path, key !== undefined]).toEqual([operation.path, true])
        const object = OBJECTS[key!]
        if (!object) continue
        for (const headers of callers) {
          const sent = isWithBody(operation) ? exampleBody(operation) : undefined
          const their = (name: string) => (name === 'entry' ? (object.entry ?? object.id)() : object.id())
          const theirs = await call(operation.method, pathTo(operation, their), headers, sent)
          const nobodys = await call(
            operation.method,
            pathTo(operation, () => object.none),
            headers,
            sent,
          )
          const told = (answer: typeof theirs, id: string) => [
            operation.method,
            operation.path,
            answer.status,
            answer.json?.code,
            answer.json?.detail?.replaceAll(id, '<id>'),
          ]
          expect(told(theirs, object.id())).toEqual(told(nobodys, object.none))
          expect(theirs.status).toBe(404)
          asked += 1
        }
      }
      expect(asked).toBeGreaterThan(2)
      const still = await call('GET', `/api/v1/token-entries/${other.entry}`, other.session)
      expect(still.json).toMatchObject({ status: 'submitted', summary: `A ${MARK} secret`, project: { key: 'acme' } })
    })
  })

  test('who leads a project sees its entries, and no longer when they no longer lead', async () => {
    await addPerson('lead@example.com', 'member')
    const session = await signIn('lead@example.com')
    const read = bearer((await host.createToken('read', 'lead@example.com')).token)
    const lead = async (leads: string[]) => {
      const body = JSON.stringify({ leads })
      expect((await call('PATCH', '/api/v1/projects/acme', people.admin.session, { body })).status).toBe(200)
    }
    const before = await sightOf(session, read)
    expect(Object.values(before)).toEqual(Object.values(before).map(() => false))
    await lead(['lead@example.com'])
    const leading = await sightOf(session, read)
    expect(leading).toEqual(Object.fromEntries(Object.keys(before).map((what) => [what, true])))
    await lead([])
    expect(await sightOf(session, read)).toEqual(before)
  })

  test('a read token and a session see what their person’s role does at the moment of each call', async () => {
    await addPerson('mover@example.com', 'member')
    const session = await signIn('mover@example.com')
    const read = bearer((await host.createToken('read', 'mover@example.com')).token)
    const { json } = await call('GET', '/api/v1/me', session)
    const told = async () => {
      const answers = []
      for (const headers of [session, read]) {
        const bills = await call('GET', '/api/v1/bills', headers)
        const entries = await call('GET', '/api/v1/token-entries', headers)
        answers.push([bills.status, entries.text.includes(MARK)])
      }
      return answers
    }
    const nothing = [
      [403, false],
      [403, false],
    ]
    const everything = [
      [200, true],
      [200, true],
    ]
    expect(await told()).toEqual(nothing)
    await host.setRole('mover@example.com', 'billing')
    expect(await told()).toEqual(everything)
    const body = JSON.stringify({ role: 'member' })
    const changed = await call('PATCH', `/api/v1/users/${json.person.id}`, people.admin.session, { body })
    expect(changed.status).toBe(200)
    expect(await told()).toEqual(nothing)
  })

  test('the matrix has its documented size', () => {
    console.log(`access on ${testEngine}: ${tried.toLocaleString('en')} calls`)
    expect(tried).toBeGreaterThan(operations.length * (extent === 'every operation' ? 20 : 10))
  })
}
