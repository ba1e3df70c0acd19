/**
 * Tells copies from calls: sessions that are forked, resumed or replayed hold the calls of others once more, and a call
 * counts once, for the session that made it.
 */
import type { ModelCall } from './model-calls.ts'
import type { ReadFile } from './readers/reader.ts'

/** Whether a later line of the same call says more than what is held. Lines come in the order of files and lines. */
export type Betters = (candidate: ModelCall, held: ModelCall) => boolean

/**
 * Each call once. A call that says no owner belongs to the earliest session that holds it: the one whose files begin
 * first; or, as forks copy the first lines with their time, the one whose file was made first; or, where files were
 * copied, the one that ended first.
 */
export function settleByKey(files: ReadFile[], betters: Betters): ModelCall[] {
  const spans = sessionSpans(files)
  const settled: ModelCall[] = []
  const places = new Map<string, number>()
  for (const { reading } of files) {
    for (const call of reading.calls) {
      const place = call.key === '' ? undefined : places.get(call.key)
      if (place === undefined) {
        if (call.key !== '') places.set(call.key, settled.length)
        settled.push(call)
        continue
      }
      const held = settled[place]!
      const [kept, other] = betters(call, held) ? [call, held] : [held, call]
      settled[place] = withOwner(kept, other, spans)
    }
  }
  return settled.map((call) => (call.owner === '' || call.owner === call.session ? call : moved(call, call.owner)))
}

/** The better line of a call, in the session that the two lines together tell. */
function withOwner(kept: ModelCall, other: ModelCall, spans: Map<string, SessionSpan>): ModelCall {
  const owner = kept.owner || other.owner
  if (owner !== '') return kept.owner === owner ? kept : { ...kept, owner }
  if (kept.session === other.session || !isEarlier(other.session, kept.session, spans)) return kept
  return { ...kept, session: other.session, folder: other.folder, branch: other.branch }
}

function moved(call: ModelCall, session: string): ModelCall {
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
  const one = spans.get(session)!
  const other = spans.get(than)!
  if (one.at !== other.at) return one.at < other.at
  if (Math.abs(one.bornAt - other.bornAt) > MADE_TOGETHER_MS) return one.bornAt < other.bornAt
  if (one.endedAt !== other.endedAt) return one.endedAt < other.endedAt
  return session < than
}
