import { describe, expect, test } from 'bun:test'
import { readDocument } from '../../../src/features/bills/documents/content.ts'
import { billPdf, voidNoticePdf } from '../../../src/features/bills/documents/pdf.ts'
import { EXAMPLE_BILL } from '../../../src/features/bills/examples.ts'
import type { BillDocument } from '../../../src/features/bills/schema.ts'
import { PDF_SAMPLES } from '../../support/pdf-samples.ts'
import { elementsOf, structureOf } from '../../support/pdf-structure.ts'

const EXAMPLE = EXAMPLE_BILL.document
const read = (document: BillDocument) => readDocument(JSON.stringify(document))
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1')

/** Every character of a block, a word each, and each again as part of a long word. */
function block(first: number, last: number): string {
  const characters = Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index))
  return `${characters.join(' ')}\n${characters.join('')}`
}

test('every letter of the scripts that shape each other can be drawn', async () => {
  const note = [block(0x590, 0x5ff), block(0x600, 0x6ff), block(0x750, 0x77f), block(0xe00, 0xe7f)].join('\n')
  expect(textOf(await billPdf(read({ ...EXAMPLE, note, footer: 'دڢ🚀한글漢字' }), undefined))).toStartWith('%PDF-1.7')
})

test('the same document makes the same bytes, dated as it is', async () => {
  const [first, again] = [await billPdf(read(EXAMPLE), undefined), await billPdf(read(EXAMPLE), undefined)]
  expect(Buffer.from(first).equals(again)).toBe(true)
  expect(textOf(first)).toContain('(D:20261201000000Z)')
  const notice = await voidNoticePdf(
    read(EXAMPLE),
    { on: '2026-12-03', reason: 'Sent to the wrong client.' },
    undefined,
  )
  expect(textOf(notice)).toContain('(D:20261203000000Z)')
})

test('a name brings no markup into the metadata', async () => {
  const issuer = { ...EXAMPLE.issuer, name: '</rdf:li><script>' }
  const pdf = textOf(await billPdf(read({ ...EXAMPLE, issuer }), undefined))
  expect(pdf).toContain('<rdf:RDF')
  expect(pdf.replace('(</rdf:li><script>)', '')).not.toContain('<script>')
})

test('a table goes on over pages', async () => {
  const [line] = EXAMPLE.sections[0]!.lines
  const lines = Array.from({ length: 300 }, (_, index) => ({ ...line!, line: index + 1 }))
  const pdf = textOf(await billPdf(read({ ...EXAMPLE, sections: [{ title: null, lines }] }), undefined))
  expect(Number(/\/Count (\d+)/.exec(pdf)![1])).toBeWithin(8, 12)
})

describe('for screen readers', () => {
  for (const [name, make] of Object.entries(PDF_SAMPLES)) {
    test(`everything on ${name} is in the structure or an artifact`, async () => {
      const { catalog, root, unmarked, misplaced } = structureOf(await make())
      expect([unmarked, misplaced]).toEqual([[], []])
      expect(catalog).toContain('/Lang (en)')
      expect(catalog).toMatch(/\/MarkInfo \d+ 0 R/)
      expect([root.type, elementsOf(root, 'H1').length]).toEqual(['Document', 1])
      for (const figure of elementsOf(root, 'Figure')) expect(figure.attributes).toContain('/Alt (')
      for (const heading of elementsOf(root, 'TH')) expect(heading.attributes).toMatch(/\/Scope \/(Row|Column)/)
      for (const table of elementsOf(root, 'Table')) {
        expect(table.children.map(({ type }) => type)).toEqual(['THead', 'TBody', 'TFoot'])
        const widths = elementsOf(table, 'TR').map(({ children }) =>
          children.reduce((sum, { attributes }) => sum + Number(/\/ColSpan (\d+)/.exec(attributes)?.[1] ?? 1), 0),
        )
        expect(new Set(widths).size).toBe(1)
      }
    })
  }

  test('a heading that is repeated on the next page is one heading', async () => {
    const pdf = await PDF_SAMPLES['a bill of several pages with sections']!()
    const { root } = structureOf(pdf)
    const [table] = elementsOf(root, 'Table')
    expect(elementsOf(table!.children[0]!, 'TR')).toHaveLength(1)
    expect(Number(/\/Count (\d+)/.exec(textOf(pdf))![1])).toBeGreaterThan(1)
    // Two sections, the groups of their lines, and the lines.
    expect(elementsOf(table!.children[1]!, 'TR')).toHaveLength(1 + 9 + 60 + 1 + 1 + 5)
  })
})
