import { Elysia, t } from 'elysia'
import { access } from '../../../http/access.ts'
import { documented } from '../../../http/documentation.ts'
import { bytesResponse } from '../../../http/exports.ts'
import { EXAMPLE_BILL } from '../examples.ts'
import { BillDocument } from '../schema.ts'
import type { BillsService, DocumentFormat } from '../service.ts'

/** The paths below a bill, and the document that each answers. */
const DOCUMENTS = {
  pdf: {
    format: 'pdf',
    id: 'getBillPdf',
    summary: 'Get a bill as PDF',
    description: 'The document that the client receives, in A4 format with all fonts embedded.',
    type: 'application/pdf',
  },
  html: {
    format: 'html',
    id: 'getBillHtml',
    summary: 'Get a bill as HTML',
    description:
      'The same content as the PDF, for viewing and printing in a browser. Contains no scripts and no external resources.',
    type: 'text/html',
  },
  csv: {
    format: 'csv',
    id: 'getBillCsv',
    summary: 'Get the lines of a bill as CSV',
    description: 'One row per line, extra line and tax. The amounts add up to the total.',
    type: 'text/csv',
  },
  'entries.csv': {
    format: 'entries-csv',
    id: 'getBillEntriesCsv',
    summary: 'Get the entries of a bill as CSV',
    description:
      'One row per entry with its line, token counts, amounts and price, as of the first request for this document, or as of the voiding of the bill if that was earlier.',
    type: 'text/csv',
  },
  journal: {
    format: 'journal',
    id: 'getBillJournal',
    summary: 'Get a bill as an hledger journal',
    description: 'One balanced transaction: the amount the client owes, the income per project, and the tax.',
    type: 'text/plain',
  },
  'void-notice': {
    format: 'void-notice',
    id: 'getBillVoidNotice',
    summary: 'Get the void notice of a bill as PDF',
    description: 'Available only for void bills.',
    type: 'application/pdf',
  },
} as const satisfies Record<string, Described>

interface Described {
  format: DocumentFormat
  id: string
  summary: string
  description: string
  type: string
}

/** The documents of bills: made when first asked for, and the same to the byte ever after. */
export const billDocumentsRoutes = ({ bills }: { bills: Pick<BillsService, 'renderBill'> }) => {
  const allow = { read: ['billing', 'admin'], session: ['billing', 'admin'] } as const
  const scope = 'bills:read'
  const path = { id: 'Id (bil_…) or number of the bill.' }

  async function answer(bill: string, format: DocumentFormat): Promise<Response> {
    const { bytes, contentType, fileName, policy } = await bills.renderBill(bill, format)
    return bytesResponse(bytes, {
      'content-type': contentType,
      'content-disposition': `inline; filename="${fileName}"`,
      ...(policy !== undefined && { 'content-security-policy': policy }),
    })
  }

  const route = (name: keyof typeof DOCUMENTS) => {
    const { format, type, ...described }: Described = DOCUMENTS[name]
    const detail = documented({
      ...described,
      tag: 'Bills',
      path,
      responses: { 200: { description: 'The document.', also: { [type]: { schema: t.String() } } } },
      problems: format === 'entries-csv' ? ['database_deadline'] : [],
    })
    return [({ params }: { params: { id: string } }) => answer(params.id, format), { allow, scope, detail }] as const
  }

  return new Elysia({ name: 'bill-documents', normalize: false })
    .use(access())
    .get('/:id/pdf', ...route('pdf'))
    .get('/:id/html', ...route('html'))
    .get('/:id/csv', ...route('csv'))
    .get('/:id/entries.csv', ...route('entries.csv'))
    .get('/:id/journal', ...route('journal'))
    .get('/:id/void-notice', ...route('void-notice'))
    .get('/:id/document', ({ params }) => answer(params.id, 'json'), {
      allow,
      scope,
      detail: documented({
        id: 'getBillDocument',
        tag: 'Bills',
        summary: 'Get the document of a bill',
        description: 'Byte for byte as it was sent.',
        path,
        responses: { 200: { description: 'The document.', schema: BillDocument, example: EXAMPLE_BILL.document } },
      }),
    })
}
