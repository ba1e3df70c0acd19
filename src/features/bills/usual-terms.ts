/** The terms that a bill to a client or for a project usually has: from the client's settings, otherwise its last bill. Pure. */
import { decimalNumber } from '../../lib/money.ts'
import type { CostBasis } from '../../shared/cost-basis.ts'
import { PPM_DIGITS } from './amounts.ts'
import { daysBetween } from './request.ts'
import type { BillDocument, BillRequest, UsualTerms } from './schema.ts'

/** What the client's settings say about tax. */
export interface TaxSettings {
  taxPpm: number | null
  taxName: string | null
}

export interface LastBill {
  id: string
  number: string
  document: Pick<
    BillDocument,
    | 'currency'
    | 'exchange_rate'
    | 'group_by'
    | 'show_cost'
    | 'show_active_time'
    | 'tax'
    | 'issued_on'
    | 'due_on'
    | 'total'
    | 'period'
    | 'basis'
  >
}

/**
 * `currency` is that of the next bill: an exchange rate of another one says nothing about it. `costBasis` is the setting of the
 * organization.
 */
export function usualTerms(
  currency: string,
  settings: TaxSettings | undefined,
  last: LastBill | undefined,
  costBasis: CostBasis,
): UsualTerms {
  const document = last?.document
  return {
    currency,
    tax: usualTax(settings, document?.tax ?? null),
    exchange_rate:
      document && currency !== 'USD' && document.currency === currency
        ? { rate: document.exchange_rate, on: document.issued_on }
        : null,
    group_by: document?.group_by ?? null,
    due_days: document ? daysBetween({ from: document.issued_on, to: document.due_on }) : null,
    show_cost: document?.show_cost ?? false,
    show_active_time: document?.show_active_time ?? false,
    basis: document ? (document.basis ?? 'cost') : costBasis,
    last_bill: last
      ? {
          id: last.id,
          number: last.number,
          issued_on: last.document.issued_on,
          period: last.document.period,
          total: last.document.total,
          currency: last.document.currency,
          basis: last.document.basis ?? 'cost',
        }
      : null,
  }
}

/** A percentage of 0 in the settings means that bills have no tax. */
function usualTax(settings: TaxSettings | undefined, last: BillDocument['tax']): UsualTerms['tax'] {
  const ppm = settings?.taxPpm ?? null
  if (ppm === null) return last && { name: last.name, percent: last.percent }
  if (ppm === 0) return null
  return { name: settings?.taxName ?? 'Tax', percent: decimalNumber(BigInt(ppm), PPM_DIGITS - 2) }
}

/** The terms as parts of a request. */
export function requestOfTerms({
  tax,
  exchange_rate,
  group_by,
  due_days,
  show_cost,
  show_active_time,
  basis,
}: UsualTerms): Partial<BillRequest> {
  return {
    ...(tax && { tax }),
    ...(exchange_rate && { exchange_rate: exchange_rate.rate }),
    ...(group_by && { group_by }),
    ...(due_days !== null && { due_days }),
    ...(show_cost && { show_cost }),
    ...(show_active_time && { show_active_time }),
    ...(basis !== 'cost' && { basis }),
  }
}
