/** The table `rule_proposals`. */
import { aliasedTable, and, count, desc, eq, gte, lt, type SQL } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/schema/tables.ts'
import type { ProposalState, Role } from '../../../database/schema/values.ts'
import { type Id, newId } from '../../../lib/id.ts'

type ProposalRow = Tables['ruleProposals']['$inferSelect']

interface PersonReference {
  uid: Id<'usr'>
  name: string
}

/** A proposal with the names of what it refers to. */
export interface ProposalView {
  proposal: ProposalRow
  project: { uid: Id<'prj'>; key: string; name: string }
  proposer: PersonReference & { role: Role }
  /** Null as long as nobody, or the command line, has decided. */
  decider: PersonReference | null
  ruleUid: Id<'rul'> | null
}

export interface ProposalFilter {
  /** The key of the person; undefined for everyone's. */
  proposedBy?: number | undefined
  state?: ProposalState | undefined
}

function selectProposals(reader: Reader) {
  const { ruleProposals: proposals, projects, placementRules, users } = reader.tables
  const proposers = aliasedTable(users, 'proposer')
  const deciders = aliasedTable(users, 'decider')
  return reader
    .select({
      proposal: proposals,
      project: { uid: projects.uid, key: projects.key, name: projects.name },
      proposer: { uid: proposers.uid, name: proposers.name, role: proposers.role },
      decider: { uid: deciders.uid, name: deciders.name },
      ruleUid: placementRules.uid,
    })
    .from(proposals)
    .innerJoin(projects, eq(projects.id, proposals.projectId))
    .innerJoin(proposers, eq(proposers.id, proposals.proposedBy))
    .leftJoin(deciders, eq(deciders.id, proposals.decidedBy))
    .leftJoin(placementRules, eq(placementRules.id, proposals.ruleId))
}

function conditionOf(reader: Reader, { proposedBy, state }: ProposalFilter): SQL | undefined {
  const { ruleProposals: proposals } = reader.tables
  return and(
    proposedBy === undefined ? undefined : eq(proposals.proposedBy, proposedBy),
    state === undefined ? undefined : eq(proposals.state, state),
  )
}

/** Newest first, starting after the key `after`. */
export function listProposals(
  reader: Reader,
  filter: ProposalFilter,
  { after, limit }: { after: number | undefined; limit: number },
): Promise<ProposalView[]> {
  const { ruleProposals: proposals } = reader.tables
  return selectProposals(reader)
    .where(and(conditionOf(reader, filter), after === undefined ? undefined : lt(proposals.id, after)))
    .orderBy(desc(proposals.id))
    .limit(limit)
}

export async function findProposal(
  reader: Reader,
  uid: Id<'rpr'>,
  filter: ProposalFilter,
): Promise<ProposalView | undefined> {
  const [row] = await selectProposals(reader)
    .where(and(eq(reader.tables.ruleProposals.uid, uid), conditionOf(reader, filter)))
    .limit(1)
  return row
}

/** Those of a person, or of everyone, in a state or since a moment. */
export async function countProposals(
  reader: Reader,
  proposedBy: number | undefined,
  { state, since }: { state?: ProposalState; since?: number },
): Promise<number> {
  const { ruleProposals } = reader.tables
  const [row] = await reader
    .select({ proposals: count() })
    .from(ruleProposals)
    .where(
      and(
        conditionOf(reader, { proposedBy, state }),
        since === undefined ? undefined : gte(ruleProposals.createdAt, since),
      ),
    )
  return row!.proposals
}

export async function insertProposal(
  tx: Tx,
  row: Omit<ProposalRow, 'id' | 'uid' | 'state' | 'decidedBy' | 'decidedAt' | 'reason' | 'ruleId'>,
): Promise<Id<'rpr'>> {
  const uid = newId('rpr')
  await tx.insert(tx.tables.ruleProposals).values({ ...row, uid, state: 'open' })
  return uid
}

export interface Outcome {
  state: Exclude<ProposalState, 'open'>
  decidedBy: number | null
  decidedAt: number
  reason?: string
  ruleId?: number
}

/** Returns false if it was decided meanwhile. */
export async function decideProposal(tx: Tx, id: number, outcome: Outcome): Promise<boolean> {
  const { ruleProposals: proposals } = tx.tables
  const changed = await tx
    .update(proposals)
    .set(outcome)
    .where(and(eq(proposals.id, id), eq(proposals.state, 'open')))
    .returning({ id: proposals.id })
  return changed.length > 0
}
