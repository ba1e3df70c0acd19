import { join } from 'node:path'
import type { Command } from 'commander'
import type { Logger } from 'pino'
import { type Config, ConfigError, exposedSecrets, type OptionName, readConfig } from '../config.ts'
import type { identityOf, ServerIdentity } from '../database/backup/identity.ts'
import type { DiskSpace, SpaceLevel } from '../database/disk-space.ts'
import type { BackupStep } from '../features/notices/service.ts'
import type { Services } from '../services.ts'
import { localUrl } from './address.ts'
import { CommandError, EXIT_DONE } from './failures.ts'
import { firstSteps } from './first-steps.ts'
import { examples, optionOf } from './flags/options.ts'
import { print } from './terminal/print.ts'

/** EX_SOFTWARE of sysexits.h: the process cannot go on. A supervisor starts it again. */
const EXIT_FATAL = 70

/** How long what was accepted may take to finish after SIGTERM. */
const FINISH_MS = 8_000

/** After this the process goes, whatever hangs. Supervisors send SIGKILL after 10 s (Docker) or 90 s (systemd). */
const SHUTDOWN_MS = 9_500

/** When tokens were last used is kept to the minute; half of one loses nothing that anyone looks at. */
const FLUSH_LAST_USED_MS = 30_000

/** How soon after its start a month of partitioned entries begins. */
const LOOK_FOR_MONTH_MS = 3_600_000

/**
 * Each route has its own limit, and responds with a problem that names it, which Bun's bare 413 does not. Bun stores
 * nothing that a route does not read. This is the limit for a route that forgets to have one.
 */
const REQUEST_LIMIT_BYTES = 1_024 * 1_048_576

/** A client that sends or takes nothing for this long is cut off, so that slow ones cannot hold connections. */
const IDLE_TIMEOUT_SECONDS = 20

const EXPOSED_FILES =
  'other users of this machine can read these paths, and Tally is not allowed to change their permissions; use a dedicated folder with mode 0700'

const BLOCKED_LOG =
  'a long-running reader keeps the write-ahead log from being truncated, so it keeps growing; look for a tally verify, tally sql or sqlite3 process that does not finish'

export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('Run the server (web application and HTTP API) until SIGTERM or Ctrl-C')
    .addOption(optionOf('host'))
    .addOption(optionOf('port'))
    .addOption(optionOf('publicUrl'))
    .addOption(optionOf('trustedProxies'))
    .addOption(optionOf('rateLimit'))
    .addOption(optionOf('databaseReadUrl'))
    .addOption(optionOf('databaseReadUrlFile'))
    .addOption(optionOf('databaseReadWait'))
    .addOption(optionOf('drain'))
    .addOption(optionOf('smtpUrl'))
    .addOption(optionOf('smtpUrlFile'))
    .addOption(optionOf('smtpFrom'))
    .addOption(optionOf('backupEvery'))
    .addOption(optionOf('backupKeep'))
    .addOption(optionOf('backupKeepDaily'))
    .addOption(optionOf('backupKeepWeekly'))
    .addOption(optionOf('backupKeepMonthly'))
    .addOption(optionOf('backupDir'))
    .addOption(optionOf('backupS3'))
    .addOption(optionOf('backupRecipients'))
    .addOption(optionOf('backupVerifyEvery'))
    .addOption(optionOf('identity'))
    .addOption(optionOf('pricesFrom'))
    .addOption(optionOf('pricesEvery'))
    .addOption(optionOf('webhookPrivateNetworks'))
    .addOption(optionOf('logLevel'))
    .addHelpText(
      'after',
      examples(
        'tally serve',
        'tally serve --host 0.0.0.0 --port 8080 --data /var/lib/tally',
        'tally serve --public-url https://tally.example.com',
      ),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<Partial<Record<OptionName, string>>>()
      await serve(readConfig(flags), exposedSecrets(flags))
    })
}

/** Lines of the log that wait for space where they are written to; later ones are lost. */
const HELD_LOG_BYTES = 1_048_576

