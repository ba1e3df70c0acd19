/**
 * Erasure of a person (docs/design/privacy.md): the account becomes a pseudonym at once, and a job replaces the person's
 * names and addresses in all texts but those that must be kept.
 */
import type { Actor } from '../../../access/actor.ts'
import type { Database, Reader, Tx } from '../../../database/database.ts'
import { portionsOf } from '../../../database/portions.ts'
import type { ErasedWords } from '../../../database/schema/records.ts'
import { type Issue, notFound, validationFailed } from '../../../errors.ts'
import type { Clock } from '../../../lib/clock.ts'
import { Job } from '../../../lib/jobs.ts'
import { composeName } from '../../../lib/names.ts'
import type { AuditService } from '../../audit/service.ts'
import type { NotificationsService } from '../../notifications/service.ts'
import type { OrganizationService } from '../../organization/service.ts'
import type { PeopleService, User } from '../../people/service.ts'
import { KEPT, type KeptBecause } from './columns.ts'
import { foldSpelling } from './folding.ts'
import { addMatches, type CountedMatch, type NearCounts } from './near-matches.ts'
import {
  addCounts,
  deleteIdempotencyKeys,
  type ErasureRecord,
  endErasure,
  eraseOrigins,
  findErasure,
  findLastEnded,
  insertErasure,
  listFormerNames,
  listOthers,
  listTelemetryEmails,
  listUnfinished,
  type Mentions,
  releaseWork,
  reopenErasure,
  replaceWords,
  type Subject,
  TEXT_TABLES,
  type TextTable,
  tableName,
} from './store.ts'
import { MENTIONS_TASK } from './task.ts'
import { isAddress, isSingleWord, pseudonymOf, replacing } from './words.ts'

/** Soon after an erasure was requested at another server, or after a restart. */
const LOOK_EVERY_MS = 5_000

/** Rows per transaction, which others wait for. */
const PORTION_ROWS = 500

/** Shorter texts are in too many words. */
const WORD_CHARACTERS = 3
const FURTHER_WORDS_LIMIT = 20

/** More near matches would not be read. */
const NEAR_MATCHES_LIMIT = 50

export interface PlannedErasure {
  user: User
  words: ErasedWords
  /** Rows that would change, by table. */
  replaced: Record<string, number>
  /** Rows that mention the person and stay as they are. */
  kept: { reason: KeptBecause; why: string; rows: number }[]
  /** Texts that may mean the person, and stay as they are unless they are named as further words; the most frequent first. */
  near: CountedMatch[]
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
  /** Everything by which texts may call the person. */
  async function knownWords(reader: Reader, user: User): Promise<{ emails: string[]; names: string[] }> {
    // Only the pseudonym is left of somebody who was erased before.
    if (user.erasedAt !== null) return { emails: [], names: [] }
    const emails = new Set([user.email, ...(await people.getFurtherEmails(user.uid)).emails])
    const names = new Set([user.name])
    for (const { objectName, before, after } of await listFormerNames(reader, user)) {
      for (const fields of [before, after, { email: objectName }]) {
        for (const email of [fields?.email, ...textsOf(fields?.further_emails)]) {
          if (typeof email === 'string' && isAddress(email)) emails.add(email)
        }
        if (typeof fields?.name === 'string') names.add(fields.name)
      }
    }
    for (const email of await listTelemetryEmails(reader, user)) emails.add(email)
    return { emails: [...emails], names: [...names].filter(isLongEnough) }
  }

  /** Throws `validation_failed`. */
  async function wordsOf(reader: Reader, user: User, further: readonly string[]): Promise<ErasedWords> {
    const { emails, names } = await knownWords(reader, user)
    const others = await listOthers(reader, user)
    const taken = new Set(others.emails.map(foldSpelling))
    const issues = issuesOfWords(further, taken)
    if (issues.length > 0) throw validationFailed(issues)
    const shared = new Set(others.names.map(foldSpelling))
    const meansOthers = (name: string) => isSingleWord(name) || shared.has(foldSpelling(name))
    const words: ErasedWords = {
      // A former address may be somebody else's now.
      emails: [...emails, ...further.filter(isAddress)].filter((email) => !taken.has(foldSpelling(email))),
      names: [
        ...names.filter((name) => !meansOthers(name)),
        ...further.filter((word) => !isAddress(word)).map(composeName),
      ],
      accountNames: names.filter(meansOthers),
      pseudonym: pseudonymOf(user.uid),
    }
    return { ...words, others: keptOf(words, [...others.names, ...others.emails]) }
  }

