import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { EVERYTHING, viewerOf } from '../../../src/access/visibility.ts'
import { requireChange, type Sight, sightOf } from '../../../src/features/projects/access.ts'
import { parseBudget, parseMarkup } from '../../../src/features/projects/validation.ts'

describe('visibility of work', () => {
  const ada = { id: 1 }
  const grace = { id: 2 }
  const member = viewerOf({ id: 1, role: 'member' })

  test('depends on the role and on led projects', () => {
    const rows: [ReturnType<typeof viewerOf>, { leads: { id: number }[] } | null, Sight][] = [
      [member, { leads: [] }, 'names'],
      [member, { leads: [grace] }, 'names'],
      [member, { leads: [grace, ada] }, 'lead'],
      [member, null, 'names'],
      [viewerOf({ id: 1, role: 'billing' }), { leads: [] }, 'everything'],
      [viewerOf({ id: 1, role: 'admin' }), null, 'everything'],
      [EVERYTHING, { leads: [ada] }, 'everything'],
    ]
    for (const [viewer, project, sight] of rows) expect(sightOf(viewer, project)).toBe(sight)
    expect(sightOf(member, { leads: [], clientLeads: [ada] })).toBe('lead')
  })

  test('decides which changes are allowed', () => {
    const may = (sight: Sight, what: 'project' | 'ticket', ...fields: string[]) => {
      try {
        requireChange(sight, what, fields)
        return true
      } catch (error) {
        return (error as Error).message
      }
    }
    expect(may('everything', 'project', 'key', 'markup', 'leads')).toBe(true)
    expect(may('lead', 'project', 'aliases')).toBe(true)
    expect(may('lead', 'project', 'aliases', 'markup')).toBe(
      'Leads of the project can change only its aliases; changing markup requires the role billing or admin.',
    )
    expect(may('lead', 'ticket', 'title')).toBe(true)
    expect(may('lead', 'ticket', 'project')).toContain('changing project requires the role billing or admin')
    for (const what of ['project', 'ticket'] as const)
      expect(may('names', what)).toContain('you need the role billing or admin, or you must be a lead of')
  })
})

describe('a markup', () => {
  test('is read to four decimals of a percent, and refused where it is finer or out of bounds', () => {
    const rows: [string, number | undefined][] = [
      ['12.5', 125_000],
      ['0.0001', 1],
      ['1e-4', 1],
      ['-100', -1_000_000],
      ['10000', 100_000_000],
      ['0.00001', undefined],
      ['12.50001', undefined],
      ['-100.0001', undefined],
      ['10000.0001', undefined],
      ['', undefined],
      ['5%', undefined],
    ]
    for (const [text, ppm] of rows) expect([text, parseMarkup(text)]).toEqual([text, ppm])
  })

  test('is the same number for every way to write it', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1_000_000, max: 100_000_000 }), (ppm) => {
        expect(parseMarkup((ppm / 10_000).toFixed(4))).toBe(ppm)
        expect(parseMarkup(`${ppm}e-4`)).toBe(ppm)
      }),
    )
  })
})

test('a budget is read to the nano-dollar, from nothing to a thousand million', () => {
  expect(parseBudget('2500.123456789')).toBe(2_500_123_456_789n)
  expect(parseBudget('0')).toBe(0n)
  expect(parseBudget('1000000000')).toBe(1_000_000_000_000_000_000n)
  for (const text of ['-0.01', '1000000000.01', 'much']) expect(parseBudget(text)).toBeUndefined()
})
