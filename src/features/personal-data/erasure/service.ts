/**
 * Erasure of a person (docs/design/privacy.md): the account becomes a pseudonym at once, and a job replaces the person's
 * names and addresses in all texts but those that must be kept.
 */
import type { Actor } from '../../../access/actor.ts'
import type { Database, Reader, Tx } from '../../../database/database.ts'
import type { ErasedWords } from '../../../database/schema/records.ts'
import { type Issue, notFound, validationFailed } from '../../../errors.ts'
import type { Clock } from '../../../lib/clock.ts'
import { composeName } from '../../../lib/names.ts'
import { periodically } from '../../../lib/periodically.ts'
import type { AuditService } from '../../audit/service.ts'
import type { NotificationsService } from '../../notifications/service.ts'
import type { OrganizationService } from '../../organization/service.ts'
import type { PeopleService, User } from '../../people/service.ts'
import { KEPT, type KeptBecause } from './columns.ts'
import {
  addCounts,
  countMentions,
  deleteIdempotencyKeys,
  type ErasureRecord,
  eachPortion,
  eachSessionMention,
  endErasure,
  eraseOrigins,
  findErasure,
  findLastEnded,
  hashSessionIds,
  insertErasure,
  listFormerNames,
  listTelemetryEmails,
  listUnfinished,
  releaseWork,
  replaceWords,
  type Subject,
  TEXT_TABLES,
  tableName,
} from './store.ts'
import { isSingleWord, pseudonymOf } from './words.ts'

/** Soon after an erasure was requested at another server, or after a restart. */
const LOOK_EVERY_MS = 5_000

/** Rows per transaction, which others wait for. */
const PORTION_ROWS = 500

/** Shorter texts are in too many words. */
const WORD_CHARACTERS = 3
const FURTHER_WORDS_LIMIT = 20

export interface PlannedErasure {
  user: User
  words: ErasedWords
  /** Rows that would change, by table. */
  replaced: Record<string, number>
  /** Rows that mention the person and stay as they are. */
  kept: { reason: KeptBecause; why: string; rows: number }[]
}

export interface Erasure {
  user: User
  record: ErasureRecord
  /** Whether the space of removed content has been overwritten since. */
  isCompacted: boolean
}

export interface ErasureDependencies {
  db: Database
  clock: Clock
  audit: AuditService
  organization: OrganizationService
  people: PeopleService
  notifications: Pick<NotificationsService, 'forget'>
}

