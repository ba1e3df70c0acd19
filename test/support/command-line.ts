/**
 * The command line in an empty folder with a database of its own. A command runs in this process, by the function that the
 * executable calls; where the process itself is the point (signals, several at once, a server), it is one of the real
 * executable, with its bytecode. With TALLY_TEST_COMMANDS=process, every command is.
 */
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestApp } from './app.ts'
import { precompiledExecutable, SHORT_RUN } from './binary.ts'
import { type Engine, type Location, newMigrated, testEngine } from './databases.ts'
import { runInProcess } from './in-process.ts'
import { copyStartedTemplate } from './sqlite-template.ts'

/** A server that is not ready by then never will be: one from source, on a busy machine, takes several seconds. */
const READY_DEADLINE_MS = 45_000

const NO_APP_BESIDE_PROCESSES = 'The application in this process and a server cannot use one database.'

export interface Ran {
  code: number
  stdout: string
  stderr: string
}

export interface RunOptions {
  stdin?: string
  /** The width of the terminal that it runs on, which only a command in this process can have; without one by default. */
  columns?: number
  env?: Record<string, string>
  /** Where it runs, if not in the folder of the database. */
  folder?: string
  /** Whether it is a process of the executable, in every run of the tests. */
  asProcess?: boolean
}

/** Whether every command is a process of the executable. */
const AS_PROCESSES = process.env.TALLY_TEST_COMMANDS === 'process'

export interface RunningServer {
  url: string
  process: Bun.Subprocess<'ignore', 'pipe', 'pipe'>
  /** Everything on standard output so far. */
  output(): string
  /** Waits for the pattern, and returns the match. */
  untilPrinted(pattern: RegExp): Promise<string>
  /** Sends SIGTERM and returns the exit code. */
  stop(): Promise<number>
}

export class CommandLine {
  readonly #servers: Bun.Subprocess[] = []
  #app: Promise<TestApp> | undefined

  private constructor(
    readonly folder: string,
    /** Another program than this version of Tally. */
    readonly program: string | undefined,
    readonly databaseUrl: string | undefined,
    readonly cleanUps: (() => Promise<void>)[],
  ) {}

