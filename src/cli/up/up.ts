/** Runs `tally up`: each step leaves something that works, and the next run goes on from there. */
import { mkdirSync } from 'node:fs'
import { hostname } from 'node:os'
import { storeCredentials } from '../../agents/credentials.ts'
import { readMe, ServerError } from '../../agents/server.ts'
import { takeLock } from '../../agents/watch/lock.ts'
import { isInstalled, isUpToDate, type UserService, uninstallService } from '../../agents/watch/service.ts'
import {
  type AgentsEnvironment,
  type ClientConfig,
  isOverSsh,
  OPTIONS,
  readAgentsEnvironment,
  readConfig,
  readOperator,
} from '../../config.ts'
import type { User } from '../../features/people/service.ts'
import type { Services } from '../../services.ts'
import { stableCommand } from '../agents/self.ts'
import { CommandError, EXIT_USAGE } from '../failures.ts'
import { calledAs, quoted } from '../first-steps.ts'
import { type Announcement, announcementIn, findProvenServer, findServer, PROGRAM } from '../running-server.ts'
import { note, print, printFields } from '../terminal/print.ts'
import { type Self, withServices } from '../with-services.ts'
import { findOpener, openPrivately, removeLeftFiles } from './browser.ts'
import { join } from './join.ts'
import { findOwner, ownOrganization } from './owner.ts'
import { type Place, placeIn, remember, remembered, shownPath } from './place.ts'
import { findService, freePortFrom, startServer, startService, stopServer } from './server.ts'
import { connectAgents, importSessions, otherServer, storedLogin } from './sessions.ts'

export interface UpFlags {
  port?: string
  browser?: boolean
  yes?: boolean
  stop?: boolean
  service?: boolean
  join?: string
  names?: boolean
}

/** Another one may be importing years of sessions. */
const LOCK_MS = 60_000

export async function runUp(flags: UpFlags): Promise<void> {
  requireOwnUser()
  const environment = readAgentsEnvironment()
  const place = placeIn(environment)
  const lock = takeLock(place.lock, LOCK_MS)
  if (!lock) throw new CommandError('Another `tally up` is running. Try again when it has finished.')
  try {
    if (flags.stop) return await stop(environment, place)
    const { join: url, names = true, yes = false } = flags
    if (url !== undefined) return await join(environment, place, url, { names, yes })
    await up(environment, place, flags, () => lock[Symbol.dispose]())
  } finally {
    lock[Symbol.dispose]()
  }
}

/** Its files would be root's, in a folder of root. */
function requireOwnUser(): void {
  const { sudoUser } = readOperator({})
  if (process.getuid?.() !== 0 || sudoUser === undefined) return
  throw new CommandError(
    '`tally up` is for the person whose agents are on this machine. Run it without sudo.',
    EXIT_USAGE,
  )
}

async function up(environment: AgentsEnvironment, place: Place, flags: UpFlags, unlock: () => void): Promise<void> {
  mkdirSync(place.data, { recursive: true, mode: 0o700 })
  removeLeftFiles(place)
  // First: a newer command changes the schema, after which an older server refuses everything.
  const current = await findCurrentServer(place)
  const program = stableCommand(environment)
  const service = installedService(environment, { place, program }, flags)
  // It would keep the port from the service.
  const isInTheWay = current && flags.service && service && !isUpToDate(service)
  if (isInTheWay) await stopServer(place, current)
  const running = isInTheWay ? undefined : current
  // No variable of another database.
  const config = readConfig({ data: place.data }, {})
  await withServices(
    { data: place.data, as: '' },
    async (services, self) => {
      const owner = await ownerOf(place, services, self)
      const { url } = running ?? (await started(place, { program, service }, flags))
      if (running) requirePort(running, flags)
      if (service && flags.service) printService(service)
      const login = storedLogin(environment)
      const { token: known } = remembered(place)
      const proven = { url, announcement: announcementIn(place.data) }
      const server = { ...proven, token: await tokenOf(place, services, { owner, self, proven }) }
      // The agents go on with a server that has moved to another port, and with a new token.
      const isOwn = login !== undefined && (login.token === known || login.token === server.token)
      if (isOwn) storeCredentials(environment, server)
      const other = otherServer(environment, server)
      const finish = await importSessions(environment, server, { isOwn })
      if (other === undefined) await connectAgents(environment, { place, program, server, yes: flags.yes ?? false })
      else {
        note(
          `Agents on this machine report to ${other}. That does not change. Run \`tally up\` again to import their latest sessions here.`,
        )
      }
      unlock()
      await signIn(place, services, { owner, self, url, isOpened: flags.browser ?? true })
      printNext(environment, place)
      finish()
    },
    { creates: true, config },
  )
}

