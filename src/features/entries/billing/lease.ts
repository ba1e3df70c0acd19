/**
 * Claiming and releasing the entries of a large bill in several short transactions, so that reports are recorded in
 * between (docs/design/bills.md#large-bills).
 *
 * One bill at a time has the lease, in all processes. While it does, its entries have the status `billed`, so that
 * nothing changes them, but to everyone they are what they were before: those who ask for statuses wait, and lists show
 * the status before. A process that stops loses the lease, and another one, or its next start, releases the entries.
 */
import { type Actor, TALLY } from '../../../access/actor.ts'
import type { Database, Tx } from '../../../database/database.ts'
import { databaseBusy } from '../../../database/errors.ts'
import type { Clock } from '../../../lib/clock.ts'
import { Job } from '../../../lib/jobs.ts'
import { releaseEntries } from './release.ts'
import { getBill, getLease, type LeaseRecord, removeBill, updateLease } from './store.ts'

/**
 * Entries that one transaction claims or releases, in about 50 ms. With more, reports would wait noticeably; with fewer,
 * a bill would take longer, because each transaction is synced.
 */
export const PORTION = 4_000

/** A transaction takes milliseconds and renews the lease, so a process that has not done so for this long has stopped. */
const LEASE_MS = 5_000

/**
 * How far in the future the end of a lease may seem to be: another server's clock may be ahead. Of a lease that ends
 * later, the clock was set back since, and nobody knows when it would end.
 */
const FUTURE_MS = 60_000

/** A bill of 100,000 entries takes a second, and a lease may have to expire first. */
const WAIT_MS = LEASE_MS + 5_000

/** How often those who wait look again. */
const POLL_MS = 20

/** How often a server looks for entries that another process has left claimed. */
const LOOK_EVERY_MS = 2_000

export interface Lease {
  billId: number
  version: number
}

/** Another process has taken the lease over, because this one seemed to have stopped. */
class LeaseLost extends Error {}

/** Whether a bill has the lease, but the process that works on it has stopped. */
function isAbandoned({ expiresAt }: LeaseRecord, now: number): boolean {
  return expiresAt !== null && (expiresAt <= now || expiresAt > now + FUTURE_MS)
}

export type Leases = ReturnType<typeof createLeases>

export function createLeases({ db, clock, portion = PORTION }: { db: Database; clock: Clock; portion?: number }) {
  const expiry = () => clock.now() + LEASE_MS

  /** The next state of the lease. All who wait look together: there may be hundreds. */
  let nextLook: Promise<LeaseRecord> | undefined
  function lookAgain(): Promise<LeaseRecord> {
    nextLook ??= Bun.sleep(POLL_MS).then(() => {
      nextLook = undefined
      return getLease(db.read)
    })
    return nextLook
  }

  /** The version of the lease, once no bill has it. Throws `database_busy` if that takes too long. */
  async function whenFree(): Promise<number> {
    const giveUpAt = performance.now() + WAIT_MS
    for (let lease = await getLease(db.read); ; lease = await lookAgain()) {
      if (lease.billId === null) return lease.version
      if (isAbandoned(lease, clock.now())) await releaseAbandoned()
      else if (performance.now() > giveUpAt) throw databaseBusy('A large bill is being sent or voided.')
    }
  }

  async function renew(tx: Tx, { version }: Lease): Promise<void> {
    if (!(await updateLease(tx, version, { expiresAt: expiry() }))) throw new LeaseLost()
  }

  async function end(tx: Tx, { version }: Lease): Promise<void> {
    if (!(await updateLease(tx, version, { version: version + 1, billId: null, expiresAt: null })))
      throw new LeaseLost()
  }

  /**
   * Releases the entries of the bill that has the lease, removes it if it is not sent, and returns the lease. Does
   * nothing if another process does that already.
   */
  async function release(lease: Lease, by: Actor): Promise<void> {
    const releaseSome = async (tx: Tx) => {
      await renew(tx, lease)
      return releaseEntries(tx, lease.billId, { limit: portion, now: clock.now(), by })
    }
    try {
      while (await db.write(releaseSome));
      await db.write(async (tx) => {
        await end(tx, lease)
        if ((await getBill(tx, lease.billId)).state === 'preparing') await removeBill(tx, lease.billId)
      })
    } catch (error) {
      if (!(error instanceof LeaseLost)) throw error
    }
  }

  /** Takes the lease over from a process that has stopped, and completes what it has left. */
  async function releaseAbandoned(): Promise<void> {
    const lease = await db.write(async (tx) => {
      const current = await getLease(tx)
      const { version, billId } = current
      if (billId === null || !isAbandoned(current, clock.now())) return undefined
      const taken = { version: version + 1, expiresAt: expiry() }
      return (await updateLease(tx, version, taken)) ? { billId, version: version + 1 } : undefined
    })
    if (lease) await release(lease, TALLY)
  }

  return {
    portion,
    whenFree,
    renew,
    end,
    release,

    /** Whether a transaction was refused because another process has taken the lease over. */
    isLost: (error: unknown): boolean => error instanceof LeaseLost,

    /** Takes the lease for a bill; undefined if another bill has it. */
    async take(tx: Tx, billId: number): Promise<Lease | undefined> {
      const { version, billId: current } = await getLease(tx)
      if (current !== null) return undefined
      const taken = { version: version + 1, billId, expiresAt: expiry() }
      return (await updateLease(tx, version, taken)) ? { billId, version: version + 1 } : undefined
    },

    /**
     * The result of a read during which no bill had the lease: it is made again if one got it meanwhile. For reads that
     * depend on which entries are billed. Throws `database_busy` if a bill has the lease for too long.
     */
    async settled<Result>(read: () => Promise<Result>): Promise<Result> {
      for (;;) {
        const version = await whenFree()
        const [outcome] = await Promise.allSettled([read()])
        if ((await getLease(db.read)).version !== version) continue
        if (outcome.status === 'rejected') throw outcome.reason
        return outcome.value
      }
    },

    /** Releases what other processes have left claimed. */
    job: new Job({
      name: 'bill-recovery',
      task: 'release the entries of a bill that was interrupted',
      everyMs: LOOK_EVERY_MS,
      async run() {
        if (isAbandoned(await getLease(db.read), clock.now())) await releaseAbandoned()
      },
    }),
  }
}
