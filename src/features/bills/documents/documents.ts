/**
 * The documents of a bill. Each is rendered on its first request and stored: a later version of Tally, another logo or
 * a renamed model never change a bill that a client has received.
 */
import { promisify } from 'node:util'
import { constants, createGzip, gunzip } from 'node:zlib'
import type { Database } from '../../../database/database.ts'
import { notFound } from '../../../errors.ts'
import { dayAt } from '../../../lib/calendar.ts'
import { JobThread } from '../../../lib/job-thread.ts'
import { type BillView, findRendered, getDocument, keepRendered } from '../store/bills.ts'
import { findLogo } from '../store/issuer.ts'
import { readDocument } from './content.ts'
import { linesCsv } from './csv.ts'
import { ENTRIES_STREAM } from './entries-stream.ts'
import { htmlOf, htmlPolicy } from './html.ts'
import { journalOf } from './journal.ts'
import type { FromPdf, ToPdf } from './pdf-worker.ts'

/**
 * Content type and file name suffix of each format. A new one is also made in `make`, served in `operations/documents.ts`, and
 * listed in `cli/bills/group.ts`.
 */
const FORMATS = {
  pdf: ['application/pdf', '.pdf'],
  html: ['text/html; charset=utf-8', '.html'],
  csv: ['text/csv; charset=utf-8', '.csv'],
  'entries-csv': ['text/csv; charset=utf-8', '-entries.csv'],
  journal: ['text/plain; charset=utf-8', '.journal'],
  json: ['application/json', '.json'],
  'void-notice': ['application/pdf', '-void.pdf'],
} as const

export type DocumentFormat = keyof typeof FORMATS

export interface RenderedDocument {
  bytes: Uint8Array
  contentType: string
  fileName: string
  /** The Content-Security-Policy of a page. */
  policy?: string
}

export type Documents = ReturnType<typeof createDocuments>

export function createDocuments({ db }: { db: Database }) {
  /** One PDF at a time: two would need twice the memory, and be no faster. The thread then frees what it needed. */
  const thread = new JobThread<ToPdf, FromPdf>({
    program: new URL('./pdf-worker.ts', import.meta.url).href,
    idleMs: 0,
    unfinished: pdfFailed,
  })
  async function pdf(question: ToPdf): Promise<Uint8Array> {
    const answer = await thread.run(question)
    if ('error' in answer) throw pdfFailed(answer.error)
    return answer.bytes
  }

  async function make({ bill }: BillView, format: Exclude<DocumentFormat, 'json'>): Promise<Uint8Array> {
    if (format === 'entries-csv')
      return gzipped(db.streamSlowly(ENTRIES_STREAM, { billId: bill.id, number: bill.number, basis: bill.basis }))
    const text = await getDocument(db.read, bill.id)
    const document = readDocument(text)
    switch (format) {
      case 'pdf':
        return pdf({ document: text, logo: await findLogo(db.read) })
      case 'void-notice': {
        if (bill.voidedAt === null) throw notFound(`A void notice for the ${bill.kind} '${bill.number}'`)
        const voiding = { on: dayAt(bill.voidedAt, document.time_zone), reason: bill.voidReason! }
        return pdf({ document: text, logo: await findLogo(db.read), voiding })
      }
      case 'html':
        return Buffer.from(htmlOf(document, await findLogo(db.read)))
      case 'csv':
        return Buffer.from(linesCsv(document))
      case 'journal':
        return Buffer.from(journalOf(document))
    }
  }

  /** Documents being rendered, so that concurrent requests for the same one share the result. */
  const making = new Map<string, Promise<Uint8Array>>()

  /** The stored document, rendered first if it does not exist. */
  function kept(view: BillView, format: Exclude<DocumentFormat, 'json'>): Promise<Uint8Array> {
    const key = `${view.bill.id} ${format}`
    let coming = making.get(key)
    if (!coming) {
      coming = findOrMake(view, format).finally(() => making.delete(key))
      making.set(key, coming)
    }
    return coming
  }

  async function findOrMake(view: BillView, format: Exclude<DocumentFormat, 'json'>): Promise<Uint8Array> {
    const known = await findRendered(db.read, view.bill.id, format)
    if (known) return known
    const made = await make(view, format)
    return db.write((tx) => keepRendered(tx, view.bill.id, format, made))
  }

  return {
    /**
     * The document to the byte as it was first rendered. Throws `not_found` for the void notice of a bill that is not
     * void.
     */
    async render(view: BillView, format: DocumentFormat): Promise<RenderedDocument> {
      const [contentType, ending] = FORMATS[format]
      const fileName = `${view.bill.number.replace(/[^A-Za-z0-9_.-]+/g, '-')}${ending}`
      if (format === 'json') {
        return { bytes: Buffer.from(await getDocument(db.read, view.bill.id)), contentType, fileName }
      }
      const keptBytes = await kept(view, format)
      const bytes = format === 'entries-csv' ? await unzipped(keptBytes) : keptBytes
      const policy = format === 'html' ? { policy: htmlPolicy(new TextDecoder().decode(bytes)) } : {}
      return { bytes, contentType, fileName, ...policy }
    },

    /** Renders documents that need the bill's entries, which voiding releases. */
    async renderBeforeRelease(view: BillView): Promise<void> {
      await kept(view, 'entries-csv')
    },
  }
}

function pdfFailed(reason: string): Error {
  return new Error(`The PDF could not be created: ${reason}`)
}

const unzipped: (bytes: Uint8Array) => Promise<Uint8Array> = promisify(gunzip)

/** Entries are stored compressed, at a tenth of their size, and their whole text is never in memory at once. */
async function gzipped(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const gzip = createGzip({ level: constants.Z_BEST_SPEED })
  const chunks: Buffer[] = []
  gzip.on('data', (chunk: Buffer) => chunks.push(chunk))
  const ended = new Promise<void>((resolve, reject) => gzip.on('end', resolve).on('error', reject))
  for await (const piece of pieces) {
    if (!gzip.write(piece)) await new Promise((resolve) => gzip.once('drain', resolve))
  }
  gzip.end()
  await ended
  return Buffer.concat(chunks)
}
