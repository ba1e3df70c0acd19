/**
 * Share links: whoever has one sees one report or bill without an account, as far as its creator can see it at that
 * moment. Of the secret in a link, only a hash is stored.
 */
import type { Actor, Party } from '../../access/actor.ts'
import type { Asker } from '../../access/asker.ts'
import { viewerOf } from '../../access/visibility.ts'
import type { Database, Tx } from '../../database/database.ts'
import type { SharedReport } from '../../database/schema/records.ts'
import { type Issue, notFound, Problem, refusal, validationFailed } from '../../errors.ts'
import { randomBase62 } from '../../lib/base62.ts'
import { dayAt } from '../../lib/calendar.ts'
import type { Clock } from '../../lib/clock.ts'
import { parseMoment } from '../../lib/duration.ts'
import { isId } from '../../lib/id.ts'
import { issuesOfConditions } from '../../schema/conditions.ts'
import { issuesOfText, issuesOfTimeZone } from '../../schema/fields.ts'
import { type Page, pageOf } from '../../schema/lists.ts'
import { type QueryTexts, writeKeyPage } from '../../schema/query.ts'
import { billedIssues } from '../../shared/billed-reports.ts'
import type { ChartKind } from '../../shared/charts/layout.ts'
import { BASES_WITHOUT_FEES } from '../../shared/cost-basis.ts'
import { type Formats, formatsOf, USUAL_LOCALE } from '../../shared/locales.ts'
import { MEASURE_NAMES } from '../../shared/measures.ts'
import { namesPeople } from '../../shared/people-dimensions.ts'
import { COMPARISONS, ORDERS, type RowOrder, SORTS } from '../../shared/report-table.ts'
import type { AuditService } from '../audit/service.ts'
import type { BillsService } from '../bills/service.ts'
import type { OrganizationService } from '../organization/service.ts'
import { issuesOfViewer, type PeopleService, type User } from '../people/service.ts'
import type { ProjectsService } from '../projects/service.ts'
import type { ReportsService } from '../reports/service.ts'
import type { ViewersService } from '../viewers/service.ts'
import { earlierBounds, MOVING_PERIODS, type MovingPeriod, movingBounds } from './period.ts'
import {
  measureShown,
  otherFilters,
  plain,
  type Shared,
  type ShownMeasure,
  type ShownReport,
  titleOf,
} from './report.ts'
import {
  CHARTS,
  MAY_SHARE_BILLS,
  moneyOf,
  NewShareLink,
  NOTE_LIMIT,
  REPORT_MONEY,
  type ReportMoney,
  type ShareLinkBody,
  shareLinkBody,
  stateOf,
} from './schema.ts'
import {
  countActive,
  findShareLink,
  findShareLinkByHash,
  insertShareLink,
  listShareLinks,
  type ShareLink,
  type ShareLinkScope,
  updateShareLinkRevoked,
  updateShareLinkUsed,
} from './store.ts'

const DAY_MS = 86_400_000
const LIFETIME_MS = 30 * DAY_MS
const LIFETIME_LIMIT_MS = 366 * DAY_MS

/** More than anyone needs, and few enough that nobody fills the table. */
const ACTIVE_LIMIT = 200

/** The most that a chart of the web application has: more are thinner than a pixel. */
const BAR_LIMIT = 370

/** 190 bits, as tokens have: impossible to guess. */
const SECRET_CHARACTERS = 32
const SECRET = /^[0-9A-Za-z]{32}$/

/** A new link, with its secret, which is shown once. */
export interface MadeShareLink {
  body: ShareLinkBody
  secret: string
}

export interface SharedBill {
  kind: 'bill'
  number: string
  isVoid: boolean
  isCreditNote: boolean
}

export interface SharedUsage {
  kind: 'report'
  /** Of links of earlier versions, there is none. */
  title: string | undefined
  /** Undefined for fixed days. */
  period: MovingPeriod | undefined
  /** The filters that the title does not name. */
  otherFilters: string[]
  measure: ShownMeasure
  money: ReportMoney
  formats: Formats
  report: ShownReport
  chart: ChartKind | undefined
  /** What it is compared with: the same groups in an earlier period. */
  earlier: ShownReport | undefined
  order: RowOrder
  /** By the first dimension over time; undefined for a chart by group. */
  trend: ShownReport | undefined
  /** The same of what it is compared with. */
  earlierTrend: ShownReport | undefined
}

