/** The flags of `tally receipt`. */
import type { Nanos } from '../../lib/money.ts'
import type { CostBasis } from '../../shared/cost-basis.ts'

export const RECEIPT_FORMATS = ['text', 'markdown', 'json'] as const
export type ReceiptFormat = (typeof RECEIPT_FORMATS)[number]

export interface ReceiptFlags {
  since?: string
  branch?: string
  repository?: string
  ticket?: string
  basis?: CostBasis
  people?: true
  max?: Nanos
  local?: true
  format?: ReceiptFormat
  output?: string
  url?: string
  tokenFile?: string
}
