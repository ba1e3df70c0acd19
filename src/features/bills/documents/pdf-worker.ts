/** Renders PDFs off the main thread: a bill of five thousand lines takes two seconds, and the libraries 40 MB. */
import { answerJobs } from '../../../lib/job-thread.ts'
import { readDocument } from './content.ts'
import type { Logo } from './logo.ts'
import { billPdf, type Voiding, voidNoticePdf } from './pdf.ts'

export interface ToPdf {
  document: string
  logo: Logo | undefined
  /** For a void notice; absent for the bill itself. */
  voiding?: Voiding | undefined
}

export type FromPdf = { bytes: Uint8Array } | { error: string }

answerJobs<ToPdf, FromPdf>(async ({ document, logo, voiding }, post) => {
  try {
    const read = readDocument(document)
    const bytes = Uint8Array.from(voiding ? await voidNoticePdf(read, voiding, logo) : await billPdf(read, logo))
    post({ bytes }, [bytes.buffer])
  } catch (error) {
    post({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
})
