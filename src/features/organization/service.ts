/** The organization's settings. */

import type { Actor } from '../../access/actor.ts'
import { Cached } from '../../database/cached.ts'
import type { Database, Reader, Tx } from '../../database/database.ts'
import { SAME_SESSION, UNKNOWN_PROJECTS, WEEKDAYS } from '../../database/schema/values.ts'
import { type Issue, notFound, validationFailed } from '../../errors.ts'
import { decimalNumber } from '../../lib/money.ts'
import { composeName } from '../../lib/names.ts'
import { readPublicUrl } from '../../lib/public-url.ts'
import {
  ADDRESS_LIMIT,
  issuesOfCurrency,
  issuesOfEmail,
  issuesOfGiven,
  issuesOfName,
  issuesOfText,
  issuesOfTimeZone,
  MARKUP_DIGITS,
  MARKUP_EXPECTED,
} from '../../schema/fields.ts'
import { issueOfNumberFormat } from '../../shared/bill-numbers.ts'
import { isRequirable, REQUIRABLE_FIELDS, REQUIRED_LIMIT } from '../../shared/sheet-fields.ts'
import { type AuditService, difference } from '../audit/service.ts'
import { readLogo } from './logo.ts'
import type { Settings } from './schema.ts'
import { findLogo, getOrganization, type Logo, type Organization, updateLogo, updateOrganization } from './store.ts'

/** Not settings: what Tally itself remembers about the organization. */
type KeptByTally = 'logoType' | 'demoAt' | 'hashedSessionIds' | 'internedVersion' | 'compactedAt'

/** Absent fields stay unchanged; null clears a field. */
export type SettingsChange = {
  [Name in keyof Omit<Organization, KeptByTally>]?: Organization[Name] | undefined
}

/** No one waits longer to be paid: a due date more than a year ahead is a mistake. */
const DUE_DAYS_LIMIT = 365

/** A quarter: reminders that are further apart are calls. */
const REMINDER_DAYS_LIMIT = 90

/** The space on a page below the lines of a bill. */
const FOOTER_LIMIT = 1_000

/** The settings under their API names, as the audit log records them. */
export function settingsBody(organization: Organization) {
  const { markupPpm } = organization
  return {
    ...commonSettingsBody(organization),
    email: organization.email,
    address: organization.address,
    tax_id: organization.taxId,
    markup: markupPpm === null ? null : decimalNumber(BigInt(markupPpm), MARKUP_DIGITS),
    due_days: organization.dueDays,
    reminder_days: organization.reminderDays,
    bill_number_format: organization.billNumberFormat,
    bill_footer: organization.billFooter,
    logo: organization.logoType,
  }
}

/** The settings that everyone can read: placement, counting and retention, but no billing details. */
export function commonSettingsBody(organization: Organization) {
  const { name, timeZone, weekStart, currency, unknownProjects, sameSession } = organization
  const { approvalRequired, apiTokens, shareLinks, leadRules, telemetryByEmail, demoAt } = organization
  return {
    name,
    time_zone: timeZone,
    week_start: weekStart,
    currency,
    public_url: organization.publicUrl,
    unknown_projects: unknownProjects,
    same_session: sameSession,
    approval_required: approvalRequired,
    api_tokens: apiTokens,
    share_links: shareLinks,
    lead_rules: leadRules,
    telemetry_by_email: telemetryByEmail,
    retention_texts: organization.retentionTexts,
    retention_session_ids: organization.retentionSessionIds,
    retention_history: organization.retentionHistory,
    retention_audit: organization.retentionAudit,
    retention_events: organization.retentionEvents,
    sheet_required_fields: organization.sheetRequiredFields,
    demo: demoAt !== null,
  }
}

function issuesOfChoice<T extends string>(given: T | undefined, choices: readonly T[], pointer: string): Issue[] {
  if (given === undefined || choices.includes(given)) return []
  return [{ pointer, code: 'not_allowed', message: `must be one of ${choices.join(', ')}` }]
}

