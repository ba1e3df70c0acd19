/**
 * Prometheus metrics. Events are counted where they happen; gauges (sizes, queues) are read when Prometheus
 * scrapes, with `watch`. Labels have few possible values: never names, people or paths.
 */
import { statSync } from 'node:fs'
import Counter from 'prom-client/lib/counter.js'
import Gauge from 'prom-client/lib/gauge.js'
import Histogram from 'prom-client/lib/histogram.js'
import Registry from 'prom-client/lib/registry.js'
import type { JobStatus } from './lib/jobs.ts'

/** From a report on a fast disk to the longest a client waits. */
const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** From an fsync on a caching disk to one on a busy disk. */
const COMMIT_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]

/** Bodies of a group commit, and entries of a batch. */
const GROUP_SIZES = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000]

export type Outcome = 'created' | 'updated' | 'repeated' | 'rejected'

/** Values that are read on each scrape; undefined where they do not apply. */
export interface Sources {
  /** Path of the embedded database's file. */
  databaseFile: string | undefined
  /** Of the disk of that file. */
  diskSpace: (() => { freeBytes: number; totalBytes: number }) | undefined
  /** The state of the read replica. */
  replica: (() => Promise<string>) | undefined
  /** Request bodies waiting to be written. */
  waitingWrites: () => number
  /** Bill e-mails by state. */
  outbox: () => Promise<{ queued: number; failed: number }>
  backups: (() => { lastMadeAt: number | null; failures: number; others: number }) | undefined
  /** Of backups that are uploaded. */
  remoteBackups:
    | (() => {
        lastMadeAt: number | null
        failures: number
        verifiedAt: number | null
        comparedAt: number | null
        verificationFailures: number
        others: number
      })
    | undefined
  /** The last update of prices by any server of the database. */
  priceUpdates: () => Promise<{ succeededAt: number | null; failures: number }>
  /** Events that wait for a webhook. */
  waitingEvents: () => Promise<number>
  /** The days with entries, and those whose totals are ready. */
  totals: () => Promise<{ days: number; days_made: number }>
  /** What the server does by itself. */
  jobs: () => JobStatus[]
}

export type Metrics = ReturnType<typeof createMetrics>