/** The running server, unless it is of another program, which is stopped. */
async function findCurrentServer(place: Place): Promise<Announcement | undefined> {
  const running = await findProvenServer(place.data)
  if (!running || running.program === PROGRAM) return running
  await stopServer(place, running)
  note(`The server ran version ${running.program.split(' ')[0]} and is being restarted.`)
  return undefined
}

async function ownerOf(place: Place, { people }: Services, { by }: Self): Promise<User> {
  const { owner: uid } = remembered(place)
  const known = uid === undefined ? undefined : await people.findUser(uid)
  if (known) {
    printFields([['Owner', `${known.name} <${known.email}>`]])
    return known
  }
  const isNew = !(await people.isSetUp())
  const found = findOwner()
  const owner = isNew
    ? await people.setUpOwner(found, { organization: ownOrganization(found.name), by })
    : // What was remembered is gone.
      (await people.everyUser({ roles: ['admin'], state: 'active' })).reduce((one, other) =>
        other.createdAt < one.createdAt ? other : one,
      )
  remember(place, { owner: owner.uid })
  const source = isNew && found.isFromGit ? ', from your git configuration' : ''
  printFields([['Owner', `${owner.name} <${owner.email}>${source}`]])
  return owner
}

async function started(
  place: Place,
  { program, service }: { program: readonly string[]; service: UserService | undefined },
  { port: flag }: UpFlags,
): Promise<Announcement> {
  const { port = Number(OPTIONS.port.default) } = remembered(place)
  const wanted = portOf(flag) ?? port
  const server = service
    ? await startService(place, service)
    : await startServer(place, program, { port: wanted, isFixed: flag !== undefined })
  const { url, pid } = server
  const actual = Number(new URL(url).port)
  printFields([['Server', `${url}, on this machine only (process ${pid})`]])
  if (actual !== wanted && wanted !== 0) {
    note(`Port ${wanted} is used by another program, so the server listens on ${actual} from now on.`)
  }
  remember(place, { port: actual })
  return server
}

function printService({ kind, path, manager }: UserService): void {
  printFields([['Service', `the ${kind} ${path}, which runs whenever you are logged in`]])
  if (manager === 'systemctl') note('To keep it running when you log out: loginctl enable-linger')
}

/** The service, if there is or is to be one. Throws where the system has none. */
function installedService(
  environment: AgentsEnvironment,
  { place, program }: { place: Place; program: readonly string[] },
  { port: flag, service: isWanted = false }: UpFlags,
): UserService | undefined {
  const { port: known = Number(OPTIONS.port.default) } = remembered(place)
  const port = portOf(flag) ?? known
  const service = findService(environment, place, { program, port })
  if (!service || !Bun.which(service.manager)) {
    if (!isWanted) return undefined
    throw new CommandError(
      'Tally cannot install a service on this system. Have the system run `tally up --no-browser` at each login instead.',
      EXIT_USAGE,
    )
  }
  if (isInstalled(service)) return service
  if (!isWanted) return undefined
  // Taken by the server that the service replaces, which is stopped first.
  const isOwn = findServer(place.data)?.endsWith(`:${port}`) ?? false
  return isOwn || flag !== undefined ? service : findService(environment, place, { program, port: freePortFrom(port) })
}

