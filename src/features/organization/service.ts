/** The organization's settings. */

import type { Actor } from '../../access/actor.ts'
import { Cached } from '../../database/cached.ts'
import type { Database, Reader, Tx } from '../../database/database.ts'
import { notFound, validationFailed } from '../../errors.ts'
import { type AuditService, difference } from '../audit/service.ts'
import { bodyOf, type Change, readChange, storedUrl } from './fields.ts'
import { readLogo } from './logo.ts'
import type { Settings } from './schema.ts'
import { findLogo, getOrganization, type Logo, type Organization, updateLogo, updateOrganization } from './store.ts'

type Body = Omit<Settings, 'public_url_option'>

/** The settings under their API names, as the audit log records them; not `forBilling`, those that everyone can read. */
export const settingsBody = (organization: Organization, { forBilling = true } = {}): Body =>
  ({
    ...bodyOf(organization, { forBilling }),
    demo: organization.demoAt !== null,
    ...(forBilling && { logo: organization.logoType }),
  }) as Body

export { issuesOfPublicUrl, storedUrl } from './fields.ts'

export type OrganizationService = ReturnType<typeof createOrganizationService>

export type { Logo, Organization }

interface Dependencies {
  db: Database
  audit: AuditService
  /** The public URL that an option of this process gives; undefined without. */
  publicUrlOption?: string | undefined
}

export function createOrganizationService({ db, audit, publicUrlOption }: Dependencies) {
  const held = new Cached(getOrganization)

  return {
    /** The organization's settings, cached until they change. */
    settings: (reader: Reader = db.read): Organization | Promise<Organization> => held.get(reader),

    /** What an option of this process gives as the public URL, which takes precedence over the setting. */
    publicUrlOption,

    /** Settings as responses have them, with the option that makes a change of the setting ineffective. */
    bodyOf: (organization: Organization, readable?: { forBilling: boolean }): Settings => ({
      ...settingsBody(organization, readable),
      public_url_option: publicUrlOption ?? null,
    }),

    /** The public URL once the setting is `given`, as {@link changeSettings} stores it; undefined if there is none. */
    publicUrlWith: (given: string | null): string | undefined =>
      publicUrlOption ?? (given === null ? undefined : storedUrl(given)),

    /**
     * The public URL, which is never taken from a request: the option of this process, or else the setting, of which
     * changes count at once; undefined if neither is set. It has no slash at its end.
     */
    publicUrl(): string | undefined | Promise<string | undefined> {
      if (publicUrlOption !== undefined) return publicUrlOption
      const settings = held.get(db.read)
      return settings instanceof Promise
        ? settings.then(({ publicUrl }) => publicUrl ?? undefined)
        : (settings.publicUrl ?? undefined)
    },

    /**
     * The only way to change a setting after the setup, so that dependent data (days and months on the time zone) can
     * follow in the same transaction. Throws `validation_failed`.
     */
    async changeSettings(given: Change, by: Actor): Promise<Organization> {
      const { change, issues } = readChange(given)
      if (issues.length > 0) throw validationFailed(issues)
      return db.write(async (tx) => {
        const before = await getOrganization(tx)
        // Before the first id is hashed, so that no report misses its session.
        const hashedSessionIds = before.hashedSessionIds || Boolean(change.retentionSessionIds)
        const after = { ...before, ...change, hashedSessionIds } as Organization
        const changes = difference(settingsBody(before), settingsBody(after))
        if (!changes) return before
        await updateOrganization(tx, { ...change, hashedSessionIds } as Partial<Organization>)
        await audit.record(tx, by, {
          action: 'organization.changed',
          object: { id: 'organization', name: after.name },
          ...changes,
        })
        return after
      })
    },

    /** Saves the settings of the first-run setup, in its transaction and its audit record. An absent one stays. */
    async setUp(
      tx: Tx,
      settings: Pick<Organization, 'name' | 'timeZone' | 'currency'> & {
        locale?: string | null | undefined
        publicUrl?: string | null | undefined
      },
      setUpAt: number,
    ): Promise<Organization> {
      const { locale, publicUrl, ...others } = settings
      await updateOrganization(tx, {
        ...others,
        setUpAt,
        ...(locale !== undefined && { locale }),
        ...(publicUrl !== undefined && { publicUrl }),
      })
      return getOrganization(tx)
    },

    /** Marks everything up to `demoAt` as removable demo data. */
    declareDemo: (demoAt: number, by: Actor): Promise<void> =>
      db.write(async (tx) => {
        await updateOrganization(tx, { demoAt })
        await audit.record(tx, by, { action: 'organization.demo_made', after: { demo: true } })
      }),

    /** In the transaction that rewrites or removes interned texts: servers forget the keys that they hold in memory. */
    async textsChanged(tx: Tx): Promise<void> {
      const { internedVersion } = await getOrganization(tx)
      await updateOrganization(tx, { internedVersion: internedVersion + 1 })
    },

    /** Before the id of a session is replaced by its hash. */
    hashSessionIds: (tx: Tx): Promise<void> => updateOrganization(tx, { hashedSessionIds: true }),

    /** Remembers that the space of removed content was overwritten. */
    declareCompacted: (compactedAt: number): Promise<void> => db.write((tx) => updateOrganization(tx, { compactedAt })),

    /** The logo on bills. Throws `not_found` if there is none. */
    async getLogo(): Promise<Logo> {
      const logo = await findLogo(db.read)
      if (!logo) throw notFound('The logo')
      return logo
    },

    /** Sets the logo for future bills; null removes it. Throws `validation_failed` unless it is a PNG or JPEG. */
    async changeLogo(bytes: Uint8Array | null, by: Actor): Promise<Organization> {
      const logo = bytes && readLogo(bytes)
      return db.write(async (tx) => {
        const before = await findLogo(tx)
        await updateLogo(tx, logo)
        const told = (picture: Logo | null | undefined) =>
          picture ? { logo: picture.type, bytes: picture.bytes.length } : { logo: null }
        await audit.record(tx, by, {
          action: 'organization.logo_changed',
          object: { id: 'logo', name: 'logo' },
          before: told(before),
          after: told(logo),
        })
        return getOrganization(tx)
      })
    },
  }
}
