/** The one row of the table `organization`. */
import { eq } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import type { UnknownProjects } from '../../../database/tables.ts'

export interface Organization {
  name: string
  /** IANA name; the zone of days and months in reports and bills. */
  timeZone: string
  /** ISO 4217 code of bills where nothing else is asked for. */
  currency: string
  unknownProjects: UnknownProjects
  /** Whether only approved entries are billed. */
  approvalRequired: boolean
}

export async function getOrganization(reader: Reader): Promise<Organization> {
  const { organization } = reader.tables
  const [row] = await reader
    .select({
      name: organization.name,
      timeZone: organization.timeZone,
      currency: organization.currency,
      unknownProjects: organization.unknownProjects,
      approvalRequired: organization.approvalRequired,
    })
    .from(organization)
  return row!
}

export async function updateOrganization(tx: Tx, change: Partial<Organization> & { setUpAt?: number }): Promise<void> {
  await tx.update(tx.tables.organization).set(change).where(eq(tx.tables.organization.id, 1))
}