/** Resolves when the server has shut down cleanly. */
async function serve(config: Config, warnings: readonly string[]): Promise<void> {
  const [
    { pino },
    { openDatabase, isDiskError },
    { exitAtOnce },
    { diskSpaceOf, watchDiskSpace },
    { createServices },
    { createApp },
    { systemClock },
    { createMetrics },
    { announceServer, withdrawServer },
    { periodically },
  ] = await Promise.all([
    import('pino'),
    import('../database/open.ts'),
    import('../database/exit.ts'),
    import('../database/disk-space.ts'),
    import('../services.ts'),
    import('../app.ts'),
    import('../lib/clock.ts'),
    import('../metrics.ts'),
    import('./running-server.ts'),
    import('../lib/periodically.ts'),
  ])
  const metrics = createMetrics()
  const output = pino.destination({ dest: 1, sync: true, maxLength: HELD_LOG_BYTES })
  // A log on a full disk must not end a server that answers 503 for it: lines are held until there is space again.
  output.on('error', () => {})
  const logger = pino({ level: config.logLevel }, output)
  for (const warning of warnings) logger.warn(warning)
  const die = (error: unknown, message: string) => {
    logger.fatal({ err: driverError(error) }, message)
    return exitAtOnce(EXIT_FATAL)
  }
  for (const event of ['uncaughtException', 'unhandledRejection']) {
    process.on(event, (error: unknown) => die(error, 'unexpected error'))
  }
  const db = await openDatabase({
    dataDir: config.dataDir,
    databaseUrl: config.databaseUrl,
    replica: config.replica,
    clock: systemClock,
    serving: true,
    // What is durable is unknown now: only a new start, which reads it back, can tell.
    onFatal: (error) => die(error, 'the database can no longer be used'),
    onReadError: (error) => logger.error({ err: driverError(error) }, 'part of the database cannot be read'),
    onBlockedLog: (reader) => logger.warn(reader, BLOCKED_LOG),
    onReplica: (state) => logReplica(state, logger),
    onCommit: metrics.commit,
  }).catch((error) => {
    if (isDiskError(error)) return die(error, 'disk error while opening the database')
    throw error
  })
  if (db.file) {
    await protectFiles(config, logger)
    watchDiskSpace(config.dataDir, (level, space) => logDiskSpace(level, space, logger))
  }
  // Before it listens: a process that reads the ready message may stop it at once.
  const stopping = askedToStop()
  let server: Server | undefined
  let isStopping = false
  const finishing = new AbortController()
  try {
    const services = createServices({
      db,
      clock: systemClock,
      mail: config.mail,
      priceUpdates: config.priceUpdates,
      webhooks: {
        privateNetworks: config.webhookPrivateNetworks,
        localUrl: () => localUrl(config.host, server?.port ?? config.port),
      },
      publicUrl: config.publicUrl,
    })
    await services.prices.loadDefaultPrices()
    // Before anything is accepted: a folder that cannot be had is an issue of the configuration.
    const identity = config.backups.everyMs === undefined ? undefined : await backupIdentity(db)
    const remoteBackups = await prepareRemoteBackups(config, logger, services, identity)
    const backups =
      identity &&
      (await startBackups(config, logger, { ...services, identity, onMade: () => void remoteBackups?.look() }))
    const uploading = remoteBackups?.start()
    metrics.watch({
      databaseFile: db.file,
      diskSpace: db.file === undefined ? undefined : () => diskSpaceOf(config.dataDir),
      replica: db.replica,
      waitingWrites: db.waitingWrites,
      outbox: services.bills.deliveries.count,
      backups: backups?.state,
      remoteBackups: remoteBackups?.state,
      priceUpdates: services.priceUpdates.state,
      waitingEvents: services.webhooks.countWaiting,
      totals: services.reports.progress,
    })
    const app = createApp({
      services,
      logger,
      metrics,
      trustedProxies: config.trustedProxies,
      rateLimit: config.rateLimit,
      isStopping: () => isStopping,
      finishing: finishing.signal,
    })
    server = listen(config, (options) => app.listen(options).server!)
    const url = localUrl(config.host, server.port!)
    if (db.file) attempt(() => announceServer(config.dataDir, url), logger)
    logger.info(`tally is ready on ${url}`)
    if (!(await services.people.isSetUp())) {
      const publicUrl = await services.organization.publicUrl()
      const link = await services.people.createSetUpLink(publicUrl ?? url)
      print(firstSteps({ url, link, config: { ...config, publicUrl }, now: systemClock.now() }))
    }
    services.people.watchSignIns(
      ({ user, mail }) => {
        const line = { user: user.uid, mail: mail?.result ?? 'not configured', answer: mail?.answer }
        logger.warn(
          line,
          'repeated sign-in attempts with wrong passwords for a person: further attempts from elsewhere are delayed',
        )
      },
      (error) => logger.error({ err: driverError(error) }, 'could not record repeated wrong passwords for a person'),
    )
    const flushing = setInterval(() => flushLastUsed(services.people, logger), FLUSH_LAST_USED_MS)
    const rolling = services.reports.rollup.start((error) => {
      logger.warn({ err: driverError(error) }, 'could not update the daily and monthly totals')
    })
    const delivering = services.bills.deliveries.start((error) => {
      logger.warn({ err: driverError(error) }, 'could not deliver a bill')
    })
    services.webhooks.watchAttempts(metrics.webhookDelivery)
    const notifying = services.webhooks.dispatcher.start((error) => {
      logger.warn({ err: driverError(error) }, 'could not deliver events to a webhook')
    })
    const reminding = services.bills.reminders.start((error) => {
      logger.warn({ err: driverError(error) }, 'could not remind a client of an overdue bill')
    })
    const budgeting = services.budgets.start((error) => {
      logger.warn({ err: driverError(error) }, 'could not count what is spent of a budget')
    })
    const warning = services.budgets.alerts.start((error) => {
      logger.warn({ err: driverError(error) }, 'could not send an alert of a budget by e-mail')
    })
    const mailing = services.notifications.start((error) => {
      logger.warn({ err: driverError(error) }, 'could not send notifications by e-mail')
    })
    // A newer table may know models that were reported before it did.
    const valuing = services.entries.valuation.start((error) => {
      logger.warn({ err: driverError(error) }, 'could not value entries whose price was added')
    })
    const releasing = services.entries.billing.start((error) => {
      logger.warn({ err: driverError(error) }, 'could not release the entries of a bill that was interrupted')
    })
    const tidying = services.telemetry.start((error) => {
      logger.warn({ err: driverError(error) }, 'could not store received telemetry')
    })
    const erasing = services.personalData.erasure.start((error) => {
      logger.warn({ err: driverError(error) }, 'could not replace the names of a person who is being erased')
    })
    const expiring = services.personalData.retention.start((error) => {
      logger.warn({ err: driverError(error) }, 'could not remove what is older than its retention period')
    })
    const noticing = services.notices.start((error) => {
      logger.warn({ err: driverError(error) }, 'could not look for silent agents, expiring tokens and digests')
    })
    const searching = services.anomalies.start((error) => {
      logger.warn({ err: driverError(error) }, 'could not look for anomalies of the day before')
    })
    const summing = services.digests.start((error) => {
      logger.warn({ err: driverError(error) }, 'could not sum up a day or a week for e-mails')
    })
    const updating = services.priceUpdates.start({
      updated: ({ origin, load, plan }) => {
        const line = { source: origin.name, load, added: plan.additions.length, older: plan.older.length }
        logger.info({ ...line, refused: plan.refused.length }, 'updated prices')
      },
      failed: (error) => logger.error({ err: driverError(error) }, 'could not update prices'),
    })
    const { beginMonth } = db
    const partitioning =
      beginMonth &&
      periodically(
        async () => {
          const month = await beginMonth(systemClock.now())
          if (month !== undefined) logger.info({ month }, 'entries are recorded in the partition of a new month')
        },
        LOOK_FOR_MONTH_MS,
        (error) => logger.warn({ err: driverError(error) }, 'could not begin the partition of a new month'),
      )
    const signal = await stopping
    isStopping = true
    if (config.drainSeconds > 0) {
      logger.info(`${signal}: not ready any more, and answering for ${config.drainSeconds} s`)
      await Bun.sleep(config.drainSeconds * 1000)
    }
    logger.info(`${signal}: finishing open requests`)
    setTimeout(() => die(undefined, `shutdown did not finish within ${SHUTDOWN_MS / 1000} s`), SHUTDOWN_MS).unref()
    clearInterval(flushing)
    finishing.abort()
    services.events.stop()
    services.changes.stop()
    await Promise.all([
      finish(server, logger),
      rolling.stop(),
      delivering.stop(),
      notifying.stop(),
      reminding.stop(),
      budgeting.stop(),
      warning.stop(),
      mailing.stop(),
      valuing.stop(),
      releasing.stop(),
      erasing.stop(),
      expiring.stop(),
      noticing.stop(),
      searching.stop(),
      summing.stop(),
      updating.stop(),
      partitioning?.stop(),
      backups?.stop(),
      uploading?.stop(),
    ])
    await Promise.all([flushLastUsed(services.people, logger), tidying.stop()])
  } finally {
    // Of a start that failed half-way; one that has finished answers nobody any more.
    await server?.stop(true)
    if (db.file) attempt(() => withdrawServer(config.dataDir), logger)
    await db.close()
  }
  logger.info('tally has stopped')
  // Not left to the event loop: whatever a library still holds open must not keep a stopped server alive.
  process.exit(EXIT_DONE)
}

