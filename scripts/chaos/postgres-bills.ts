/** Servers and connections are killed while bills are sent: their numbers must have no gap, and none is used twice. */
import type { clientFor } from '../../test/support/postgres-server.ts'
import { postgresMissing, Stage, terminateBackends } from './postgres-stage.ts'
import { Reporters, refusalsOf, type Scenario } from './scenario.ts'

const ROUNDS = { short: 1, long: 100 }

/** People who send bills at the same time, each of a project of their own. */
const SENDERS = 4

const RETRY_MS = 25

/** A call that takes longer is aborted and repeated. */
const CALL_TIMEOUT_MS = 15_000

export const billsMeanwhile: Scenario = {
  name: 'PostgreSQL: servers and connections killed while bills are sent',
  missingRequirement: postgresMissing,
  async run(size) {
    const stage = await Stage.make(size)
    const sql = stage.admin()
    try {
      for (let sender = 0; sender < SENDERS; sender += 1) {
        await stage.places[0]!.installation.runJson(['projects', 'add', `P${sender}`, '--name', `Project ${sender}`])
      }
      const reporters = new Reporters(stage, 'bills', 8)
      const senders = Array.from({ length: SENDERS }, (_, sender) => new BillSender(stage, `P${sender}`))
      for (let round = 0; round < ROUNDS[size]; round += 1) {
        await senders[round % SENDERS]!.untilMore(1)
        if (round % 2 === 0) await stage.crashOne()
        else await terminateBackends(sql, 4)
      }
      await Promise.all(senders.map((sender) => sender.stop()))
      const verdict = await stage.verdict(reporters)
      const sent = senders.flatMap((sender) => sender.numbers)
      return {
        rounds: ROUNDS[size],
        ...verdict,
        readyMs: stage.readyMs,
        remark: `${await checkNumbers(sql, sent)}; ${refusalsOf(reporters, { mayLoseConnections: true })}`,
      }
    } finally {
      await sql.end()
      await stage.remove()
    }
  },
}

/** Reports an entry, sends a bill of it, and so on; repeats each call until it is answered. */
class BillSender {
  readonly numbers: string[] = []
  #isSending = true
  readonly #running: Promise<void>

  constructor(
    readonly stage: Stage,
    readonly project: string,
  ) {
    this.#running = this.#send()
    // Awaited by `stop`.
    this.#running.catch(() => undefined)
  }

  async untilMore(bills: number): Promise<void> {
    const target = this.numbers.length + bills
    const more = async () => {
      while (this.numbers.length < target) await Bun.sleep(5)
    }
    await Promise.race([more(), this.#running])
  }

  async stop(): Promise<void> {
    this.#isSending = false
    await this.#running
  }

  async #send(): Promise<void> {
    for (let number = 0; this.#isSending; number += 1) {
      const key = `${this.project}-${number}`
      await this.#repeat('/api/v1/token-entries', key, {
        agent_harness: 'chaos',
        agent_name: 'chaos',
        model: 'claude-sonnet-4-5',
        project: this.project,
        started_at: '2026-10-20T10:00:00Z',
        ended_at: '2026-10-20T10:30:00Z',
        tokens: { input: 1200, output: 340 },
        reported_cost: 0.01,
        summary: key,
      })
      const bill = await this.#repeat<{ number: string }>('/api/v1/bills', key, {
        month: '2026-10',
        project: this.project,
        currency: 'USD',
      })
      this.numbers.push(bill.number)
    }
  }

  async #repeat<Answer>(path: string, key: string, body: unknown): Promise<Answer> {
    for (;;) {
      try {
        const response = await fetch(this.stage.server.url + path, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${this.stage.token}`,
            'content-type': 'application/json',
            'idempotency-key': key,
          },
          body: JSON.stringify(body),
          signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
        })
        const answer = await response.text()
        if (response.ok) return JSON.parse(answer)
        if (response.status !== 503) throw new Refused(`${path} was refused: ${answer}`)
      } catch (error) {
        if (error instanceof Refused) throw error
      }
      await Bun.sleep(RETRY_MS)
    }
  }
}

class Refused extends Error {}

/** Throws unless the bills are exactly those that were answered, with the numbers from 1 on, and each entry is on one. */
async function checkNumbers(sql: ReturnType<typeof clientFor>, sent: readonly string[]): Promise<string> {
  const numbers = (await sql<{ number: string }[]>`SELECT number FROM bills`).map(({ number }) => number)
  const sequences = numbers.map((number) => Number(number.split('-')[1])).sort((one, other) => one - other)
  const gaps = sequences.filter((sequence, index) => sequence !== index + 1).length
  const missing = new Set(sent).difference(new Set(numbers)).size
  if (gaps > 0 || missing > 0 || new Set(sent).size !== sent.length || numbers.length !== sent.length) {
    throw new Error(`${sent.length} bills were answered, ${missing} of them are missing, ${gaps} numbers have a gap`)
  }
  const twice = await sql`SELECT entry_id FROM bill_entries GROUP BY entry_id HAVING count(*) > 1`
  if (twice.length > 0) throw new Error(`${twice.length} entries are on two bills`)
  return `${numbers.length} bills, numbered without a gap`
}
