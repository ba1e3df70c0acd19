/** What bodies of plans mean. */
import type { RuleCondition } from '../../database/schema/records.ts'
import type { AllowanceUnit, FeeWeight, PlanHolder } from '../../database/schema/values.ts'
import { type Issue, validationFailed } from '../../errors.ts'
import { addDays, isDay } from '../../lib/calendar.ts'
import { numberText } from '../../lib/exact-json.ts'
import { decimalText, NANO_DIGITS, parseExactDecimal, RATE_DIGITS } from '../../lib/money.ts'
import { composeName, foldName } from '../../lib/names.ts'
import { issuesOfCurrency, issuesOfGiven, issuesOfName, issuesOfText } from '../../schema/fields.ts'
import { cutsOf, PERIOD_LIMIT, type PeriodTerms, type Schedule, wholeFeeOf } from '../funding/contract.ts'
import { issuesOfConditions } from '../placement/contract.ts'
import { COMMON_PLANS } from './common.ts'
import { type CommonPlan, type LoadedPlan, type NewPlan, type PlanChange, VERSIONS_LIMIT } from './schema.ts'

/** The terms of a plan from a day on. Amounts as in `plan_versions`. */
export interface PlanTerms extends PeriodTerms {
  currency: string
  conditions: RuleCondition[]
  allowance: bigint | null
  allowanceUnit: AllowanceUnit | null
  overagePrice: bigint | null
  pooled: boolean
  weight: FeeWeight
  sourceUrl: string | null
  sourceDay: string | null
}

export interface Holding {
  userId: number
  fromDay: string
  toDay: string | null
}

/** All that is stored of a plan, besides its id. */
export interface PlanFields extends Schedule<PlanTerms> {
  name: string
  vendor: string
  product: string
  holder: PlanHolder
  vendorCodes: string[]
  note: string | null
  /** In the order of people and days. */
  holders: Holding[]
}

/** Finds the keys of people by their ids and e-mail addresses. Throws 422 for those who do not exist. */
export type FindPeople = (people: readonly string[], pointer: string) => Promise<number[]>

type GivenTerms = Partial<Omit<LoadedPlan['versions'][number], 'from' | 'prorate'>>
type Given = Pick<NewPlan, 'name' | 'vendor' | 'product' | 'holder' | 'people' | 'vendor_codes' | 'note'>

const USUAL: Omit<PlanTerms, 'fromDay' | 'fee'> = {
  prorates: null,
  period: 'month',
  currency: 'USD',
  exchangeRate: null,
  seats: 1,
  conditions: [],
  allowance: null,
  allowanceUnit: null,
  overagePrice: null,
  pooled: false,
  weight: 'list_value',
  sourceUrl: null,
  sourceDay: null,
}

const NOBODY: Pick<PlanFields, 'holder' | 'vendorCodes' | 'note' | 'holders' | 'endsOn' | 'endProrates'> = {
  holder: 'organization',
  vendorCodes: [],
  note: null,
  holders: [],
  endsOn: null,
  endProrates: null,
}

/** Throws 422 with every issue. */
export async function readNewPlan(given: NewPlan, findPeople: FindPeople): Promise<PlanFields> {
  const { like, ...own } = given
  const common = like === undefined ? undefined : COMMON_PLANS.find(({ code }) => code === like)
  if (like !== undefined && !common) {
    const codes = COMMON_PLANS.map(({ code }) => code).join(', ')
    throw validationFailed([{ pointer: '/like', code: 'not_allowed', message: `must be one of ${codes}` }])
  }
  const { code: _code, note: _note, ...taken } = common ?? ({} as Partial<CommonPlan>)
  // Another fee is not the one of the source.
  const isOther = common !== undefined && PRICED.some((field) => own[field] !== undefined)
  const { from, ...body } = { ...taken, ...(isOther && { source_url: null, source_day: null }), ...own }
  const missing = (['fee', 'vendor', 'product'] as const).filter((field) => body[field] === undefined)
  if (missing.length > 0) {
    throw validationFailed(missing.map((field) => required(`/${field}`, 'give it, or a common plan with like')))
  }
  const { fee, vendor, product, ...others } = body as typeof body &
    Pick<LoadedPlan, 'vendor' | 'product'> & { fee: number }
  return readLoadedPlan({ ...others, vendor, product, versions: [{ ...others, fee, from } as never] }, findPeople, '')
}

/** The fields that a source is about. */
const PRICED = ['fee', 'currency', 'period', 'allowance', 'allowance_unit', 'overage_price'] as const

