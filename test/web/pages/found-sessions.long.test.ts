/** The import of the sessions on this machine, after the set-up in a browser. */
import { expect, test } from 'bun:test'
import { fillHome } from '../../support/agents-home.ts'
import { launchBrowser, nothingKept, visit } from '../../support/browser.ts'
import { CommandLine } from '../../support/command-line.ts'
import { serveOnTerminal } from '../../support/terminal-server.ts'

test.each(['desk', 'phone'] as const)('the first page after the set-up imports them (%s)', async (size) => {
  const tally = await CommandLine.make({ engine: 'sqlite', isFirst: true })
  await fillHome(tally.folder)
  const { url, secret, stop } = await serveOnTerminal(tally)
  const browser = await launchBrowser()
  const { page, open, barriers, issues } = await visit(browser, { url, size, kept: nothingKept(), fresh: true })
  await open(`/setup#${secret}`)
  const admin = page.getByRole('group', { name: 'Your admin account' })
  await page.getByRole('group', { name: 'Organization' }).getByLabel('Name').fill('Acme')
  await admin.getByLabel('Name').fill('Ada')
  await admin.getByLabel('E-mail address').fill('ada@example.com')
  await admin.getByLabel('Password', { exact: true }).fill('correct horse battery')
  await page.getByRole('button', { name: 'Set up Tally' }).click()
  await page.getByText('Sessions found on this machine').waitFor()
  await page.getByText(/Claude Code \(\d+ files?\), Codex \(\d+ files?\), Gemini CLI \(\d+ files?\)/).waitFor()
  expect(await barriers()).toEqual([])
  await page.getByRole('button', { name: 'Import sessions' }).click()
  await page.getByText('Sessions imported').waitFor()
  // The page turns to the first entry, as to one of an agent that was connected.
  await page.getByText('Entry received').waitFor()
  expect(await barriers()).toEqual([])
  await page.getByRole('link', { name: 'View overview' }).click()
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  expect(issues()).toEqual([])
  await browser.close()
  await stop()
  await tally.remove()
})