export type SharedContent = (SharedBill | SharedUsage) & {
  organization: string
  logo: { bytes: Uint8Array; type: string } | undefined
}

export type ShareLinksService = ReturnType<typeof createShareLinksService>

interface Dependencies {
  db: Database
  clock: Clock
  audit: Pick<AuditService, 'record'>
  organization: Pick<OrganizationService, 'settings' | 'getLogo'>
  people: Pick<PeopleService, 'getAccount'>
  projects: Pick<ProjectsService, 'findProject' | 'getClient' | 'showProject'>
  reports: Pick<ReportsService, 'readUsage' | 'usage' | 'exportUsage'>
  bills: Pick<BillsService, 'getBill' | 'renderBill'>
  viewers: Pick<ViewersService, 'billedUsage'>
}

export function createShareLinksService(dependencies: Dependencies) {
  const { db, clock, audit, organization, people, projects, reports, bills, viewers } = dependencies

  const scopeOf = ({ person }: Pick<Party, 'person'>): ShareLinkScope =>
    person === null || person.role === 'admin' ? null : person.id

  /** The parameters at the moment, where the period moves. */
  async function textsOf({ texts, period }: SharedReport) {
    if (period === undefined) return texts
    const zone = typeof texts.time_zone === 'string' ? texts.time_zone : (await organization.settings()).timeZone
    return { ...texts, ...movingBounds(period as MovingPeriod, dayAt(clock.now(), zone)) }
  }

  /** Throws if its creator may not ask for it, or if what it filters by is gone. */
  async function readReport(
    shared: Shared,
    creator: Creator,
  ): Promise<Pick<SharedUsage, 'measure' | 'report' | 'earlier' | 'trend' | 'earlierTrend'>> {
    const { chart = 'none', compare = 'none', showsBilled = false, period } = shared.report
    const texts = await textsOf(shared.report)
    const measure = measureShown(shared)
    const asked = { ...texts, ...(measure.include && { include: measure.include }) }
    const read = showsBilled ? readBilled(shared) : readUsage(shared, creator)
    const report = await read(chart === 'none' ? asked : { ...asked, bucket_width: 'all' })
    const before = earlierBounds(compare, report, period)
    const earlier = before && (await read({ ...asked, ...before, bucket_width: 'all' }))
    if (chart === 'none' || texts.bucket_width === 'all')
      return { measure, report, earlier, trend: undefined, earlierTrend: undefined }
    // Two periods are compared as wholes: their groups would be too many to tell apart.
    const trendOf = { ...asked, group_by: before ? [] : report.group_by.slice(0, 1), fill_gaps: 'true' }
    const trend = await read(trendOf)
    return { measure, report, earlier, trend, earlierTrend: before && (await read({ ...trendOf, ...before })) }
  }

  /** Without the groups that it must not show: earlier versions created links that were grouped by labels with names. */
  const readUsage =
    ({ showsPeople }: Shared, creator: Creator) =>
    async (texts: QueryTexts): Promise<ShownReport> => {
      const all = await reports.readUsage(texts, askerOf(creator))
      const query = showsPeople ? all : { ...all, dimensions: all.dimensions.filter((each) => !namesPeople(each)) }
      const report = await reports.usage(viewerOf(creator), query)
      if (query.fillGaps && report.data.length > BAR_LIMIT) throw tooManyBars()
      if (!report.has_more || !query.fillGaps) return plain(report)
      return plain({ ...report, data: await Array.fromAsync(reports.exportUsage(viewerOf(creator), query)) })
    }

  const readBilled =
    ({ showsPeople }: Shared) =>
    async ({ client, project, include: _, basis: _basis, ...texts }: QueryTexts) =>
      plain(
        await viewers.billedUsage({ clients: [client ?? []].flat(), projects: [project ?? []].flat() }, texts, {
          showsPeople,
        }),
      )

  /** A name can later be given to another project or client, which the link must not show. */
  async function pinned(texts: SharedReport['texts']): Promise<SharedReport['texts']> {
    const idsOf = async (values: string | string[] | undefined, idOf: (name: string) => Promise<string | undefined>) =>
      values &&
      Promise.all([values].flat().map(async (value) => (value === 'none' ? value : ((await idOf(value)) ?? value))))
    const project = await idsOf(texts.project, async (name) =>
      isId('prj', name) ? name : (await projects.findProject(db.read, name))?.uid,
    )
    const client = await idsOf(texts.client, async (name) => (await projects.getClient(name)).uid)
    return { ...texts, ...(project && { project }), ...(client && { client }) }
  }

  /** The clients and projects in the filters, by name, for the title. */
  const namesOf = ({ client, project }: SharedReport['texts']) =>
    Promise.all([
      ...[client ?? []].flat().map(async (id) => (id === 'none' ? 'no client' : (await projects.getClient(id)).name)),
      ...[project ?? []]
        .flat()
        .map(async (id) => (id === 'none' ? 'no project' : (await projects.showProject(id)).project.name)),
    ])

  async function reportOf(
    { report, money = 'none', people: showsPeople = false }: NewShareLink,
    user: User,
  ): Promise<SharedReport> {
    const { period, measure, chart, compare, sort, order, names, ...given } = report!
    const bounds = ['starting_at', 'ending_at'].filter((name) => given[name] !== undefined)
    const issues: Issue[] = issuesOfChoice(period, MOVING_PERIODS, '/report/period')
    issues.push(
      ...issuesOfChoice(measure, MEASURE_NAMES, '/report/measure'),
      ...issuesOfChoice(given.basis, BASES_WITHOUT_FEES, '/report/basis'),
      ...issuesOfChoice(chart, CHARTS, '/report/chart'),
      ...issuesOfChoice(compare, COMPARISONS, '/report/compare'),
      ...issuesOfChoice(sort, SORTS, '/report/sort'),
      ...issuesOfChoice(order, ORDERS, '/report/order'),
      ...(names === undefined ? [] : issuesOfText(names, '/report/names', NOTE_LIMIT)),
    )
    if (money === 'billed') {
      issues.push(...billedIssues(given).map(({ field, ...issue }) => ({ pointer: `/report/${field}`, ...issue })))
    }
    if (typeof given.time_zone === 'string') issues.push(...issuesOfTimeZone(given.time_zone, '/report/time_zone'))
    if (period === undefined && bounds.length < 2) {
      issues.push({
        pointer: '/report/period',
        code: 'required',
        message: 'is required, unless starting_at and ending_at fix the period',
      })
    }
    if (period !== undefined && bounds.length > 0) {
      issues.push({ pointer: '/report/period', code: 'not_allowed', message: `excludes ${bounds.join(' and ')}` })
    }
    const isDivided = (chart ?? 'none') === 'none' && (given.bucket_width ?? 'all') !== 'all'
    if (isDivided && (compare ?? 'none') !== 'none') {
      const message = 'needs a chart or the bucket width all: rows of the whole period are compared'
      issues.push({ pointer: '/report/compare', code: 'not_allowed', message })
    }
    const naming = [given.group_by ?? []].flat().filter(namesPeople)
    if (!showsPeople && naming.length > 0) {
      issues.push({
        pointer: '/report/group_by',
        code: 'not_allowed',
        message: `must not contain ${naming.join(', ')}, which may name people, unless people is true`,
      })
    }
    if (issues.length > 0) throw validationFailed(issues)
    const shared: SharedReport = {
      texts: { bucket_width: 'all', ...given },
      ...(period !== undefined && { period }),
      ...(measure !== undefined && { measure }),
      ...(chart !== undefined && { chart }),
      ...(compare !== undefined && { compare }),
      ...(sort !== undefined && { sort }),
      ...(order !== undefined && { order }),
      ...(names !== undefined && { names }),
      ...(money === 'billed' && { showsBilled: true }),
    }
    try {
      await reports.readUsage(await textsOf(shared), askerOf(user))
      const texts = await pinned(shared.texts)
      const kept = { ...shared, texts }
      await readReport({ report: kept, showsPeople, money }, user)
      return { ...kept, title: titleOf({ report: kept, money }, await namesOf(texts)) }
    } catch (error) {
      throw pointedAtReport(error)
    }
  }

  async function billOf(bill: string) {
    try {
      return await bills.getBill(bill)
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'not_found') throw error
      throw refusal('/bill', 'unknown_name', 'must be the id or number of a bill')
    }
  }

  async function create(given: NewShareLink, user: User, by: Actor): Promise<MadeShareLink> {
    const { report, bill, note } = given
    const { shareLinks, timeZone } = await organization.settings()
    if (!shareLinks) throw shareLinksOff()
    const now = clock.now()
    const expiresAt = given.expires_at === undefined ? now + LIFETIME_MS : parseMoment(given.expires_at, timeZone)
    const issues = [
      ...issuesOfConditions(NewShareLink, given),
      ...issuesOfChoice(given.money, REPORT_MONEY, '/money'),
      ...(note === undefined ? [] : issuesOfText(note, '/note', NOTE_LIMIT)),
      ...issuesOfExpiry(expiresAt, now),
      ...(user.disabledAt === null
        ? []
        : [{ pointer: '/user', code: 'not_allowed', message: `${user.email} is disabled` }]),
    ]
    issues.push(...issuesOfViewer(user, '/user', 'cannot share what they see'))
    if (issues.length > 0) throw validationFailed(issues)
    if ((bill !== undefined || given.money === 'billed') && !MAY_SHARE_BILLS.includes(user.role))
      throw mayNotShareBills(user)
    const shared = report === undefined ? null : await reportOf(given, user)
    const view = bill === undefined ? null : await billOf(bill)
    const secret = randomBase62(SECRET_CHARACTERS)
    const link = await db.write(async (tx) => {
      if ((await countActive(tx, user.id, now)) >= ACTIVE_LIMIT) throw tooMany()
      const added = await insertShareLink(tx, {
        hash: hashOf(secret),
        createdBy: user.id,
        report: shared,
        billId: view?.bill.id ?? null,
        money: view ? 'amounts' : given.money === 'cost' ? 'cost' : 'none',
        showsPeople: given.people ?? false,
        note: note ?? null,
        createdAt: now,
        expiresAt: expiresAt!,
      })
      await audit.record(tx, by, { action: 'share_link.created', object: objectOf(added), after: auditedLink(added) })
      return added
    })
    return { body: shareLinkBody(link, now), secret }
  }

  /** The link with this secret if it shows anything now; the same answer for all that do not. */
  async function findActive(secret: string): Promise<ShareLink | undefined> {
    if (!SECRET.test(secret) || !(await organization.settings()).shareLinks) return undefined
    const link = await findShareLinkByHash(db.read, hashOf(secret))
    return link && stateOf(link, clock.now()) === 'active' ? link : undefined
  }

  async function contentOf({ record, bill, creator }: ShareLink): Promise<SharedContent | undefined> {
    const { name, logoType, locale } = await organization.settings()
    const whose = { organization: name, logo: logoType ? await organization.getLogo() : undefined }
    if (record.report === null) {
      const view = await bills.getBill(bill!.uid)
      const { number, state, kind } = view.bill
      return { kind: 'bill', ...whose, number, isVoid: state === 'void', isCreditNote: kind !== 'bill' }
    }
    try {
      const { report, showsPeople } = record
      const money = moneyOf(record) as ReportMoney
      const { title, period, chart, sort, order = 'desc', names: search } = report
      return {
        kind: 'report',
        ...whose,
        ...{ title, money, otherFilters: otherFilters(report), formats: formatsOf(locale ?? USUAL_LOCALE) },
        period: period as MovingPeriod | undefined,
        chart: chart === 'none' ? undefined : chart,
        order: { sort, order, search },
        ...(await readReport({ report, showsPeople, money }, creator)),
      }
    } catch (error) {
      // What it filtered by is gone, or is no longer known to its creator.
      if (error instanceof Problem && ['validation_failed', 'not_found'].includes(error.code)) return undefined
      throw error
    }
  }

  /** Reports that are being read, so that many visitors of a link at once cost as much as one. */
  const reading = new Map<string, Promise<SharedContent | undefined>>()

  function read(link: ShareLink): Promise<SharedContent | undefined> {
    const key = `${link.record.id} ${link.creator.role}`
    let coming = reading.get(key)
    if (!coming) {
      coming = contentOf(link).finally(() => reading.delete(key))
      reading.set(key, coming)
    }
    return coming
  }

  return {
    /**
     * Creates a link of the person with this id or e-mail address, as whom it sees. Throws `forbidden` while links are
     * off, and for bills without the role.
     */
    createShareLink: async (who: string, given: NewShareLink, by: Actor): Promise<MadeShareLink> =>
      create(given, await people.getAccount(who), by),

    /** A page of the caller's links; of everyone's for admins. */
    async listShareLinks(
      party: Pick<Party, 'person'>,
      { after, limit }: { after: number | undefined; limit: number },
    ): Promise<Page<ShareLinkBody>> {
      const found = await listShareLinks(db.read, scopeOf(party), { after, limit: limit + 1 })
      const page = pageOf(found, limit, ({ record }) => writeKeyPage(record.id))
      return { ...page, data: page.data.map((link) => shareLinkBody(link, clock.now())) }
    },

    /** Takes effect at once. Its creator and admins may. Throws `not_found`. */
    revokeShareLink: (uid: string, { person, by }: Party): Promise<ShareLinkBody> =>
      db.write(async (tx: Tx) => {
        const link = isId('shr', uid) ? await findShareLink(tx, uid, scopeOf({ person })) : undefined
        if (!link) throw notFound(`The share link '${uid}'`)
        const now = clock.now()
        if (link.record.revokedAt !== null) return shareLinkBody(link, now)
        await updateShareLinkRevoked(tx, link.record.id, now)
        await audit.record(tx, by, { action: 'share_link.revoked', object: objectOf(link), before: auditedLink(link) })
        return shareLinkBody({ ...link, record: { ...link.record, revokedAt: now } }, now)
      }),

    /** What the link with this secret shows; undefined for one that shows nothing, whatever the reason. */
    async openShareLink(secret: string, { isCounted }: { isCounted: boolean }): Promise<SharedContent | undefined> {
      const link = await findActive(secret)
      const content = link && (await read(link))
      if (!content) return undefined
      // A full disk must not keep anybody from reading.
      if (isCounted) await db.write((tx) => updateShareLinkUsed(tx, link.record.id, clock.now())).catch(() => {})
      return content
    },

    /** The document of the bill that a link shows. */
    async sharedDocument(secret: string, format: 'pdf' | 'html') {
      const bill = (await findActive(secret))?.bill
      return bill ? bills.renderBill(bill.uid, format) : undefined
    },
  }
}