function issuesOfWhole(number: number, pointer: string, { from, to }: { from: number; to: number }): Issue[] {
  if (Number.isInteger(number) && number >= from && number <= to) return []
  return [{ pointer, code: 'not_allowed', message: `must be a whole number from ${from} to ${to}` }]
}

/** The retention periods: the least of them is what the database allows, too. */
const RETENTION = {
  retentionTexts: { pointer: '/retention_texts', from: 1 },
  retentionSessionIds: { pointer: '/retention_session_ids', from: 1 },
  retentionHistory: { pointer: '/retention_history', from: 12 },
  retentionAudit: { pointer: '/retention_audit', from: 12 },
  retentionEvents: { pointer: '/retention_events', from: 1 },
} as const

function issuesOfRequiredFields(fields: readonly string[]): Issue[] {
  if (fields.length > REQUIRED_LIMIT) {
    const message = `must name at most ${REQUIRED_LIMIT} fields`
    return [{ pointer: '/sheet_required_fields', code: 'too_many', message }]
  }
  return fields.flatMap((field, index) => {
    const pointer = `/sheet_required_fields/${index}`
    if (fields.indexOf(field) < index) return [{ pointer, code: 'not_allowed', message: 'is a duplicate' }]
    if (isRequirable(field)) return []
    const message = `must be one of ${Object.keys(REQUIRABLE_FIELDS).join(', ')} or label:<name>`
    return [{ pointer, code: 'not_allowed', message }]
  })
}

/** Ten years. */
const RETENTION_LIMIT = 120

function issuesOfRetention(given: SettingsChange): Issue[] {
  return Object.entries(RETENTION).flatMap(([name, { pointer, from }]) =>
    issuesOfGiven(given[name as keyof typeof RETENTION], (months) =>
      issuesOfWhole(months, pointer, { from, to: RETENTION_LIMIT }),
    ),
  )
}

/** A public URL as it is stored, with its issues; undefined and null stay. */
export function checkPublicUrl(
  given: string | null | undefined,
  pointer: string,
): { url: string | null | undefined; issues: Issue[] } {
  if (typeof given !== 'string') return { url: given, issues: [] }
  const read = readPublicUrl(given.trim())
  if ('url' in read) return { url: read.url, issues: [] }
  return { url: given, issues: [{ pointer, code: 'bad_format', message: read.issue }] }
}

