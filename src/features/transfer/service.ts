/** Exports and imports of everything, for another installation, another engine, or another Tally. */

import type { Actor, Party } from '../../access/actor.ts'
import type { Database, Reader, Tx } from '../../database/database.ts'
import { rehearse } from '../../database/dry-run.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AuditService } from '../audit/service.ts'
import { findForeignEntries, Interned } from '../entries/contract.ts'
import type { OrganizationService } from '../organization/service.ts'
import { readMoment } from './columns.ts'
import { type Counts, exported, headerOf } from './export.ts'
import { type FileSummary, readLines } from './file.ts'
import { IMPORT_PATIENCE_MS, importRows } from './import.ts'
import type { MatchingServices } from './merge/matching.ts'
import { type Merged, merge, type Phase } from './merge/merge.ts'
import { wrongFile } from './problems.ts'
import type { Period } from './store/rows.ts'
import { listTokensRevokedAt } from './store/tokens.ts'

export { REASONS } from './merge/decision.ts'
export type { Counts, FileSummary, Merged }

interface Dependencies extends Omit<MatchingServices, 'db'> {
  db: Database
  clock: Clock
  audit: AuditService
  organization: Pick<OrganizationService, 'settings'>
}

export interface Exporting extends Period {
  /** The version of Tally. */
  version: string
  /** Takes each piece of the file, and resolves when it can take the next one. */
  write(piece: Uint8Array): Promise<void>
  /** Entries that are written, of how many. */
  onProgress(done: number, total: number): void
}

export interface Importing {
  /** An open file, which is read several times. */
  file: number
  dryRun: boolean
  by: Actor
  onProgress(phase: 'checking' | 'importing', bytes: number): void
}

export interface Merging extends Pick<Importing, 'file' | 'dryRun'> {
  party: Party
  /** What happens to entries whose project or ticket is not here; by default, what the setting says. */
  unknownProjects: 'create' | 'hold' | undefined
  onProgress(phase: Phase, bytes: number): void
}

/** What an import did, or would do. */
export interface Imported {
  header: FileSummary['header']
  counts: Counts
  /** Tokens that were valid when the file was created. */
  tokens: { id: string; kind: string; name: string; created_by: string }[]
}

export function createTransferService({ db, clock, audit, organization, people, projects }: Dependencies) {
  const interned = new Interned(organization)
  return {
    /** Writes one state of everything as a file, and returns how many lines of each type it has. */
    exportAll({ version, from, to, write, onProgress }: Exporting): Promise<Counts> {
      return db.inOneState(async (reader: Reader) => {
        const { name } = await organization.settings(reader)
        const header = headerOf({ name, exportedAt: clock.now(), version }, { from, to })
        const pieces = exported(reader, { header, from, to, onProgress })
        for (;;) {
          const { done, value } = await pieces.next()
          if (done) return value
          await write(value)
        }
      })
    },

    /**
     * Imports a file into an empty database, all of it or nothing. Throws `in_use` if the database is not empty, and
     * `validation_failed` with the number of the line if the file is not a complete and consistent export.
     */
    async importAll({ file, dryRun, by, onProgress }: Importing): Promise<Imported> {
      const { header } = checkFile(file, (bytes) => onProgress('checking', bytes))
      if (header.period) {
        throw wrongFile('The file contains only the entries of a period. Add them to a Tally in use with --merge.')
      }
      const body = async (tx: Tx): Promise<Imported> => {
        const { counts } = await importRows(tx, db, {
          file,
          interned,
          onProgress: (bytes) => onProgress('importing', bytes),
        })
        const [foreign] = await findForeignEntries(tx)
        if (foreign)
          throw wrongFile(`The file was not imported. ${foreign} Do this where the file is from, and export it again.`)
        const { organization: name, exported_at, tally } = header
        await audit.record(tx, by, {
          action: 'organization.imported',
          after: { organization: name, exported_at, tally, counts },
        })
        return { header, counts, tokens: await listTokensRevokedAt(tx, readMoment(exported_at)) }
      }
      return dryRun ? rehearse(db, body, OPTIONS) : db.write(body, OPTIONS)
    },

    /**
     * Adds the entries of a file to a database in use, in portions. Entries and sessions that are here are skipped, so
     * that an interrupted merge can be repeated.
     */
    async mergeEntries({ party, unknownProjects, ...options }: Merging): Promise<Merged> {
      const settings = await organization.settings()
      const merged = await merge(
        { db, clock, people, projects, interned },
        { ...options, party, unknownProjects: unknownProjects ?? settings.unknownProjects },
      )
      if (options.dryRun || merged.added === 0) return merged
      const { header, added, held } = merged
      const { organization: name, exported_at, tally } = header
      const after = { organization: name, exported_at, tally, entries: added, held }
      await db.write((tx) => audit.record(tx, party.by, { action: 'entries.imported', after }))
      return merged
    },
  }
}

const OPTIONS = { patienceMs: IMPORT_PATIENCE_MS }

function checkFile(file: number, onProgress: (bytes: number) => void): FileSummary {
  const lines = readLines(file, { checks: true })
  for (;;) {
    const { done, value } = lines.next()
    if (done) return value
    onProgress(value.bytes)
  }
}
