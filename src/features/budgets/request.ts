/** What bodies of budgets mean. */
import type { Reader } from '../../database/database.ts'
import type { BudgetThreshold } from '../../database/schema/records.ts'
import { type Issue, refusal, validationFailed } from '../../errors.ts'
import { isDay } from '../../lib/calendar.ts'
import { numberText } from '../../lib/exact-json.ts'
import { NANO_DIGITS, parseDecimal, parseExactDecimal } from '../../lib/money.ts'
import { composeName } from '../../lib/names.ts'
import { issuesOfEmail, issuesOfName } from '../../schema/fields.ts'
import { issuesOfPeople } from '../people/service.ts'
import { issuesOfWork } from '../projects/service.ts'
import type { BudgetRecord } from '../spending/contract.ts'
import { DOLLARS_LIMIT, type NewBudget, type Threshold } from './schema.ts'
import { type BudgetFilter, findPeople, findScope, findWebhooks } from './store.ts'

/** Warns billing and leads, whoever they are at the time. */
export const USUAL_THRESHOLDS: BudgetThreshold[] = [50, 80, 100].map((percent) => ({
  percent,
  leads: true,
  billing: true,
}))

type ScopeColumns = Pick<
  BudgetRecord,
  'clientId' | 'projectId' | 'ticketId' | 'managerId' | 'agentName' | 'model' | 'labelName' | 'labelValue'
>

const LABEL = /^([a-z0-9_.-]{1,64}):(.{1,256})$/

/** Throws 422 for what does not exist, with the nearest names. Issues point to fields `within` the request. */
export async function readScope(
  reader: Reader,
  scope: NonNullable<NewBudget['scope']>,
  within: '/scope' | '/query' = '/scope',
): Promise<ScopeColumns> {
  const label = scope.label ? LABEL.exec(scope.label) : undefined
  const issues: Issue[] = [
    ...issuesOfMissing(scope, within),
    ...(await issuesOfWork(reader, 'client', listed(scope.client), `${within}/client`)),
    ...(await issuesOfWork(reader, 'project', listed(scope.project), `${within}/project`)),
    ...(await issuesOfWork(reader, 'ticket', listed(scope.ticket), `${within}/ticket`)),
    ...(await issuesOfPeople(reader, listed(scope.agent_manager), `${within}/agent_manager`)),
    ...(label === null
      ? [
          {
            pointer: `${within}/label`,
            code: 'bad_format',
            message: 'must be name:value, such as repository:acme/web',
          } as Issue,
        ]
      : []),
  ]
  if (issues.length > 0) throw validationFailed(issues)
  const { clientId, projectId, ticketId, managerId } = await findScope(reader, scope)
  return {
    clientId,
    projectId,
    ticketId,
    managerId,
    agentName: scope.agent_name ?? null,
    model: scope.model ?? null,
    labelName: label?.[1] ?? null,
    labelValue: label?.[2] ?? null,
  }
}

/** An empty name would mean everything, and `none`, as in filters, is nothing that a budget could be for. */
function issuesOfMissing(scope: NonNullable<NewBudget['scope']>, within: string): Issue[] {
  return Object.entries(scope).flatMap(([name, value]) =>
    value === null || (value.trim() !== '' && value !== 'none')
      ? []
      : [{ pointer: `${within}/${name}`, code: 'not_allowed', message: 'must name something; leave it out for all' }],
  )
}

function listed(value: string | null | undefined): string[] | undefined {
  return value ? [value] : undefined
}

/**
 * Throws 422 for projects, clients and tickets in a filter that do not exist, with the nearest names; for people only if
 * the caller may learn who exists.
 */
export async function requireKnownNames(
  reader: Reader,
  { projects, clients, tickets, managers }: BudgetFilter,
  listsPeople: boolean,
): Promise<void> {
  const issues = [
    ...(await issuesOfWork(reader, 'project', projects, '/query/project')),
    ...(await issuesOfWork(reader, 'client', clients, '/query/client')),
    ...(await issuesOfWork(reader, 'ticket', tickets, '/query/ticket')),
    ...(listsPeople ? await issuesOfPeople(reader, managers, '/query/agent_manager') : []),
  ]
  if (issues.length > 0) throw validationFailed(issues)
}

