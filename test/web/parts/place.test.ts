import { expect, test } from 'bun:test'
import { isChosen, NO_PLACE, newTicket, type Place, placeBody, placeInWords } from '../../../src/web/parts/place.ts'
import { projectLabel } from '../../../src/web/parts/project-label.ts'

const project = { value: 'prj_1', label: 'ACME' }
const ticket = { value: 'tkt_1', label: 'ACME-42' }
const place = (changes: Partial<Place>): Place => ({ ...NO_PLACE, ...changes })

test('assigning to a project removes the ticket, and assigning to nothing removes both', () => {
  expect(placeBody(place({ kind: 'project', project, ticket }))).toEqual({ project: 'prj_1', ticket: null })
  expect(placeBody(place({ kind: 'nothing', project, ticket }))).toEqual({ project: null, ticket: null })
})

test('an existing ticket implies its project, and a new one is sent by key with the chosen project', () => {
  expect(placeBody(place({ kind: 'ticket', project, ticket }))).toEqual({ ticket: 'tkt_1' })
  const created = place({ kind: 'ticket', ticket: newTicket('ACME-43') })
  expect(placeBody(created)).toEqual({ ticket: 'ACME-43' })
  expect(placeBody({ ...created, project })).toEqual({ ticket: 'ACME-43', project: 'prj_1' })
})

test('a place is complete once what its kind needs is chosen', () => {
  expect(
    [NO_PLACE, place({ project }), place({ kind: 'ticket', project }), place({ kind: 'nothing' })].map(isChosen),
  ).toEqual([false, true, false, true])
})

test('a place is shown by its key', () => {
  const shown = [place({ project }), place({ kind: 'ticket', ticket }), place({ kind: 'nothing' }), NO_PLACE]
  expect(shown.map(placeInWords)).toEqual(['ACME', 'ACME-42', 'none', '…'])
})

test('a project is shown by its key, with its name if that differs', () => {
  expect(projectLabel({ key: 'ACME', name: 'Acme web' })).toBe('ACME · Acme web')
  expect([projectLabel({ key: 'ACME', name: 'ACME' }), projectLabel({ key: 'ACME', name: null })]).toEqual([
    'ACME',
    'ACME',
  ])
})
