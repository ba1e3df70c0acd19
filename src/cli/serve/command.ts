import type { Command } from 'commander'
import type { Logger } from 'pino'
import { type Config, exposedSecrets, type OptionName, readConfig } from '../../config.ts'
import { localUrl } from '../address.ts'
import { CommandError, driverError, EXIT_DONE } from '../failures.ts'
import { firstSteps } from '../first-steps.ts'
import { examples, optionOf } from '../flags/options.ts'
import { print } from '../terminal/print.ts'

/** EX_SOFTWARE of sysexits.h: the process cannot go on. A supervisor starts it again. */
const EXIT_FATAL = 70

/** How long what was accepted may take to finish after SIGTERM. */
const FINISH_MS = 8_000

/** After this the process goes, whatever hangs. Supervisors send SIGKILL after 10 s (Docker) or 90 s (systemd). */
const SHUTDOWN_MS = 9_500

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
    { diskSpaceOf },
    { createServices },
    { createApp },
    { systemClock },
    { createMetrics },
    { announceServer, withdrawServer },
    { prepareBackups },
    { createServerJobs },
  ] = await Promise.all([
    import('pino'),
    import('../../database/open.ts'),
    import('../../database/exit.ts'),
    import('../../database/disk-space.ts'),
    import('../../services.ts'),
    import('../../app.ts'),
    import('../../lib/clock.ts'),
    import('../../metrics.ts'),
    import('../running-server.ts'),
    import('./backups.ts'),
    import('./jobs.ts'),
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
  if (db.file) await protectFiles(config, logger)
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
    const backups = await prepareBackups(config, logger, services)
    const jobs = createServerJobs(config, logger, { services, backups })
    metrics.watch({
      databaseFile: db.file,
      diskSpace: db.file === undefined ? undefined : () => diskSpaceOf(config.dataDir),
      replica: db.replica,
      waitingWrites: db.waitingWrites,
      outbox: services.bills.deliveries.count,
      backups: backups.scheduled?.state,
      remoteBackups: backups.remote?.state,
      priceUpdates: services.priceUpdates.state,
      waitingEvents: services.webhooks.countWaiting,
      totals: services.reports.progress,
      jobs: jobs.status,
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
    services.webhooks.watchAttempts(metrics.webhookDelivery)
    jobs.start()
    const signal = await stopping
    isStopping = true
    if (config.drainSeconds > 0) {
      logger.info(`${signal}: not ready any more, and answering for ${config.drainSeconds} s`)
      await Bun.sleep(config.drainSeconds * 1000)
    }
    logger.info(`${signal}: finishing open requests`)
    setTimeout(() => die(undefined, `shutdown did not finish within ${SHUTDOWN_MS / 1000} s`), SHUTDOWN_MS).unref()
    finishing.abort()
    services.events.stop()
    services.changes.stop()
    const unfinished = await jobs.stop(finish(server, logger))
    if (unfinished.length > 0) logger.warn({ jobs: unfinished }, 'some jobs go on after the next start')
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
  const { protect } = await import('../../database/permissions.ts')
  const { changed, exposed } = protect({ dataDir, backups: backups.folder })
  if (changed.length > 0) logger.info({ paths: changed }, 'made these paths readable by their owner only')
  if (exposed.length > 0) logger.warn({ paths: exposed }, EXPOSED_FILES)
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
