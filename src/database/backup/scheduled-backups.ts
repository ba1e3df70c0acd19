/** Automatic backups of a server: makes one when the newest is old enough, and keeps a limited number. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import { backUp } from './backup.ts'
import type { Copy } from './copy.ts'

export interface BackupPlan {
  folder: string
  everyMs: number
  /** How many backups are kept. */
  keep: number
}

export interface BackupEvents {
  made(backup: Copy & { file: string; tookMs: number }): void
  failed(error: unknown): void
}

/** The state of the backup schedule, for monitoring. */
export interface BackupState {
  /** When the newest backup was made; null if there is none. */
  lastMadeAt: number | null
  failures: number
}

/** How often the schedule is checked, so that a changed clock or a machine that slept is noticed within a minute. */
const CHECK_MS = 60_000

const NAME = /^tally-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.db$/

/** `tally-20261121T201500Z.db`: sorts by date, and is a valid name on every system. */
export function backupName(now: number): string {
  return `tally-${new Date(now).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z.db`
}

/** The times of the backups in a folder, newest first. Ignores other files. */
export function backupsIn(folder: string): { file: string; madeAt: number }[] {
  return readdirSync(folder)
    .flatMap((name) => {
      const [, ...parts] = NAME.exec(name) ?? []
      if (parts.length === 0) return []
      const [year, month, day, hour, minute, second] = parts.map(Number)
      return [{ file: join(folder, name), madeAt: Date.UTC(year!, month! - 1, day, hour, minute, second) }]
    })
    .sort((one, other) => other.madeAt - one.madeAt)
}

interface ScheduledBackupsOptions extends BackupPlan {
  /** The database file. */
  from: string
  clock: Clock
  events: BackupEvents
}

/** Starts scheduled backups. A failed backup is reported and retried at the next check. */
export function scheduleBackups({ from, folder, everyMs, keep, clock, events }: ScheduledBackupsOptions) {
  const stopping = new AbortController()
  let running: Promise<void> | undefined
  let failures = 0
  // Like the database's own folder.
  mkdirSync(folder, { recursive: true, mode: 0o700 })

  function isDue(): boolean {
    const newest = backupsIn(folder)[0]?.madeAt
    const now = clock.now()
    // A backup from the future was made before the clock was set back, so its age is unknown.
    return newest === undefined || newest > now || now - newest >= everyMs
  }

  async function make(): Promise<void> {
    const file = join(folder, backupName(clock.now()))
    const begun = performance.now()
    const copy = await backUp({ from, to: file, signal: stopping.signal })
    events.made({ ...copy, file, tookMs: Math.round(performance.now() - begun) })
    // Only after the new one is complete, so that a full disk does not cost an old one.
    for (const { file } of backupsIn(folder).slice(keep)) rmSync(file)
  }

  function ask(): void {
    if (running) return
    running = (async () => {
      try {
        if (isDue()) await make()
      } catch (error) {
        if (stopping.signal.aborted) return
        failures += 1
        events.failed(error)
      } finally {
        running = undefined
      }
    })()
  }

  const timer = setInterval(ask, CHECK_MS)
  ask()

  return {
    state: (): BackupState => ({ lastMadeAt: backupsIn(folder)[0]?.madeAt ?? null, failures }),
    /** Cancels a running backup: shutdown must not wait for it. */
    async stop(): Promise<void> {
      clearInterval(timer)
      stopping.abort()
      await running
    },
  }
}