export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]
  const requests = new RequestDurations()
  registry.registerMetric(requests as never)
  /** Counted as plain numbers, because a report should not pay for the lookup of a labeled counter. */
  const reported: Record<Outcome, number> = { created: 0, updated: 0, repeated: 0, rejected: 0 }
  new Counter({
    name: 'tally_entries_reported_total',
    help: 'Reported token entries, by outcome.',
    labelNames: ['outcome'] as const,
    registers,
    collect() {
      this.reset()
      for (const [outcome, entries] of Object.entries(reported)) if (entries > 0) this.inc({ outcome }, entries)
    },
  })
  const webhookDeliveries = new Counter({
    name: 'tally_webhook_deliveries_total',
    help: 'Attempts of this server to deliver events to webhooks, by outcome: delivered or failed.',
    labelNames: ['outcome'] as const,
    registers,
  })
  const exchanges = new Counter({
    name: 'tally_id_token_exchanges_total',
    help: 'ID tokens that CI jobs sent, by outcome: exchanged, refused, or failed because the issuer could not be asked.',
    labelNames: ['outcome'] as const,
    registers,
  })
  const batches = new Histogram({
    name: 'tally_batch_entries',
    help: 'Number of entries per batch.',
    buckets: GROUP_SIZES,
    registers,
  })
  const commits = new Histogram({
    name: 'tally_commit_duration_seconds',
    help: 'Time from the start of a group commit until it is durable.',
    buckets: COMMIT_SECONDS,
    registers,
  })
  const groups = new Histogram({
    name: 'tally_commit_writes',
    help: 'Number of writes per group commit.',
    buckets: GROUP_SIZES,
    registers,
  })
  /** A gauge that is read on each scrape. */
  const watched = (name: string, help: string, look: () => number | Promise<number>) =>
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        // What cannot be read must not hide what can: the jobs say why.
        this.set(await Promise.try(look).catch(() => Number.NaN))
      },
    })
  registerProcess(registry)

  return {
    contentType: registry.contentType,
    request: (method: string, route: string, status: number, seconds: number) =>
      requests.observe(method, route, status, seconds),
    reported: (outcome: Outcome) => {
      reported[outcome] += 1
    },
    webhookDelivery: (outcome: 'delivered' | 'failed') => webhookDeliveries.inc({ outcome }),
    exchange: (outcome: 'exchanged' | 'refused' | 'failed') => exchanges.inc({ outcome }),
    batch: (size: number) => batches.observe(size),
    commit: (writes: number, seconds: number) => {
      commits.observe(seconds)
      groups.observe(writes)
    },

    text: () => registry.metrics(),

    /** Registers the gauges. Call it once. */
    watch({
      databaseFile,
      diskSpace,
      replica,
      waitingWrites,
      outbox,
      backups,
      remoteBackups,
      priceUpdates,
      waitingEvents,
      totals,
      jobs,
    }: Sources): void {
      for (const [name, help, of] of JOB_METRICS) {
        ;new (name.endsWith('total') ? Counter : Gauge)({
          name: `tally_job_${name}`,
          help: `Of each job since the server started. ${help}`,
          // Prometheus itself has a label `job`.
          labelNames: ['name'],
          registers,
          collect() {
            this.reset()
            for (const job of jobs()) this.inc({ name: job.name }, of(job))
          },
        })
      }
      watched('tally_waiting_writes', 'Writes waiting for their commit.', waitingWrites)
      new Gauge({
        name: 'tally_outbox_mails',
        help: 'Bill e-mails in the outbox, by state: queued, or permanently failed.',
        labelNames: ['state'] as const,
        registers,
        async collect() {
          this.reset()
          const mails = await outbox().catch(() => ({}))
          for (const [state, count] of Object.entries<number>(mails)) this.set({ state }, count)
        },
      })
      if (replica) {
        watched(
          'tally_read_replica_used',
          'Whether the read replica answers reports, lists and exports: 1, or 0 while the primary does.',
          async () => Number((await replica()) === 'used'),
        )
      }
      if (databaseFile) {
        watched('tally_database_bytes', 'Size of the database file.', () => sizeOf(databaseFile))
        watched('tally_wal_bytes', 'Size of the write-ahead log.', () => sizeOf(`${databaseFile}-wal`))
      }
      if (diskSpace) {
        watched('tally_disk_free_bytes', 'Free space on the disk that holds the database.', () => diskSpace().freeBytes)
        watched(
          'tally_disk_total_bytes',
          'Total size of the disk that holds the database.',
          () => diskSpace().totalBytes,
        )
      }
      watched(
        'tally_last_price_update_timestamp_seconds',
        'Time of the latest successful price update; 0 if there is none.',
        async () => ((await priceUpdates()).succeededAt ?? 0) / 1000,
      )
      watched(
        'tally_price_update_failures',
        'Failed price updates since the latest successful one.',
        async () => (await priceUpdates()).failures,
      )
      watched(
        'tally_webhook_waiting_events',
        'Events that wait for their delivery to a webhook, at most 10,000 of each.',
        waitingEvents,
      )
      watched('tally_report_days', 'Days with entries that were found so far.', async () => (await totals()).days)
      watched(
        'tally_report_days_ready',
        'Days whose totals are ready for reports, or that are still changing.',
        async () => (await totals()).days_made,
      )
      if (backups) {
        const seconds = () => (backups().lastMadeAt ?? 0) / 1000
        watched(
          'tally_last_backup_timestamp_seconds',
          'Time of the latest backup of this database; 0 if there is none.',
          seconds,
        )
        watched('tally_backup_failures', 'Failed backups since the server started.', () => backups().failures)
        watched(
          'tally_other_backups',
          'Backups in the folder that are not of this database and its timeline, or not usable.',
          () => backups().others,
        )
      }
      if (remoteBackups) {
        watched(
          'tally_last_remote_backup_timestamp_seconds',
          'Time of the latest backup that was uploaded; 0 if there is none.',
          () => (remoteBackups().lastMadeAt ?? 0) / 1000,
        )
        watched(
          'tally_remote_backup_failures',
          'Failed uploads of backups since the latest successful one.',
          () => remoteBackups().failures,
        )
        watched(
          'tally_last_backup_verification_timestamp_seconds',
          'Time when an uploaded backup was last restored and checked successfully; 0 if never.',
          () => (remoteBackups().verifiedAt ?? 0) / 1000,
        )
        watched(
          'tally_last_backup_comparison_timestamp_seconds',
          'Time when an uploaded backup was last found to be as it was uploaded, restored or not; 0 if never.',
          () => (remoteBackups().comparedAt ?? 0) / 1000,
        )
        watched(
          'tally_other_remote_backups',
          'Backups in the storage that this server did not upload.',
          () => remoteBackups().others,
        )
        watched(
          'tally_backup_verification_failures',
          'Failed verifications and comparisons of uploaded backups since the latest successful one.',
          () => remoteBackups().verificationFailures,
        )
      }
    },
  }
}

