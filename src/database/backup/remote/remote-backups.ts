/** Uploads the backups of a server, and verifies from time to time that they can be restored. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../../lib/clock.ts'
import { Job } from '../../../lib/jobs.ts'
import { type S3Place, s3Address } from '../../../lib/s3-place.ts'
import { backupsIn, ownBackups } from '../contents.ts'
import type { Identity, SigningKey } from '../identity.ts'
import { newestOf, readSealedName, SEALED_ENDING } from '../names.ts'
import type { Keep } from '../retention.ts'
import { BackupError } from './encryption.ts'
import type { S3Access } from './s3-client.ts'
import { type RemoteState, readState, type Verification, writeState } from './state.ts'
import type { Conflict, RemoteResult, RemoteTask, UploadResult, VerifyResult } from './tasks.ts'
import { knownUploads, TimelineConflict } from './uploads.ts'

export interface RemotePlan {
  place: S3Place
  access: S3Access
  recipients: readonly string[]
  /** A file with a private key; undefined if the server has none. */
  identityFile: string | undefined
  /** Undefined if backups are not verified. */
  verifyEveryMs: number | undefined
}

export interface RemoteEvents {
  uploaded(upload: UploadResult): void
  /** @param succeededAt when the newest backup in the storage was made; null if there is none */
  uploadFailed(error: Error, succeededAt: number | null): void
  verified(verification: Pick<VerifyResult, 'name' | 'extent'>): void
  /** @param succeededAt when the last verification succeeded; null if none did */
  verificationFailed(error: Error, succeededAt: number | null): void
}

/** For monitoring. */
export interface RemoteBackupState {
  /** When the newest backup in the storage was made; null if there is none. */
  lastMadeAt: number | null
  /** Failed uploads since the last one that succeeded. */
  failures: number
  /** When a backup was last restored and checked successfully; null if none was. */
  verifiedAt: number | null
  /** When a backup was last the same as it was uploaded, or restored; null if none was. */
  comparedAt: number | null
  /** Failed verifications since the last one that succeeded. */
  verificationFailures: number
  /** Backups in the storage that this server did not upload, and never removes. */
  others: number
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** How often the schedule is checked, besides after each backup. */
const LOOK_EVERY_MS = 60_000

/** The folder for verifications, in that of backups. What one that was killed left there is removed by the next. */
const scratchFolder = (database: string) => `verification-${database.slice(0, 8)}`

interface RemoteBackupsOptions extends RemotePlan {
  /** The folder of local backups. */
  folder: string
  /** The database, whose key signs what is uploaded. */
  identity(): Identity & { key: SigningKey }
  /** Begins another timeline, where another copy of the database goes on with this one. */
  renewTimeline(): Promise<void>
  keep: Keep
  clock: Clock
  events: RemoteEvents
  run(task: RemoteTask, signal: AbortSignal): Promise<RemoteResult>
}

export function createRemoteBackups(options: RemoteBackupsOptions) {
  const { folder, place, access, recipients, keep, identityFile, verifyEveryMs, clock, events, run } = options
  const { identity, renewTimeline } = options
  /** Aborted when the server stops: a running upload is ended, and repeated at the next start. */
  let { signal } = new AbortController()
  const uploads = new Failures(clock)
  const verifications = new Failures(clock)
  const at = () => ({ folder, timeline: identity().timeline, place: s3Address(place) })
  let state = readState(at())

  function note(change: Partial<RemoteState>): void {
    state = { ...state, ...change }
    writeState(at(), state)
  }

  /** What is in the storage, of this server. */
  function stored() {
    return knownUploads(at())
      .filter(({ name }) => !state.missing.includes(name))
      .map(({ name }) => ({ name, madeAt: readSealedName(name)!.madeAt }))
  }

  function lastMadeAt(): number | null {
    try {
      return newestOf(stored(), clock.now())?.madeAt ?? null
    } catch {
      // What this server remembers may be what is wrong.
      return null
    }
  }

  /** Throws if another copy of the database uploads on the same timeline: what follows is on another. */
  async function perform<Result extends RemoteResult>(task: RemoteTask): Promise<Exclude<Result, Conflict>> {
    const result = await run(task, signal)
    if (!('conflict' in result)) return result as Exclude<Result, Conflict>
    await renewTimeline()
    state = readState(at())
    throw new TimelineConflict(
      `${result.conflict} This server goes on with the timeline ${identity().timeline}, and begins with a new backup. What is there is kept until you remove it.`,
    )
  }

  function storage() {
    const { database, timeline, key } = identity()
    return { place, access, folder, keep, now: clock.now(), identity: { database, timeline, seed: key.seed } }
  }

  async function uploadNewest(): Promise<void> {
    if (uploads.isPausing()) return
    try {
      const newest = newestOf(ownBackups(backupsIn(folder), identity()), clock.now())
      if (!newest || stored().some(({ name }) => name === newest.name + SEALED_ENDING)) return
      const { verification } = state
      const { file, name } = newest
      const upload = await perform<UploadResult>({
        ...{ task: 'upload', ...storage(), file, name, recipients },
        // While the newest cannot be restored, an older one may be the last that can.
        removes: !verification?.error,
        verified: verification?.name ?? null,
      })
      uploads.end()
      note({ missing: [], others: upload.others })
      events.uploaded(upload)
      if (upload.problems.length > 0) noteFailure(clock.now(), new BackupError(upload.problems.join(' ')))
    } catch (error) {
      if (signal.aborted) return
      uploads.add()
      reportUpload(error)
    }
  }

  const reportUpload = (error: unknown) => events.uploadFailed(error as Error, lastMadeAt())

  function isVerificationDue(): boolean {
    const isStored = lastMadeAt() !== null || state.missing.length > 0
    if (verifyEveryMs === undefined || !isStored || verifications.isPausing()) return false
    const { attemptedAt, error } = state.verification ?? { attemptedAt: Number.NEGATIVE_INFINITY, error: null }
    const age = Math.abs(clock.now() - attemptedAt)
    return age >= (error === null ? verifyEveryMs : Math.min(verifyEveryMs, HOUR_MS))
  }

  async function verify(): Promise<void> {
    const attemptedAt = clock.now()
    try {
      const scratch = join(folder, scratchFolder(identity().database))
      const task: RemoteTask = { task: 'verify', ...storage(), privateKey: privateKey(), scratch }
      const { name, extent, differences, problems, gone, others } = await perform<VerifyResult>(task)
      note({ missing: gone, others })
      if (problems.length > 0) throw new BackupError(problems.join(' '))
      if (differences.length > 0) throw new BackupError(`${name} was restored, but it is wrong: ${differences[0]}`)
      verifications.end()
      const restoredAt = extent === 'restored' ? attemptedAt : (state.verification?.restoredAt ?? null)
      note({
        verification: { ...{ attemptedAt, succeededAt: attemptedAt, restoredAt, name: name!, extent }, error: null },
      })
      events.verified({ name, extent })
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof TimelineConflict) reportUpload(error)
      else noteFailure(attemptedAt, error as Error)
    }
  }

