/** Tally's executable as downloaded: alone in a folder, without the sources. Also used by the benchmarks. */
import { copyFile, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copyStartedTemplate } from './sqlite-template.ts'

const ROOT = join(import.meta.dir, '../..')
const BUILT = join(ROOT, 'dist/tally')
const PRECOMPILED = join(ROOT, 'dist/precompiled/tally')

/** A server that is not ready by then never will be, also on a machine that is busy with other tests. */
const READY_DEADLINE_MS = 60_000

/** The path of the executable, rebuilt if any of its sources is newer. */
export async function builtExecutable(): Promise<string> {
  await buildIfOlder(BUILT, [])
  return BUILT
}

/** The same program with its bytecode, which starts in half of the time: for tests that run hundreds of commands. */
export async function precompiledExecutable(): Promise<string> {
  await buildIfOlder(PRECOMPILED, ['--precompiled'])
  return PRECOMPILED
}

/**
 * Most processes of tests end before code that is compiled once more for speed repays that, which takes a fourth of the
 * processor time of a command, and half of that of a server that is started and killed.
 */
export const SHORT_RUN = { BUN_JSC_useDFGJIT: '0' }

let slowProgram: Promise<{ slowProgram?: string[] }> | undefined

/**
 * The option of `openDatabase` with which its processes for slow reads run that program, if it has been built since the
 * last change: from source, each takes six times the processor time to start.
 */
export function fastSlowProgram(): Promise<{ slowProgram?: string[] }> {
  slowProgram ??= isCurrent(PRECOMPILED).then((is) => (is ? { slowProgram: [PRECOMPILED, 'slow-reads'] } : {}))
  return slowProgram
}

async function isCurrent(executable: string): Promise<boolean> {
  const built = await stat(executable).catch(() => undefined)
  return built !== undefined && built.mtimeMs >= (await newestSource())
}

async function buildIfOlder(executable: string, flags: string[]): Promise<void> {
  if (await isCurrent(executable)) return
  const command = [process.execPath, join(ROOT, 'scripts/build.ts'), ...flags]
  const build = Bun.spawn(command, { stdout: 'ignore', stderr: 'pipe' })
  const [errors, code] = await Promise.all([new Response(build.stderr).text(), build.exited])
  if (code !== 0) throw new Error(`The build failed:\n${errors}`)
}

async function newestSource(): Promise<number> {
  let newest = 0
  for await (const path of new Bun.Glob('{src,migrations}/**/*').scan({ cwd: ROOT })) {
    newest = Math.max(newest, (await stat(join(ROOT, path))).mtimeMs)
  }
  for (const path of ['package.json', 'bun.lock', 'scripts/build.ts']) {
    newest = Math.max(newest, (await stat(join(ROOT, path))).mtimeMs)
  }
  return newest
}

/** A port of the loopback address that is not in use. */
export function freePort(): number {
  const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  probe.stop(true)
  return probe.port
}

export interface Ran {
  code: number
  stdout: string
  stderr: string
}

export interface InstallationOptions {
  /** The command in front of the executable, such as strace. */
  before?: string[] | undefined
  /** Of its folder. */
  parent?: string | undefined
  /** Variables of its environment. */
  variables?: Record<string, string> | undefined
  /** Another executable than that of these sources. */
  executable?: string | undefined
}

/** A folder that contains only the executable. */
export class Installation {
  private constructor(
    readonly folder: string,
    /** The command in front of the executable, such as strace. */
    readonly before: string[],
    /** Variables of its environment. */
    readonly variables: Record<string, string>,
  ) {}

  static async make({
    before = [],
    parent = tmpdir(),
    variables = {},
    executable,
  }: InstallationOptions = {}): Promise<Installation> {
    const folder = await mkdtemp(join(parent, 'tally-alone-'))
    await copyFile(executable ?? (await builtExecutable()), join(folder, 'tally'))
    return new Installation(folder, before, variables)
  }

  /**
   * The same program for tests that do not depend on how it was built, with a database of a server that was only started:
   * it starts and runs with half of the processor time.
   */
  static async brief({
    variables = {},
    ...options
  }: Pick<InstallationOptions, 'before' | 'parent' | 'variables'> = {}) {
    const executable = await precompiledExecutable()
    const installation = await Installation.make({ ...options, executable, variables: { ...SHORT_RUN, ...variables } })
    if (!variables.TALLY_DATABASE_URL) await copyStartedTemplate(join(installation.folder, 'tally-data'))
    return installation
  }

