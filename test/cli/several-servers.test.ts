/** Servers that share a PostgreSQL database behind a load balancer, of which one after the other is replaced. */
import { afterEach, expect, test } from 'bun:test'
import { CommandLine, type RunningServer } from '../support/command-line.ts'
import { canOverlap, newLocation } from '../support/databases.ts'
import { reportBody } from '../support/reports.ts'

/** How often the load balancer asks /ready, and how long a server that is stopping still answers. */
const CHECK_MS = 200
const DRAIN_SECONDS = 1

const cleanUps: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const step of cleanUps.splice(0).reverse()) await step()
})

test.skipIf(!canOverlap('postgres'))(
  'no report is refused while each server is replaced',
  async () => {
    const { databaseUrl } = await newLocation('postgres', cleanUps)
    const env = { TALLY_DATABASE_URL: databaseUrl! }
    const tally = await CommandLine.make({ engine: 'sqlite' })
    cleanUps.push(() => tally.remove())
    await tally.done(['users', 'add', '--email', 'ada@example.com', '--name', 'Ada', '--role', 'admin'], { env })
    const made = await tally.json(['tokens', 'create', '--kind', 'svc', '--user', 'ada@example.com', '--name', 'ci'], {
      env,
    })
    const serve = () => tally.serve(['--drain', `${DRAIN_SECONDS}`], env)

    const servers: RunningServer[] = await Promise.all([serve(), serve()])
    let ready = servers.map(({ url }) => url)
    const check = async () => {
      const asked = servers.map(({ url }) =>
        fetch(`${url}/ready`).then(
          ({ ok }) => (ok ? [url] : []),
          () => [],
        ),
      )
      ready = (await Promise.all(asked)).flat()
    }
    const checking = setInterval(check, CHECK_MS)
    cleanUps.push(async () => clearInterval(checking))

    const statuses: unknown[] = []
    let isOver = false
    const report = async (agent: number) => {
      for (let session = 0; !isOver; session += 1) {
        const url = ready[session % ready.length]
        const answer = await fetch(`${url}/api/v1/token-entries`, {
          method: 'POST',
          headers: { authorization: `Bearer ${made.token}`, 'content-type': 'application/json' },
          body: JSON.stringify(reportBody({ session_id: `${agent}-${session}` })),
        }).catch((error: Error) => error)
        statuses.push(answer instanceof Error ? answer.message : answer.status)
        if (!(answer instanceof Error)) await answer.body?.cancel()
      }
    }
    const reporting = Promise.all([1, 2, 3, 4].map(report))
    for (const at of servers.keys()) {
      await Bun.sleep(2 * CHECK_MS)
      expect(await servers[at]!.stop()).toBe(0)
      servers[at] = await serve()
      await check()
    }
    await Bun.sleep(2 * CHECK_MS)
    isOver = true
    await reporting
    expect(new Set(statuses)).toEqual(new Set([201]))
    const [{ entries }] = (await tally.json(['usage', '--from', '2026-11-01', '--to', '2026-12-01'], { env })).data[0]
      .results
    expect(entries).toBe(statuses.length)
  },
  60_000,
)
