import { Elysia, t } from 'elysia'
import { access } from '../../../http/access.ts'
import { documented } from '../../../http/documented.ts'
import { bytesResponse } from '../../../http/exports.ts'
import { EXAMPLE_BILL } from '../examples.ts'
import { BillDocument } from '../schema.ts'
import type { BillsService, DocumentFormat } from '../service.ts'

/** The paths below a bill, and the document that each answers. */
const DOCUMENTS = {
  pdf: {
    format: 'pdf',
    id: 'getBillPdf',
    summary: 'Read a bill as PDF',
    description: 'What a client gets: A4, with the letters of every name in it.',
    type: 'application/pdf',
  },
  html: {
    format: 'html',
    id: 'getBillHtml',
    summary: 'Read a bill as a page',
    description: 'The same as the PDF, for a browser and its printer. Holds no script and nothing from elsewhere.',
    type: 'text/html',
  },
  csv: {
    format: 'csv',
    id: 'getBillCsv',
    summary: 'Read the lines of a bill as CSV',
    description: 'A row for each line, each extra line and the tax; their amounts together are the total.',
    type: 'text/csv',
  },
  'entries.csv': {
    format: 'entries-csv',
    id: 'getBillEntriesCsv',
    summary: 'Read the entries of a bill as CSV',
    description:
      'A row for each entry with its line, its figures and the price it was valued at, as it was when this was first asked for, at the latest when the bill was made void.',
    type: 'text/csv',
  },
  journal: {
    format: 'journal',
    id: 'getBillJournal',
    summary: 'Read a bill as an hledger journal',
    description: 'One transaction that balances: what the client owes, what each project earned, and the tax.',
    type: 'text/plain',
  },
  'void-notice': {
    format: 'void-notice',
    id: 'getBillVoidNotice',
    summary: 'Read the notice that a bill is void, as PDF',
    description: 'Only of a bill that is void.',
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
    return [({ params }: { params: { id: string } }) => answer(params.id, format), { allow, detail }] as const
  }

  return new Elysia({ name: 'bill-documents', prefix: '/api/v1/bills', normalize: false })
    .use(access())
    .get('/:id/pdf', ...route('pdf'))
    .get('/:id/html', ...route('html'))
    .get('/:id/csv', ...route('csv'))
    .get('/:id/entries.csv', ...route('entries.csv'))
    .get('/:id/journal', ...route('journal'))
    .get('/:id/void-notice', ...route('void-notice'))
    .get('/:id/document', ({ params }) => answer(params.id, 'json'), {
      allow,
      detail: documented({
        id: 'getBillDocument',
        tag: 'Bills',
        summary: 'Read the document of a bill',
        description: 'As it was sent, to the byte.',
        path,
        responses: { 200: { description: 'The document.', schema: BillDocument, example: EXAMPLE_BILL.document } },
      }),
    })
}
