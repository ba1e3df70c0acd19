/** Uploads the backups of a server, and verifies from time to time that they can be restored. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../../lib/clock.ts'
import { periodically } from '../../../lib/periodically.ts'
import { type S3Place, s3Address } from '../../../lib/s3-place.ts'
import { backupsIn, newestOf, sealedTime } from '../names.ts'
import type { Keep } from '../retention.ts'
import { BackupError } from './encryption.ts'
import type { S3Access } from './s3-client.ts'
import { type RemoteState, readState, type Verification, writeState } from './state.ts'
import type { RemoteTask, UploadResult, VerifyResult } from './tasks.ts'

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
  verified(verification: VerifyResult): void
  /** @param succeededAt when the last verification succeeded; null if none did */
  verificationFailed(error: Error, succeededAt: number | null): void
}

/** For monitoring. */
export interface RemoteBackupState {
  /** When the newest backup in the storage was made; null if there is none. */
  lastMadeAt: number | null
  /** Failed uploads since the last one that succeeded. */
  failures: number
  /** When a backup was last verified successfully; null if none was. */
  verifiedAt: number | null
  /** Failed verifications since the last one that succeeded. */
  verificationFailures: number
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** How often the schedule is checked, besides after each backup. */
const LOOK_EVERY_MS = 60_000

/** The folder for verifications, in that of backups. */
const SCRATCH_FOLDER = 'verification'

interface RemoteBackupsOptions extends RemotePlan {
  /** The folder of local backups. */
  folder: string
  keep: Keep
  clock: Clock
  events: RemoteEvents
  run(task: RemoteTask, signal: AbortSignal): Promise<UploadResult | VerifyResult>
}

export function createRemoteBackups(options: RemoteBackupsOptions) {
  const { folder, place, access, recipients, keep, identityFile, verifyEveryMs, clock, events, run } = options
  const address = s3Address(place)
  const stopping = new AbortController()
  const uploads = new Failures(clock)
  const verifications = new Failures(clock)
  let state = readState(folder, address)

  function note(change: Partial<RemoteState>): void {
    state = { ...state, ...change }
    writeState(folder, state)
  }

  async function uploadNewest(): Promise<void> {
    const newest = newestOf(backupsIn(folder), clock.now())
    if (
      !newest ||
      (state.newest && newest.madeAt <= state.newest.madeAt && isPast(state.newest)) ||
      uploads.isPausing()
    )
      return
    try {
      const upload = (await run(
        {
          task: 'upload',
          ...{ place, access, file: newest.file, name: newest.name, recipients, now: clock.now() },
          // While the newest cannot be restored, an older one may be the last that can.
          keep: state.verification?.error ? undefined : keep,
        },
        stopping.signal,
      )) as UploadResult
      uploads.end()
      const known = [...state.uploads, ...(upload.uploaded ? [upload.uploaded] : [])]
      note({
        newest: { name: upload.name, madeAt: sealedTime(upload.name)! },
        uploads: known.filter(({ name }) => upload.stored.includes(name)),
        uploadError: null,
      })
      events.uploaded(upload)
    } catch (error) {
      if (stopping.signal.aborted) return
      uploads.add()
      note({ uploadError: (error as Error).message })
      reportUpload(error)
    }
  }

  const reportUpload = (error: unknown) => events.uploadFailed(error as Error, state.newest?.madeAt ?? null)

  /** One from before the clock was set back must not keep newer ones from being uploaded. */
  const isPast = ({ madeAt }: { madeAt: number }) => madeAt <= clock.now()

  function isVerificationDue(): boolean {
    if (verifyEveryMs === undefined || state.newest === null || verifications.isPausing()) return false
    const { attemptedAt, error } = state.verification ?? { attemptedAt: Number.NEGATIVE_INFINITY, error: null }
    const age = Math.abs(clock.now() - attemptedAt)
    return age >= (error === null ? verifyEveryMs : Math.min(verifyEveryMs, HOUR_MS))
  }

  async function verify(): Promise<void> {
    const attemptedAt = clock.now()
    const before: Verification = state.verification ?? {
      ...{ attemptedAt, succeededAt: null, name: null, extent: null, error: null },
    }
    try {
      const scratch = join(folder, SCRATCH_FOLDER)
      const result = (await run(
        { task: 'verify', place, access, uploads: state.uploads, identity: identity(), scratch, now: attemptedAt },
        stopping.signal,
      )) as VerifyResult
      const { name, extent, differences } = result
      if (differences.length > 0) throw new BackupError(`${name} was restored, but it is wrong: ${differences[0]}`)
      verifications.end()
      note({ verification: { attemptedAt, succeededAt: attemptedAt, name, extent, error: null } })
      events.verified(result)
    } catch (error) {
      if (stopping.signal.aborted) return
      verifications.add()
      note({ verification: { ...before, attemptedAt, error: (error as Error).message } })
      events.verificationFailed(error as Error, before.succeededAt)
    }
  }

  function identity(): { path: string; text: string } | undefined {
    if (identityFile === undefined) return undefined
    return { path: identityFile, text: readFileSync(identityFile, 'utf8') }
  }

  async function uploadAndVerify(): Promise<void> {
    await uploadNewest()
    if (!stopping.signal.aborted && isVerificationDue()) await verify()
  }

  let looking: Promise<void> | undefined

  /** Uploads the newest backup if it is not in the storage, and verifies what is there if that is due. */
  function look(): Promise<void> {
    looking ??= uploadAndVerify()
      .catch(reportUpload)
      .finally(() => {
        looking = undefined
      })
    return looking
  }

  return {
    look,

    /** Looks now and from time to time, until it is stopped: a running upload is ended, and repeated at the next start. */
    start() {
      const job = periodically(look, LOOK_EVERY_MS, reportUpload)
      return {
        async stop() {
          stopping.abort()
          await job.stop()
        },
      }
    },

    state: (): RemoteBackupState => ({
      lastMadeAt: state.newest?.madeAt ?? null,
      failures: uploads.count,
      verifiedAt: state.verification?.succeededAt ?? null,
      verificationFailures: verifications.count,
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
