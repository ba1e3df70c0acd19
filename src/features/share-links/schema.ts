/** API schema of share links, shared by validation, OpenAPI and the command line's `--json`. */
import { type Static, type TSchema, type TUnsafe, Type } from '@sinclair/typebox'
import type { SharedReport as SharedReportRecord } from '../../database/schema/records.ts'
import { WEEKDAYS } from '../../database/schema/values.ts'
import { timestamp, timestampOrNull } from '../../lib/duration.ts'
import { conditions, exactlyOne, excludes, isAbsent, isGiven, isOneOf, when } from '../../schema/conditions.ts'
import {
  array,
  chosen,
  component,
  flag,
  integer,
  listOf,
  moment,
  object,
  oneOf,
  orNull,
  PLAIN_TEXT,
  SHOWN,
  storedFilters,
  strict,
} from '../../schema/types.ts'
import { CHART_KINDS } from '../../shared/charts/layout.ts'
import { BASES_WITHOUT_FEES } from '../../shared/cost-basis.ts'
import { MEASURE_NAMES, type MeasureName } from '../../shared/measures.ts'
import { COMPARISONS, type Comparison, ORDERS, type RowOrder, SORTS, type Sort } from '../../shared/report-table.ts'
import { MOVING_PERIODS, type MovingPeriod } from './period.ts'
import type { ShareLink } from './store.ts'

export const NOTE_LIMIT = 500

/** Longer than the names of anything. */
const TEXT_LIMIT = 500

const DIMENSION_EXPECTED = 'must be what `GET /reports/usage` groups by'

export const SHARE_LINK_STATES = ['active', 'expired', 'revoked', 'stopped'] as const
export type ShareLinkState = (typeof SHARE_LINK_STATES)[number]

export const CHARTS = [...CHART_KINDS, 'none'] as const

const BUCKET_WIDTHS = ['1h', '1d', '1w', '1mo', '1q', '1y', 'all'] as const

/** The parameters of a report, as in `GET /reports/usage`. */
export type SharedReportBody = {
  period?: MovingPeriod
  measure?: MeasureName
  chart?: (typeof CHARTS)[number]
  compare?: Comparison
  sort?: Sort
  order?: RowOrder['order']
  names?: string
} & Record<string, string | string[]>

/** An object whose type is plainer than that of its schema, which still checks it. */
const checkedAs = <T>(schema: TSchema) => schema as TUnsafe<T>

const SharedReport = checkedAs<SharedReportBody>(
  component(
    'SharedReport',
    'A report on usage: its parameters, as in `GET /reports/usage`.',
    {
      period: Type.Optional(
        chosen(
          MOVING_PERIODS,
          'A period that moves with the calendar, in the time zone of the report. Otherwise `starting_at` and `ending_at` fix it.',
        ),
      ),
      time_zone: Type.Optional(Type.String({ description: 'Time zone of days. Default: the organization’s.' })),
      bucket_width: Type.Optional(
        chosen(
          BUCKET_WIDTHS,
          'Default: `all`, which is the whole period. With a chart, it is that of the chart alone.',
        ),
      ),
      week_start: Type.Optional(chosen(WEEKDAYS, 'First day of the weeks of `1w`.')),
      group_by: Type.Optional(
        array(
          'As in `GET /reports/usage`.',
          Type.String({ minLength: 1, maxLength: TEXT_LIMIT, pattern: PLAIN_TEXT, errorMessage: DIMENSION_EXPECTED }),
          { maxItems: 3 },
        ),
      ),
      measure: Type.Optional(
        chosen(
          MEASURE_NAMES,
          'What the chart and the title are of. Default: `cost`. Measures of money are replaced: by what was billed with `money` `billed`, by `tokens` with `none`.',
        ),
      ),
      basis: Type.Optional(
        chosen(
          BASES_WITHOUT_FEES,
          'What cost is counted by, as in `GET /reports/usage`; never `allocated`, which shows what plans cost. Default: `cost`.',
        ),
      ),
      chart: Type.Optional(chosen(CHARTS, 'How it is drawn. Default: `none`.')),
      compare: Type.Optional(
        chosen(
          COMPARISONS,
          'Adds the earlier period and the change of the measure: `previous` is the period before, `year` the same days a year earlier. The table has to be of the whole period. Default: `none`.',
        ),
      ),
      sort: Type.Optional(
        chosen(
          SORTS,
          'What the rows of the table are sorted by: `value` is the measure. Without cost, it is replaced by tokens. Default: as in `GET /reports/usage`.',
        ),
      ),
      order: Type.Optional(chosen(ORDERS, 'Default: `desc`.')),
      names: Type.Optional(
        Type.String({
          ...{ minLength: 1, maxLength: TEXT_LIMIT, pattern: PLAIN_TEXT },
          description: 'Only rows with this text in a name, regardless of case. The totals are left out then.',
        }),
      ),
      ...storedFilters(),
    },
    {
      ...conditions(
        when(isGiven('period'), isAbsent('starting_at', 'ending_at'), {
          allOf: [isGiven('starting_at'), isGiven('ending_at')],
        }),
      ),
    },
  ),
)

/** The money that a report may show. */
export const REPORT_MONEY = ['cost', 'billed', 'none'] as const
export type ReportMoney = (typeof REPORT_MONEY)[number]

