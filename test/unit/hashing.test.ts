import { afterEach, expect, spyOn, test } from 'bun:test'
import { Hashing } from '../../src/features/people/hashing.ts'

const restore: (() => void)[] = []
afterEach(() => {
  for (const step of restore.splice(0)) step()
})

test('a hash is argon2id of the password, and of nothing else', async () => {
  const hashing = new Hashing()
  const hash = await hashing.hash('Zoë und die Wölfe')
  expect(hash).toStartWith('$argon2id$v=19$m=65536,t=2,p=1$')
  expect(await hashing.verify('Zoe\u0308 und die Wo\u0308lfe', hash)).toBe(true)
  expect(await hashing.verify('zoë und die wölfe', hash)).toBe(false)
  expect(await hashing.verify('anything', null)).toBe(false)
})

test('two run at once, thirty wait in order, and more are refused until there is room', async () => {
  // Held back, so that the queue is what is seen here and not the speed of hashing.
  const running: (() => void)[] = []
  const started: string[] = []
  const hash = spyOn(Bun.password, 'hash').mockImplementation((password) => {
    started.push(String(password))
    return new Promise((resolve) => running.push(() => resolve(`hash of ${password}`)))
  })
  restore.push(() => hash.mockRestore())
  const hashing = new Hashing()
  const settled: string[] = []
  const all = Array.from({ length: 32 }, (_, index) =>
    hashing.hash(`${index}`).then((result) => void settled.push(result)),
  )
  expect(started).toEqual(['0', '1'])
  await expect(hashing.hash('one more')).rejects.toMatchObject({
    code: 'overloaded',
    more: { headers: { 'retry-after': '2' } },
  })
  while (settled.length < 32) {
    expect(running.length).toBeLessThanOrEqual(2)
    running.shift()!()
    await Bun.sleep(0)
  }
  await Promise.all(all)
  expect(started).toEqual(Array.from({ length: 32 }, (_, index) => `${index}`))
  const next = hashing.hash('afterwards')
  running.shift()!()
  expect(await next).toBe('hash of afterwards')
})

test('one that fails makes room for the next', async () => {
  const hash = spyOn(Bun.password, 'hash').mockRejectedValue(new Error('out of memory'))
  const hashing = new Hashing()
  for (let times = 0; times < 5; times += 1) await expect(hashing.hash('x')).rejects.toThrow('memory')
  hash.mockRestore()
  expect(await hashing.verify('x', await hashing.hash('x'))).toBe(true)
})
