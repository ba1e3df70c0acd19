/** Which of several backups is the latest: of one database, and of one line of its history. Pure. */
import type { Content } from './contents.ts'
import { newestFirst, newestOf } from './names.ts'

interface Candidate {
  name: string
  madeAt: number
  content: Content
}

type Known<Backup> = Backup & { content: { kind: 'backup' } }

/** Several backups are the latest of something. The message says how to name one. */
export class AmbiguousBackups extends Error {}

/**
 * The latest backup of a database, and of the only one if `database` is undefined. Backups of unknown origin count only if
 * there are no others: anybody could have put them there. Throws {@link AmbiguousBackups}.
 */
export function latestOf<Backup extends Candidate>(
  backups: readonly Backup[],
  { database, now }: { database: string | undefined; now: number },
): Backup | undefined {
  const known = backups
    .filter((backup): backup is Known<Backup> => backup.content.kind === 'backup' && backup.madeAt <= now)
    .filter(({ content }) => database === undefined || content.database === database)
    .sort(newestFirst)
  if (known.length === 0) return newestOf(backups.filter(isOfUnknownOrigin), now)
  const databases = [...Map.groupBy(known, ({ content }) => content.database).values()]
  if (databases.length > 1) {
    const listed = databases.map((each) => `${each[0]!.content.database} (${each[0]!.name})`)
    throw new AmbiguousBackups(
      `There are backups of ${databases.length} databases. Add --database with one of these: ${listed.join(', ')}`,
    )
  }
  const timelines = [...Map.groupBy(known, ({ content }) => content.timeline).values()]
  const [current, ...others] = timelines
  // One that was restored begins after the last backup of the one before.
  const parallel = others.filter(([newest]) => newest!.madeAt > current!.at(-1)!.madeAt)
  if (parallel.length > 0) {
    const listed = [current!, ...parallel].map(([newest]) => newest!.name)
    throw new AmbiguousBackups(
      `A database and a restored copy of it have made backups at the same time. Name one: ${listed.join(', ')}`,
    )
  }
  return known[0]
}

const isOfUnknownOrigin = ({ content: { kind } }: Candidate) => kind === 'earlier version' || kind === 'unlisted'
