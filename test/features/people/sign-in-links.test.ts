/** Links with which `tally up` signs a person in without a password. */
import { expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { forEachEngine } from '../../support/databases.ts'

const ORGANIZATION = { name: 'Ada', timeZone: 'Europe/Berlin', currency: 'USD', locale: 'de-DE' }

const HEADERS = { 'sec-fetch-site': 'same-origin' }

forEachEngine('a sign-in link', (open) => {
  const clock = { ahead: 0, now: () => Date.now() + clock.ahead }

  async function start(): Promise<{ app: TestApp; email: string; link: (who?: string) => Promise<string> }> {
    clock.ahead = 0
    const app = await startApp({ db: await open(), clock })
    const { email } = await app.services.people.setUpOwner(
      { email: 'Ada@Example.com', name: ' Ada ' },
      { organization: ORGANIZATION, by: TALLY },
    )
    const link = async (who = email) => {
      const made = await app.services.people.createSignInLink(who, app.url, TALLY)
      expect(made.link).toStartWith(`${app.url}/sign-in#`)
      return made.link.split('#')[1]!
    }
    return { app, email, link }
  }

  const use = (app: TestApp, token: string, headers: Record<string, string> = {}) =>
    app.call('POST /api/v1/session/link', { json: { link_token: token }, headers: { ...HEADERS, ...headers } })

  test('signs in the owner, who has no password and whose organization is set up', async () => {
    const { app, email, link } = await start()
    const token = await link()
    const { status, json, headers } = await use(app, token)
    expect([status, json.person]).toEqual([
      200,
      expect.objectContaining({ email: 'ada@example.com', name: 'Ada', role: 'admin' }),
    ])
    expect(headers.get('set-cookie')).toMatch(/^tally_session=[^;]+;.*HttpOnly.*SameSite=Strict/i)
    const session = headers.get('set-cookie')!.split(';')[0]!
    expect((await app.call('GET /api/v1/me', { session })).json.organization).toEqual({
      name: 'Ada',
      time_zone: 'Europe/Berlin',
    })
    const { data } = (await app.call('GET /api/v1/audit', { session })).json
    expect(data.map(({ action }: { action: string }) => action)).toEqual([
      'session.begun',
      'user.sign_in_link_made',
      'user.added',
      'organization.set_up',
    ])
    expect(JSON.stringify([data, app.log])).not.toContain(token)
    // The browser's session ends with the next one.
    await use(app, await link(), { cookie: session })
    expect((await app.call('GET /api/v1/me', { session })).status).toBe(401)
    const again = app.services.people.setUpOwner({ email, name: 'Eve' }, { organization: ORGANIZATION, by: TALLY })
    expect(await again.catch(({ code }) => code)).toBe('already_set_up')
    await app.close()
  })

  test('works once, also if twenty use it at the same time', async () => {
    const { app, link } = await start()
    const token = await link()
    const answers = await Promise.all(Array.from({ length: 20 }, () => use(app, token)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(401)])
    expect((await use(app, token)).json.detail).toContain('Run `tally up` again')
    await app.close()
  })

  test('works for a minute, until the next one is made, and for people who may sign in', async () => {
    const { app, link } = await start()
    const late = await link()
    clock.ahead = 60_000
    expect((await use(app, late)).status).toBe(401)
    const [first, second] = [await link(), await link()]
    expect((await use(app, first)).status).toBe(401)
    expect((await use(app, second)).status).toBe(200)
    const other = await app.person('member', { password: true })
    const token = await link(other)
    await app.services.people.disableUser(other, TALLY)
    expect((await use(app, token)).status).toBe(401)
    expect((await use(app, await link(other))).status).toBe(401)
    await app.close()
  })

  test('sets no password, and neither do links of other purposes sign in', async () => {
    const { app, email, link } = await start()
    const { people } = app.services
    const invited = await people.createPasswordLink(email, 'invitation', app.url, TALLY)
    const token = await link()
    const chosen = { link_token: token, password: 'correct horse battery' }
    expect((await app.call('POST /api/v1/password', { json: chosen })).status).toBe(401)
    const invitation = invited.link.split('#')[1]!
    expect((await use(app, invitation)).status).toBe(401)
    // Neither has used up the other one.
    expect((await use(app, token)).status).toBe(200)
    expect((await app.call('POST /api/v1/password', { json: { ...chosen, link_token: invitation } })).status).toBe(200)
    await app.close()
  })

  test('is not used by a form of another site, which sends no JSON', async () => {
    const { app, link } = await start()
    const token = await link()
    const body = JSON.stringify({ link_token: token })
    const plain = { 'content-type': 'text/plain' }
    expect((await app.call('POST /api/v1/session/link', { body, headers: plain })).status).toBe(415)
    expect((await use(app, token)).status).toBe(200)
    await app.close()
  })
})
