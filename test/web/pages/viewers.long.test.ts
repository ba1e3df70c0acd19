/** The pages of viewers, and how an admin chooses what they see, in a browser. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { CHROMIUM, type Visit } from '../../support/browser.ts'
import { DEMO_PASSWORD } from '../../support/demo.ts'
import { type Ask, signedInAt } from '../../support/session.ts'
import { webStage } from '../../support/web-stage.ts'

const ADMIN = 'ines.marques@meridian.example'
const VIEWER = 'vera@client.example'

const EXCESS_WIDTH = 'document.documentElement.scrollWidth - window.innerWidth'

/** The demo data and a browser take some seconds, and several times as long on a busy machine. */
const LONG_MS = 180_000

describe.skipIf(!CHROMIUM)('a viewer', () => {
  const web = webStage({ demo: true })
  let admin: Ask
  let client: { id: string; name: string }

  beforeAll(async () => {
    await web.installation.run(
      ['users', 'add', '--email', VIEWER, '--name', 'Vera', '--role', 'viewer', '--password-stdin'],
      DEMO_PASSWORD,
    )
    admin = await signedInAt(web.server.url, { email: ADMIN, password: DEMO_PASSWORD })
    const { data } = await admin('GET /bills?limit=20')
    client = data.find((bill: { client: unknown }) => bill.client !== null).client
  })

  async function visiting(email: string, look: (visitor: Visit) => Promise<void>, size: 'desk' | 'phone' = 'desk') {
    const visitor = await web.visit({ as: { email, password: DEMO_PASSWORD }, size })
    try {
      await look(visitor)
      expect(visitor.issues()).toEqual([])
    } finally {
      await visitor.close()
    }
  }

  const menuOf = ({ page }: Visit) => page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allInnerTexts()

  test(
    'is told whom to ask as long as nothing is shared',
    () =>
      visiting(VIEWER, async (visitor) => {
        await visitor.open('/')
        const { page } = visitor
        expect(await page.locator('h1').textContent()).toBe('Nothing has been shared with you yet')
        const { name } = await admin('GET /settings')
        expect(await page.getByRole('main').textContent()).toContain(`Ask ${name}`)
        expect(await menuOf(visitor)).toEqual(['Usage', 'Account'])
        expect(await visitor.barriers()).toEqual([])
        for (const path of ['/entries', '/bills', '/people', '/tokens', '/share-links']) {
          await visitor.go(path)
          expect([path, await page.locator('h1').textContent()]).toEqual([path, 'Page not found'])
        }
      }),
    LONG_MS,
  )

  test(
    'gets a client from an admin, on the page of the person',
    () =>
      visiting(ADMIN, async (visitor) => {
        const { page } = visitor
        const { id } = await admin(`GET /users/${VIEWER}`)
        await visitor.open(`/people/${id}`)
        await page.getByRole('button', { name: /^Share something with / }).click()
        const dialog = page.getByRole('dialog')
        await dialog.getByRole('textbox', { name: 'Client' }).fill(client.name)
        await page.getByRole('option', { name: client.name }).click()
        await dialog.getByRole('radio', { name: 'Billed amounts' }).check()
        await dialog.getByRole('checkbox', { name: 'Show sent bills' }).check()
        expect(await visitor.barriers()).toEqual([])
        await dialog.getByRole('button', { name: 'Share' }).click()
        await page.getByText('all projects · billed amounts · sent bills').waitFor()
        await visitor.settled()
        const { data } = await admin(`GET /users/${id}/grants`)
        expect(data).toMatchObject([{ client, project: null, money: 'amounts', people: false, bills: true }])
        expect(await visitor.barriers()).toEqual([])
      }),
    LONG_MS,
  )

  test(
    'without an account opens a link that shows what was on the screen',
    () =>
      visiting('hanna.lindqvist@meridian.example', async (visitor) => {
        const { page } = visitor
        const share = () => page.getByRole('button', { name: 'Share…' }).click()
        const dialog = page.getByRole('dialog')
        await visitor.open('/reports?by=project&period=12m')
        await share()
        expect(await dialog.textContent()).toContain('Ask an administrator')
        await admin('PATCH /settings', { share_links: true })
        await visitor.open('/reports?by=model&period=12m')
        await share()
        expect(await dialog.getByRole('radio', { name: 'Billed amounts' }).isDisabled()).toBe(true)
        await visitor.open(`/reports?by=project&period=12m&client=${client.id}`)
        await share()
        await dialog.getByRole('radio', { name: 'Billed amounts' }).check()
        expect(await visitor.barriers()).toEqual([])
        await dialog.getByRole('button', { name: 'Create link' }).click()
        const link = /http:\S+\/share\/\w+/.exec((await dialog.getByText('/share/').first().textContent()) ?? '')![0]
        for (const size of ['desk', 'phone'] as const) {
          const stranger = await web.visit({ size })
          await stranger.page.goto(link)
          expect(await stranger.page.locator('h1').textContent()).toBe(`Billed amount by project, ${client.name}`)
          expect(await stranger.page.locator('.chart svg:visible[role=img]').count()).toBe(1)
          expect(await stranger.page.evaluate<number>(EXCESS_WIDTH)).toBe(0)
          expect(await stranger.barriers()).toEqual([])
          await stranger.close()
        }
      }),
    LONG_MS,
  )

  for (const size of ['desk', 'phone'] as const) {
    const fits = async ({ page, barriers }: Visit) => {
      expect(await page.evaluate<number>(EXCESS_WIDTH)).toBe(0)
      // Its parts are the same at both sizes.
      if (size === 'desk') expect(await barriers()).toEqual([])
    }

    test(
      `sees usage and bills of the client, and nothing of others (${size})`,
      () =>
        visiting(
          VIEWER,
          async (visitor) => {
            const { page } = visitor
            await visitor.open('/?period=12m')
            const { data } = await admin('GET /projects?limit=100')
            const text = (await page.getByRole('main').textContent()) ?? ''
            for (const project of data) {
              const isShared = project.client?.id === client.id
              if (!isShared) expect([project.name, text.includes(project.name)]).toEqual([project.name, false])
            }
            expect(text).toContain('Billed')
            expect(text).toContain('Tokens over time by project')
            expect(text).toContain('Latest bills')
            const exact = (name: string) => page.locator(`[data-total=entries]`).getAttribute(name)
            for (const [card, shown] of [
              ['Billed, before tax', 'Billed entries'],
              ['Not billed', 'Entries that are not billed'],
            ] as const) {
              const link = page.locator('a[data-figure=entries]', {
                has: page.locator(`xpath=../preceding-sibling::*[text()="${card}"]`),
              })
              const entries = await link.getAttribute('data-value')
              expect(Number(entries)).toBeGreaterThan(0)
              await link.click()
              await visitor.settled()
              const chosen = page.getByRole('combobox', { name: 'Billed' }).locator('option:checked')
              expect(await chosen.textContent()).toBe(shown)
              expect([card, await exact('data-value')]).toEqual([card, entries])
            }
            await visitor.go('/?period=12m')
            expect(text).not.toContain('Cost')
            await fits(visitor)
            await page.getByRole('combobox', { name: 'Group by' }).selectOption('Model')
            await page.getByText('Billed amounts are not shown by model.').waitFor()
            await page.getByRole('combobox', { name: 'Over time' }).selectOption('By month')
            await visitor.settled()
            await visitor.go('/bills')
            await fits(visitor)
            const { data: bills } = await admin(`GET /bills?client=${client.id}`)
            await page.getByText(bills[0].number, { exact: true }).first().click()
            await page.getByRole('link', { name: 'Open PDF' }).waitFor()
            await visitor.settled()
            await fits(visitor)
            await visitor.go('/account')
            expect(await page.getByRole('heading', { name: 'Deputies' }).count()).toBe(0)
            await fits(visitor)
          },
          size,
        ),
      LONG_MS,
    )
  }
})