const portOf = (flag: string | undefined) => (flag === undefined ? undefined : readConfig({ port: flag }, {}).port)

function requirePort({ url, pid }: Announcement, { port: flag }: UpFlags): void {
  printFields([['Server', `${url} (process ${pid})`]])
  const port = portOf(flag)
  if (port === undefined || port === 0 || url.endsWith(`:${port}`)) return
  throw new CommandError(`The server runs on ${url}. To move it: tally up --stop, then tally up --port ${port}`)
}

/** The token with which this machine reports, or a new one if that no longer works. */
async function tokenOf(
  place: Place,
  { people }: Services,
  { owner, self, proven }: { owner: User; self: Self; proven: Omit<ClientConfig, 'token'> },
): Promise<string> {
  const { token } = remembered(place)
  if (token !== undefined && (await isAccepted({ ...proven, token }))) return token
  const name = `this machine (${hostname()})`
  const { secret } = await people.createToken({ kind: 'svc', user: owner.uid, name }, self.by)
  remember(place, { token: secret })
  return secret
}

async function isAccepted(server: ClientConfig): Promise<boolean> {
  try {
    return (await readMe(server)).kind === 'service'
  } catch (error) {
    if (error instanceof ServerError && error.status === 401) return false
    throw error instanceof ServerError ? new CommandError(error.message) : error
  }
}

/** What people wait for a browser; then the link is printed as well, as one from snap cannot read a hidden folder. */
const OPENED_MS = 4_000

const POLL_MS = 200

async function signIn(
  place: Place,
  { people }: Services,
  { owner, self, url, isOpened }: { owner: User; self: Self; url: string; isOpened: boolean },
): Promise<void> {
  const { link, isUsed, expiresAt } = await people.createSignInLink(owner.uid, url, self.by)
  const opener = isOpened && process.stdout.isTTY ? findOpener() : undefined
  if (!opener) return printLink(link, url)
  const removeFile = openPrivately(place, opener, link)
  const leave = () => {
    removeFile()
    process.exit(EXIT_INTERRUPTED)
  }
  process.once('SIGINT', leave)
  try {
    const printAt = Date.now() + OPENED_MS
    let isPrinted = false
    while (!(await isUsed())) {
      if (Date.now() >= expiresAt) return
      if (Date.now() >= printAt && !isPrinted) {
        isPrinted = true
        note('No browser has used the link yet.')
        printLink(link, url)
      }
      await Bun.sleep(POLL_MS)
    }
    print(`\nOpened ${url} in your browser, signed in.`)
  } finally {
    process.off('SIGINT', leave)
    removeFile()
  }
}

/** As shells have it for SIGINT. */
const EXIT_INTERRUPTED = 130

function printLink(link: string, url: string): void {
  print(`\nOpen this link within 60 seconds; it works once:\n\n  ${link}\n`)
  const { port } = new URL(url)
  if (isOverSsh()) note(`From your own machine: ssh -L ${port}:127.0.0.1:${port} ${hostname()}`)
}

function printNext(environment: AgentsEnvironment, { data }: Place): void {
  const { command } = calledAs()
  const shown = shownPath(environment, data)
  // A shell expands no quoted `~`.
  const folder = shown.startsWith('~/') && quoted(shown.slice(2)) === shown.slice(2) ? shown : quoted(data)
  print(`Again: ${command} up · Stop: ${command} up --stop · Commands: ${command} --data ${folder} usage`)
}

async function stop(environment: AgentsEnvironment, place: Place): Promise<void> {
  const running = await findProvenServer(place.data)
  const service = findService(environment, place, { program: [], port: 0 })
  if (service && isInstalled(service)) {
    uninstallService(service)
    print(`Removed the ${service.kind} ${service.path}.`)
  }
  if (!running) return print('No server of `tally up` is running.')
  await stopServer(place, running)
  print(
    `Stopped the server (process ${running.pid}). Your data stays in ${place.data}; hooks store new sessions until it runs again.`,
  )
}