function issuesOfBilling(given: SettingsChange): Issue[] {
  const { email, address, taxId, markupPpm, dueDays, reminderDays, billNumberFormat, billFooter } = given
  return [
    ...issuesOfGiven(email, (text) => issuesOfEmail(text, '/email')),
    ...issuesOfGiven(address, (text) => issuesOfText(text, '/address', ADDRESS_LIMIT)),
    ...issuesOfGiven(taxId, (text) => issuesOfName(text, '/tax_id')),
    ...issuesOfGiven(billFooter, (text) => issuesOfText(text, '/bill_footer', FOOTER_LIMIT)),
    ...issuesOfGiven(markupPpm, (ppm) =>
      Number.isNaN(ppm) ? [{ pointer: '/markup', code: 'not_allowed', message: MARKUP_EXPECTED }] : [],
    ),
    ...issuesOfGiven(dueDays, (days) => issuesOfWhole(days, '/due_days', { from: 0, to: DUE_DAYS_LIMIT })),
    ...issuesOfGiven(reminderDays, (days) =>
      issuesOfWhole(days, '/reminder_days', { from: 1, to: REMINDER_DAYS_LIMIT }),
    ),
    ...issuesOfGiven(billNumberFormat, (format) => {
      const message = issueOfNumberFormat(format)
      return message === undefined ? [] : [{ pointer: '/bill_number_format', code: 'bad_format', message }]
    }),
  ]
}

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
    bodyOf: (
      organization: Organization,
      body: (organization: Organization) => Omit<Settings, 'public_url_option'> = settingsBody,
    ): Settings => ({ ...body(organization), public_url_option: publicUrlOption ?? null }),

    /** The public URL once the setting is `given`, as {@link changeSettings} stores it; undefined if there is none. */
    publicUrlWith: (given: string | null): string | undefined =>
      publicUrlOption ?? checkPublicUrl(given, '/public_url').url ?? undefined,

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
    async changeSettings(given: SettingsChange, by: Actor): Promise<Organization> {
      const name = given.name === undefined ? undefined : composeName(given.name)
      const { timeZone, weekStart, currency, unknownProjects, sameSession } = given
      const { url: publicUrl, issues: publicUrlIssues } = checkPublicUrl(given.publicUrl, '/public_url')
      const issues = [
        ...(name === undefined ? [] : issuesOfName(name, '/name')),
        ...(timeZone === undefined ? [] : issuesOfTimeZone(timeZone, '/time_zone')),
        ...(currency === undefined ? [] : issuesOfCurrency(currency, '/currency')),
        ...issuesOfChoice(weekStart, WEEKDAYS, '/week_start'),
        ...issuesOfChoice(unknownProjects, UNKNOWN_PROJECTS, '/unknown_projects'),
        ...issuesOfChoice(sameSession, SAME_SESSION, '/same_session'),
        ...publicUrlIssues,
        ...issuesOfBilling(given),
        ...issuesOfRetention(given),
        ...issuesOfRequiredFields(given.sheetRequiredFields ?? []),
      ]
      if (issues.length > 0) throw validationFailed(issues)
      return db.write(async (tx) => {
        const before = await getOrganization(tx)
        const after: Organization = {
          name: name ?? before.name,
          timeZone: timeZone ?? before.timeZone,
          weekStart: given.weekStart ?? before.weekStart,
          currency: currency ?? before.currency,
          publicUrl: publicUrl === undefined ? before.publicUrl : publicUrl,
          unknownProjects: unknownProjects ?? before.unknownProjects,
          sameSession: sameSession ?? before.sameSession,
          approvalRequired: given.approvalRequired ?? before.approvalRequired,
          apiTokens: given.apiTokens ?? before.apiTokens,
          shareLinks: given.shareLinks ?? before.shareLinks,
          leadRules: given.leadRules ?? before.leadRules,
          telemetryByEmail: given.telemetryByEmail ?? before.telemetryByEmail,
          email: given.email === undefined ? before.email : given.email,
          address: given.address === undefined ? before.address : given.address,
          taxId: given.taxId === undefined ? before.taxId : given.taxId,
          markupPpm: given.markupPpm === undefined ? before.markupPpm : given.markupPpm,
          dueDays: given.dueDays ?? before.dueDays,
          reminderDays: given.reminderDays === undefined ? before.reminderDays : given.reminderDays,
          billNumberFormat: given.billNumberFormat ?? before.billNumberFormat,
          billFooter: given.billFooter === undefined ? before.billFooter : given.billFooter,
          retentionTexts: given.retentionTexts === undefined ? before.retentionTexts : given.retentionTexts,
          retentionSessionIds:
            given.retentionSessionIds === undefined ? before.retentionSessionIds : given.retentionSessionIds,
          retentionHistory: given.retentionHistory === undefined ? before.retentionHistory : given.retentionHistory,
          retentionAudit: given.retentionAudit === undefined ? before.retentionAudit : given.retentionAudit,
          retentionEvents: given.retentionEvents === undefined ? before.retentionEvents : given.retentionEvents,
          sheetRequiredFields: given.sheetRequiredFields ?? before.sheetRequiredFields,
          logoType: before.logoType,
          demoAt: before.demoAt,
          // Before the first id is hashed, so that no report misses its session.
          hashedSessionIds: before.hashedSessionIds || Boolean(given.retentionSessionIds),
          internedVersion: before.internedVersion,
          compactedAt: before.compactedAt,
        }
        const changes = difference(settingsBody(before), settingsBody(after))
        if (!changes) return before
        const { logoType: _, ...settings } = after
        await updateOrganization(tx, settings)
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
      settings: Pick<Organization, 'name' | 'timeZone' | 'currency'> & { publicUrl?: string | null | undefined },
      setUpAt: number,
    ): Promise<Organization> {
      const { publicUrl, ...others } = settings
      await updateOrganization(tx, { ...others, setUpAt, ...(publicUrl !== undefined && { publicUrl }) })
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
