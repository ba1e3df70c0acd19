import { expect, test } from 'bun:test'
import { Hashing } from '../../../src/features/people/passwords/hashing.ts'
import type { PasswordHasher } from '../../../src/features/people/passwords/hashing-thread.ts'

test('a hash is argon2id of the password, and of nothing else', async () => {
  const hashing = new Hashing()
  const hash = await hashing.hash('Zoë und die Wölfe')
  expect(hash).toStartWith('$argon2id$v=19$m=19456,t=8,p=1$')
  expect(await hashing.verify('Zoe\u0308 und die Wo\u0308lfe', hash)).toBe(true)
  expect(await hashing.verify('zoë und die wölfe', hash)).toBe(false)
  expect(await hashing.verify('anything', null)).toBe(false)
})

/** Held back, so that the queue is what is seen here and not the speed of hashing. */
function heldBack() {
  const running: (() => void)[] = []
  const started: string[] = []
  const hasher: PasswordHasher = {
    hash(password) {
      started.push(password)
      return new Promise((resolve) => running.push(() => resolve(`hash of ${password}`)))
    },
    verify: async () => false,
  }
  const finishAll = async () => {
    while (running.length > 0) {
      expect(running).toHaveLength(1)
      running.shift()!()
      await Bun.sleep(0)
    }
  }
  return { hashing: new Hashing(hasher), started, finishAll }
}

const tooMany = { code: 'too_many_attempts', status: 429, more: { headers: { 'retry-after': '3' } } }
const from = (network: number) => ({ network: `192.0.2.${network}` })

test('one runs at a time, sixteen wait in order, and more are refused until there is room', async () => {
  const { hashing, started, finishAll } = heldBack()
  const all = Array.from({ length: 17 }, (_, index) => hashing.hash(`${index}`, from(index)))
  expect(started).toEqual(['0'])
  await expect(hashing.hash('one more', from(99))).rejects.toMatchObject(tooMany)
  await finishAll()
  await Promise.all(all)
  expect(started).toEqual(Array.from({ length: 17 }, (_, index) => `${index}`))
  const next = hashing.hash('afterwards', from(99))
  await finishAll()
  expect(await next).toBe('hash of afterwards')
})

test('one network has a part of the queue, and those that are known have a queue of their own, ahead of the others', async () => {
  const { hashing, started, finishAll } = heldBack()
  const all = Array.from({ length: 11 }, (_, index) => hashing.hash(`${index}`, from(1)))
  await expect(hashing.hash('one more', from(1))).rejects.toMatchObject(tooMany)
  all.push(...Array.from({ length: 6 }, (_, index) => hashing.hash(`other ${index}`, from(2))))
  await expect(hashing.hash('one more', from(3))).rejects.toMatchObject(tooMany)
  all.push(hashing.hash('known', { ...from(1), isKnown: true }))
  await finishAll()
  await Promise.all(all)
  expect(started.slice(0, 3)).toEqual(['0', 'known', '1'])
  expect(started).toHaveLength(18)
})

test('one that fails makes room for the next', async () => {
  const failing: PasswordHasher = {
    hash: () => Promise.reject(new Error('out of memory')),
    verify: async () => true,
  }
  const hashing = new Hashing(failing)
  for (let times = 0; times < 5; times += 1) await expect(hashing.hash('x')).rejects.toThrow('memory')
  expect(await hashing.verify('x', 'hash')).toBe(true)
})

test('an invalid hash fails, and the thread continues', async () => {
  const hashing = new Hashing()
  await expect(hashing.verify('x', 'not a hash')).rejects.toThrow('could not be hashed')
  expect(await hashing.verify('x', null)).toBe(false)
})
