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
 * first, or, as forks copy the first lines with their time, the one whose file was made first.
 */
export function settleByKey(files: ReadFile[], betters: Betters): ModelCall[] {
  const starts = sessionStarts(files)
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
      settled[place] = withOwner(kept, other, starts)
    }
  }
  return settled.map((call) => (call.owner === '' || call.owner === call.session ? call : moved(call, call.owner)))
}

/** The better line of a call, in the session that the two lines together tell. */
function withOwner(kept: ModelCall, other: ModelCall, starts: Map<string, SessionStart>): ModelCall {
  const owner = kept.owner || other.owner
  if (owner !== '') return kept.owner === owner ? kept : { ...kept, owner }
  if (kept.session === other.session || !isEarlier(other.session, kept.session, starts)) return kept
  return { ...kept, session: other.session, folder: other.folder, branch: other.branch }
}

function moved(call: ModelCall, session: string): ModelCall {
  return { ...call, session }
}

interface SessionStart {
  at: number
  bornAt: number
}

function sessionStarts(files: ReadFile[]): Map<string, SessionStart> {
  const starts = new Map<string, SessionStart>()
  for (const { bornAt, reading } of files) {
    let session = ''
    for (const call of reading.calls) {
      // Most files hold one session, which is looked up once.
      const start = call.session === session ? undefined : starts.get(call.session)
      session = call.session
      const at = Math.min(call.at, reading.startedAt ?? call.at)
      if (!start) {
        const known = starts.get(session)
        if (!known) starts.set(session, { at, bornAt })
        else if (at < known.at) known.at = at
      } else {
        start.at = Math.min(start.at, at)
        start.bornAt = Math.min(start.bornAt, bornAt)
      }
    }
  }
  return starts
}

function isEarlier(session: string, than: string, starts: Map<string, SessionStart>): boolean {
  const one = starts.get(session)!
  const other = starts.get(than)!
  return (one.at - other.at || one.bornAt - other.bornAt || (session < than ? -1 : 1)) < 0
}
