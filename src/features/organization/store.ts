/** The one row of the table `organization`. */
import { eq } from 'drizzle-orm'
import type { Reader, Tx } from '../../database/database.ts'
import type { SameSession, UnknownProjects, Weekday } from '../../database/schema/values.ts'
import type { LogoType } from '../../schema/fields.ts'

export interface Organization {
  name: string
  /** IANA name; the zone of days and months in reports and bills. */
  timeZone: string
  /** The first day of the weeks in reports. */
  weekStart: Weekday
  /** ISO 4217 code of bills without a currency of their own. */
  currency: string
  /** What links begin with, unless an option of the server says it: `https://tally.example.com`; null if not set. */
  publicUrl: string | null
  unknownProjects: UnknownProjects
  sameSession: SameSession
  /** Whether only approved entries are billed. */
  approvalRequired: boolean
  /** Whether people can create API tokens, and existing ones work. */
  apiTokens: boolean
  /** Whether people can create links for those without an account, and existing ones work. */
  shareLinks: boolean
  /** Whether rules that leads propose take effect without an admin. */
  leadRules: boolean
  /** The following fields are shown on bills. This address is also the sender of mails with bills. */
  email: string | null
  address: string | null
  taxId: string | null
  /** Parts per million, if neither project nor client has one; null for none. */
  markupPpm: number | null
  dueDays: number
  /** Days after the due date of a bill, and between its reminders; null for no reminders. */
  reminderDays: number | null
  /** For example `{year}-{sequence:4}`. */
  billNumberFormat: string
  /** Below every bill: payment instructions. */
  billFooter: string | null
  /** Whether people are identified by the e-mail address that agents send with an organization token. */
  telemetryByEmail: boolean
  /** The type of the logo on bills; null if there is none. */
  logoType: LogoType | null
  /** Months after which texts of entries, session ids, history, the audit log and events are removed; null to keep them. */
  retentionTexts: number | null
  retentionSessionIds: number | null
  retentionHistory: number | null
  retentionAudit: number | null
  retentionEvents: number | null
  /** Optional fields that entries on token sheets must have: `ticket`, `label:team`. */
  sheetRequiredFields: string[]
  /** Whether some sessions have only the hash of their id. */
  hashedSessionIds: boolean
  /** Changes when interned texts are erased. */
  internedVersion: number
  /** When the space of removed content was last overwritten; null if never. */
  compactedAt: number | null
  /** The time up to which all data is demo data; null if there is none. */
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
      weekStart: organization.weekStart,
      currency: organization.currency,
      publicUrl: organization.publicUrl,
      unknownProjects: organization.unknownProjects,
      sameSession: organization.sameSession,
      approvalRequired: organization.approvalRequired,
      apiTokens: organization.apiTokens,
      shareLinks: organization.shareLinks,
      leadRules: organization.leadRules,
      email: organization.email,
      address: organization.address,
      taxId: organization.taxId,
      markupPpm: organization.markupPpm,
      dueDays: organization.dueDays,
      reminderDays: organization.reminderDays,
      billNumberFormat: organization.billNumberFormat,
      billFooter: organization.billFooter,
      telemetryByEmail: organization.telemetryByEmail,
      logoType: organization.logoType,
      demoAt: organization.demoAt,
      retentionTexts: organization.retentionTexts,
      retentionSessionIds: organization.retentionSessionIds,
      retentionHistory: organization.retentionHistory,
      retentionAudit: organization.retentionAudit,
      retentionEvents: organization.retentionEvents,
      hashedSessionIds: organization.hashedSessionIds,
      internedVersion: organization.internedVersion,
      compactedAt: organization.compactedAt,
      sheetRequiredFields: organization.sheetRequiredFields,
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
