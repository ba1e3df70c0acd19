/** The real command line: the executable in an empty folder, with its bytecode, because tests run it a thousand times. */
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { precompiledExecutable, SHORT_RUN } from './binary.ts'
import { type Engine, type Location, newMigrated, testEngine } from './databases.ts'
import { copyStartedTemplate } from './sqlite-template.ts'

/** A server that is not ready by then never will be: one from source, on a busy machine, takes several seconds. */
const READY_DEADLINE_MS = 45_000

export interface Ran {
  code: number
  stdout: string
  stderr: string
}

export interface RunOptions {
  stdin?: string
  env?: Record<string, string>
}

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

  private constructor(
    readonly folder: string,
    readonly executable: string,
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
    const tally = new CommandLine(folder, executable ?? (await precompiledExecutable()), databaseUrl, cleanUps)
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

  #spawn<In extends 'ignore' | Buffer>(args: string[], stdin: In, env: Record<string, string> = {}) {
    return Bun.spawn([this.executable, ...args], {
      cwd: this.folder,
      env: { ...this.env, ...env },
      stdin,
      stdout: 'pipe',
      stderr: 'pipe',
    })
  }

  async run(args: string[], { stdin, env }: RunOptions = {}): Promise<Ran> {
    const child = this.#spawn(args, stdin === undefined ? 'ignore' : Buffer.from(stdin), {
      ...(args[0] !== 'demo' && SHORT_RUN),
      ...env,
    })
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

  /** Starts the server on a free port and waits for the line with its address. */
  async serve(args: string[] = [], env: Record<string, string> = {}): Promise<RunningServer> {
    const child = this.#spawn(['serve', '--port', '0', ...args], 'ignore', env)
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
    for (const server of this.#servers) {
      server.kill('SIGKILL')
      await server.exited
    }
    for (const step of this.cleanUps) await step()
    await rm(this.folder, { recursive: true, force: true })
  }
}
