/**
 * Removes copied calls: sessions that are forked, resumed or replayed contain the calls of others again, and a call
 * counts once, for the session that made it.
 */
import { type ModelCall, totalOf } from './model-calls.ts'
import type { ReadFile } from './readers/reader.ts'
import type { SettledCalls } from './settled-calls.ts'

/**
 * Whether a later line of the same call is more complete than the current one. Lines come in the order of files and
 * lines.
 */
export type IsBetter = (candidate: ModelCall, held: ModelCall) => boolean

/** The first one stays if they have as many tokens. */
export const hasMoreTokens: IsBetter = (candidate, held) => totalOf(candidate.counts) > totalOf(held.counts)

/** The lines of one call in all files. */
interface MergedCall {
  /** The most complete line. */
  call: ModelCall
  /** The earliest line that does not name another session as the one that made the call. */
  own: ModelCall | undefined
  /** The session that each copy names as the original, by the session of the copy. Usually there are none. */
  copiedFrom: Map<string, string> | undefined
}

/**
 * Returns each call once. It belongs to the session that its copies name; otherwise to the earliest session that
 * contains it: the one with the earliest start; if equal, because forks copy the first lines with their times, the one
 * with the oldest file; or, if files were copied, the one that ended first. A call that belonged to a session once stays
 * with it, since files are removed, and with them what shows whose a copy is.
 */
export function settleByKey(files: ReadFile[], isBetter: IsBetter, settledCalls: SettledCalls): ModelCall[] {
  const spans = sessionSpans(files)
  const merged: MergedCall[] = []
  const places = new Map<string, MergedCall>()
  for (const { reading } of files) {
    for (const call of reading.calls) {
      const known = call.key === '' ? undefined : places.get(call.key)
      const one = known ?? { call, own: undefined, copiedFrom: undefined }
      if (!known) {
        merged.push(one)
        if (call.key !== '') places.set(call.key, one)
      } else if (isBetter(call, one.call)) {
        one.call = call
      }
      assignSession(one, call, spans)
    }
  }
  return settledCalls.settle(merged.map(settled))
}

function assignSession(merged: MergedCall, call: ModelCall, spans: Map<string, SessionSpan>): void {
  if (call.owner !== '' && call.owner !== call.session) {
    merged.copiedFrom ??= new Map()
    merged.copiedFrom.set(call.session, call.owner)
  } else if (!merged.own || isEarlier(call.session, merged.own.session, spans)) {
    merged.own = call
  } else if (call.session === merged.own.session && call.activeMs !== null) {
    // The agent worked from one line of the call to the next.
    merged.own.activeMs = (merged.own.activeMs ?? 0) + call.activeMs
  }
}

function settled({ call, own, copiedFrom }: MergedCall): ModelCall {
  if (own === call) return call
  if (own) {
    const { session, at, folder, branch, service, tools, activeMs } = own
    if (session === call.session) return { ...call, activeMs }
    // What surrounds a copy may not be what surrounded the call.
    const { service: _, tools: __, ...rest } = call
    const its = { session, at, folder, branch, activeMs }
    return { ...rest, ...its, ...(service ? { service } : {}), ...(tools ? { tools } : {}) }
  }
  // Each fork of a fork names its parent, which may no longer have a file.
  let session = call.session
  const passed = new Set<string>()
  for (let from = copiedFrom?.get(session); from !== undefined && !passed.has(from); from = copiedFrom?.get(session)) {
    passed.add(session)
    session = from
  }
  return { ...call, session }
}

interface SessionSpan {
  at: number
  bornAt: number
  endedAt: number
}

function sessionSpans(files: ReadFile[]): Map<string, SessionSpan> {
  const spans = new Map<string, SessionSpan>()
  for (const { bornAt, reading } of files) {
    let span: SessionSpan | undefined
    let session: string | undefined
    for (const call of reading.calls) {
      // Most files contain one session, which is looked up once.
      if (call.session !== session || !span) {
        session = call.session
        span = spans.get(session) ?? { at: call.at, bornAt, endedAt: call.at }
        spans.set(session, span)
      }
      span.at = Math.min(span.at, call.at, reading.startedAt ?? call.at)
      span.bornAt = Math.min(span.bornAt, bornAt)
      span.endedAt = Math.max(span.endedAt, call.at)
    }
  }
  return spans
}

/** Sessions are not forked so soon: files created closer together were copied. */
const MADE_TOGETHER_MS = 10_000

function isEarlier(session: string, than: string, spans: Map<string, SessionSpan>): boolean {
  if (session === than) return false
  const one = spans.get(session)!
  const other = spans.get(than)!
  if (one.at !== other.at) return one.at < other.at
  if (Math.abs(one.bornAt - other.bornAt) > MADE_TOGETHER_MS) return one.bornAt < other.bornAt
  if (one.endedAt !== other.endedAt) return one.endedAt < other.endedAt
  return session < than
}
