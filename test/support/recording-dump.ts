/**
 * What is in a database, without the keys and ids that depend on chance: every reference is the natural key of what it
 * refers to, and rows are in the order of theirs. Two databases are equal for users if their dumps are.
 */
import type { Database, Reader } from '../../src/database/database.ts'
import type { Tables } from '../../src/database/schema/tables.ts'

type Row = Record<string, unknown>

/** What identifies an entry. */
export interface EntryKeys {
  id: number
  uid: string
  /** Null without a session. */
  session: string | null
  key: string
}

/** All entries in the order of their natural keys. */
export async function entryKeysOf(reader: Reader): Promise<EntryKeys[]> {
  return (await readAll(reader)).entryKeys
}

/** The rows of a table as records; the columns that a dump does not mention are compared as they are. */
async function rowsOf<Name extends keyof Tables>(reader: Reader, name: Name): Promise<Tables[Name]['$inferSelect'][]> {
  return (await reader.select().from(reader.tables[name] as Tables['names'])) as Tables[Name]['$inferSelect'][]
}

async function readAll(reader: Reader) {
  const byId = <Each extends { id: number }>(rows: Each[]) => new Map(rows.map((row) => [row.id, row]))
  const names = byId(await rowsOf(reader, 'names'))
  const users = byId(await rowsOf(reader, 'users'))
  const sessions = byId(await rowsOf(reader, 'sessions'))
  const entries = await rowsOf(reader, 'entries')
  const nameOf = (id: number | null) => (id === null ? null : names.get(id)!.text)
  const personOf = (id: number | null) => (id === null ? null : users.get(id)!.email)
  const sessionOf = (id: number | null) => {
    if (id === null) return null
    const { sessionKey, harnessId, managerId } = sessions.get(id)!
    return `${sessionKey} ${nameOf(harnessId)} ${personOf(managerId)}`
  }
  const orderOf = (entry: (typeof entries)[number]): (string | number)[] =>
    entry.sessionId === null
      ? ['', entry.createdAt, entry.startedAt, String(entry.fingerprint), personOf(entry.managerId)!, entry.id]
      : [sessionOf(entry.sessionId)!, nameOf(entry.chainModelId)!, entry.part!]
  const ordered = entries.map((entry) => ({ entry, order: orderOf(entry) })).sort((a, b) => compared(a.order, b.order))
  const entryKeys = ordered.map(({ entry: { id, uid, sessionId, chainModelId, part } }, index): EntryKeys => {
    const session = sessionOf(sessionId)
    return {
      id,
      uid,
      session,
      key: session === null ? `single ${index}` : `${session} ${nameOf(chainModelId)} ${part}`,
    }
  })
  return { names, users, sessions, entries: ordered.map(({ entry }) => entry), entryKeys, nameOf, personOf, sessionOf }
}

/** The contents of the database, and a function that shows ids in answers as what they refer to. */
export interface Dump {
  tables: Record<string, Row[]>
  spelled(answer: unknown): unknown
}