/** @param pointer to the plan in the body; empty for a body that is the plan and its only version */
export async function readLoadedPlan(given: LoadedPlan, findPeople: FindPeople, pointer: string): Promise<PlanFields> {
  const issues: Issue[] = []
  const isFlat = pointer === ''
  const versions = given.versions.map((version, at) => {
    const within = isFlat ? '' : `${pointer}/versions/${at}`
    issues.push(...issuesOfDay(version.from, `${within}/from`))
    const terms = readTerms(version, { ...USUAL, fee: 0n, fromDay: version.from }, within, issues)
    return { ...terms, prorates: version.prorate ?? null }
  })
  if (issues.length > 0) throw validationFailed(issues)
  const plan = {
    ...NOBODY,
    name: composeName(given.product),
    versions: versions.sort((one, other) => (one.fromDay < other.fromDay ? -1 : 1)),
    endsOn: given.ends_on ?? null,
    endProrates: given.end_prorate ?? null,
    vendor: '',
    product: '',
  }
  return checkPlan(await readFields(given, plan, findPeople, pointer), undefined, pointer)
}

const required = (pointer: string, what: string): Issue => ({
  pointer,
  code: 'required',
  message: `is required: ${what}`,
})

/** The plan after a change. Throws 422 with every issue. */
export async function changedPlan(plan: PlanFields, change: PlanChange, findPeople: FindPeople): Promise<PlanFields> {
  const { from, prorate } = change
  const isOfTerms = TERM_FIELDS.some((field) => change[field] !== undefined)
  const issues: Issue[] = []
  if (from === undefined && isOfTerms) {
    const { fromDay } = plan.versions.at(-1)!
    issues.push(
      required(
        '/from',
        `the day from which the new terms apply; ${fromDay} corrects the latest terms from their beginning`,
      ),
    )
  }
  if (from !== undefined) issues.push(...issuesOfDay(from, '/from'))
  if (from !== undefined && !isOfTerms) {
    issues.push({
      pointer: '/from',
      code: 'not_allowed',
      message: 'needs a field of the terms that changes on this day',
    })
  }
  const before = plan.versions.findLast(({ fromDay }) => from !== undefined && fromDay <= from) ?? plan.versions[0]!
  const prorates = prorate ?? (before.fromDay === from ? before.prorates : null)
  const terms = readTerms(change, { ...before, prorates, fromDay: from ?? before.fromDay }, '', issues)
  if (issues.length > 0) throw validationFailed(issues)
  const others = plan.versions.filter(({ fromDay }) => fromDay !== from)
  const versions = isOfTerms
    ? [...others, terms].sort((one, other) => (one.fromDay < other.fromDay ? -1 : 1))
    : plan.versions
  return checkPlan(await readFields(change, { ...plan, versions }, findPeople, ''), prorate)
}

const TERM_FIELDS = [
  ...PRICED,
  'exchange_rate',
  'seats',
  'covers',
  'pooled',
  'weight',
  'source_url',
  'source_day',
] as const satisfies (keyof GivenTerms)[]

