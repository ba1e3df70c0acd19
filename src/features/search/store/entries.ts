/** Entries and sessions, of which a searcher finds only what they can see. */
import { and, asc, between, desc, eq, gte, lt, or } from 'drizzle-orm'
import { type Viewer, visibleEntries } from '../../../access/visibility.ts'
import type { Reader } from '../../../database/database.ts'
import type { Id } from '../../../lib/id.ts'
import { hashOfSessionId } from '../../../lib/session-id.ts'
import { findView } from '../../entries/listing/store/lists.ts'
import { type Pace, type Searched, searchViews } from '../../entries/listing/store/search.ts'
import { detailOf, type Found, type Wanted } from './names.ts'

type EntryView = Searched['views'][number]

/** Somebody types meanwhile: the newest entries, and what the machine reads in what is left of the search's time. */
const PACE: Omit<Pace, 'budgetMs'> = { statementMs: 10, rows: 2_000 }

/** Shorter ids begin too many others: they sort by time, and this many digits are an hour's. */
const SHORTEST_ID = 6

/** Shorter texts are in every summary. */
const SHORTEST_TEXT = 2

/** Ids that begin with the text, of which the visible ones are returned. A few milliseconds. */
const CANDIDATES = 500

const ID_DIGITS = 32

/** After every text that begins as another one. */
const LAST_CHARACTER = '\u{10ffff}'

export async function findSessions(reader: Reader, viewer: Viewer, { text, limit }: Wanted): Promise<Found[]> {
  if (text.length < SHORTEST_ID) return []
  const { sessions, entries, names } = reader.tables
  const candidates = reader
    .select({ id: sessions.id })
    .from(sessions)
    .where(
      or(
        and(gte(sessions.sessionKey, text), lt(sessions.sessionKey, text + LAST_CHARACTER)),
        eq(sessions.sessionKey, hashOfSessionId(text)),
      ),
    )
    .orderBy(asc(sessions.sessionKey))
    .limit(CANDIDATES)
    .as('candidates')
  const rows = await reader
    .select({ key: sessions.sessionKey, agent: names.text, startedAt: entries.startedAt })
    .from(candidates)
    // SQLite keeps the order of cross joins. For a member, it would begin with all entries that they see.
    .crossJoin(sessions)
    .crossJoin(entries)
    .innerJoin(names, eq(names.id, entries.agentId))
    .where(
      and(eq(sessions.id, candidates.id), eq(entries.sessionId, sessions.id), await visibleEntries(reader, viewer)),
    )
    .orderBy(desc(entries.startedAt), desc(entries.id))
    .limit(CANDIDATES)
  const latest = new Map(rows.toReversed().map((row) => [row.key, row]))
  return [...latest.values()]
    .sort((one, other) => other.startedAt - one.startedAt)
    .slice(0, limit)
    .map(({ key, agent, startedAt }) => ({
      type: 'session',
      id: key,
      name: key,
      detail: agent,
      at: startedAt,
      archived: false,
    }))
}

interface FoundEntries {
  hits: Found[]
  /** The moment before which summaries were not searched. */
  searchedTo: number | undefined
}

/** Those whose id begins with the text, or the newest ones whose summary contains it. */
export async function findEntries(
  reader: Reader,
  viewer: Viewer,
  { text, limit, budgetMs }: Wanted & Pick<Pace, 'budgetMs'>,
): Promise<FoundEntries> {
  const digits = /^ent_([0-9a-f]{1,32})$/i.exec(text)?.[1]?.toLowerCase()
  if (digits !== undefined) {
    const views = digits.length < SHORTEST_ID ? [] : await viewsWithId(reader, viewer, { digits, limit })
    return { hits: views.map(hitOf), searchedTo: undefined }
  }
  if (text.length < SHORTEST_TEXT) return { hits: [], searchedTo: undefined }
  const { views, searchedTo } = await searchViews(
    reader,
    { filter: { q: text }, viewer, after: undefined, limit },
    { ...PACE, budgetMs },
  )
  return { hits: views.map(hitOf), searchedTo: searchedTo?.startedAt }
}

async function viewsWithId(
  reader: Reader,
  viewer: Viewer,
  { digits, limit }: { digits: string; limit: number },
): Promise<EntryView[]> {
  const { entries } = reader.tables
  const idOf = (filler: string) => `ent_${digits.padEnd(ID_DIGITS, filler)}` as Id<'ent'>
  const candidates = reader
    .select({ id: entries.id })
    .from(entries)
    .where(between(entries.uid, idOf('0'), idOf('f')))
    .orderBy(desc(entries.uid))
    .limit(CANDIDATES)
    .as('candidates')
  const found = await reader
    .select({ uid: entries.uid })
    .from(candidates)
    .crossJoin(entries)
    .where(and(eq(entries.id, candidates.id), await visibleEntries(reader, viewer)))
    .orderBy(desc(entries.uid))
    .limit(limit)
  const views: EntryView[] = []
  for (const { uid } of found) {
    const view = await findView(reader, uid, viewer)
    if (view) views.push(view)
  }
  return views
}

function hitOf({ entry, agent, model, project }: EntryView): Found {
  return {
    type: 'entry',
    id: entry.uid,
    name: entry.summary ?? agent,
    detail: detailOf(entry.summary === null ? null : agent, model, project?.key ?? null),
    at: entry.startedAt,
    archived: false,
  }
}
