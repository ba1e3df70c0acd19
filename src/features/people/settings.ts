/** The organization's settings. */
import { Cached } from '../../database/cached.ts'
import type { Database, Reader } from '../../database/database.ts'
import { UNKNOWN_PROJECTS } from '../../database/tables.ts'
import { validationFailed } from '../../errors.ts'
import { composeName } from '../../lib/names.ts'
import { type Actor, type AuditService, difference } from '../audit/service.ts'
import { faultsOfCurrency, faultsOfName, faultsOfTimeZone } from './rules.ts'
import { getOrganization, type Organization, updateOrganization } from './store/organization.ts'

/** Absent is unchanged. */
export type SettingsChange = { [Name in keyof Organization]?: Organization[Name] | undefined }

/** The settings as the API and the audit trail name them. */
export function settingsBody({ name, timeZone, currency, unknownProjects, approvalRequired }: Organization) {
  return {
    name,
    time_zone: timeZone,
    currency,
    unknown_projects: unknownProjects,
    approval_required: approvalRequired,
  }
}

export function createSettings({ db, audit }: { db: Database; audit: AuditService }) {
  const held = new Cached(getOrganization)

  return {
    /** The organization's settings, held until they change. */
    organization: (reader: Reader = db.read): Organization | Promise<Organization> => held.get(reader),

    /**
     * The only way to change a setting after the set-up, so that what depends on one (days and months on the time zone)
     * can follow within the same transaction. Throws `validation_failed`.
     */
    async changeSettings(given: SettingsChange, by: Actor): Promise<Organization> {
      const name = given.name === undefined ? undefined : composeName(given.name)
      const { timeZone, currency, unknownProjects } = given
      const faults = [
        ...(name === undefined ? [] : faultsOfName(name, '/name')),
        ...(timeZone === undefined ? [] : faultsOfTimeZone(timeZone, '/time_zone')),
        ...(currency === undefined ? [] : faultsOfCurrency(currency, '/currency')),
        ...(unknownProjects === undefined || UNKNOWN_PROJECTS.includes(unknownProjects)
          ? []
          : [
              {
                pointer: '/unknown_projects',
                code: 'not_allowed',
                message: `must be one of ${UNKNOWN_PROJECTS.join(', ')}`,
              },
            ]),
      ]
      if (faults.length > 0) throw validationFailed(faults)
      return db.write(async (tx) => {
        const before = await getOrganization(tx)
        const after: Organization = {
          name: name ?? before.name,
          timeZone: timeZone ?? before.timeZone,
          currency: currency ?? before.currency,
          unknownProjects: unknownProjects ?? before.unknownProjects,
          approvalRequired: given.approvalRequired ?? before.approvalRequired,
        }
        const changes = difference(settingsBody(before), settingsBody(after))
        if (!changes) return before
        await updateOrganization(tx, after)
        await audit.record(tx, by, { action: 'organization.changed', ...changes })
        return after
      })
    },
  }
}
