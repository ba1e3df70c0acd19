import { afterAll, beforeAll, expect, test } from 'bun:test'
import { PASSWORD, startApp, type TestApp } from '../../support/app.ts'
import { forEachEngine } from '../../support/databases.ts'
import { reportBody } from '../../support/reports.ts'

forEachEngine('suggestions for unattributed entries', (open) => {
  let app: TestApp
  let admin: string
  let lead: string
  let member: string

  beforeAll(async () => {
    app = await startApp({ db: await open() })
    admin = await app.session('admin')
    lead = await signedIn('mara')
    member = await signedIn('olaf')
    const project = { key: 'ACME', name: 'Acme shop', leads: ['mara@example.com'], repositories: ['secret/web'] }
    expect((await app.call('POST /api/v1/projects', { session: admin, json: project })).status).toBe(201)
    await app.call('POST /api/v1/tickets', { session: admin, json: { key: 'ACME-42', project: 'ACME' } })
  }, 300_000)
  afterAll(() => app.close())

  async function signedIn(name: string): Promise<string> {
    const email = `${name}@example.com`
    await app.call('POST /api/v1/users', { session: admin, json: { email, name, role: 'member' } })
    await app.services.people.setPassword(email, PASSWORD, { userId: null, tokenId: null, origin: '' })
    const { secret } = await app.services.people.signIn({ email, password: PASSWORD, address: '::1' })
    return `tally_session=${secret}`
  }

  const report = async (labels: Record<string, string>) =>
    (
      await app.call('POST /api/v1/token-entries', {
        token: await app.token('svc', 'olaf@example.com'),
        json: reportBody({ labels, summary: 'Work' }),
      })
    ).json.id as string
  const suggestionFor = async (session: string, repository: string) => {
    const { json } = await app.call('GET /api/v1/reports/unattributed', { session })
    const group = json.data.find((group: { repository: string }) => group.repository === repository)
    return group?.suggestion ?? null
  }

  test('name a project by its repository only to those who may know its repositories', async () => {
    await report({ repository: 'secret/web' })
    const expected = { project: { key: 'ACME' }, ticket: null, from: 'repository' }
    expect(await suggestionFor(admin, 'secret/web')).toMatchObject(expected)
    expect(await suggestionFor(lead, 'secret/web')).toMatchObject(expected)
    expect(await suggestionFor(member, 'secret/web')).toBeNull()
  })

  test('name what every member may know, and nothing that the branch does not name', async () => {
    await report({ repository: 'x', branch: 'feature/acme-42-login' })
    await report({ repository: 'y', branch: 'UTF-8' })
    const known = { project: { key: 'ACME' }, ticket: 'ACME-42', from: 'branch' }
    expect(await suggestionFor(member, 'x')).toMatchObject(known)
    expect(await suggestionFor(member, 'y')).toBeNull()
    const shown = await app.call('GET /api/v1/tickets/ACME-42', { session: member })
    expect(shown.status).toBe(200)
  })
})