  function noteFailure(attemptedAt: number, error: Error): void {
    const before: Verification = state.verification ?? {
      ...{ attemptedAt, succeededAt: null, restoredAt: null, name: null, extent: null, error: null },
    }
    verifications.add()
    note({ verification: { ...before, attemptedAt, error: error.message } })
    events.verificationFailed(error, before.succeededAt)
  }

  function privateKey(): { path: string; text: string } | undefined {
    if (identityFile === undefined) return undefined
    return { path: identityFile, text: readFileSync(identityFile, 'utf8') }
  }

  /** Uploads the newest backup if it is not in the storage, and verifies what is there if that is due. */
  async function look(): Promise<void> {
    await uploadNewest()
    if (!signal.aborted && isVerificationDue()) await verify()
  }

  const job = new Job({
    name: 'remote-backup',
    task: 'upload and verify backups',
    everyMs: LOOK_EVERY_MS,
    isUrgent: true,
    run(turn) {
      signal = turn.signal
      return look()
    },
  })

  return {
    look,

    job,

    state: (): RemoteBackupState => ({
      lastMadeAt: lastMadeAt(),
      failures: uploads.count,
      verifiedAt: state.verification?.restoredAt ?? null,
      comparedAt: state.verification?.succeededAt ?? null,
      verificationFailures: verifications.count,
      others: state.others,
    }),
  }
}

/** Failures in a row, after which the next attempt waits for longer and longer: from a minute to an hour. */
class Failures {
  count = 0
  #failedAt = 0

  constructor(readonly clock: Clock) {}

  add(): void {
    this.count += 1
    this.#failedAt = this.clock.now()
  }

  end(): void {
    this.count = 0
  }

  isPausing(): boolean {
    const pauseMs = Math.min(HOUR_MS, MINUTE_MS * 2 ** (this.count - 1))
    return this.count > 0 && Math.abs(this.clock.now() - this.#failedAt) < pauseMs
  }
}
