/** The documents of bills, made when first asked for and the same to the byte ever after, and their entries. */
import { Type } from '@sinclair/typebox'
import { fileFormat, fileResponse } from '../../../http/csv.ts'
import { type Contents, EXPORT_CONTENT } from '../../../http/documentation.ts'
import { bytesResponse } from '../../../http/exports.ts'
import { endpoint, operation, result } from '../../../operations/operation.ts'
import { listPage, parameter } from '../../../operations/parameters.ts'
import { EXAMPLE_LISTED, pageOfEntry } from '../../entries/examples.ts'
import { TokenEntryList } from '../../entries/schema.ts'
import type { EntriesService } from '../../entries/service.ts'
import { entryFormat } from '../../selection/parameters.ts'
import { EXAMPLE_BILL } from '../examples.ts'
import { readBillEntries } from '../query.ts'
import { BillDocument } from '../schema.ts'
import type { DocumentFormat } from '../service.ts'
import { type Needs, params, READING } from './bill.ts'

/** What the operations of all documents have in common. */
const document = (format: DocumentFormat, content: Contents) =>
  ({
    ...READING,
    method: 'GET',
    params,
    answer: { status: 200, description: 'The document.', ...content },
    async run({ bills }: Needs, call: { params: { id: string } }): Promise<Response> {
      const { bytes, contentType, fileName, policy } = await bills.renderBill(call.params.id, format)
      return bytesResponse(bytes, {
        'content-type': contentType,
        'content-disposition': `inline; filename="${fileName}"`,
        ...(policy !== undefined && { 'content-security-policy': policy }),
      })
    },
  }) as const

const file = (type: string): Contents => ({ also: { [type]: { schema: Type.String() } } })

const getBillPdf = operation({
  ...document('pdf', file('application/pdf')),
  id: 'getBillPdf',
  path: '/bills/:id/pdf',
  summary: 'Get a bill as PDF',
  description: 'The document that the client receives, in A4 format with all fonts embedded.',
})

const getBillHtml = operation({
  ...document('html', file('text/html')),
  id: 'getBillHtml',
  path: '/bills/:id/html',
  summary: 'Get a bill as HTML',
  description:
    'The same content as the PDF, for viewing and printing in a browser. Contains no scripts and no external resources.',
})

const getBillCsv = operation({
  ...document('csv', file('text/csv')),
  id: 'getBillCsv',
  path: '/bills/:id/csv',
  summary: 'Get the lines of a bill as CSV',
  description: 'One row per line, extra line and tax. The amounts add up to the total.',
})

const getBillEntriesCsv = operation({
  ...document('entries-csv', file('text/csv')),
  id: 'getBillEntriesCsv',
  path: '/bills/:id/entries.csv',
  summary: 'Get the entries of a bill as CSV',
  description:
    'One row per entry with its line, token counts, amounts and price, as of the first request for this document, or as of the voiding of the bill if that was earlier.',
  problems: ['database_deadline'],
})

const getBillJournal = operation({
  ...document('journal', file('text/plain')),
  id: 'getBillJournal',
  path: '/bills/:id/journal',
  summary: 'Get a bill as an hledger journal',
  description: 'One balanced transaction: the amount the client owes, the income per project, and the tax.',
})

const getBillVoidNotice = operation({
  ...document('void-notice', file('application/pdf')),
  id: 'getBillVoidNotice',
  path: '/bills/:id/void-notice',
  summary: 'Get the void notice of a bill as PDF',
  description: 'Available only for void bills.',
})

const getBillDocument = operation({
  ...document('json', { schema: BillDocument, example: EXAMPLE_BILL.document }),
  id: 'getBillDocument',
  path: '/bills/:id/document',
  summary: 'Get the document of a bill',
  description: 'Byte for byte as it was sent.',
})

const listBillEntries = endpoint({
  ...READING,
  id: 'listBillEntries',
  method: 'GET',
  path: '/bills/:id/entries',
  summary: 'List the entries of a bill or one of its lines',
  description:
    'Returns the entries in their current state, newest first, with `cost` on the basis of the bill. The entries of a void bill are included; they may be on another bill by now.\n\nAs CSV or NDJSON (the objects of `data`, one per line), the response contains all of them and is streamed. If the server fails in between, the connection ends without the last chunk, which HTTP clients report as an error.',
  params,
  query: {
    line: parameter({ type: 'integer', minimum: 1, description: 'Return only the entries of this line.' }),
    ...listPage('Entries'),
    ...entryFormat(),
  },
  answer: result('A page of entries.', TokenEntryList, pageOfEntry(EXAMPLE_LISTED), { also: EXPORT_CONTENT }),
  run: async ({ bills, entries }: Needs & { entries: EntriesService }, { params, query, viewer, served }) => {
    const { line, limit, after, format } = readBillEntries(query)
    const { bill } = await bills.getBill(params.id)
    const { basis } = bill
    const filter = { billedOn: { bill: bill.uid, line } }
    const file = fileFormat(served.request, format)
    if (!file) return entries.listing.listEntries(viewer, { filter, limit, after, basis })
    return fileResponse(entries.listing.exportFile(viewer, filter, file, { basis }), `bill-entries.${file}`, file)
  },
})

export const billDocumentOperations = [
  listBillEntries,
  getBillPdf,
  getBillHtml,
  getBillCsv,
  getBillEntriesCsv,
  getBillJournal,
  getBillVoidNotice,
  getBillDocument,
] as const
