import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommandLine } from '../support/command-line.ts'
import { startMailServer, type TestMailServer } from '../support/mail-server.ts'

let tally: CommandLine
let mail: TestMailServer
let server: Awaited<ReturnType<CommandLine['serve']>>
let token: string
let mailEnv: Record<string, string>

beforeAll(async () => {
  ;[tally, mail] = await Promise.all([CommandLine.make(), startMailServer()])
  mailEnv = {
    TALLY_SMTP_URL: `smtp://${mail.address.host}:${mail.address.port}`,
    TALLY_SMTP_FROM: 'bills@agents.example',
  }
  await tally.addUser()
  server = await tally.serve([], mailEnv)
  token = (await tally.createToken()).token
  await tally.json(['clients', 'add', 'Acme Ltd', '--email', 'bills@acme.example', '--currency', 'EUR'])
  await tally.json(['projects', 'add', 'ACME', '--name', 'Acme web', '--client', 'Acme Ltd', '--markup', '12.5'])
})
afterAll(async () => {
  await tally.remove()
  await mail.close()
})

async function report(day: string, more: Record<string, unknown> = {}): Promise<void> {
  const answer = await fetch(`${server.url}/api/v1/token-entries`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      agent_harness: 'codex',
      agent_name: 'builder',
      model: 'no-such-model',
      started_at: `${day}T10:00:00Z`,
      ended_at: `${day}T11:00:00Z`,
      tokens: { input: 120_000, output: 4_500 },
      reported_cost: 1000,
      project: 'ACME',
      ticket: 'ACME-42',
      ...more,
    }),
  })
  expect(answer.status).toBe(201)
}

const OCTOBER = ['--month', '2026-10', '--client', 'Acme Ltd', '--exchange-rate', '0.92']

test('a bill is previewed, sent, shown, exported, delivered, paid and corrected', async () => {
  await report('2026-10-05')
  await report('2026-10-06', { reported_cost: undefined })

  const refused = await tally.run(['bills', 'preview', ...OCTOBER])
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toContain('`tally reports unpriced`')
  expect(refused.stderr).toEndWith('or send with --leave-unpriced.\n')

  const asked = [...OCTOBER, '--leave-unpriced', '--tax', '19', '--tax-name', 'VAT', '--line', 'Set-up=-35.5']
  const preview = (await tally.done(['bills', 'preview', ...asked])).stdout
  expect(preview).toStartWith('Bill for Acme Ltd, 2026-10-01 to 2026-10-31, due ')
  expect(preview).toMatch(/^ +1 +ACME Acme web +ACME-42 +1 +124,500 +1,000\.00 +12\.5% +1,035\.00$/m)
  expect(preview).toMatch(/^Set-up +-35\.50$/m)
  expect(preview).toMatch(/^Subtotal +999\.50\nVAT 19% +189\.90\nTotal EUR +1,189\.40$/m)
  expect(preview).toContain('Left out:\n  1 entry unpriced')
  expect(await tally.json(['bills', 'preview', ...asked])).toMatchObject({ document: { number: null, total: 1189.4 } })

  const sent = await tally.done(['bills', 'send', ...asked, '--message', 'Dear Ada,', '--yes'], { env: mailEnv })
  expect(sent.stdout).toContain(preview)
  expect(sent.stdout).toMatch(/\nSent bill 2026-0001 \(bil_\w+\): 1,189\.40 EUR, due /)
  expect(sent.stdout).toContain('The server delivers it to bills@acme.example')
  const until = Date.now() + 10_000
  while (mail.letters.length === 0 && Date.now() < until) await Bun.sleep(20)
  expect(mail.letters).toMatchObject([
    {
      to: ['bills@acme.example'],
      text: expect.stringContaining('Dear Ada,'),
      attachments: [{ type: 'application/pdf' }],
    },
  ])

  const shown = (await tally.done(['bills', 'show', '2026-0001'])).stdout
  expect(shown).toContain('state        sent, due ')
  expect(shown).toMatch(/^Total EUR +1,189\.40$/m)
  expect(shown).toMatch(/^bills@acme\.example +bill +sent +1 .* 250 Queued as 1$/m)
  expect(await tally.json(['bills', 'show', '2026-0001'])).toMatchObject({ number: '2026-0001', delivery: 'sent' })
  expect((await tally.done(['bills', 'list', '--client', 'acme ltd'])).stdout).toMatch(
    /^2026-0001 +bill +sent .* Acme Ltd +2026-10-01 – 2026-10-31 +1 +1,189\.40 +1,189\.40 +EUR +sent$/m,
  )

  const part = await tally.done(['bills', 'paid', '2026-0001', '--amount', '189.4'])
  expect(part.stdout).toBe('Recorded a payment of bill 2026-0001; 1,000.00 EUR is still open.\n')
  const back = await tally.done(['bills', 'unpaid', '2026-0001', '--payment', '1', '--reason', 'Returned'])
  expect(back.stdout).toBe('Reversed; 1,189.40 EUR of bill 2026-0001 is open.\n')
  const paid = await tally.done(['bills', 'paid', '2026-0001', '--reference', 'Transfer 4711'])
  expect((await tally.done(['bills', 'show', '2026-0001'])).stdout).toMatch(
    /^ +1 +\S+ +189\.40 +– +the command line +\S+ \S+ UTC: Returned$/m,
  )
  expect(paid.stdout).toMatch(/^Marked bill 2026-0001 as paid on \d{4}-\d{2}-\d{2}\.\n$/)
  const voided = await tally.run(['bills', 'void', '2026-0001', '--reason', 'A slip.', '--yes'])
  expect(voided).toMatchObject({ code: 1, stderr: expect.stringContaining('`tally bills credit`') })
  const tooMuch = await tally.run(['bills', 'credit', '2026-0001', '--line', 'Twice=5000', '--yes'])
  expect(tooMuch.stderr).toStartWith('tally: --line: must not exceed the remaining amount of bill 2026-0001')
  const credit = await tally.done(['bills', 'credit', '2026-0001', '--line', 'Twice=100', '--yes'])
  expect((await tally.done(['bills', 'list', '--csv'])).stdout).toMatch(/,credit_note,.*,EUR,-100,-19,-119,0,none,/)
  expect(credit.stdout).toMatch(/^Created credit note 2026-0002 \(bil_\w+\) for bill 2026-0001: -119\.00 EUR\.\n/)
  const withdrawn = await tally.done(['bills', 'void', '2026-0002', '--reason', 'A slip.', '--no-notice', '--yes'])
  expect(withdrawn.stdout).toBe('Voided credit note 2026-0002; it no longer reduces what bill 2026-0001 charges.\n')
})

