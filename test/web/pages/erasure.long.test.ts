/** The dialog in which an admin erases a person, in a browser. */
import { describe, expect, test } from 'bun:test'
import { CHROMIUM } from '../../support/browser.ts'
import { DEMO_PASSWORD } from '../../support/demo.ts'
import { until } from '../../support/processes.ts'
import { signedInAt } from '../../support/session.ts'
import { webStage } from '../../support/web-stage.ts'

const ADMIN = { email: 'ines.marques@meridian.example', password: DEMO_PASSWORD }
const ERASED = 'jonas.weber@meridian.example'

/** The demo data and a browser take some seconds, and several times as long on a busy machine. */
const LONG_MS = 180_000

describe.skipIf(!CHROMIUM)('an admin', () => {
  const web = webStage({ demo: true })

  test(
    'sees similar texts, adds one of them, and erases the person',
    async () => {
      const admin = await signedInAt(web.server.url, ADMIN)
      const { id } = await admin(`GET /users/${ERASED}`)
      const named = await admin('POST /tickets', { key: 'LAB-999', project: 'LAB', title: 'Asked by Weber,  Jonas' })
      const visitor = await web.visit({ as: ADMIN })
      await visitor.open(`/people/${id}`)
      const { page } = visitor
      await page.getByRole('button', { name: 'Erase…' }).click()
      const dialog = page.getByRole('dialog')
      const similar = dialog.getByRole('listitem').filter({ hasText: 'in another order' })
      await similar.getByRole('button', { name: 'Add' }).click()
      await similar.waitFor({ state: 'detached' })
      await dialog.getByRole('listitem').filter({ hasText: 'Weber,  Jonas' }).waitFor()
      await dialog.getByLabel(/to confirm/).fill(ERASED)
      await dialog.getByRole('button', { name: 'Erase', exact: true }).click()
      await dialog.waitFor({ state: 'detached' })
      await page.getByText('Erased', { exact: true }).first().waitFor()
      await until(async () => (await admin(`GET /users/${id}/erasure`)).state === 'done', LONG_MS)
      expect((await admin(`GET /tickets/${named.id}`)).title).toMatch(/^Asked by Erased person [0-9a-f]{6}$/)
      expect(visitor.issues()).toEqual([])
      await visitor.close()
    },
    LONG_MS,
  )
})