interface ListenOptions {
  hostname: string
  port: number
  reusePort: boolean
  development: boolean
  maxRequestBodySize: number
  idleTimeout: number
}

/** What is needed here of Bun's server. */
interface Server {
  port?: number | undefined
  stop(closeActiveConnections?: boolean): Promise<void>
}

/** Throws a {@link CommandError} if it cannot listen on the address. */
function listen({ host, port }: Config, start: (options: ListenOptions) => Server): Server {
  try {
    return start({
      hostname: host,
      port,
      // Elysia's default would let two servers share a port and take turns in answering.
      reusePort: false,
      development: false,
      maxRequestBodySize: REQUEST_LIMIT_BYTES,
      idleTimeout: IDLE_TIMEOUT_SECONDS,
    })
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string }
    if (code === 'EADDRINUSE') {
      throw new CommandError(
        `Port ${port} on ${host} is already in use, perhaps by another Tally. Stop it, or choose another port with --port (TALLY_PORT).`,
      )
    }
    throw new CommandError(
      `Cannot listen on ${host}, port ${port}: ${message}. Choose another address with --host and --port.`,
    )
  }
}

/** Keeps other users of the machine out of the files. */
async function protectFiles({ dataDir, backups }: Config, logger: Logger): Promise<void> {
  const { protect } = await import('../database/permissions.ts')
  const { changed, exposed } = protect({ dataDir, backups: backups.folder })
  if (changed.length > 0) logger.info({ paths: changed }, 'made these paths readable by their owner only')
  if (exposed.length > 0) logger.warn({ paths: exposed }, EXPOSED_FILES)
}

