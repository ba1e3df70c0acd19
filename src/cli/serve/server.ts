/** The server process: one database, its services, and the HTTP server of both. */
import { randomBytes } from 'node:crypto'
import { type Logger, pino } from 'pino'
import { createApp } from '../../app.ts'
import type { Config } from '../../config.ts'
import { diskSpaceOf } from '../../database/disk-space.ts'
import { isDiskError, openDatabase } from '../../database/open.ts'
import { protect } from '../../database/permissions.ts'
import { systemClock } from '../../lib/clock.ts'
import { createMetrics, type Metrics, type Sources } from '../../metrics.ts'
import { createServices, type Services } from '../../services.ts'
import { driverError, EXIT_DONE } from '../failures.ts'
import { calledAs, firstSteps } from '../first-steps.ts'
import { announceServer, withdrawServer } from '../running-server.ts'
import { print } from '../terminal/print.ts'
import { prepareBackups, type ServerBackups } from './backups.ts'
import { createServerJobs } from './jobs.ts'
import { Listener } from './listener.ts'
import { isPrivate, localSessionsOf } from './local-sessions.ts'
import { type Die, dieOfErrors, Shutdown } from './shutdown.ts'

/** After this the process goes, whatever hangs. Supervisors send SIGKILL after 10 s (Docker) or 90 s (systemd). */
const SHUTDOWN_MS = 9_500

/** Lines of the log that wait for space where they are written to; later ones are lost. */
const HELD_LOG_BYTES = 1_048_576

const EXPOSED_FILES =
  'other users of this machine can read these paths, and Tally is not allowed to change their permissions; use a dedicated folder with mode 0700'

const BLOCKED_LOG =
  'a long-running reader keeps the write-ahead log from being truncated, so it keeps growing; look for a tally verify, tally sql or sqlite3 process that does not finish'

const GUESSED_PASSWORDS =
  'repeated sign-in attempts with wrong passwords for a person: further attempts from elsewhere are delayed'

/** What a server has from its start to its end. */
interface Process {
  config: Config
  logger: Logger
  die: Die
  metrics: Metrics
  db: Services['db']
  listener: Listener
  shutdown: Shutdown
}

/** What runs once the server is ready. */
interface Running {
  services: Services
  jobs: ReturnType<typeof createServerJobs>
}

/** Ends the process when the server has shut down cleanly. */
export async function serve(config: Config, warnings: readonly string[]): Promise<void> {
  const logger = createLogger(config)
  for (const warning of warnings) logger.warn(warning)
  const die = dieOfErrors(logger)
  const metrics = createMetrics()
  const db = await openServed(config, { logger, die, metrics })
  if (db.file) protectFiles(config, logger)
  // Before it listens: a process that reads the ready message may stop it at once.
  const shutdown = new Shutdown()
  const listener = new Listener(config)
  const self = { config, logger, die, metrics, db, listener, shutdown }
  try {
    const running = await start(self)
    await stop(self, running, await shutdown.signal)
  } finally {
    // Of a start that failed half-way; one that has finished answers nobody any more.
    await listener.close()
    if (db.file) attempt(() => withdrawServer(config.dataDir), logger)
    await db.close()
  }
  logger.info('tally has stopped')
  // Not left to the event loop: whatever a library still holds open must not keep a stopped server alive.
  process.exit(EXIT_DONE)
}

async function start(self: Process): Promise<Running> {
  const { config, logger, metrics, db, listener, shutdown } = self
  const { mail, priceUpdates, publicUrl, webhookPrivateNetworks: privateNetworks, trustedProxies, rateLimit } = config
  const webhooks = { privateNetworks, localUrl: () => listener.url }
  const services = createServices({ db, clock: systemClock, mail, priceUpdates, webhooks, publicUrl })
  await services.prices.loadDefaultPrices()
  // Before anything is accepted: a folder that cannot be had is an issue of the configuration.
  const backups = await prepareBackups(config, logger, services)
  const jobs = createServerJobs(config, logger, { services, backups })
  metrics.watch(sourcesOf(config, { services, backups, jobs }))
  const key = randomBytes(32).toString('base64url')
  const identity = () => ({ key, url: listener.url, pid: process.pid })
  const app = createApp({
    services,
    logger,
    metrics,
    trustedProxies,
    rateLimit,
    isStopping: () => shutdown.hasBegun,
    finishing: shutdown.finishing,
    localSessions: localSessionsOf(config, () => listener.url),
    program: isPrivate(config) ? calledAs('anywhere').command : undefined,
    ...(db.file && { identity }),
  })
  listener.listen((options) => app.listen(options).server!)
  if (db.file) attempt(() => announceServer(config.dataDir, identity()), logger)
  logger.info(`tally is ready on ${listener.url}`)
  await printFirstSteps(config, services, listener.url)
  watchSignIns(services, logger)
  services.webhooks.watchAttempts(metrics.webhookDelivery)
  jobs.start()
  return { services, jobs }
}

