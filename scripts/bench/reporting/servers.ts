/** One Tally server or several on the same database, which a load is put on. */
import { Installation, type Server } from '../../../test/support/binary.ts'
import {
  familyProcessorSeconds,
  peakMegabytes,
  residentMegabytes,
  wrappedProcess,
  writtenBytes,
} from '../process-metrics.ts'
import type { BenchmarkDatabase } from './databases.ts'

export interface ServersOptions {
  parent: string
  database: BenchmarkDatabase
  count: number
  /** Another executable than that of the work tree. */
  executable?: string | undefined
  /** The command in front of the executable, such as strace. */
  before?: string[]
  /** Of the environment, besides those of the database. */
  variables?: Record<string, string>
}

export class TallyServers {
  #running: Server[] = []

  private constructor(
    readonly database: BenchmarkDatabase,
    readonly installations: readonly Installation[],
  ) {}

  /** The stack stops and removes them. */
  static async install(
    { parent, database, count, executable, before = [], variables = {} }: ServersOptions,
    stack: AsyncDisposableStack,
  ): Promise<TallyServers> {
    const installations: Installation[] = []
    for (let number = 0; number < count; number++) {
      const surroundings = { ...database.variables, ...variables }
      const installation = await Installation.make({ parent, before, executable, variables: surroundings })
      installations.push(stack.adopt(installation, () => installation.remove()))
    }
    const servers = new TallyServers(database, installations)
    stack.defer(() => servers.#kill())
    return servers
  }

  /** Creates the token that reports are sent with, of a new admin or of this person. */
  async createToken(person?: string): Promise<string> {
    const [installation] = this.installations
    const email = person ?? 'bench@example.com'
    if (person === undefined) await installation!.addUser(email, 'admin')
    return (await installation!.createToken('svc', email)).token
  }

  /** Applies the migrations of this version, which may take longer than a server is given to start. */
  async migrate(): Promise<void> {
    const { code, stderr } = await this.installations[0]!.run(['users', 'list'])
    if (code !== 0) throw new Error(`The database could not be opened: ${stderr}`)
  }

  /** Returns the milliseconds until the slowest was ready. */
  async start(): Promise<number> {
    for (const installation of this.installations) this.#running.push(await installation.serve())
    return Math.max(...this.#running.map(({ startedInMs }) => startedInMs))
  }

  /** Stops the wrapped processes: stopping strace would only detach it. */
  async stop(): Promise<void> {
    this.#signal('SIGTERM')
    await this.#ended()
  }

  /** Keeps them from working until they are resumed, so that nothing they do later affects what is measured now. */
  pause(): void {
    this.#signal('SIGSTOP')
  }

  resume(): void {
    this.#signal('SIGCONT')
  }

  get ports(): number[] {
    return this.#running.map(({ url }) => Number(new URL(url).port))
  }

  get count(): number {
    return this.installations.length
  }

  /** The following are sums over all servers. */
  processorSeconds(): number {
    return this.#sum(familyProcessorSeconds)
  }

  writtenBytes(): number {
    return this.#sum(writtenBytes)
  }

  residentMegabytes(): number {
    return this.#sum(residentMegabytes)
  }

  peakMegabytes(): number {
    return this.#sum(peakMegabytes)
  }

  #sum(metricOf: (pid: number) => number): number {
    return this.pids().reduce((sum, pid) => sum + metricOf(pid), 0)
  }

  pids(): number[] {
    return this.#running.map(({ process: { pid } }) => wrappedProcess(pid))
  }

  #signal(signal: NodeJS.Signals): void {
    for (const pid of this.pids()) process.kill(pid, signal)
  }

  async #ended(): Promise<void> {
    await Promise.all(this.#running.map((server) => server.process.exited))
    this.#running = []
  }

  async #kill(): Promise<void> {
    for (const server of this.#running) {
      if (server.process.exitCode === null) process.kill(wrappedProcess(server.process.pid), 'SIGKILL')
    }
    await this.#ended()
  }
}
