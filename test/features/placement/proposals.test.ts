import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Database } from '../../../src/database/database.ts'
import { PASSWORD, startApp, type TestApp } from '../../support/app.ts'
import { forEachEngine } from '../../support/databases.ts'
import { reportBody } from '../../support/reports.ts'

const AWKWARD = '/'.repeat(256)
const PROPOSALS = '/api/v1/placement-rules/proposals'

forEachEngine('a proposed rule', (open) => {
  let db: Database
  let app: TestApp
  let admin: string
  let lead: string
  let other: string

  beforeAll(async () => {
    db = await open()
    app = await startApp({ db })
    admin = await app.session('admin')
    lead = await signedIn('mara')
    other = await signedIn('olaf')
    const json = { key: 'ACME', leads: ['mara@example.com'], repositories: ['acme/web', AWKWARD] }
    expect((await app.call('POST /api/v1/projects', { session: admin, json })).status).toBe(201)
    await app.call('POST /api/v1/projects', { session: admin, json: { key: 'OTHER', repositories: ['acme/web'] } })
  }, 180_000)
  afterAll(() => app.close())

  async function signedIn(name: string): Promise<string> {
    const email = `${name}@example.com`
    await app.call('POST /api/v1/users', { session: admin, json: { email, name, role: 'member' } })
    await app.services.people.setPassword(email, PASSWORD, { userId: null, tokenId: null, origin: '' })
    const { secret } = await app.services.people.signIn({ email, password: PASSWORD, address: '::1' })
    return `tally_session=${secret}`
  }

  let names = 0
  const propose = (changes: object = {}, session = lead) => {
    names += 1
    const json = { name: `Rule ${names}`, repository: 'acme/web', project: 'ACME', ...changes }
    return app.call(`POST ${PROPOSALS}`, { session, json })
  }
  const decide = (id: string, action: string, session = admin, json?: object) =>
    app.call(`POST ${PROPOSALS}/${id}/${action}`, { session, ...(json && { json }) })
  const listed = async (session: string, query = '') =>
    (await app.call(`GET ${PROPOSALS}${query}`, { session })).json.data.map(({ id }: { id: string }) => id)
  async function placeOf(repository: string): Promise<string | null> {
    const token = await app.token('svc', 'olaf@example.com')
    const { json } = await app.call('POST /api/v1/token-entries', {
      token,
      json: reportBody({ labels: { repository, branch: 'feature/ACME-7-x' } }),
    })
    return json.project?.key ?? null
  }

  test('names a repository of a project that the person leads', async () => {
    for (const [changes, session, status, where] of [
      [{ project: 'OTHER' }, lead, 403, undefined],
      [{}, other, 403, undefined],
      // Nothing is compiled for those who may not propose it.
      [{ conditions: [{ field: 'labels.branch', matches: '/(/' }] }, other, 403, undefined],
      [{ conditions: Array(5).fill({ field: 'summary', matches: '*' }) }, lead, 422, '/conditions'],
      [{ repository: 'acme/*' }, lead, 422, '/repository'],
      [{ repository: 'Acme/web' }, lead, 422, '/repository'],
      [{ project: 'nothing' }, lead, 422, '/project'],
      [{ conditions: [{ field: 'labels.branch', matches: '/(/' }] }, lead, 422, '/conditions/0/matches'],
      [
        {
          conditions: [
            { field: 'model', matches: '*' },
            { field: 'hue', matches: '*' },
          ],
        },
        lead,
        422,
        '/conditions/1/field',
      ],
      // Escaped, it is too long for a pattern.
      [{ repository: AWKWARD }, lead, 422, '/repository'],
      // Takes a second to compile.
      [
        { conditions: [{ field: 'summary', matches: `/${'(\\pL{100}){10}'.repeat(30)}/i` }] },
        lead,
        422,
        '/conditions/0/matches',
      ],
      [
        { conditions: [{ field: 'summary', matches: `/${'[^\\pL]'.repeat(80)}/i` }] },
        lead,
        422,
        '/conditions/0/matches',
      ],
    ] as const) {
      const { status: got, json } = await propose(changes, session)
      expect([changes, got, json.errors?.[0].pointer]).toEqual([changes, status, where])
    }
    expect(await listed(admin)).toEqual([])
  })

  test('places nothing until an admin accepts it, and then exactly the repository', async () => {
    const { status, json: proposed } = await propose({
      conditions: [{ field: 'labels.branch', matches: '/(?<ticket>ACME-[0-9]+)/' }],
      ticket: '{ticket}',
    })
    expect(status).toBe(201)
    expect(proposed).toMatchObject({ state: 'open', proposed_by: { name: 'mara' }, rule: null })
    expect(await placeOf('acme/web')).toBeNull()
    for (const session of [lead, other]) expect((await decide(proposed.id, 'accept', session)).status).toBe(403)
    const accepted = await decide(proposed.id, 'accept')
    expect(accepted).toMatchObject({ status: 200, json: { state: 'accepted', rule: expect.stringMatching(/^rul_/) } })
    expect(await placeOf('acme/web')).toBe('ACME')
    for (const repository of ['Acme/Web', 'acme/web2', 'x/acme/web']) expect(await placeOf(repository)).toBeNull()
    const again = await decide(proposed.id, 'accept')
    expect(again).toMatchObject({ status: 409, json: { code: 'proposal_decided' } })
    const { data } = (await app.call('GET /api/v1/audit?action=rule_proposal', { session: admin })).json
    expect(data.map(({ action }: { action: string }) => action)).toEqual([
      'rule_proposal.accepted',
      'rule_proposal.proposed',
    ])
    // Removed, so that later tests begin without it.
    await app.call(`DELETE /api/v1/placement-rules/${accepted.json.rule}`, { session: admin })
  })

  test('is not accepted once its lead could no longer propose it', async () => {
    const change = (json: object) => app.call('PATCH /api/v1/projects/ACME', { session: admin, json })
    const { json: proposed } = await propose()
    for (const [taken, restored, because] of [
      [{ leads: [] }, { leads: ['mara@example.com'] }, 'mara no longer leads ACME'],
      [{ repositories: [] }, { repositories: ['acme/web', AWKWARD] }, 'acme/web is no longer one of the repositories'],
    ] as const) {
      expect((await change(taken)).status).toBe(200)
      const refused = await decide(proposed.id, 'accept')
      expect([refused.status, refused.json.code]).toEqual([409, 'proposal_outdated'])
      expect(refused.json.detail).toContain(because)
      await change(restored)
    }
    const { json } = await decide(proposed.id, 'accept')
    expect(json.state).toBe('accepted')
    await app.call(`DELETE /api/v1/placement-rules/${json.rule}`, { session: admin })
  })

  test('is seen by whoever proposed it and by those who decide, with the reason why it was declined', async () => {
    const { json: declined } = await propose()
    const { json: withdrawn } = await propose()
    expect(await listed(other)).toEqual([])
    expect(await listed(lead, '?state=open')).toEqual([withdrawn.id, declined.id])
    expect((await decide(declined.id, 'decline', admin, {})).status).toBe(422)
    const reason = 'Belongs to several projects.'
    expect((await decide(declined.id, 'decline', admin, { reason })).status).toBe(200)
    const { data } = (await app.call(`GET ${PROPOSALS}?state=declined`, { session: lead })).json
    expect(data).toMatchObject([{ id: declined.id, reason, decided_by: { name: expect.any(String) } }])
    for (const session of [other, admin]) expect((await decide(withdrawn.id, 'withdraw', session)).status).toBe(404)
    expect((await decide(withdrawn.id, 'withdraw', lead)).json).toMatchObject({ state: 'withdrawn' })
    expect(await listed(admin, '?state=open')).toEqual([])
  })

  test('cannot fill up the list', async () => {
    const statuses: number[] = []
    for (let count = 0; count <= 50; count += 1) statuses.push((await propose()).status)
    expect(statuses).toEqual([...Array<number>(50).fill(201), 422])
    for (const id of await listed(lead, '?state=open&limit=100')) await decide(id, 'withdraw', lead)
    // Withdrawn ones stay, too.
    const before = (await listed(lead, '?limit=100')).length
    for (let count = before; count < 100; count += 1) expect((await propose()).status).toBe(201)
    expect(await propose()).toMatchObject({ status: 422, json: { errors: [{ code: 'too_many' }] } })
  })
})
