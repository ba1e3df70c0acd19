/** What could not be read on people's machines, on the pages of their owner and of an admin. */
import { describe, expect, test } from 'bun:test'
import { EXAMPLE_REPORT } from '../../../src/features/agent-status/examples.ts'
import { CHROMIUM } from '../../support/browser.ts'
import { signedInAt } from '../../support/session.ts'
import { type Person, webStage } from '../../support/web-stage.ts'

const password = 'correct horse battery'
const ADMIN: Person = { name: 'Ines', email: 'ines@example.com', role: 'admin', password }
const OWNER: Person = { name: 'Ada', email: 'ada@example.com', role: 'member', password }
const OTHER: Person = { name: 'Grace', email: 'grace@example.com', role: 'member', password }

/** A server and a browser take some seconds, and several times as long on a busy machine. */
const LONG_MS = 180_000

const UNREAD = '14 sessions in a format that Tally does not read (session_v3)'

describe.skipIf(!CHROMIUM)('what could not be read', () => {
  const web = webStage({ people: [ADMIN, OWNER, OTHER] })

  test(
    'is in the inbox of its owner, with the machine on a page, and gone once it is read',
    async () => {
      const owner = await signedInAt(web.server.url, OWNER)
      const { token } = await owner('POST /tokens', { kind: 'svc', name: 'laptop' })
      const report = async (agents: unknown[]) => {
        const response = await fetch(`${web.server.url}/api/v1/agent-status`, {
          method: 'PUT',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ ...EXAMPLE_REPORT, agents }),
        })
        expect(response.status).toBe(204)
      }
      const visitor = await web.visit({ as: OWNER })
      const { page } = visitor
      await visitor.open('/tokens?tab=agents')
      await page.getByRole('heading', { name: 'No agents yet' }).waitFor()

      await report(EXAMPLE_REPORT.agents)
      await visitor.open('/inbox')
      await page.getByRole('link', { name: 'Open: Agents with unread sessions' }).click()
      await page.getByText(UNREAD).waitFor()
      expect(await page.getByText(EXAMPLE_REPORT.machine).count()).toBe(1)
      expect(await page.getByText('update Tally on the machine').count()).toBe(1)
      await page.getByRole('button', { name: 'Not read in full' }).click()
      await page.getByText('codex 0.61.0').waitFor()

      const phone = await web.visit({ as: OWNER, size: 'phone' })
      await phone.open('/tokens?tab=agents')
      await phone.page.getByText(UNREAD).waitFor()

      const other = await web.visit({ as: OTHER })
      await other.open('/tokens?tab=agents')
      await other.page.getByRole('heading', { name: 'No agents yet' }).waitFor()

      const admin = await web.visit({ as: ADMIN })
      await admin.open('/tokens?tab=agents&unread=true')
      await admin.page.getByText(UNREAD).waitFor()
      await admin.page.getByRole('cell', { name: 'Ada' }).waitFor()
      const ask = await signedInAt(web.server.url, ADMIN)
      await admin.open(`/people/${(await ask(`GET /users/${OWNER.email}`)).id}`)
      await admin.page.getByText(`Not read: ${UNREAD}`).waitFor()
      await admin.page.getByRole('link', { name: 'All agents' }).click()
      await admin.page.getByText('codex 0.61.0').waitFor()

      await report(EXAMPLE_REPORT.agents.map((agent) => ({ ...agent, not_read: [] })))
      await visitor.open('/inbox')
      await page.getByRole('heading', { name: 'Nothing is waiting for you' }).waitFor()
      await visitor.open('/tokens?tab=agents&unread=true')
      await page.getByRole('heading', { name: 'Everything was read' }).waitFor()
      for (const each of [visitor, phone, other, admin]) {
        expect(each.issues()).toEqual([])
        await each.close()
      }
    },
    LONG_MS,
  )
})
