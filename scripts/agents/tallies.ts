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
  started_at: string
  slice: { day: string; estimated: boolean } | null
  ticket: { key: string } | null
  labels: Record<string, string>
}

/** A request of telemetry. */
interface Pushed {
  path: string
  headers: Headers
  body: string | Uint8Array<ArrayBuffer>
}

export class Tally {
  readonly #known = new Set<string>()
  #pushed: Pushed[] = []
  /** Added to the times of telemetry in JSON, for an agent whose clock cannot be moved. */
  shiftMs = 0
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
    await installation.runJson(['projects', 'add', 'ACME'])
    await installation.runJson(RULE)
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
        const { method, url } = request
        const headers = new Headers(request.headers)
        const { pathname, search } = new URL(url)
        const bytes = new Uint8Array(await request.arrayBuffer())
        const body = this.shiftMs === 0 ? bytes : shiftedTimes(new TextDecoder().decode(bytes), this.shiftMs)
        if (pathname.includes('/telemetry/')) this.#pushed.push({ path: pathname, headers, body })
        headers.delete('content-length')
        return fetch(this.server.url + pathname + search, { method, headers, ...(body.length > 0 ? { body } : {}) })
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
    for (const entry of await this.#fresh()) {
      const { model, tokens, requests, service_tier, speed, list_value } = entry
      if (COUNTS.every((count) => tokens[count] === 0)) continue
      const key = [placeOf(entry), model, service_tier, speed].filter(Boolean).join(' ')
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

  async sessions(): Promise<Set<string>> {
    return new Set((await this.#fresh()).map(({ session_id }) => session_id))
  }

  /** What is the same in every order of arrival, one line per entry. */
  async lines(): Promise<string[]> {
    const used = (await this.#fresh()).filter(({ tokens }) => COUNTS.some((count) => tokens[count] > 0))
    return used
      .map(({ slice, ...entry }) => {
        const figures = [...COUNTS.map((count) => entry.tokens[count]), entry.requests, entry.list_value]
        return `${placeOf({ slice, ...entry })} ${entry.model} ${figures}${slice?.estimated ? ' estimated' : ''}`
      })
      .sort()
  }

  /** Leaves out what has been counted and pushed so far. */
  async forget(): Promise<void> {
    for (const { id } of await this.#fresh()) this.#known.add(id)
    this.#pushed = []
  }

  /** Pushes the telemetry of another server since its last {@link forget} to this one. */
  async pushAgain({ telemetry }: { telemetry: Tally }): Promise<void> {
    for (const { path, headers, body } of telemetry.#pushed) {
      headers.set('authorization', `Bearer ${this.tokens.org}`)
      const answer = await fetch(this.server.url + path, { method: 'POST', headers, body })
      if (!answer.ok) console.log(`${path} returned ${answer.status}: ${await answer.text()}`)
    }
  }

  async #fresh(): Promise<Entry[]> {
    const answer = await this.server.call('GET', '/api/v1/token-entries?limit=200', { token: this.tokens.read })
    return ((await answer.json()) as { data: Entry[] }).data.filter(({ id }) => !this.#known.has(id))
  }

  async stop(): Promise<void> {
    await this.#door.stop(true)
    await this.server.stop()
    await this.installation.remove()
  }
}

/** As in the manual. */
const RULE = [
  ...['rules', 'add', '--name', 'ACME by branch', '--when', 'labels.branch=/(?<ticket>ACME-[0-9]+)/'],
  ...['--project', 'ACME', '--ticket', '{ticket}'],
]

function placeOf({ slice, started_at, labels, ticket }: Entry): string {
  return [slice?.day ?? started_at.slice(0, 10), labels.branch, ticket?.key].filter(Boolean).join(' ')
}

/** The text with other ISO times. */
export function shiftedTimes(text: string, ms: number): string {
  return text.replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, (time) =>
    JSON.stringify(new Date(Date.parse(JSON.parse(time)) + ms).toISOString()),
  )
}