function logDiskSpace(level: SpaceLevel, { freeBytes, totalBytes }: DiskSpace, logger: Logger): void {
  const line = { free_bytes: freeBytes, total_bytes: totalBytes }
  if (level === 'ok') logger.info(line, 'the database disk has enough free space again')
  else if (level === 'low') logger.warn(line, 'the database disk has less than 15% free space; free some space')
  else logger.error(line, 'the database disk has less than 5% free space; reports are refused when it is full')
}

/** Answers at the first signal to end; the second ends the process at once. */
function askedToStop(): Promise<string> {
  return new Promise((resolve) => {
    let asked = false
    const hear = (signal: string, exitCode: number) => {
      if (asked) process.exit(exitCode)
      asked = true
      resolve(signal)
    }
    // Shells expect 128 and the number of the signal.
    process.on('SIGTERM', () => hear('SIGTERM', 128 + 15))
    process.on('SIGINT', () => hear('SIGINT', 128 + 2))
  })
}

/** Accepts nothing more and waits for what runs; a stream that never ends is cut off. */
async function finish(server: Server, logger: Logger): Promise<void> {
  const finished = await Promise.race([server.stop().then(() => true), Bun.sleep(FINISH_MS).then(() => false)])
  if (finished) return
  logger.warn(`some requests did not finish within ${FINISH_MS / 1000} s and were aborted`)
  await server.stop(true)
}

const backupIdentity: typeof identityOf = async (db) => (await import('../database/backup/identity.ts')).identityOf(db)