export async function dumpOf(db: Database): Promise<Dump> {
  const reader = db.read
  const all = await readAll(reader)
  const { nameOf, personOf, sessionOf } = all
  const [projects, tickets, tokens, rules, versions, prices, bills, labelSets] = [
    await rowsOf(reader, 'projects'),
    await rowsOf(reader, 'tickets'),
    await rowsOf(reader, 'tokens'),
    await rowsOf(reader, 'placementRules'),
    await rowsOf(reader, 'placementRuleVersions'),
    await rowsOf(reader, 'prices'),
    await rowsOf(reader, 'bills'),
    await rowsOf(reader, 'labelSets'),
  ]
  const mapped = <Each extends { id: number }>(rows: Each[], keyOf: (row: Each, index: number) => string) => {
    const keys = new Map(rows.sort((a, b) => a.id - b.id).map((row, index) => [row.id, keyOf(row, index)]))
    return (id: number | null) => (id === null ? null : (keys.get(id) ?? `no row ${id}`))
  }
  const entryOf = mapped(all.entryKeys.slice(), ({ key }) => key)
  const projectOf = mapped(projects, ({ key }) => key)
  const ticketOf = mapped(tickets, ({ key }) => key)
  const tokenOf = mapped(tokens, ({ name }) => name)
  const ruleOf = mapped(rules, (_, index) => `rule ${index}`)
  const versionOf = mapped(versions, ({ ruleId, version }) => `${ruleOf(ruleId)} version ${version}`)
  const priceOf = mapped(prices, ({ model, effectiveFrom }, index) => `${model} ${effectiveFrom} ${index}`)
  const billOf = mapped(bills, ({ number }) => number)
  const labelsOf = mapped(labelSets, ({ labels }) => JSON.stringify(labels))

  const uids = new Map<string, string>()
  const spell = (rows: { id: number; uid: string }[], of: (id: number) => string | null) => {
    for (const { id, uid } of rows) uids.set(uid, of(id)!)
  }
  spell(all.entryKeys, entryOf)
  spell(projects, projectOf)
  spell(tickets, ticketOf)
  spell(tokens, tokenOf)
  spell(rules, ruleOf)
  spell(prices, priceOf)
  spell(bills, billOf)
  spell([...all.users.values()], personOf)
  const spelled = (value: unknown): unknown =>
    JSON.parse(text(value).replace(PUBLIC_ID, (uid) => JSON.stringify(`<${uids.get(uid) ?? 'unknown'}>`).slice(1, -1)))

  /** The columns of these rows, some of which are replaced or, if undefined, left out. */
  const shown = <Each>(rows: Each[], of: (row: Each) => Row): Row[] =>
    rows.map((row) => spelled({ ...row, id: undefined, uid: undefined, ...of(row) }) as Row)
  const sorted = (rows: Row[]) =>
    rows
      .map((row) => [text(row), row] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, row]) => row)
  const table = async <Name extends keyof Tables>(name: Name, of: (row: Tables[Name]['$inferSelect']) => Row) =>
    sorted(shown(await rowsOf(reader, name), of))
  const ofSession = ({ sessionId, chainModelId }: { sessionId: number; chainModelId?: number }) => ({
    sessionId: sessionOf(sessionId),
    ...(chainModelId !== undefined && { chainModelId: nameOf(chainModelId) }),
  })
  const used = new Set(all.entries.flatMap((row) => [row.harnessId, row.agentId, row.modelId, row.providerId]))
  const usedLabels = new Set(all.entries.map(({ labelSetId }) => labelsOf(labelSetId)))
  const history = (await rowsOf(reader, 'entryHistory')).sort((a, b) => a.id - b.id)

  const tables: Dump['tables'] = {
    entries: shown(all.entries, (row) => ({
      key: entryOf(row.id),
      managerId: personOf(row.managerId),
      tokenId: tokenOf(row.tokenId),
      harnessId: nameOf(row.harnessId),
      agentId: nameOf(row.agentId),
      modelId: nameOf(row.modelId),
      providerId: nameOf(row.providerId),
      chainModelId: nameOf(row.chainModelId),
      priceId: priceOf(row.priceId),
      projectId: projectOf(row.projectId),
      ticketId: ticketOf(row.ticketId),
      labelSetId: labelsOf(row.labelSetId),
      sessionId: sessionOf(row.sessionId),
      continuesId: entryOf(row.continuesId),
      dividedFromId: entryOf(row.dividedFromId),
      possibleDuplicateId: entryOf(row.possibleDuplicateId),
      billId: billOf(row.billId),
      ruleVersionId: versionOf(row.ruleVersionId),
    })),
    // By entry, and in the order in which it happened to that entry.
    history: shown(history, ({ entryId, userId, tokenId }) => ({
      entryId: entryOf(entryId),
      userId: personOf(userId),
      tokenId: tokenOf(tokenId),
    })).sort((a, b) => compared([String(a.entryId)], [String(b.entryId)])),
    sessions: sorted(
      shown([...all.sessions.values()], ({ id, harnessId, managerId }) => ({
        key: sessionOf(id),
        harnessId: nameOf(harnessId),
        managerId: personOf(managerId),
      })),
    ),
    sessionSources: await table('sessionSources', ofSession),
    idempotencyKeys: await table('idempotencyKeys', (row) => ({
      managerId: personOf(row.managerId),
      entryId: entryOf(row.entryId),
    })),
    names: sorted(
      [...used].flatMap((id) =>
        id === null ? [] : [{ text: nameOf(id), canonical: nameOf(all.names.get(id)!.canonicalId) }],
      ),
    ),
    labelPairs: (await table('labelPairs', ({ labelSetId }) => ({ labelSetId: labelsOf(labelSetId) }))).filter(
      ({ labelSetId }) => usedLabels.has(labelSetId as string),
    ),
    projects: sorted(shown(projects, ({ mergedIntoId }) => ({ mergedIntoId: projectOf(mergedIntoId) }))),
    projectNames: await table('projectNames', ({ projectId }) => ({ projectId: projectOf(projectId) })),
    tickets: sorted(shown(tickets, ({ projectId }) => ({ projectId: projectOf(projectId) }))),
    ticketAssumptions: await table('ticketAssumptions', ({ ticketId, userId, projectId }) => ({
      ticketId: ticketOf(ticketId),
      userId: personOf(userId),
      projectId: projectOf(projectId),
    })),
    telemetrySessions: await table('telemetrySessions', ofSession),
    telemetryTotals: await table('telemetryTotals', ofSession),
    telemetryStreams: await table('telemetryStreams', ofSession),
    telemetrySeen: await table('telemetrySeen', ofSession),
    telemetryChannels: await table('telemetryChannels', () => ({})),
    billEntries: await table('billEntries', ({ billId, entryId }) => ({
      billId: billOf(billId),
      entryId: entryOf(entryId),
    })),
    bills: sorted(
      bills.map(({ number, state, total, cost, entries }) => ({ number, state, entries, sums: `${total} ${cost}` })),
    ),
    audit: shown(
      // Those of tokens show the end of their secrets.
      (await rowsOf(reader, 'audit')).filter(({ action }) => !action.startsWith('token.')).sort((a, b) => a.id - b.id),
      ({ userId, tokenId }) => ({ userId: personOf(userId), tokenId: tokenOf(tokenId) }),
    ),
  }
  return { tables, spelled }
}

const PUBLIC_ID = /\b(?:ent|prj|tkt|cli|rul|usr|tok|sht|bil|prc)_[0-9a-f]{32}\b/g

function text(value: unknown): string {
  return JSON.stringify(value ?? null, function (this: Row, key, each) {
    if (typeof each === 'bigint') return `${each}n`
    // Not `each`, which is already what the method toJSON of a Buffer returns.
    const bytes = this[key]
    return bytes instanceof Uint8Array ? Buffer.from(bytes).toString('hex') : each
  })
}

function compared(one: (string | number)[], other: (string | number)[]): number {
  for (const [index, value] of one.entries()) {
    const against = other[index]
    if (against === undefined) return 1
    if (value !== against) return value < against ? -1 : 1
  }
  return one.length - other.length
}