/** The terms `before`, with those that are given. Adds issues of fields `within` the body. */
function readTerms(given: GivenTerms, before: PlanTerms, within: string, issues: Issue[]): PlanTerms {
  const { period, seats, covers, pooled, weight, source_url, source_day } = given
  const currency = given.currency ?? before.currency
  const at = (field: string) => `${within}/${field}`
  const tooFine = (field: string, digits: number) => {
    const message = digits === 0 ? 'must be a whole number' : `must have at most ${digits} decimals`
    issues.push({ pointer: at(field), code: 'too_fine', message })
  }
  const tooLarge = (field: string, most: string) =>
    issues.push({ pointer: at(field), code: 'too_large', message: `must be at most ${most}` })
  /** Absent: as before. */
  const amount = (
    field: 'fee' | 'exchange_rate' | 'allowance' | 'overage_price',
    digits: number,
    was: bigint | null,
  ) => {
    if (given[field] === undefined || given[field] === null) return given[field] === null ? null : was
    const units = parseExactDecimal(numberText(given as { [Name in typeof field]: number }, field), digits)
    if (units === undefined) tooFine(field, digits)
    else if (units > UNITS_LIMIT) tooLarge(field, decimalText(UNITS_LIMIT, digits))
    return units ?? was ?? 0n
  }
  const unit =
    given.allowance === null ? null : given.allowance_unit === undefined ? before.allowanceUnit : given.allowance_unit
  const isOfOtherPrice = PRICED.some((field) => given[field] !== undefined)
  /** The source of one price is not that of another. */
  const sourced = (text: string | null | undefined, was: string | null) =>
    text === undefined ? (isOfOtherPrice ? null : was) : text
  const terms: PlanTerms = {
    ...before,
    period: period ?? before.period,
    fee: amount('fee', NANO_DIGITS, before.fee)!,
    currency,
    exchangeRate: amount('exchange_rate', RATE_DIGITS, given.currency === undefined ? before.exchangeRate : null),
    seats: seats ?? before.seats,
    conditions: covers ?? before.conditions,
    allowance: amount('allowance', unit === 'usd' ? NANO_DIGITS : 0, before.allowance),
    allowanceUnit: unit,
    overagePrice: given.allowance === null ? null : amount('overage_price', NANO_DIGITS, before.overagePrice),
    pooled: pooled ?? before.pooled,
    weight: weight ?? before.weight,
    sourceUrl: sourced(source_url, before.sourceUrl),
    sourceDay: sourced(source_day, before.sourceDay),
  }
  if (given.currency !== undefined) issues.push(...issuesOfCurrency(currency, at('currency')))
  if (currency !== 'USD' && terms.exchangeRate === null) {
    issues.push(required(at('exchange_rate'), `the number of ${currency} per US dollar`))
  }
  if (currency === 'USD' && terms.exchangeRate !== null) {
    issues.push({ pointer: at('exchange_rate'), code: 'not_allowed', message: 'must be null for a fee in USD' })
  }
  if (wholeFeeOf(terms) > PERIOD_LIMIT) {
    tooLarge('fee', `${decimalText(PERIOD_LIMIT, NANO_DIGITS)} US dollars for all seats of a period`)
  }
  const refuse = (field: string, message: string) => issues.push({ pointer: at(field), code: 'not_allowed', message })
  if (terms.allowance !== null && unit === null) refuse('allowance', 'needs an allowance_unit: usd, tokens or requests')
  if (terms.allowance === null && unit !== null) refuse('allowance_unit', 'needs an allowance')
  if (terms.allowance === null && terms.overagePrice !== null) refuse('overage_price', 'needs an allowance')
  issues.push(...(covers ? prefixed(issuesOfConditions(covers), '/conditions', at('covers')) : []))
  issues.push(...issuesOfGiven(source_url, (url) => issuesOfUrl(url, at('source_url'))))
  issues.push(...issuesOfGiven(source_day, (day) => issuesOfDay(day, at('source_day'))))
  return terms
}

/** What fits into 64 bits, in round numbers. */
const UNITS_LIMIT = 9_000_000_000_000_000_000n

const prefixed = (issues: Issue[], was: string, is: string): Issue[] =>
  issues.map((issue) => ({ ...issue, pointer: issue.pointer.replace(was, is) }))

function issuesOfUrl(url: string, pointer: string): Issue[] {
  if (URL.canParse(url) && /^https?:/i.test(url)) return []
  return [{ pointer, code: 'bad_format', message: 'must be a URL that begins with https:// or http://' }]
}

function issuesOfDay(day: string, pointer: string): Issue[] {
  if (isDay(day) && day >= '2000-01-01' && day <= '2999-12-31') return []
  return [{ pointer, code: 'bad_format', message: 'must be an existing day from 2000 to 2999' }]
}

/** The plan with the other fields that are given. Throws 422 with every issue of them. */
async function readFields(
  given: Given,
  plan: PlanFields,
  findPeople: FindPeople,
  pointer: string,
): Promise<PlanFields> {
  const { people, note } = given
  const issues: Issue[] = []
  const name = (field: 'name' | 'vendor' | 'product') => {
    const text = given[field]
    if (text === undefined) return plan[field]
    issues.push(...issuesOfName(text, `${pointer}/${field}`))
    return composeName(text)
  }
  const fields = { name: name('name'), vendor: name('vendor'), product: name('product') }
  issues.push(...issuesOfGiven(note, (text) => issuesOfText(text, `${pointer}/note`, NOTE_LIMIT)))
  const startsOn = plan.versions[0]!.fromDay
  people?.forEach(({ from, to }, at) => {
    issues.push(...issuesOfGiven(from, (day) => issuesOfDay(day, `${pointer}/people/${at}/from`)))
    issues.push(...issuesOfGiven(to, (day) => issuesOfDay(day, `${pointer}/people/${at}/to`)))
    if (to && to < (from ?? startsOn)) {
      const message = 'must not be before the first day'
      issues.push({ pointer: `${pointer}/people/${at}/to`, code: 'not_allowed', message })
    }
  })
  if (issues.length > 0) throw validationFailed(issues)
  const keys =
    people &&
    (await findPeople(
      people.map(({ person }) => person),
      `${pointer}/people`,
    ))
  const holders = people
    ? people
        .map(({ from, to }, at) => ({ userId: keys![at]!, fromDay: from ?? startsOn, toDay: to ?? null }))
        .sort((one, other) => one.userId - other.userId || (one.fromDay < other.fromDay ? -1 : 1))
    : plan.holders
  const usual = holders.length === 0 ? 'organization' : new Set(keys).size === 1 ? 'person' : 'people'
  return {
    ...plan,
    ...fields,
    vendorCodes: given.vendor_codes ?? plan.vendorCodes,
    note: note === undefined ? plan.note : note,
    holders,
    holder: given.holder ?? (people ? usual : plan.holder),
  }
}

