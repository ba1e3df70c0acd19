/**
 * Figures for those who watch a server, as Prometheus reads them. What happens is counted where it happens; what merely
 * is (sizes, queues) is looked at when somebody asks.
 */
import { statSync } from 'node:fs'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/** From what a report takes on a fast disk to what a client waits at most. */
const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** From an fsync of a disk that caches to one that others keep busy. */
const COMMIT_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]

/** Bodies of a group commit, and entries of a batch. */
const GROUP_SIZES = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000]

export type Outcome = 'created' | 'updated' | 'repeated' | 'rejected'

/** What is looked at when somebody asks; undefined where there is no such thing. */
export interface Sources {
  /** Path of the embedded database's file. */
  databaseFile: string | undefined
  /** Of the disk of that file. */
  diskSpace: (() => { freeBytes: number; totalBytes: number }) | undefined
  /** Bodies that wait to be written. */
  waitingWrites: () => number
  /** Mails of bills by their state. */
  outbox: () => Promise<{ queued: number; failed: number }>
  backups: (() => { lastMadeAt: number | null; failures: number }) | undefined
}

export type Metrics = ReturnType<typeof createMetrics>

export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]
  const requests = new Histogram({
    name: 'tally_http_request_duration_seconds',
    help: 'Time from the first byte of a request to the answer, by route; its count is the number of requests.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: REQUEST_SECONDS,
    registers,
  })
  const entries = new Counter({
    name: 'tally_entries_reported_total',
    help: 'Token entries that were reported, by what became of them.',
    labelNames: ['outcome'] as const,
    registers,
  })
  const batches = new Histogram({
    name: 'tally_batch_entries',
    help: 'Entries in a batch.',
    buckets: GROUP_SIZES,
    registers,
  })
  const commits = new Histogram({
    name: 'tally_commit_duration_seconds',
    help: 'Time from the beginning of a group commit until it is durable.',
    buckets: COMMIT_SECONDS,
    registers,
  })
  const groups = new Histogram({
    name: 'tally_commit_writes',
    help: 'Writes that shared a group commit.',
    buckets: GROUP_SIZES,
    registers,
  })
  /** What is looked at each time somebody asks. */
  const watched = (name: string, help: string, look: () => number | Promise<number>) =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        this.set(await look())
      },
    })
  registerProcess(registry)

  return {
    contentType: registry.contentType,
    request: (method: string, route: string, status: number, seconds: number) =>
      requests.observe({ method, route, status }, seconds),
    reported: (outcome: Outcome) => entries.inc({ outcome }),
    batch: (size: number) => batches.observe(size),
    commit: (writes: number, seconds: number) => {
      commits.observe(seconds)
      groups.observe(writes)
    },

    text: () => registry.metrics(),

    /** Says, once, where to look for what merely is. */
    watch({ databaseFile, diskSpace, waitingWrites, outbox, backups }: Sources): void {
      watched('tally_waiting_writes', 'Writes that wait for their commit.', waitingWrites)
      new Gauge({
        name: 'tally_outbox_mails',
        help: 'Mails of bills that are queued, and those that were given up as failed.',
        labelNames: ['state'] as const,
        registers,
        async collect() {
          for (const [state, mails] of Object.entries(await outbox())) this.set({ state }, mails)
        },
      })
      if (databaseFile) {
        watched('tally_database_bytes', 'Size of the database file.', () => sizeOf(databaseFile))
        watched('tally_wal_bytes', 'Size of the write-ahead log.', () => sizeOf(`${databaseFile}-wal`))
      }
      if (diskSpace) {
        watched('tally_disk_free_bytes', 'Free space on the disk of the database.', () => diskSpace().freeBytes)
        watched('tally_disk_total_bytes', 'Size of the disk of the database.', () => diskSpace().totalBytes)
      }
      if (backups) {
        const seconds = () => (backups().lastMadeAt ?? 0) / 1000
        watched('tally_last_backup_timestamp_seconds', 'When the newest backup was made; 0 for never.', seconds)
        watched('tally_backup_failures', 'Backups that failed since the start.', () => backups().failures)
      }
    },
  }
}

const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** Under the names that dashboards know. */
function registerProcess(registry: Registry): void {
  const registers = [registry]
  new Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Resident memory size in bytes.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss())
    },
  })
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Total user and system CPU time spent in seconds.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage()
      this.reset()
      this.inc((user + system) / 1e6)
    },
  })
  new Gauge({
    name: 'process_start_time_seconds',
    help: 'Start time of the process since unix epoch in seconds.',
    registers,
  }).set(Math.round(performance.timeOrigin / 1000))
}