  /** The executable gets nothing of the surrounding environment, such as a TALLY_DATA or a NODE_OPTIONS. */
  get #surroundings() {
    return { cwd: this.folder, env: { PATH: '/usr/bin:/bin', HOME: this.folder, ...this.variables } }
  }

  /** Runs a command to its end. */
  async run(args: string[], input = ''): Promise<Ran> {
    const child = Bun.spawn(['./tally', ...args], {
      ...this.#surroundings,
      stdin: Buffer.from(input),
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    return { code, stdout, stderr }
  }

  /** Runs a command that must succeed, and returns the JSON that it prints. */
  async runJson<Answer>(args: string[]): Promise<Answer> {
    const { code, stdout, stderr } = await this.run([...args, '--json'])
    if (code !== 0) throw new Error(`tally ${args.join(' ')} ended with ${code}: ${stderr}`)
    return JSON.parse(stdout)
  }

  addUser(email: string, role: 'admin' | 'billing' | 'member'): Promise<{ id: string }> {
    return this.runJson(['users', 'add', '--email', email, '--name', email.split('@')[0]!, '--role', role])
  }

  /** @param flags further ones of `tally tokens create` */
  createToken(
    kind: 'svc' | 'read' | 'org',
    user: string,
    flags: string[] = [],
  ): Promise<{ id: string; token: string }> {
    return this.runJson(['tokens', 'create', '--kind', kind, '--user', user, '--name', `${kind} of ${user}`, ...flags])
  }

  /** Starts the server, which may never become ready. */
  launch(args: string[] = [], port = freePort()): Server {
    const child = Bun.spawn([...this.before, './tally', 'serve', '--port', String(port), ...args], {
      ...this.#surroundings,
      stdin: 'ignore',
      stdout: Bun.file(join(this.folder, 'server.log')),
      stderr: Bun.file(join(this.folder, 'server-errors.log')),
    })
    return new Server(`http://127.0.0.1:${port}`, child, this.folder)
  }

  /**
   * Starts the server and waits until it is ready. Without a port, the server takes a free one itself where its log says
   * which: one that is chosen for it may be in use by the time that it has started.
   */
  async serve(args: string[] = [], port?: number): Promise<Server> {
    const startedAt = performance.now()
    const isLogged = this.before.length === 0 && !args.includes('--log-level')
    const server = this.launch(args, port ?? (isLogged ? 0 : freePort()))
    await server.untilReady()
    server.startedInMs = performance.now() - startedAt
    return server
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true })
  }
}

/** A running server. */
export class Server {
  startedInMs = 0

  constructor(
    /** Without the port until the server has taken one. */
    public url: string,
    readonly process: Bun.Subprocess,
    readonly folder: string,
  ) {}

  async untilReady(): Promise<void> {
    const deadline = performance.now() + READY_DEADLINE_MS
    while (performance.now() < deadline && this.process.exitCode === null) {
      if (this.url.endsWith(':0')) this.url = (await this.#loggedUrl()) ?? this.url
      else if ((await fetch(`${this.url}/ready`).catch(() => undefined))?.ok) return
      // Short, because the benchmark measures startup time with it.
      await Bun.sleep(5)
    }
    const log = await this.log()
    this.process.kill('SIGKILL')
    throw new Error(`The server did not become ready in ${READY_DEADLINE_MS / 1000} s:\n${log}`)
  }

  /** The address that it takes requests at. The server before it wrote to the same file. */
  async #loggedUrl(): Promise<string | undefined> {
    return new RegExp(`"pid":${this.process.pid},.*ready on (http:[^"]+)"`).exec(await this.log())?.[1]
  }

  /** Everything it wrote to both outputs. */
  async log(): Promise<string> {
    const read = (name: string) => Bun.file(join(this.folder, name)).text()
    return (await read('server.log')) + (await read('server-errors.log'))
  }

  call(method: string, path: string, { token, body }: { token?: string; body?: unknown } = {}): Promise<Response> {
    return fetch(this.url + path, {
      method,
      headers: {
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }

  /** Stops it gracefully, and returns its exit code and how long that took. */
  async stop(): Promise<{ code: number; tookMs: number }> {
    const startedAt = performance.now()
    this.process.kill('SIGTERM')
    const code = await this.process.exited
    return { code, tookMs: performance.now() - startedAt }
  }

  /** Kills it, like a crash of the machine. */
  async crash(): Promise<void> {
    this.process.kill('SIGKILL')
    await this.process.exited
  }
}
