import { expect, test } from 'bun:test'
import '../../support/page-location.ts'
import { answer, type Settled } from '../../../src/web/server/api.ts'

const settled = (changes: Partial<Settled>): Promise<Settled> =>
  Promise.resolve({ data: null, error: null, response: new Response(), ...changes })

test('a successful call answers its body', async () => {
  expect(await answer(settled({ data: { id: 'ent_1' } }))).toEqual({ id: 'ent_1' })
})

test('a rejected call throws the error of the API', async () => {
  const response = new Response(null, { status: 409 })
  const call = answer(settled({ error: { status: 409, value: { code: 'entry_locked' } }, response }))
  await expect(call).rejects.toMatchObject({ status: 409, code: 'entry_locked' })
})

test('a call that does not reach the server throws that it is unreachable', async () => {
  await expect(answer(Promise.reject(new TypeError('Failed to fetch')))).rejects.toMatchObject({ code: 'unreachable' })
  // Eden reports a failed fetch as an error without a response.
  const failed = { error: { status: 503, value: new TypeError() }, response: undefined as unknown as Response }
  await expect(answer(settled(failed))).rejects.toMatchObject({ code: 'unreachable' })
})
