/**
 * A restore after every fault: of the disk, of the files, and of each program that is killed in the middle. What was
 * acknowledged before the backup has to be there again, to pass `tally verify`, and to be served.
 */
import { closeSync, openSync, readdirSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { checkPostgres, Member, makeMembersFolder, run } from './postgres-member.ts'
import { makeToken, postgresMissing } from './postgres-stage.ts'
import { spoilUnsynced, TRACER } from './power-loss.ts'
import {
  checkDatabase,
  EXIT_FATAL,
  installed,
  type Outcome,
  Reporters,
  type Scenario,
  straceMissing,
  Victim,
} from './scenario.ts'
import { fill, smallDiskMissing, withSmallDisk } from './small-disk.ts'

const ROUNDS = { short: 1, long: 10 }

interface Fault {
  name: string
  missingRequirement?: () => string | undefined
  /** The command in front of the server. */
  before?: readonly string[]
  /** Inflicts it on a server under load, which has ended afterwards. */
  inflict(victim: Victim): Promise<void>
}

/** What a fault does to a file of a server that was killed. */
const afterCrash = (name: string, damage: (database: string) => void): Fault => ({
  name,
  async inflict(victim) {
    await victim.server.crash()
    damage(victim.databaseFile)
  },
})

function overwrite(path: string, from: number, bytes: number): void {
  const file = openSync(path, 'r+')
  writeSync(file, crypto.getRandomValues(new Uint8Array(bytes)), 0, bytes, from)
  closeSync(file)
}

const FAULTS: readonly Fault[] = [
  afterCrash('kill -9', () => {}),
  afterCrash('the header is destroyed', (database) => overwrite(database, 0, 100)),
  afterCrash('pages are destroyed', (database) => overwrite(database, 8_192, 65_536)),
  afterCrash('the file is cut in half', (database) => truncateSync(database, statSync(database).size >> 1)),
  afterCrash('the file is empty', (database) => truncateSync(database, 0)),
  afterCrash('the file is removed, and its log left', (database) => rmSync(database)),
  afterCrash('the log is removed', (database) => rmSync(`${database}-wal`, { force: true })),
  afterCrash('the log is destroyed', (database) => overwrite(`${database}-wal`, 0, 4_096)),
  {
    name: 'power loss',
    missingRequirement: straceMissing,
    before: TRACER,
    async inflict(victim) {
      await victim.server.crash()
      const trace = join(victim.installation.folder, 'trace')
      spoilUnsynced(trace, victim.databaseFile)
      spoilUnsynced(trace, `${victim.databaseFile}-wal`, { mayCut: true })
    },
  },
  {
    name: 'fdatasync fails with EIO',
    missingRequirement: straceMissing,
    before: ['strace', '-D', '-f', '-o', '/dev/null', '-e', 'inject=fdatasync:error=EIO:when=400+'],
    async inflict(victim) {
      const code = await victim.server.process.exited
      if (code !== EXIT_FATAL) throw new Error(`The server exited with ${code} when its disk failed`)
    },
  },
]

export const restores: Scenario = {
  name: 'restore after every fault',
  missingRequirement: () => undefined,
  async run(size) {
    const outcome = emptyOutcome()
    const faults = FAULTS.filter(({ missingRequirement }) => !missingRequirement?.())
    for (let round = 0; round < ROUNDS[size]; round += 1) {
      for (const fault of faults) {
        const victim = await Victim.make(size, { before: [...(fault.before ?? [])] })
        try {
          await restoreAfter(victim, fault, outcome)
        } finally {
          await victim.remove()
        }
      }
    }
    if (!smallDiskMissing()) await refuseOnFullDisk(size, outcome)
    return { ...outcome, remark: `${faults.length} faults, and kill -9 of a backup and a restore after each` }
  },
}

const emptyOutcome = () =>
  ({ rounds: 0, acknowledged: 0, lost: 0, duplicated: 0, readyMs: [] as number[] }) satisfies Outcome

async function restoreAfter(victim: Victim, fault: Fault, outcome: ReturnType<typeof emptyOutcome>): Promise<void> {
  await victim.start()
  const before = new Reporters(victim, 'before')
  await before.untilMore(100)
  const saved = new Set(before.acknowledged)
  await killInTheMiddle(victim, ['backup'])
  // The one that was killed may have ended, and have the name of this second.
  await Bun.sleep(1_000)
  await succeed(victim, ['backup'])
  await before.untilMore(50)
  await fault.inflict(victim)
  await before.stop({ giveUp: true })
  victim.installation.before.length = 0
  await killInTheMiddle(victim, RESTORE)
  await succeed(victim, RESTORE)
  await succeed(victim, ['verify'])
  await victim.start()
  const after = new Reporters(victim, 'after')
  await after.untilMore(50)
  await after.stop()
  await victim.server.stop()
  await succeed(victim, ['verify'])
  const { lost, duplicated } = checkDatabase(victim.databaseFile, saved.union(after.acknowledged))
  outcome.rounds += 1
  outcome.acknowledged += saved.size + after.acknowledged.size
  outcome.lost += lost
  outcome.duplicated += duplicated
  outcome.readyMs.push(victim.readyMs.at(-1)!)
}

const RESTORE = ['restore', 'latest', '--replace', '--yes']

async function succeed({ installation }: Victim, args: string[]): Promise<void> {
  const { code, stdout, stderr } = await installation.run(args)
  if (code !== 0) throw new Error(`tally ${args.join(' ')} ended with ${code}: ${stdout}${stderr}`)
}

/** A command takes some 300 ms. */
const KILLED_WITHIN_MS = 400

/** Starts a command, and kills it at some moment, which may be after its end. */
async function killInTheMiddle({ installation }: Victim, args: string[]): Promise<void> {
  const { folder, variables } = installation
  const child = Bun.spawn(['./tally', ...args], {
    cwd: folder,
    env: { PATH: '/usr/bin:/bin', HOME: folder, ...variables },
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  await Bun.sleep(Math.random() * KILLED_WITHIN_MS)
  child.kill('SIGKILL')
  await child.exited
}

/** Room for the executable, and for one more copy of the database. */
const DISK_MEGABYTES = 240

/** The database and its log, and the folder for backups. */
const EXPECTED = /^(tally\.db(-wal|-shm)?|backups)$/

/** Without space, a restore fails, and everything is in the database as it was. */
async function refuseOnFullDisk(size: 'short' | 'long', outcome: ReturnType<typeof emptyOutcome>): Promise<void> {
  await withSmallDisk(DISK_MEGABYTES, async (disk) => {
    const victim = await Victim.make(size, { parent: disk })
    try {
      await victim.start()
      const reporters = new Reporters(victim, 'full')
      await reporters.untilMore(100)
      await succeed(victim, ['backup'])
      await reporters.untilMore(50)
      await reporters.stop()
      await victim.server.stop()
      const filler = join(disk, 'filler')
      fill(filler)
      const { code, stderr } = await victim.installation.run(RESTORE)
      if (code !== 1) throw new Error(`A restore on a full disk ended with ${code}: ${stderr}`)
      rmSync(filler)
      const left = readdirSync(join(victim.installation.folder, 'tally-data')).filter((name) => !EXPECTED.test(name))
      if (left.length > 0) throw new Error(`A restore on a full disk left ${left}`)
      await succeed(victim, ['verify'])
      const { lost, duplicated } = checkDatabase(victim.databaseFile, reporters.acknowledged)
      outcome.rounds += 1
      outcome.acknowledged += reporters.acknowledged.size
      outcome.lost += lost
      outcome.duplicated += duplicated
    } finally {
      await victim.remove()
    }
  })
}

interface PostgresFault {
  name: string
  inflict(member: Member): Promise<void>
}

const POSTGRES_FAULTS: readonly PostgresFault[] = [
  { name: 'kill -9 of PostgreSQL', inflict: (member) => member.crash() },
  {
    name: 'its folder is lost',
    async inflict(member) {
      await member.crash()
      rmSync(member.data, { recursive: true, force: true })
    },
  },
]

/** With PostgreSQL's own tools, as the manual says (docs/operations/postgresql.md). */
export const postgresRestores: Scenario = {
  name: 'PostgreSQL: restore after every fault',
  missingRequirement: postgresMissing,
  async run(size) {
    const outcome = emptyOutcome()
    for (const fault of POSTGRES_FAULTS) {
      const folder = makeMembersFolder()
      const member = new Member(folder, 'data')
      await member.create()
      const installation = await installed(size, { variables: { TALLY_DATABASE_URL: member.url } })
      try {
        const token = await makeToken(installation)
        let server = await installation.serve()
        const before = new Reporters({ server, token }, 'before')
        await before.untilMore(100)
        const saved = new Set(before.acknowledged)
        const dump = join(folder, 'tally.dump')
        await run('pg_dump', '--format=custom', `--file=${dump}`, member.url)
        await before.untilMore(50)
        await fault.inflict(member)
        await before.stop({ giveUp: true })
        await server.crash()
        const other = new Member(folder, 'other')
        await other.create()
        try {
          await run('createdb', '--encoding=UTF8', '--template=template0', '--maintenance-db', other.url, 'restored')
          const url = other.url.replace(/postgres$/, 'restored')
          await run('pg_restore', '--dbname', url, dump)
          installation.variables.TALLY_DATABASE_URL = url
          const verified = await installation.run(['verify'])
          if (verified.code !== 0) throw new Error(`tally verify found: ${verified.stdout}${verified.stderr}`)
          server = await installation.serve()
          const after = new Reporters({ server, token }, 'after')
          await after.untilMore(50)
          await after.stop()
          await server.stop()
          const acknowledged = saved.union(after.acknowledged)
          const { lost, duplicated } = await checkPostgres(url, { ...after, acknowledged })
          outcome.rounds += 1
          outcome.acknowledged += acknowledged.size
          outcome.lost += lost
          outcome.duplicated += duplicated
          outcome.readyMs.push(server.startedInMs)
        } finally {
          await other.crash()
        }
      } finally {
        await installation.remove()
        await member.crash()
        rmSync(folder, { recursive: true, force: true })
      }
    }
    return { ...outcome, remark: POSTGRES_FAULTS.map(({ name }) => name).join(', ') }
  },
}