const money = oneOf(
  ['amounts', ...REPORT_MONEY],
  '`amounts`: those of the bill. `cost`: the cost of usage. `billed`: what was billed for usage. `none`: tokens and entries only.',
)

export const NewShareLink = Type.Object(
  {
    report: Type.Optional(SharedReport),
    bill: Type.Optional(Type.String({ description: 'Id (bil_…) or number of the bill. Either this or `report`.' })),
    money: Type.Optional(
      chosen(
        REPORT_MONEY,
        'The money that a report shows. Default: `none`. `billed` is what is on bills, before tax, and never shows cost: it needs the role billing or admin, only filters `client` and `project`, and groups by up to two of `client`, `project`, `ticket` and `agent_manager`. A bill always shows its amounts.',
      ),
    ),
    people: Type.Optional(
      flag(
        'Whether a report may be grouped by what may name people: `agent_manager`, `plan`, and every label except `repository`. Default: false.',
      ),
    ),
    note: Type.Optional(
      Type.String({
        description: `For whom it is, at most ${NOTE_LIMIT} characters. Only shown in lists of links.`,
        [SHOWN]: { minLength: 1, maxLength: NOTE_LIMIT },
      }),
    ),
    expires_at: Type.Optional(
      Type.String({
        description:
          'A timestamp with its offset, or a date for its first moment in the organization’s time zone; within 366 days. Default: in 30 days.',
      }),
    ),
  },
  {
    ...strict,
    ...conditions(
      exactlyOne('report', 'bill', { pointer: '', code: 'required', message: 'must have either report or bill' }),
      excludes('bill', ['money', 'people'], {
        pointer: '/bill',
        code: 'not_allowed',
        message: 'excludes money and people: a bill is shown as it was sent',
      }),
      when(isOneOf('money', 'billed'), { properties: { report: { anyOf: [isGiven('client'), isGiven('project')] } } }),
    ),
    $id: 'NewShareLink',
  },
)
export type NewShareLink = Static<typeof NewShareLink>

const person = object({ id: Type.String(), name: Type.String() })

const fields = {
  id: Type.String({ description: 'Id of the share link (shr_…).' }),
  title: orNull(Type.String({ description: 'Of a report, as it was when it was shared.' })),
  report: orNull(SharedReport),
  bill: orNull(object({ id: Type.String(), number: Type.String() })),
  money,
  people: flag('Whether it may name people.'),
  note: orNull(Type.String()),
  created_by: person,
  created_at: moment('When it was created.'),
  expires_at: moment('When it expires.'),
  revoked_at: orNull(moment('When it was revoked.')),
  last_used_at: orNull(moment('When its page was last opened.')),
  uses: integer('How often its page was opened, also by programs that preview links.', { minimum: 0 }),
  state: oneOf(SHARE_LINK_STATES, '`stopped`: its creator is disabled, or may no longer see bills and what is billed.'),
}

export const ShareLinkBody = component('ShareLink', 'A link that shows one report or bill to whoever has it.', fields)
export type ShareLinkBody = Static<typeof ShareLinkBody>

export const CreatedShareLink = component('CreatedShareLink', 'A new share link.', {
  ...fields,
  link: Type.String({ description: 'The link. Shown only once.', format: 'uri' }),
})
export type CreatedShareLink = Static<typeof CreatedShareLink>

export const ShareLinkList = listOf(ShareLinkBody, 'ShareLinkList', 'Share links, newest first.')

/** Roles that can see bills and what is billed, and share them. */
export const MAY_SHARE_BILLS: readonly string[] = ['billing', 'admin']

export function stateOf({ record, creator }: ShareLink, now: number): ShareLinkState {
  if (record.revokedAt !== null) return 'revoked'
  if (record.expiresAt <= now) return 'expired'
  const isStaff = creator.disabledAt === null && creator.role !== 'viewer'
  const needsBilling = record.billId !== null || record.report?.showsBilled
  const maySee = isStaff && (!needsBilling || MAY_SHARE_BILLS.includes(creator.role))
  return maySee ? 'active' : 'stopped'
}

/** The parameters as they were given; those that are absent are left out. */
function reportBody({ texts, period, title: _, showsBilled: _billed, ...shown }: SharedReportRecord): SharedReportBody {
  const given = Object.entries({ period, ...texts, ...shown }).filter(([, text]) => text !== undefined)
  return Object.fromEntries(given) as SharedReportBody
}

export const moneyOf = ({ report, money }: ShareLink['record']): ShareLinkBody['money'] =>
  report?.showsBilled ? 'billed' : money

export function shareLinkBody(link: ShareLink, now: number): ShareLinkBody {
  const { record, bill, creator } = link
  return {
    id: record.uid,
    title: record.report?.title ?? null,
    report: record.report && reportBody(record.report),
    bill: bill && { id: bill.uid, number: bill.number },
    money: moneyOf(record),
    people: record.showsPeople,
    note: record.note,
    created_by: { id: creator.uid, name: creator.name },
    created_at: timestamp(record.createdAt),
    expires_at: timestamp(record.expiresAt),
    revoked_at: timestampOrNull(record.revokedAt),
    last_used_at: timestampOrNull(record.lastUsedAt),
    uses: record.uses,
    state: stateOf(link, now),
  }
}
