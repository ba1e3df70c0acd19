/** The part of the database that a set of reports refers to, and the changes that recording them makes to it. */
import type { Tx } from '../../../database/database.ts'
import type { UnusedIds } from '../../../database/dry-run.ts'
import type { LabelMap } from '../../../database/schema/records.ts'
import { type Changes, type KnownRows, type NewIds, WorkingSet } from '../../../database/working-set.ts'
import { type Id, newId } from '../../../lib/id.ts'
import { chainName } from '../../../shared/usage.ts'
import { recordEvents } from '../../events/service.ts'
import type { Funded } from '../../funding/service.ts'
import { NamedWork, type ProjectRow } from '../../projects/service.ts'
import type { Side } from '../../spending/contract.ts'
import type { SpendingService } from '../../spending/service.ts'
import { continuedOthers, isDivided, isShare, rowsOf, sessionPartOf } from '../division/divided.ts'
import { lockOtherParts } from '../division/store.ts'
import {
  type Change,
  findIdempotencyKeys,
  type HistoryRow,
  type IdempotencyKey,
  insertHistoryRows,
  insertIdempotencyKeys,
} from '../history/store.ts'
import { costNanosOf, isCounted, isLocked } from '../rows.ts'
import {
  type EntryView,
  findDuplicates,
  getViews,
  insertEntries,
  listChains,
  listSessionChains,
  type SessionChain,
  updateReported,
} from '../store.ts'
import { foundProjectDetails, moveOwnEntries } from '../ticket-moves.ts'
import { type ChangedEntry, eventsOfReports } from './events.ts'
import {
  assumeFundings,
  assumeLabelSets,
  assumeNames,
  type Interned,
  internFundings,
  internLabelSets,
  internNames,
  textOfLabels,
} from './names.ts'
import type { Circumstances, EntryPlan, Identity, Recorded, Reporter, Submission } from './record.ts'
import type { NameKey } from './store/names.ts'
import {
  getManagers,
  insertSessions,
  listSourceTotalsOf,
  lockSessionsOf,
  type Manager,
  type SessionKey,
  type SessionRecord,
  type SourceTotals,
  saveSourceTotals,
  updateSessions,
} from './store/sessions.ts'

interface ReportedContent {
  managerId: number
  startedAt: number
  fingerprint: bigint
}

interface Reference {
  id: number
  uid: Id<'ent'>
}

/** A ticket that got its project for one person, whose entries on it move there. */
interface FoundProject {
  ticketId: number
  managerId: number
  project: ProjectRow
  change: Change
}

export type SessionChange = Partial<
  Pick<
    SessionRecord,
    'source' | 'contested' | 'managerId' | 'managerBy' | 'unidentified' | 'byOrganization' | 'duplicate' | 'zone'
  >
>

export type StateCircumstances = Pick<Circumstances, 'now' | 'hashedSessionIds' | 'funding' | 'timeZone'>

export class RecordingState {
  readonly set: WorkingSet
  readonly work: NamedWork
  readonly managers: KnownRows<number, Manager>
  readonly #names: KnownRows<string, NameKey>
  readonly #labelSets: KnownRows<LabelMap, number>
  readonly #fundings: KnownRows<Funded, number>
  readonly #sessions: KnownRows<SessionKey, SessionRecord[]>
  readonly #chains: KnownRows<SessionChain, EntryView[]>
  /** The models of a session. */
  readonly #models: KnownRows<number, number[]>
  /** The parts of a session as they were loaded. */
  readonly #loadedParts = new Map<number, readonly EntryView[]>()
  readonly #sources: KnownRows<number, SourceTotals[]>
  readonly #views: KnownRows<number, EntryView>
  readonly #keys: KnownRows<Pick<IdempotencyKey, 'managerId' | 'key'>, IdempotencyKey | undefined>
  readonly #contents: KnownRows<ReportedContent, Reference | undefined>

