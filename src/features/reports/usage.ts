/** Usage: tokens, entries and money by time and group, page by page. */
import type { Viewer } from '../../access/visibility.ts'
import { validationFailed } from '../../errors.ts'
import { type Bucket, bucketsOf } from './buckets.ts'
import { PAGE_BUCKETS, type UsageQuery, writeUsagePage } from './query.ts'
import type { UsageBucket, UsageReport } from './schema.ts'
import type { Sums, SumsRow } from './sums.ts'
import { addFigures, askedBody, bucketBody, type Figures, figuresBody, NO_FIGURES } from './wire.ts'

/** Groups per response: a few megabytes of JSON, and more than anyone reads. Longer results have several pages. */
const ROW_LIMIT = 10_000

function tooManyGroups(rowLimit: number) {
  return validationFailed([
    {
      pointer: '/query/group_by',
      code: 'too_many_groups',
      message: `makes more than ${rowLimit.toLocaleString('en')} groups in one bucket: filter, or group by fewer things`,
    },
  ])
}

interface Page {
  buckets: Bucket[]
  /** Of these buckets, and of the next one if it did not fit. */
  rows: SumsRow[]
  /** The start of the next page; null on the last one. */
  next: number | null
}

export function createUsage({ sums }: Sums, rowLimit = ROW_LIMIT) {
  async function readPage(viewer: Viewer, asked: UsageQuery): Promise<Page> {
    const { filter, dimensions } = asked
    let buckets = bucketsOf({ ...asked, startingAt: asked.from }, asked.limit)
    const bounds = [...buckets.map(({ startingAt }) => startingAt), buckets.at(-1)!.endingAt]
    const rows = await sums({ viewer, filter, dimensions, bounds, limit: rowLimit + 1 })
    if (rows.length > rowLimit) {
      // The bucket of the last row may have more rows: it starts the next page.
      const cut = rows[rowLimit]!.bucket
      if (cut === 0) throw tooManyGroups(rowLimit)
      buckets = buckets.slice(0, cut)
    }
    const { endingAt } = buckets.at(-1)!
    return { buckets, rows, next: endingAt < asked.endingAt ? endingAt : null }
  }

  /** For the whole query, regardless of the page. */
  async function totalsOf(viewer: Viewer, asked: UsageQuery, { buckets, rows, next }: Page): Promise<Figures> {
    const isWhole = asked.from === asked.startingAt && next === null
    const added = rows.reduce<Figures>(addFigures, NO_FIGURES)
    if (isWhole && buckets.length === 1) return added
    const [all = { ...NO_FIGURES }] = await sums({
      viewer,
      filter: asked.filter,
      dimensions: [],
      bounds: [asked.startingAt, asked.endingAt],
    })
    // An entry that arrived between the two queries must not make the totals differ from the sum of the rows.
    return isWhole ? { ...added, straddling: all.straddling } : all
  }

  function bodies({ buckets, rows }: Page, { dimensions, fillGaps }: UsageQuery): UsageBucket[] {
    const byBucket = Map.groupBy(rows, ({ bucket }) => bucket)
    return buckets
      .map((bucket, index) => bucketBody(bucket, byBucket.get(index) ?? [], dimensions))
      .filter(({ results }) => fillGaps || results.length > 0)
  }

  return {
    /**
     * A page of the report. Throws `validation_failed` (422) if a single bucket has too many groups, and
     * `database_deadline` (503).
     */
    async usage(viewer: Viewer, asked: UsageQuery): Promise<UsageReport> {
      const page = await readPage(viewer, asked)
      const totals = await totalsOf(viewer, asked, page)
      return {
        ...askedBody(asked),
        bucket_width: asked.width,
        week_start: asked.weekStart,
        group_by: asked.dimensions,
        totals: figuresBody(totals),
        data: bodies(page, asked),
        has_more: page.next !== null,
        next_page: page.next === null ? null : writeUsagePage({ from: page.next, endingAt: asked.endingAt }),
      }
    },

    /** All buckets of the whole query. Throws as {@link usage} does. */
    async *exportUsage(viewer: Viewer, asked: UsageQuery): AsyncGenerator<UsageBucket> {
      for (let from: number | null = asked.startingAt; from !== null; ) {
        const page: Page = await readPage(viewer, { ...asked, from, limit: PAGE_BUCKETS })
        yield* bodies(page, asked)
        from = page.next
      }
    },
  }
}
