/** The keys of rows as texts that identify them in a file, and back. */
import { and, eq, inArray, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Reader } from '../../../database/database.ts'
import type { Tables } from '../../../database/schema/tables.ts'
import type { Id } from '../../../lib/id.ts'
import type { Referred } from '../columns.ts'

/** The tables of the rules whose versions are referred to. */
const RULES = { placementRuleVersions: 'placementRules', fundingRuleVersions: 'fundingRules' } as const

type RuleVersions = keyof typeof RULES
type WithId = Exclude<Referred, 'names' | 'labelSets' | 'planGenerations' | RuleVersions>

const areRuleVersions = (to: Referred): to is RuleVersions => to in RULES

export interface Identified {
  key: number
  text: string
}

function tableWithId(reader: Reader, to: WithId): PgTable & { id: PgColumn; uid: PgColumn } {
  return reader.tables[to] as never
}

/** The texts of rows with these keys. Labels are JSON. */
export async function listTexts(reader: Reader, to: Referred, keys: readonly number[]): Promise<Identified[]> {
  if (to === 'names') {
    const { names } = reader.tables
    return reader
      .select({ key: names.id, text: names.text })
      .from(names)
      .where(inArray(names.id, [...keys]))
  }
  if (to === 'labelSets') {
    const { labelSets } = reader.tables
    return reader
      .select({ key: labelSets.id, text: sql<string>`${labelSets.labels}` })
      .from(labelSets)
      .where(inArray(labelSets.id, [...keys]))
  }
  if (to === 'planGenerations') return generations(reader, inArray(reader.tables.planGenerations.id, [...keys]))
  if (areRuleVersions(to)) return ruleVersions(reader, to, inArray(versionsOf(reader, to).id, [...keys]))
  const table = tableWithId(reader, to)
  const rows = await reader
    .select({ key: table.id, text: table.uid })
    .from(table)
    .where(inArray(table.id, [...keys]))
  return rows as Identified[]
}

/** Typed as those of placement: the columns of both that are read are the same. */
function versionsOf(reader: Reader, to: RuleVersions): Tables['placementRuleVersions'] {
  return reader.tables[to] as never
}

async function ruleVersions(reader: Reader, to: RuleVersions, condition: SQL | undefined): Promise<Identified[]> {
  const versions = versionsOf(reader, to)
  const rules = tableWithId(reader, RULES[to])
  const rows = await reader
    .select({ key: versions.id, version: versions.version, rule: rules.uid })
    .from(versions)
    .innerJoin(rules, eq(rules.id, versions.ruleId))
    .where(condition)
  return rows.map(({ key, version, rule }) => ({ key, text: `${rule}/${version}` }))
}

/** By plan and first day: of each period that a file contains, there is one. */
async function generations(reader: Reader, condition: SQL | undefined): Promise<Identified[]> {
  const { planGenerations: g, plans } = reader.tables
  const rows = await reader
    .select({ key: g.id, plan: plans.uid, firstDay: g.firstDay })
    .from(g)
    .innerJoin(plans, eq(plans.id, g.planId))
    .where(condition)
  return rows.map(({ key, plan, firstDay }) => ({ key, text: `${plan}/${firstDay}` }))
}

/** The rows that these texts identify. */
export async function findIdentified(
  reader: Reader,
  to: Exclude<Referred, 'names' | 'labelSets'>,
  texts: readonly string[],
): Promise<Identified[]> {
  if (texts.length === 0) return []
  if (to === 'planGenerations') {
    const { planGenerations: g, plans } = reader.tables
    const found: Identified[] = []
    for (const [plan, group] of Map.groupBy(texts, (text) => text.split('/')[0]!)) {
      const days = group.map((text) => text.split('/')[1]!)
      found.push(...(await generations(reader, and(eq(plans.uid, plan as Id<'pln'>), inArray(g.firstDay, days)))))
    }
    return found
  }
  if (areRuleVersions(to)) {
    const { uid } = tableWithId(reader, RULES[to])
    const { version } = versionsOf(reader, to)
    const found: Identified[] = []
    for (const [rule, group] of Map.groupBy(texts, (text) => text.split('/')[0]!)) {
      const numbers = group.map((text) => Number(text.split('/')[1]))
      found.push(...(await ruleVersions(reader, to, and(eq(uid, rule), inArray(version, numbers)))))
    }
    return found
  }
  const table = tableWithId(reader, to)
  const rows = await reader
    .select({ key: table.id, text: table.uid })
    .from(table)
    .where(inArray(table.uid, [...texts]))
  return rows as Identified[]
}
