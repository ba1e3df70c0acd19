import { afterEach, expect, test } from 'bun:test'
import '../../support/page-location.ts'
import { dropFirstAnswers, readVisitor, takeFirstAnswer } from '../../../src/web/server/first-answers.ts'

const ME = 'http://tally.test/api/v1/me'

afterEach(dropFirstAnswers)

test('an answer that was asked for before the application was here is taken once', async () => {
  globalThis.firstAnswers = new Map([['/api/v1/me', Promise.resolve(new Response('early'))]])
  expect(takeFirstAnswer(`${ME}?x=1`)).toBeUndefined()
  expect(await (await takeFirstAnswer(ME))!.text()).toBe('early')
  expect(takeFirstAnswer(ME)).toBeUndefined()
})

test('an answer that nobody took while the page began is dropped', () => {
  globalThis.firstAnswers = new Map([['/api/v1/me', Promise.resolve(new Response('early'))]])
  dropFirstAnswers()
  expect(takeFirstAnswer(ME)).toBeUndefined()
})

test('a browser that stores nothing, or something else, knows nothing of the last visit', () => {
  expect(readVisitor()).toBeUndefined()
  for (const stored of [null, 'x', 'null', '{"role":"admin"}', '{"role":1,"timeZone":"UTC"}']) {
    Object.assign(globalThis, { localStorage: { getItem: () => stored } })
    expect(readVisitor()).toBeUndefined()
  }
  Object.assign(globalThis, { localStorage: { getItem: () => '{"role":"admin","timeZone":"UTC"}' } })
  // Earlier versions stored no basis.
  expect(readVisitor()).toEqual({ role: 'admin', timeZone: 'UTC', basis: 'cost' })
  Reflect.deleteProperty(globalThis, 'localStorage')
})
