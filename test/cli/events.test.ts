import { afterAll, beforeAll, expect, test } from 'bun:test'
import { CommandLine } from '../support/command-line.ts'

let tally: CommandLine
beforeAll(async () => {
  tally = await CommandLine.make()
  await tally.addUser('ada@example.com', 'admin')
})
afterAll(() => tally.remove())

test('events are listed from the oldest on, by type, and a page continues after the one before', async () => {
  for (const key of ['ONE', 'TWO']) await tally.done(['projects', 'add', key])
  const page = await tally.json(['events', 'list', '--types', 'project.*', '--limit', '1'])
  expect(page).toMatchObject({ data: [{ type: 'project.added', object: { name: 'ONE' } }], has_more: true })
  const next = await tally.json(['events', 'list', '--types', 'project.*', '--after', page.next_after])
  expect(next).toMatchObject({ data: [{ object: { name: 'TWO' } }], has_more: false })
  const { stdout } = await tally.done(['events', 'list'])
  expect(stdout).toMatch(/ID +WHEN \(UTC\) +TYPE +EVENT/)
  expect(stdout).toMatch(/project\.added +Tally added project ONE/)
  const { stderr } = await tally.done(['events', 'list', '--types', 'bill.*'])
  expect(stderr).toContain('No matching events.')
  const refused = await tally.run(['events', 'list', '--types', 'project.*,projct.added'])
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("Did you mean 'project.added'?")])
})

test('events are followed while a server records them, until it is interrupted', async () => {
  const following = await tally.spawn(['events', 'follow', '--types', 'project.*', '--json'], 'ignore')
  const lines: string[] = []
  const reading = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of following.stdout) {
      lines.push(...decoder.decode(chunk).split('\n').filter(Boolean))
      if (lines.length >= 2) return
    }
  })()
  // It begins with what happens once it is there.
  for (let number = 1; lines.length === 0; number += 1) {
    await tally.done(['projects', 'add', `FOLLOW-${number}`])
    await Bun.sleep(100)
  }
  await tally.done(['projects', 'add', 'LAST'])
  await reading
  expect(lines.map((line) => JSON.parse(line).type)).toEqual(lines.map(() => 'project.added'))
  following.kill('SIGINT')
  expect(await following.exited).toBe(0)
})
