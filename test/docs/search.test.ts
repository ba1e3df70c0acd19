/** A newcomer's questions to the search of the manual: a page that answers is among the first three that it finds. */
import { expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import MiniSearch from 'minisearch'
import { SEARCH_OPTIONS } from '../../docs/.vitepress/theme/search.ts'
import { findPack, packedText } from '../../src/embedded/pack.ts'

const FIRST = 3

/** Each with a section that answers it. */
const QUESTIONS: [question: string, answer: string][] = [
  ['how do I bill a month', 'billing#bill-a-month'],
  ['why is my entry unpriced', 'model-prices#why-is-an-entry-unpriced'],
  ['why is my entry unattributed', 'troubleshooting#why-is-an-entry-unattributed'],
  ['what is an agent manager', 'concepts#who-is-the-agent-manager-of-an-entry'],
  ['how do I connect Claude Code', 'connect/claude-code#connect-claude-code'],
  ['how do I set a price for a model', 'model-prices#set-the-price-of-a-model'],
  ['how do I invite a person', 'people/sign-in#invite-somebody'],
  ['I forgot my password', 'people/sign-in#reset-a-forgotten-password'],
  ['how do I create a token', 'people/access-tokens#create-a-token-for-an-agent'],
  ['how do I approve entries', 'approval#approve-entries'],
  ['how do I export entries as CSV', 'reports/entries#export-entries-as-csv-or-ndjson'],
  ['how do I back up the database', 'operations/backup-and-restore#back-up-now'],
  ['how do I upgrade', 'operations/upgrades#upgrade'],
  ['how do I use PostgreSQL', 'operations/postgresql#start-with-postgresql'],
  ['how do I put Tally behind nginx with TLS', 'operations/network-and-tls#nginx'],
  ['can I limit what a project spends', 'spending-limits#what-can-a-budget-limit'],
  ['docker compose', 'operations/container#start-with-compose'],
]

/** What people type who know another program's words: each with a page that answers. */
const OTHER_WORDS: [words: string, page: string][] = [
  ['invoice', 'billing'],
  ['send an invoice', 'billing'],
  ['receipt', 'billing'],
  ['refund', 'billing'],
  ['vat', 'billing'],
  ['sso', 'people/sign-in'],
  ['okta', 'people/sign-in'],
  ['2fa', 'people/sign-in'],
  ['login', 'people/sign-in'],
  ['delete entry', 'approval'],
  ['why is cost missing', 'model-prices'],
  ['cost is zero', 'model-prices'],
  ['backup', 'operations/backup-and-restore'],
  ['gdpr', 'people/personal-data'],
  ['delete user data', 'people/personal-data'],
  ['excel', 'reports/entries'],
  ['slack', 'integrate/outgoing-webhooks'],
  ['budget alert', 'spending-limits'],
  ['quota', 'spending-limits'],
  ['add user', 'people/roles'],
  ['vacation', 'people/roles'],
  ['api key', 'people/access-tokens'],
  ['https', 'operations/network-and-tls'],
  ['docker', 'operations/container'],
  ['kubernetes', 'operations/container'],
  ['audit log', 'people/organization'],
  ['split entry', 'reports/entries'],
  ['timesheet', 'approval'],
  ['grafana', 'operations/monitoring'],
  ['public link', 'people/sharing'],
]

/** The index that the browser reads, and the fields by which it does. */
async function builtIndex(): Promise<MiniSearch> {
  const pack = (await findPack('manual'))!
  const script = (await packedText(pack, pack.names.find((name) => name.includes('localSearchIndex'))!))!
  const folder = await mkdtemp(join(tmpdir(), 'tally-search-'))
  try {
    await writeFile(join(folder, 'index.mjs'), script)
    const { default: index } = await import(join(folder, 'index.mjs'))
    return MiniSearch.loadJSON(index, { fields: ['title', 'titles', 'text'], searchOptions: SEARCH_OPTIONS })
  } finally {
    await rm(folder, { recursive: true })
  }
}

test('other words for a thing find a page about it among the first three', async () => {
  const index = await builtIndex()
  const missed = OTHER_WORDS.flatMap(([words, page]) => {
    const found = index.search(words).map(({ id }) => String(id).replace('/docs/', ''))
    const pages = found.slice(0, FIRST).map((id) => id.split('#')[0]!)
    return pages.includes(page) ? [] : [`${words}: ${found.slice(0, FIRST).join(', ')}`]
  })
  expect(missed).toEqual([])
})

test('a question finds the section that answers it among the first three', async () => {
  const index = await builtIndex()
  const missed = QUESTIONS.flatMap(([question, answer]) => {
    const found = index.search(question).map(({ id }) => String(id).replace('/docs/', ''))
    return found.slice(0, FIRST).includes(answer) ? [] : [`${question}: ${found.slice(0, FIRST).join(', ')}`]
  })
  expect(missed).toEqual([])
})
