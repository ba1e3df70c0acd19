/** Webhooks in the browser: added, tested, delivered to, and what came back. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { CHROMIUM } from '../../support/browser.ts'
import { type Receiver, startReceiver } from '../../support/receivers.ts'
import { webStage } from '../../support/web-stage.ts'

const ADMIN = { name: 'Ada', email: 'ada@example.com', role: 'admin', password: 'correct horse battery' } as const
const OTHER = { ...ADMIN, name: 'Grace', email: 'grace@example.com' } as const

/** Longer than the page and the server take on a busy machine. */
const TEST_MS = 180_000

describe.skipIf(!CHROMIUM)('the page Webhooks', () => {
  const web = webStage({
    people: [ADMIN, OTHER],
    args: ['--log-level', 'warn', '--webhook-private-networks', '127.0.0.1'],
  })
  let receiver: Receiver
  let status = 200

  beforeAll(async () => {
    receiver = await startReceiver((_request, response) => response.writeHead(status).end('thank you'))
  })
  afterAll(() => receiver.close())

  test(
    'adds a webhook with the keyboard, shows its secret once, and its deliveries with what came back',
    async () => {
      const { page, open, settled, issues, barriers, close } = await web.visit({ as: ADMIN })
      await open('/webhooks')
      await page.getByText('No webhooks').waitFor()
      await page.getByRole('button', { name: 'New webhook' }).first().click()
      await page.getByLabel('Name').fill('Hook')
      await page.getByLabel('Address').fill(receiver.url)
      await page.getByRole('combobox', { name: 'Events' }).fill('client.')
      await page.getByRole('option', { name: /^client\.\*/ }).waitFor()
      await page.keyboard.press('ArrowDown')
      expect(await barriers()).toEqual([])
      await page.keyboard.press('Enter')
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').getByRole('button', { name: 'Create webhook' }).click()
      await page.getByText(/^whsec_/).waitFor()
      expect(await barriers()).toEqual([])
      await page.getByRole('button', { name: 'Done' }).click()
      await page.getByText('No deliveries yet').waitFor()

      await page.getByRole('button', { name: 'Send test' }).click()
      await page.getByText('thank you').waitFor()
      expect(await barriers()).toEqual([])
      await page.getByRole('button', { name: 'Close', exact: true }).last().click()
      await page.evaluate(
        `fetch('/api/v1/clients', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name":"Acme"}' }).then((response) => response.text())`,
      )
      await page.getByText('client.added').click()
      await page.getByRole('button', { name: 'Send again' }).click()
      await receiver.until((received) => received.length === 3)
      expect(receiver.received[1]!.headers['webhook-id']).toBe(receiver.received[2]!.headers['webhook-id'])
      await page.getByRole('button', { name: 'Close', exact: true }).last().click()
      await settled()
      expect(await page.getByText(/whsec_/).count()).toBe(0)
      expect(issues()).toEqual([])
      await close()
    },
    TEST_MS,
  )

  test(
    'shows that a webhook fails or was disabled, and enables it with the events that it missed',
    async () => {
      const { page, open, close } = await web.visit({ as: ADMIN })
      status = 410
      await open('/webhooks')
      await page.evaluate(
        `fetch('/api/v1/clients', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name":"Globex"}' })`,
      )
      await page.getByText('disabled').waitFor()
      await page.getByText('Hook', { exact: true }).first().click()
      await page.getByText('returned 410, which means that it is gone').waitFor()
      const before = receiver.received.length
      status = 200
      await page.getByRole('button', { name: 'Enable…' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Enable webhook' }).click()
      await receiver.until((received) => received.length > before)
      expect(JSON.parse(receiver.received.at(-1)!.body).object.name).toBe('Globex')
      await page.getByText('active', { exact: true }).waitFor()

      await page.getByRole('button', { name: 'Remove…' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Remove webhook' }).click()
      await page.getByText('No webhooks').waitFor()
      await close()
    },
    TEST_MS,
  )

  test(
    'shows that a webhook is suspended because its owner is disabled, and takes it over with the events that waited',
    async () => {
      const other = await web.visit({ as: OTHER })
      await other.open('/webhooks')
      const json = JSON.stringify({ name: 'Of Grace', url: receiver.url, types: ['project.*'] })
      await other.page.evaluate(
        `fetch('/api/v1/webhooks', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '${json}' }).then((response) => response.text())`,
      )
      await other.close()
      const done = async (...words: string[]) => expect((await web.installation.run(words)).code).toBe(0)
      await done('users', 'disable', OTHER.email)
      await done('projects', 'add', 'ORION')

      const { page, open, barriers, issues, close } = await web.visit({ as: ADMIN })
      await open('/webhooks?failing=true')
      await page.getByText('suspended', { exact: true }).waitFor()
      await page.getByText('Of Grace', { exact: true }).first().click()
      await page.getByText('Its owner is disabled.').waitFor()
      expect(await barriers()).toEqual([])
      const before = receiver.received.length
      await page.getByRole('button', { name: 'Take over…' }).click()
      await page.getByRole('dialog').getByText(receiver.url).waitFor()
      expect(await barriers()).toEqual([])
      await page.getByRole('dialog').getByRole('button', { name: 'Take over webhook' }).click()
      await page.getByText('active', { exact: true }).waitFor()
      await receiver.until((received) => received.length > before)
      expect(JSON.parse(receiver.received.at(-1)!.body).object.name).toBe('ORION')
      expect(await page.getByRole('button', { name: 'Take over…' }).count()).toBe(0)
      expect(issues()).toEqual([])
      await close()
    },
    TEST_MS,
  )
})