async function stop(
  { config, logger, die, listener, shutdown }: Process,
  { services, jobs }: Running,
  signal: string,
): Promise<void> {
  if (config.drainSeconds > 0) {
    logger.info(`${signal}: not ready any more, and answering for ${config.drainSeconds} s`)
    await Bun.sleep(config.drainSeconds * 1000)
  }
  logger.info(`${signal}: finishing open requests`)
  setTimeout(() => die(undefined, `shutdown did not finish within ${SHUTDOWN_MS / 1000} s`), SHUTDOWN_MS).unref()
  shutdown.finish()
  services.events.stop()
  services.changes.stop()
  const unfinished = await jobs.stop(listener.finish(logger))
  if (unfinished.length > 0) logger.warn({ jobs: unfinished }, 'some jobs go on after the next start')
}

function createLogger({ logLevel }: Config): Logger {
  const output = pino.destination({ dest: 1, sync: true, maxLength: HELD_LOG_BYTES })
  // A log on a full disk must not end a server that answers 503 for it: lines are held until there is space again.
  output.on('error', () => {})
  return pino({ level: logLevel }, output)
}

async function openServed(
  { dataDir, databaseUrl, replica }: Config,
  { logger, die, metrics }: Pick<Process, 'logger' | 'die' | 'metrics'>,
): Promise<Services['db']> {
  try {
    return await openDatabase({
      dataDir,
      databaseUrl,
      replica,
      clock: systemClock,
      serving: true,
      // What is durable is unknown now: only a new start, which reads it back, can tell.
      onFatal: (error) => die(error, 'the database can no longer be used'),
      onReadError: (error) => logger.error({ err: driverError(error) }, 'part of the database cannot be read'),
      onBlockedLog: (reader) => logger.warn(reader, BLOCKED_LOG),
      onReplica: (state) => logReplica(state, logger),
      onCommit: metrics.commit,
    })
  } catch (error) {
    if (isDiskError(error)) return die(error, 'disk error while opening the database')
    throw error
  }
}

/** Keeps other users of the machine out of the files. */
function protectFiles({ dataDir, backups }: Config, logger: Logger): void {
  const { changed, exposed } = protect({ dataDir, backups: backups.folder })
  if (changed.length > 0) logger.info({ paths: changed }, 'made these paths readable by their owner only')
  if (exposed.length > 0) logger.warn({ paths: exposed }, EXPOSED_FILES)
}

/** What the metrics show of the process and its database. */
function sourcesOf({ dataDir }: Config, { services, backups, jobs }: Running & { backups: ServerBackups }): Sources {
  const { db } = services
  return {
    databaseFile: db.file,
    diskSpace: db.file === undefined ? undefined : () => diskSpaceOf(dataDir),
    replica: db.replica,
    waitingWrites: db.waitingWrites,
    outbox: services.bills.deliveries.count,
    backups: backups.scheduled?.state,
    remoteBackups: backups.remote?.state,
    priceUpdates: services.priceUpdates.state,
    waitingEvents: services.webhooks.countWaiting,
    totals: services.reports.progress,
    jobs: jobs.status,
  }
}

/** How to go on, while nobody has an account. */
async function printFirstSteps(config: Config, { people, organization }: Services, url: string): Promise<void> {
  if (await people.isSetUp()) return
  const publicUrl = await organization.publicUrl()
  const link = await people.createSetUpLink(publicUrl ?? url)
  print(firstSteps({ link, config: { ...config, publicUrl } }))
}

function watchSignIns({ people }: Services, logger: Logger): void {
  people.watchSignIns(
    ({ user, mail }) => {
      const line = { user: user.uid, mail: mail?.result ?? 'not configured', answer: mail?.answer }
      logger.warn(line, GUESSED_PASSWORDS)
    },
    (error) => logger.error({ err: driverError(error) }, 'could not record repeated wrong passwords for a person'),
  )
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
