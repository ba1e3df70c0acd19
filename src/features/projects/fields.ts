/** Editable fields of clients, projects and tickets. Absent fields stay unchanged; null clears a field. */
import type { Nanos } from '../../lib/money.ts'

export interface ClientFields {
  name?: string | undefined
  email?: string | null | undefined
  address?: string | null | undefined
  taxId?: string | null | undefined
  /** ISO 4217 code of its bills; null for the organization's. */
  currency?: string | null | undefined
  /** The markup on costs; null for the organization's. */
  markupPpm?: number | null | undefined
}

export interface ProjectFields {
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
  /** Replaces all leads, by id (`usr_…`) or e-mail address. */
  leads?: string[] | undefined
  addLeads?: string[] | undefined
  removeLeads?: string[] | undefined
}

export interface TicketFields {
  key?: string | undefined
  title?: string | null | undefined
  /** Id (`prj_…`), key, name or alias. */
  project?: string | null | undefined
}
