import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { CommandLine } from '../support/command-line.ts'
import { type IdTokenIssuer, startIssuer } from '../support/id-token-issuer.ts'

let tally: CommandLine
let issuer: IdTokenIssuer

beforeAll(async () => {
  tally = await CommandLine.make()
  issuer = await startIssuer()
  await tally.addUser('ci@example.com', 'member')
  await tally.done(['projects', 'add', 'WEB', '--name', 'Website'])
})
afterAll(async () => {
  await tally.remove()
  await issuer.close()
})

const ADD = ['trusts', 'add', 'github', '--repository', 'acme/web', '--repository-id', '42']
const FOR = ['--user', 'ci@example.com', '--project', 'WEB', '--branch', 'main', '--branch', 'release/*']

test('a trust is added, listed, compared with an ID token, changed, and removed after a question', async () => {
  const add = [...ADD, '--issuer', issuer.url, ...FOR]
  expect((await tally.run(add)).stderr).toContain('public URL')
  await tally.done(['settings', 'set', '--public-url', 'https://tally.example.com'])
  expect((await tally.done(['trusts', 'list'])).stderr).toContain('No trusts. Add one with `tally trusts add`.')
  const { stdout } = await tally.done(add)
  expect(stdout).toMatch(/for +main, release\/\*\n/)
  const [id] = /tru_[0-9a-f]{32}/.exec(stdout)!
  expect((await tally.json(['trusts', 'list'])).data).toMatchObject([{ id, branches: ['main', 'release/*'] }])

  const seconds = Math.floor(Date.now() / 1_000)
  const token = await issuer.sign({
    ...{ iss: issuer.url, aud: 'https://tally.example.com', sub: 'x', jti: '1', iat: seconds, exp: seconds + 300 },
    ...{ repository: 'acme/web', repository_id: '42', ref: 'refs/heads/feature', event_name: 'push' },
  })
  const file = join(tally.folder, 'id-token.txt')
  await Bun.write(file, `${token}\n`)
  const tested = await tally.done(['trusts', 'test', '--file', file])
  expect(tested.stdout).toMatch(/branch +feature +main, release\/\* +no/)
  expect(tested.stdout).toContain('No trust matches this job.')
  expect((await tally.run(['trusts', 'test', '--file', join(tally.folder, 'none')])).stderr).toContain('cannot be read')
  await tally.done(['trusts', 'change', id, '--branch', 'none', '--pull-requests', 'yes'])
  expect(await tally.json(['trusts', 'show', id])).toMatchObject({ branches: [], pull_requests: true })
  expect((await tally.done(['trusts', 'test', '--file', file])).stdout).toContain(`The trust ${id} matches this job.`)

  expect((await tally.run(['trusts', 'remove', id])).stderr).toContain('--yes')
  await tally.done(['trusts', 'remove', id, '--yes'])
  expect((await tally.json(['trusts', 'list'])).data).toEqual([])
  expect((await tally.done(['audit'])).stdout).toContain('removed the trust in acme/web')
})