/** Nano-dollars or tokens. */
export function readAmount(body: { amount: number }, measure: BudgetRecord['measure']): bigint {
  const text = numberText(body, 'amount')
  const isTokens = measure === 'tokens'
  const units = isTokens ? parseExactDecimal(text, 0) : parseDecimal(text, NANO_DIGITS)
  if (units !== undefined && (isTokens || units <= BigInt(DOLLARS_LIMIT) * 1_000_000_000n)) return units
  const expected = isTokens ? 'a whole number of tokens' : `US dollars from 0 to ${DOLLARS_LIMIT}`
  throw refusal('/amount', 'not_allowed', `must be ${expected}`)
}

export function readName(name: string): string {
  const issues = issuesOfName(name, '/name')
  if (issues.length > 0) throw validationFailed(issues)
  return composeName(name)
}

export function checkDays({ firstDay, lastDay }: Pick<BudgetRecord, 'firstDay' | 'lastDay'>): void {
  const issues: Issue[] = []
  for (const [pointer, day] of [
    ['/starts_on', firstDay],
    ['/ends_on', lastDay],
  ] as const) {
    if (day !== null && (!isDay(day) || day < '2000-01-01' || day > '2999-12-31')) {
      issues.push({ pointer, code: 'bad_format', message: 'must be an existing day from 2000 to 2999' })
    }
  }
  if (firstDay !== null && lastDay !== null && firstDay > lastDay) {
    issues.push({ pointer: '/ends_on', code: 'not_allowed', message: 'must not be before starts_on' })
  }
  if (issues.length > 0) throw validationFailed(issues)
}

/**
 * Throws 422 for people and webhooks that do not exist, and addresses that are none. Webhooks that a budget names already
 * may have been removed since.
 */
export async function readThresholds(
  reader: Reader,
  thresholds: readonly Threshold[],
  current: readonly BudgetThreshold[] = [],
): Promise<BudgetThreshold[]> {
  const issues: Issue[] = []
  const named = thresholds.flatMap(({ webhooks = [] }) => webhooks)
  const known = new Set([...current.flatMap(({ webhooks = [] }) => webhooks), ...(await findWebhooks(reader, named))])
  const read: BudgetThreshold[] = []
  for (const [
    position,
    { percent, of, leads, billing, people = [], emails = [], webhooks = [] },
  ] of thresholds.entries()) {
    const pointer = `/thresholds/${position}`
    issues.push(...(await issuesOfPeople(reader, people, `${pointer}/people`)))
    issues.push(...emails.flatMap((email, at) => issuesOfEmail(email, `${pointer}/emails/${at}`)))
    for (const [at, id] of webhooks.entries()) {
      if (!known.has(id)) {
        issues.push({
          pointer: `${pointer}/webhooks/${at}`,
          code: 'not_allowed',
          message: 'must be the id of a webhook (whk_…); `tally webhooks list` shows them',
        })
      }
    }
    const ids = (await findPeople(reader, people)).flatMap((id) => id ?? [])
    read.push({
      percent,
      ...(of === 'forecast' && { forecast: true as const }),
      ...(leads && { leads: true as const }),
      ...(billing && { billing: true as const }),
      ...(ids.length > 0 && { people: ids }),
      ...(emails.length > 0 && { emails }),
      ...(webhooks.length > 0 && { webhooks }),
    })
  }
  const keys = read.map(({ percent, forecast }) => `${percent} ${forecast === true}`)
  if (new Set(keys).size < keys.length) {
    issues.push({ pointer: '/thresholds', code: 'not_allowed', message: 'must not contain the same percentage twice' })
  }
  if (issues.length > 0) throw validationFailed(issues)
  return read.sort((one, other) => one.percent - other.percent)
}
