import type { Reader } from '../../../database/database.ts'
import { dayAt } from '../../../lib/calendar.ts'

/** The organization as shown on bills. */
export async function getIssuer(reader: Reader) {
  const { organization } = reader.tables
  const [row] = await reader
    .select({
      name: organization.name,
      email: organization.email,
      address: organization.address,
      taxId: organization.taxId,
      timeZone: organization.timeZone,
      locale: organization.locale,
      currency: organization.currency,
      markupPpm: organization.markupPpm,
      dueDays: organization.dueDays,
      reminderDays: organization.reminderDays,
      numberFormat: organization.billNumberFormat,
      footer: organization.billFooter,
      approvalRequired: organization.approvalRequired,
      costBasis: organization.costBasis,
    })
    .from(organization)
  return row!
}

/** The day of a moment in the organization's zone, which decides what is overdue. */
export async function dayOf(reader: Reader, moment: number): Promise<string> {
  return dayAt(moment, (await getIssuer(reader)).timeZone)
}

/** The logo on documents; undefined if there is none. */
export async function findLogo(reader: Reader): Promise<{ bytes: Uint8Array; type: string } | undefined> {
  const { organization } = reader.tables
  const [row] = await reader.select({ bytes: organization.logo, type: organization.logoType }).from(organization)
  return row?.bytes && row.type ? { bytes: row.bytes, type: row.type } : undefined
}