export function createErasure({ db, clock, audit, organization, people, notifications }: ErasureDependencies) {
  /** Everything by which texts may call the person. Throws `validation_failed`. */
  async function wordsOf(reader: Reader, user: User, further: readonly string[]): Promise<ErasedWords> {
    const issues = issuesOfWords(further)
    if (issues.length > 0) throw validationFailed(issues)
    const emails = new Set([user.email, ...(await people.getFurtherEmails(user.uid)).emails])
    const names = new Set([user.name])
    for (const { objectName, before, after } of await listFormerNames(reader, user)) {
      for (const fields of [before, after, { email: objectName }]) {
        for (const email of [fields?.email, ...textsOf(fields?.further_emails)]) {
          if (typeof email === 'string' && email.includes('@')) emails.add(email)
        }
        if (typeof fields?.name === 'string') names.add(fields.name)
      }
    }
    for (const email of await listTelemetryEmails(reader, user)) emails.add(email)
    const all = [...names].filter((name) => name.length >= WORD_CHARACTERS)
    return {
      emails: [...emails],
      names: [...all.filter((name) => !isSingleWord(name)), ...further.map(composeName)],
      accountNames: all.filter(isSingleWord),
      pseudonym: pseudonymOf(user.uid),
    }
  }

  /** Repeats a portion of work, each in a transaction of its own, until there is nothing left. */
  async function untilDone(subject: Subject, table: string, portion: (tx: Tx) => Promise<number>): Promise<void> {
    for (;;) {
      const changed = await db.write(async (tx) => {
        const rows = await portion(tx)
        if (rows > 0) await addCounts(tx, subject, table, rows)
        return rows
      })
      if (changed < PORTION_ROWS) return
    }
  }

  async function replaceEverywhere(subject: Subject, words: ErasedWords): Promise<void> {
    for (const table of TEXT_TABLES) {
      for await (const rows of eachPortion(db.slow, table, words, subject)) {
        await db.write(async (tx) => {
          const changed = await replaceWords(tx, table, rows, words, subject)
          if (changed > 0) await addCounts(tx, subject, tableName(tx, table), changed)
        })
      }
    }
    for await (const ids of eachSessionMention(db.slow, words)) {
      await db.write(async (tx) => {
        await organization.hashSessionIds(tx)
        await hashSessionIds(tx, ids)
        await addCounts(tx, subject, 'sessions', ids.length)
      })
    }
  }

  async function finish({ record, subject }: { record: ErasureRecord; subject: Subject }): Promise<void> {
    const { words } = record
    if (words === null) return
    await untilDone(subject, 'audit', (tx) => eraseOrigins(tx, subject, PORTION_ROWS))
    await untilDone(subject, 'idempotency_keys', (tx) => deleteIdempotencyKeys(tx, subject, PORTION_ROWS))
    await replaceEverywhere(subject, words)
    // What others wrote meanwhile: keys of PostgreSQL are not in the order of the commits.
    await replaceEverywhere(subject, words)
    await db.write(async (tx) => {
      if (await endErasure(tx, subject, clock.now())) await organization.textsChanged(tx)
    })
  }

  async function finishAll(): Promise<void> {
    for (const unfinished of await listUnfinished(db.read)) await finish(unfinished)
  }

  return {
    /** What an erasure would do. Throws `not_found`, `person_erased` and `validation_failed`. */
    async planErasure(who: string, further: readonly string[] = []): Promise<PlannedErasure> {
      const user = await people.getAccount(who)
      const words = await wordsOf(db.slow, user, further)
      const replaced: Record<string, number> = {}
      const kept = new Map<KeptBecause, number>()
      for (const table of TEXT_TABLES) {
        const counts = await countMentions(db.slow, table, words, user)
        if (counts.replaced > 0) replaced[tableName(db.read, table)] = counts.replaced
        for (const [reason, rows] of Object.entries(counts.kept) as [KeptBecause, number][]) {
          kept.set(reason, (kept.get(reason) ?? 0) + rows)
        }
      }
      return { user, words, replaced, kept: [...kept].map(([reason, rows]) => ({ reason, why: KEPT[reason], rows })) }
    },

    /**
     * Turns the account into a pseudonym at once; {@link finishAll} or the job of a server does the rest. `further` are
     * more words that mean the person, such as a user name in paths. Throws as `planErasure`, and `last_admin` if no
     * admin would remain.
     */
    async erase(who: string, further: readonly string[], by: Actor): Promise<Erasure> {
      const words = await wordsOf(db.slow, await people.getAccount(who), further)
      return db.write(async (tx) => {
        const user = await people.releaseAccount(tx, who, words.pseudonym)
        const now = clock.now()
        await releaseWork(tx, user, now)
        await notifications.forget(tx, { userId: user.id, emails: words.emails })
        const record: ErasureRecord = { userId: user.id, words, counts: {}, startedAt: now, endedAt: null }
        await insertErasure(tx, record)
        await audit.record(tx, by, { action: 'user.erased', object: { id: user.uid, name: user.email } })
        return { user, record, isCompacted: false }
      })
    },

    /** The erasure of a person. Throws `not_found`. */
    async getErasure(who: string): Promise<Erasure> {
      const user = await people.getUser(who)
      const record = await findErasure(db.read, user)
      if (!record) throw notFound('An erasure of this person')
      const { compactedAt } = await organization.settings()
      const isCompacted = record.endedAt !== null && compactedAt !== null && compactedAt >= record.endedAt
      return { user, record, isCompacted }
    },

    /** Ends all erasures that were begun. */
    finishAll,

    /** Whether texts that were erased may still be in unused space of the database. */
    async needsCompacting(): Promise<boolean> {
      const { compactedAt } = await organization.settings()
      const endedAt = await findLastEnded(db.read)
      return endedAt !== null && (compactedAt === null || compactedAt < endedAt)
    },

    /** The number of erasures that have not ended. */
    countUnfinished: async (): Promise<number> => (await listUnfinished(db.read)).length,

    start: (onError: (error: unknown) => void) => periodically(finishAll, LOOK_EVERY_MS, onError),
  }
}

function textsOf(joined: unknown): string[] {
  return typeof joined === 'string' ? joined.split(/,\s*/) : []
}

function issuesOfWords(words: readonly string[]): Issue[] {
  const issues: Issue[] = words.flatMap((word, position) =>
    composeName(word).length >= WORD_CHARACTERS
      ? []
      : [
          {
            pointer: `/also/${position}`,
            code: 'too_short',
            message: `must have at least ${WORD_CHARACTERS} characters`,
          },
        ],
  )
  if (words.length > FURTHER_WORDS_LIMIT) {
    issues.push({ pointer: '/also', code: 'too_many', message: `must be at most ${FURTHER_WORDS_LIMIT}` })
  }
  return issues
}
