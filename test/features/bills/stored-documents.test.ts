import { expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import type { DocumentFormat } from '../../../src/features/bills/service.ts'
import { csvLines } from '../../../src/lib/csv-lines.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'
import { addReporter, OPERATOR, reportBody } from '../../support/reports.ts'

const NOW = Date.UTC(2026, 11, 1, 9, 0)
const NOVEMBER = { month: '2026-11' }
/** Debian's, which `scripts/test` installs where it may. */
const hledger = Bun.which('hledger')
const KEPT: DocumentFormat[] = ['pdf', 'html', 'csv', 'entries-csv', 'journal', 'json']

/** The smallest picture there is. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

forEachEngine('documents of bills', (open) => {
  async function stage() {
    const db = await open()
    const options = { db, clock: { now: () => NOW } }
    const services = createServices(options)
    const caller = await addReporter(services.people)
    await services.projects.addClient(OPERATOR, { name: 'Acme: (株) ; Ltd', email: 'bills@acme.example' })
    await services.projects.addProject(OPERATOR, { key: 'WEB', name: 'Acme  web', client: 'Acme: (株) ; Ltd' })
    const report = async (more: Record<string, unknown> = {}) => {
      const { entry } = await services.entries.reporting.reportEntry(
        reportBody({ model: 'no-such-model', project: 'WEB', reported_cost: 1, ...more }),
        caller,
      )
      return entry.id
    }
    const read = async (bill: string, format: DocumentFormat) =>
      Buffer.from((await services.bills.renderBill(bill, format)).bytes)
    const setLogo = (bytes: Uint8Array) =>
      db.write(async (tx) => {
        await tx.update(tx.tables.organization).set({ logo: bytes, logoType: 'image/png' })
      })
    return { ...services, options, report, read, setLogo }
  }

  test('never change by a byte, whatever names, logos and versions come later', async () => {
    const { bills, projects, options, report, read, setLogo } = await stage()
    await setLogo(PIXEL)
    await report({ ticket: 'WEB-1', labels: { branch: 'main' } })
    await bills.send({ ...NOVEMBER, project: 'WEB', tax: { percent: 19 } }, { by: TALLY })
    const first = Object.fromEntries(
      await Promise.all(KEPT.map(async (format) => [format, await read('2026-0001', format)] as const)),
    )
    await projects.changeProject(OPERATOR, 'WEB', { key: 'OTHER', name: 'Renamed' })
    await setLogo(Buffer.from('no picture at all'))
    const later = createServices(options)
    for (const format of KEPT) {
      const { bytes } = await later.bills.renderBill('2026-0001', format)
      expect([format, Buffer.from(bytes).equals(first[format]!)]).toEqual([format, true])
    }
  })

  test('keep the locale with which the bill was sent, also where they are rendered later', async () => {
    const { bills, organization, report, read } = await stage()
    await report()
    await organization.changeSettings({ locale: 'de-DE' }, TALLY)
    await bills.send({ ...NOVEMBER, project: 'WEB' }, { by: TALLY })
    await organization.changeSettings({ locale: 'en-US' }, TALLY)
    expect((await read('2026-0001', 'html')).toString()).toContain('<dt>Date</dt><dd dir="auto">1. Dez. 2026</dd>')
    expect((await read('2026-0001', 'html')).toString()).toContain('<td>1,00</td>')
    expect(JSON.parse((await read('2026-0001', 'json')).toString())).toMatchObject({
      locale: 'de-DE',
      issued_on: '2026-12-01',
      total: 1,
    })
    await report({ session_id: 'another' })
    await bills.send({ ...NOVEMBER, project: 'WEB' }, { by: TALLY })
    expect((await read('2026-0002', 'html')).toString()).toContain('<dt>Date</dt><dd dir="auto">Dec 1, 2026</dd>')
    await organization.changeSettings({ locale: null }, TALLY)
    await report({ session_id: 'a third' })
    await bills.send({ ...NOVEMBER, project: 'WEB' }, { by: TALLY })
    expect((await read('2026-0003', 'html')).toString()).toContain('<dt>Date</dt><dd dir="auto">2026-12-01</dd>')
    expect(JSON.parse((await read('2026-0003', 'json')).toString())).not.toHaveProperty('locale')
  })

  test('that two calls create at once are stored once', async () => {
    const { bills, report, read } = await stage()
    await report()
    await bills.send({ ...NOVEMBER, project: 'WEB' }, { by: TALLY })
    const made = await Promise.all([1, 2, 3].map(() => read('2026-0001', 'pdf')))
    expect(made[0]!.subarray(0, 5).toString()).toBe('%PDF-')
    expect(new Set(made.map((bytes) => bytes.toString('latin1'))).size).toBe(1)
  })

  test('a bill is rendered even if its logo cannot be read', async () => {
    const { bills, report, read, setLogo } = await stage()
    await setLogo(PIXEL.subarray(0, 40))
    await report()
    await bills.send({ ...NOVEMBER, project: 'WEB' }, { by: TALLY })
    expect((await read('2026-0001', 'pdf')).subarray(0, 5).toString()).toBe('%PDF-')
  })

  test('every entry of a bill is in its CSV with its line, also when the bill is void and they are on another', async () => {
    const { bills, report, read } = await stage()
    const ids = [
      await report({ ticket: 'WEB-1', summary: '=1+1', labels: { branch: 'main', team: 'a b' } }),
      await report({ ticket: 'WEB-2', reported_cost: 0.25 }),
      await report({ ticket: 'WEB-1', reported_cost: 2 }),
    ]
    await report({ started_at: '2026-10-20T10:00:00Z', ended_at: '2026-10-20T11:00:00Z' })
    await bills.send({ ...NOVEMBER, project: 'WEB', include_earlier: false }, { by: TALLY })
    await bills.voidBill('2026-0001', { reason: 'Wrong rate' }, TALLY)
    await bills.send({ ...NOVEMBER, project: 'WEB', include_earlier: true }, { by: TALLY })
    const csv = (await read('2026-0001', 'entries-csv')).toString()
    expect(csv).toContain(",'=1+1,")
    const [headings, ...rows] = csvLines(csv)
    const entries = rows.map(({ cells }) =>
      Object.fromEntries(cells.map((cell, index) => [headings!.cells[index]!, cell])),
    )
    // People by what does not change, and a column for each label of the bill's entries.
    expect(headings!.cells.slice(-4)).toEqual(['agent_manager_email', 'active_seconds', 'label:branch', 'label:team'])
    expect(entries.map((each) => each['label:team'])).toEqual(['a b', '', ''])
    expect(entries[0]).toMatchObject({ agent_manager_email: expect.stringContaining('@') })
    expect(entries[0]!.agent_manager_id).toMatch(/^usr_/)
    expect(entries.map(({ id, line, cost }) => [id, line, cost])).toEqual([
      [ids[0], '1', '1'],
      [ids[1], '2', '0.25'],
      [ids[2], '1', '2'],
    ])
    expect(entries[0]).toMatchObject({
      bill: '2026-0001',
      agent_manager: 'Ada',
      model: 'no-such-model',
      project: 'WEB',
      ticket: 'WEB-1',
      placed_by: 'named',
      summary: '=1+1',
      labels: 'branch=main team=a b',
      total: '15',
      price: '',
    })
    expect(csvLines((await read('2026-0002', 'entries-csv')).toString())).toHaveLength(5)
  })

  test.skipIf(!hledger)(
    'are journals that hledger takes, strictly and together, with what each client owes',
    async () => {
      const { bills, report, read } = await stage()
      await report({ reported_cost: 10.005 })
      const body = { ...NOVEMBER, project: 'WEB', currency: 'KWD', exchange_rate: 0.3071 }
      const extra_lines = [{ text: 'Setting up', amount: 100.125 }]
      await bills.send({ ...body, extra_lines, tax: { name: 'VAT; special', percent: 19 } }, { by: TALLY })
      await bills.payBill('2026-0001', {}, { by: TALLY })
      await bills.creditBill('2026-0001', { lines: [{ text: 'Less', amount: 3.5 }] }, TALLY)
      await report({ started_at: '2026-11-21T10:00:00Z', ended_at: '2026-11-21T11:00:00Z' })
      await bills.send({ ...NOVEMBER, project: 'WEB', currency: 'JPY', exchange_rate: 150.5 }, { by: TALLY })
      const numbers = ['2026-0001', '2026-0002', '2026-0003']
      const journal = (await Promise.all(numbers.map(async (number) => `${await read(number, 'journal')}`))).join('\n')
      expect(journal).toContain('income:agents:WEB Acme web')
      const ask = async (...question: string[]) => {
        const asked = Bun.spawn([hledger!, '-f', '-', ...question], {
          stdin: Buffer.from(journal),
          stderr: 'pipe',
          env: { LC_ALL: 'C.UTF-8' },
        })
        return [await asked.exited, await new Response(asked.stderr).text(), await new Response(asked.stdout).text()]
      }
      expect((await ask('check', '--strict')).slice(0, 2)).toEqual([0, ''])
      const balances = (await ask('balance', 'receivable', '--flat', '--no-total', '-O', 'csv'))[2] as string
      const total = (await Promise.all([1, 2].map((index) => bills.getBill(numbers[index - 1]!)))).reduce(
        (sum, { bill }) => sum + bill.total,
        0n,
      )
      const fils = `${total / 1000n}.${String(total % 1000n).padStart(3, '0')} KWD`
      expect(balances).toContain(fils)
      expect(balances).toContain('150 JPY')
    },
  )
})
