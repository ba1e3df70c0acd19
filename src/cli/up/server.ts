/** The server of `tally up`: a process of its own that outlives the command, reached from this machine only. */
import { closeSync, openSync, readFileSync } from 'node:fs'
import { isAlive } from '../../agents/sender-lock.ts'
import {
  installService,
  isInstalled,
  removeFiles,
  ServiceError,
  type UserService,
  upServiceFor,
} from '../../agents/watch/service.ts'
import { type AgentsEnvironment, withoutOptions } from '../../config.ts'
import { CommandError } from '../failures.ts'
import { type Announcement, findProvenServer, withdrawServer } from '../running-server.ts'
import type { Place } from './place.ts'

const HOST = '127.0.0.1'

/** On a busy machine, and with a database that is migrated first. */
const START_MS = 60_000

const POLL_MS = 50

/** What it says when it cannot start is a line or two. */
const LOG_SHOWN_BYTES = 2_000

/** Starts it at the port, or at a free one if another program has that. Throws what it says if it does not start. */
export async function startServer(
  place: Place,
  program: readonly string[],
  { port, isFixed }: { port: number; isFixed: boolean },
): Promise<Announcement> {
  const started = await attempt(place, program, port)
  if (started) return started
  if (isFixed || !isUsed(port)) throw notStarted(place)
  const elsewhere = await attempt(place, program, 0)
  if (!elsewhere) throw notStarted(place)
  return elsewhere
}

const serveCommand = ({ data }: Place, program: readonly string[], port: number): string[] => [
  ...[...program, '--data', data, 'serve', '--host', HOST, '--port', String(port)],
  ...['--log-level', 'warn'],
]

/** The service of this person, whether it is installed or not; undefined where the system has none. */
export const findService = (
  environment: AgentsEnvironment,
  place: Place,
  { program, port }: { program: readonly string[]; port: number },
): UserService | undefined => upServiceFor({ environment, command: serveCommand(place, program, port), variables: {} })

/** Has the system start it, also at each login. The port is that of the service. */
export async function startService({ data }: Place, service: UserService): Promise<Announcement> {
  const isNew = !isInstalled(service)
  try {
    installService(service)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    // Every later run would try to start it.
    if (isNew) removeFiles(service)
    const otherwise = isNew ? ' Without it: tally up' : ''
    throw new CommandError(
      `The ${service.kind} ${service.path} could not be started: ${error.message}\nRun \`tally up --service\` again as the person whose agents are on this machine, logged in and without sudo.${otherwise}`,
    )
  }
  const deadline = performance.now() + START_MS
  while (performance.now() < deadline) {
    const found = await findProvenServer(data)
    if (found) return found
    await Bun.sleep(POLL_MS)
  }
  const look = service.manager === 'systemctl' ? ' See: systemctl --user status tally-up' : ''
  throw new CommandError(`The server of ${service.path} did not start within ${START_MS / 1_000} s.${look}`)
}

/** The port, or a free one if another program has it: a service cannot say which one it has taken. */
export function freePortFrom(port: number): number {
  if (!isUsed(port)) return port
  const listener = Bun.listen({ hostname: HOST, port: 0, socket: { data() {} } })
  listener.stop()
  return listener.port
}

/** Undefined if it ended by itself. */
async function attempt(place: Place, program: readonly string[], port: number): Promise<Announcement | undefined> {
  const log = openSync(place.log, 'w', 0o600)
  const child = Bun.spawn(serveCommand(place, program, port), {
    cwd: place.folder,
    env: withoutOptions(),
    detached: true,
    windowsHide: true,
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  const deadline = performance.now() + START_MS
  while (child.exitCode === null && child.signalCode === null) {
    const found = await findProvenServer(place.data)
    if (found?.pid === child.pid) {
      child.unref()
      return found
    }
    if (performance.now() > deadline) {
      child.kill('SIGKILL')
      throw notStarted(place)
    }
    await Bun.sleep(POLL_MS)
  }
  return undefined
}

function notStarted({ log }: Place): CommandError {
  const said = readFileSync(log, 'utf8')
    .slice(-LOG_SHOWN_BYTES)
    .replaceAll(/^tally: /gm, '')
    .trim()
  return new CommandError(said === '' ? `The server did not start. See ${log}` : `The server did not start.\n${said}`)
}

function isUsed(port: number): boolean {
  try {
    Bun.listen({ hostname: HOST, port, socket: { data() {} } }).stop()
    return false
  } catch {
    return true
  }
}

/** As long as a server may take to finish what it has accepted. */
const STOP_MS = 10_000

/** Of a server that has proven itself: its process id is not another one's. */
export async function stopServer({ data }: Place, { pid }: Announcement): Promise<void> {
  // A service may have stopped it already.
  if (isAlive(pid)) process.kill(pid, 'SIGTERM')
  const deadline = performance.now() + STOP_MS
  while (isAlive(pid)) {
    if (performance.now() > deadline) {
      throw new CommandError(
        `The server (process ${pid}) did not stop within ${STOP_MS / 1_000} s. Try again, or end the process.`,
      )
    }
    await Bun.sleep(POLL_MS)
  }
  // Windows ends a process without asking it.
  withdrawServer(data, pid)
}
