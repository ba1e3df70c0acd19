/** Pages of lists: with every filter, sorted, and searched by text. */
import { printProgress } from '../clean-up.ts'
import { MATCHING, MEMBERS_LISTS, MONTH, SEARCHES, SORTS, type Sort, sorted, UNMATCHED } from '../queries.ts'
import {
  cellsOf,
  type Line,
  type Measured,
  ms,
  NOT_AVAILABLE,
  printTable,
  seconds,
  whole,
  worstLine,
} from './results.ts'
import type { Subject } from './subject.ts'

const PAGE_GOAL_MS = 50
const SEARCH_GOAL_MS = 300

/** A search is followed to its end, or for so long. */
const SEARCH_LIMIT_MS = 60_000

interface Entry {
  started_at: string
  ended_at: string
  cost: number | null
  tokens: { total?: number } & Record<string, unknown>
}

interface Page {
  data: Entry[]
  has_more: boolean
  next_page: string | null
  searched_to?: string | null
}

/** The first and second page of a list. The second is missing if there is only one. */
async function measurePages(subject: Subject, name: string, path: string, token?: string) {
  printProgress(name)
  const question = token === undefined ? {} : { token }
  const first = await subject.measure(name, path, question)
  const page = first.refused === undefined ? await subject.json<Page>(path, question) : undefined
  const next = page?.next_page
  const second = next ? await subject.measure(`${name}, second page`, `${path}&page=${next}`, question) : undefined
  return { first, second }
}

export async function measureLists(subject: Subject): Promise<Line[]> {
  const rows = [['page of 50 entries', 'first: p50 ms', 'p95 ms', 'second: p50 ms', 'p95 ms']]
  async function all(lists: Record<string, string>, token?: string): Promise<Measured[]> {
    const measured: Measured[] = []
    for (const [name, path] of Object.entries(lists)) {
      const { first, second } = await measurePages(subject, name, path, token)
      rows.push([name, ...cellsOf(first), ...cellsOf(second)])
      measured.push(first, ...(second ? [second] : []))
    }
    return measured
  }
  const matching = await all(MATCHING)
  const unmatched = await all(UNMATCHED)
  const members = await all(MEMBERS_LISTS, subject.tokens.membersReading)
  printTable(rows)
  return [
    worstLine('list page with any filter, with matches', matching, PAGE_GOAL_MS),
    worstLine('list page with any filter, without a match', unmatched, PAGE_GOAL_MS),
    worstLine('list page of a member', members, PAGE_GOAL_MS),
  ]
}

/** What a list is sorted by; undefined where that is unknown, such as the cost of an unpriced entry. */
const SORTED_BY: Record<Sort, (entry: Entry) => number | undefined> = {
  started_at: ({ started_at }) => Date.parse(started_at),
  cost: ({ cost }) => cost ?? undefined,
  tokens: ({ tokens }) => tokens.total ?? sumOf(tokens),
  duration: ({ started_at, ended_at }) => Date.parse(ended_at) - Date.parse(started_at),
}

function sumOf(counts: Record<string, unknown>): number {
  const names = ['input', 'output', 'cache_read', 'cache_write', 'cache_write_1h']
  return names.reduce((sum, name) => sum + Number(counts[name] ?? 0), 0)
}

/** Whether the page is in that order: a version that can't sort ignores the parameters. */
function isSorted({ data }: Page, sort: Sort, order: 'asc' | 'desc'): boolean {
  const values = data.map(SORTED_BY[sort]).filter((value) => value !== undefined)
  const sign = order === 'asc' ? 1 : -1
  return values.every((value, at) => at === 0 || sign * (value - values[at - 1]!) >= 0)
}

export async function measureSorted(subject: Subject): Promise<Line[]> {
  const rows = [['sorted page', 'first: p50 ms', 'p95 ms', 'second: p50 ms', 'p95 ms']]
  const measured: Measured[] = []
  const periods = { 'a month': MONTH, everything: '' }
  for (const [period, filter] of Object.entries(periods)) {
    for (const sort of SORTS) {
      for (const order of ['desc', 'asc'] as const) {
        const name = `${period} by ${sort}, ${order}`
        const path = sorted(sort, order, filter)
        const page = await subject.json<Page>(path)
        if (!page || !isSorted(page, sort, order)) {
          rows.push([name, NOT_AVAILABLE, '', '', ''])
          continue
        }
        const { first, second } = await measurePages(subject, name, path)
        rows.push([name, ...cellsOf(first), ...cellsOf(second)])
        measured.push(first, ...(second ? [second] : []))
      }
    }
  }
  printTable(rows)
  return [worstLine('sorted list page', measured, PAGE_GOAL_MS)]
}

export async function measureSearch(subject: Subject): Promise<Line[]> {
  const rows = [['text search', 'first: p50 ms', 'p95 ms', 'until the end', 'pages', 'entries']]
  const measured: Measured[] = []
  for (const [name, path] of Object.entries(SEARCHES)) {
    printProgress(name)
    const first = await subject.measure(name, path)
    measured.push(first)
    const rest = first.refused === undefined ? await followSearch(subject, path) : undefined
    rows.push([name, ...cellsOf(first), ...(rest ?? ['', '', ''])])
  }
  printTable(rows)
  return [worstLine('text search, first answer', measured, SEARCH_GOAL_MS)]
}

/** Follows a search until something was found, or everything was searched. */
async function followSearch(subject: Subject, path: string): Promise<string[]> {
  const startedAt = performance.now()
  let page = await subject.json<Page>(path)
  let pages = 1
  let slowestMs = 0
  while (page?.data.length === 0 && page.next_page && performance.now() - startedAt < SEARCH_LIMIT_MS) {
    const asked = performance.now()
    page = await subject.json<Page>(`${path}&page=${page.next_page}`)
    slowestMs = Math.max(slowestMs, performance.now() - asked)
    pages += 1
  }
  const slowest = pages > 1 ? `, slowest further page ${ms(slowestMs)} ms` : ''
  const isOver = page !== undefined && (page.data.length > 0 || !page.next_page)
  const took = `${seconds(performance.now() - startedAt)}${slowest}`
  return [isOver ? took : `not within ${took}`, whole(pages), whole(page?.data.length ?? 0)]
}
