/** A server of Tally for each way in which usage arrives, so that none hides the mistakes of another. */
import { Installation, type Server } from '../../test/support/binary.ts'
import { COUNTS, type Sums } from './ledger.ts'

interface Entry {
  id: string
  session_id: string
  model: string
  tokens: Record<(typeof COUNTS)[number], number>
  requests: number | null
  service_tier?: string | null
  speed?: string | null
  list_value: number | null
}

export class Tally {
  readonly #known = new Set<string>()
  /** Passes requests on while Tally is reachable. */
  #door: Bun.Server<undefined>

  private constructor(
    readonly installation: Installation,
    readonly server: Server,
    readonly tokens: { svc: string; org: string; read: string },
  ) {
    this.#door = this.#open(0)
  }

  static async start(): Promise<Tally> {
    const installation = await Installation.make()
    const server = await installation.serve()
    await installation.addUser('boss@example.com', 'admin')
    const tokenOf = async (kind: 'svc' | 'org' | 'read') =>
      (await installation.createToken(kind, 'boss@example.com')).token
    return new Tally(installation, server, {
      svc: await tokenOf('svc'),
      org: await tokenOf('org'),
      read: await tokenOf('read'),
    })
  }

  get url(): string {
    return `http://127.0.0.1:${this.#door.port}`
  }

  #open(port: number): Bun.Server<undefined> {
    return Bun.serve({
      hostname: '127.0.0.1',
      port,
      fetch: async (request) => {
        const { pathname, search } = new URL(request.url)
        const body = await request.arrayBuffer()
        return fetch(this.server.url + pathname + search, {
          ...{ method: request.method, headers: request.headers },
          ...(body.byteLength > 0 ? { body } : {}),
        })
      },
    })
  }

  async setReachable(isReachable: boolean): Promise<void> {
    const { port } = this.#door
    await this.#door.stop(true)
    if (isReachable) this.#door = this.#open(port!)
  }

  /** Runs a command of Tally on an agent's machine. */
  async run(home: string, args: string[], { input = '', ...variables }: Record<string, string> = {}): Promise<void> {
    const child = Bun.spawn([`${this.installation.folder}/tally`, ...args], {
      ...{ cwd: home, stdin: Buffer.from(input), stdout: 'pipe', stderr: 'pipe' },
      env: { PATH: process.env.PATH!, HOME: home, ...variables },
    })
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    if (code !== 0) console.log(`tally ${args.join(' ')} exited with ${code}:\n${stdout}${stderr}`)
  }

  /** What was counted since the last call of {@link forget}. */
  async sums(): Promise<Sums> {
    const sums: Sums = {}
    for (const entry of await this.#entries()) {
      if (this.#known.has(entry.id)) continue
      const { model, tokens, requests, service_tier, speed, list_value } = entry
      const key = [model, service_tier, speed].filter(Boolean).join(' ')
      sums[key] ??= { requests: 0, input: 0, output: 0, cache_read: 0, cache_write: 0, cache_write_1h: 0, nanos: '0' }
      const sum = sums[key]
      sum.requests += requests ?? 0
      for (const count of COUNTS) sum[count] += tokens[count]
      sum.nanos =
        sum.nanos === null || list_value === null
          ? null
          : String(BigInt(sum.nanos) + BigInt(Math.round(list_value * 1e9)))
    }
    return sums
  }

  /** Leaves out what has been counted so far, and returns its sessions. */
  async forget(): Promise<Set<string>> {
    const fresh = (await this.#entries()).filter(({ id }) => !this.#known.has(id))
    for (const { id } of fresh) this.#known.add(id)
    return new Set(fresh.map(({ session_id }) => session_id))
  }

  async #entries(): Promise<Entry[]> {
    const answer = await this.server.call('GET', '/api/v1/token-entries?limit=200', { token: this.tokens.read })
    return ((await answer.json()) as { data: Entry[] }).data
  }

  async stop(): Promise<void> {
    await this.#door.stop(true)
    await this.server.stop()
    await this.installation.remove()
  }
}
