/** Automatic backups of a server: makes one when the newest is old enough, and removes those that are not kept. */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import { Job, type Turn } from '../../lib/jobs.ts'
import { backUp } from './backup.ts'
import { backupsIn, ownBackups } from './contents.ts'
import { removeAbandoned } from './copy.ts'
import type { Identity } from './identity.ts'
import { backupName, newestOf } from './names.ts'
import { expired, type Keep } from './retention.ts'

export interface BackupPlan {
  folder: string
  everyMs: number
  keep: Keep
}

export interface BackupEvents {
  made(): void
  /** @param lastMadeAt when the newest backup was made; null if there is none */
  failed(error: unknown, lastMadeAt: number | null): void
}

/** The state of the backup schedule, for monitoring. */
export interface BackupState {
  /** When the newest backup of this database was made; null if there is none. */
  lastMadeAt: number | null
  failures: number
  /** Backups in the folder that are not of this database and its timeline, and are never removed. */
  others: number
}

/** How often the schedule is checked, so that a changed clock or a machine that slept is noticed within a minute. */
const CHECK_MS = 60_000

interface ScheduledBackupsOptions extends BackupPlan {
  /** The database file. */
  from: string
  /** Whose backups are counted and removed. */
  identity: () => Identity
  clock: Clock
  events: BackupEvents
}

/** Scheduled backups. A failed one is reported and retried at the next check. */
export function scheduleBackups(options: ScheduledBackupsOptions) {
  const { from, identity, folder, everyMs, keep, clock, events } = options
  let failures = 0
  // Like the database's own folder.
  mkdirSync(folder, { recursive: true, mode: 0o700 })

  function found(): Pick<BackupState, 'lastMadeAt' | 'others'> {
    try {
      const all = backupsIn(folder)
      const own = ownBackups(all, identity())
      return { lastMadeAt: newestOf(own, clock.now())?.madeAt ?? null, others: all.length - own.length }
    } catch {
      // The folder may be what is wrong.
      return { lastMadeAt: null, others: 0 }
    }
  }

  /** The age of a backup from before the clock was set back by more than this is unknown. */
  function isDue(): boolean {
    const now = clock.now()
    return !ownBackups(backupsIn(folder), identity()).some(({ madeAt }) => Math.abs(now - madeAt) < everyMs)
  }

  async function make(signal: AbortSignal, log: Turn['log']): Promise<void> {
    const madeAt = clock.now()
    removeAbandoned(folder, identity(), madeAt)
    const file = join(folder, backupName({ madeAt, timeline: identity().timeline }))
    const startedAt = performance.now()
    const copy = await backUp({ from, to: file, madeAt, signal })
    log({ backup: { ...copy, file, tookMs: Math.round(performance.now() - startedAt) } }, 'created a backup')
    events.made()
    // Only after the new one is complete, so that a full disk does not cost an old one.
    for (const { file } of expired(ownBackups(backupsIn(folder), identity()), keep, clock.now())) rmSync(file)
  }

  async function run({ signal, log }: Turn): Promise<void> {
    try {
      if (isDue()) await make(signal, log)
    } catch (error) {
      if (signal.aborted) return
      failures += 1
      events.failed(error, found().lastMadeAt)
      throw error
    }
  }

  return {
    state: (): BackupState => ({ ...found(), failures }),
    // A running backup is cancelled: shutdown must not wait for it.
    job: new Job({ name: 'backup', task: 'create a backup', everyMs: CHECK_MS, isUrgent: true, run }),
  }
}