  /** Somebody who was erased before can be erased again only with `further` words, which were found later. */
  async function subjectOf(who: string, further: readonly string[]): Promise<{ user: User; words: ErasedWords }> {
    const user = further.length > 0 ? await people.getUser(who) : await people.getAccount(who)
    return { user, words: await wordsOf(db.slow, user, further) }
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

  async function* mentionsIn(
    table: TextTable,
    words: ErasedWords,
    { id, uid }: Subject,
    isDryRun: boolean,
  ): AsyncGenerator<Mentions> {
    for (let after = 0; ; ) {
      const found = await db.slowly(MENTIONS_TASK, { table, words, subject: { id, uid }, after, isDryRun })
      if (!found) return
      yield found
      after = found.last
    }
  }

  async function replaceEverywhere(subject: Subject, words: ErasedWords): Promise<void> {
    for (const table of TEXT_TABLES) {
      for await (const { keys } of mentionsIn(table, words, subject, false)) {
        for (const portion of portionsOf(keys)) {
          await db.write(async (tx) => {
            if (table === 'sessions') await organization.hashSessionIds(tx)
            const changed = await replaceWords(tx, table, portion, words, subject)
            if (changed > 0) await addCounts(tx, subject, tableName(tx, table), changed)
          })
        }
      }
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
      if (await endErasure(tx, record, clock.now())) await organization.textsChanged(tx)
    })
  }

  async function finishAll(): Promise<void> {
    for (const unfinished of await listUnfinished(db.read)) await finish(unfinished)
  }

  return {
    /** What an erasure would do. Throws `not_found`, `person_erased` and `validation_failed`. */
    async planErasure(who: string, further: readonly string[] = []): Promise<PlannedErasure> {
      const { user, words } = await subjectOf(who, further)
      const replaced: Record<string, number> = {}
      const kept = new Map<KeptBecause, number>()
      const near: NearCounts = new Map()
      for (const table of TEXT_TABLES) {
        for await (const found of mentionsIn(table, words, user, true)) {
          const name = tableName(db.read, table)
          if (found.keys.length > 0) replaced[name] = (replaced[name] ?? 0) + found.keys.length
          for (const [reason, rows] of Object.entries(found.kept) as [KeptBecause, number][]) {
            kept.set(reason, (kept.get(reason) ?? 0) + rows)
          }
          addMatches(near, found.near)
        }
      }
      return {
        user,
        words,
        replaced,
        kept: [...kept].map(([reason, rows]) => ({ reason, why: KEPT[reason], rows })),
        near: [...near.values()].sort((a, b) => b.count - a.count).slice(0, NEAR_MATCHES_LIMIT),
      }
    },

    /**
     * Turns the account into a pseudonym at once; {@link finishAll} or the job of a server does the rest. `further` are
     * more words that mean the person, such as a user name in paths. Throws as `planErasure`, `last_admin` if no admin would
     * remain, and `person_erased` as long as an earlier erasure of the person has not ended.
     */
    async erase(who: string, further: readonly string[], by: Actor): Promise<Erasure> {
      const { user: found, words } = await subjectOf(who, further)
      return db.write(async (tx) => {
        const now = clock.now()
        const again = found.erasedAt === null ? undefined : await reopenErasure(tx, found, words, now)
        const user = again ? found : await people.releaseAccount(tx, who, words.pseudonym)
        const record: ErasureRecord = again ?? { userId: user.id, words, counts: {}, startedAt: now, endedAt: null }
        if (!again) {
          await releaseWork(tx, user, now)
          await notifications.forget(tx, { userId: user.id, emails: words.emails })
          await insertErasure(tx, record)
        }
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

    job: new Job({
      name: 'erasure',
      task: 'replace the names of a person who is being erased',
      everyMs: LOOK_EVERY_MS,
      run: finishAll,
    }),
  }
}

function textsOf(joined: unknown): string[] {
  return typeof joined === 'string' ? joined.split(/,\s*/) : []
}

/** Of other people: what the words would change, unless it is one of them. */
function keptOf(words: ErasedWords, others: readonly string[]): string[] {
  const { inText } = replacing(words, { ofAccount: true })
  const own = new Set([...words.emails, ...words.names, ...words.accountNames].map(foldSpelling))
  return others.filter((other) => !own.has(foldSpelling(other)) && inText(other) !== other)
}

const isLongEnough = (word: string) => foldSpelling(word).normalize('NFC').length >= WORD_CHARACTERS

function issuesOfWords(words: readonly string[], addressesOfOthers: ReadonlySet<string>): Issue[] {
  const issues: Issue[] = words.flatMap((word, position) => {
    const pointer = `/also/${position}`
    if (addressesOfOthers.has(foldSpelling(word))) {
      return { pointer, code: 'not_allowed', message: 'is the e-mail address of another person' }
    }
    if (isLongEnough(word)) return []
    return { pointer, code: 'too_short', message: `must have at least ${WORD_CHARACTERS} characters` }
  })
  if (words.length > FURTHER_WORDS_LIMIT) {
    issues.push({ pointer: '/also', code: 'too_many', message: `must be at most ${FURTHER_WORDS_LIMIT}` })
  }
  return issues
}
