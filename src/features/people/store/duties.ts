/** What people have or do that nobody with the role viewer may. */
import { and, count, eq, gt, inArray, isNull, ne, or, type SQL } from 'drizzle-orm'
import type { Reader } from '../../../database/database.ts'
import type { Tables } from '../../../database/schema/tables.ts'

/** Sheets that their owner still has to submit, or somebody to decide about. */
const UNSETTLED_SHEETS = ['open', 'submitted', 'returned'] as const

/** The number of each, at this moment. */
export interface Duties {
  /** Usable tokens, except of the organization, which belong to it, and of trusts. */
  tokens: number
  trusts: number
  shareLinks: number
  sheets: number
  /** Clients and projects that the person leads or approves for. */
  led: number
  approved: number
  /** Deputies of the person, and people whose deputy they are, now or later. */
  deputies: number
}

export async function countDuties(reader: Reader, userId: number, now: number): Promise<Duties> {
  const { tokens, trusts, shareLinks, sheets, deputies } = reader.tables
  const { clientLeads, projectLeads, clientApprovers, projectApprovers } = reader.tables
  const of = async (table: Tables[keyof Tables], condition: SQL | undefined) => {
    const [row] = await reader.select({ found: count() }).from(table).where(condition)
    return row!.found
  }
  const isUnended = or(isNull(tokens.expiresAt), gt(tokens.expiresAt, now))
  return {
    tokens: await of(
      tokens,
      and(
        eq(tokens.createdBy, userId),
        ne(tokens.kind, 'org'),
        isNull(tokens.trustId),
        isNull(tokens.revokedAt),
        isUnended,
      ),
    ),
    trusts: await of(trusts, and(eq(trusts.userId, userId), isNull(trusts.removedAt))),
    shareLinks: await of(
      shareLinks,
      and(eq(shareLinks.createdBy, userId), isNull(shareLinks.revokedAt), gt(shareLinks.expiresAt, now)),
    ),
    sheets: await of(sheets, and(eq(sheets.managerId, userId), inArray(sheets.status, [...UNSETTLED_SHEETS]))),
    led:
      (await of(clientLeads, eq(clientLeads.userId, userId))) +
      (await of(projectLeads, eq(projectLeads.userId, userId))),
    approved:
      (await of(clientApprovers, eq(clientApprovers.userId, userId))) +
      (await of(projectApprovers, eq(projectApprovers.userId, userId))),
    deputies: await of(
      deputies,
      and(or(eq(deputies.personId, userId), eq(deputies.deputyId, userId)), gt(deputies.endsAt, now)),
    ),
  }
}
