/**
 * The patches of pdfkit use private members. If one of these tests fails after an update, check each patch against the
 * new version: a patch that is no longer needed can be removed.
 */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import PDFDocument from 'pdfkit'
import { type FontName, loadFonts } from '../../../src/features/bills/documents/fonts.ts'
import { describeInXml, openImage, registerFont } from '../../../src/features/bills/documents/pdfkit-patches.ts'
import { runs } from '../../support/tier.ts'

/** An Arabic letter for which the font has no anchor, with a mark. */
const WITHOUT_ANCHOR = '\u0620\u0615'

function newDocument(info: PDFKit.DocumentInfo = {}): PDFKit.PDFDocument {
  return new PDFDocument({ font: null as never, compress: false, pdfVersion: '1.7', info })
}

async function fontBytes(name: FontName): Promise<Buffer> {
  const fonts = await loadFonts(name === 'arabic' ? WITHOUT_ANCHOR : 'a')
  return fonts.get(name)!
}

async function textOf(doc: PDFKit.PDFDocument): Promise<string> {
  const chunks: Uint8Array[] = []
  doc.on('data', (chunk: Uint8Array) => chunks.push(chunk))
  const ended = new Promise((resolve) => doc.on('end', resolve))
  doc.end()
  await ended
  return Buffer.concat(chunks).toString('latin1')
}

describe('pdfkit', () => {
  test.each([
    ['pdfkit', '0.20.2'],
    ['fontkit', '2.0.4'],
  ])('is patched as it is in %s %s', async (name, version) => {
    const { pathname } = new URL(`../../../node_modules/${name}/package.json`, import.meta.url)
    expect(await Bun.file(pathname).json()).toMatchObject({ version })
  })

  test('writes names into XML without escaping them, unless it is patched', async () => {
    const info = { Title: 'A & B <Ltd>' }
    expect(await textOf(newDocument(info))).toContain('<rdf:li xml:lang="x-default">A & B <Ltd></rdf:li>')
    const patched = newDocument(info)
    describeInXml(patched)
    const text = await textOf(patched)
    expect(text).toContain('<rdf:li xml:lang="x-default">A &amp; B &lt;Ltd&gt;</rdf:li>')
    expect(text).toContain('<pdfuaid:part>1</pdfuaid:part>')
    // The information dictionary still has it.
    expect(text).toContain('(A & B <Ltd>)')
  })

  test('has no option for the columns that a cell spans', async () => {
    const doc = newDocument()
    doc.addStructure(doc.struct('TH', { columns: 2, scope: 'Row' } as never))
    const text = await textOf(doc)
    expect(text).toContain('/Scope /Row')
    expect(text).not.toContain('/ColSpan')
  })

  test('throws for a letter without an anchor, unless its font is patched', async () => {
    const bytes = await fontBytes('arabic')
    const raw = newDocument()
    raw.registerFont('arabic', bytes as never)
    raw.font('arabic')
    expect(() => raw.widthOfString(WITHOUT_ANCHOR, { features: [] })).toThrow('xCoordinate')
    const patched = newDocument()
    registerFont(patched, 'arabic', bytes)
    expect(patched.widthOfString(WITHOUT_ANCHOR, { features: [] })).toBeGreaterThan(0)
  })

  test('measures a text in plain Latin as without the patch that lays it out by pairs', async () => {
    const bytes = await fontBytes('regular')
    const [raw, patched] = [newDocument(), newDocument()]
    raw.registerFont('regular', bytes as never)
    raw.font('regular')
    registerFont(patched, 'regular', bytes)
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii', maxLength: 30 }), (text) => {
        expect(patched.widthOfString(text)).toBeCloseTo(raw.widthOfString(text), 6)
      }),
      { numRuns: runs(500) },
    )
  })

  test('opens an image with its size', () => {
    const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
    expect(openImage(newDocument(), Buffer.from(pixel, 'base64'))).toMatchObject({ width: 1, height: 1 })
  })
})
