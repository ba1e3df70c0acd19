/** The table `fundings`: what was said and decided of how entries are paid for, once for all that are equal. */
import { eq, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import { idBytes } from '../../../lib/id.ts'
import type { SaidFunding } from '../contract.ts'
import type { Funded } from '../terms.ts'

/** The keys of these fundings, which are added where they are new, unless another transaction does so meanwhile. */
export async function addFundings(tx: Tx, all: readonly Funded[]): Promise<number[]> {
  const found = await findFundings(tx, all)
  const added = all.filter((_, position) => found[position] === undefined)
  if (added.length === 0) return found as number[]
  const rows = added.map(({ uid, said, funding, plan, rule, reason, note }) => ({
    uid,
    saidFunding: said?.funding ?? null,
    saidPlan: said?.plan ?? null,
    funding,
    planId: plan?.id ?? null,
    meteredShare: said?.metered_share ?? null,
    ruleVersionId: rule?.versionId ?? null,
    reason,
    note,
  }))
  await tx
    .insert(tx.tables.fundings)
    // In the same order everywhere, so that two transactions that add the same do not wait for each other.
    .values(rows.sort((one, other) => (one.uid < other.uid ? -1 : 1)))
    .onConflictDoNothing()
  return (await findFundings(tx, all)) as number[]
}

export async function findFundings(
  reader: Reader,
  all: readonly Pick<Funded, 'uid'>[],
): Promise<(number | undefined)[]> {
  const found = await reader.findEach(
    'fundings.by-uid',
    (prepare) => {
      const { fundings } = prepare.tables
      return prepare
        .select({ id: fundings.id })
        .from(fundings)
        .where(eq(fundings.uid, sql.placeholder('uid')))
    },
    // Values of placeholders are not converted.
    all.map(({ uid }) => ({ uid: idBytes(uid) })),
  )
  return found.map(([row]) => row?.id)
}

/** Null if nothing was said. */
export function saidOf(
  funding: SaidFunding['funding'],
  plan: string | null,
  share: number | null = null,
): SaidFunding | null {
  if (funding === null && plan === null) return null
  return { funding, plan, ...(share !== null && { metered_share: share }) }
}
