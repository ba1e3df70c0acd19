/** What backups are by their content, which alone decides whose they are: names and places can be shared, and changed. */
import { Database as Connection, constants } from 'bun:sqlite'
import { readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { databaseBytes, headerOf, isOwn } from '../engines/sqlite/file-header.ts'
import { type Identity, readIdentity } from './identity.ts'
import { newestFirst, readName } from './names.ts'

export type Content =
  | { kind: 'backup'; database: string; timeline: string; madeAt: number }
  /** Says neither whose it is nor when it was made. */
  | { kind: 'earlier version' }
  /** An object that no manifest lists. */
  | { kind: 'unlisted' }
  | { kind: 'unusable'; reason: string }

/** Whose a backup is, to a database. */
export type Origin = 'own' | 'another timeline' | 'another database' | 'unknown' | Exclude<Content['kind'], 'backup'>

export function originOf(content: Content, identity: Pick<Identity, 'database' | 'timeline'> | undefined): Origin {
  if (content.kind !== 'backup') return content.kind
  if (!identity) return 'unknown'
  if (content.database !== identity.database) return 'another database'
  return content.timeline === identity.timeline ? 'own' : 'another timeline'
}

const NOUNS: Record<Exclude<Origin, 'own'>, string> = {
  'another timeline': 'of another timeline of this database',
  'another database': 'of another database',
  unknown: 'of a database that is not here',
  'earlier version': 'made by an earlier version',
  unlisted: 'in no manifest',
  unusable: 'unusable',
}

export const originText = (origin: Origin): string => (origin === 'own' ? 'this database' : NOUNS[origin])

/** The backups that a server neither counts nor removes, such as `2 of another database, 1 unusable`; empty if there are none. */
export function othersText(origins: readonly Origin[]): string {
  return (Object.keys(NOUNS) as (keyof typeof NOUNS)[])
    .map((origin) => ({ origin, count: origins.filter((each) => each === origin).length }))
    .filter(({ count }) => count > 0)
    .map(({ origin, count }) => `${count} ${NOUNS[origin]}`)
    .join(', ')
}

/** A file with the name of a backup. */
export interface BackupFile {
  file: string
  name: string
  /** As its content says, or else its name. */
  madeAt: number
  bytes: number
  content: Content
}

/** By the folder and the name: a server looks every minute, and backups do not change. */
const known = new Map<string, Map<string, { signature: string; content: Content }>>()

/** The backups in a folder, newest first. Ignores other files. */
export function backupsIn(folder: string): BackupFile[] {
  const before = known.get(folder)
  const read = new Map<string, { signature: string; content: Content }>()
  known.set(folder, read)
  return readdirSync(folder)
    .flatMap((name) => {
      const named = readName(name)
      const file = join(folder, name)
      const stat = named && statSync(file, { throwIfNoEntry: false })
      if (!named || !stat?.isFile()) return []
      const signature = `${stat.dev} ${stat.ino} ${stat.size} ${stat.mtimeMs}`
      const last = before?.get(name)
      const content = last?.signature === signature ? last.content : contentOf(file)
      read.set(name, { signature, content })
      const madeAt = content.kind === 'backup' ? content.madeAt : named.madeAt
      return [{ file, name, madeAt, bytes: stat.size, content }]
    })
    .sort(newestFirst)
}

export const ownBackups = <Backup extends { content: Content }>(backups: readonly Backup[], identity: Identity) =>
  backups.filter(({ content }) => originOf(content, identity) === 'own')

const AS_URI = constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI

/** What a file is, if it is complete. Its pages are not read. */
export function contentOf(file: string, name = basename(file)): Content {
  const reason = flawOf(file)
  if (reason !== undefined) return { kind: 'unusable', reason }
  let connection: Connection | undefined
  try {
    // Otherwise SQLite would look for a log, and leave files next to a database in write-ahead mode.
    connection = new Connection(`${pathToFileURL(file).href}?immutable=1`, AS_URI)
    return contentIn(readIdentity(connection), name)
  } catch (error) {
    return { kind: 'unusable', reason: `it cannot be read (${(error as Error).message})` }
  } finally {
    connection?.close()
  }
}

function contentIn(identity: Identity | undefined, name: string): Content {
  if (!identity) return { kind: 'earlier version' }
  const { database, timeline, backedUpAt } = identity
  if (backedUpAt === null) return { kind: 'unusable', reason: 'it is a copy that `tally backup` did not make' }
  const named = readName(name)
  const isNamed = named === undefined || (named.timeline === timeline && named.madeAt === wholeSeconds(backedUpAt))
  if (isNamed) return { kind: 'backup', database, timeline, madeAt: backedUpAt }
  const made = new Date(backedUpAt).toISOString().slice(0, 19)
  return { kind: 'unusable', reason: `it was made at ${made}Z on the timeline ${timeline}, and has another name since` }
}

const wholeSeconds = (time: number) => Math.floor(time / 1000) * 1000

function flawOf(file: string): string | undefined {
  const { size } = statSync(file)
  if (size === 0) return 'it is empty'
  const header = headerOf(file)
  const bytes = databaseBytes(header)
  if (bytes === undefined) return 'it is not a SQLite database'
  if (size < bytes) return `it is incomplete: ${size} of ${bytes} bytes`
  return isOwn(header) ? undefined : 'it is a database of another program'
}
