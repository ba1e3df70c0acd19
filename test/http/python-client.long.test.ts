/** A client that openapi-python-client makes of the OpenAPI document, as users of Python make one. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startApp, type TestApp } from '../support/app.ts'
import { findPythonWith } from '../support/python-packages.ts'

/** Reports an entry, lists it, bills it, and fails as the document says. */
const USE = `
import json, sys
from tally_client import AuthenticatedClient
from tally_client.api.token_entries import list_token_entries, report_token_entry
from tally_client.api.bills import send_bill
from tally_client.api.reports import report_usage
from tally_client.models import BillSending, Problem, TokenEntryReport, TokenEntryReportTokensType0

url, service, read = sys.argv[1:]
at = '2026-11-20T17:53:04Z'
client = AuthenticatedClient(base_url=url, token=service)
reader = AuthenticatedClient(base_url=url, token=read)
report = TokenEntryReport(
    agent_harness='python', agent_name='reviewer', model='gpt-5-codex', project='ACME', reported_cost=1.25,
    started_at=at, ended_at=at, tokens=TokenEntryReportTokensType0(input_=522, output=228))
entry = report_token_entry.sync(client=client, body=report)
listed = list_token_entries.sync(client=reader, agent_harness=['python'])
usage = report_usage.sync(client=reader, starting_at='2026-11-01')
bill = send_bill.sync(client=client, body=BillSending(month='2026-11', project='ACME'))
assert not isinstance(bill, Problem), bill.detail
again = send_bill.sync(client=client, body=BillSending(month='2026-11', project='ACME'))
assert isinstance(again, Problem)
print(json.dumps({
    'entry': [entry.id, str(entry.status), entry.cost], 'listed': [each.id for each in listed.data],
    'usage': usage.totals.cost, 'bill': [str(bill.state), bill.total, bill.entries], 'again': again.code}))
`

const generator = findPythonWith('openapi-python-client==0.29.1', 'openapi_python_client')

describe.skipIf(!generator)('a client in Python', () => {
  let app: TestApp
  let folder: string

  beforeAll(async () => {
    app = await startApp()
    folder = await mkdtemp(join(tmpdir(), 'tally-python-'))
  })
  afterAll(async () => {
    await app.close()
    await rm(folder, { recursive: true })
  })

  test('made from the document reports an entry, lists and bills it, and knows the problems', async () => {
    await Bun.write(join(folder, 'api.json'), JSON.stringify(app.document))
    await Bun.write(join(folder, 'use.py'), USE)
    const run = async (...command: string[]) => {
      const child = Bun.spawn(command, { cwd: folder, stderr: 'pipe' })
      const [out, errors, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
      if (code !== 0) throw new Error(`${command[0]} ended with ${code}: ${out}${errors}`)
      return out
    }
    const made = await run(
      generator!,
      '-m',
      'openapi_python_client',
      'generate',
      '--path',
      'api.json',
      '--meta',
      'none',
      '--output-path',
      'tally_client',
    )
    // What it leaves out: files that are neither JSON nor text.
    expect(made.match(/conflicting|could not find reference|can't be merged|Unable to/gi)).toBeNull()
    const user = await app.person('admin')
    const [service, read] = [await app.token('svc', user, { allowBills: true }), await app.token('read', user)]
    const said = JSON.parse(await run(generator!, 'use.py', app.url, service, read))
    expect(said).toEqual({
      entry: [expect.stringMatching(/^ent_/), 'submitted', 1.25],
      listed: [said.entry[0]],
      usage: 1.25,
      bill: ['sent', 1.25, 1],
      again: 'nothing_to_bill',
    })
  }, 300_000)
})
