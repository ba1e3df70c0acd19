import { type Command, Option } from 'commander'
import type { Settings } from '../../features/organization/schema.ts'
import { CommandError } from '../failures.ts'
import { asksFirst } from '../flags/confirmation.ts'
import { markupOf } from '../flags/money.ts'
import { NONE } from '../flags/none.ts'
import { examples, requireFields, textOrNone } from '../flags/options.ts'
import { yesNoOption } from '../flags/yes-no.ts'
import { confirm } from '../terminal/confirm.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { printSettings } from './settings.ts'

type UnknownProjects = Settings['unknown_projects']
type Weekday = Settings['week_start']
const UNKNOWN_PROJECTS: UnknownProjects[] = ['create', 'hold']
const SAME_SESSION: Settings['same_session'][] = ['hold', 'count']
const WEEKDAYS: Weekday[] = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']

interface SetFlags extends CommandFlags {
  yes?: boolean
  name?: string
  timeZone?: string
  weekStart?: Weekday
  currency?: string
  publicUrl?: string
  unknownProjects?: UnknownProjects
  sameSession?: Settings['same_session']
  approvalRequired?: boolean
  apiTokens?: boolean
  shareLinks?: boolean
  leadRules?: boolean
  telemetryByEmail?: boolean
  retentionTexts?: string
  retentionSessionIds?: string
  retentionHistory?: string
  retentionAudit?: string
  retentionEvents?: string
  sheetRequiredFields?: string
  email?: string
  address?: string
  taxId?: string
  markup?: string
  dueDays?: string
  reminderDays?: string
  billNumberFormat?: string
  billFooter?: string
  logo?: string
}

/** A server removes what is older than a new period at its next turn, which cannot be undone. */
const setsRetention = (flags: SetFlags): boolean =>
  [
    flags.retentionTexts,
    flags.retentionSessionIds,
    flags.retentionHistory,
    flags.retentionAudit,
    flags.retentionEvents,
  ].some((months) => months !== undefined && months !== NONE)

