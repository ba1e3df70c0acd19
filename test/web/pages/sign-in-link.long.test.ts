/** The page that the link of `tally up` opens. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { TALLY } from '../../../src/access/actor.ts'
import { openDatabase } from '../../../src/database/open.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { peopleServiceOf } from '../../support/people-service.ts'
import { webStage } from '../../support/web-stage.ts'

const ADA = { name: 'Ada', email: 'ada@example.com', role: 'admin', password: 'correct horse battery' } as const
const GRACE = { ...ADA, name: 'Grace', email: 'grace@example.com' }

const web = webStage({ people: [ADA, GRACE] })

async function makeLink(): Promise<string> {
  const db = await openDatabase({ dataDir: join(web.installation.folder, 'tally-data'), clock: systemClock })
  try {
    const people = peopleServiceOf({ db, clock: systemClock })
    return (await people.createSignInLink(ADA.email, web.server.url, TALLY)).link.slice(web.server.url.length)
  } finally {
    await db.close()
  }
}

test('a link signs in at the overview, leaves nothing in the address, and works once', async () => {
  const { page, open, close, barriers } = await web.visit({ fresh: true })
  const link = await makeLink()
  await open(link)
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  await page.getByRole('button', { name: 'Ada' }).waitFor()
  expect(page.url()).toBe(`${web.server.url}/`)
  await open(link)
  await page.getByText('This link works once and for 60 seconds').waitFor()
  expect(page.url()).toBe(`${web.server.url}/sign-in`)
  expect(await barriers()).toEqual([])
  // The next one is opened in the same tab.
  await open(await makeLink())
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  await close()
})

test('a link replaces somebody else who is signed in in the browser', async () => {
  const { page, open, close } = await web.visit({ as: GRACE, fresh: true })
  await open('/')
  await page.getByRole('button', { name: 'Grace' }).waitFor()
  await open(await makeLink())
  await page.getByRole('button', { name: 'Ada' }).waitFor()
  await open('/sign-in')
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  await close()
})