interface Series {
  labels: { method: string; route: string; status: number }
  /** How many requests were within each of {@link REQUEST_SECONDS}, and not within the one before. */
  counts: number[]
  count: number
  sum: number
}

/**
 * The durations of requests. prom-client's histogram combines and hashes the labels of every observation, which would take
 * a thirtieth of a report.
 */
class RequestDurations {
  readonly name = 'tally_http_request_duration_seconds'
  readonly #help =
    'Time from the first byte of a request to the response, by route. The count is the number of requests.'
  readonly #series = new Map<string, Series>()

  observe(method: string, route: string, status: number, seconds: number): void {
    const name = `${status} ${method} ${route}`
    let series = this.#series.get(name)
    if (!series) {
      series = { labels: { method, route, status }, counts: REQUEST_SECONDS.map(() => 0), count: 0, sum: 0 }
      this.#series.set(name, series)
    }
    let bucket = 0
    while (seconds > REQUEST_SECONDS[bucket]!) bucket += 1
    if (bucket < REQUEST_SECONDS.length) series.counts[bucket]! += 1
    series.count += 1
    series.sum += seconds
  }

  /** As the registry reads its own metrics. */
  async get() {
    const values = this.#series.values().flatMap(({ labels, counts, count, sum }) => {
      let within = 0
      const buckets = counts.map((own, bucket) => {
        within += own
        return { labels: { le: REQUEST_SECONDS[bucket]!, ...labels }, value: within, metricName: `${this.name}_bucket` }
      })
      return [
        ...buckets,
        { labels: { le: '+Inf', ...labels }, value: count, metricName: `${this.name}_bucket` },
        { labels, value: sum, metricName: `${this.name}_sum` },
        { labels, value: count, metricName: `${this.name}_count` },
      ]
    })
    return { name: this.name, help: this.#help, type: 'histogram', values: [...values], aggregator: 'sum' }
  }
}

/** Of each job, by its name: those that end with `total` only grow. */
const JOB_METRICS: [name: string, help: string, of: (job: JobStatus) => number][] = [
  ['last_success_timestamp_seconds', 'When it last succeeded; 0 before.', (job) => (job.succeededAt ?? 0) / 1000],
  ['last_duration_seconds', 'Duration of the last run; 0 before.', (job) => (job.tookMs ?? 0) / 1000],
  ['failures_total', 'Failed runs, and failed parts of runs.', (job) => job.failures],
  ['consecutive_failures', 'Failed runs since the last successful one.', (job) => job.failedInRow],
  ['running', 'Whether it is running: 1, or 0.', (job) => Number(job.isRunning)],
  ['late', 'Whether it is over ten minutes late, or does not end: 1, or 0.', (job) => Number(job.isLate)],
]

const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** Process metrics under the names that standard dashboards use. */
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
