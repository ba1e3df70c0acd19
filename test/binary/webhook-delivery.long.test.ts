/** Two servers of the executable on one PostgreSQL database, which deliver to one webhook. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { Installation, type Server } from '../support/binary.ts'
import { canOverlap, type Location, newLocation, rowsAt } from '../support/databases.ts'
import { until } from '../support/processes.ts'
import { type Received, type Receiver, startReceiver } from '../support/receivers.ts'
import { SessionLoad } from '../support/session-load.ts'

const REPORTS = 200
const TYPE = 'entry.created'

/** The server is killed when it has sent this event, before it gets an answer. */
const UNANSWERED = 100

const missing = canOverlap('postgres') ? '' : ' (skipped: PostgreSQL is not installed)'

const cleanUps: (() => Promise<void>)[] = []
const ofTest: (() => Promise<void>)[] = []
let installations: Installation[]
let servers: Server[]
let location: Location
let reporter: string
let reader: string

async function cleanUp(steps: (() => Promise<void>)[]): Promise<void> {
  for (const step of steps.splice(0).reverse()) await step()
}

beforeAll(async () => {
  if (missing) return
  location = await newLocation('postgres', cleanUps)
  installations = []
  for (let number = 0; number < 2; number += 1) {
    const installation = await Installation.brief({ variables: { TALLY_DATABASE_URL: location.databaseUrl! } })
    cleanUps.push(() => installation.remove())
    installations.push(installation)
  }
  await installations[0]!.addUser('ada@example.com', 'admin')
  reporter = (await installations[0]!.createToken('svc', 'ada@example.com')).token
  reader = (await installations[0]!.createToken('read', 'ada@example.com')).token
}, 300_000)
afterAll(() => cleanUp(cleanUps), 300_000)

beforeEach(async () => {
  if (missing) return
  servers = []
  for (const installation of installations) {
    const server = await installation.serve(['--webhook-private-networks', '127.0.0.0/8'])
    ofTest.push(() => server.crash())
    servers.push(server)
  }
}, 300_000)
afterEach(() => cleanUp(ofTest), 300_000)

const tally = (...args: string[]) => installations[0]!.runJson<{ id: string }>(['webhooks', ...args])

/** A webhook of new entries at a receiver. */
async function addHook(answer?: Parameters<typeof startReceiver>[0]): Promise<Receiver & { id: string }> {
  const receiver = await startReceiver(answer)
  ofTest.push(receiver.close)
  const { id } = await tally('add', '--name', 'Hook', '--url', receiver.url, '--type', TYPE)
  ofTest.push(async () => void (await installations[0]!.run(['webhooks', 'remove', id, '--yes'])))
  return { ...receiver, id }
}

/** Reports sessions, whose ids begin with the name, to both servers in turn. */
const report = (name: string) =>
  new SessionLoad({ urls: servers.map(({ url }) => url), token: reporter, connections: 16, name }).send(REPORTS)

/** The ids of the events, in the order of the log. */
async function loggedIds(server: Server): Promise<string[]> {
  const response = await server.call('GET', `/api/v1/events?types=${TYPE}&limit=1000`, { token: reader })
  return ((await response.json()) as { data: { id: string }[] }).data.map(({ id }) => id)
}

const idsOf = (received: readonly Received[]) => received.map(({ headers }) => headers['webhook-id']!)

/** The value of a metric; 0 for one without a value yet. */
async function metric(server: Server, name: string): Promise<number> {
  const text = await (await server.call('GET', '/metrics')).text()
  const line = text.split('\n').find((each) => each.startsWith(`${name} `))
  return Number(line?.slice(name.length + 1) ?? 0)
}
const delivered = (server: Server) => metric(server, 'tally_webhook_deliveries_total{outcome="delivered"}')
const waiting = (server: Server) => metric(server, 'tally_webhook_waiting_events')

test.skipIf(missing !== '')(
  `two servers deliver each event once, and in order${missing}`,
  async () => {
    const hook = await addHook()
    await report('once')
    const received = await hook.until(({ length }) => length >= REPORTS)
    expect(await until(async () => (await waiting(servers[0]!)) === 0)).toBe(true)
    expect(idsOf(received)).toEqual((await loggedIds(servers[0]!)).slice(-REPORTS))
    expect((await delivered(servers[0]!)) + (await delivered(servers[1]!))).toBe(REPORTS)
  },
  300_000,
)

test.skipIf(missing !== '')(
  `an event of which a killed server does not know whether it arrived is sent again with its id, before all later ones${missing}`,
  async () => {
    let answers = 0
    const hook = await addHook((_request, response) => {
      answers += 1
      if (answers !== UNANSWERED) response.end()
    })
    await tally('disable', hook.id)
    await report('again')
    await tally('enable', hook.id, '--send-missed')
    await hook.until(({ length }) => length === UNANSWERED)
    // All of them wait for one server, since the other one can't have the endpoint meanwhile.
    const counts = await Promise.all(servers.map(delivered))
    expect([...counts].sort((one, other) => one - other)).toEqual([0, UNANSWERED - 1])
    const holder = counts.indexOf(UNANSWERED - 1)
    const other = servers[1 - holder]!
    expect(await waiting(other)).toBe(REPORTS - UNANSWERED + 1)
    await servers[holder]!.crash()
    // As if the minute of its lease had passed.
    await rowsAt(location, 'UPDATE webhook_endpoints SET leased_until = 0 WHERE leased_until IS NOT NULL')
    const received = await hook.until(({ length }) => length > REPORTS)
    expect(await until(async () => (await waiting(other)) === 0)).toBe(true)
    const ids = (await loggedIds(other)).slice(-REPORTS)
    expect(idsOf(received)).toEqual([...ids.slice(0, UNANSWERED), ...ids.slice(UNANSWERED - 1)])
  },
  300_000,
)
