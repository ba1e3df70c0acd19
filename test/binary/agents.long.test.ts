/** What the executable alone does on a developer's machine. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CLAUDE_SESSION, claudeTranscript, expectedUse, fillHome, usedOf } from '../support/agents-home.ts'
import { Installation, type Server } from '../support/binary.ts'
import { until } from '../support/processes.ts'

let tally: Installation
let server: Server
beforeAll(async () => {
  tally = await Installation.brief()
  await tally.addUser('ada@example.com', 'admin')
  server = await tally.serve()
})
afterAll(async () => {
  await server.stop()
  await tally.remove()
})

test('the hook that it installs calls it, and it delivers what the session used', async () => {
  // Its folder is the person's home, too.
  await fillHome(tally.folder)
  const { token } = await tally.createToken('svc', 'ada@example.com')
  expect(await tally.run(['agents', 'login', '--url', server.url, '--token-stdin'], token)).toMatchObject({ code: 0 })
  expect(await tally.run(['agents', 'install', 'claude-code', '--yes'])).toMatchObject({ code: 0 })
  const settings = JSON.parse(await readFile(join(tally.folder, '.claude/settings.json'), 'utf8'))
  const { command } = settings.hooks.Stop[0].hooks[0]
  expect(command).toBe(`${join(tally.folder, 'tally')} agents hook claude-code`)

  const transcript_path = claudeTranscript(tally.folder)
  const hook = Bun.spawn(['sh', '-c', command], {
    stdin: Buffer.from(JSON.stringify({ session_id: CLAUDE_SESSION, transcript_path, hook_event_name: 'Stop' })),
    stdout: 'pipe',
    stderr: 'pipe',
    env: { HOME: tally.folder, PATH: '/usr/bin:/bin' },
  })
  expect([await hook.exited, await hook.stdout.text(), await hook.stderr.text()]).toEqual([0, '', ''])
  const spool = join(tally.folder, '.local/state/tally/spool')
  expect(await until(async () => (await readdir(spool)).length === 0)).toBe(true)
  const { data } = await tally.runJson<{ data: Record<string, unknown>[] }>(['entries', 'list'])
  expect(usedOf(data)).toEqual((await expectedUse()).filter(({ session_id }) => session_id === CLAUDE_SESSION))
}, 300_000)
