/** The one row of the table `organization`. */
import { eq, getTableColumns } from 'drizzle-orm'
import type { Reader, Tx } from '../../database/database.ts'
import type { Tables } from '../../database/schema/tables.ts'
import type { LogoType } from '../../schema/fields.ts'

type Row = Tables['organization']['$inferSelect']

/** Everything but the picture; `fields.ts` says what each setting means. */
export interface Organization extends Omit<Row, 'id' | 'logo' | 'logoType' | 'setUpAt' | 'eventsRemovedTo'> {
  /** The type of the logo on bills; null if there is none. */
  logoType: LogoType | null
}

export interface Logo {
  bytes: Uint8Array
  type: LogoType
}

export async function getOrganization(reader: Reader): Promise<Organization> {
  const { organization } = reader.tables
  const { id: _, logo: __, setUpAt: ___, eventsRemovedTo: ____, ...columns } = getTableColumns(organization)
  const [row] = await reader.select(columns).from(organization)
  return row as Organization
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
