/**
 * Two people who report the same session (docs/design/concepts.md, "Possible duplicates"): the later one's entries are
 * held. Steps of a plan: they read and change the state only.
 */
import { COUNT_KINDS, type CountKind, totalTokens } from '../../../shared/usage.ts'
import { countsOf, isLocked } from '../rows.ts'
import type { EntryView } from '../store.ts'
import { changeOf, type Reporter } from './record.ts'
import type { Report } from './report.ts'
import type { RecordingState } from './state.ts'
import type { SessionRecord } from './store/sessions.ts'

/**
 * A random UUID (versions 4 and 7). Those of a clock and a machine (1, 2, 6) follow from one another, and whoever knows
 * the name that one is made of (3, 5, often 8) can compute it.
 */
const UUID = /(?<![0-9a-z])[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}(?![0-9a-z])/i
/** As long as a ULID; a random text of letters and digits this long has at least 80 bits. */
const LONG_RUN = /[0-9a-z]{24,}/gi
/** A tenth of all digits and letters that follow each other differ in kind in words and dates, 40 to 60% in random ones. */
const RANDOM_SHARE = 0.25

/**
 * Whether nobody could report a session under this id without having seen it: a UUID, or a run of at least 24 letters
 * and digits that is not made of words and dates. Sessions with any other id, such as `run-4711`, may share it by
 * chance, or because someone guessed it, so they are never held.
 */
export function isUnguessable(sessionKey: string): boolean {
  return UUID.test(sessionKey) || (sessionKey.match(LONG_RUN) ?? []).some(isRandom)
}

function isRandom(run: string): boolean {
  let changes = 0
  for (let at = 1; at < run.length; at += 1) if (kindOf(run[at]!) !== kindOf(run[at - 1]!)) changes += 1
  return changes >= RANDOM_SHARE * (run.length - 1)
}

function kindOf(character: string): string {
  if (character >= '0' && character <= '9') return 'digit'
  return character >= 'a' ? 'lower' : 'upper'
}

/**
 * Whether the report repeats usage of one of these sessions: it ran at the same time, or has equal counts of a model.
 * Discarded sessions and voided entries are ignored.
 */
export function repeatsOneOf(
  state: RecordingState,
  sessions: readonly SessionRecord[],
  report: Report,
  chainModelId: number,
): boolean {
  return sessions.some(({ id, duplicate }) => {
    if (duplicate === 'discarded') return false
    const ranMeanwhile = ({ entry }: EntryView) =>
      entry.startedAt <= report.endedAt && report.startedAt <= entry.endedAt && totalTokens(countsOf(entry)) > 0
    return (
      state.allParts(id).filter(isNotVoided).some(ranMeanwhile) ||
      hasCounts(state.parts(id, chainModelId).filter(isNotVoided), report)
    )
  })
}

function isNotVoided({ entry }: EntryView): boolean {
  return entry.status !== 'voided'
}

function hasCounts(parts: readonly EntryView[], { counts }: Report): boolean {
  const sumOf = (kind: CountKind) => parts.reduce((sum, { entry }) => sum + entry[kind], 0)
  return totalTokens(counts) > 0 && COUNT_KINDS.every((kind) => sumOf(kind) === counts[kind])
}

/** Holds a session: none of its entries counts until someone decides, except for those that are locked or rejected. */
export function holdSession(state: RecordingState, before: SessionRecord, reporter: Reporter): SessionRecord {
  const session = state.changeSession(before, { duplicate: 'held' })
  for (const parts of state.chains(session.id).values()) {
    for (const part of parts) {
      const { entry } = part
      if (isLocked(entry) || entry.status !== 'submitted') continue
      state.changeEntry({ ...part, entry: { ...entry, status: 'held', updatedAt: state.now } })
      const details = { status: { from: 'submitted', to: 'held' }, because: 'same_session' }
      state.addHistory(entry.id, changeOf('held', state, reporter), details)
    }
  }
  return session
}
