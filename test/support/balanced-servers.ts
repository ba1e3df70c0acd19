/** Servers that share a PostgreSQL database behind a load balancer. */
import { expect } from 'bun:test'
import { CommandLine, type RunningServer } from './command-line.ts'
import { newLocation, rowsAt } from './databases.ts'
import { reportBody } from './reports.ts'

/** How often the load balancer asks /ready, and how long a server that is stopping still answers. */
const CHECK_MS = 200
const DRAIN_SECONDS = 3

const UNAVAILABLE = { status: 503, retryAfter: '1' }

/** Two servers, a load balancer that asks whether they are ready, and so many agents that report through it. */
export async function stage(cleanUps: (() => Promise<void>)[], agents: number) {
  const location = await newLocation('postgres', cleanUps)
  const env = { TALLY_DATABASE_URL: location.databaseUrl! }
  const tally = await CommandLine.make({ engine: 'sqlite' })
  cleanUps.push(() => tally.remove())
  await tally.done(['users', 'add', '--email', 'ada@example.com', '--name', 'Ada', '--role', 'admin'], { env })
  const made = await tally.json(['tokens', 'create', '--kind', 'svc', '--user', 'ada@example.com', '--name', 'ci'], {
    env,
  })
  const serve = (version = tally) => version.serve(['--drain', `${DRAIN_SECONDS}`], env)
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
  const reportTo = async (url: string, session: string) => {
    const answer = await fetch(`${url}/api/v1/token-entries`, {
      method: 'POST',
      headers: { authorization: `Bearer ${made.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(reportBody({ session_id: session })),
    }).catch((error: Error) => error)
    if (answer instanceof Error) return { status: answer.message, retryAfter: null, json: undefined }
    return {
      status: answer.status,
      retryAfter: answer.headers.get('retry-after'),
      json: (await answer.json()) as { code?: string; detail?: string },
    }
  }
  let reported = 0
  /** Repeats a report that is refused for a while, as agents do. */
  const report = async (agent: number) => {
    for (let session = 0; !isOver; session += 1) {
      for (let attempt = 0; ; attempt += 1) {
        const url = ready[(session + attempt) % ready.length]
        // A load balancer without a server answers itself.
        const { status, retryAfter } = url ? await reportTo(url, `${agent}-${session}`) : UNAVAILABLE
        statuses.push(status)
        if (status !== 503 || retryAfter === null) break
        await Bun.sleep(CHECK_MS)
      }
      reported += 1
    }
  }
  const reporting = Promise.all(Array.from({ length: agents }, (_, agent) => report(agent)))
  /** So that every server is reported to meanwhile. */
  const untilReported = async () => {
    const until = statuses.length + 20
    while (statuses.length < until) await Bun.sleep(10)
  }

  return {
    location,
    env,
    tally,
    servers,
    serve,
    check,
    reportTo,
    untilReported,
    statuses,
    async replace(at: number, version = tally) {
      await untilReported()
      const server = servers[at]!
      const stopped = server.stop()
      // Not left to the next look of the load balancer, which a busy machine may delay for as long as the server waits.
      await server.untilPrinted(/not ready any more/)
      await check()
      expect(await stopped).toBe(0)
      servers[at] = await serve(version)
      await check()
      await untilReported()
    },
    /** The entries that there are, and those that there should be. */
    async end() {
      isOver = true
      await reporting
      const [{ count }] = (await rowsAt(location, 'SELECT count(*) AS count FROM entries')) as [{ count: string }]
      return { entries: Number(count), reported }
    },
  }
}
