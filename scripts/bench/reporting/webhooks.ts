/** The cost of delivering to a webhook for reports, while many events wait. */
import { Database as Connection } from 'bun:sqlite'
import { median } from '../spread.ts'
import { type LoadShape, type Throughput, WARM_UP_SECONDS } from './throughput.ts'

/** How long a receiver takes to respond: one on the same network, and one that works before it responds. */
const RECEIVERS = { quick: 0, slow: 250 }

/** The receiver of the webhook that is enabled; `none` disables all. */
const VARIANTS = ['none', 'quick', 'slow'] as const
export type WebhookVariant = (typeof VARIANTS)[number]

/** Alternating, so that other load on the machine affects all of them. */
const ROUNDS = 3

/** The variables of a server that may deliver to this machine. */
export const DELIVERS_TO_THIS_MACHINE = { TALLY_WEBHOOK_PRIVATE_NETWORKS: '127.0.0.0/8' }

export interface WebhookCost {
  /** The median round by processor time. */
  throughput: Throughput
  /** Messages that the receiver got per second. */
  messagesPerSecond: number
  /** The median of the rounds, each compared with the one without a webhook right before it. */
  processorRatio: number
  p99Ratio: number
}

/** Counts what it gets. */
function startReceiver(delayMs: number): { url: string; received: () => number; stop: () => Promise<void> } {
  let received = 0
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      await request.arrayBuffer()
      received += 1
      if (delayMs > 0) await Bun.sleep(delayMs)
      return new Response()
    },
  })
  return { url: server.url.href, received: () => received, stop: () => server.stop(true) }
}

function open(databasePath: string): Connection {
  const connection = new Connection(databasePath)
  connection.run('PRAGMA busy_timeout = 5000')
  return connection
}

/**
 * Adds events of entries, and a disabled webhook of all events for each receiver. Returns the position before these events.
 * Writes directly to the database, because reporting so many would take too long.
 */
function addEvents(databasePath: string, events: number, urls: Record<string, string>): number {
  const connection = open(databasePath)
  try {
    const { last } = connection.query<{ last: number }, []>('SELECT coalesce(max(id), 0) AS last FROM events').get()!
    connection.transaction(() => {
      for (const [name, url] of Object.entries(urls)) {
        connection.run(
          `INSERT INTO webhook_endpoints (uid, name, url, format, types, secret, created_at, cursor, disabled_at, disabled_reason)
           VALUES (randomblob(16), ?, ?, 'standard', '["*"]', randomblob(32), 0, ?, 1, 'person')`,
          [name, url, last],
        )
      }
      connection.run(
        `WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < ?)
         INSERT INTO events (at, type, entry_id, manager_id, project_id, details)
         SELECT ?, 'entry.updated', entries.id, entries.manager_id, entries.project_id, '{"after":{"tokens":{"input":1}}}'
         FROM numbers JOIN entries ON entries.id = 1 + number % (SELECT max(id) FROM entries)`,
        [events, Date.now()],
      )
    })()
    return last
  } finally {
    connection.close()
  }
}

/** Enables the webhook of a variant, for which everything after the position waits. */
function enable(databasePath: string, variant: WebhookVariant, position: number): void {
  const connection = open(databasePath)
  connection.run(
    `UPDATE webhook_endpoints SET disabled_at = iif(name = ?1, NULL, 1), disabled_reason = iif(name = ?1, NULL, 'person'),
       cursor = ?2, attempts = 0, failing_since = NULL, next_attempt_at = NULL, lease_holder = NULL, leased_until = NULL`,
    [variant, position],
  )
  connection.close()
}

/** What reports cost without a webhook, and with one for which so many events wait. */
export async function measureWebhooks(
  report: (shape: LoadShape) => Promise<Throughput>,
  shape: LoadShape,
  databasePath: string,
  waiting: number,
): Promise<Record<WebhookVariant, WebhookCost>> {
  const quick = startReceiver(RECEIVERS.quick)
  const slow = startReceiver(RECEIVERS.slow)
  try {
    const position = addEvents(databasePath, waiting, { quick: quick.url, slow: slow.url })
    const rounds = { none: [] as Round[], quick: [] as Round[], slow: [] as Round[] }
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const variant of VARIANTS) {
        enable(databasePath, variant, position)
        await report({ ...shape, seconds: WARM_UP_SECONDS / 2 })
        const before = quick.received() + slow.received()
        const throughput = await report(shape)
        rounds[variant].push({ throughput, messages: quick.received() + slow.received() - before })
      }
    }
    enable(databasePath, 'none', position)
    const cost = (variant: WebhookVariant) => costOf(rounds[variant], rounds.none)
    return { none: cost('none'), quick: cost('quick'), slow: cost('slow') }
  } finally {
    await quick.stop()
    await slow.stop()
  }
}

interface Round {
  throughput: Throughput
  messages: number
}

function costOf(rounds: readonly Round[], without: readonly Round[]): WebhookCost {
  const throughputs = rounds.map(({ throughput }) => throughput)
  const ratio = (of: 'processorMicros' | 'p99Ms') =>
    median(throughputs.map((throughput, round) => throughput[of] / without[round]!.throughput[of]))
  return {
    throughput: throughputs.toSorted((one, other) => one.processorMicros - other.processorMicros)[
      Math.floor(rounds.length / 2)
    ]!,
    messagesPerSecond: median(rounds.map(({ throughput, messages }) => messages / throughput.seconds)),
    processorRatio: ratio('processorMicros'),
    p99Ratio: ratio('p99Ms'),
  }
}
