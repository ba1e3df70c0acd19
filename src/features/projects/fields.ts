/** Editable fields of clients, projects and tickets. Absent fields stay unchanged; null clears a field. */
import type { Nanos } from '../../lib/money.ts'

/** People by id (`usr_…`) or e-mail address. */
export interface ResponsibleFields {
  /** Replaces all leads. */
  leads?: string[] | undefined
  addLeads?: string[] | undefined
  removeLeads?: string[] | undefined
  /** Replaces all approvers. */
  approvers?: string[] | undefined
  addApprovers?: string[] | undefined
  removeApprovers?: string[] | undefined
}

export interface ClientFields extends ResponsibleFields {
  name?: string | undefined
  email?: string | null | undefined
  address?: string | null | undefined
  taxId?: string | null | undefined
  /** ISO 4217 code of its bills; null for the organization's. */
  currency?: string | null | undefined
  /** The markup on costs; null for the organization's. */
  markupPpm?: number | null | undefined
  /** Whether it is reminded of overdue bills by e-mail, if the settings say so. */
  reminders?: boolean | undefined
  /** The tax that new bills suggest, in parts per million; 0 for none, null for that of its last bill. */
  taxPpm?: number | null | undefined
  /** The name of the tax, such as VAT. */
  taxName?: string | null | undefined
}

export interface ProjectFields extends ResponsibleFields {
  key?: string | undefined
  name?: string | undefined
  /** Replaces all aliases. */
  aliases?: string[] | undefined
  /** Changes single aliases, for callers who don't know the others. */
  addAliases?: string[] | undefined
  removeAliases?: string[] | undefined
  /** Id (`cli_…`) or name. */
  client?: string | null | undefined
  billable?: boolean | undefined
  /** The markup on costs; null for the client's. */
  markupPpm?: number | null | undefined
  budgetNanos?: Nanos | null | undefined
  /** Replaces all repositories. */
  repositories?: string[] | undefined
  addRepositories?: string[] | undefined
  removeRepositories?: string[] | undefined
}

export interface TicketFields {
  key?: string | undefined
  title?: string | null | undefined
  /** Id (`prj_…`), key, name or alias. */
  project?: string | null | undefined
}
