/** Agents that report sessions over many connections, each again until it is acknowledged: also by a server that is killed. */

/** A call that takes longer is repeated: the server may have died before it responded. */
const CALL_TIMEOUT_MS = 10_000

const RETRY_MS = 10

const NANOS_PER_DOLLAR = 1_000_000_000

export interface LoadTarget {
  /** Of the server, or of several that take turns. */
  urls: readonly string[]
  token: string
  connections: number
  /** What the ids of its sessions begin with. */
  name: string
}

export class SessionLoad {
  /** The number of reports that were acknowledged. */
  acknowledged = 0
  /** What these reports cost, in nano-dollars. */
  costNanos = 0n
  /** Calls without a response, or with that of a server that is starting or stopping. */
  failures = 0
  #next = 0
  #released = 0

  constructor(readonly target: LoadTarget) {}

  /** Sends more reports, of sessions that nobody has reported yet, and resolves when all of them are acknowledged. */
  async send(reports: number): Promise<void> {
    this.#released += reports
    await Promise.all(Array.from({ length: this.target.connections }, () => this.#sendReleased()))
  }

  /** Resolves when so many are acknowledged altogether. */
  async until(acknowledged: number): Promise<void> {
    while (this.acknowledged < acknowledged) await Bun.sleep(1)
  }

  async #sendReleased(): Promise<void> {
    while (this.#next < this.#released) {
      const number = this.#next
      this.#next += 1
      // Costs that differ, so that one that is missing can't be made up for by one that is there twice.
      const costNanos = NANOS_PER_DOLLAR / 100 + number
      while (!(await this.#report(number, costNanos))) {
        this.failures += 1
        await Bun.sleep(RETRY_MS)
      }
      this.acknowledged += 1
      this.costNanos += BigInt(costNanos)
    }
  }

  async #report(number: number, costNanos: number): Promise<boolean> {
    const { urls, token, name } = this.target
    let response: Response
    try {
      response = await fetch(`${urls[number % urls.length]}/api/v1/token-entries`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          agent_harness: 'codex',
          agent_name: 'builder',
          model: 'gpt-5-codex',
          session_id: `${name}-${number}`,
          started_at: '2026-11-20T10:00:00Z',
          ended_at: '2026-11-20T11:00:00Z',
          tokens: { input: 10, output: 5 },
          reported_cost: costNanos / NANOS_PER_DOLLAR,
        }),
        signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
      })
      await response.arrayBuffer()
    } catch {
      return false
    }
    if (response.status >= 400 && response.status < 500) throw new Error(`A report was refused: ${response.status}.`)
    return response.ok
  }
}