export function addSettingsSetCommand(settings: Command): void {
  asksFirst<SetFlags>(settings.command('set'), setsRetention)
    .description('Change settings; settings you omit keep their values')
    .option('--name <name>', 'name of the organization, as bills show it')
    .option('--time-zone <zone>', 'IANA time zone for days and months')
    .addOption(new Option('--week-start <day>', 'first day of weeks in reports and calendars').choices(WEEKDAYS))
    .option('--currency <code>', 'ISO 4217 code of the default bill currency')
    .option(
      '--public-url <url>',
      'URL at which people and agents reach the server, used in links; an option of a server takes precedence; none clears it',
    )
    .addOption(
      new Option(
        '--unknown-projects <what>',
        'when a report names an unknown project or ticket: create it, or hold the entry as unattributed',
      ).choices(UNKNOWN_PROJECTS),
    )
    .addOption(
      new Option(
        '--same-session <what>',
        'when a second person reports a session: hold it until someone decides, or count both',
      ).choices(SAME_SESSION),
    )
    .addOption(yesNoOption('--approval-required', 'whether only approved entries are billed'))
    .addOption(yesNoOption('--api-tokens', 'whether people can create API tokens, and existing ones work'))
    .addOption(
      yesNoOption(
        '--share-links',
        'whether people can share reports and bills by links that work without an account, and existing ones work',
      ),
    )
    .addOption(
      yesNoOption(
        '--lead-rules',
        'whether rules that leads propose for repositories of their projects take effect without an admin',
      ),
    )
    .addOption(
      yesNoOption(
        '--telemetry-by-email',
        'whether sessions pushed with an organization token are assigned to the person whose e-mail address the agent sends',
      ),
    )
    .option(
      '--retention-texts <months>',
      'remove summaries and labels of entries after as many months; none keeps them',
    )
    .option('--retention-session-ids <months>', 'replace ids of sessions by hashes after as many months, or none')
    .option('--retention-history <months>', 'remove the history of entries after as many months (from 12), or none')
    .option('--retention-audit <months>', 'remove records of the audit log after as many months (from 12), or none')
    .option('--retention-events <months>', 'remove events after as many months, or none')
    .option(
      '--sheet-required-fields <fields>',
      'up to three fields that entries on token sheets must have, such as ticket,label:team; none for no more than usual',
    )
    .option('--email <address>', 'sender address of bills; none clears it, as for the options below')
    .option('--address <text>', 'postal address on bills, may have several lines')
    .option('--tax-id <text>', 'tax id, such as a VAT number')
    .option('--markup <percent>', 'default markup on costs, used if neither project nor client has one')
    .option('--due-days <days>', 'days until a bill is due')
    .option(
      '--reminder-days <days>',
      'remind clients by e-mail of bills that are this many days overdue, and again after as many; none for no reminders',
    )
    .option('--bill-number-format <format>', 'format of bill numbers, such as {year}-{sequence:4}')
    .option('--bill-footer <text>', 'text at the end of every bill, such as payment instructions')
    .option('--logo <file>', 'PNG or JPEG logo for bills, up to 256 KiB')
    .option('--json', 'print the settings as JSON')
    .addHelpText(
      'after',
      examples(
        'tally settings set --time-zone Europe/Berlin --currency EUR',
        'tally settings set --public-url https://tally.example.com',
        'tally settings set --unknown-projects hold',
        'tally settings set --sheet-required-fields ticket,label:team',
        'tally settings set --retention-texts 24 --retention-audit none',
        'tally settings set --email bills@example.com --tax-id DE123456789 --due-days 14 --logo logo.png',
      ),
    )
    .action(async (_flags, command: Command) => {
      // The flag is the setting here, not the option of this process.
      const { publicUrl, ...flags } = command.optsWithGlobals<SetFlags>()
      const { name, timeZone, weekStart, currency, unknownProjects, sameSession } = flags
      const change = {
        name,
        timeZone,
        weekStart,
        currency,
        publicUrl: textOrNone(publicUrl),
        unknownProjects,
        sameSession,
        approvalRequired: flags.approvalRequired,
        apiTokens: flags.apiTokens,
        shareLinks: flags.shareLinks,
        leadRules: flags.leadRules,
        telemetryByEmail: flags.telemetryByEmail,
        sheetRequiredFields: fieldsOf(flags.sheetRequiredFields),
        email: textOrNone(flags.email),
        address: textOrNone(flags.address),
        taxId: textOrNone(flags.taxId),
        markupPpm: await markupOf(flags.markup),
        dueDays: wholeOf(flags.dueDays),
        reminderDays: wholeOrNone(flags.reminderDays),
        retentionTexts: wholeOrNone(flags.retentionTexts),
        retentionSessionIds: wholeOrNone(flags.retentionSessionIds),
        retentionHistory: wholeOrNone(flags.retentionHistory),
        retentionAudit: wholeOrNone(flags.retentionAudit),
        retentionEvents: wholeOrNone(flags.retentionEvents),
        billNumberFormat: flags.billNumberFormat,
        billFooter: textOrNone(flags.billFooter),
      }
      const logo = flags.logo === undefined ? undefined : await logoOf(flags.logo)
      requireFields({ ...change, logo }, command)
      if (setsRetention(flags))
        await confirm(
          'A running server removes what is older than these periods, which cannot be undone. Set them?',
          flags,
        )
      const body = await withServices(flags, async ({ organization }, { by }) => {
        const settings = await organization.changeSettings(change, by)
        const changed = logo === undefined ? settings : await organization.changeLogo(logo, by)
        return organization.bodyOf(changed)
      })
      printSettings(body, flags)
    })
}

/** `ticket,label:team`; an empty list for `none`. */
function fieldsOf(text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined
  return textOrNone(text) === null ? [] : text.split(',').map((field) => field.trim())
}

/** What is no number is refused by the service, with every other issue. */
function wholeOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(/^\d+$/.test(text) ? text : Number.NaN)
}

function wholeOrNone(text: string | undefined): number | null | undefined {
  return textOrNone(text) === null ? null : wholeOf(text)
}

/** The image that a flag names; null to remove the logo. */
async function logoOf(path: string): Promise<Uint8Array | null> {
  if (textOrNone(path) === null) return null
  try {
    return await Bun.file(path).bytes()
  } catch (error) {
    throw new CommandError(`--logo: ${path} cannot be read (${(error as Error).message}).`)
  }
}
