import { expect, test } from 'bun:test'
import { generateCommonPasswords } from '../../../scripts/common-passwords.ts'
import { issuesOfPassword } from '../../../src/features/people/passwords/password-rule.ts'

const FOLDER = `${import.meta.dir}/../../../src/features/people/passwords`
const owner = { email: 'ada.lovelace@example.com', name: 'Ada Lovelace' }

const codeOf = async (password: string) => (await issuesOfPassword(password, { pointer: '/password', owner }))[0]?.code

test('the list is what scripts/common-passwords.ts makes of the pinned package, and so is the notice beside it', async () => {
  const { list, notice } = await generateCommonPasswords()
  expect(await Bun.file(`${FOLDER}/common-passwords.txt`).text()).toBe(list)
  expect(await Bun.file(`${FOLDER}/common-passwords.LICENSE`).text()).toBe(notice)
  expect(notice).toContain('Permission is hereby granted')
  expect(list.length).toBeLessThan(100_000)
})

test.each([
  'qwertyuiop',
  'QwertyUIOP',
  'password123',
  'Sunshine2026!',
  '!!password!!',
  'passwordpassword',
  'aaaaaaaaaaaa',
  'ababababababab',
  'ada.lovelace@example.com',
  'Lovelace 1815!',
  'tally-2026-tally',
  'example lovelace',
  'Ｐａｓｓｗｏｒｄ１２３',
])('%p may not be chosen', async (password) => {
  expect(await codeOf(password)).toBe('too_common')
})

test.each([
  'correct horse battery',
  'staple of another kind',
  'mein Hut, der hat 3 Ecken',
  'tally ho, said the old fox',
  'lovelace wrote the first program',
  'zk7!pW0q#m',
  '正確な馬の電池を止めるもの',
])('%p may be chosen', async (password) => {
  expect(await codeOf(password)).toBeUndefined()
})

test('counts characters at least and bytes at most', async () => {
  expect(await codeOf('9 chars x')).toBe('too_short')
  // Each has two code units.
  expect(await codeOf('😀😃😄😁😆')).toBe('too_short')
  expect(await codeOf('x y'.repeat(342))).toBe('too_long')
  expect(await codeOf('ä1ö2ü3é4'.repeat(86))).toBe('too_long')
  expect(await codeOf('ä1ö2ü3é4'.repeat(85))).toBeUndefined()
})
