/** Clients, projects and tickets as callers send them. */
import { type Issue, validationFailed } from '../../errors.ts'
import { numberText } from '../../lib/exact-json.ts'
import type { ClientFields, ProjectFields, TicketFields } from './fields.ts'
import type { ClientChange, NewClient, NewProject, NewTicket, ProjectChange, TicketChange } from './schema.ts'
import { BUDGET_EXPECTED, MARKUP_EXPECTED, parseBudget, parseMarkup, parseTax, TAX_EXPECTED } from './validation.ts'

/** Throws 422 for issues that a schema cannot express. */
export function readClient(body: NewClient | ClientChange): ClientFields {
  const { name, email, address, tax_id, tax_name, currency, reminders, leads, approvers } = body
  const issues: Issue[] = []
  const markupPpm = readMarkup(body, issues)
  const taxPpm = readTax(body, issues)
  if (issues.length > 0) throw validationFailed(issues)
  return {
    name,
    email,
    address,
    taxId: tax_id,
    currency,
    markupPpm,
    reminders,
    taxPpm,
    taxName: tax_name,
    leads,
    approvers,
  }
}

/** Throws 422 for issues that a schema cannot express. */
export function readProject(body: NewProject | ProjectChange): ProjectFields {
  const { key, name, aliases, client, billable, budget, leads, approvers, repositories } = body
  const issues: Issue[] = []
  const markupPpm = readMarkup(body, issues)
  // The body itself, which knows the digits as they were sent.
  const budgetNanos =
    budget === undefined || budget === null ? budget : parseBudget(numberText(body as { budget: number }, 'budget'))
  if (budget !== undefined && budgetNanos === undefined) {
    issues.push({ pointer: '/budget', code: 'not_allowed', message: BUDGET_EXPECTED })
  }
  if (issues.length > 0) throw validationFailed(issues)
  return { key, name, aliases, client, billable, markupPpm, budgetNanos, leads, approvers, repositories }
}

function readMarkup(body: { markup?: number | null }, issues: Issue[]): number | null | undefined {
  if (body.markup === undefined || body.markup === null) return body.markup
  const markupPpm = parseMarkup(numberText(body as { markup: number }, 'markup'))
  if (markupPpm === undefined) issues.push({ pointer: '/markup', code: 'not_allowed', message: MARKUP_EXPECTED })
  return markupPpm
}

function readTax(body: { tax_percent?: number | null }, issues: Issue[]): number | null | undefined {
  if (body.tax_percent === undefined || body.tax_percent === null) return body.tax_percent
  const taxPpm = parseTax(numberText(body as { tax_percent: number }, 'tax_percent'))
  if (taxPpm === undefined) issues.push({ pointer: '/tax_percent', code: 'not_allowed', message: TAX_EXPECTED })
  return taxPpm
}

export function readTicket(body: NewTicket | TicketChange): TicketFields {
  return { ...('key' in body && { key: body.key }), title: body.title, project: body.project }
}
