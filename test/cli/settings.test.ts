import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { CommandLine } from '../support/command-line.ts'
import { PNG } from '../support/picture.ts'

let tally: CommandLine
beforeAll(async () => {
  tally = await CommandLine.make()
  await tally.addUser()
})
afterAll(() => tally.remove())

const set = (...args: string[]) => ['settings', 'set', ...args]

test('the public URL is set, shown, recorded and cleared; an option of the same name is not taken for it', async () => {
  const env = { TALLY_PUBLIC_URL: 'https://option.example.com' }
  expect((await tally.json(set('--public-url', 'https://tally.example.com/'), { env })).public_url).toBe(
    'https://tally.example.com',
  )
  const { stdout, stderr } = await tally.done(['settings', 'show'], { env })
  expect(stdout).toMatch(/^public url {8}https:\/\/tally\.example\.com$/m)
  expect(stderr).toContain('TALLY_PUBLIC_URL is https://option.example.com here')
  expect((await tally.done(['settings', 'show'])).stderr).toBe('')
  const { data } = await tally.json(['audit', '--action', 'organization.changed'])
  expect(data[0].after).toEqual({ public_url: 'https://tally.example.com' })
  expect((await tally.json(set('--public-url', 'none'))).public_url).toBeNull()
})

test('what is no number is refused by its flag', async () => {
  const { code, stderr } = await tally.run(set('--due-days', 'x', '--retention-texts', 'y', '--yes'))
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(
      /^tally: --retention-texts: must be a whole number.*\ntally: --due-days: must be a whole number.*\n$/,
    ),
  ])
})

test('the logo alone is a change, and none removes it', async () => {
  const picture = join(tally.folder, 'logo.png')
  await Bun.write(picture, PNG)
  expect((await tally.json(set('--logo', picture))).logo).toBe('image/png')
  expect((await tally.json(set('--logo', 'none'))).logo).toBeNull()
  const { code, stderr } = await tally.run(set('--logo', join(tally.folder, 'none.png'), '--name', 'Changed'))
  expect([code, stderr]).toEqual([1, expect.stringContaining('cannot be read')])
  expect((await tally.json(['settings', 'show'])).name).not.toBe('Changed')
})

test('what no link could begin with is refused', async () => {
  const { code, stderr } = await tally.run(set('--public-url', 'https://tally.example.com/tally'))
  expect(code).toBe(2)
  expect(stderr).toContain('--public-url')
  expect(stderr).toContain('below a path')
})
