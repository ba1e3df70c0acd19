/**
 * Tells copies from calls: sessions that are forked, resumed or replayed hold the calls of others once more, and a call
 * counts once, for the session that made it.
 */
import type { ModelCall } from './model-calls.ts'
import type { ReadFile } from './readers/reader.ts'

/** Whether a later line of the same call says more than what is held. Lines come in the order of files and lines. */
export type Betters = (candidate: ModelCall, held: ModelCall) => boolean

/** All that files tell of one call. */
interface Told {
  /** The line that says most. */
  call: ModelCall
  /** The earliest line that does not name another session as the one that made the call. */
  own: ModelCall | undefined
  /** Which session those that hold a copy name, by themselves. Mostly there are none. */
  copiedFrom: Map<string, string> | undefined
}

/**
 * Each call once. It belongs to the session that copies of it name; else to the earliest that holds it: the one whose
 * files begin first; or, as forks copy the first lines with their time, the one whose file was made first; or, where
 * files were copied, the one that ended first.
 */
export function settleByKey(files: ReadFile[], betters: Betters): ModelCall[] {
  const spans = sessionSpans(files)
  const told: Told[] = []
  const places = new Map<string, Told>()
  for (const { reading } of files) {
    for (const call of reading.calls) {
      const known = call.key === '' ? undefined : places.get(call.key)
      const one = known ?? { call, own: undefined, copiedFrom: undefined }
      if (!known) {
        told.push(one)
        if (call.key !== '') places.set(call.key, one)
      } else if (betters(call, one.call)) {
        one.call = call
      }
      tellSession(one, call, spans)
    }
  }
  return told.map(settled)
}

function tellSession(told: Told, call: ModelCall, spans: Map<string, SessionSpan>): void {
  if (call.owner !== '' && call.owner !== call.session) {
    told.copiedFrom ??= new Map()
    told.copiedFrom.set(call.session, call.owner)
  } else if (!told.own || isEarlier(call.session, told.own.session, spans)) {
    told.own = call
  }
}

function settled({ call, own, copiedFrom }: Told): ModelCall {
  if (own) {
    const { session, folder, branch } = own
    return session === call.session ? call : { ...call, session, folder, branch }
  }
  // Each fork of a fork names the one before it, of which the file may be gone.
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
      // Most files hold one session, which is looked up once.
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

/** Nobody forks a session so soon; files that were made closer together were copied to where they are. */
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
