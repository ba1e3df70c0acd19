import { expect, test } from 'bun:test'
import { textOf } from '../../src/lib/response-text.ts'

test('a response is read up to its limit, whether it ends or not', async () => {
  expect(await textOf(new Response('äb'), 3)).toBe('äb')
  expect(await textOf(new Response(null, { status: 204 }), 3)).toBe('')
  let isCancelled = false
  let sent = 0
  const endless = new ReadableStream({
    pull(controller) {
      sent += 1
      controller.enqueue(new Uint8Array(1_000))
    },
    cancel() {
      isCancelled = true
    },
  })
  await expect(textOf(new Response(endless), 10_000)).rejects.toThrow('more than 10000 bytes')
  expect(isCancelled).toBe(true)
  expect(sent).toBeLessThan(20)
})
