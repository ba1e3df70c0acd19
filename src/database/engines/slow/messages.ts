/** What a server and its processes for slow reads send each other. */
import type { ProblemCode } from '../../../errors.ts'
import type { ReadSource } from '../../caller.ts'
import type { SlowSource } from './source.ts'

export type ToSlowProcess =
  /** The first message. */
  | { open: SlowSource }
  /** Only with SQLite: the server itself sends PostgreSQL's statements. */
  | { id: number; sql: string; params: unknown[] }
  | { id: number; task: string; args: unknown; onReplica: boolean }
  | { id: number; stream: string; args: unknown; onReplica: boolean }
  /** Requests the next piece of a stream. */
  | { id: number; next: true }
  | { id: number; stop: true }

export type SentError = {
  message: string
  code?: string
  syscall?: string
  problem?: { code: ProblemCode; detail: string }
}

export type FromSlowProcess =
  | 'ready'
  /** A result, serialized here: Bun's own messages take six times as long for an array of fifty thousand rows. */
  | { id: number; result: Uint8Array; from?: ReadSource | undefined }
  /** A piece of a stream. */
  | { id: number; piece: Uint8Array }
  | { id: number; end: true }
  | { id: number; error: SentError }