  /** With a new database of the engine in the default folder. */
  static async make({
    engine = testEngine,
    executable,
    isFirst = false,
  }: {
    engine?: Engine
    /** Whether there is no database yet: on SQLite, the first command creates it. */
    isFirst?: boolean
    /** Another program than this version of Tally. */
    executable?: string
  } = {}): Promise<CommandLine> {
    // The real path, because processes report their working folder like this.
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'tally-cli-')))
    const cleanUps: (() => Promise<void>)[] = []
    const { databaseUrl } = engine === 'postgres' ? await newMigrated(engine, cleanUps) : {}
    const tally = new CommandLine(folder, executable, databaseUrl, cleanUps)
    if (engine === 'sqlite' && !isFirst && !executable) await copyStartedTemplate(tally.dataDir)
    return tally
  }

  /** Where its database is. */
  get location(): Location {
    return { dataDir: this.dataDir, databaseUrl: this.databaseUrl }
  }

  /** The default folder of the database. */
  get dataDir(): string {
    return join(this.folder, 'tally-data')
  }

  /** The environment of its commands, which get nothing of the surrounding one, such as a TALLY_DATA. */
  get env(): Record<string, string> {
    return {
      PATH: process.env.PATH!,
      HOME: this.folder,
      NO_COLOR: '1',
      ...(this.databaseUrl && { TALLY_DATABASE_URL: this.databaseUrl }),
    }
  }

  /** What a process of Tally runs, which is built when it is first needed. */
  async executable(): Promise<string> {
    return this.program ?? (await precompiledExecutable())
  }

  /** Starts a process of Tally; `env` is added to its environment. */
  async spawn<In extends 'ignore' | Buffer>(
    args: string[],
    stdin: In,
    env: Record<string, string> = {},
    folder = this.folder,
  ) {
    return Bun.spawn([await this.executable(), ...args], {
      cwd: folder,
      env: { ...this.env, ...env },
      stdin,
      stdout: 'pipe',
      stderr: 'pipe',
    })
  }

  async run(
    args: string[],
    { stdin, columns, env, folder = this.folder, asProcess = AS_PROCESSES }: RunOptions = {},
  ): Promise<Ran> {
    if (columns !== undefined) asProcess = false
    if (!asProcess && !this.program && !isOfProcesses(args)) {
      return runInProcess(args, { folder, env: { ...this.env, ...env }, stdin: stdin ?? '', columns })
    }
    const given = stdin === undefined ? 'ignore' : Buffer.from(stdin)
    const child = await this.spawn(args, given, { ...(args[0] !== 'demo' && SHORT_RUN), ...env }, folder)
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    return { code, stdout, stderr }
  }

  /** Runs a command that must succeed. */
  async done(args: string[], options: RunOptions = {}): Promise<Ran> {
    const ran = await this.run(args, options)
    if (ran.code !== 0) throw new Error(`tally ${args.join(' ')} ended with ${ran.code}: ${ran.stderr}`)
    return ran
  }

  /**
   * Runs a command that must succeed, and returns the JSON that it prints. Not typed: a test asserts what it relies on.
   */
  // biome-ignore lint/suspicious/noExplicitAny: what commands print as JSON
  async json(args: string[], options: RunOptions = {}): Promise<any> {
    return JSON.parse((await this.done([...args, '--json'], options)).stdout)
  }

  async addUser(email = 'ada@example.com', role = 'admin'): Promise<string> {
    return (await this.json(['users', 'add', '--email', email, '--name', email.split('@')[0]!, '--role', role])).id
  }

  async createToken(kind = 'svc', user = 'ada@example.com'): Promise<{ id: string; token: string }> {
    return this.json(['tokens', 'create', '--kind', kind, '--user', user, '--name', 'ci'])
  }

  /**
   * The application in this process, on the same database: for tests of commands beside a server. It has the routes of one,
   * but none of its tasks. No process may open the database then: a command in this process that closes its files
   * releases the locks of the application on them, because POSIX has one lock per process and file.
   */
  app(): Promise<TestApp> {
    if (this.#servers.length > 0) throw new Error(NO_APP_BESIDE_PROCESSES)
    this.#app ??= this.#startApp()
    return this.#app
  }

  async #startApp(): Promise<TestApp> {
    // Imported only where needed, because to read all routes takes a second.
    const { startApp } = await import('./app.ts')
    const app = await startApp({ at: this.location })
    // As a server does first; a new database in PostgreSQL is empty.
    await app.services.prices.loadDefaultPrices()
    return app
  }

  /** Starts the server on a free port and waits for the line with its address. */
  async serve(args: string[] = [], env: Record<string, string> = {}): Promise<RunningServer> {
    if (this.#app) throw new Error(NO_APP_BESIDE_PROCESSES)
    const child = await this.spawn(['serve', '--port', '0', ...args], 'ignore', { ...SHORT_RUN, ...env })
    this.#servers.push(child)
    let output = ''
    const reading = (async () => {
      for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) output += text
    })()
    const untilPrinted = async (pattern: RegExp) => {
      const deadline = performance.now() + READY_DEADLINE_MS
      while (true) {
        const found = pattern.exec(output)
        if (found) return found[1] ?? found[0]
        if (child.exitCode !== null || performance.now() > deadline) {
          child.kill('SIGKILL')
          throw new Error(`The server did not print ${pattern}: ${output}${await new Response(child.stderr).text()}`)
        }
        await Bun.sleep(5)
      }
    }
    return {
      url: await untilPrinted(/"msg":"tally is ready on (http:[^"]+)"/),
      process: child,
      output: () => output,
      untilPrinted,
      async stop() {
        child.kill('SIGTERM')
        const code = await child.exited
        await reading
        return code
      },
    }
  }

  async remove(): Promise<void> {
    await (await this.#app)?.close()
    for (const server of this.#servers) {
      server.kill('SIGKILL')
      await server.exited
    }
    for (const step of this.cleanUps) await step()
    await rm(this.folder, { recursive: true, force: true })
  }
}

/** What ends its process or is answered by `src/main.ts` itself, and what leaves the database to a thread that ends later. */
function isOfProcesses([command, sub = '']: string[]): boolean {
  if (command === 'backup') return !['keygen', 'list', 'verify'].includes(sub)
  return command === 'serve' || command === 'up' || (command === 'agents' && sub === 'hook')
}
