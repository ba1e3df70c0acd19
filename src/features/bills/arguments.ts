/** What a request composes, from the organization, the client or project, and the day. Pure. */
import { type Issue, validationFailed } from '../../errors.ts'
import { addDays, spanOf } from '../../lib/calendar.ts'
import type { Id } from '../../lib/id.ts'
import type { CompositionArgs } from './composition-task.ts'
import { issuesOfRequest, readAmounts, readRequest } from './request.ts'
import type { BillRequest } from './schema.ts'
import type { ScopeKeys } from './store/billable.ts'
import type { getIssuer } from './store/issuer.ts'

export type Issuer = Awaited<ReturnType<typeof getIssuer>>

export interface BilledClient {
  id: number
  uid: Id<'cli'>
  name: string
  address: string | null
  taxId: string | null
  email: string | null
  currency: string | null
}

export interface BilledProject {
  id: number
  uid: Id<'prj'>
  key: string
  name: string
}

/** What a request refers to. */
export interface Circumstances {
  issuer: Issuer
  today: string
  client: BilledClient | undefined
  project: BilledProject | undefined
  replaced: { id: Id<'bil'>; number: string } | undefined
  /** The number of entries in a portion. */
  portion: number
}

/** Throws `validation_failed` with every issue of the request. */
export function argumentsOf(
  body: BillRequest,
  { issuer, today, client, project, replaced, portion }: Circumstances,
): CompositionArgs {
  const issues: Issue[] = issuesOfRequest(body, today)
  const amounts = readAmounts(body, body.currency ?? client?.currency ?? issuer.currency)
  issues.push(...amounts.issues)
  if (issues.length > 0) throw validationFailed(issues)
  const { period, markupPpm, groupBy, tax, showCost, showActiveTime } = readRequest(body)
  return {
    scope: scopeOf(client, project),
    span: spanOf(period, issuer.timeZone),
    statuses: billableStatuses(issuer),
    includeEarlier: body.include_earlier,
    leaveUnpriced: body.leave_unpriced ?? false,
    basis: body.basis ?? 'cost',
    allowsProvisional: body.provisional ?? false,
    markups: { requested: markupPpm, ofOrganization: issuer.markupPpm ?? 0 },
    terms: { ...amounts.terms, groupBy, tax, showCost, showActiveTime },
    heading: {
      kind: 'bill',
      number: null,
      issued_on: today,
      due_on: addDays(today, body.due_days ?? issuer.dueDays),
      time_zone: issuer.timeZone,
      ...(issuer.locale !== null && { locale: issuer.locale }),
      issuer: { name: issuer.name, address: issuer.address, tax_id: issuer.taxId, email: issuer.email },
      recipient: client
        ? { name: client.name, address: client.address, tax_id: client.taxId, email: client.email }
        : null,
      scope: {
        client: client ? { id: client.uid, name: client.name } : null,
        project: project ? { id: project.uid, key: project.key, name: project.name } : null,
      },
      period,
      purchase_order: body.purchase_order ?? null,
      note: body.note ?? null,
      footer: issuer.footer,
      replaces: replaced ?? null,
      corrects: null,
    },
    portion,
  }
}

export const billableStatuses = ({
  approvalRequired,
}: Pick<Issuer, 'approvalRequired'>): ('submitted' | 'approved')[] =>
  approvalRequired ? ['approved'] : ['submitted', 'approved']

function scopeOf(client: BilledClient | undefined, project: BilledProject | undefined): ScopeKeys {
  if (project) return { projectId: project.id }
  return client ? { clientId: client.id } : 'everything'
}
