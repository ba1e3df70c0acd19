/** The one row of the table `organization`. */
import { eq } from 'drizzle-orm'
import type { Reader, Tx } from '../../database/database.ts'
import type { UnknownProjects } from '../../database/schema/values.ts'
import type { LogoType } from '../../fields.ts'

export interface Organization {
  name: string
  /** IANA name; the zone of days and months in reports and bills. */
  timeZone: string
  /** ISO 4217 code of bills where nothing else is asked for. */
  currency: string
  unknownProjects: UnknownProjects
  /** Whether only approved entries are billed. */
  approvalRequired: boolean
  /** From here on, what bills say of it. The address that they are sent from, and that is written to. */
  email: string | null
  address: string | null
  taxId: string | null
  /** Parts per million, where neither project nor client has one; null for none. */
  markupPpm: number | null
  dueDays: number
  /** Such as `{year}-{sequence:4}`. */
  billNumberFormat: string
  /** Below every bill: how to pay. */
  billFooter: string | null
  /** Whether people are found by the e-mail that agents send with an organization token. */
  telemetryByEmail: boolean
  /** Of the picture on bills; null where there is none. */
  logoType: LogoType | null
  /** When everything that is older was made up, to be looked at; null where nothing was. */
  demoAt: number | null
}

export interface Logo {
  bytes: Uint8Array
  type: LogoType
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
      email: organization.email,
      address: organization.address,
      taxId: organization.taxId,
      markupPpm: organization.markupPpm,
      dueDays: organization.dueDays,
      billNumberFormat: organization.billNumberFormat,
      billFooter: organization.billFooter,
      telemetryByEmail: organization.telemetryByEmail,
      logoType: organization.logoType,
      demoAt: organization.demoAt,
    })
    .from(organization)
  return { ...row!, logoType: row!.logoType as LogoType | null }
}

export async function findLogo(reader: Reader): Promise<Logo | undefined> {
  const { organization } = reader.tables
  const [row] = await reader.select({ bytes: organization.logo, type: organization.logoType }).from(organization)
  return row?.bytes ? { bytes: row.bytes, type: row.type as LogoType } : undefined
}

export async function updateLogo(tx: Tx, logo: Logo | null): Promise<void> {
  const { organization } = tx.tables
  await tx
    .update(organization)
    .set({ logo: logo?.bytes ?? null, logoType: logo?.type ?? null })
    .where(eq(organization.id, 1))
}

export async function updateOrganization(
  tx: Tx,
  change: Partial<Omit<Organization, 'logoType'>> & { setUpAt?: number },
): Promise<void> {
  await tx.update(tx.tables.organization).set(change).where(eq(tx.tables.organization.id, 1))
}