const NOTE_LIMIT = 1_000

/** The plan, whose cuts of periods are decided. Throws 422 with every issue of what does not fit together. */
export function checkPlan(plan: PlanFields, prorate: boolean | undefined, pointer = ''): PlanFields {
  const { versions, endsOn, holder, holders } = plan
  const issues: Issue[] = []
  const refuse = (field: string, code: string, message: string) =>
    issues.push({ pointer: `${pointer}${field}`, code, message })
  const startsOn = versions[0]!.fromDay
  const latest = versions.at(-1)!.fromDay
  if (versions.length > VERSIONS_LIMIT) refuse('/from', 'too_many', `there can be at most ${VERSIONS_LIMIT} versions`)
  if (versions.some(({ fromDay }, at) => fromDay === versions[at - 1]?.fromDay)) {
    refuse('/versions', 'not_allowed', 'must not have two versions from the same day')
  }
  if (endsOn !== null) {
    issues.push(...issuesOfDay(endsOn, `${pointer}/ends_on`))
    if (versions.length > 1 && latest > endsOn) {
      refuse('/ends_on', 'not_allowed', `must not be before ${latest}, when the latest terms begin; remove these first`)
    }
    if (endsOn < addDays(startsOn, -1)) {
      refuse('/ends_on', 'not_allowed', `must not be before ${addDays(startsOn, -1)}, the day before the plan begins`)
    }
  }
  if (holder === 'organization' && holders.length > 0) {
    refuse('/holder', 'not_allowed', 'must be person or people, because people are named')
  }
  if (holder !== 'organization' && holders.length === 0) {
    refuse('/people', 'not_allowed', 'must name who uses it; with holder organization, everyone does')
  }
  const byDay = holders.toSorted((one, other) => (one.fromDay < other.fromDay ? -1 : 1))
  const overlaps = (one: Holding, other: Holding) =>
    one !== other && one.fromDay <= (other.toDay ?? FOR_EVER) && other.fromDay <= (one.toDay ?? FOR_EVER)
  // In the order of days, holdings overlap if and only if two neighbours do.
  if (holder === 'person' && byDay.some((one, at) => at > 0 && overlaps(one, byDay[at - 1]!))) {
    refuse('/people', 'not_allowed', 'of a plan of one person, must not have two on one day; use holder people')
  }
  if (holders.some((one, at) => at > 0 && one.userId === holders[at - 1]!.userId && overlaps(one, holders[at - 1]!))) {
    refuse('/people', 'not_allowed', 'must not have a person twice on one day')
  }
  if (issues.length > 0) throw validationFailed(issues)
  return withDecidedCuts(plan, prorate, pointer)
}

const FOR_EVER = '9999-12-31'

/** Throws 422 for a period that is cut, if nobody says whether its fee is charged in full. */
function withDecidedCuts(plan: PlanFields, prorate: boolean | undefined, pointer: string): PlanFields {
  const cuts = new Map(cutsOf(plan).map((cut) => [cut.onDay, cut]))
  const open = [...cuts.values()].find((cut) => cut.prorates === null)
  if (open && prorate === undefined) {
    const { firstDay, wholeLastDay } = open.period
    const message = `is required, because ${open.onDay} cuts the period from ${firstDay} to ${wholeLastDay}, whose fee is charged by days (true) or in full (false)`
    const at = plan.versions.findIndex(({ fromDay }) => fromDay === open.onDay)
    const field = pointer === '' ? '/prorate' : at < 0 ? '/end_prorate' : `/versions/${at}/prorate`
    throw validationFailed([{ pointer: `${pointer}${field}`, code: 'required', message }])
  }
  const decided = (day: string, before: boolean | null) => before ?? (cuts.has(day) ? prorate! : null)
  return {
    ...plan,
    versions: plan.versions.map((version) => ({ ...version, prorates: decided(version.fromDay, version.prorates) })),
    endProrates: plan.endsOn === null ? null : decided(addDays(plan.endsOn, 1), plan.endProrates),
  }
}

/** Whether two plans have the same name, so that nobody could tell them apart. */
export const isSameName = (one: string, other: string): boolean => foldName(one) === foldName(other)