test('documents are written to files, which are not overwritten, or to standard output', async () => {
  expect((await tally.done(['bills', 'export', '2026-0001'])).stdout).toStartWith('Wrote 2026-0001.pdf (')
  const path = join(tally.folder, '2026-0001.pdf')
  expect(readFileSync(path).subarray(0, 5).toString()).toBe('%PDF-')
  const again = await tally.run(['bills', 'export', '2026-0001'])
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('--force') })
  await tally.done(['bills', 'export', '2026-0001', '--force'])
  const json = await tally.done(['bills', 'export', '2026-0001', '--format', 'json', '-o', '-'])
  expect(JSON.parse(json.stdout)).toMatchObject({ number: '2026-0001', total: 1189.4 })
  await tally.done(['bills', 'export', '2026-0001', '--format', 'entries-csv', '-o', 'entries.csv'])
  expect(readFileSync(join(tally.folder, 'entries.csv'), 'utf8').trim().split('\n')).toHaveLength(2)
  expect((await tally.run(['bills', 'export', '2026-0001', '--format', 'void-notice'])).code).toBe(1)
  expect(existsSync(join(tally.folder, '2026-0001-void.pdf'))).toBe(false)
})

test('a void bill releases its entries, and the next one replaces it', async () => {
  await report('2026-09-05')
  const september = ['--from', '2026-09-01', '--to', '2026-09-30', '--client', 'Acme Ltd', '--exchange-rate', '0.92']
  const { number } = await tally.json(['bills', 'send', ...september, '--deliver-to', 'none', '--yes'])
  const voided = await tally.done(['bills', 'void', number, '--reason', 'Wrong rate.', '--yes'])
  expect(voided.stdout).toStartWith(`Voided bill ${number}; its 1 entry can be billed again.\n`)
  expect((await tally.done(['bills', 'show', number])).stdout).toMatch(/^state +voided .*: Wrong rate\.$/m)
  const next = await tally.json(['bills', 'send', ...september, '--replaces', number, '--deliver-to', 'none', '--yes'])
  expect(next).toMatchObject({ replaces: { number }, delivery: 'none' })

  await report('2026-09-06')
  const october = await tally.run(['bills', 'send', ...OCTOBER, '--leave-unpriced', '--yes'])
  expect(october.stderr).toContain('Set --include-earlier yes to bill them')
  expect(october.stderr).toContain('or --include-earlier no to leave them out.')
})

test('invalid requests are refused with all issues at once, in the terms of the flags', async () => {
  const refusal = async (...args: string[]) => (await tally.run(['bills', ...args])).stderr
  expect(await refusal('preview')).toContain('--month 2026-11, or --from and --to')
  expect(await refusal('preview', '--from', '2026-10-01')).toContain('Use --from and --to together')
  expect(await refusal('preview', '--month', '2026-10', '--line', 'Set-up')).toContain('"Set-up=250"')
  expect(await refusal('preview', '--month', '2026-10', '--markup', 'much')).toContain(
    "--markup: 'much' is not a valid number",
  )
  expect(await refusal('preview', '--month', '2026-13', '--tax', '200', '--group-by', 'colour')).toBe(
    [
      'tally: --month: must be a month, such as 2026-11',
      'tally: --group-by: must be project, ticket, model, agent_manager, agent_name or label:<name>',
      'tally: --tax: must be at most 100\n',
    ].join('\n'),
  )
  expect(await refusal('preview', '--month', '2026-10', '--client', 'Acme Ltd')).toContain(
    '--exchange-rate: is required',
  )
  expect(await refusal('deliver', '2026-0001', '--to', 'ada', '--yes')).toContain(
    '--to (ada): must be an e-mail address',
  )
  expect(await refusal('deliver', '2026-0001', '--yes')).toContain('TALLY_SMTP_URL')
  expect(await refusal('show', '2026-0999')).toContain("The bill '2026-0999'")
})
