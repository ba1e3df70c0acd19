/** PDFs of every kind, for tests of what they all must be. */
import { readDocument } from '../../src/features/bills/documents/content.ts'
import type { Logo } from '../../src/features/bills/documents/logo.ts'
import { billPdf, voidNoticePdf } from '../../src/features/bills/documents/pdf.ts'
import { EXAMPLE_BILL, EXAMPLE_CREDIT_NOTE } from '../../src/features/bills/examples.ts'
import type { BillDocument } from '../../src/features/bills/schema.ts'

const EXAMPLE = EXAMPLE_BILL.document
const read = (document: BillDocument) => readDocument(JSON.stringify(document))

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
const LOGO = { type: 'image/png', bytes: Buffer.from(PIXEL, 'base64') } as unknown as Logo

/** Lines of tickets, seven of each project. */
function linesOf(count: number) {
  const [line] = EXAMPLE.sections[0]!.lines
  return Array.from({ length: count }, (_, index) => ({
    ...line!,
    line: index + 1,
    keys: { project: { id: 'prj_1', key: `P${Math.floor(index / 7)}`, name: 'Project' }, ticket: `T-${index}` },
  }))
}

export const PDF_SAMPLES: Record<string, () => Promise<Uint8Array>> = {
  'a bill': () => billPdf(read(EXAMPLE), undefined),
  'a bill with everything': () =>
    billPdf(
      read({
        ...EXAMPLE,
        show_cost: true,
        note: 'Two lines\nof a note',
        footer: 'IBAN',
        extra_lines: [{ text: 'Set-up', amount: 250 }],
      }),
      LOGO,
    ),
  'a bill of several pages with sections': () => {
    const sections = [
      { title: 'November', lines: linesOf(60) },
      { title: 'Entries from before', lines: linesOf(5) },
    ]
    return billPdf(read({ ...EXAMPLE, sections, group_by: ['project', 'ticket'] }), undefined)
  },
  'a bill in many scripts': () =>
    billPdf(
      read({
        ...EXAMPLE,
        issuer: { ...EXAMPLE.issuer, name: 'A & B <Ltd> שלום (A-1)' },
        note: 'دڢ🚀한글漢字 שלום עולם 2.0 مرحبا بالعالم ภาษาไทย Ελληνικά Привет',
      }),
      LOGO,
    ),
  'a credit note': () => billPdf(read(EXAMPLE_CREDIT_NOTE.document), undefined),
  'a void notice': () => voidNoticePdf(read(EXAMPLE), { on: '2026-12-03', reason: 'Sent to the wrong client.' }, LOGO),
}