/** Scheduled backups. A failed backup is logged and retried a minute later. */
async function startBackups(
  { backups, dataDir }: Config,
  logger: Logger,
  { notices, identity, onMade }: Pick<Services, 'notices'> & { identity: ServerIdentity; onMade: () => void },
) {
  const [{ scheduleBackups }, { DATABASE_FILE }, { systemClock }] = await Promise.all([
    import('../database/backup/scheduled-backups.ts'),
    import('../database/open.ts'),
    import('../lib/clock.ts'),
  ])
  const report = failureReports(logger, notices)
  return scheduleBackups({
    from: join(dataDir, DATABASE_FILE),
    identity: identity.read,
    folder: backups.folder,
    everyMs: backups.everyMs!,
    keep: backups.keep,
    clock: systemClock,
    events: {
      made(backup) {
        logger.info({ backup }, 'created a backup')
        onMade()
      },
      failed(error, lastMadeAt) {
        logger.error({ err: error }, 'could not create a backup')
        report('backup', error, lastMadeAt)
      },
    },
  })
}

const failureReports =
  (logger: Logger, notices: Services['notices']) => (step: BackupStep, error: unknown, succeededAt: number | null) => {
    notices.backupFailed(step, error, succeededAt).catch((refused) => {
      logger.warn({ err: driverError(refused) }, 'could not record that a backup failed')
    })
  }

/** Uploads of the scheduled backups; undefined if they stay on this machine. A failed upload is logged and retried. */
async function prepareRemoteBackups(
  config: Config,
  logger: Logger,
  { notices }: Pick<Services, 'notices'>,
  identity: ServerIdentity | undefined,
) {
  const { remote, folder, keep } = config.backups
  if (!remote) return undefined
  if (!identity) throw new ConfigError('TALLY_BACKUP_S3: no backups are scheduled. Set TALLY_BACKUP_EVERY=24h')
  if (remote.recipients.length === 0) {
    throw new ConfigError(
      'TALLY_BACKUP_S3: backups in S3 are encrypted. Set TALLY_BACKUP_RECIPIENTS to a public key; `tally backup keygen` creates one',
    )
  }
  const [{ createRemoteBackups }, { runRemoteTask }, { encrypterFor }, { systemClock }] = await Promise.all([
    import('../database/backup/remote/remote-backups.ts'),
    import('../database/backup/remote/link.ts'),
    import('../database/backup/remote/encryption.ts'),
    import('../lib/clock.ts'),
  ])
  encrypterFor(remote.recipients)
  const report = failureReports(logger, notices)
  return createRemoteBackups({
    ...remote,
    ...{ folder, keep, clock: systemClock, run: runRemoteTask },
    ...{ identity: identity.read, renewTimeline: identity.renewTimeline },
    events: {
      uploaded({ name, uploaded, removed, notRemoved }) {
        const { bytes, sha256 } = uploaded ?? {}
        logger.info({ backup: { name, bytes, sha256 }, removed: removed.length }, 'uploaded a backup')
        if (notRemoved !== undefined)
          logger.warn({ reason: notRemoved }, 'could not remove old backups from the storage')
      },
      uploadFailed(error, succeededAt) {
        logger.error({ reason: error.message }, 'could not upload a backup')
        report('upload', error, succeededAt)
      },
      verified: ({ name, extent }) => logger.info({ backup: name, extent }, VERIFIED[extent]),
      verificationFailed(error, succeededAt) {
        logger.error({ reason: error.message }, 'could not verify the uploaded backups')
        report('verification', error, succeededAt)
      },
    },
  })
}

/** Without the private key, nothing was verified. */
const VERIFIED = {
  restored: 'verified an uploaded backup: restored and checked',
  compared: 'compared an uploaded backup: uploaded as made, not test-restored',
}

function logReplica(state: string, logger: Logger): void {
  if (state === 'used') logger.info('the read replica answers reports, lists and exports again')
  else
    logger.warn({ replica: state }, 'the read replica cannot be used: the primary answers reports, lists and exports')
}

/** Commands on this machine do without the address of the server. */
function attempt(announce: () => void, logger: Logger): void {
  try {
    announce()
  } catch (error) {
    logger.warn({ err: error }, 'could not note the address of this server for commands on this machine')
  }
}

/** A failure is no reason to stop: the moments are kept for the next time. */
async function flushLastUsed(people: { flushLastUsed(): Promise<void> }, logger: Logger): Promise<void> {
  try {
    await people.flushLastUsed()
  } catch (error) {
    logger.warn({ err: driverError(error) }, 'could not store when tokens were last used')
  }
}

/** What failed at the bottom: drizzle's error around it repeats what the query was given, which may be anybody's words. */
function driverError(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? driverError(error.cause) : error
}
