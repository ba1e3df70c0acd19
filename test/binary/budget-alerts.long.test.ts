/**
 * The alerts of a budget, by the executable: 64 connections spend past three thresholds, and the server is killed ten times
 * meanwhile. Each threshold causes one alert, which reaches the webhook and the person whom it names, whatever was lost of the
 * server's memory.
 */
import { afterEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import fc from 'fast-check'
import { freePort, Installation, type Server } from '../support/binary.ts'
import { canOverlap, ENGINES, type Engine, type Location, newLocation, rowsAt } from '../support/databases.ts'
import { startMailServer } from '../support/mail-server.ts'
import { until } from '../support/processes.ts'
import { startReceiver } from '../support/receivers.ts'
import { SessionLoad } from '../support/session-load.ts'

const CONNECTIONS = 64
const KILLS = 10

/** Sent between two kills. At each, most of them are on their way. */
const REPORTS_PER_KILL = 160
const REPORTS = REPORTS_PER_KILL * (KILLS + 1)

/** Half of it is spent by the sixth kill, all of it around the last. */
const AMOUNT = 15

/** The kill that waits until the webhook has got an alert, and the one that waits for an e-mail. */
const KILL_DURING_DELIVERY = 6
const KILL_AFTER_MAIL = 8

const cleanUps: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
}, 300_000)

interface Stage {
  tally: Installation
  location: Location
}

async function install(engine: Engine): Promise<Stage> {
  const server = engine === 'postgres' ? await newLocation(engine, cleanUps) : undefined
  const variables = server ? { TALLY_DATABASE_URL: server.databaseUrl! } : {}
  const tally = await Installation.brief({ variables })
  cleanUps.push(() => tally.remove())
  return { tally, location: server ?? { dataDir: join(tally.folder, 'tally-data') } }
}

/** Frees what servers that were killed had reserved for one and two minutes, as if that time had passed. */
async function endReservations(location: Location): Promise<void> {
  await rowsAt(location, 'UPDATE webhook_endpoints SET leased_until = 0 WHERE leased_until IS NOT NULL')
  await rowsAt(location, `UPDATE notification_emails SET next_attempt_at = 0 WHERE state = 'queued'`)
}

async function read<Body>(server: Server, token: string, path: string): Promise<Body> {
  const response = await server.call('GET', `/api/v1${path}`, { token })
  expect(response.status).toBe(200)
  return (await response.json()) as Body
}

/** Fails if something never arrives. */
const arrived = async (hasArrived: () => boolean) => expect(await until(hasArrived)).toBe(true)

for (const engine of ENGINES) {
  const missing = engine === 'postgres' && !canOverlap(engine) ? ' (skipped: PostgreSQL is not installed)' : ''
  test.skipIf(missing !== '')(
    `${KILLS} kills under load: three thresholds cause three alerts, each delivered, on ${engine}${missing}`,
    async () => {
      const { tally, location } = await install(engine)
      const mail = await startMailServer()
      cleanUps.push(mail.close)
      let kills = 0
      const hook = await startReceiver((_request, response) => {
        // Without an answer, nobody records that the first message has arrived.
        if (kills >= KILL_DURING_DELIVERY) response.end()
      })
      cleanUps.push(hook.close)
      const port = freePort()
      const args = [
        ...['--smtp-url', `smtp://127.0.0.1:${mail.address.port}`, '--smtp-from', 'tally@example.com'],
        ...['--webhook-private-networks', '127.0.0.0/8'],
      ]
      let server = await tally.serve(args, port)
      cleanUps.push(() => server.crash())
      await tally.addUser('ada@example.com', 'admin')
      const { token } = await tally.createToken('svc', 'ada@example.com')
      const { token: reader } = await tally.createToken('read', 'ada@example.com')
      await tally.runJson([
        'webhooks',
        'add',
        '--name',
        'Hook',
        '--url',
        hook.url,
        '--type',
        'budget.threshold_crossed',
      ])
      const recipients = [50, 80, 100].map((percent) => `at-${percent}@example.com`)
      const { id } = await tally.runJson<{ id: string }>([
        ...['budgets', 'add', '--amount', String(AMOUNT), '--period', 'once'],
        ...[50, 80, 100].flatMap((percent, at) => ['--threshold', `${percent}=${recipients[at]}`]),
      ])
      const status = () =>
        read<{ spent: number; entries: number; complete: boolean }>(server, reader, `/budgets/${id}/status`)
      expect(await until(async () => (await status()).complete)).toBe(true)

      const load = new SessionLoad({ urls: [server.url], token, connections: CONNECTIONS, name: 'session' })
      const sending: Promise<void>[] = []
      const moments = fc.sample(fc.nat(REPORTS_PER_KILL / 2), KILLS)
      for (; kills < KILLS; kills += 1) {
        sending.push(load.send(REPORTS_PER_KILL))
        await load.until(kills * REPORTS_PER_KILL + moments[kills]!)
        if (kills === KILL_DURING_DELIVERY - 1) await arrived(() => hook.received.length > 0)
        if (kills === KILL_AFTER_MAIL - 1) await until(() => mail.letters.length > 0, 5_000)
        await server.crash()
        server = await tally.serve(args, port)
      }
      sending.push(load.send(REPORTS_PER_KILL))
      await Promise.all(sending)
      expect([load.acknowledged, load.failures > 0]).toEqual([REPORTS, true])
      await endReservations(location)

      const { data: events } = await read<{ data: { id: string; after: { percent: number } }[] }>(
        server,
        reader,
        '/events?types=budget.threshold_crossed&limit=1000',
      )
      expect(events.map(({ after }) => after.percent).sort((one, other) => one - other)).toEqual([50, 80, 100])
      const { data: alerts } = await read<{ data: { percent: number }[] }>(server, reader, '/budgets/alerts?limit=1000')
      expect(alerts.map(({ percent }) => percent).reverse()).toEqual([50, 80, 100])

      const ids = events.map((event) => event.id)
      const received = () => hook.received.map(({ headers }) => headers['webhook-id']!)
      await arrived(() => new Set(received()).size >= ids.length)
      expect([...new Set(received())]).toEqual(ids)
      // The server that sent it first was killed before it could note that.
      expect(received().filter((first) => first === ids[0]).length).toBeGreaterThan(1)
      const isSent = (recipient: string) => mail.letters.some(({ to }) => to.includes(recipient))
      await arrived(() => recipients.every(isSent))
      expect([...new Set(mail.letters.flatMap(({ to }) => to))].sort()).toEqual([...recipients].sort())

      const { spent, entries } = await status()
      expect([BigInt(Math.round(spent * 1e9)), entries]).toEqual([load.costNanos, REPORTS])
      const usage = await tally.runJson<{ data: { results: { cost: number; entries: number }[] }[] }>([
        ...['usage', '--from', '2026-11-20', '--to', '2026-11-20'],
      ])
      expect(usage.data[0]!.results).toMatchObject([{ cost: spent, entries }])
      const { code, stdout } = await tally.run(['verify'])
      expect([code, stdout]).toEqual([0, expect.stringContaining('The database is intact')])
    },
    600_000,
  )
}
