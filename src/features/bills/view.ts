import type { Reader } from '../../database/database.ts'
import { notFound } from '../../errors.ts'
import { isId } from '../../lib/id.ts'
import { type BillView, findBill } from './store/bills.ts'

/** A bill by id (`bil_…`) or number. Throws `not_found`. */
export async function getView(reader: Reader, bill: string): Promise<BillView> {
  const found = await findBill(reader, isId('bil', bill) ? { uid: bill } : { number: bill })
  if (!found) throw notFound(`The bill '${bill}'`)
  return found
}
