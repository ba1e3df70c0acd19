/** The figures of a page, the lists that they lead to, and the totals of these. */
import type { Page } from 'playwright-core'
import { readAddress } from '../../../src/web/address.ts'
import { type EntryQuery, entryQuery, FILTERS } from '../../../src/web/parts/entries/filters.ts'
import { sumsQuery } from '../../../src/web/parts/entries/sums-query.ts'
import type { Figure } from '../../../src/web/parts/figure-link.tsx'
import type { Ask } from '../../support/session.ts'

export interface Found {
  figure: Figure
  /** As pages write it: exact, or `unknown`. */
  value: string
  /** `no link` if it leads nowhere. */
  href: string
}

const FIGURES = `[...document.querySelectorAll('[data-figure]')].map((shown) => ({
  figure: shown.dataset.figure,
  value: shown.dataset.value,
  href: shown.closest('a[href]')?.getAttribute('href') ?? shown.dataset.to ?? 'no link',
}))`

const TOTALS = `Object.fromEntries(
  [...document.querySelectorAll('[data-total]')].map((shown) => [shown.dataset.total, shown.dataset.value]),
)`

export type Totals = Partial<Record<Figure, string>>

export const figuresOf = (page: Page): Promise<Found[]> => page.evaluate<Found[]>(FIGURES)

/** The totals that a list shows; by list value, that is the cost, and not shown twice. */
export async function totalsShown(page: Page): Promise<Totals> {
  const { entries, cost, ...others } = await page.evaluate<Totals>(TOTALS)
  const isByListValue = new URL(page.url()).searchParams.get('basis') === 'list'
  return { ...(entries && { entries }), ...(cost && { cost, ...(isByListValue && { list_value: cost }) }), ...others }
}

/** As pages write them. */
const exactly = (value: number | null): string => (value === null ? 'unknown' : String(value))

const parametersOf = (query: EntryQuery | ReturnType<typeof sumsQuery>) =>
  new URLSearchParams(
    Object.entries(query).flatMap(([name, values]) =>
      [values].flat().map((value): [string, string] => [name, String(value)]),
    ),
  )

/** The totals of the list at an address, from the request that its page makes for them. */
export async function totalsOf(href: string, ask: Ask, timeZone: string): Promise<Totals> {
  const [path, search = ''] = href.split('?')
  const query = entryQuery(readAddress(search, FILTERS), timeZone)
  if (path === '/entries') {
    const basis = new URLSearchParams(search).get('basis')
    const counted = basis === null ? '' : `&basis=${basis}`
    const { totals } = await ask(`GET /reports/usage?${parametersOf(sumsQuery(query))}${counted}`)
    return {
      entries: exactly(totals.entries),
      cost: exactly(totals.cost),
      list_value: exactly(totals.list_value),
      tokens: exactly(totals.tokens.total),
    }
  }
  if (path === '/unattributed') {
    const { totals } = await ask(`GET /reports/unattributed?${parametersOf(query)}`)
    return { entries: exactly(totals.entries), cost: exactly(totals.cost) }
  }
  const read = new URLSearchParams(search)
  if (path === '/sheets' && search === 'tab=waiting') {
    return { sheets: exactly((await ask('GET /approvals')).sheets.sheets) }
  }
  if (path === '/prices' && search === 'tab=unpriced') {
    const { data } = await ask('GET /reports/unpriced?limit=200')
    return { models: exactly(data.length) }
  }
  if (path === '/inbox') return { waiting: exactly((await ask('GET /inbox')).decisions) }
  if (path === '/work' && read.get('conflicting') === 'true') {
    const { data } = await ask('GET /tickets?conflicting=true&limit=50')
    return { tickets: exactly(data.length) }
  }
  if (path === '/tokens') {
    const filter = new URLSearchParams({ reads_all: 'false', user: read.get('user')!, limit: '1000' })
    const { data } = await ask(`GET /agent-status?${filter}`)
    return { agents: exactly(data.length) }
  }
  if (path === '/webhooks') {
    const { data } = await ask('GET /webhooks?failing=true&limit=100')
    return { webhooks: exactly(data.length) }
  }
  if (path === '/bills' && search === '') {
    const { data } = await ask('GET /bill-drafts?limit=200')
    return { drafts: exactly(data.length) }
  }
  if (path === '/bills') {
    const state = read.get('state')
    const client = read.getAll('client').map((name): [string, string] => ['client', name])
    const filter = new URLSearchParams([...client, state === 'overdue' ? ['overdue', 'true'] : ['state', state!]])
    const { data } = await ask(`GET /bills/totals?${filter}`)
    return Object.fromEntries(
      data.flatMap(({ currency, balance, credit }: { currency: string; balance: number; credit: number }) => [
        [`open ${currency}`, exactly(balance)],
        [`credit ${currency}`, exactly(credit)],
      ]),
    )
  }
  throw new Error(`${href} has no totals: add the request that it makes for them`)
}
