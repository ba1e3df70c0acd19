import { type Command, InvalidArgumentError, Option } from 'commander'
import { readConfig } from '../../config.ts'
import { CHARTS, type NewShareLink, REPORT_MONEY, type ReportMoney } from '../../features/share-links/schema.ts'
import { parseDuration, parseMoment } from '../../lib/duration.ts'
import { MEASURE_NAMES, type MeasureName } from '../../shared/measures.ts'
import { COMPARISONS, type Comparison, ORDERS, type RowOrder, SORTS, type Sort } from '../../shared/report-table.ts'
import { linkBaseOf, noteUnsetPublicUrl } from '../address.ts'
import { CommandError } from '../failures.ts'
import { addReportFilters, type EntryFilterFlags, entryFilterTexts } from '../flags/entry-filters.ts'
import { collect, examples, optionOf } from '../flags/options.ts'
import { addDayFlags, type DayFlags, dayTexts } from '../flags/period.ts'
import { print, printJson, note as say } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'

interface LinkFlags extends CommandFlags {
  user: string
  expires?: string
  note?: string
  publicUrl?: string
  host?: string
  port?: string
}

interface ReportFlags extends LinkFlags, DayFlags, EntryFilterFlags {
  period?: string
  by?: string[]
  bucket?: string
  timeZone?: string
  money?: ReportMoney
  measure?: MeasureName
  chart?: (typeof CHARTS)[number]
  compare?: Comparison
  sort?: Sort
  order?: RowOrder['order']
  names?: string
  people?: boolean
}

const PERIODS = ['7d', '30d', '90d', '12m', 'month', 'last_month', 'quarter', 'last_quarter', 'year', 'last_year']

export function addShareLinksCreateCommands(links: Command): void {
  const create = links
    .command('create')
    .description('Create a link that shows one report or bill without an account; it is shown only once')
    .addHelpText(
      'after',
      examples(
        'tally share-links create report --user ada@example.com --period last_month --by model',
        'tally share-links create bill 2026-0001 --user ada@example.com',
      ),
    )
  const report = addLinkFlags(create.command('report'))
    .description('Create a link to a report on usage: tokens only, unless it shows cost')
    .addOption(
      new Option('--period <period>', 'a period that moves with the calendar (default 30d)')
        .choices(PERIODS)
        .conflicts(['from', 'to']),
    )
    .option('--time-zone <zone>', 'time zone of days (default: that of the organization)')
    .option('--by <what>', 'group by up to three fields, as in `tally usage`', collect)
    .option('--bucket <width>', 'bucket width: 1h, 1d, 1w, 1mo, 1q, 1y, or all for one bucket (default all)')
    .addOption(
      new Option(
        '--money <what>',
        'the money that it shows (default none); billed is what is on the bills of --client or --project',
      ).choices(REPORT_MONEY),
    )
    .addOption(
      new Option('--measure <what>', 'what the chart and the title are of (default cost)').choices(MEASURE_NAMES),
    )
    .addOption(new Option('--chart <kind>', 'a chart with a bar for each --bucket (default none)').choices(CHARTS))
    .addOption(
      new Option('--compare <with>', 'an earlier period to compare it with (default none)').choices(COMPARISONS),
    )
    .addOption(new Option('--sort <by>', 'what the rows are sorted by; value is the measure').choices(SORTS))
    .addOption(new Option('--order <order>', 'order of --sort (default desc)').choices(ORDERS))
    .option('--names <text>', 'only rows with this text in a name')
    .option('--people', 'allow it to be grouped by what may name people: agent_manager and labels')
  addReportFilters(addDayFlags(report, 'instead of --period: sessions that started'))
    .addHelpText(
      'after',
      examples(
        'tally share-links create report --user ada@example.com --period last_month --by model --client Acme',
        'tally share-links create report --user ada@example.com --from 2026-11-01 --to 2026-11-30 --money cost',
      ),
    )
    .action((_flags, command: Command) => {
      const flags = command.optsWithGlobals<ReportFlags>()
      const { money, people } = flags
      return printLink(flags, { report: reportOf(flags), ...(money && { money }), ...(people && { people }) })
    })

  addLinkFlags(create.command('bill'))
    .description('Create a link to a bill and its PDF; its creator needs the role billing or admin')
    .argument('<bill>', 'number or id (bil_…) of the bill')
    .addHelpText('after', examples('tally share-links create bill 2026-0001 --user ada@example.com --expires 60d'))
    .action((bill: string, _flags, command: Command) => printLink(command.optsWithGlobals<LinkFlags>(), { bill }))
}

function addLinkFlags(command: Command): Command {
  return command
    .requiredOption('--user <user>', 'e-mail address or id of the person whose link it is: it shows what they can see')
    .addOption(
      new Option(
        '--expires <when>',
        'expiry: a duration (90d), a date or a timestamp, at most 366 days from now (default 30d)',
      ).argParser(requireExpiry),
    )
    .option('--note <text>', 'for whom it is; only shown in lists of links')
    .addOption(optionOf('publicUrl'))
    .addOption(optionOf('host'))
    .addOption(optionOf('port'))
    .option('--json', 'print the link and its details as JSON')
}

/** The parameters of the report, where they are given. */
function reportOf(flags: ReportFlags): NonNullable<NewShareLink['report']> {
  const { period, by, bucket, timeZone, measure, chart, compare, sort, order, names } = flags
  const bounds = dayTexts(flags)
  const isFixed = bounds.starting_at !== undefined || bounds.ending_at !== undefined
  if (isFixed && (bounds.starting_at === undefined || bounds.ending_at === undefined)) {
    throw new CommandError('A fixed period needs both --from and --to; --period moves with the calendar.', 2)
  }
  const given = {
    ...entryFilterTexts(flags),
    ...bounds,
    period: period ?? (isFixed ? undefined : '30d'),
    group_by: by,
    bucket_width: bucket,
    time_zone: timeZone,
    measure,
    chart,
    compare,
    sort,
    order,
    names,
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as NonNullable<
    NewShareLink['report']
  >
}

async function printLink(flags: LinkFlags, what: NewShareLink): Promise<void> {
  const { user, note, expires } = flags
  const duration = expires === undefined ? undefined : parseDuration(expires)
  const expiresAt = duration === undefined ? expires : new Date(Date.now() + duration).toISOString()
  const { made, base } = await withServices(flags, async (services, { by }) => {
    const given = {
      ...what,
      ...(note !== undefined && { note }),
      ...(expiresAt !== undefined && { expires_at: expiresAt }),
    }
    const base = await linkBaseOf(services, readConfig(flags))
    return { made: await services.shareLinks.createShareLink(user, given, by), base }
  })
  const { body, secret } = made
  const link = `${base.url}/share/${secret}`
  if (flags.json) {
    printJson({ ...body, link })
    return noteUnsetPublicUrl(base)
  }
  // The link alone goes to standard output, so that a script can send it.
  print(link)
  say(
    `Anyone who has this link can open it until ${body.expires_at}. To revoke it: tally share-links revoke ${body.id}`,
  )
  noteUnsetPublicUrl(base)
}

/** Validated before the database is opened, in any time zone. */
function requireExpiry(text: string): string {
  if (parseDuration(text) !== undefined || parseMoment(text, 'UTC') !== undefined) return text
  throw new InvalidArgumentError('Use a duration (90d, 2w), a date (2027-01-01) or a timestamp with an offset.')
}
