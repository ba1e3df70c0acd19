/** Trusts, on the tab of tokens that only admins have. */
import { describe, expect, test } from 'bun:test'
import { CHROMIUM } from '../../support/browser.ts'
import { signedInAt } from '../../support/session.ts'
import { type Person, webStage } from '../../support/web-stage.ts'

const password = 'correct horse battery'
const ADMIN: Person = { name: 'Ines', email: 'ines@example.com', role: 'admin', password }
const CI: Person = { name: 'Robot', email: 'ci@example.com', role: 'member', password }

/** A server and a browser take some seconds, and several times as long on a busy machine. */
const LONG_MS = 180_000

describe.skipIf(!CHROMIUM)('trusts', () => {
  const web = webStage({ people: [ADMIN, CI] })

  test(
    'are added with what the server requires, listed, and removed; others have no such tab',
    async () => {
      const ask = await signedInAt(web.server.url, ADMIN)
      await ask('POST /projects', { key: 'WEB', name: 'Website' })
      const visitor = await web.visit({ as: ADMIN })
      const { page } = visitor
      await visitor.open('/tokens?tab=trusts')
      await page.getByRole('heading', { name: 'No CI trusts' }).waitFor()
      await page.getByRole('button', { name: 'New trust' }).first().click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Repository', { exact: true }).fill('acme/web')
      await dialog.getByLabel('Repository ID').fill('123456')
      await dialog.getByLabel('Also pull and merge requests').check()
      for (const [label, text, option] of [
        ['Project', 'web', /WEB/],
        ['Person', 'robot', /Robot/],
      ] as const) {
        await dialog.getByLabel(label).fill(text)
        await page.getByRole('option', { name: option }).click()
      }
      await dialog.getByRole('button', { name: 'Add trust' }).click()
      await dialog.getByText('public URL').waitFor()
      await ask('PATCH /settings', { public_url: 'https://tally.example.com' })
      await dialog.getByRole('button', { name: 'Add trust' }).click()
      await page.getByRole('cell', { name: /acme\/web.*GitHub Actions, 123456/ }).waitFor()
      await page.getByRole('cell', { name: 'main, pull requests' }).waitFor()
      const phone = await web.visit({ as: ADMIN, size: 'phone' })
      await phone.open('/tokens?tab=trusts')
      await phone.page.getByText('acme/web').waitFor()
      await page.getByRole('button', { name: 'Remove the trust in acme/web' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
      await page.getByRole('heading', { name: 'No CI trusts' }).waitFor()

      const member = await web.visit({ as: CI })
      await member.open('/tokens?tab=trusts')
      await member.page.getByRole('heading', { name: 'Tokens', exact: true }).waitFor()
      expect(await member.page.getByRole('tab', { name: 'CI trusts' }).count()).toBe(0)
      for (const each of [phone, member]) {
        expect(each.issues()).toEqual([])
        await each.close()
      }
      await visitor.close()
    },
    LONG_MS,
  )
})