  readonly #newSessions: Changes<number, SessionRecord>
  readonly #changedSessions: Changes<number, SessionRecord>
  /** Sessions whose parts are no longer as they were loaded. */
  readonly #movedSessions: Changes<number, true>
  readonly #newEntries: Changes<number, EntryView>
  readonly #changedEntries: Changes<number, ChangedEntry>
  readonly #savedSources: Changes<string, SourceTotals & { sessionId: number }>
  /** The other parts of divided entries that are new. */
  readonly #newParts: Changes<number, readonly EntryView[]>
  readonly #newKeys: Changes<string, IdempotencyKey>
  readonly #newContents: Changes<string, Reference>
  readonly #history: Changes<number, HistoryRow>
  readonly #foundProjects: Changes<number, FoundProject>
  readonly #sessionIds: NewIds
  readonly #entryIds: NewIds

  readonly now: number
  readonly funding: Circumstances['funding']
  readonly timeZone: string
  /** Who makes the changes that follow. */
  #by: Change['by'] = { userId: null, tokenId: null }

  /** `unused` is for a dry run, whose plan is not saved. */
  constructor(
    readonly interned: Interned,
    { now, hashedSessionIds, funding, timeZone }: StateCircumstances,
    unused?: UnusedIds,
  ) {
    this.funding = funding
    this.timeZone = timeZone
    const set = new WorkingSet(unused)
    this.set = set
    this.now = now
    this.work = new NamedWork(set, now)
    this.managers = set.rows((id) => id, getManagers)
    this.#names = set.rows(
      (text) => text,
      (tx, texts) => (unused ? assumeNames(tx, unused, texts) : internNames(tx, interned, texts)),
    )
    this.#labelSets = set.rows(textOfLabels, (tx, sets) =>
      unused ? assumeLabelSets(tx, unused, sets) : internLabelSets(tx, interned, sets),
    )
    this.#fundings = set.rows(
      ({ uid }) => uid,
      (tx, all) => (unused ? assumeFundings(tx, unused, all) : internFundings(tx, interned, all)),
    )
    this.#sessions = set.rows(
      ({ sessionKey, harnessId }) => `${harnessId} ${sessionKey}`,
      (tx, keys) => lockSessionsOf(tx, keys, { hashedSessionIds }),
    )
    this.#chains = set.rows(
      ({ sessionId, chainModelId }) => `${sessionId} ${chainModelId}`,
      async (tx, chains) => this.#asWholes(tx, await listChains(tx, chains)),
    )
    this.#models = set.rows(
      (sessionId) => sessionId,
      (tx, sessionIds) => this.#loadWholeSessions(tx, sessionIds),
    )
    this.#sources = set.rows((sessionId) => sessionId, listSourceTotalsOf)
    this.#views = set.rows((id) => id, getViews)
    this.#keys = set.rows(keyName, findIdempotencyKeys)
    this.#contents = set.rows(contentName, findDuplicates)
    this.#newSessions = set.changes()
    this.#changedSessions = set.changes()
    this.#movedSessions = set.changes()
    this.#newEntries = set.changes()
    this.#newParts = set.changes()
    this.#changedEntries = set.changes()
    this.#savedSources = set.changes()
    this.#newKeys = set.changes()
    this.#newContents = set.changes()
    this.#history = set.changes()
    this.#foundProjects = set.changes()
    this.#sessionIds = set.ids((tx, count) => tx.reserveIds(tx.tables.sessions, count))
    this.#entryIds = set.ids((tx, count) => tx.reserveIds(tx.tables.entries, count))
  }

  /** Before the changes that a reporter makes. */
  reportedBy({ personId, tokenId }: Reporter): void {
    this.#by = { userId: personId, tokenId }
  }

  /** Loads, before the plan is first made, what it needs at least. */
  wantNames({ report, labelText }: Submission): void {
    const { harness, agent, model, provider, labels, details, cells } = report
    this.#wantName(harness)
    this.#wantName(agent)
    this.#wantName(model)
    if (details) this.#wantName(chainName(model, details))
    if (provider !== undefined) this.#wantName(provider)
    if (labels && !this.interned.labelSets.has(labelText!)) this.#labelSets.want(labels)
    let before = labels
    for (const { labels: own } of cells ?? []) {
      if (own && own !== before && !this.interned.labelSets.has(textOfLabels(own))) this.#labelSets.want(own)
      before = own
    }
  }

  #wantName(text: string): void {
    if (!this.interned.names.has(text)) this.#names.want(text)
  }

  wantSession(key: SessionKey): void {
    this.#sessions.want(key)
  }

  wantContent(content: ReportedContent): void {
    this.#contents.want(content)
  }

  wantKey(managerId: number, key: string): void {
    this.#keys.want({ managerId, key })
  }

  /** Loads the parts that a person's report of a session will change. */
  wantParts(key: SessionKey, managerId: number, chainModelId: number): void {
    const own = this.#sessions.peek(key)?.find((session) => session.managerId === managerId)
    if (own) this.#chains.want({ sessionId: own.id, chainModelId })
  }

  wantIds({ entries, sessions }: { entries: number; sessions: number }): void {
    this.#entryIds.want(entries)
    this.#sessionIds.want(sessions)
  }

  name(text: string): NameKey {
    return this.interned.names.get(text) ?? this.#names.get(text)
  }

  /** The key of a harness or model by which it is compared, if it is known without a query. */
  peekCanonical(text: string): number | undefined {
    return (this.interned.names.get(text) ?? this.#names.peek(text))?.canonicalId
  }

  identify({ report, labelText }: Submission): Identity {
    const harness = this.name(report.harness)
    const model = this.name(report.model)
    const { labels, details } = report
    return {
      harnessId: harness.id,
      canonicalHarnessId: harness.canonicalId,
      agentId: this.name(report.agent).id,
      modelId: model.id,
      chainModelId: (details ? this.name(chainName(report.model, details)) : model).canonicalId,
      providerId: report.provider === undefined ? null : this.name(report.provider).id,
      labelSetId: labels ? this.labelSetOf(labelText!, labels) : null,
    }
  }

  /** The key of a set of labels. */
  labelSetOf(labelText: string, labels: LabelMap): number {
    return this.interned.labelSets.get(labelText) ?? this.#labelSets.get(labels)
  }

  /** The key of what pays for an entry. */
  fundingOf(funded: Funded): number {
    return this.interned.fundings.get(funded.uid) ?? this.#fundings.get(funded)
  }

  /** All sessions with this harness and id, of any owner, oldest first. */
  sessions(key: SessionKey): readonly SessionRecord[] {
    return this.#sessions.get(key)
  }

  addSession(fields: Omit<SessionRecord, 'id' | 'contested' | 'duplicate'>): SessionRecord {
    const session = { id: this.#sessionIds.next(), ...fields, contested: false, duplicate: null }
    this.#newSessions.put(session.id, session)
    this.#sessions.change(session, [...this.#sessions.get(session), session])
    this.#models.change(session.id, [])
    return session
  }

  changeSession(before: SessionRecord, change: SessionChange): SessionRecord {
    const session = { ...before, ...change }
    const rows = this.#newSessions.has(session.id) ? this.#newSessions : this.#changedSessions
    rows.put(session.id, session)
    this.#sessions.change(
      session,
      this.#sessions.get(session).map((other) => (other.id === session.id ? session : other)),
    )
    return session
  }

  /** The parts of one model of a session, in order. */
  parts(sessionId: number, chainModelId: number): readonly EntryView[] {
    if (this.#models.peek(sessionId)?.includes(chainModelId) === false) return []
    return this.#chains.get({ sessionId, chainModelId })
  }

  /** All parts of a session, by the canonical key of their model. */
  chains(sessionId: number): Map<number, readonly EntryView[]> {
    return new Map(
      this.#models.get(sessionId).map((chainModelId) => [chainModelId, this.#chains.get({ sessionId, chainModelId })]),
    )
  }

  /** All parts of a session. Reports of another session compare themselves with these, which may be thousands. */
  allParts(sessionId: number): readonly EntryView[] {
    const loaded = this.#loadedParts.get(sessionId)
    if (loaded && !this.#movedSessions.has(sessionId)) return loaded
    return [...this.chains(sessionId).values()].flat()
  }

  /** A part of one of a session's models, always the same one. */
  somePart(sessionId: number): EntryView | undefined {
    const [chainModelId] = this.#models.get(sessionId)
    return chainModelId === undefined ? undefined : this.#chains.get({ sessionId, chainModelId })[0]
  }

  /** A part of a session as it is now. */
  current({ entry: { id, sessionId, chainModelId } }: EntryView): EntryView {
    return this.parts(sessionId!, chainModelId!).find(({ entry }) => entry.id === id)!
  }

  /** The totals so far of each source and model of a session that has several sources. */
  sources(sessionId: number): readonly SourceTotals[] {
    return this.#newSessions.has(sessionId) ? (this.#sources.peek(sessionId) ?? []) : this.#sources.get(sessionId)
  }

  saveSource(sessionId: number, saved: SourceTotals): void {
    const { source, chainModelId } = saved
    const others = this.sources(sessionId).filter(
      (other) => other.source !== source || other.chainModelId !== chainModelId,
    )
    this.#sources.change(sessionId, [...others, saved])
    this.#savedSources.put(`${sessionId} ${chainModelId} ${source}`, { sessionId, ...saved })
  }

  nextEntryId(): number {
    return this.#entryIds.next()
  }

  /** Adds an entry. A further part of a session is divided as the last one was. */
  addEntry(view: EntryView, last?: EntryView): void {
    const { id, sessionId, chainModelId, managerId, startedAt, fingerprint } = view.entry
    if (last && isShare(view.entry)) this.#addDivided(view, this.#otherParts(last))
    else this.#newEntries.put(id, view)
    if (sessionId !== null) this.#appendPart(view, { sessionId, chainModelId: chainModelId! })
    if (fingerprint === null) return
    const name = contentName({ managerId, startedAt, fingerprint })
    if (!this.#newContents.has(name)) this.#newContents.put(name, { id, uid: view.entry.uid })
  }

  changeEntry(view: EntryView): void {
    const { id, sessionId, chainModelId } = view.entry
    const isNew = this.#newEntries.has(id)
    if (isNew && !isShare(view.entry)) this.#newEntries.put(id, view)
    if (sessionId === null) return
    const chain = { sessionId, chainModelId: chainModelId! }
    const parts = this.#chains.get(chain)
    if (isShare(view.entry)) {
      this.#changeDivided(view)
    } else if (!isNew) {
      const before = this.#changedEntries.get(id)?.before ?? parts.find(({ entry }) => entry.id === id)!
      this.#changedEntries.put(id, { before, after: view, by: this.#by })
    }
    if (this.#loadedParts.has(sessionId)) this.#movedSessions.put(sessionId, true)
    this.#chains.change(
      chain,
      parts.map((part) => (part.entry.id === id ? view : part)),
    )
  }

  /** With the entry as it is stored: in the chain of its session, a divided one stands for all of its parts. */
  answered(recorded: Recorded): Recorded {
    const { entry } = recorded.entry
    if (entry.amendment === null || !isShare(entry)) return recorded
    const stored = this.#newEntries.get(entry.id) ?? this.#changedEntries.get(entry.id)?.after
    return { ...recorded, entry: stored ?? this.#divided.get(entry.id)?.[0] ?? recorded.entry }
  }

  addHistory(entryId: number, change: Change, details: Record<string, unknown>): void {
    this.#history.put(this.#history.size, { entryId, change, details })
  }

  /** The first entry with exactly the same content; undefined if there is none. */
  findDuplicate(content: ReportedContent): Reference | undefined {
    return this.#contents.get(content) ?? this.#newContents.get(contentName(content))
  }

  /** The report that an Idempotency-Key was first used for, and its entry; undefined if the key is new. */
  findKey(managerId: number, key: string): { bodyHash: Uint8Array; entry: EntryView } | undefined {
    const known = this.#newKeys.get(keyName({ managerId, key })) ?? this.#keys.get({ managerId, key })
    if (!known) return undefined
    return { bodyHash: known.bodyHash, entry: this.#newEntries.get(known.entryId) ?? this.#views.get(known.entryId) }
  }

  addKey(key: IdempotencyKey): void {
    this.#newKeys.put(keyName(key), key)
  }

  /** Moves a person's unlocked entries on a ticket that had no project for them. */
  moveOwnEntries(found: FoundProject): void {
    const { ticketId, managerId, project, change } = found
    const moves = ({ entry }: EntryView) =>
      entry.ticketId === ticketId && entry.managerId === managerId && entry.projectId === null && !isLocked(entry)
    const known = [...this.#chains.values().flat(), ...this.#newEntries.values()]
    for (const view of new Map(known.map((view) => [view.entry.id, view])).values()) {
      if (!moves(view)) continue
      this.changeEntry({ ...view, entry: { ...view.entry, projectId: project.id }, project })
      this.addHistory(view.entry.id, change, foundProjectDetails(project))
    }
    this.#foundProjects.put(this.#foundProjects.size, found)
  }

  /** Of the plan, every entry: the new ones, those that change, and of the others of the reported sessions those that are shown. */
  entries(isShown: (view: EntryView) => boolean): EntryPlan[] {
    const added = this.#newEntries.values().map((after): EntryPlan => ({ result: 'created', before: null, after }))
    const changed = this.#changedEntries
      .values()
      .map(({ before, after }): EntryPlan => ({ result: 'updated', before, after }))
    const planned = new Set([...added, ...changed].map(({ after }) => after.entry.id))
    const others = this.#chains
      .values()
      .flatMap((views) => views.flatMap((view) => this.#divided.get(view.entry.id) ?? view))
    const kept = others
      .filter((view) => isShown(view) && !planned.has(view.entry.id))
      .map((view): EntryPlan => ({ result: 'repeated', before: view, after: view }))
    return [...added, ...changed, ...kept]
  }

  /** Writes what the plan changed, and adds it to the budgets, whose rows are locked as shortly as possible. */
  async save(tx: Tx, spending: Pick<SpendingService, 'terms' | 'record'>): Promise<void> {
    await this.work.save(tx)
    const budgets = await spending.terms(tx)
    await Promise.all([
      insertSessions(tx, this.#newSessions.values()),
      updateSessions(tx, this.#changedSessions.values()),
      insertEntries(tx, this.#newEntries.values()),
      updateReported(tx, this.#changedEntries.values()),
      insertIdempotencyKeys(tx, this.#newKeys.values()),
      insertHistoryRows(tx, this.#history.values()),
      recordEvents(tx, this.#events(), this.now),
    ])
    await saveSourceTotals(tx, this.#savedSources.values())
    for (const found of this.#foundProjects.values()) await moveOwnEntries(tx, found)
    if (budgets) await spending.record(tx, budgets, this.#sides())
  }

  /** What the entries counted for budgets before, and count now. */
  #sides(): Side[] {
    return [
      ...this.#newEntries.values().flatMap((view) => countedSide(1, view)),
      ...this.#changedEntries
        .values()
        .flatMap(({ before, after }) => [...countedSide(-1, before), ...countedSide(1, after)]),
    ]
  }

  #events() {
    return eventsOfReports({
      added: this.#newEntries.values(),
      changed: this.#changedEntries.values(),
      history: this.#history.values(),
    })
  }

  /** Divided entries as they were loaded, each with its other parts. */
  readonly #divided = new Map<number, readonly EntryView[]>()

  /** Loads the other parts of divided entries, which are rare. */
  async #asWholes(tx: Tx, chains: EntryView[][]): Promise<EntryView[][]> {
    const divided = chains.flat().filter(({ entry }) => entry.amendment !== null && isDivided(entry))
    if (divided.length === 0) return chains
    const others = await lockOtherParts(
      tx,
      divided.map(({ entry }) => entry.id),
    )
    for (const [position, view] of divided.entries()) this.#divided.set(view.entry.id, [view, ...others[position]!])
    return chains.map((views) =>
      views.map((view) => {
        const parts = this.#divided.get(view.entry.id)
        return parts ? sessionPartOf(view, parts.slice(1)) : view
      }),
    )
  }

  #otherParts({ entry: { id } }: EntryView): readonly EntryView[] {
    return this.#newParts.get(id) ?? this.#divided.get(id)!.slice(1)
  }

  #addDivided(whole: EntryView, like: readonly EntryView[]): void {
    const others = continuedOthers(whole, like, () => ({ id: this.nextEntryId(), uid: newId('ent') })).map((part) => {
      const project = this.work.findCurrentProject(part.entry)
      return { ...part, project, entry: { ...part.entry, projectId: project?.id ?? null } }
    })
    this.#newParts.put(whole.entry.id, others)
    for (const row of rowsOf(whole, others)) this.#newEntries.put(row.entry.id, row)
  }

  #changeDivided(whole: EntryView): void {
    const loaded = this.#divided.get(whole.entry.id)
    for (const [position, row] of rowsOf(whole, this.#otherParts(whole)).entries()) {
      if (!loaded) this.#newEntries.put(row.entry.id, row)
      else this.#changedEntries.put(row.entry.id, { before: loaded[position]!, after: row, by: this.#by })
    }
  }

  #appendPart(view: EntryView, chain: SessionChain): void {
    const parts = this.parts(chain.sessionId, chain.chainModelId)
    if (this.#loadedParts.has(chain.sessionId)) this.#movedSessions.put(chain.sessionId, true)
    this.#chains.change(chain, [...parts, view])
    const models = this.#models.peek(chain.sessionId)
    if (models && parts.length === 0) {
      const position = models.findLastIndex((other) => other < chain.chainModelId) + 1
      this.#models.change(chain.sessionId, models.toSpliced(position, 0, chain.chainModelId))
    }
  }

  async #loadWholeSessions(tx: Tx, sessionIds: readonly number[]): Promise<number[][]> {
    const sessions = await this.#asWholes(tx, await listSessionChains(tx, sessionIds))
    return sessions.map((views, position) => {
      this.#loadedParts.set(sessionIds[position]!, views)
      const chains = Map.groupBy(views, ({ entry }) => entry.chainModelId!)
      for (const [chainModelId, parts] of chains) {
        this.#chains.add({ sessionId: sessionIds[position]!, chainModelId }, parts)
      }
      return [...chains.keys()].sort((a, b) => a - b)
    })
  }
}

/** An entry as budgets count it; nothing if it does not count. */
function countedSide(sign: 1 | -1, { entry, agent, model, labels }: EntryView): Side[] {
  if (!isCounted(entry)) return []
  return [
    {
      sign,
      managerId: entry.managerId,
      projectId: entry.projectId,
      ticketId: entry.ticketId,
      agent,
      model,
      labels,
      agentId: entry.agentId,
      modelId: entry.modelId,
      labelSetId: entry.labelSetId,
      startedAt: entry.startedAt,
      rejected: entry.status === 'rejected',
      cost: costNanosOf(entry),
      tokens: entry.input + entry.output + entry.cacheRead + entry.cacheWrite + entry.cacheWrite1h,
    },
  ]
}

function keyName({ managerId, key }: Pick<IdempotencyKey, 'managerId' | 'key'>): string {
  return `${managerId} ${key}`
}

function contentName({ managerId, startedAt, fingerprint }: ReportedContent): string {
  return `${managerId} ${startedAt} ${fingerprint}`
}
