/** What the search found, as the palette lists it. */
import { expect, test } from 'bun:test'
import '../../support/page-location.ts'
import { groupsOf, type Hit } from '../../../src/web/shell/palette/hits.ts'

const hit = (type: Hit['type'], name: string, detail: string | null = null): Hit => ({
  ...{ type, name, detail },
  id: `${type} ${name}`,
  at: null,
  archived: false,
})

const HITS = [
  hit('project', 'Kestrel route planning', 'ROUTES · Kestrel Logistics'),
  hit('ticket', 'ROUTES-101', 'Delivery time windows'),
  hit('client', 'Kestrel Logistics'),
]

const titlesFor = (text: string) => groupsOf(HITS, text).map(({ title }) => title)

test('a client whose name begins with the text is first, unless it is the key or the name of a project', () => {
  expect(titlesFor('kestrel')).toEqual(['Clients', 'Projects', 'Tickets'])
  expect(titlesFor('logistics')).toEqual(['Projects', 'Tickets', 'Clients'])
  expect(groupsOf([...HITS, hit('client', 'Routes Ltd')], 'routes').map(({ title }) => title)).toEqual([
    'Projects',
    'Tickets',
    'Clients',
  ])
})
