import { expect, test } from 'bun:test'
import { CHAPTERS } from '../../../docs/.vitepress/chapters.ts'
import { SECTIONS } from '../../../src/http/web.ts'
import { MANUAL_PAGES, manualAddress } from '../../../src/web/shell/manual-pages.ts'

/** What one sees before one is signed in. */
const OUTSIDE = ['sign-in', 'setup', 'password']

test('every page of the application leads to a page of the manual', () => {
  const pages = CHAPTERS.flatMap(({ pages }) => pages)
  expect(Object.entries(MANUAL_PAGES).filter(([, page]) => !pages.includes(page))).toEqual([])
  expect(SECTIONS.filter((section) => !OUTSIDE.includes(section) && !(section in MANUAL_PAGES))).toEqual([])
})

test('a page below another has the same', () => {
  expect(manualAddress('/bills/2026-0001')).toBe('/docs/billing')
  expect(manualAddress('/')).toBe('/docs/reports/usage')
  expect(manualAddress('/nope')).toBe('/docs/')
})
