/** Usage over time, how far reported costs are from list values, and the sums that reports read. */
import { encodingFor } from '../../../http/accept-encoding.ts'
import { csvResponse, wantsCsv } from '../../../http/csv.ts'
import { versioned } from '../../../http/entity-tags.ts'
import { serialized } from '../../../lib/serialized.ts'
import { endpoint, operation, result } from '../../../operations/operation.ts'
import { choiceParameter, flagParameter, listPage, listParameter } from '../../../operations/parameters.ts'
import { costBasis, entryFilters } from '../../selection/parameters.ts'
import { BUCKET_WIDTHS, WEEKDAYS } from '../buckets.ts'
import { usageColumns, usageLines, VARIANCE_COLUMNS } from '../csv.ts'
import { EXAMPLE_SUMS_PROGRESS, EXAMPLE_USAGE, EXAMPLE_VARIANCE } from '../examples.ts'
import { EXTRA_FIGURES } from '../extra-figures.ts'
import { reportPeriod } from '../parameters.ts'
import { BUCKET_LIMIT, PAGE_BUCKETS } from '../query.ts'
import { SumsProgress, UsageReport, VarianceReport } from '../schema.ts'
import { DIMENSIONS } from '../sums.ts'
import { type Needs, REPORTING, reported } from './shared.ts'

const reportUsage = endpoint({
  ...REPORTING,
  id: 'reportUsage',
  path: '/reports/usage',
  summary: 'Report tokens and cost over time',
  description:
    'Covers the entries visible to the signed-in person or the token’s creator. An entry belongs to the time its session started. Buckets are hours, days, weeks, months, quarters or years in the time zone; the first and last bucket are cut at the bounds of the period. Draft and pending entries on token sheets are excluded unless selected with `status`. Amounts cover the entries for which they are known; `unpriced_entries` is the number of entries that `cost` excludes.',
  query: {
    ...entryFilters(),
    ...reportPeriod(),
    bucket_width: choiceParameter(
      BUCKET_WIDTHS,
      `Default: \`1d\`. \`1q\` is a quarter, \`1y\` a year, \`all\` a single bucket. At most ${BUCKET_LIMIT.toLocaleString('en')} buckets.`,
    ),
    week_start: choiceParameter(WEEKDAYS, 'First day of the weeks of `1w`. Default: that of the organization.'),
    basis: costBasis(),
    group_by: listParameter(`Up to three of ${DIMENSIONS.map((name) => `\`${name}\``).join(', ')}, \`label:<name>\`.`),
    include: listParameter(
      `Further figures, which take longer to calculate: ${EXTRA_FIGURES.map((name) => `\`${name}\``).join(', ')}. \`sessions\` reads every entry of the period.`,
    ),
    fill_gaps: flagParameter('Also return buckets without entries.'),
    ...listPage('Number of buckets that a page covers, with or without entries:', {
      usual: PAGE_BUCKETS,
      most: PAGE_BUCKETS,
    }),
  },
  answer: reported('A page of buckets.', UsageReport, EXAMPLE_USAGE),
  problems: ['database_deadline', 'fees_hidden'],
  run: async ({ reports }: Needs, { viewer, asker, query, served }) => {
    const requested = await reports.readUsage(query, asker)
    if (!wantsCsv(served.request, requested.format)) {
      const version = await reports.version(viewer, requested)
      const encoding = encodingFor(served.request, Number.POSITIVE_INFINITY) === 'zstd' ? 'zstd' : undefined
      const read = () => reports.usageJson(viewer, requested, encoding)
      return versioned(served, version, async () => serialized<UsageReport>(await read(), undefined, encoding))
    }
    const lines = usageLines(reports.exportUsage(viewer, requested))
    return csvResponse(lines, usageColumns(requested.dimensions, requested.include, requested.basis), 'usage.csv')
  },
})

const reportVariance = endpoint({
  ...REPORTING,
  id: 'reportVariance',
  path: '/reports/variance',
  summary: 'Compare reported costs with list values',
  description:
    'Grouped by model and agent, largest absolute difference first. Covers entries for which both amounts are known.',
  query: { ...entryFilters(), ...reportPeriod(), ...listPage('Rows') },
  answer: reported('A page of models and agents.', VarianceReport, EXAMPLE_VARIANCE),
  run: async ({ reports }: Needs, { viewer, asker, query, served }) => {
    const requested = await reports.readVariance(query, asker)
    if (!wantsCsv(served.request, requested.format)) {
      const version = await reports.version(viewer, requested)
      return versioned(served, version, () => reports.variance(viewer, requested))
    }
    return csvResponse(reports.exportVariance(viewer, requested), VARIANCE_COLUMNS, 'variance.csv')
  },
})

const readSumsProgress = operation({
  ...REPORTING,
  id: 'readSumsProgress',
  path: '/reports/sums',
  summary: 'Get the progress of the totals for reports',
  description:
    'Reports and lists read whole days and months from prepared totals, which are built again after changes and when the organization changes its time zone. Until those of a day are ready, reports read its entries: the results are exact, but slower.',
  answer: result('The progress.', SumsProgress, EXAMPLE_SUMS_PROGRESS),
  problems: [],
  run: ({ reports }: Needs, { viewer }) => reports.progressFor(viewer),
})

export const usageOperations = [reportUsage, reportVariance, readSumsProgress] as const