type Creator = User | ShareLink['creator']

function askerOf(creator: Creator): Asker {
  return { viewer: viewerOf(creator), listsPeople: creator.role === 'admin' }
}

function hashOf(secret: string): Uint8Array {
  return Bun.SHA256.hash(secret) as Uint8Array
}

function issuesOfChoice(given: string | string[] | undefined, choices: readonly string[], pointer: string): Issue[] {
  if (given === undefined || choices.includes(given as string)) return []
  return [{ pointer, code: 'not_allowed', message: `must be one of ${choices.join(', ')}` }]
}

function issuesOfExpiry(expiresAt: number | undefined, now: number): Issue[] {
  const pointer = '/expires_at'
  if (expiresAt === undefined) {
    const message = 'must be a date, or a timestamp with a UTC offset, such as 2027-01-01T08:00:00Z'
    return [{ pointer, code: 'bad_format', message }]
  }
  if (expiresAt <= now) return [{ pointer, code: 'too_small', message: 'must be in the future' }]
  if (expiresAt > now + LIFETIME_LIMIT_MS) return [{ pointer, code: 'too_large', message: 'must be within 366 days' }]
  return []
}

/** The issues of a report's parameters, at the place where the body has them. */
function pointedAtReport(error: unknown): unknown {
  const issues = error instanceof Problem && error.code === 'validation_failed' ? error.more.issues : undefined
  if (!issues) return error
  return validationFailed(
    issues.map((issue) => ({ ...issue, pointer: issue.pointer.replace(/^\/query\//, '/report/') })),
  )
}

const objectOf = ({ record, bill }: ShareLink) => ({
  id: record.uid,
  name: bill ? `bill ${bill.number}` : 'usage report',
})

function auditedLink(link: ShareLink) {
  const { report, bill, money, people, note, expires_at } = shareLinkBody(link, link.record.createdAt)
  return {
    ...(report ? { report } : { bill: bill?.number }),
    user: link.creator.email,
    money,
    people,
    note,
    expires_at,
  }
}

function shareLinksOff(): Problem {
  return new Problem(
    'forbidden',
    'Share links are turned off. An admin can turn them on in the settings, or with `tally settings set --share-links yes`.',
  )
}

function mayNotShareBills({ email, role }: User): Problem {
  return new Problem(
    'forbidden',
    `Sharing a bill, or what was billed, needs the role ${MAY_SHARE_BILLS.join(' or ')}; ${email} has the role ${role}.`,
  )
}

function tooManyBars(): Problem {
  const message = `results in more than ${BAR_LIMIT} bars for this period. Use wider buckets or a shorter period`
  return refusal('/query/bucket_width', 'too_many_buckets', message)
}

function tooMany(): Problem {
  const message = `has ${ACTIVE_LIMIT} active share links; revoke some first`
  return refusal('', 'too_many', message)
}
