/** Every page of the web application, on the real executable, with three months of data. */
import { describe, expect, test } from 'bun:test'
import { CHROMIUM, type Visit, type VisitOptions } from '../../support/browser.ts'
import { DEMO_PASSWORD } from '../../support/demo.ts'
import { type Ask, signedInAt } from '../../support/session.ts'
import { webStage } from '../../support/web-stage.ts'

const PEOPLE = {
  admin: 'ines.marques@meridian.example',
  billing: 'hanna.lindqvist@meridian.example',
  lead: 'mara.vogel@meridian.example',
  member: 'jonas.weber@meridian.example',
} as const

/** What the first page loads, compressed (docs/design/promises.md, "Web application"). */
const SCRIPT_LIMIT_BYTES = 400_000

/** Three screens of rows and what is kept outside of the window; a table that shows all it has fetched has hundreds. */
const ROWS_IN_DOCUMENT = 120

/** Some thirty pages in a browser, on two cores that do other things as well. */
const ALL_PAGES_MS = 300_000

describe.skipIf(!CHROMIUM)('the web application', () => {
  const web = webStage({ demo: true })

  async function visiting<Result>(
    who: keyof typeof PEOPLE | null,
    look: (visitor: Visit) => Promise<Result>,
    options: Omit<VisitOptions, 'url' | 'as'> = {},
  ): Promise<Result> {
    const as = who === null ? undefined : { email: PEOPLE[who], password: DEMO_PASSWORD }
    const visitor = await web.visit({ as, ...options })
    try {
      return await look(visitor)
    } finally {
      await visitor.close()
    }
  }

  test(
    'offers each role its pages and no others, at whatever address',
    async () => {
      const titles = async ({ page, open }: Visit) => {
        await open('/')
        const texts = await page.locator('nav a').allInnerTexts()
        // Without the number of things that wait.
        return texts.map((text) => text.trim().split('\n')[0]!).filter((text) => !['Manual', 'API'].includes(text))
      }
      const usual = [
        'Inbox',
        'Overview',
        'Reports',
        'Insights',
        'Entries',
        'Unattributed',
        'Work',
        'Budgets',
        'Token sheets',
        'Prices',
        'Connect an agent',
        'Tokens',
      ]
      const books = [...usual, 'Plans', 'Rules', 'Bills', 'Telemetry']
      const expected = {
        member: usual,
        lead: usual,
        billing: books,
        admin: [...books, 'People', 'Settings', 'Webhooks', 'Audit log'],
      }
      for (const who of ['member', 'lead', 'billing', 'admin'] as const) {
        expect((await visiting(who, titles)).sort(), who).toEqual(expected[who].sort())
      }
      await visiting('member', async ({ page, open, go, issues }) => {
        await open('/account')
        for (const path of ['/bills', '/bills/new', '/people', '/settings', '/audit', '/rules', '/telemetry']) {
          await go(path)
          expect(await page.locator('main').textContent(), path).toContain('Page not found')
          expect(issues(), path).toEqual([])
        }
      })
    },
    ALL_PAGES_MS,
  )

  test('is refused by the server what its role may not, whatever a page asks for', async () => {
    const refused = {
      member: ['/bills', '/users', '/audit', '/placement-rules', '/telemetry/status', '/users/usr_0/sessions'],
      billing: ['/users', '/audit'],
    }
    for (const who of ['member', 'billing'] as const) {
      await visiting(who, async ({ context }) => {
        for (const path of refused[who]) {
          const answer = await context.request.get(`${web.server.url}/api/v1${path}`)
          expect([403, 404], `${who} ${path}`).toContain(answer.status())
        }
      })
    }
  })

  test('loads less than 400 kB of compressed script for its first page', async () => {
    const look = async ({ page, open }: Visit) => {
      const sizes: number[] = []
      page.on('response', (response) => {
        if (!response.url().endsWith('.js')) return
        expect(response.headers()['content-encoding']).toMatch(/^(br|gzip)$/)
        sizes.push(Number(response.headers()['content-length']))
      })
      await open('/')
      const bytes = sizes.reduce((sum, size) => sum + size, 0)
      const usableMs = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]!.startTime)
      console.log(
        `The first page loads ${(bytes / 1000).toFixed(0)} kB of script, and paints after ${usableMs.toFixed(0)} ms.`,
      )
      expect(bytes).toBeGreaterThan(50_000)
      expect(bytes).toBeLessThan(SCRIPT_LIMIT_BYTES)
    }
    await visiting('admin', look, { fresh: true })
  })

  test(
    'asks for the list of a page before its script is here, and once',
    async () => {
      await visiting('admin', async ({ page, open, requests, issues }) => {
        // What the first visit found out.
        await open('/account')
        for (const [path, list] of [
          ['/entries', /^GET \/api\/v1\/token-entries\?/],
          ['/entries?sort=cost&order=desc', /^GET \/api\/v1\/token-entries\?sort=cost/],
          ['/entries?sort=duration&order=asc', /^GET \/api\/v1\/token-entries\?sort=duration&order=asc/],
          ['/unattributed', /^GET \/api\/v1\/reports\/unattributed\?/],
          ['/bills/run', /^GET \/api\/v1\/bills\/run\?/],
        ] as const) {
          requests()
          const asked = page.waitForRequest((request) => {
            const { pathname, search } = new URL(request.url())
            return list.test(`${request.method()} ${pathname}${search}`)
          })
          await page.route('**/app/main-*.js', async (route) => {
            await asked
            await route.continue()
          })
          await open(path)
          await page.unroute('**/app/main-*.js')
          const sent = requests()
          expect(
            sent.filter((request) => list.test(request)),
            path,
          ).toHaveLength(1)
          expect(new Set(sent).size, path).toBe(sent.length)
          await page.locator('main tbody tr').first().waitFor()
        }
        expect(issues()).toEqual([])
      })
    },
    ALL_PAGES_MS,
  )

  test('shows whoever is signed in only what is theirs, in a browser where another person was before', async () => {
    await visiting('admin', async ({ page, context, open }) => {
      await open('/entries')
      const admins = Number(await page.locator('[data-total="entries"]').getAttribute('data-value'))
      const other = await web.visit({ as: { email: PEOPLE.member, password: DEMO_PASSWORD } })
      await context.clearCookies()
      await context.addCookies(await other.context.cookies())
      await other.close()
      await open('/entries')
      expect(Number(await page.locator('[data-total="entries"]').getAttribute('data-value'))).toBeLessThan(admins)
      await open('/bills/run')
      expect(await page.locator('main').textContent()).toContain('Page not found')
    })
  })

  test(
    'keeps only the rows in sight in the document, however many were fetched',
    async () => {
      await visiting('admin', async ({ page, open, settled, issues }) => {
        await open('/entries')
        const rows = page.locator('main tbody tr')
        await rows.nth(10).waitFor()
        let far = 0
        // On a busy machine the next rows take a turn more.
        for (let turn = 0; turn < 60 && far <= 500; turn++) {
          await page.mouse.wheel(0, 20_000)
          await settled()
          far = Math.max(far, ...(await rowIndexes()))
          expect(await rows.count()).toBeLessThan(ROWS_IN_DOCUMENT)
        }
        expect(far).toBeGreaterThan(500)
        expect(issues()).toEqual([])

        function rowIndexes(): Promise<number[]> {
          return page.evaluate(
            "[...document.querySelectorAll('main tbody tr')].map((row) => Number(row.getAttribute('aria-rowindex')))",
          )
        }
      })
    },
    ALL_PAGES_MS,
  )

  test(
    'signs a person in, keeps what was typed where it refuses, and signs out again',
    async () => {
      await visiting(null, async ({ page, open, issues }) => {
        await open('/bills')
        await page.getByLabel('E-mail address').fill(PEOPLE.billing)
        await page.getByLabel('Password', { exact: true }).fill('a wrong password')
        await page.keyboard.press('Enter')
        expect(await page.getByRole('alert').textContent()).toContain('is wrong')
        expect(await page.getByLabel('E-mail address').inputValue()).toBe(PEOPLE.billing)
        // Chromium itself says so of every answer that refuses.
        expect(issues().filter((issue) => !issue.includes('401'))).toEqual([])
        await page.getByLabel('Password', { exact: true }).fill(DEMO_PASSWORD)
        await page.keyboard.press('Enter')
        await page.getByRole('heading', { level: 1, name: 'Bills' }).waitFor()
        await page.getByRole('button', { name: /account and sign out/ }).click()
        await page.getByRole('menuitem', { name: 'Sign out' }).click()
        await page.getByRole('heading', { name: 'Sign in to Tally' }).waitFor()
        await page.reload()
        await page.getByRole('heading', { name: 'Sign in to Tally' }).waitFor()
      })
    },
    ALL_PAGES_MS,
  )

  test(
    'leads everywhere and back by the keyboard alone',
    async () => {
      await visiting('admin', async ({ page, open, settled, issues }) => {
        await open('/')
        await page.keyboard.press('Tab')
        expect(await page.locator(':focus').textContent()).toBe('Skip to content')
        await page.keyboard.press('Enter')
        expect(await page.locator(':focus').getAttribute('id')).toBe('content')
        for (const [key, title] of [
          ['b', 'Bills'],
          ['w', 'Work'],
          ['e', 'Entries'],
        ] as const) {
          await page.keyboard.press('g')
          await page.keyboard.press(key)
          await page.getByRole('heading', { level: 1, name: title }).waitFor()
        }
        await page.locator('main tbody tr').first().waitFor()
        await settled()
        await page.keyboard.press('j')
        await page.keyboard.press('j')
        await page.keyboard.press('Enter')
        await page.getByRole('dialog').waitFor()
        await page.keyboard.press('Escape')
        await page.getByRole('dialog').waitFor({ state: 'detached' })
        await page.keyboard.press('?')
        expect(await page.getByRole('dialog').textContent()).toContain('Go to Bills')
        await page.keyboard.press('Escape')
        expect(issues()).toEqual([])
      })
    },
    ALL_PAGES_MS,
  )

  test(
    'moves to the search with a slash, and takes letters there as text',
    async () => {
      await visiting('admin', async ({ page, open, issues }) => {
        await open('/work')
        await page.keyboard.press('/')
        await page.keyboard.type('gb')
        expect(await page.locator('main input[type="search"]').inputValue()).toBe('gb')
        expect(new URL(page.url()).pathname).toBe('/work')
        expect(issues()).toEqual([])
      })
    },
    ALL_PAGES_MS,
  )

  const reportOf = async (who: keyof typeof PEOPLE) => {
    const { token } = await web.installation.createToken('svc', PEOPLE[who])
    return async (fields: Record<string, string | number>) => {
      const answer = await fetch(`${web.server.url}/api/v1/token-entries`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          agent_harness: 'codex',
          agent_name: 'builder',
          model: 'gpt-5',
          started_at: new Date(Date.now() - 60_000).toISOString(),
          ended_at: new Date().toISOString(),
          tokens: { input: 1, output: 1 },
          reported_cost: 1,
          ...fields,
        }),
      })
      expect(answer.status).toBe(201)
      return (await answer.json()) as { id: string }
    }
  }

  test(
    'shows usage in quarters, and weeks from the day that the organization chose',
    async () => {
      await visiting('admin', async ({ page, open, go, issues }) => {
        const period = (name: RegExp) => page.getByRole('rowheader', { name }).first().waitFor()
        await open('/?period=12m')
        await page.getByRole('button', { name: 'Show as table' }).click()
        await page.getByLabel('Granularity').selectOption({ label: 'Quarters' })
        await period(/^Q[1-4] 20\d\d$/)
        expect(new URL(page.url()).searchParams.get('bucket')).toBe('1q')
        await page.getByLabel('Granularity').selectOption({ label: 'Weeks' })
        await period(/^Week \d+, from \d/)

        await go('/settings')
        await page.getByRole('combobox', { name: 'First day of the week' }).click()
        await page.getByRole('option', { name: 'Sunday' }).click()
        await page.getByRole('button', { name: 'Save changes' }).click()
        await page.getByText('Settings saved.').waitFor()
        await go('/?period=12m&bucket=1w')
        await page.getByRole('button', { name: 'Show as table' }).click()
        await period(/^Week of \d/)
        expect(issues()).toEqual([])
      })
    },
    ALL_PAGES_MS,
  )

  test(
    'leads from the number of mismatched costs to these entries, with both amounts',
    async () => {
      const report = await reportOf('member')
      const { id } = await report({ model: 'gpt-5', reported_cost: 73.25 })
      await visiting('admin', async ({ page, open, go, issues }) => {
        await open('/')
        const row = page.getByRole('link', { name: /Cost mismatch/ })
        const counted = await row.getByLabel(/^\d+ entr/).textContent()
        await row.click()
        await page.getByRole('img', { name: /^Cost mismatch: reported cost \$73\.25, list value \$0\.0/ }).waitFor()
        expect(new URL(page.url()).searchParams.get('cost_mismatch')).toBe('true')
        expect(String(await page.locator('main tbody tr').count())).toBe(counted!)
        await go(`/entries?open=${id}`)
        await page.getByRole('dialog').getByText('Cost mismatch').waitFor()
        expect(issues()).toEqual([])
      })
    },
    ALL_PAGES_MS,
  )

  test(
    'leads from the overview to a ticket, whose cost is that of its entries, and names the bills that it is on',
    async () => {
      const ask = await signedInAt(web.server.url, { email: PEOPLE.admin, password: DEMO_PASSWORD })
      await visiting('admin', async ({ page, open, settled, issues }) => {
        await open('/?period=12m')
        await page.locator('main ol a[href^="/work/projects/"]', { hasText: 'Harbor & Pine online shop' }).click()
        await page.getByRole('heading', { level: 1, name: 'Harbor & Pine online shop SHOP' }).waitFor()
        await page
          .locator('main a[href^="/work/tickets/"]', { hasText: /^SHOP-\d+$/ })
          .first()
          .click()
        await page.getByRole('heading', { level: 1, name: /^SHOP-\d+/ }).waitFor()
        await open(new URL(page.url()).pathname)
        const id = page.url().split('/').at(-1)
        const cost = page.locator('main [data-figure="cost"]').first()
        const value = await cost.getAttribute('data-value')
        expect(Number(value)).toBeGreaterThan(0)
        const { data: bills } = await ask(`GET /bills?ticket=${id}`)
        expect(bills.length).toBeGreaterThan(0)
        // What is below the fold loads for whoever tabs there.
        await page.keyboard.press('Tab')
        const listed = page.getByRole('table', { name: /^Bills of SHOP-/ })
        for (const { number } of bills) await listed.getByText(number).waitFor()
        await cost.click()
        const total = page.locator('[data-total="cost"]')
        await total.waitFor()
        await settled()
        expect(await total.getAttribute('data-value')).toBe(value)
        expect(issues()).toEqual([])
      })
    },
    ALL_PAGES_MS,
  )

  test('shows the page of a name whatever it contains', async () => {
    await visiting('member', async ({ page, open, go, issues }) => {
      await open('/account')
      for (const name of ['../a%2Fb', '__proto__', '\u202etxt.exe', '100% #1?&+']) {
        await go(`/usage/agent?name=${encodeURIComponent(name)}`)
        await page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
        expect(await page.locator('h1').textContent()).toBe(name)
        await page.getByText('No usage in this period').waitFor()
        expect(issues(), name).toEqual([])
      }
    })
  })

  describe('a ticket that reports put in different projects', () => {
    const project = async (id: string, ask: Ask): Promise<string> => (await ask(`GET /token-entries/${id}`)).project.key
    const openTicket = async ({ page, open }: Visit, key: string) => {
      await open(`/work?tab=tickets&search=${key}`)
      await page.locator('main tbody').getByText(key, { exact: true }).click()
      await page.getByRole('heading', { level: 1, name: key }).waitFor()
      await page.getByRole('button', { name: /^(Edit|Details)$/ }).click()
      const dialog = page.getByRole('dialog', { name: `Ticket ${key}` })
      await dialog.waitFor()
      return dialog
    }

    test(
      'is listed for billing, who set its project for everyone',
      async () => {
        const [theirs, mine] = [await reportOf('lead'), await reportOf('member')]
        const first = await theirs({ ticket: 'RETRY-7', project: 'SHOP' })
        const second = await mine({ ticket: 'RETRY-7', project: 'PORTAL' })
        const ask = await signedInAt(web.server.url, { email: PEOPLE.admin, password: DEMO_PASSWORD })
        await visiting('billing', async (visitor) => {
          const { page, open, go, settled, issues, barriers } = visitor
          await open('/')
          const attention = page.getByRole('link', { name: /Conflicting tickets/ })
          expect(await attention.textContent()).toContain('1')
          await attention.click()
          await page.getByRole('button', { name: 'Conflicting projects', pressed: true }).waitFor()
          await settled()
          const rows = page.locator('main tbody tr')
          await rows.first().waitFor()
          expect(await rows.count()).toBe(1)
          expect(await rows.first().textContent()).toContain('Conflicting')
          await rows.first().click()
          const ticket = page.getByRole('dialog', { name: 'Ticket RETRY-7' })
          await ticket.waitFor()
          const assumed = await ticket.getByRole('listitem').allTextContents()
          expect(assumed.sort()).toEqual([
            'PORTAL · Lumen customer portal, 1 person',
            'SHOP · Harbor & Pine online shop, 1 person',
          ])

          // To save the title decides nothing.
          await ticket.getByLabel('Title').fill('Try again')
          await ticket.getByRole('button', { name: 'Save changes' }).click()
          await ticket.waitFor({ state: 'detached' })
          expect([await project(first.id, ask), await project(second.id, ask)]).toEqual(['SHOP', 'PORTAL'])

          await rows.first().click()
          await ticket.getByRole('button', { name: 'Set project' }).click()
          const deciding = page.getByRole('dialog', { name: 'Set the project of RETRY-7' })
          await deciding.getByText('Assumed from the reports of 1 person').first().waitFor()
          expect(await barriers()).toEqual([])
          await deciding.getByRole('button', { name: 'Set project' }).click()
          await deciding.getByText('Choose a project.').waitFor()
          await deciding.getByRole('radio', { name: /^PORTAL/ }).check()
          await deciding.getByRole('button', { name: 'Set project' }).click()
          await page.getByText('No conflicting projects').waitFor()
          expect([await project(first.id, ask), await project(second.id, ask)]).toEqual(['PORTAL', 'PORTAL'])

          const decided = await openTicket(visitor, 'RETRY-7')
          await decided.getByText('Project PORTAL').waitFor()
          await decided.getByRole('button', { name: 'Change project' }).click()
          await page.getByRole('radio', { name: 'No project' }).check()
          await page.getByText('This clears the project of the ticket').waitFor()
          await go('/')
          await page.getByText('Needs attention').waitFor()
          expect(await attention.count()).toBe(0)
          expect(issues()).toEqual([])
        })
      },
      ALL_PAGES_MS,
    )

    test(
      'is decided by its leads where they see all of it, and they are told why not elsewhere',
      async () => {
        const [mine, theirs] = [await reportOf('lead'), await reportOf('member')]
        await mine({ ticket: 'LONE-1', project: 'SHOP' })
        await mine({ ticket: 'SHARED-1', project: 'SHOP' })
        await theirs({ ticket: 'SHARED-1', project: 'PORTAL' })
        await visiting('lead', async (visitor) => {
          const { page, barriers, issues } = visitor
          const lone = await openTicket(visitor, 'LONE-1')
          await lone.getByText('Not decided').waitFor()
          await lone.getByRole('button', { name: 'Set project' }).click()
          // The only one that reports assume is chosen already.
          await page
            .getByRole('dialog', { name: 'Set the project of LONE-1' })
            .getByRole('button', { name: 'Set project' })
            .click()
          await page.getByText('LONE-1 now belongs to SHOP.').waitFor()

          const shared = await openTicket(visitor, 'SHARED-1')
          expect(await shared.textContent()).not.toContain('PORTAL')
          await shared.getByRole('button', { name: 'Set project' }).click()
          const deciding = page.getByRole('dialog', { name: 'Set the project of SHARED-1' })
          await deciding.getByRole('textbox', { name: 'Project' }).click()
          await page.getByRole('option', { name: /SHOP/ }).waitFor()
          expect((await page.getByRole('option').allTextContents()).join()).not.toContain('PORTAL')
          await page.getByRole('option', { name: /SHOP/ }).click()
          await deciding.getByRole('button', { name: 'Set project' }).click()
          await deciding.getByText('has entries that you cannot see').waitFor()
          expect(await barriers()).toEqual([])
          // Chromium itself says so of every answer that refuses.
          expect(issues().filter((issue) => !issue.includes('403'))).toEqual([])
        })
        await visiting('member', async (visitor) => {
          const ticket = await openTicket(visitor, 'SHARED-1')
          await ticket.getByText('Not decided').waitFor()
          expect(await ticket.getByRole('button', { name: 'Set project' }).count()).toBe(0)
        })
      },
      ALL_PAGES_MS,
    )
  })
})
